// Statements of the WebAssembly SQLite, and its module. Statements are freed explicitly or by garbage collection.
import { createRequire } from 'node:module';

type SqliteValue = number | bigint | string | Uint8Array | null;

/**
 * node-sqlite3-wasm 0.8.60, with members missing from its declarations: rows by position, and a reset that frees the
 * lock.
 */
export interface RawStatement {
  readonly _ptr: number | null;
  _assertReady(): void;
  _bind(values: readonly unknown[]): void;
  _bindObject(values: Record<string, unknown>): void;
  _step(): boolean;
  _reset(): boolean;
  _getRow(keys: readonly (string | number)[], expand: false): Record<string | number, SqliteValue>;
  _getColumnNames(): string[];
  finalize(): void;
}
export interface RawDatabase {
  readonly _ptr: number;
  readonly isOpen: boolean;
  readonly inTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): RawStatement;
  close(): void;
}
interface RawModule {
  readonly Database: new (path: string, options: { fileMustExist: boolean; readOnly: boolean }) => RawDatabase;
  _sqlite3_column_type(statement: number, column: number): number;
  _sqlite3_changes(database: number): number;
  _sqlite3_last_insert_rowid(database: number): bigint;
}
export interface RunResult {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

const SQLITE_INTEGER = 1;
const require = createRequire(import.meta.url);
let wasmModule: RawModule | undefined;

export function getWasmModule(): RawModule {
  wasmModule ??= require('node-sqlite3-wasm') as RawModule;
  return wasmModule;
}

/** The codes of better-sqlite3, for the errors that callers distinguish. */
const errorCodes: readonly (readonly [RegExp, string])[] = [
  [/database (table )?is locked/, 'SQLITE_BUSY'],
  [/UNIQUE constraint/, 'SQLITE_CONSTRAINT_UNIQUE'],
  [/FOREIGN KEY constraint/, 'SQLITE_CONSTRAINT_FOREIGNKEY'],
  [/NOT NULL constraint/, 'SQLITE_CONSTRAINT_NOTNULL'],
  [/CHECK constraint/, 'SQLITE_CONSTRAINT_CHECK'],
  [/readonly database/, 'SQLITE_READONLY'],
  [/not a database/, 'SQLITE_NOTADB'],
  [/Could not open|unable to open/, 'SQLITE_CANTOPEN'],
];

export function withErrorCode<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && error.name === 'SQLite3Error' && !('code' in error)) {
      const code = errorCodes.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'SQLITE_ERROR';
      Object.assign(error, { code });
    }
    throw error;
  }
}

type LiveStatement = { readonly raw: RawStatement; readonly of: Set<RawStatement> };

/** Frees statements that became unreachable without being finalized. */
const finalizers = new FinalizationRegistry<LiveStatement>(({ raw, of }) => {
  if (of.delete(raw)) freeStatement(raw);
});

export function freeStatement(raw: RawStatement): void {
  try {
    raw.finalize();
  } catch {
    // finalize repeats the error of the last step, but frees the statement anyway.
  }
}

/** The part of the database that a statement uses. */
interface LastRun {
  lastRun(safe: boolean): RunResult;
}

export class WasmStatement {
  /** The connection, for comparison. */
  readonly database: object;
  readonly #last: LastRun;
  readonly source: string;
  readonly #raw: RawStatement;
  readonly #live: Set<RawStatement>;
  readonly #names: readonly string[];
  readonly #positions: readonly number[];
  #shape: 'object' | 'raw' | 'pluck' = 'object';
  #safe: boolean;

  constructor(database: LastRun, raw: RawStatement, live: Set<RawStatement>, source: string, safe: boolean) {
    this.database = database;
    this.#last = database;
    this.source = source;
    this.#raw = raw;
    this.#live = live;
    this.#names = raw._getColumnNames();
    this.#positions = this.#names.map((_, index) => index);
    this.#safe = safe;
    live.add(raw);
    finalizers.register(this, { raw, of: live }, this);
  }

  get reader(): boolean {
    return this.#names.length > 0;
  }

  run(...values: unknown[]): RunResult {
    return withErrorCode(() => {
      try {
        this.#start(values);
        while (this.#raw._step());
        return this.#last.lastRun(this.#safe);
      } finally {
        this.#raw._reset();
      }
    });
  }

  get(...values: unknown[]): unknown {
    for (const row of this.iterate(...values)) return row;
    return undefined;
  }

  all(...values: unknown[]): unknown[] {
    return [...this.iterate(...values)];
  }

  *iterate(...values: unknown[]): IterableIterator<unknown> {
    try {
      withErrorCode(() => this.#start(values));
      while (withErrorCode(() => this.#raw._step())) yield this.#row();
    } finally {
      // Without the reset, a statement that was not read to its end would hold the lock.
      if (this.#raw._ptr !== null) this.#raw._reset();
    }
  }

  raw(on = true): this {
    this.#shape = on ? 'raw' : 'object';
    return this;
  }

  pluck(on = true): this {
    this.#shape = on ? 'pluck' : 'object';
    return this;
  }

  safeIntegers(on = true): this {
    this.#safe = on;
    return this;
  }

  /** Names only: this driver does not provide the other metadata of the native one. */
  columns(): { name: string; column: null; table: null; database: null; type: null }[] {
    return this.#names.map((name) => ({ name, column: null, table: null, database: null, type: null }));
  }

  finalize(): void {
    finalizers.unregister(this);
    if (this.#live.delete(this.#raw)) freeStatement(this.#raw);
  }

  #start(values: readonly unknown[]): void {
    this.#raw._assertReady();
    const positional: unknown[] = [];
    let named: Record<string, unknown> | undefined;
    for (const value of values.flat()) {
      if (typeof value === 'string' && value.includes('\0')) {
        throw new RangeError('text with a NUL character cannot be bound by the WebAssembly SQLite driver');
      }
      if (typeof value === 'object' && value !== null && !(value instanceof Uint8Array)) {
        named = { ...named, ...(value as Record<string, unknown>) };
      } else positional.push(value);
    }
    this.#raw._bind(positional);
    for (const [name, value] of Object.entries(named ?? {})) this.#bindNamed(name, value);
  }

  #bindNamed(name: string, value: unknown): void {
    for (const prefix of [':', '@', '$']) {
      try {
        this.#raw._bindObject({ [prefix + name]: value });
        return;
      } catch (error) {
        if (!(error as Error).message.startsWith('Unknown binding parameter')) throw error;
      }
    }
  }

  #row(): unknown {
    if (this.#shape === 'object') {
      const row: Record<string, unknown> = this.#raw._getRow(this.#names, false);
      for (const [index, name] of this.#names.entries()) row[name] = this.#value(row[name], index);
      return row;
    }
    const row = this.#raw._getRow(this.#positions, false);
    if (this.#shape === 'pluck') return this.#value(row[0], 0);
    return this.#positions.map((index) => this.#value(row[index], index));
  }

  #value(value: unknown, column: number): unknown {
    if (typeof value === 'number') {
      if (!this.#safe || !Number.isInteger(value)) return value;
      return getWasmModule()._sqlite3_column_type(this.#raw._ptr!, column) === SQLITE_INTEGER ? BigInt(value) : value;
    }
    if (typeof value === 'bigint') return this.#safe ? value : Number(value);
    return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
  }
}
