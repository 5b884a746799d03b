// Checks SQLite's query plan of a statement with limits (bounded-sql.ts). Loops within the outermost loop of a SELECT
// must find at most one row by a key or a unique index, and SQLite must not build an index, a list of a view, or
// anything else that reads rows without counting them.
import type { SqliteConnection } from '../../../../core/sqlite.ts';
import type { BoundedSql } from './bounded-sql.ts';

interface Step {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** Loops over a table, by its alias. An index name may be any text. */
const loop = /^(SCAN|SEARCH) (t\d+|CONSTANT ROW)(?: EXISTS)?(?: USING (?!AUTOMATIC )(?!.*\bANY\().*| LEFT-JOIN)?$/;
/** SQLite 3.51 fills a Bloom filter from the rows of a list, which are counted. One of a table has another name. */
const harmless =
  /^(?:(?:CORRELATED |REUSE )?(?:LIST|SCALAR) SUBQUERY \d+|CREATE BLOOM FILTER|USE TEMP B-TREE FOR (?:LAST (?:\d+ )?TERMS? OF )?ORDER BY)$/;

export function isBoundedPlan(connection: SqliteConnection, { sql, tables }: BoundedSql): boolean {
  if (![...tables].every((table) => isTable(connection, table))) return false;
  const parameters = (sql.replace(/`(?:[^`]|``)*`/g, '').match(/\?/g) ?? []).map(() => null);
  const plan = connection.prepare(`explain query plan ${sql}`).all(parameters) as Step[];
  const single = new Set(['CONSTANT ROW']);
  for (const [, alias] of sql.matchAll(/\(select 1 as `one`\) as `(t\d+)`/g)) single.add(alias!);
  const entered = new Set<number>();
  return plan.every(({ parent, detail }) => {
    const [, verb, alias = ''] = loop.exec(detail) ?? [];
    if (verb === undefined) return harmless.test(detail) || single.has(/^CO-ROUTINE (t\d+)$/.exec(detail)?.[1] ?? '');
    const isInner = entered.has(parent);
    entered.add(parent);
    return !isInner || (verb === 'SCAN' ? single.has(alias) : findsOne(connection, detail));
  });
}

/** Views and virtual tables visit rows that are not counted. */
function isTable(connection: SqliteConnection, name: string): boolean {
  const statement = connection.prepare(
    `select count(*) from pragma_table_list where schema = 'main' and type = 'table' and name = ? collate nocase`,
  );
  return statement.pluck().get(name) === 1;
}

/** Whether a search finds at most one record. */
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
