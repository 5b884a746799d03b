// The forms of the values in columns whose declared type does not show it: the first 100 rows and, for rowid tables, the
// last 100.
import { type Catalogue, listAt } from '../introspection/introspect.ts';
import { needsSample, type Sample } from './types.ts';

interface SampledColumn {
  readonly table: string;
  readonly kind: string;
  readonly withoutRowid: number;
  readonly name: string;
  readonly declared: string;
}

/** Columns of one table that are read together. */
type Part = readonly SampledColumn[];

/** The WebAssembly driver accepts a million characters. Every part is a column of the result, and may be 2,000. */
const MAX_STATEMENT_LENGTH = 900_000;
const MAX_PARTS = 1900;
/** A function has at most 127 arguments. */
const MAX_COLUMNS = 100;

/** By JSON of table and column. Columns that need no sample have none. */
export async function readSamples(
  catalogue: Catalogue,
  rows: readonly SampledColumn[],
): Promise<ReadonlyMap<string, Sample>> {
  const lightViews = await findCheapViews(catalogue, rows);
  const byTable = new Map<string, SampledColumn[]>();
  for (const row of rows)
    if (needsSample(row.declared) && (row.kind !== 'view' || lightViews.has(row.table)))
      listAt(byTable, row.table).push(row);
  const parts = [...byTable.values()].flatMap((columns) => {
    const some: Part[] = [];
    for (let at = 0; at < columns.length; at += MAX_COLUMNS) some.push(columns.slice(at, at + MAX_COLUMNS));
    return some;
  });
  const samples = new Map<string, Sample>();
  // A view may fail on its data. The others are read again without it, and its columns one by one.
  const read = async (some: readonly Part[], texts: readonly string[]): Promise<void> => {
    try {
      const [found = {}] = await catalogue(`select ${texts.map((text, at) => `${text} as "${at}"`).join(', ')}`);
      for (const [at, columns] of some.entries()) {
        const forms = JSON.parse(String(found[at])) as readonly (readonly string[])[];
        for (const [place, { table, name }] of columns.entries())
          samples.set(JSON.stringify([table, name]), new Set(forms[place]));
      }
    } catch {
      for (const half of halve(some)) await read(half, half.map(sampleOf));
    }
  };
  let batch: Part[] = [];
  let texts: string[] = [];
  let length = 0;
  for (const part of parts) {
    const text = sampleOf(part);
    if (batch.length >= MAX_PARTS || (batch.length > 0 && length + text.length > MAX_STATEMENT_LENGTH)) {
      await read(batch, texts);
      [batch, texts, length] = [[], [], 0];
    }
    batch.push(part);
    texts.push(text);
    length += text.length + 12;
  }
  if (batch.length > 0) await read(batch, texts);
  return samples;
}

/** None for a single column, which then has no sample. */
function halve(parts: readonly Part[]): readonly (readonly Part[])[] {
  const middle = parts.length >> 1;
  if (middle > 0) return [parts.slice(0, middle), parts.slice(middle)];
  const [columns = []] = parts;
  const half = columns.length >> 1;
  return half > 0 ? [[columns.slice(0, half)], [columns.slice(half)]] : [];
}

/** A list of forms for each column, as one value. There is no UNION, of which the WebAssembly driver takes few. */
function sampleOf(columns: Part): string {
  const { table, kind, withoutRowid } = columns[0]!;
  const names = columns.map(({ name }, at) => `${quote(name)} as c${at}`).join(', ');
  const head = `select ${names} from ${quote(table)}`;
  const ids = `select rowid from ${quote(table)}`;
  const both = `${head} where rowid in (${ids} limit 100) or rowid in (${ids} order by rowid desc limit 100)`;
  const forms = columns.map(
    ({ declared }, at) =>
      `json_group_array(distinct ${formOf(`c${at}`, /^(uuid|guid|unique)/i.test(declared))}) filter (where c${at} is not null)`,
  );
  return `(select json_array(${forms.join(', ')}) from (${kind === 'view' || withoutRowid ? `${head} limit 100` : both}))`;
}

/** The forms of `Sample`. For UUIDs the form records capital letters instead. */
function formOf(v: string, isUuid: boolean): string {
  const text = isUuid
    ? `iif(${v} <> lower(${v}), 'U', '')`
    : `substr(${v}, 11, 1) || ':' || iif(substr(${v}, -1) = 'Z', 'Z', '')`;
  return `typeof(${v}) || iif(typeof(${v}) = 'text', ':' || length(${v}) || ':' || ${text}, iif(typeof(${v}) = 'integer', iif(${v} >= 1e11 or ${v} <= -1e11, ':ms', ':s'), ''))`;
}

/** Views that would scan more rows than this are not sampled, to keep the start fast. */
const MAX_VIEW_ROWS = 20_000;

/** The views cheap enough to sample at start: not recursive, and few rows in the scanned tables. */
async function findCheapViews(catalogue: Catalogue, rows: readonly SampledColumn[]): Promise<ReadonlySet<string>> {
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

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
