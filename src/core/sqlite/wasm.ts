// SQLite as WebAssembly, behind the part of better-sqlite3's interface that knex and Portico use.
//
// Differences from the native driver: It has no WAL (it uses a rollback journal). It has only one lock, also taken for
// reading (wasm-lock.ts). Whole numbers are bound as INTEGER, where the native driver binds REAL. Text with a NUL
// character is rejected, because it would be truncated.
import { resolve } from 'node:path';
import { markFileOpen } from './wasm-lock.ts';
import {
  freeStatement,
  getWasmModule,
  type RawDatabase,
  type RawStatement,
  type RunResult,
  WasmStatement,
  withErrorCode,
} from './wasm-statement.ts';

const MAX_UNION_TERMS = 100;

type TransactionMode = 'deferred' | 'immediate' | 'exclusive';
type InTransaction<A extends unknown[], R> = ((...args: A) => R) & {
  readonly [M in TransactionMode | 'default']: (...args: A) => R;
} & { readonly database: WasmDatabase };

export class WasmDatabase {
  readonly name: string;
  readonly readonly: boolean;
  readonly memory: boolean;
  readonly #raw: RawDatabase;
  readonly #live = new Set<RawStatement>();
  readonly #leave: () => void;
  #safe = false;

  constructor(path: string, options: { readonly?: boolean; fileMustExist?: boolean; timeout?: number } = {}) {
    this.name = path;
    this.readonly = options.readonly ?? false;
    this.memory = path === '' || path === ':memory:';
    const { Database } = getWasmModule();
    this.#leave = this.memory ? () => undefined : markFileOpen(resolve(path));
    try {
      this.#raw = withErrorCode(
        () => new Database(path, { readOnly: this.readonly, fileMustExist: options.fileMustExist ?? false }),
      );
      this.#raw.exec(`PRAGMA busy_timeout = ${options.timeout ?? 5000}`);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  get open(): boolean {
    return this.#raw.isOpen;
  }

  get inTransaction(): boolean {
    return this.#raw.isOpen && this.#raw.inTransaction;
  }

  prepare(sql: string): WasmStatement {
    // Measured: above about 200 terms, the WebAssembly stack overflows and memory is corrupted.
    if (sql.length > 2000 && (sql.match(/\bunion\b/gi)?.length ?? 0) >= MAX_UNION_TERMS) {
      throw new RangeError(`the WebAssembly SQLite driver takes at most ${MAX_UNION_TERMS} terms of a UNION`);
    }
    const raw = withErrorCode(() => this.#raw.prepare(sql));
    return new WasmStatement(this, raw, this.#live, sql, this.#safe);
  }

  /** The result of the last statement. */
  lastRun(safe: boolean): RunResult {
    const wasm = getWasmModule();
    const id = wasm._sqlite3_last_insert_rowid(this.#raw._ptr);
    return { changes: wasm._sqlite3_changes(this.#raw._ptr), lastInsertRowid: safe ? id : Number(id) };
  }

  exec(sql: string): this {
    withErrorCode(() => this.#raw.exec(sql));
    return this;
  }

  pragma(source: string, options: { simple?: boolean } = {}): unknown {
    const statement = this.prepare(`PRAGMA ${source}`);
    try {
      return options.simple ? statement.pluck().get() : statement.all();
    } finally {
      statement.finalize();
    }
  }

  defaultSafeIntegers(on = true): this {
    this.#safe = on;
    return this;
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

  close(): this {
    if (!this.open) return this;
    for (const raw of this.#live) freeStatement(raw);
    this.#live.clear();
    this.#raw.close();
    this.#leave();
    return this;
  }
}
