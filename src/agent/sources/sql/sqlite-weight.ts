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
  // Loops that may visit every row of a table multiply, since one runs within the other; the rest finds one row each.
  const scans: string[] = [];
  let unknown = false;
  for (const { detail } of plan) {
    const [, verb, name = ''] = /^(SCAN|SEARCH) (t\d+)?/.exec(detail) ?? [];
    if (!verb || /^SCAN (CONSTANT ROW|json_each)/.test(detail) || single.has(name)) continue;
    // Where a view or a bare count looks at a table, it is called by its own name.
    const table = tables.get(name) ?? tableIn(connection, detail.slice(verb.length + 1));
    if (table === undefined) unknown = true;
    else if (verb === 'SCAN' || !isUnique(connection, detail, table)) scans.push(table);
  }
  const stopsEarly =
    scans.length === 1 && !/ where | join /.test(sql) && !plan.some((row) => /TEMP B-TREE/.test(row.detail));
  const limit = Number(/ limit (\d+)(?: offset \?)?$/.exec(sql)?.[1] ?? Number.POSITIVE_INFINITY);
  const first = stopsEarly && !sql.endsWith(' offset ?') ? limit : Number.POSITIVE_INFINITY;
  return {
    heaviest: () =>
      unknown
        ? Number.POSITIVE_INFINITY
        : Math.min(
            first,
            scans.reduce((rows, table) => rows * Math.max(1, rowsOf(table)), 1),
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

/** Whether a search finds at most one row: by the rowid, or by all columns of a unique index. */
function isUnique(connection: SqliteConnection, detail: string, table: string): boolean {
  if (/USING INTEGER PRIMARY KEY \(rowid=\?\)/.test(detail)) return true;
  const [, index, terms = ''] =
    /USING (?:COVERING )?INDEX (.+) \(([^()]*)\)(?: LEFT-JOIN)?$/.exec(detail) ??
    /USING (PRIMARY KEY) \(([^()]*)\)(?: LEFT-JOIN)?$/.exec(detail) ??
    [];
  if (!index || /[<>]/.test(terms)) return false;
  const list = connection.prepare('select name, "unique" as isUnique, origin from pragma_index_list(?)').all(table) as {
    name: string;
    isUnique: number;
    origin: string;
  }[];
  const found = list.find((row) => (index === 'PRIMARY KEY' ? row.origin === 'pk' : row.name === index));
  if (!found?.isUnique) return false;
  const width = connection.prepare('select count(*) from pragma_index_info(?)').pluck().get(found.name) as number;
  return terms.split(' AND ').length === width;
}
