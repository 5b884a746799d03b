// SQLite runs within the process: a running statement blocks it and cannot be interrupted. The process therefore runs
// only lookups of single records by a primary key or unique index, with a small result, which take microseconds.
// Everything else may scan many rows or long texts. It runs in a child process with its own read-only connection, which
// is killed when the caller cancels or time is up. Measurements: docs/slow-queries.md.

import { existsSync, statSync } from 'node:fs';
import type { Clock } from '../../../../core/clock.ts';
import { AppError, fail } from '../../../../core/errors.ts';
import type { Observe } from '../../../../core/observe.ts';
import { explainFile } from '../../../../core/sqlite/file.ts';
import { loadSqliteDriver, type SqliteChoice, type SqliteConnection } from '../../../../core/sqlite.ts';
import type { ReadOptions } from '../../source.ts';
import { MAX_ANSWER_BYTES } from '../answer-size.ts';
import type { Driver, Prepared } from '../driver.ts';
import { createShares } from '../shares.ts';
import { createChildren, MAX_CHILDREN } from './children.ts';
import type { Lookup, PreparedStatement } from './kept-statement.ts';
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

const MAX_VALUES = 100;
const MAX_VALUE_LENGTH = 10_000;
const MAX_COLUMNS = 200;
/** Reading and copying this much takes well under a millisecond. */
const MAX_BYTES = 100_000;

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
  const shares = createShares(clock, MAX_CHILDREN);
  const writes = createWrites(connection, clock, preparedStatementOf);

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
    const statement = preparedStatementOf(connection, prepared);
    if (children && !isLookup(connection, statement, prepared.sql, values)) {
      const { sql, bigIntegers } = prepared;
      const request = { sql, values, bigIntegers, maxBytes: MAX_ANSWER_BYTES };
      return shares.run(options, () => children.run(request, options));
    }
    if (statement.bigIntegers !== prepared.bigIntegers) {
      statement.statement.safeIntegers(prepared.bigIntegers);
      statement.bigIntegers = prepared.bigIntegers;
    }
    return statement.statement.all(values) as unknown[][];
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

function preparedStatementOf(connection: SqliteConnection, prepared: Prepared): PreparedStatement {
  prepared.driverState ??= {
    statement: connection.prepare(prepared.sql).raw(),
    bigIntegers: false,
  } satisfies PreparedStatement;
  return prepared.driverState as PreparedStatement;
}

/** Whether the statement is a lookup that returns a small result for these values. */
function isLookup(
  connection: SqliteConnection,
  prepared: PreparedStatement,
  sql: string,
  values: readonly unknown[],
): boolean {
  prepared.lookup ??= readLookup(connection, sql);
  const { lookup } = prepared;
  if (lookup === 'none' || values.length > MAX_VALUES || values.some(isLong)) return false;
  return (lookup.bytes.get(values) as number) <= MAX_BYTES;
}

const isLong = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof Uint8Array) && value.length > MAX_VALUE_LENGTH;

function readLookup(connection: SqliteConnection, sql: string): Lookup | 'none' {
  const text = sql.replace(/`(?:[^`]|``)*`/g, '');
  // Matching a pattern against a single text can be slow too.
  if (/\b(?:like|glob|instr|regexp|json_each|group by)\b/.test(text)) return 'none';
  const columns = connection.prepare(sql).columns().length;
  if (columns > MAX_COLUMNS || !findsByKeys(connection, sql, text)) return 'none';
  const names = Array.from({ length: columns }, (_, at) => `c${at}`);
  const bytes = names.map((name) => `ifnull(octet_length(${name}), 0)`).join(' + ');
  return {
    bytes: connection.prepare(`with r (${names.join(', ')}) as (${sql}) select total(${bytes}) from r`).pluck(),
  };
}

/** Checks SQLite's query plan: it must find each table by its rowid or by all columns of a unique index. */
function findsByKeys(connection: SqliteConnection, sql: string, text: string): boolean {
  const statement = connection.prepare(`explain query plan ${sql}`);
  const plan = statement.all((text.match(/\?/g) ?? []).map(() => null)) as { readonly detail: string }[];
  const single = new Set([...sql.matchAll(/\(select 1 as `one`\) as `(t\d+)`/g)].map(([, alias]) => alias));
  const steps = plan.filter(({ detail }) => /^(?:SCAN|SEARCH)\b/.test(detail));
  return (
    steps.some(({ detail }) => detail.startsWith('SEARCH')) &&
    steps.every(({ detail }) => {
      const [, verb, name] = /^(SCAN|SEARCH) (\S+)/.exec(detail) ?? [];
      if (verb === 'SCAN') return detail === 'SCAN CONSTANT ROW' || single.has(name);
      return findsOne(connection, detail);
    })
  );
}

/** Whether a search finds at most one record for each key. */
function findsOne(connection: SqliteConnection, detail: string): boolean {
  if (/USING INTEGER PRIMARY KEY \(rowid=\?\)/.test(detail)) return true;
  const [, name, list = ''] =
    /USING (?:COVERING )?(?:INDEX (.+)|PRIMARY KEY) \(([^()]*)\)(?: LEFT-JOIN)?$/.exec(detail) ?? [];
  if (list === '' || /[<>]/.test(list)) return false;
  // The plan does not name the primary key index of a WITHOUT ROWID table.
  if (name === undefined) return false;
  const columns = connection
    .prepare(
      `select count(*) from sqlite_schema m, pragma_index_list(m.tbl_name) l, pragma_index_info(l.name)
       where m.name = ? and l.name = m.name and l."unique" = 1 and l.partial = 0`,
    )
    .pluck()
    .get(name);
  return columns === list.split(' AND ').length;
}
