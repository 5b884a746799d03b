// SQLite runs inside the process: while a statement runs, nothing else does, and nothing can stop it. So a statement is
// weighed before it runs (sqlite-weight.ts). A light one runs here, in microseconds. A heavy one runs in a child process
// with its own read-only connection, which is killed when the caller goes away or time is up. Figures: docs/slow-queries.md.
import { existsSync, statSync } from 'node:fs';
import type { Clock } from '../../../core/clock.ts';
import { AppError, fail } from '../../../core/errors.ts';
import type { Observe } from '../../../core/observe.ts';
import { loadSqliteDriver, type SqliteConnection, type SqliteWish } from '../../../core/sqlite.ts';
import type { ReadOptions } from '../source.ts';
import type { Driver, Prepared } from './driver.ts';
import { createChildren } from './sqlite-children.ts';
import { createScale } from './sqlite-weight.ts';
import { createWrites } from './sqlite-writes.ts';

export interface SqliteOptions {
  /** A file, or `:memory:`, which no child could see: everything runs in the process then. */
  readonly path: string;
  readonly name: string;
  readonly wish: SqliteWish;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** CONFIGURATION when the file is not there, or is none of SQLite. */
export function openSqlite({ path, name, wish, observe, clock }: SqliteOptions): Driver {
  const isMemory = path === ':memory:' || path === '';
  if (!isMemory && !(existsSync(path) && statSync(path).isFile())) {
    fail('CONFIGURATION', { problem: `The database ${name} is not there. Check the path after sqlite:.` });
  }
  const { driver: Database, kind } = loadSqliteDriver(wish);
  const connection = open();
  // The WebAssembly driver locks the whole file to read, and a killed process would leave that lock behind: with it
  // everything runs here.
  const children = isMemory || kind === 'wasm' ? undefined : createChildren({ path, name, observe, clock });
  const scale = createScale(connection, clock);
  const writes = createWrites(connection, clock, keptOf);

  return {
    catalogue: async (sql) => connection.prepare(sql).all() as Record<string, unknown>[],
    run(prepared, values, options) {
      if (options.signal?.aborted) fail('CANCELLED', {});
      return writes.open ? readLater(prepared, values, options) : read(prepared, values, options);
    },
    transaction: (work, options) => writes.transaction(work, options),
    async close() {
      children?.close();
      connection.close();
    },
  };

  async function readLater(prepared: Prepared, values: readonly unknown[], options: ReadOptions) {
    while (writes.open) await writes.open;
    return read(prepared, values, options);
  }

  function read(prepared: Prepared, values: readonly unknown[], options: ReadOptions) {
    const kept = keptOf(connection, prepared);
    if (children && !scale.isLight(kept, prepared.sql)) {
      return children.run({ sql: prepared.sql, values, bigIntegers: prepared.bigIntegers }, options);
    }
    if (kept.bigIntegers !== prepared.bigIntegers) {
      kept.statement.safeIntegers(prepared.bigIntegers);
      kept.bigIntegers = prepared.bigIntegers;
    }
    return kept.statement.all(values) as unknown[][];
  }

  function open(): SqliteConnection {
    try {
      const opened = new Database(path, isMemory ? {} : { fileMustExist: true });
      // Waiting for another process's lock holds up everybody here.
      opened.pragma('busy_timeout = 1000');
      opened.pragma('foreign_keys = on');
      // The first look at the file, which tells whether it is one of SQLite.
      opened.pragma('schema_version');
      return opened;
    } catch (cause) {
      throw new AppError(
        'CONFIGURATION',
        { problem: `The file ${name} cannot be opened as a SQLite database.` },
        cause,
      );
    }
  }
}

export interface KeptStatement {
  readonly statement: ReturnType<SqliteConnection['prepare']>;
  bigIntegers: boolean;
  /** Set when it was first weighed. */
  weight?: { readonly heaviest: () => number };
}

function keptOf(connection: SqliteConnection, prepared: Prepared): KeptStatement {
  prepared.kept ??= { statement: connection.prepare(prepared.sql).raw(), bigIntegers: false } satisfies KeptStatement;
  return prepared.kept as KeptStatement;
}
