import type { Collation } from '../../column-types.ts';
import { type Catalogue, type ColumnFacts, type Facts, listAt } from '../introspection/introspect.ts';
import { readCollations } from './collations.ts';
import { needsSample, type Sample, sqliteCodec } from './types.ts';
import { numbersOfViews } from './view-types.ts';

/**
 * Takes four statements, plus one for each 400 sampled columns. A view with such a column takes two more, to estimate
 * its cost before it is sampled. Virtual and shadow tables are skipped.
 */
export async function readSqliteFacts(catalogue: Catalogue): Promise<Facts> {
  const skipped: { table: string; reason: string }[] = [];
  const columns = await catalogue<ColumnRow>(columnsOf("m.type = 'table'"));
  columns.push(...(await readViews(catalogue, skipped)));
  const keys = await catalogue<{ table: string; key: string; origin: string; column: string }>(KEYS);
  const foreign = await catalogue<ForeignRow>(FOREIGN_KEYS);

  const tables = new Map<string, { name: string; kind: 'table' | 'view' }>();
  const served: ColumnRow[] = [];
  for (const row of columns) {
    if (row.kind === 'virtual') {
      if (!skipped.some(({ table }) => table === row.table)) {
        skipped.push({ table: row.table, reason: 'virtual tables are not served' });
      }
    } else if (row.kind !== 'shadow') {
      tables.set(row.table, { name: row.table, kind: row.kind === 'view' ? 'view' : 'table' });
      served.push(row);
    }
  }
  const samples = await readSamples(catalogue, served);
  const byTable = new Map<string, ColumnRow[]>();
  for (const row of served) listAt(byTable, row.table).push(row);
  const numbers = numbersOfViews(
    [...byTable.values()].map((rows) => ({
      name: rows[0]!.table,
      sql: rows[0]!.kind === 'view' ? rows[0]!.sql : '',
      columns: rows.map(({ name, declared }) => ({ name, isTyped: declared !== '' })),
    })),
  );
  return {
    tables: [...tables.values()],
    columns: [...byTable.values()].flatMap((rows) => tableFacts(rows, samples, numbers)),
    keys: [...primaryKeys(byTable), ...keys.map((row) => ({ ...row, primary: false }))],
    foreignKeys: foreignKeys(foreign, byTable),
    skipped,
  };
}

interface ColumnRow {
  table: string;
  kind: string;
  sql: string;
  withoutRowid: number;
  name: string;
  declared: string;
  required: number;
  fallback: string | null;
  place: number;
  hidden: number;
}

const columnsOf = (which: string): string => `select m.name as "table", l.type as kind, m.sql as sql,
  l.wr as withoutRowid, c.name as name, c.type as declared, c."notnull" as required, c.dflt_value as fallback,
  c.pk as place, c.hidden as hidden
  from sqlite_schema m join pragma_table_list l on l.schema = 'main' and l.name = m.name
  join pragma_table_xinfo(m.name) c
  where ${which} and m.name not like 'sqlite\\_%' escape '\\' and c.hidden <> 1
  order by m.name, c.cid`;

const KEYS = `select m.name as "table", i.name as key, i.origin as origin, x.name as "column"
  from sqlite_schema m join pragma_index_list(m.name) i join pragma_index_xinfo(i.name) x
  where m.type = 'table' and i."unique" = 1 and i.partial = 0 and i.origin <> 'pk' and x.key = 1
  order by m.name, i.seq desc, x.seqno`;

const FOREIGN_KEYS = `select m.name as "table", f.id as id, f."table" as target, f."from" as "column", f."to" as targetColumn
  from sqlite_schema m join pragma_foreign_key_list(m.name) f where m.type = 'table'
  order by m.name, f.id desc, f.seq`;

/**
 * A view that no longer compiles fails the whole statement. Views are then read one by one, and broken ones are
 * skipped.
 */
async function readViews(catalogue: Catalogue, skipped: { table: string; reason: string }[]): Promise<ColumnRow[]> {
  try {
    return await catalogue<ColumnRow>(columnsOf("m.type = 'view'"));
  } catch {
    const views = await catalogue("select name from sqlite_schema where type = 'view' order by name");
    const rows: ColumnRow[] = [];
    for (const { name } of views) {
      try {
        rows.push(...(await catalogue<ColumnRow>(columnsOf(`m.name = ${literal(name)}`))));
      } catch (error) {
        skipped.push({ table: String(name), reason: `the view is broken: ${(error as Error).message}` });
      }
    }
    return rows;
  }
}

/** Views that would scan more rows than this are not sampled, to keep the start fast. */
const MAX_VIEW_ROWS = 20_000;

/** The views cheap enough to sample at start: not recursive, and few rows in the scanned tables. */
async function findCheapViews(catalogue: Catalogue, rows: readonly ColumnRow[]): Promise<ReadonlySet<string>> {
  const light = new Set<string>();
  const wanted = rows.filter((row) => row.kind === 'view' && needsSample(row.declared));
  for (const view of new Set(wanted.map((row) => row.table))) {
    const sample = `select * from ${quote(view)} limit 100`;
    const plan = (await catalogue(`explain query plan ${sample}`)).map((row) => String(row.detail));
    if (plan.some((detail) => /RECURSIVE/i.test(detail))) continue;
    // The plan also scans the result of a subquery or of the view itself, but this adds no loop.
    const derived = new Set(plan.flatMap((detail) => /^(?:CO-ROUTINE|MATERIALIZE) (.+)$/.exec(detail)?.[1] ?? []));
    const scans = plan.filter((detail) => {
      const name = /^(?:SCAN|SEARCH(?!.* USING )) (.+)$/.exec(detail)?.[1];
      return name !== undefined && !derived.has(name) && name !== 'CONSTANT ROW';
    });
    const pages = (await catalogue(`explain ${sample}`))
      .filter((row) => row.opcode === 'OpenRead')
      .map((row) => row.p2);
    if (scans.length === 0 || (await countLargest(catalogue, pages)) ** scans.length <= MAX_VIEW_ROWS) light.add(view);
  }
  return light;
}

/** The row count of the largest table with one of these root pages, counted up to the limit. */
async function countLargest(catalogue: Catalogue, pages: readonly unknown[]): Promise<number> {
  const numbers = [...new Set(pages)].map(Number).filter(Number.isInteger);
  const opened = await catalogue(
    `select distinct tbl_name as name from sqlite_schema where rootpage in (${numbers.join(', ')})`,
  );
  if (opened.length === 0) return 1;
  const counts = opened.map(
    ({ name }) => `select count(*) as rows from (select 1 from ${quote(String(name))} limit ${MAX_VIEW_ROWS + 1})`,
  );
  const [row] = await catalogue(`select max(rows) as most from (${counts.join(' union all ')})`);
  return Math.max(1, Number(row?.most));
}

/** Samples the value forms of columns that need it: the first 100 rows and, for rowid tables, the last 100. */
async function readSamples(catalogue: Catalogue, rows: readonly ColumnRow[]): Promise<Map<string, Sample>> {
  const lightViews = await findCheapViews(catalogue, rows);
  const wanted = rows.filter((row) => needsSample(row.declared) && (row.kind !== 'view' || lightViews.has(row.table)));
  const samples = new Map<string, Set<string>>();
  // Each part is one value of a single row, since the WebAssembly driver rejects long UNION chains.
  const parts = wanted.map((row) => {
    const form = formOf(/^(uuid|guid|unique)/i.test(row.declared));
    const some = (tail: string) =>
      `(select json_group_array(distinct ${form}) from (select ${quote(row.name)} as v from ${quote(row.table)}${tail} limit 100) where v is not null)`;
    return row.kind === 'view' || row.withoutRowid ? [some('')] : [some(''), some(' order by rowid desc')];
  });
  // A view may fail on its data. It then gets no sample, and the others are read again without it.
  const ask = async (from: number, to: number): Promise<void> => {
    const named = parts
      .slice(from, to)
      .flatMap((some, index) => some.map((sql, which) => `${sql} as "${from + index} ${which}"`));
    let found: Record<string, unknown> = {};
    try {
      [found = {}] = await catalogue(`select ${named.join(', ')}`);
    } catch {
      const middle = (from + to) >> 1;
      if (to - from < 2) return;
      await ask(from, middle);
      await ask(middle, to);
    }
    for (const [at, forms] of Object.entries(found)) {
      const row = wanted[Number.parseInt(at, 10)]!;
      const id = JSON.stringify([row.table, row.name]);
      samples.set(id, new Set([...(samples.get(id) ?? []), ...(JSON.parse(String(forms)) as string[])]));
    }
  };
  for (let start = 0; start < parts.length; start += 400) await ask(start, Math.min(start + 400, parts.length));
  return samples;
}

/** The forms of `Sample`. For UUIDs the form records capital letters instead. */
const formOf = (isUuid: boolean): string => `typeof(v) || case typeof(v)
  when 'text' then ':' || length(v) || ':' || ${
    isUuid
      ? "case when v <> lower(v) then 'U' else '' end"
      : "substr(v, 11, 1) || ':' || case when substr(v, -1) = 'Z' then 'Z' else '' end"
  }
  when 'integer' then case when abs(v) >= 100000000000 then ':ms' else ':s' end else '' end`;

function tableFacts(
  rows: readonly ColumnRow[],
  samples: ReadonlyMap<string, Sample>,
  numbers: ReadonlySet<string>,
): ColumnFacts[] {
  const collations: ReadonlyMap<string, Collation> =
    rows[0]?.kind === 'table' ? readCollations(rows[0].sql) : new Map();
  const keyWidth = rows.filter((row) => row.place > 0).length;
  return rows.map((row) => {
    const id = JSON.stringify([row.table, row.name]);
    const sample = samples.get(id) ?? new Set<string>();
    // Without sample rows, the text of the view may show the type of a column.
    const declared = row.declared === '' && sample.size === 0 && numbers.has(id) ? 'numeric' : row.declared;
    // A single INTEGER key column of a rowid table is the rowid itself: never null, and generated if missing.
    const isRowid = row.place === 1 && keyWidth === 1 && !row.withoutRowid && /^integer$/i.test(row.declared.trim());
    return {
      table: row.table,
      name: row.name,
      codec: sqliteCodec(declared, sample),
      nativeType: row.declared || 'any',
      nullable: !(row.required || isRowid || (row.place > 0 && row.withoutRowid)),
      readOnly: row.hidden === 2 || row.hidden === 3,
      hasDefault: row.fallback !== null || isRowid,
      collation: collations.get(row.name.toLowerCase()) ?? 'binary',
    };
  });
}

function primaryKeys(byTable: ReadonlyMap<string, ColumnRow[]>): Facts['keys'] {
  return [...byTable.values()].flatMap((rows) =>
    rows
      .filter((row) => row.place > 0)
      .sort((a, b) => a.place - b.place)
      .map((row) => ({ table: row.table, key: 'primary', primary: true, column: row.name })),
  );
}

interface ForeignRow {
  table: string;
  id: number;
  target: string;
  column: string;
  /** null if the key references the primary key of the target. */
  targetColumn: string | null;
}

/** Resolves names, which a foreign key may write in any case. */
function foreignKeys(rows: readonly ForeignRow[], byTable: ReadonlyMap<string, ColumnRow[]>): Facts['foreignKeys'] {
  const tables = new Map([...byTable.keys()].map((name) => [name.toLowerCase(), name]));
  const found = new Map<string, ForeignRow[]>();
  for (const row of rows) listAt(found, JSON.stringify([row.table, row.id])).push(row);
  const columnName = (table: string, name: string): string =>
    byTable.get(table)?.find((row) => row.name.toLowerCase() === name.toLowerCase())?.name ?? name;
  return [...found.values()]
    .filter((parts) => byTable.has(parts[0]!.table))
    .map((parts) => {
      const { table, target: written } = parts[0]!;
      const target = tables.get(written.toLowerCase()) ?? null;
      const key =
        target === null ? [] : primaryKeys(new Map([[target, byTable.get(target)!]])).map((part) => part.column);
      return {
        table,
        columns: parts.map((part) => columnName(table, part.column)),
        target,
        targetColumns: parts.map((part, at) =>
          part.targetColumn === null ? (key[at] ?? '') : columnName(target ?? '', part.targetColumn),
        ),
        ...(target === null ? { why: `its target ${written} is not served` } : {}),
      };
    });
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`;
