import { type Catalogue, type ColumnFacts, type Facts, listAt } from '../introspection/introspect.ts';
import { describeForeignKey, literal, readForeignKeys, type TriggerRow, toReference, toTrigger } from './effects.ts';
import { mysqlCodec } from './types.ts';

/** Takes eight statements on MariaDB and seven on MySQL. */
export async function readMysqlFacts(catalogue: Catalogue, named: readonly string[]): Promise<Facts> {
  const [server] = await catalogue(
    `select version() as server, database() as current, @@lower_case_table_names = 0 as exact, (${versionOf(named)}) as version`,
  );
  const exact = Number(server?.exact) === 1;
  const texts = statementsFor(named, exact);
  const idOf = createIdOf(exact);
  // Two statements, because a join of these two reads the columns again for each table.
  const listed = await catalogue<TableRow>(texts.tables);
  const columns = new Map<string, ColumnRow[]>();
  for (const row of await catalogue<ColumnRow>(texts.columns)) listAt(columns, idOf(row.schema, row.own)).push(row);
  const keys = await catalogue<KeyRow>(texts.keys);
  const foreign = await readForeignKeys(catalogue, texts.foreignKeys, idOf);
  const isMariadb = /mariadb/i.test(String(server?.server));
  const checks = isMariadb ? await catalogue<{ table: string; clause: string }>(texts.jsonChecks) : [];
  const triggers = await catalogue<TriggerRow>(texts.triggers);
  const checkedJson = new Set(
    checks.map(({ table, clause }) => {
      const [, column = ''] = /^json_valid\(`((?:[^`]|``)*)`\)$/i.exec(clause) ?? [];
      return JSON.stringify([table, column.replaceAll('``', '`')]);
    }),
  );
  const tables: Facts['tables'][number][] = [];
  const facts: ColumnFacts[] = [];
  const skipped: { table: string; reason: string }[] = [];
  for (const { table, schema, own, kind, comment } of listed) {
    const rows = columns.get(idOf(schema, own));
    if (rows === undefined) {
      skipped.push({ table, reason: 'the view is broken, or the database user may not read it' });
      continue;
    }
    const place = named.length ? { place: { schema, name: own } } : {};
    const isView = /VIEW/.test(kind);
    // The comment of a view is the word VIEW, or the error of a broken one.
    tables.push({ name: table, kind: isView ? 'view' : 'table', ...place, ...(!isView && { comment }) });
    for (const row of rows) facts.push(columnFacts(table, row, checkedJson.has(JSON.stringify([table, row.name]))));
  }
  const served = named.length ? named : [String(server?.current)];
  return {
    version: String(server?.version),
    tables,
    columns: facts,
    keys: keys.map(({ table, key, column, repeats, method }) => ({
      table,
      key,
      column,
      primary: key === 'PRIMARY',
      unique: Number(repeats) === 0,
      sorted: method === 'BTREE',
    })),
    foreignKeys: foreign.flatMap((key) => describeForeignKey(key, served, exact)),
    skipped,
    isMariadb,
    withoutRollback: findWithoutRollback(listed, triggers),
    references: foreign.map(toReference),
    triggers: triggers.map(toTrigger),
  };
}

export async function readMysqlVersion(catalogue: Catalogue, named: readonly string[]): Promise<string> {
  return String((await catalogue(`select (${versionOf(named)}) as version`))[0]?.version);
}

/**
 * The time of the last ALTER of each table is in seconds, so columns and keys are compared too. Names that differ only in case
 * may belong to other schemas, which does no harm.
 */
function versionOf(schemas: readonly string[]): string {
  const list = schemas.length ? schemas.map(literal).join(', ') : 'database()';
  const sum = (from: string, schema: string, parts: string): string =>
    `(select concat(count(*), ':', coalesce(sum(crc32(concat_ws('|', ${schema}, ${parts}))), 0)) from information_schema.${from} where ${schema} in (${list}))`;
  const sums = [
    sum('tables', 'table_schema', 'table_name, table_type, engine, create_time, table_comment'),
    sum(
      'columns',
      'table_schema',
      "table_name, ordinal_position, column_name, column_type, is_nullable, coalesce(column_default, ''), extra, coalesce(collation_name, ''), column_comment",
    ),
    sum(
      'key_column_usage',
      'table_schema',
      "table_name, constraint_name, ordinal_position, column_name, coalesce(referenced_table_schema, ''), coalesce(referenced_table_name, ''), coalesce(referenced_column_name, '')",
    ),
    sum('triggers', 'event_object_schema', 'event_object_table, trigger_name, event_manipulation, action_statement'),
  ];
  return `select concat_ws(' ', ${sums.join(', ')})`;
}

/** Names of schemas and tables compare exactly only if the file system does. */
const createIdOf =
  (exact: boolean) =>
  (...names: readonly string[]): string => {
    const id = JSON.stringify(names);
    return exact ? id : id.toLowerCase();
  };

/**
 * Tables of MyISAM, Aria, MEMORY and similar engines, and tables with triggers that name one of them. Writes of
 * procedures and tables of other databases are not checked.
 */
function findWithoutRollback(
  listed: readonly TableRow[],
  triggers: readonly TriggerRow[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { table, own, engine, transactions } of listed)
    if (engine !== null && transactions !== 'YES')
      found.set(table, explainWithoutTransactions(`its engine ${engine}`, own));
  if (found.size === 0) return found;
  const tables = new Map(listed.filter(({ table }) => found.has(table)).map(({ own, engine }) => [own, engine]));
  for (const { code, table } of triggers) {
    const words = wordsOf(code);
    for (const [own, engine] of tables)
      if (!found.has(table) && [...wordsOf(own)].every((word) => words.has(word)))
        found.set(
          table,
          explainWithoutTransactions(`one of its triggers names '${own}', and the engine ${engine}`, own),
        );
  }
  return found;
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu));

const explainWithoutTransactions = (what: string, table: string): string =>
  `${what} has no transactions, so writes could not be rolled back. ALTER TABLE \`${table}\` ENGINE=InnoDB makes it writable.`;

interface KeyRow {
  readonly table: string;
  readonly key: string;
  readonly column: string | null;
  readonly repeats: number;
  readonly method: string;
}

interface TableRow {
  readonly table: string;
  readonly schema: string;
  readonly own: string;
  readonly kind: string;
  readonly engine: string | null;
  readonly comment: string | null;
  readonly transactions: string | null;
}

interface ColumnRow {
  readonly schema: string;
  readonly own: string;
  readonly name: string;
  readonly dataType: string;
  readonly columnType: string;
  readonly nullable: string;
  readonly fallback: string | null;
  readonly extra: string;
  readonly charset: string | null;
  readonly collation: string | null;
  readonly comment: string;
}

/** `exact`: names of tables and databases may differ only in case, which the catalogue's collation ignores. */
function statementsFor(schemas: readonly string[], exact: boolean) {
  const list = schemas.length ? `(${schemas.map(literal).join(', ')})` : '(database())';
  const same = (one: string, other: string): string =>
    exact ? `${one} = ${other} and cast(${one} as binary) = cast(${other} as binary)` : `${one} = ${other}`;
  const among = (schema: string): string => {
    const bytes = schemas.length
      ? schemas.map((each) => `cast(${literal(each)} as binary)`).join(', ')
      : 'cast(database() as binary)';
    const compared = `cast(${schema} as binary) in (${bytes})`;
    if (!exact) return `${schema} in ${list}`;
    // The server looks up a single name directly. With two names that differ only in case it would look up only one.
    return schemas.length > 1 ? compared : `${schema} in ${list} and ${compared}`;
  };
  const [first] = schemas;
  /** The name of a table in the source: tables outside the first database get their database as a prefix. */
  const nameOf = (table: string, schema: string): string =>
    first === undefined ? table : `if(${same(schema, literal(first))}, ${table}, concat(${schema}, '.', ${table}))`;

  const tables = `select ${nameOf('t.table_name', 't.table_schema')} as \`table\`, t.table_schema as \`schema\`,
  t.table_name as own, t.table_type as kind, t.engine as engine, t.table_comment as comment,
  (select e.transactions from information_schema.engines e where e.engine = t.engine) as transactions
  from information_schema.tables t
  where ${among('t.table_schema')} and t.table_type in ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  order by 1`;

  const columns = `select table_schema as \`schema\`, table_name as own, column_name as name, data_type as dataType,
  column_type as columnType, is_nullable as nullable, column_default as fallback, extra as extra,
  character_set_name as charset, collation_name as collation, column_comment as comment
  from information_schema.columns where ${among('table_schema')}
  order by table_schema, table_name, ordinal_position`;

  const keys = `select ${nameOf('table_name', 'table_schema')} as \`table\`, index_name as \`key\`,
  if(sub_part is null, column_name, null) as \`column\`, non_unique as repeats, index_type as method
  from information_schema.statistics
  where ${among('table_schema')} and (non_unique = 0 or index_type in ('BTREE', 'HASH'))
  order by 1, index_name, seq_in_index`;

  // Also the keys of tables elsewhere that reference these.
  const foreignKeys = `select ${nameOf('table_name', 'table_schema')} as \`table\`, table_schema as \`schema\`,
  table_name as own, table_schema = database() as here, constraint_name as name, column_name as \`column\`,
  referenced_table_schema as targetSchema, referenced_table_name as targetOwn,
  referenced_table_schema = database() as targetHere,
  ${nameOf('referenced_table_name', 'referenced_table_schema')} as target, referenced_column_name as targetColumn
  from information_schema.key_column_usage
  where referenced_table_name is not null and (${among('table_schema')} or ${among('referenced_table_schema')})
  order by 1, constraint_name, ordinal_position`;

  const jsonChecks = `select ${nameOf('table_name', 'constraint_schema')} as \`table\`, check_clause as clause
  from information_schema.check_constraints
  where ${among('constraint_schema')} and check_clause like 'json_valid(%'`;

  const triggers = `select ${nameOf('event_object_table', 'event_object_schema')} as \`table\`,
  event_object_schema as \`schema\`, event_object_table as own, event_object_schema = database() as here,
  event_manipulation as event, action_timing as timing, action_statement as code
  from information_schema.triggers where ${among('event_object_schema')}`;

  return { tables, columns, keys, foreignKeys, jsonChecks, triggers };
}

function columnFacts(table: string, row: ColumnRow, checkedJson: boolean): ColumnFacts {
  const readOnly = /\b(VIRTUAL|STORED|PERSISTENT) GENERATED\b|\bINVISIBLE\b.*\bROW\b/i.test(row.extra);
  const columnType = row.columnType.toLowerCase();
  const dataType = row.dataType.toLowerCase();
  const labels = dataType === 'enum' || dataType === 'set' ? enumValues(row.columnType) : [];
  const isBinary = dataType === 'enum' || !row.collation || /_bin$|_cs$|^binary$/.test(row.collation);
  return {
    table,
    name: row.name,
    codec: mysqlCodec({ dataType, columnType, checkedJson, charset: row.charset, isBinary, labels }),
    nativeType: checkedJson ? 'json' : row.columnType,
    nullable: row.nullable === 'YES',
    readOnly,
    // MariaDB reports a default of null as 'NULL'.
    hasDefault: (row.fallback !== null && row.fallback !== 'NULL') || /auto_increment/i.test(row.extra),
    ...(labels.length ? { enumValues: labels } : {}),
    collation: dataType === 'uuid' ? 'backwards' : isBinary ? 'binary' : 'insensitive',
    comment: row.comment,
  };
}

/** `enum('a','it''s')` */
function enumValues(columnType: string): string[] {
  return [...columnType.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = '']) => value.replaceAll("''", "'"));
}
