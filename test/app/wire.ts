// The wire between us and a database server: a proxy that can be cut (everything ends, nothing new is let in), frozen
// (everything stays open and nothing passes) and mended.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Wire {
  readonly port: number;
  cut(): void;
  freeze(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function openWire(target: { readonly host: string; readonly port: number }): Promise<Wire> {
  let state: 'whole' | 'cut' | 'frozen' = 'whole';
  const sockets = new Set<Socket>();

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
    near.on('data', (data) => far.write(data));
    far.on('data', (data) => near.write(data));
    if (state === 'frozen') for (const socket of [near, far]) socket.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      state = 'cut';
      for (const socket of sockets) socket.destroy();
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
