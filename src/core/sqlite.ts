// The SQLite driver, for the two folders that own databases (store and agent/sources/sql). The native driver
// (better-sqlite3) is used if it is installed. Otherwise the SQLite of Node (core/sqlite/node.ts) replaces it, or, where
// Node has none, a WebAssembly SQLite (core/sqlite/wasm.ts). All three have the same interface.
import { createRequire } from 'node:module';
import { AppError } from './errors.ts';
import type { Observe } from './observe.ts';
import { loadNodeSqlite } from './sqlite/node.ts';
import { WasmDatabase } from './sqlite/wasm.ts';

/** Based on our own class, because the declarations of the package should not need those of the native driver. */
export type SqliteConnection = Omit<WasmDatabase, 'lastRun'>;
export type SqliteDriver = new (...options: ConstructorParameters<typeof WasmDatabase>) => SqliteConnection;
export type SqliteKind = 'native' | 'node' | 'wasm';
/** `auto`: the first that loads, in this order: native, node, wasm. */
export type SqliteChoice = SqliteKind | 'auto';

interface LoadedSqlite {
  readonly driver: SqliteDriver;
  readonly kind: SqliteKind;
}

const require = createRequire(import.meta.url);
const loaded = new Map<SqliteChoice, LoadedSqlite>();

/** Throws CONFIGURATION when the native driver is requested explicitly and does not load. */
export function loadSqliteDriver(choice: SqliteChoice = 'auto'): LoadedSqlite {
  const cached = loaded.get(choice);
  if (cached) return cached;
  const found = load();
  loaded.set(choice, found);
  return found;

  function load(): LoadedSqlite {
    if (choice === 'wasm') return { driver: WasmDatabase, kind: 'wasm' };
    const kind = choice === 'auto' ? 'native' : choice;
    try {
      return { driver: kind === 'native' ? loadNative() : (loadNodeSqlite() as unknown as SqliteDriver), kind };
    } catch (cause) {
      if (choice !== 'auto') throw new AppError('CONFIGURATION', { problem: problems[choice] }, cause);
    }
    try {
      return loadSqliteDriver('node');
    } catch {
      return loadSqliteDriver('wasm');
    }
  }
}

const problems = {
  native:
    'SERVICE_SQLITE: the native SQLite driver cannot be loaded. Install it (npm install better-sqlite3), or set SERVICE_SQLITE to auto, node or wasm.',
  node: 'SERVICE_SQLITE: this Node has no SQLite that Portico can use. Use Node 24, or set SERVICE_SQLITE to auto, native or wasm.',
} as const;

/** One line of the log, unless the native driver is in use. */
export function reportDriver(kind: SqliteKind, observe: Observe): void {
  if (kind === 'node') observe({ type: 'sqlite.chosen', driver: 'node:sqlite' });
  if (kind === 'wasm') observe({ type: 'warning', message: wasmWarning });
}

const wasmWarning =
  'SQLite runs as WebAssembly: everything works, but slower, and with one process at a time. ' +
  'Use Node 22.19 or newer, or install the native driver (npm install better-sqlite3), unless SERVICE_SQLITE is wasm on purpose.';

/** Opens a database to test the driver. The package loads even if its binary is missing or built for another Node. */
function loadNative(): SqliteDriver {
  const driver = require('better-sqlite3') as SqliteDriver;
  new driver(':memory:').close();
  return driver;
}

/**
 * Defines a function of one number that SQL of this connection can call, and that SQLite calls anew for each row. Only
 * the WebAssembly driver lacks it. Its error ends the statement.
 */
export function defineFunction(connection: SqliteConnection, name: string, run: (value: number) => number): void {
  const { function: define } = connection as unknown as NativeFunctions;
  // The driver counts the parameters.
  define.call(connection, name, { deterministic: false, directOnly: true }, (value: number) => run(value));
}

interface NativeFunctions {
  function(name: string, options: object, run: (value: number) => number): void;
}
