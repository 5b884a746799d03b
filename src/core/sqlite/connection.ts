// What the connections of node.ts and wasm.ts share: the parts of better-sqlite3's interface that are made of others.

export interface ConnectionOptions {
  readonly?: boolean;
  fileMustExist?: boolean;
  /** How long a statement waits for the lock of another connection, in milliseconds; 5000 by default. */
  timeout?: number;
}

interface Statement {
  all(...values: unknown[]): unknown[];
  get(...values: unknown[]): unknown;
  pluck(): this;
  finalize(): void;
}

type TransactionMode = 'deferred' | 'immediate' | 'exclusive';
type InTransaction<A extends unknown[], R> = ((...args: A) => R) & {
  readonly [M in TransactionMode | 'default']: (...args: A) => R;
} & { readonly database: object };

export abstract class Connection<S extends Statement> {
  abstract get inTransaction(): boolean;
  abstract prepare(sql: string): S;
  abstract exec(sql: string): this;

  pragma(source: string, options: { simple?: boolean } = {}): unknown {
    const statement = this.prepare(`PRAGMA ${source}`);
    try {
      return options.simple ? statement.pluck().get() : statement.all();
    } finally {
      statement.finalize();
    }
  }

  /** As in better-sqlite3: a function that runs in a transaction, or in a savepoint within one. */
  transaction<A extends unknown[], R>(run: (...args: A) => R): InTransaction<A, R> {
    const inMode =
      (mode: TransactionMode) =>
      (...args: A): R => {
        const nested = this.inTransaction;
        this.exec(nested ? 'SAVEPOINT nested' : `BEGIN ${mode}`);
        try {
          const result = run(...args);
          if (result instanceof Promise) throw new TypeError('Transaction function cannot return a promise');
          this.exec(nested ? 'RELEASE nested' : 'COMMIT');
          return result;
        } catch (error) {
          if (this.inTransaction) this.exec(nested ? 'ROLLBACK TO nested; RELEASE nested' : 'ROLLBACK');
          throw error;
        }
      };
    const [deferred, immediate, exclusive] = [inMode('deferred'), inMode('immediate'), inMode('exclusive')];
    return Object.assign(inMode('deferred'), { default: deferred, deferred, immediate, exclusive, database: this });
  }
}
