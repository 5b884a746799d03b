import type { Collation, PrimitiveType } from '../../column-types.ts';
import type { WriteEvent } from '../../described.ts';
import type { ResultColumn } from '../driver.ts';
import { actionOf, type Catalogue, type ColumnFacts, type Facts, listAt } from '../introspection/introspect.ts';
import { readCollations } from './collations.ts';
import { readSamples } from './samples.ts';
import { type Sample, sqliteCodec } from './types.ts';
import { numbersOfViews } from './view-types.ts';

/**
 * Takes five statements, plus one for about 2,000 tables with columns that need a sample. A view with such a column
 * takes two more, to estimate its cost before it is sampled. Virtual and shadow tables are skipped.
 */
export async function readSqliteFacts(catalogue: Catalogue): Promise<Facts> {
  const skipped: { table: string; reason: string }[] = [];
  const columns = await catalogue<ColumnRow>(columnsOf("m.type = 'table'"));
  columns.push(...(await readViews(catalogue, skipped)));
  const keys = await catalogue<{ table: string; key: string; isUnique: number; column: string | null }>(KEYS);
  const foreign = await catalogue<ForeignRow>(FOREIGN_KEYS);
  const triggers = await catalogue<{ table: string; sql: string }>(TRIGGERS);

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
      sql: rows[0]!.kind === 'view' ? (rows[0]!.sql ?? '') : '',
      columns: rows.map(({ name, declared }) => ({ name, isTyped: declared !== '' })),
    })),
  );
  return {
    version: String(columns[0]?.version),
    tables: [...tables.values()],
    columns: [...byTable.values()].flatMap((rows) => tableFacts(rows, samples, numbers)),
    keys: [
      ...primaryKeys(byTable),
      ...keys.map(({ table, key, column, isUnique }) => ({
        table,
        key,
        column,
        primary: false,
        unique: isUnique === 1,
        sorted: true,
      })),
    ],
    ...readForeignKeys(foreign, byTable),
    triggers: triggers.map(({ table, sql }) => ({ name: table, events: readEvents(sql) })),
    skipped,
  };
}

interface ColumnRow {
  version: number;
  table: string;
  kind: string;
  /** Only in the row of the first column. */
  sql: string | null;
  withoutRowid: number;
  name: string;
  declared: string;
  required: number;
  fallback: string | null;
  place: number;
  hidden: number;
}

/** Raised by every change of the schema, and by VACUUM. */
const VERSION = 'select schema_version as version from pragma_schema_version';

export async function readSqliteVersion(catalogue: Catalogue): Promise<string> {
  return String((await catalogue<{ version: number }>(VERSION))[0]?.version);
}

const columnsOf = (
  which: string,
): string => `select (${VERSION}) as version, m.name as "table", l.type as kind, iif(c.cid = 0, m.sql, null) as sql,
  l.wr as withoutRowid, c.name as name, c.type as declared, c."notnull" as required, c.dflt_value as fallback,
  c.pk as place, c.hidden as hidden
  from sqlite_schema m join pragma_table_list l on l.schema = 'main' and l.name = m.name
  join pragma_table_xinfo(m.name) c
  where ${which} and m.name not like 'sqlite\\_%' escape '\\' and c.hidden <> 1
  order by m.name, c.cid`;

const KEYS = `select m.name as "table", i.name as key, i."unique" as isUnique, x.name as "column"
  from sqlite_schema m join pragma_index_list(m.name) i join pragma_index_xinfo(i.name) x
  where m.type = 'table' and i.partial = 0 and i.origin <> 'pk' and x.key = 1
  order by m.name, i.seq desc, x.seqno`;

const FOREIGN_KEYS = `select m.name as "table", f.id as id, f."table" as target, f."from" as "column", f."to" as targetColumn,
  f.on_delete as onDelete, f.on_update as onUpdate, (select foreign_keys from pragma_foreign_keys) as enforced
  from sqlite_schema m join pragma_foreign_key_list(m.name) f where m.type = 'table'
  order by m.name, f.id desc, f.seq`;

const TRIGGERS = 'select tbl_name as "table", sql from sqlite_schema where type = \'trigger\' order by name';

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

function tableFacts(
  rows: readonly ColumnRow[],
  samples: ReadonlyMap<string, Sample>,
  numbers: ReadonlySet<string>,
): ColumnFacts[] {
  const collations: ReadonlyMap<string, Collation> =
    rows[0]?.kind === 'table' ? readCollations(rows[0].sql ?? '') : new Map();
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

const declaredTypes: Readonly<Partial<Record<PrimitiveType, string>>> = {
  ...{ String: 'text', Number: 'numeric', Boolean: 'boolean', Date: 'datetime', Dateonly: 'date', Time: 'time' },
  ...{ Json: 'json', Uuid: 'uuid', Binary: 'blob' },
};

/** The facts of the columns of a result. An error completes "the query cannot be served: ". */
export async function readSqliteResult(
  _: Catalogue,
  columns: readonly ResultColumn[],
  { table, sql, declared }: QueryOfResult,
): Promise<ColumnFacts[]> {
  const listed = columns.map(({ name, type }) => ({ name, isTyped: type !== '' }));
  const numbers = numbersOfViews([{ name: table, sql: `create view v as ${sql}`, columns: listed }]);
  return columns.map(({ name, type }) => {
    const own = declared[name];
    const isNumber = numbers.has(JSON.stringify([table, name]));
    const native = own ? declaredTypes[own] : type === '' && isNumber ? 'numeric' : String(type);
    if (native === undefined) throw new Error(`the type of its column '${name}' cannot be ${own}`);
    if (native === '')
      throw new Error(`SQLite does not know the type of its column '${name}': send columns: { ${name}: 'String' }`);
    return {
      ...{ table, name, codec: sqliteCodec(native, new Set()), nativeType: native, nullable: true },
      ...{ readOnly: false, hasDefault: false, collation: 'binary' },
    };
  });
}

interface QueryOfResult {
  readonly table: string;
  readonly sql: string;
  readonly declared: Readonly<Record<string, PrimitiveType>>;
}

function primaryKeys(byTable: ReadonlyMap<string, ColumnRow[]>): Facts['keys'] {
  return [...byTable.values()].flatMap((rows) =>
    rows
      .filter((row) => row.place > 0)
      .sort((a, b) => a.place - b.place)
      .map((row) => ({
        table: row.table,
        key: 'primary',
        primary: true,
        unique: true,
        sorted: true,
        column: row.name,
      })),
  );
}

interface ForeignRow {
  table: string;
  id: number;
  target: string;
  column: string;
  /** null if the key references the primary key of the target. */
  targetColumn: string | null;
  onDelete: string;
  onUpdate: string;
  enforced: number;
}

/** Resolves names, which a foreign key may write in any case. */
function readForeignKeys(
  rows: readonly ForeignRow[],
  byTable: ReadonlyMap<string, ColumnRow[]>,
): Pick<Facts, 'foreignKeys' | 'references'> {
  const tables = new Map([...byTable.keys()].map((name) => [name.toLowerCase(), name]));
  const found = new Map<string, ForeignRow[]>();
  for (const row of rows) listAt(found, JSON.stringify([row.table, row.id])).push(row);
  const columnName = (table: string, name: string): string =>
    byTable.get(table)?.find((row) => row.name.toLowerCase() === name.toLowerCase())?.name ?? name;
  const keyOf = (table: string) => primaryKeys(new Map([[table, byTable.get(table)!]])).map((part) => part.column);
  const foreignKeys: Facts['foreignKeys'][number][] = [];
  const references: Facts['references'][number][] = [];
  for (const parts of found.values()) {
    const { table, target: written, onDelete, onUpdate, enforced } = parts[0]!;
    const target = tables.get(written.toLowerCase()) ?? null;
    const key = target === null ? [] : keyOf(target);
    const columns = parts.map((part) => columnName(table, part.column));
    const targetColumns = parts.map((part, at) =>
      part.targetColumn === null ? (key[at] ?? '') : columnName(target ?? '', part.targetColumn),
    );
    const why = target === null ? { why: `its target ${written} is not served` } : {};
    if (byTable.has(table)) foreignKeys.push({ table, columns, target, targetColumns, ...why });
    const rules = { onDelete: actionOf(onDelete), onUpdate: actionOf(onUpdate) };
    if (enforced) references.push({ from: { name: table }, to: { name: written }, columns, targetColumns, ...rules });
  }
  return { foreignKeys, references };
}

/** Reads the event before the first ON outside a quoted name. Returns all events if the text cannot be parsed. */
function readEvents(sql: string): readonly WriteEvent[] {
  const bare = sql.replace(/"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'/g, ' x ');
  const [, head = ''] = /\btrigger\b([\s\S]*?)\bon\b/i.exec(bare) ?? [];
  const event = /\b(insert|update|delete)(?:\s+of\b[\s\S]*)?\s*$/i.exec(head)?.[1];
  return event ? [event.toLowerCase() as WriteEvent] : ['insert', 'update', 'delete'];
}

const literal = (value: unknown): string => `'${String(value).replaceAll("'", "''")}'`;
