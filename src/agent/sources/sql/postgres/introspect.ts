import { families } from '../codec.ts';
import type { ResultColumn } from '../driver.ts';
import type { Catalogue, ColumnFacts, Facts } from '../introspection/introspect.ts';
import { readPostgresEffects } from './effects.ts';
import { type PostgresType, postgresCodec } from './types.ts';

/**
 * Takes seven statements. Skips partitions, because their parent contains their rows. Treats materialised views as
 * views.
 */
export async function readPostgresFacts(catalogue: Catalogue, named: readonly string[]): Promise<Facts> {
  const { version, path } = await readVersion(catalogue);
  const schemas = named.length ? named : path;
  const texts = statementsFor(schemas);
  const columns = await catalogue<ColumnRow>(texts.columns);
  const types = new Map((await catalogue<TypeRow>(TYPES)).map((row) => [row.oid, row]));
  const keys = await catalogue<KeyRow>(texts.keys);
  const foreign = await catalogue<ForeignRow>(texts.foreignKeys);
  const effects = await readPostgresEffects(catalogue);

  const tables = new Map<string, Facts['tables'][number]>();
  const skipped = new Map<string, string>();
  const facts: ColumnFacts[] = [];
  const unfilled = new Set<string>();
  const withoutRollback = new Map<string, string>();
  for (const row of columns) {
    if (row.filled === 'f') unfilled.add(row.table);
    if (row.wrapper !== null && row.wrapper !== 'postgres_fdw')
      withoutRollback.set(row.table, `it is a foreign table of ${row.wrapper}, which may not roll writes back.`);
    if (row.readable === 'f') {
      skipped.set(row.table, 'the database user may not SELECT from it');
      continue;
    }
    const kind = row.kind === 'v' || row.kind === 'm' ? 'view' : 'table';
    const place = schemas.length ? { place: { schema: row.schema, name: row.own } } : {};
    tables.set(row.table, { name: row.table, kind, ...place, comment: row.tableComment });
    facts.push(columnFacts(row, types));
  }
  return {
    version,
    tables: [...tables.values()],
    columns: facts,
    keys: keys.map(({ table, key, column, primary, unique, sorted }) => ({
      table,
      key,
      column,
      primary: primary === 't',
      unique: unique === 't',
      sorted: sorted === 't',
    })),
    foreignKeys: withoutDuplicates(foreign).map((row) => ({
      table: row.table,
      columns: JSON.parse(row.columns) as string[],
      target: row.here === 't' ? row.target : null,
      targetColumns: JSON.parse(row.targetColumns) as string[],
      ...(row.validated === 't' && { isValidated: true }),
      ...(row.here === 't' ? {} : { why: `its target is in the schema ${row.targetSchema}` }),
    })),
    ...effects,
    withoutRollback,
    skipped: [...skipped].map(([table, reason]) => ({ table, reason })),
    warnings: [...unfilled].map((table) => ({
      table,
      problem:
        'is a materialized view that was never populated and cannot be read: run REFRESH MATERIALIZED VIEW on it.',
    })),
  };
}

export async function readPostgresVersion(catalogue: Catalogue): Promise<string> {
  return (await readVersion(catalogue)).version;
}

/** `path`: the search path of the connection if it has several schemas. Empty for a single one, which needs no prefixes. */
async function readVersion(
  catalogue: Catalogue,
): Promise<{ readonly version: string; readonly path: readonly string[] }> {
  const [row] = await catalogue(VERSION);
  const path = (JSON.parse(String(row?.path)) as string[]).filter((name) => !/^pg_|^information_schema$/.test(name));
  return { version: `${row?.path} ${row?.version}`, path: path.length > 1 ? path : [] };
}

/** Counts the rows, and sums what identifies each. A row that changes gets another `xmin`. */
const sum = (parts: string, from: string): string =>
  `(select concat(count(*), ':', sum(hashtext(concat_ws(' ', ${parts})))) from ${from})`;

/**
 * Without temporary tables and partitions, which come and go. TRUNCATE and REFRESH MATERIALIZED VIEW change rows of
 * pg_class, so its columns are named.
 */
const VERSION = `with tables as (
    select c.oid, c.relname, s.nspname, c.relkind, c.relispopulated, c.relacl from pg_class c
    join pg_namespace s on s.oid = c.relnamespace
    where s.nspname !~ '^pg_' and s.nspname <> 'information_schema' and c.relkind in ('r', 'p', 'v', 'm', 'f')
    and not c.relispartition
  )
  select to_json(current_schemas(false)) as path, concat_ws(' ',
    ${sum('t.oid, t.relname, t.nspname, t.relkind, t.relispopulated, t.relacl', 'tables t')},
    ${sum('a.attrelid, a.attnum, a.xmin', 'pg_attribute a join tables t on t.oid = a.attrelid where a.attnum > 0')},
    ${sum('d.objoid, d.objsubid, d.xmin', "pg_description d join tables t on t.oid = d.objoid where d.classoid = 'pg_class'::regclass")},
    ${sum('i.indexrelid, i.indisvalid', 'pg_index i join tables t on t.oid = i.indrelid')},
    ${sum('o.oid, o.xmin', 'pg_constraint o join tables t on t.oid = o.conrelid')},
    ${sum('g.oid, g.xmin', 'pg_trigger g join tables t on t.oid = g.tgrelid where not g.tgisinternal')},
    ${sum('r.oid, r.xmin', 'pg_rewrite r join tables t on t.oid = r.ev_class')},
    ${sum('e.oid, e.xmin', 'pg_enum e')},
    ${sum('y.oid, y.xmin', "pg_type y where y.typtype = 'd'")}
  ) as version`;

interface KeyRow {
  table: string;
  key: string;
  primary: string;
  unique: string;
  sorted: string;
  column: string | null;
}

interface ColumnRow {
  table: string;
  schema: string;
  own: string;
  kind: string;
  readable: string;
  /** For a foreign table: its foreign-data wrapper. */
  wrapper: string | null;
  filled: string;
  name: string;
  type: string;
  native: string;
  required: string;
  fallback: string;
  identity: string;
  generated: string;
  deterministic: string;
  comment: string | null;
  tableComment: string | null;
}

/** Comments of PostgreSQL have no limit. MySQL and MariaDB have 2,048. */
const MAX_COMMENT_CHARACTERS = 2048;

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

function statementsFor(schemas: readonly string[]) {
  const wanted = schemas.length ? `(${schemas.map(literal).join(', ')})` : '(current_schema())';
  const [first] = schemas;
  /** The name of a table in the source: tables outside the first schema get their schema as a prefix. */
  const nameOf = (table: string, schema: string): string =>
    first === undefined
      ? `${table}.relname`
      : `case when ${schema}.nspname = ${literal(first)} then ${table}.relname else ${schema}.nspname || '.' || ${table}.relname end`;

  const columns = `select ${nameOf('c', 's')} as "table", s.nspname as schema, c.relname as own, c.relkind as kind,
  has_table_privilege(c.oid, 'SELECT') as readable, c.relispopulated as filled,
  (select w.fdwname from pg_foreign_table l join pg_foreign_server v on v.oid = l.ftserver
    join pg_foreign_data_wrapper w on w.oid = v.srvfdw where l.ftrelid = c.oid) as wrapper,
  a.attname as name, a.atttypid as type, format_type(a.atttypid, a.atttypmod) as native, a.attnotnull as required,
  a.atthasdef as fallback, a.attidentity as identity, a.attgenerated as generated,
  coalesce((select l.collisdeterministic from pg_collation l where l.oid = a.attcollation), true) as deterministic,
  left(col_description(c.oid, a.attnum), ${MAX_COMMENT_CHARACTERS}) as comment,
  left(obj_description(c.oid, 'pg_class'), ${MAX_COMMENT_CHARACTERS}) as "tableComment"
  from pg_class c join pg_namespace s on s.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where s.nspname in ${wanted} and c.relkind in ('r', 'p', 'v', 'm', 'f')
  and not c.relispartition and a.attnum > 0 and not a.attisdropped
  order by "table", a.attnum`;

  const keys = `select ${nameOf('c', 's')} as "table", i.indexrelid as key, i.indisprimary as primary,
  i.indisunique as unique, m.amname = 'btree' and o.opcdefault as sorted,
  (select a.attname from pg_attribute a where a.attrelid = c.oid and a.attnum = k.attnum) as "column"
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace s on s.oid = c.relnamespace
  join pg_class x on x.oid = i.indexrelid join pg_am m on m.oid = x.relam
  join pg_opclass o on o.oid = i.indclass[0]
  cross join unnest(i.indkey::int2[]) with ordinality as k(attnum, place)
  where s.nspname in ${wanted} and not c.relispartition
  and m.amname in ('btree', 'hash') and i.indisvalid and i.indpred is null and k.place <= i.indnkeyatts
  order by "table", i.indexrelid, k.place`;

  // A row can be without a target if the constraint was not validated, is checked at the end of a transaction, or is not
  // that of an inheriting table. Row security can hide the target.
  // Foreign keys of single partitions belong to the partitioned table: `c` is the root table of a partition, or the
  // table itself.
  const foreignKeys = `select distinct ${nameOf('c', 's')} as "table", ${nameOf('f', 'n')} as target, n.nspname as "targetSchema",
  n.nspname in ${wanted} as here,
  o.convalidated and not o.condeferrable and o.conrelid = c.oid and not f.relrowsecurity
    and not exists (select from pg_inherits i where i.inhparent = c.oid and c.relkind <> 'p') as validated,
  (select json_agg(a.attname order by k.place) from unnest(o.conkey) with ordinality as k(attnum, place)
    join pg_attribute a on a.attrelid = o.conrelid and a.attnum = k.attnum)::text as columns,
  (select json_agg(a.attname order by k.place) from unnest(o.confkey) with ordinality as k(attnum, place)
    join pg_attribute a on a.attrelid = o.confrelid and a.attnum = k.attnum)::text as "targetColumns",
  case when o.conrelid = c.oid then o.conname end as name
  from pg_constraint o join pg_class h on h.oid = o.conrelid
  join pg_class c on c.oid = case when h.relispartition then pg_partition_root(h.oid) else h.oid end
  join pg_namespace s on s.oid = c.relnamespace
  join pg_class f on f.oid = o.confrelid join pg_namespace n on n.oid = f.relnamespace
  where o.contype = 'f' and o.conparentid = 0 and s.nspname in ${wanted}
  order by "table", name nulls last, columns, target`;

  return { columns, keys, foreignKeys };
}

/** The facts of the columns of a result. `from`: the rows that they are of, as `q`, or a row of nulls. */
export async function readPostgresResult(
  catalogue: Catalogue,
  columns: readonly ResultColumn[],
  { table, from }: { readonly table: string; readonly from: string },
): Promise<ColumnFacts[]> {
  const types = new Map((await catalogue<TypeRow>(TYPES)).map((row) => [row.oid, row]));
  const facts = columns.map(({ type, modifier = -1 }, at) => {
    const isText = baseOf(String(type), types)?.category === 'S';
    const collation = isText ? `pg_collation_for(q.${quote(columns[at]!.name)})` : 'null';
    return `format_type(${type}, ${modifier}) as n${at}, coalesce((select bool_and(l.collisdeterministic)
    from pg_collation l where quote_ident(l.collname) = regexp_replace(${collation}, '^.*\\.', '')), true) as d${at}`;
  });
  const [row = {}] = await catalogue(`select ${facts.join(', ')} from ${from}`);
  return columns.map(({ name, type }, at) => {
    const given = { table, name, type: String(type), native: String(row[`n${at}`]), deterministic: row[`d${at}`] };
    const plain = { required: 'f', fallback: 'f', identity: '', generated: '', comment: null };
    return columnFacts({ ...plain, ...given } as unknown as ColumnRow, types);
  });
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const TYPES = `select t.oid, t.typname as name, t.typtype as kind, t.typbasetype as base, t.typelem as element,
  t.typcategory as category, t.typnotnull as required, t.typlen as length, format_type(t.oid, null) as sql,
  (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid) as labels
  from pg_type t where t.typtype <> 'c' and t.typisdefined`;

interface TypeRow {
  oid: string;
  name: string;
  kind: string;
  base: string;
  element: string;
  category: string;
  required: string;
  length: string;
  sql: string;
  labels: string | null;
}

interface ForeignRow {
  table: string;
  target: string;
  targetSchema: string;
  here: string;
  validated: string;
  columns: string;
  targetColumns: string;
  /** null for the key of a partition. */
  name: string | null;
}

/** Removes keys of partitions that duplicate a key of the table. */
function withoutDuplicates(rows: readonly ForeignRow[]): readonly ForeignRow[] {
  const idOf = ({ table, columns, target, targetSchema, targetColumns }: ForeignRow) =>
    JSON.stringify([table, columns, targetSchema, target, targetColumns]);
  const named = new Set(rows.filter(({ name }) => name !== null).map(idOf));
  return rows.filter((row) => row.name !== null || !named.has(idOf(row)));
}

function columnFacts(row: ColumnRow, types: ReadonlyMap<string, TypeRow>): ColumnFacts {
  const base = baseOf(row.type, types);
  const type = typeOf(base, types);
  const codec = postgresCodec(type, row.native);
  const labels = (type.element ?? type).labels;
  const deterministic = row.deterministic === 't';
  return {
    table: row.table,
    name: row.name,
    // Patterns cannot match under a nondeterministic collation.
    codec: deterministic ? codec : { ...codec, operators: families.ordered },
    nativeType: row.native,
    nullable: row.required === 'f' && types.get(row.type)?.required !== 't',
    readOnly: row.identity === 'a' || row.generated !== '',
    hasDefault: row.fallback === 't' || row.identity !== '',
    ...(labels ? { enumValues: labels } : {}),
    collation: base?.name === 'citext' || !deterministic ? 'insensitive' : 'binary',
    comment: row.comment,
  };
}

/** Resolves a domain to its base type. */
function baseOf(oid: string, types: ReadonlyMap<string, TypeRow>): TypeRow | undefined {
  let type = types.get(oid);
  while (type?.kind === 'd') type = types.get(type.base);
  return type;
}

function typeOf(type: TypeRow | undefined, types: ReadonlyMap<string, TypeRow>): PostgresType {
  if (!type) return { name: '', kind: 'other', sql: 'text' };
  const { name, sql } = type;
  if (type.kind === 'e') return { name, kind: 'enum', sql, labels: labelsOf(type) };
  if (type.category === 'A' && type.element !== '0' && type.length === '-1') {
    return { name, kind: 'array', sql, element: typeOf(baseOf(type.element, types), types) };
  }
  return { name, kind: type.kind === 'b' ? 'base' : 'other', sql };
}

function labelsOf(type: TypeRow): string[] {
  return type.labels ? (JSON.parse(type.labels) as string[]) : [];
}
