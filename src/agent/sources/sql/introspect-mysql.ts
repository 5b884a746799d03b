import type { Catalogue, ColumnFacts, Facts } from './introspect.ts';
import { mysqlCodec } from './types-mysql.ts';

/** Five statements on MariaDB, four on MySQL. */
export async function readMysqlFacts(catalogue: Catalogue, schemas: readonly string[]): Promise<Facts> {
  const texts = statementsFor(schemas);
  const [server] = await catalogue('select version() as version, database() as current');
  const columns = (await catalogue(texts.columns)) as unknown as ColumnRow[];
  const keys = (await catalogue(texts.keys)) as unknown as { table: string; key: string; column: string | null }[];
  const foreign = (await catalogue(texts.foreignKeys)) as unknown as ForeignRow[];
  const isMariadb = /mariadb/i.test(String(server?.version));
  const checks = isMariadb
    ? ((await catalogue(texts.jsonChecks)) as unknown as { table: string; clause: string }[])
    : [];
  const checkedJson = new Set(
    checks.map(({ table, clause }) => {
      const [, column = ''] = /^json_valid\(`((?:[^`]|``)*)`\)$/i.exec(clause) ?? [];
      return JSON.stringify([table, column.replaceAll('``', '`')]);
    }),
  );
  const tables = new Map<string, Facts['tables'][number]>();
  const facts: ColumnFacts[] = [];
  for (const row of columns) {
    const place = schemas.length ? { place: { schema: row.schema, name: row.own } } : {};
    tables.set(row.table, { name: row.table, kind: /VIEW/.test(row.kind) ? 'view' : 'table', ...place });
    facts.push(columnFacts(row, checkedJson.has(JSON.stringify([row.table, row.name]))));
  }
  return {
    tables: [...tables.values()],
    columns: facts,
    keys: keys.map((row) => ({ ...row, primary: row.key === 'PRIMARY' })),
    foreignKeys: foreignKeys(foreign, schemas.length ? schemas : [String(server?.current)]),
    skipped: [],
    isMariadb,
  };
}

interface ColumnRow {
  table: string;
  schema: string;
  own: string;
  kind: string;
  name: string;
  dataType: string;
  columnType: string;
  nullable: string;
  fallback: string | null;
  extra: string;
  charset: string | null;
  collation: string | null;
}

const literal = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;

function statementsFor(schemas: readonly string[]) {
  const wanted = schemas.length ? `(${schemas.map(literal).join(', ')})` : '(database())';
  const [first] = schemas;
  /** What a table is called: those that do not lie in the first database have theirs before their name. */
  const nameOf = (table: string, schema: string): string =>
    first === undefined ? table : `if(${schema} = ${literal(first)}, ${table}, concat(${schema}, '.', ${table}))`;

  const columns = `select ${nameOf('t.table_name', 't.table_schema')} as \`table\`, t.table_schema as \`schema\`,
  t.table_name as own, t.table_type as kind, c.column_name as name, c.data_type as dataType,
  c.column_type as columnType, c.is_nullable as nullable, c.column_default as fallback, c.extra as extra,
  c.character_set_name as charset, c.collation_name as collation
  from information_schema.tables t
  join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name
  where t.table_schema in ${wanted} and t.table_type in ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  order by 1, c.ordinal_position`;

  const keys = `select ${nameOf('table_name', 'table_schema')} as \`table\`, index_name as \`key\`,
  if(sub_part is null, column_name, null) as \`column\`
  from information_schema.statistics where table_schema in ${wanted} and non_unique = 0
  order by 1, index_name, seq_in_index`;

  const foreignKeys = `select ${nameOf('table_name', 'table_schema')} as \`table\`, constraint_name as name,
  column_name as \`column\`, referenced_table_schema as targetSchema,
  ${nameOf('referenced_table_name', 'referenced_table_schema')} as target, referenced_column_name as targetColumn
  from information_schema.key_column_usage
  where table_schema in ${wanted} and referenced_table_name is not null
  order by 1, constraint_name, ordinal_position`;

  const jsonChecks = `select ${nameOf('table_name', 'constraint_schema')} as \`table\`, check_clause as clause
  from information_schema.check_constraints
  where constraint_schema in ${wanted} and check_clause like 'json_valid(%'`;

  return { columns, keys, foreignKeys, jsonChecks };
}

function columnFacts(row: ColumnRow, checkedJson: boolean): ColumnFacts {
  const readOnly = /\b(VIRTUAL|STORED|PERSISTENT) GENERATED\b|\bINVISIBLE\b.*\bROW\b/i.test(row.extra);
  const columnType = row.columnType.toLowerCase();
  const dataType = row.dataType.toLowerCase();
  const labels = dataType === 'enum' ? enumValues(row.columnType) : [];
  const isBinary = dataType === 'enum' || !row.collation || /_bin$|_cs$|^binary$/.test(row.collation);
  return {
    table: row.table,
    name: row.name,
    codec: mysqlCodec({ dataType, columnType, checkedJson, charset: row.charset, isBinary, labels }),
    nativeType: checkedJson ? 'json' : row.columnType,
    nullable: row.nullable === 'YES',
    readOnly,
    // MariaDB says 'NULL' for a default of null.
    hasDefault: (row.fallback !== null && row.fallback !== 'NULL') || /auto_increment/i.test(row.extra),
    ...(dataType === 'enum' ? { enumValues: labels } : {}),
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
      ...(here ? {} : { why: `its target lies in the database ${first.targetSchema}` }),
    };
  });
}
