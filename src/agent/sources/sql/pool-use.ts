// Counts the use of a pool's connections when they are acquired and released. The drivers report this in different ways
// or not at all.

export interface PoolUse {
  readonly used: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
}

interface Pool<C> {
  readonly connect: () => Promise<C>;
  /** Releases the connection; `broken` if it must not be reused. */
  readonly release: (connection: C, broken: boolean) => void;
}

/** Wraps a pool; calls `tell` on each change of its use. */
export function countUse<C>(pool: Pool<C>, reportUse: (use: PoolUse) => void): Pool<C> {
  let used = 0;
  let waiting = 0;
  const change = (more: number, isWaiting: number) => {
    used += more;
    waiting += isWaiting;
    reportUse({ used, waiting });
  };
  return {
    async connect() {
      change(0, 1);
      try {
        const connection = await pool.connect();
        change(1, -1);
        return connection;
      } catch (error) {
        change(0, -1);
        throw error;
      }
    },
    release(connection, broken) {
      change(-1, 0);
      pool.release(connection, broken);
    },
  };
}
