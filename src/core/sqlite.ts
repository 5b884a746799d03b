// The SQLite driver, for the two folders that own databases (store and agent/sources/sql). The native driver is used if
// it could be built or downloaded. Otherwise a WebAssembly SQLite with the same interface replaces it
// (core/sqlite/wasm.ts).
import { createRequire } from 'node:module';
import { AppError } from './errors.ts';
import { WasmDatabase } from './sqlite/wasm.ts';

/** Based on our own class, because the declarations of the package should not need those of the native driver. */
export type SqliteConnection = Omit<WasmDatabase, 'lastRun'>;
export type SqliteDriver = new (...options: ConstructorParameters<typeof WasmDatabase>) => SqliteConnection;
export type SqliteKind = 'native' | 'wasm';
/** `auto`: native if it loads, else wasm. */
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
    try {
      return { driver: loadNative(), kind: 'native' };
    } catch (cause) {
      if (choice === 'auto') return loadSqliteDriver('wasm');
      throw new AppError(
        'CONFIGURATION',
        { problem: 'SERVICE_SQLITE: the native SQLite driver cannot be loaded. Set it to auto or wasm, or reinstall.' },
        cause,
      );
    }
  }
}

/** Opens a database to test the driver. The package loads even if its binary is missing or built for another Node. */
function loadNative(): SqliteDriver {
  const driver = require('better-sqlite3') as SqliteDriver;
  new driver(':memory:').close();
  return driver;
}
