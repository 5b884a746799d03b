import type { Catalogue, ColumnFacts, Facts } from './introspect.ts';
import { mysqlCodec } from './types-mysql.ts';

/** Five statements on MariaDB, four on MySQL. */
export async function readMysqlFacts(catalogue: Catalogue): Promise<Facts> {
  const [server] = await catalogue('select version() as version, database() as current');
  const columns = (await catalogue(COLUMNS)) as unknown as ColumnRow[];
  const keys = (await catalogue(KEYS)) as unknown as { table: string; key: string; column: string | null }[];
  const foreign = (await catalogue(FOREIGN_KEYS)) as unknown as ForeignRow[];
  const isMariadb = /mariadb/i.test(String(server?.version));
  const checks = isMariadb ? ((await catalogue(JSON_CHECKS)) as unknown as { table: string; clause: string }[]) : [];
  const checkedJson = new Set(
    checks.map(({ table, clause }) => {
      const [, column = ''] = /^json_valid\(`((?:[^`]|``)*)`\)$/i.exec(clause) ?? [];
      return JSON.stringify([table, column.replaceAll('``', '`')]);
    }),
  );
  const tables = new Map<string, { name: string; kind: 'table' | 'view' }>();
  const facts: ColumnFacts[] = [];
  for (const row of columns) {
    tables.set(row.table, { name: row.table, kind: /VIEW/.test(row.kind) ? 'view' : 'table' });
    facts.push(columnFacts(row, checkedJson.has(JSON.stringify([row.table, row.name]))));
  }
  return {
    tables: [...tables.values()],
    columns: facts,
    keys: keys.map((row) => ({ ...row, primary: row.key === 'PRIMARY' })),
    foreignKeys: foreignKeys(foreign, String(server?.current)),
    skipped: [],
    isMariadb,
  };
}

interface ColumnRow {
  table: string;
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

const COLUMNS = `select t.table_name as \`table\`, t.table_type as kind, c.column_name as name, c.data_type as dataType,
  c.column_type as columnType, c.is_nullable as nullable, c.column_default as fallback, c.extra as extra,
  c.character_set_name as charset, c.collation_name as collation
  from information_schema.tables t
  join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name
  where t.table_schema = database() and t.table_type in ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
  order by t.table_name, c.ordinal_position`;

const KEYS = `select table_name as \`table\`, index_name as \`key\`, if(sub_part is null, column_name, null) as \`column\`
  from information_schema.statistics where table_schema = database() and non_unique = 0
  order by table_name, index_name, seq_in_index`;

const FOREIGN_KEYS = `select table_name as \`table\`, constraint_name as name, column_name as \`column\`,
  referenced_table_schema as targetSchema, referenced_table_name as target, referenced_column_name as targetColumn
  from information_schema.key_column_usage
  where table_schema = database() and referenced_table_name is not null
  order by table_name, constraint_name, ordinal_position`;

const JSON_CHECKS = `select table_name as \`table\`, check_clause as clause from information_schema.check_constraints
  where constraint_schema = database() and check_clause like 'json_valid(%'`;

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

function foreignKeys(rows: readonly ForeignRow[], current: string): Facts['foreignKeys'] {
  const found = new Map<string, ForeignRow[]>();
  for (const row of rows) {
    const id = JSON.stringify([row.table, row.name]);
    found.set(id, [...(found.get(id) ?? []), row]);
  }
  return [...found.values()].map((parts) => {
    const [first] = parts as [ForeignRow, ...ForeignRow[]];
    const here = first.targetSchema === current;
    return {
      table: first.table,
      columns: parts.map((part) => part.column),
      target: here ? first.target : null,
      targetColumns: parts.map((part) => part.targetColumn),
      ...(here ? {} : { why: `its target lies in the database ${first.targetSchema}` }),
    };
  });
}
