// The SQLite driver, for the two rooms that own databases (store and agent/sources/sql). The native driver is used where
// it could be built or fetched; elsewhere a WebAssembly SQLite with the same interface takes its place: the part of
// better-sqlite3's interface that knex and we use.
//
// How the WebAssembly one differs. It has no WAL (it stays with a rollback journal). It knows one lock, taken for reading
// too: a folder `<file>.lock`, which a killed process leaves behind, so each process that has a file open says so in
// `<file>.open-<pid>`, and a lock that no living process can hold is removed. Whole numbers are bound as INTEGER, where
// the native driver binds REAL. Text with a NUL character is refused, since it would be cut there.
import { closeSync, openSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import type { Knex } from 'knex';
import { AppError } from './errors.ts';

export type SqliteConnection = BetterSqlite3.Database;
export type SqliteDriver = typeof BetterSqlite3;
export type SqliteKind = 'native' | 'wasm';
/** `auto`: native where it loads, else wasm. */
export type SqliteWish = SqliteKind | 'auto';

export interface LoadedSqlite {
  readonly driver: SqliteDriver;
  readonly kind: SqliteKind;
}

const require = createRequire(import.meta.url);
const loaded = new Map<SqliteWish, LoadedSqlite>();

/** CONFIGURATION when the native driver is asked for by name and does not load. */
export function loadSqliteDriver(wish: SqliteWish = 'auto'): LoadedSqlite {
  const known = loaded.get(wish);
  if (known) return known;
  const found = load();
  loaded.set(wish, found);
  return found;

  function load(): LoadedSqlite {
    if (wish === 'wasm') return { driver: WasmDatabase as unknown as SqliteDriver, kind: 'wasm' };
    try {
      return { driver: loadNative(), kind: 'native' };
    } catch (cause) {
      if (wish === 'auto') return loadSqliteDriver('wasm');
      throw new AppError(
        'CONFIGURATION',
        { problem: 'SERVICE_SQLITE: the native SQLite driver cannot be loaded. Set it to auto or wasm, or reinstall.' },
        cause,
      );
    }
  }
}

/** Opening a database is the proof: the package loads even where its binary is missing or made for another Node. */
function loadNative(): SqliteDriver {
  const driver = require('better-sqlite3') as SqliteDriver;
  new driver(':memory:').close();
  return driver;
}

interface KnexQuery {
  sql: string;
}
interface KnexSqliteClient extends Knex.Client {
  _query(connection: unknown, query: KnexQuery): Promise<unknown>;
}
type KnexSqliteClientClass = new (config: Knex.Config) => KnexSqliteClient;

/**
 * A knex client (for `knex({ client })`) that uses the given driver and whatever connection `open` gives, so that
 * pragmas and open options stay with the caller. `immediate`: transactions take the write lock when they begin, since
 * one that reads first and writes later fails with SQLITE_BUSY, without waiting, when another process wrote in between.
 */
export function createKnexClient(options: {
  readonly driver: SqliteDriver;
  readonly open: () => SqliteConnection;
  readonly immediate?: boolean;
}): typeof Knex.Client {
  const Base = require('knex/lib/dialects/better-sqlite3/index.js') as KnexSqliteClientClass;
  class SqliteClient extends Base {
    _driver(): SqliteDriver {
      return options.driver;
    }
    override async acquireRawConnection(): Promise<SqliteConnection> {
      return options.open();
    }
    override async _query(connection: SqliteConnection | WasmDatabase, query: KnexQuery): Promise<unknown> {
      if (options.immediate && query.sql === 'BEGIN;') query.sql = 'BEGIN IMMEDIATE;';
      if (!(connection instanceof WasmDatabase)) return super._query(connection, query);
      // knex prepares each query anew; statements of the WebAssembly driver are freed by hand.
      const prepared: WasmStatement[] = [];
      const prepare = (sql: string): WasmStatement => {
        const statement = connection.prepare(sql);
        prepared.push(statement);
        return statement;
      };
      try {
        return await super._query({ prepare }, query);
      } finally {
        for (const statement of prepared) statement.finalize();
      }
    }
  }
  return SqliteClient as unknown as typeof Knex.Client;
}

// ---- the WebAssembly driver ---------------------------------------------------------------------------------------

type SqliteValue = number | bigint | string | Uint8Array | null;

/** node-sqlite3-wasm 0.8.60, with what its declarations leave out: rows by position, and a reset that frees the lock. */
interface RawStatement {
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
interface RawDatabase {
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
interface RunResult {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

const SQLITE_INTEGER = 1;
const UNION_MOST = 100;
let wasmModule: RawModule | undefined;

function getWasmModule(): RawModule {
  wasmModule ??= require('node-sqlite3-wasm') as RawModule;
  return wasmModule;
}

/** The codes that better-sqlite3 would give, for what callers tell apart. */
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

function coded<T>(run: () => T): T {
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

type Held = { readonly raw: RawStatement; readonly of: Set<RawStatement> };

/** Statements that nobody finalized and nobody can reach any more. */
const forgotten = new FinalizationRegistry<Held>(({ raw, of }) => {
  if (of.delete(raw)) freeStatement(raw);
});

function freeStatement(raw: RawStatement): void {
  try {
    raw.finalize();
  } catch {
    // finalize repeats the error of the last step; the statement is gone all the same.
  }
}

class WasmStatement {
  readonly database: WasmDatabase;
  readonly source: string;
  readonly #raw: RawStatement;
  readonly #live: Set<RawStatement>;
  readonly #names: readonly string[];
  readonly #positions: readonly number[];
  #shape: 'object' | 'raw' | 'pluck' = 'object';
  #safe: boolean;

  constructor(database: WasmDatabase, raw: RawStatement, live: Set<RawStatement>, source: string, safe: boolean) {
    this.database = database;
    this.source = source;
    this.#raw = raw;
    this.#live = live;
    this.#names = raw._getColumnNames();
    this.#positions = this.#names.map((_, index) => index);
    this.#safe = safe;
    live.add(raw);
    forgotten.register(this, { raw, of: live }, this);
  }

  get reader(): boolean {
    return this.#names.length > 0;
  }

  run(...values: unknown[]): RunResult {
    return coded(() => {
      try {
        this.#start(values);
        while (this.#raw._step());
        return this.database.lastRun(this.#safe);
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
      coded(() => this.#start(values));
      while (coded(() => this.#raw._step())) yield this.#row();
    } finally {
      // Without it a statement that was not read to its end would hold the lock.
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

  /** Names only: the rest of what the native driver tells is not to be had here. */
  columns(): { name: string; column: null; table: null; database: null; type: null }[] {
    return this.#names.map((name) => ({ name, column: null, table: null, database: null, type: null }));
  }

  finalize(): void {
    forgotten.unregister(this);
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

type TransactionMode = 'deferred' | 'immediate' | 'exclusive';

class WasmDatabase {
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
    this.#leave = this.memory ? () => undefined : enterFile(resolve(path));
    try {
      this.#raw = coded(
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
    // Measured: the WebAssembly stack overflows, and memory is corrupted, somewhere above 200 terms.
    if (sql.length > 2000 && (sql.match(/\bunion\b/gi)?.length ?? 0) >= UNION_MOST) {
      throw new RangeError(`the WebAssembly SQLite driver takes at most ${UNION_MOST} terms of a UNION`);
    }
    const raw = coded(() => this.#raw.prepare(sql));
    return new WasmStatement(this, raw, this.#live, sql, this.#safe);
  }

  /** What the last statement did. */
  lastRun(safe: boolean): RunResult {
    const wasm = getWasmModule();
    const id = wasm._sqlite3_last_insert_rowid(this.#raw._ptr);
    return { changes: wasm._sqlite3_changes(this.#raw._ptr), lastInsertRowid: safe ? id : Number(id) };
  }

  exec(sql: string): this {
    coded(() => this.#raw.exec(sql));
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

  /** As in better-sqlite3: a function that runs in a transaction, or in a savepoint inside one. */
  transaction<A extends unknown[], R>(run: (...args: A) => R) {
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

/** How many connections this process has to each file. */
const entered = new Map<string, number>();

/** Says that this process has the file open, after removing a lock that nobody alive can hold. */
function enterFile(file: string): () => void {
  const mine = `${file}.open-${process.pid}`;
  try {
    if (!isHeld(file)) rmdirSync(`${file}.lock`);
  } catch {
    // There is no lock, which is how it should be.
  }
  try {
    closeSync(openSync(mine, 'w', 0o600));
  } catch {
    // In a folder where nothing can be made no lock can be made either: the first statement says so.
  }
  entered.set(file, (entered.get(file) ?? 0) + 1);
  return () => {
    const left = (entered.get(file) ?? 1) - 1;
    if (left > 0) {
      entered.set(file, left);
      return;
    }
    entered.delete(file);
    rmSync(mine, { force: true });
  };
}

/** Whether a living process has the file open; marks of dead ones are removed. */
function isHeld(file: string): boolean {
  if (entered.has(file)) return true;
  const prefix = `${basename(file)}.open-`;
  let held = false;
  for (const name of readdirSync(dirname(file))) {
    if (!name.startsWith(prefix)) continue;
    const pid = Number(name.slice(prefix.length));
    // A mark with our own number that we did not make is of an earlier process, as happens in containers.
    if (pid !== process.pid && isAlive(pid)) held = true;
    else rmSync(join(dirname(file), name), { force: true });
  }
  return held;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
