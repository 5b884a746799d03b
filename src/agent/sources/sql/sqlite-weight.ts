// How many rows a statement may have to look at, at most: from SQLite's own plan for it and the sizes of its tables. A
// table is counted no further than the limit, and again after a while, so that growth is noticed.
import type { Clock } from '../../../core/clock.ts';
import type { SqliteConnection } from '../../../core/sqlite.ts';
import type { KeptStatement } from './sqlite.ts';

/** About 8 ms of work at the worst, and mostly under 2. */
export const lightRows = 20_000;
const recountMilliseconds = 10_000;

export interface Scale {
  isLight(kept: KeptStatement, sql: string): boolean;
}

export function createScale(connection: SqliteConnection, clock: Clock): Scale {
  const counts = new Map<string, { rows: number; until: number }>();

  function rowsOf(table: string): number {
    const known = counts.get(table);
    const now = clock.monotonic();
    if (known && now < known.until) return known.rows;
    const name = `"${table.replaceAll('"', '""')}"`;
    const rows = connection
      .prepare(`select count(*) from (select 1 from ${name} limit ${lightRows + 1})`)
      .pluck()
      .get() as number;
    // What is over the limit stays over it for longer: tables rarely shrink.
    counts.set(table, { rows, until: now + (rows > lightRows ? 6 : 1) * recountMilliseconds });
    return rows;
  }

  return {
    isLight(kept, sql) {
      kept.weight ??= weigh(connection, sql, rowsOf);
      return kept.weight.heaviest() <= lightRows;
    },
  };
}

interface PlanRow {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

function weigh(
  connection: SqliteConnection,
  sql: string,
  rowsOf: (table: string) => number,
): { readonly heaviest: () => number } {
  const statement = connection.prepare(`explain query plan ${sql}`);
  const asked = sql.replace(/`(?:[^`]|``)*`/g, '').match(/\?/g) ?? [];
  const plan = statement.all(asked.map(() => null)) as PlanRow[];
  const tables = tablesOf(sql);
  const single = new Set([...sql.matchAll(/\(select 1 as `one`\) as `(t\d+)`/g)].map(([, alias]) => alias));
  // Loops multiply, since one runs within the other. One that finds a single row by a key does not count.
  const loops: (() => number)[] = [];
  for (const { detail } of plan) {
    const [, verb, name = ''] = /^(SCAN|SEARCH) (t\d+)?/.exec(detail) ?? [];
    if (!verb || /^SCAN (CONSTANT ROW|json_each)/.test(detail) || single.has(name)) continue;
    // Where a view or a bare count looks at a table, it is called by its own name.
    const table = tables.get(name) ?? tableIn(connection, detail.slice(verb.length + 1));
    if (table === undefined) loops.push(() => Number.POSITIVE_INFINITY);
    else {
      const found = verb === 'SEARCH' ? rowsFound(connection, detail, table) : undefined;
      if (found !== 1) loops.push(() => Math.min(found ?? Number.POSITIVE_INFINITY, Math.max(1, rowsOf(table))));
    }
  }
  const stopsEarly =
    loops.length === 1 && !/ where | join | group by /.test(sql) && !plan.some((row) => /TEMP B-TREE/.test(row.detail));
  const limit = Number(/ limit (\d+)(?: offset \?)?$/.exec(sql)?.[1] ?? Number.POSITIVE_INFINITY);
  const first = stopsEarly && !sql.endsWith(' offset ?') ? limit : Number.POSITIVE_INFINITY;
  return {
    heaviest: () =>
      Math.min(
        first,
        loops.reduce((rows, loop) => rows * loop(), 1),
      ),
  };
}

/** Aliases to tables: the statements are ours, so their form is known. */
function tablesOf(sql: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, table = '', alias = ''] of sql.matchAll(/`((?:[^`]|``)+)` as `(t\d+)`/g)) {
    found.set(alias, table.replaceAll('``', '`'));
  }
  return found;
}

/** The table that the text begins with. */
function tableIn(connection: SqliteConnection, text: string): string | undefined {
  const names = connection.prepare("select name from sqlite_schema where type = 'table'").pluck().all() as string[];
  return names.filter((name) => text === name || text.startsWith(`${name} `)).sort((a, b) => b.length - a.length)[0];
}

/** Some keys have many more rows than the average one, which is all that SQLite's statistics tell. */
const skew = 20;

/**
 * How many rows a search finds: one by the rowid or by all columns of a unique index; by a part of an index what the
 * statistics of ANALYZE say, with room for skew; undefined when nothing is known.
 */
function rowsFound(connection: SqliteConnection, detail: string, table: string): number | undefined {
  if (/USING INTEGER PRIMARY KEY \(rowid=\?\)/.test(detail)) return 1;
  const [, index, list = ''] =
    /USING (?:COVERING )?INDEX (.+) \(([^()]*)\)(?: LEFT-JOIN)?$/.exec(detail) ??
    /USING (PRIMARY KEY) \(([^()]*)\)(?: LEFT-JOIN)?$/.exec(detail) ??
    [];
  if (!index || /[<>]/.test(list)) return undefined;
  const terms = list.split(' AND ').length;
  const indexes = connection
    .prepare('select name, "unique" as isUnique, origin from pragma_index_list(?)')
    .all(table) as { name: string; isUnique: number; origin: string }[];
  const used = indexes.find((row) => (index === 'PRIMARY KEY' ? row.origin === 'pk' : row.name === index));
  if (!used) return undefined;
  const columns = connection.prepare('select count(*) from pragma_index_info(?)').pluck().get(used.name) as number;
  if (used.isUnique && terms === columns) return 1;
  const analyzed = connection.prepare("select 1 from sqlite_schema where name = 'sqlite_stat1'").get();
  if (!analyzed) return undefined;
  const stat = connection
    .prepare('select stat from sqlite_stat1 where tbl = ? and idx = ?')
    .pluck()
    .get(table, used.name);
  const average = Number(String(stat ?? '').split(' ')[terms]);
  return average > 0 ? average * skew : undefined;
}
