// The way to a server, which can be made one-way: what is said to it arrives, and what it answers is lost. So ends a connection whose
// server dies between doing what it was asked and saying so, which a kill alone almost never hits: the time between the two is too
// short. While the server is down nothing listens here, so that a connection is refused as it would be there.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface MuteProxy {
  readonly port: number;
  /** Listens, and hands on both ways; at once where it does. */
  open(): Promise<void>;
  /**
   * What the server says is lost from here on, or from the next COMMIT on that is asked of it, until it is opened anew. Resolves
   * then, and after `mostMs` at the latest.
   */
  mute(from: 'now' | 'commit', mostMs: number): Promise<void>;
  /** Refuses, and breaks what is connected. */
  close(): Promise<void>;
}

/** From the first port to the second, both of this machine. */
export function createMuteProxy(port: number, target: number): MuteProxy {
  let listening: Server | undefined;
  let isMute = false;
  /** Told of the COMMIT that is waited for. */
  let hush: (() => void) | undefined;
  const sockets = new Set<Socket>();
  const join = (near: Socket): void => {
    const far = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.setNoDelay(true);
      // It breaks whenever the server does.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on('data', (bytes) => {
        if (one === far && isMute) return;
        // Both servers are sent it as text.
        if (one === near && hush && /commit/i.test(bytes.toString('latin1'))) hush();
        if (!other.write(bytes)) one.pause();
      });
      other.on('drain', () => one.resume());
    }
  };
  return {
    port,
    async open() {
      if (listening) return;
      isMute = false;
      listening = createServer(join);
      listening.listen(port, '127.0.0.1');
      await once(listening, 'listening');
    },
    mute(from, mostMs) {
      return new Promise((resolve) => {
        const now = (): void => {
          isMute = true;
          hush = undefined;
          clearTimeout(late);
          resolve();
        };
        const late = setTimeout(now, mostMs);
        if (from === 'now') now();
        else hush = now;
      });
    },
    async close() {
      const going = listening;
      listening = undefined;
      if (!going) return;
      const gone = once(going, 'close');
      going.close();
      for (const socket of sockets) socket.destroy();
      await gone;
    },
  };
}
