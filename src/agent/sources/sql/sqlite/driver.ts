// SQLite runs within the process: a running statement blocks it and cannot be interrupted. The process therefore runs
// only reads whose rows and bytes it can limit (in-process.ts). Everything else may scan many rows or long texts. It
// runs in a child process with its own read-only connection, which is killed when the caller cancels or time is up.
// Measurements: docs/slow-queries.md.

import { existsSync, statSync } from 'node:fs';
import type { Clock } from '../../../../core/clock.ts';
import { AppError, fail } from '../../../../core/errors.ts';
import type { Observe } from '../../../../core/observe.ts';
import { explainFile } from '../../../../core/sqlite/file.ts';
import { loadSqliteDriver, type SqliteChoice, type SqliteConnection } from '../../../../core/sqlite.ts';
import type { ReadOptions } from '../../source.ts';
import { MAX_ANSWER_BYTES } from '../answer-size.ts';
import type { Driver, Prepared, ResultColumn } from '../driver.ts';
import { createShares } from '../shares.ts';
import { createChildren, MAX_CHILDREN } from './children.ts';
import { createInProcessReads } from './in-process.ts';
import { prepareWhole } from './prepared-state.ts';
import { createWrites } from './writes.ts';

interface SqliteOptions {
  /**
   * A file path, or `:memory:`. Children cannot access an in-memory database, so everything then runs in the process.
   */
  readonly path: string;
  readonly name: string;
  readonly driverChoice: SqliteChoice;
  readonly observe: Observe;
  readonly clock: Clock;
}

/** How long a statement in the process waits for the lock of another process. It blocks this process meanwhile. */
const WAIT_MILLISECONDS = 1000;

const RESULT_VIEW = 'portico_result';

/** Throws CONFIGURATION if the file is missing or not a SQLite database. */
export function openSqlite({ path, name, driverChoice, observe, clock }: SqliteOptions): Driver {
  const isMemory = path === ':memory:' || path === '';
  if (!isMemory && !(existsSync(path) && statSync(path).isFile())) {
    fail('CONFIGURATION', { problem: problemOf(name) });
  }
  const { driver: Database, kind } = loadSqliteDriver(driverChoice);
  const connection = open();
  // The WebAssembly driver locks the whole file to read, and a killed process would leave the lock behind. With that
  // driver, everything runs in this process.
  const children = isMemory || kind === 'wasm' ? undefined : createChildren({ path, name, observe, clock });
  const inProcess = children && createInProcessReads(connection, clock);
  const shares = createShares(clock, MAX_CHILDREN);
  // Children wait for the lock of another process instead.
  const writes = createWrites(connection, clock, children ? 0 : WAIT_MILLISECONDS);
  if (children) connection.pragma('busy_timeout = 0');

  return {
    async catalogue(sql) {
      connection.pragma(`busy_timeout = ${WAIT_MILLISECONDS}`);
      try {
        return connection.prepare(sql).all() as Record<string, unknown>[];
      } finally {
        if (children) connection.pragma('busy_timeout = 0');
      }
    },
    async resultColumns(sql) {
      // A view of this connection only, which changes nothing in the file.
      connection.exec(`create temp view ${RESULT_VIEW} as ${sql}`);
      try {
        return connection
          .prepare(`select name, type from pragma_table_xinfo('${RESULT_VIEW}')`)
          .all() as ResultColumn[];
      } finally {
        connection.exec(`drop view temp.${RESULT_VIEW}`);
      }
    },
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
    if (!children || !inProcess) return prepareWhole(connection, prepared).all(values) as unknown[][];
    const rows = inProcess.run(prepared, values);
    if (rows) return rows;
    const { sql, bigIntegers, cut } = prepared;
    const request = { sql, values, bigIntegers, maxBytes: MAX_ANSWER_BYTES, ...(cut && { cut }) };
    return shares.run(options, () => children.run(request, options));
  }

  function open(): SqliteConnection {
    try {
      const opened = new Database(path, isMemory ? {} : { fileMustExist: true });
      opened.pragma(`busy_timeout = ${WAIT_MILLISECONDS}`);
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
