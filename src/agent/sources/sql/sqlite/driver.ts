// SQLite runs within the process: a running statement blocks it and cannot be interrupted. The process therefore runs
// only lookups of single records by key (lookup.ts), which take microseconds. Everything else runs in a child process
// with its own read-only connection. The child is killed when the caller cancels or time is up. Measurements:
// docs/slow-queries.md.

import { existsSync, statSync } from 'node:fs';
import type { Clock } from '../../../../core/clock.ts';
import { AppError, fail } from '../../../../core/errors.ts';
import type { Observe } from '../../../../core/observe.ts';
import { explainFile } from '../../../../core/sqlite/file.ts';
import { loadSqliteDriver, type SqliteConnection, type SqliteWish } from '../../../../core/sqlite.ts';
import type { ReadOptions } from '../../source.ts';
import { ANSWER_BYTES } from '../answer-size.ts';
import type { Driver, Prepared } from '../driver.ts';
import { createShares } from '../shares.ts';
import { CHILDREN_MOST, createChildren } from './children.ts';
import type { KeptStatement } from './kept-statement.ts';
import { isLookup } from './lookup.ts';
import { createWrites } from './writes.ts';

export interface SqliteOptions {
  /**
   * A file path, or `:memory:`. Children cannot access an in-memory database, so everything then runs in the process.
   */
  readonly path: string;
  readonly name: string;
  readonly wish: SqliteWish;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** Throws CONFIGURATION if the file is missing or not a SQLite database. */
export function openSqlite({ path, name, wish, observe, clock }: SqliteOptions): Driver {
  const isMemory = path === ':memory:' || path === '';
  if (!isMemory && !(existsSync(path) && statSync(path).isFile())) {
    fail('CONFIGURATION', { problem: problemOf(name) });
  }
  const { driver: Database, kind } = loadSqliteDriver(wish);
  const connection = open();
  // The WebAssembly driver locks the whole file to read, and a killed process would leave the lock behind. With that
  // driver, everything runs in this process.
  const children = isMemory || kind === 'wasm' ? undefined : createChildren({ path, name, observe, clock });
  const shares = createShares(clock, CHILDREN_MOST);
  const writes = createWrites(connection, clock, keptOf);

  return {
    catalogue: async (sql) => connection.prepare(sql).all() as Record<string, unknown>[],
    run(prepared, values, options) {
      if (options.signal?.aborted) fail('CANCELLED', {});
      return writes.open ? readLater(prepared, values, options) : read(prepared, values, options);
    },
    transaction: (work, options) => shares.run(options, () => writes.transaction(work, options)),
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
    if (children && !isLookup(connection, kept, prepared.sql, values)) {
      const { sql, bigIntegers } = prepared;
      const request = { sql, values, bigIntegers, bytesMost: ANSWER_BYTES };
      return shares.run(options, () => children.run(request, options));
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
      // Waiting for another process's lock blocks this whole process.
      opened.pragma('busy_timeout = 1000');
      opened.pragma('foreign_keys = on');
      // The first access to the file; it fails if the file is not a SQLite database.
      opened.pragma('schema_version');
      return opened;
    } catch (cause) {
      throw new AppError('CONFIGURATION', { problem: problemOf(name, cause) }, cause);
    }
  }
}

function problemOf(name: string, cause?: unknown): string {
  return `The database ${name} ${explainFile(name, cause)}. Check the path after sqlite: (SERVICE_DATABASE_URL, --database, or createSqlDataSource in code).`;
}

function keptOf(connection: SqliteConnection, prepared: Prepared): KeptStatement {
  prepared.kept ??= { statement: connection.prepare(prepared.sql).raw(), bigIntegers: false } satisfies KeptStatement;
  return prepared.kept as KeptStatement;
}
