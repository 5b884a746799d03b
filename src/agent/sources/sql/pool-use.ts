// How the connections of a pool are used, counted where they are taken and given back: the drivers tell it in ways of
// their own, or not at all.

export interface PoolUse {
  readonly used: number;
  /** Calls that wait for a connection. */
  readonly waiting: number;
}

export interface Pool<C> {
  readonly connect: () => Promise<C>;
  /** Gives the connection back; `broken` when it must not be used again. */
  readonly give: (connection: C, broken: boolean) => void;
}

/** The same pool; `tell` is called whenever its use changed. */
export function countUse<C>(pool: Pool<C>, tell: (use: PoolUse) => void): Pool<C> {
  let used = 0;
  let waiting = 0;
  const change = (more: number, inLine: number) => {
    used += more;
    waiting += inLine;
    tell({ used, waiting });
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
    give(connection, broken) {
      change(-1, 0);
      pool.give(connection, broken);
    },
  };
}
