// Builds the SQL of Select: one statement for a page, also where it is read in two parts (order.ts).
import type { DescribedReference } from '../../described.ts';
import type { Order, Path, Select } from '../../statement.ts';
import type { Dialect } from '../codec.ts';
import { writeCut } from './cut.ts';
import { requireWhole } from './fragment.ts';
import { latePage, mayBeNull, orderOf, pageParts } from './order.ts';
import {
  createSqlWriter,
  from,
  placeholdersOf,
  type Root,
  type SqlWriter,
  type Statement,
  type StatementContext,
  TRUE,
  textOf,
} from './read.ts';
import { cutOf } from './shape.ts';

/** How a select is written. */
interface Writing extends StatementContext {
  readonly writer: SqlWriter;
  /** The columns are keys, as the database stores them. */
  readonly isKeys?: true;
  /** Finds the keys of the rows. */
  readonly from?: { readonly key: readonly Path[]; readonly found: Statement };
}

export function buildSelect(select: Select, context: StatementContext): Statement {
  const writing: Writing = { ...context, writer: createSqlWriter(context) };
  const { sql, binds } = writePage(select, writing);
  return { sql: placeholdersOf(sql, context.dialect), binds };
}

function writePage(select: Select, writing: Writing): Statement {
  const late = latePage(select);
  if (late) {
    const found = writePage(late.keys, { ...writing, isKeys: true });
    return writeOnePart(late.rows, { ...writing, from: { key: late.keys.columns, found } });
  }
  const [part, second] = pageParts(select, { ...writing, codecOf: codecsOf(select, writing) });
  if (second) return writeTwoParts(select, [part, second], writing);
  return writeOnePart({ ...part, ...(select.skip && { skip: select.skip }) }, writing);
}

function writeOnePart(select: Select, writing: Writing): Statement {
  const { writer, dialect } = writing;
  const isCut = cutOf(select, codecsOf(select, writing)) !== undefined;
  if (isCut && dialect === 'postgres') return writeCutPart(select, writing);
  const part = writePart(select, writing);
  const page = writer.page(select);
  const lock = select.lock ? writeLock(writer.name(part.alias), dialect) : '';
  return { sql: `${part.sql}${page.sql}${lock}`, binds: [...part.binds, ...page.binds] };
}

/** PostgreSQL would cut the texts of all rows before it sorts them, and those of the rows that it skips. */
function writeCutPart(select: Select, writing: Writing): Statement {
  const part = writePart(select, writing, 0);
  const page = writing.writer.page(select);
  const shown = showColumns(
    select.columns.map((_, at) => `c${at}`),
    select,
    writing,
  );
  // They are in this order already, so PostgreSQL does not sort them again.
  const order = orderOf(select).map((each) => orderTerm(`o${select.order.indexOf(each)}`, each, select, writing));
  const sorted = order.length ? ` order by ${order.join(', ')}` : '';
  const sql = `select ${shown.join(', ')} from (${part.sql}${page.sql}) as p${sorted}`;
  return { sql, binds: [...part.binds, ...page.binds] };
}

const codecsOf =
  ({ table }: Select, { shapes }: StatementContext) =>
  (path: Path) =>
    shapes.facts(path, table).codec;

/** The columns of an answer, where the statement cuts texts. */
function showColumns(columns: readonly string[], select: Select, context: StatementContext): readonly string[] {
  const codecOf = codecsOf(select, context);
  const cut = context.dialect === 'sqlite' ? undefined : cutOf(select, codecOf);
  return cut ? writeCut(columns, cut, (at) => codecOf(select.columns[at]!)) : columns;
}

function orderTerm(sql: string, { path, ascending }: Order, select: Select, context: StatementContext): string {
  const { dialect } = context;
  const isAtOtherEnd =
    dialect === 'postgres' && mayBeNull(path, select, { dialect, codecOf: codecsOf(select, context) });
  const nulls = isAtOtherEnd ? (ascending ? ' nulls first' : ' nulls last') : '';
  return `${sql} ${ascending ? 'asc' : 'desc'}${nulls}`;
}

/**
 * The second part is read only if the first one does not fill the page. UNION ALL keeps no order, so the rows of both
 * are sorted again.
 */
function writeTwoParts(select: Select, parts: readonly [Select, Select], writing: Writing): Statement {
  const { dialect, writer } = writing;
  const texts = parts.map((part, at) => writePart(part, writing, at));
  const most = parts[0].limit!;
  const partNames = PARTS.map((name) => writer.name(name));
  const filled = `(select count(*) from ${partNames[0]})`;
  const isSqlite = dialect === 'sqlite';
  const limits = [requireWhole(most), isSqlite ? `max(0, ${most} - ${filled})` : most];
  const [first, last] = texts.map(({ sql }, at) => `${partNames[at]} as (${sql} limit ${limits[at]})`);
  const page = writer.page(select);
  const names = select.columns.map((_, at) => `c${at}`);
  const shown = showColumns(names, select, writing).join(', ') || '1';
  const order = select.order.map(({ ascending }, at) => `o${at} ${ascending ? 'asc' : 'desc'}`);
  const rows = `(select * from ${partNames.join(' union all select * from ')}) as p`;
  return {
    sql: `with ${first}, ${last} select ${shown} from ${rows} order by ${['part', ...order].join(', ')}${page.sql}`,
    binds: [...texts.flatMap(({ binds }) => binds), ...page.binds],
  };
}

/** They hide a table of the same name, so no table may have them. */
const PARTS = ['portico page 0', 'portico page 1'] as const;

/** Without its limit. `at`: the position among two parts, which name their columns. */
function writePart(select: Select, writing: Writing, at?: number): Statement & { readonly alias: string } {
  const { writer, knex, dialect, isKeys, from: keys } = writing;
  const codecOf = codecsOf(select, writing);
  const root = writer.root(select.table);
  const joins = writer.joins(root, select.joins);
  const where = writer.where(root, select.where);
  const after = writer.after(root, select);
  const sortedBy = (path: Path) => {
    const column = writer.column(root, path);
    return codecOf(path).ordered?.(column, '') ?? column;
  };
  const read = select.columns.map((path, index) => {
    const column = writer.column(root, path);
    if (isKeys) return `${column} as c${index}`;
    return `${codecOf(path).read?.(column) ?? column}${at === undefined ? '' : ` as c${index}`}`;
  });
  const further = at === undefined ? [] : select.order.map(({ path }, index) => `${sortedBy(path)} as o${index}`);
  const shown = at === undefined ? showColumns(read, select, writing) : read;
  const columns = [...shown, ...(at === undefined ? [] : [`${at} as part`]), ...further];
  const query = knex.select(columns.length ? columns.map((sql) => knex.raw(sql)) : [knex.raw('1')]);
  const conditions = [where, after].filter(({ sql }) => sql !== TRUE);
  const all = {
    sql: conditions.map(({ sql }) => sql).join(' and ') || TRUE,
    binds: conditions.flatMap((c) => c.binds),
  };
  const found = keys && {
    ...keys.found,
    on: keys.key.map((path, index) => `${writer.column(root, path)} = k.c${index}`).join(' and '),
  };
  const binds = from(query, writer, root, joins, all, writing, found);
  if (select.referencedBy) query.whereRaw(writeReferencedBy(select.referencedBy, writer, root));
  if (at === 1 && dialect === 'postgres')
    query.whereRaw(`(select count(*) from ${writer.name(PARTS[0])}) < ${requireWhole(select.limit!)}`);
  for (const each of orderOf(select)) query.orderByRaw(orderTerm(sortedBy(each.path), each, select, writing));
  return { ...textOf(query, binds), alias: root.alias };
}

/** SQLite runs one write transaction at a time and needs no row locks. */
function writeLock(alias: string, dialect: Dialect): string {
  if (dialect === 'sqlite') return '';
  return dialect === 'postgres' ? ` for update of ${alias}` : ' for update';
}

/** The database compares the columns itself, since those of the other table may have types that are not served. */
function writeReferencedBy(
  { place, columns, targetColumns }: DescribedReference,
  { name }: SqlWriter,
  { alias }: Root,
): string {
  const table = place.schema === undefined ? name(place.name) : `${name(place.schema)}.${name(place.name)}`;
  const same = columns.map((column, at) => `${name(alias)}.${name(targetColumns[at]!)} = h.${name(column)}`);
  return `exists (select 1 from ${table} as h where ${same.join(' and ')})`;
}
