// A proxy to a server that can drop responses while it still forwards requests. This simulates a
// server that dies after it executed a statement and before it replied. A kill almost never hits that
// short moment. While the server is down, the proxy does not listen, so connections are refused.
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface MuteProxy {
  readonly port: number;
  /** Starts to listen and forward in both directions; returns at once if it already does. */
  open(): Promise<void>;
  /**
   * Drops responses from now on, or from the next COMMIT of a client, until the next `open`. Resolves when it starts to
   * drop, at the latest after `mostMs`.
   */
  mute(from: 'now' | 'commit', mostMs: number): Promise<void>;
  /** Refuses new connections, and breaks existing ones. */
  close(): Promise<void>;
}

/** Forwards from the first port to the second, both on this machine. */
export function createMuteProxy(port: number, target: number): MuteProxy {
  let listening: Server | undefined;
  let isMute = false;
  /** Called at the COMMIT that `mute` waits for. */
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
      // The connection breaks when the server dies.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.on('data', (bytes) => {
        if (one === far && isMute) return;
        // Both protocols send COMMIT as text.
        if (one === near && hush && /\bcommit\b/i.test(bytes.toString('latin1'))) hush();
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
