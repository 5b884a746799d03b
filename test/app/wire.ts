// A proxy between Portico and a database server. It can be cut (all connections end, new ones are refused), frozen
// (connections stay open without data) and mended. `strike` affects only the next COMMIT.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * `not asked`: COMMIT is lost with its connection.
 * `not told`: COMMIT is done, and its connection is lost.
 * `silent`: COMMIT is done, and its connection sends no answer.
 * `away`: COMMIT is done, and the server is unavailable from then on.
 */
export type Fate = 'not asked' | 'not told' | 'silent' | 'away';

export interface Wire {
  readonly port: number;
  /** The fate of the next COMMIT. */
  strike(fate: Fate): void;
  cut(): void;
  freeze(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function openWire(target: { readonly host: string; readonly port: number }): Promise<Wire> {
  let state: 'whole' | 'cut' | 'frozen' = 'whole';
  let fate: Fate | undefined;
  const sockets = new Set<Socket>();
  const cut = () => {
    state = 'cut';
    for (const socket of sockets) socket.destroy();
  };

  const keep = (socket: Socket, other: () => Socket | undefined) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      other()?.destroy();
    });
    if (state === 'frozen') socket.pause();
  };

  const server = createServer((near) => {
    if (state === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(target);
    keep(near, () => far);
    keep(far, () => near);
    let struck: Fate | undefined;
    near.on('data', (data) => {
      if (fate && /\bcommit\b/i.test(data.toString('latin1'))) {
        struck = fate;
        fate = undefined;
      }
      if (struck === 'not asked') near.destroy();
      else far.write(data);
    });
    far.on('data', (data) => {
      if (struck === 'not told') near.destroy();
      else if (struck === 'away') cut();
      else if (!struck) near.write(data);
    });
    if (state === 'frozen') for (const socket of [near, far]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    cut,
    strike(next) {
      fate = next;
    },
    freeze() {
      state = 'frozen';
      for (const socket of sockets) socket.pause();
    },
    mend() {
      state = 'whole';
      for (const socket of sockets) socket.resume();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
