// Chooses free ports before a server listens on them.
import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Above well-known ports and the ports that `fetch` blocks. */
const FIRST = 20_000;

/**
 * Reserves a port of 127.0.0.1 until `free` is called. The system does not assign it to other sockets
 * afterwards, because it is below the ephemeral range, which other tests use heavily at the same time.
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

/** A port without a listener. */
export async function freePort(): Promise<number> {
  const { port, free } = await takePort();
  await free();
  return port;
}

/** 0 lets the system choose, if its ephemeral range is unknown or covers nearly all ports. */
function drawPort(): number {
  const range = '/proc/sys/net/ipv4/ip_local_port_range';
  const end = existsSync(range) ? Number.parseInt(readFileSync(range, 'utf8'), 10) : 0;
  return end > FIRST + 1000 ? randomInt(FIRST, end) : 0;
}
