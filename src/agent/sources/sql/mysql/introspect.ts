import type { Catalogue, ColumnFacts, Facts } from '../introspection/introspect.ts';
import { mysqlCodec } from './types.ts';

/** Takes five statements on MariaDB and four on MySQL, plus one if there are tables without transactions. */
export async function readMysqlFacts(catalogue: Catalogue, schemas: readonly string[]): Promise<Facts> {
  const [server] = await catalogue(
    'select version() as version, database() as current, @@lower_case_table_names = 0 as exact',
  );
  const texts = statementsFor(schemas, Number(server?.exact) === 1);
  const columns = await catalogue<ColumnRow>(texts.columns);
  const keys = await catalogue<{ table: string; key: string; column: string | null }>(texts.keys);
  const foreign = await catalogue<ForeignRow>(texts.foreignKeys);
  const isMariadb = /mariadb/i.test(String(server?.version));
  const checks = isMariadb ? await catalogue<{ table: string; clause: string }>(texts.jsonChecks) : [];
  const checkedJson = new Set(
    checks.map(({ table, clause }) => {
      const [, column = ''] = /^json_valid\(`((?:[^`]|``)*)`\)$/i.exec(clause) ?? [];
      return JSON.stringify([table, column.replaceAll('``', '`')]);
    }),
  );
  const tables = new Map<string, Facts['tables'][number]>();
  const facts: ColumnFacts[] = [];
  const skipped: { table: string; reason: string }[] = [];
  for (const row of columns) {
    if (row.name === null) {
      skipped.push({ table: row.table, reason: 'the view is broken, or the database user may not read it' });
      continue;
    }
    const place = schemas.length ? { place: { schema: row.schema, name: row.own } } : {};
    tables.set(row.table, { name: row.table, kind: /VIEW/.test(row.kind) ? 'view' : 'table', ...place });
    facts.push(columnFacts({ ...row, name: row.name }, checkedJson.has(JSON.stringify([row.table, row.name]))));
  }
  return {
    tables: [...tables.values()],
    columns: facts,
    keys: keys.map((row) => ({ ...row, primary: row.key === 'PRIMARY' })),
    foreignKeys: foreignKeys(foreign, schemas.length ? schemas : [String(server?.current)]),
    skipped,
    isMariadb,
    withoutRollback: await readWithoutRollback(catalogue, texts.triggers, columns),
  };
}

/**
 * Tables of MyISAM, Aria, MEMORY and similar engines, and tables with triggers that name one of them. Writes of
 * procedures and tables of other databases are not checked.
 */
async function readWithoutRollback(
  catalogue: Catalogue,
  triggers: string,
  columns: readonly ColumnRow[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const { table, own, engine, transactions } of columns)
    if (engine !== null && transactions !== 'YES')
      found.set(table, explainWithoutTransactions(`its engine ${engine}`, own));
  if (found.size === 0) return found;
  const tables = new Map(columns.filter(({ table }) => found.has(table)).map(({ own, engine }) => [own, engine]));
  for (const { code, table } of await catalogue<{ code: string; table: string }>(triggers)) {
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

interface ColumnRow {
  table: string;
  schema: string;
  own: string;
  kind: string;
  /** null for views. */
  engine: string | null;
  transactions: string | null;
  /** null if a view has no columns because it does not compile. */
  name: string | null;
  dataType: string;
  columnType: string;
  nullable: string;
  fallback: string | null;
  extra: string;
  charset: string | null;
  collation: string | null;
}

const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

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

  const columns = `select ${nameOf('t.table_name', 't.table_schema')} as \`table\`, t.table_schema as \`schema\`,
  t.table_name as own, t.table_type as kind, t.engine as engine,
  (select e.transactions from information_schema.engines e where e.engine = t.engine) as transactions, c.column_name as name, c.data_type as dataType,
  c.column_type as columnType, c.is_nullable as nullable, c.column_default as fallback, c.extra as extra,
  c.character_set_name as charset, c.collation_name as collation
  from information_schema.tables t
  left join information_schema.columns c on ${same('c.table_schema', 't.table_schema')} and ${same('c.table_name', 't.table_name')}
  where ${among('t.table_schema')} and t.table_type in ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  order by 1, c.ordinal_position`;

  const keys = `select ${nameOf('table_name', 'table_schema')} as \`table\`, index_name as \`key\`,
  if(sub_part is null, column_name, null) as \`column\`
  from information_schema.statistics where ${among('table_schema')} and non_unique = 0
  order by 1, index_name, seq_in_index`;

  const foreignKeys = `select ${nameOf('table_name', 'table_schema')} as \`table\`, constraint_name as name,
  column_name as \`column\`, referenced_table_schema as targetSchema,
  ${nameOf('referenced_table_name', 'referenced_table_schema')} as target, referenced_column_name as targetColumn
  from information_schema.key_column_usage
  where ${among('table_schema')} and referenced_table_name is not null
  order by 1, constraint_name, ordinal_position`;

  const jsonChecks = `select ${nameOf('table_name', 'constraint_schema')} as \`table\`, check_clause as clause
  from information_schema.check_constraints
  where ${among('constraint_schema')} and check_clause like 'json_valid(%'`;

  const triggers = `select ${nameOf('event_object_table', 'event_object_schema')} as \`table\`, action_statement as code
  from information_schema.triggers where ${among('event_object_schema')}`;

  return { columns, keys, foreignKeys, jsonChecks, triggers };
}

function columnFacts(row: ColumnRow & { readonly name: string }, checkedJson: boolean): ColumnFacts {
  const readOnly = /\b(VIRTUAL|STORED|PERSISTENT) GENERATED\b|\bINVISIBLE\b.*\bROW\b/i.test(row.extra);
  const columnType = row.columnType.toLowerCase();
  const dataType = row.dataType.toLowerCase();
  const labels = dataType === 'enum' || dataType === 'set' ? enumValues(row.columnType) : [];
  const isBinary = dataType === 'enum' || !row.collation || /_bin$|_cs$|^binary$/.test(row.collation);
  return {
    table: row.table,
    name: row.name,
    codec: mysqlCodec({ dataType, columnType, checkedJson, charset: row.charset, isBinary, labels }),
    nativeType: checkedJson ? 'json' : row.columnType,
    nullable: row.nullable === 'YES',
    readOnly,
    // MariaDB reports a default of null as 'NULL'.
    hasDefault: (row.fallback !== null && row.fallback !== 'NULL') || /auto_increment/i.test(row.extra),
    ...(labels.length ? { enumValues: labels } : {}),
    collation: dataType === 'uuid' ? 'backwards' : isBinary ? 'binary' : 'insensitive',
  };
}

/** `enum('a','it''s')` */
function enumValues(columnType: string): string[] {
  return [...columnType.matchAll(/'((?:[^']|'')*)'/g)].map(([, value = '']) => value.replaceAll("''", "'"));
}

interface ForeignRow {
  table: string;
  name: string;
  column: string;
  targetSchema: string;
  target: string;
  targetColumn: string;
}

function foreignKeys(rows: readonly ForeignRow[], schemas: readonly string[]): Facts['foreignKeys'] {
  const found = new Map<string, ForeignRow[]>();
  for (const row of rows) {
    const id = JSON.stringify([row.table, row.name]);
    found.set(id, [...(found.get(id) ?? []), row]);
  }
  return [...found.values()].map((parts) => {
    const [first] = parts as [ForeignRow, ...ForeignRow[]];
    const here = schemas.includes(first.targetSchema);
    return {
      table: first.table,
      columns: parts.map((part) => part.column),
      target: here ? first.target : null,
      targetColumns: parts.map((part) => part.targetColumn),
      ...(here ? {} : { why: `its target is in the database ${first.targetSchema}` }),
    };
  });
}
