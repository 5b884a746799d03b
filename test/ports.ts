// Ports that are chosen before somebody listens there.
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Above those that services are known by, and that `fetch` refuses. */
const FIRST = 20_000;

/**
 * A port of 127.0.0.1 that is taken until `free` is called. Afterwards the system gives it to nobody who asks for any: it is
 * below those that are given out to listeners and connections, of which other tests have many at the same time.
 */
export async function takePort(): Promise<{ readonly port: number; free(): Promise<void> }> {
  for (;;) {
    const server = createServer();
    const port = await new Promise<number | undefined>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
      );
      server.listen(drawPort(), '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    if (port !== undefined) return { port, free: () => new Promise((done) => server.close(() => done())) };
  }
}

/** One on which nobody listens. */
export async function freePort(): Promise<number> {
  const { port, free } = await takePort();
  await free();
  return port;
}

/** 0 leaves it to the system, where the ports that it gives out are not known, or are nearly all. */
function drawPort(): number {
  const range = '/proc/sys/net/ipv4/ip_local_port_range';
  const end = existsSync(range) ? Number.parseInt(readFileSync(range, 'utf8'), 10) : 0;
  return end > FIRST + 1000 ? randomInt(FIRST, end) : 0;
}
