// Decides which statements may run in the process: those that find single records by a primary key or unique index,
// with a small result. Everything else may scan many rows or long texts, and runs in a child process.

import type { SqliteConnection } from '../../../../core/sqlite.ts';
import type { KeptStatement, Lookup } from './kept-statement.ts';

const VALUES_MOST = 100;
const VALUE_LENGTH_MOST = 10_000;
const COLUMNS_MOST = 200;
/** Reading and copying this much takes well under a millisecond. */
const BYTES_MOST = 100_000;

/** Whether the statement is a lookup that returns a small result for these values. */
export function isLookup(
  connection: SqliteConnection,
  kept: KeptStatement,
  sql: string,
  values: readonly unknown[],
): boolean {
  kept.lookup ??= readLookup(connection, sql);
  const { lookup } = kept;
  if (lookup === 'none' || values.length > VALUES_MOST || values.some(isLong)) return false;
  return (lookup.bytes.get(values) as number) <= BYTES_MOST;
}

const isLong = (value: unknown): boolean =>
  (typeof value === 'string' || value instanceof Uint8Array) && value.length > VALUE_LENGTH_MOST;

function readLookup(connection: SqliteConnection, sql: string): Lookup | 'none' {
  const text = sql.replace(/`(?:[^`]|``)*`/g, '');
  // Matching a pattern against a single text can be slow too.
  if (/\b(?:like|glob|instr|regexp|json_each|group by)\b/.test(text)) return 'none';
  const columns = connection.prepare(sql).columns().length;
  if (columns > COLUMNS_MOST || !findsByKeys(connection, sql, text)) return 'none';
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
