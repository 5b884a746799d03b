// SQLite as WebAssembly, behind the part of better-sqlite3's interface that knex and Portico use.
//
// Differences from the native driver: It has no WAL (it uses a rollback journal). It has only one lock, also taken for
// reading (wasm-lock.ts). Whole numbers are bound as INTEGER, where the native driver binds REAL. Text with a NUL
// character is rejected, because it would be truncated.
import { resolve } from 'node:path';
import { Connection, type ConnectionOptions } from './connection.ts';
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

export class WasmDatabase extends Connection<WasmStatement> {
  readonly name: string;
  readonly readonly: boolean;
  readonly memory: boolean;
  readonly #raw: RawDatabase;
  readonly #live = new Set<RawStatement>();
  readonly #leave: () => void;
  #safe = false;

  constructor(path: string, options: ConnectionOptions = {}) {
    super();
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

  override get inTransaction(): boolean {
    return this.#raw.isOpen && this.#raw.inTransaction;
  }

  override prepare(sql: string): WasmStatement {
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

  override exec(sql: string): this {
    withErrorCode(() => this.#raw.exec(sql));
    return this;
  }

  defaultSafeIntegers(on = true): this {
    this.#safe = on;
    return this;
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
