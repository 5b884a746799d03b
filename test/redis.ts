// A real Redis for the tests: TEST_REDIS_URL, or a server on the default local port. A missing one prints a warning,
// and fails with CI=true, like the databases. Tests share it, so they write keys with unique names and an expiry.
import { connect } from 'node:net';

export const redisUrl: string | undefined = await find();

async function find(): Promise<string | undefined> {
  const url = process.env.TEST_REDIS_URL ?? 'redis://127.0.0.1:6379';
  if (await answers(new URL(url))) return url;
  if (process.env.CI === 'true') throw new Error('NO REDIS: the limits are not tested with it');
  console.warn('\n*** NO REDIS: the limits are not tested with it\n');
  return undefined;
}

function answers({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port || 6379), timeout: 1000 });
    const end = (is: boolean) => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}
