// The automatic effects of deletes and key changes: the rules of foreign keys that reference each table, including
// those of tables that are not served, and the triggers. Takes two more statements at start.
import type { DescribedReference, DescribedTable, ReferentialAction, WriteEvent } from '../../described.ts';
import type { Dialect } from '../codec.ts';
import { type Catalogue, type Facts, listAt, type TableLocation } from './introspect.ts';

interface EffectFacts {
  readonly references: readonly ReferenceFacts[];
  /** `before`: the code of triggers that run before an insert and may set columns. */
  readonly triggers: readonly (TableLocation & {
    readonly events: readonly WriteEvent[];
    readonly before?: string | undefined;
  })[];
}

interface ReferenceFacts extends Omit<DescribedReference, 'table' | 'place'> {
  readonly from: TableLocation;
  readonly to: TableLocation;
}

const readEffects: Record<Dialect, (catalogue: Catalogue) => Promise<EffectFacts>> = {
  sqlite: readSqliteEffects,
  mysql: readMysqlEffects,
  postgres: readPostgresEffects,
};

/** Adds the incoming references and triggers to the tables. */
export async function withEffects(
  tables: readonly DescribedTable[],
  facts: Facts,
  dialect: Dialect,
  catalogue: Catalogue,
): Promise<DescribedTable[]> {
  const { references, triggers } = await readEffects[dialect](catalogue);
  const nameOf = createNameLookup(facts, dialect);
  const served = new Set(tables.map(({ name }) => name));
  const pointing = new Map<string, DescribedReference[]>();
  for (const { from, to, ...rule } of references) {
    const target = nameOf(to);
    const table = nameOf(from);
    if (target === undefined) continue;
    const isServed = table !== undefined && served.has(table);
    listAt(pointing, target).push({ ...rule, table: isServed ? table : null, place: from });
  }
  const events = new Map<string, WriteEvent[]>();
  const before = new Map<string, string[]>();
  for (const { events: some, before: code, ...place } of triggers) {
    const table = nameOf(place);
    if (table === undefined) continue;
    listAt(events, table).push(...some);
    if (code) listAt(before, table).push(code);
  }
  return tables.map((table) => ({
    ...table,
    columns: withTriggerDefaults(table.columns, before.get(table.name)?.join(';\n')),
    referencedBy: pointing.get(table.name) ?? [],
    triggers: [...new Set(events.get(table.name))],
  }));
}

/** Columns that a trigger sets get `hasDefault`. */
function withTriggerDefaults(columns: DescribedTable['columns'], code: string | undefined): DescribedTable['columns'] {
  if (code === undefined) return columns;
  const filled = new Set(
    [...code.matchAll(ASSIGNED)].map(([, plain = '', quoted, ticked]) => quoted ?? ticked ?? plain.toLowerCase()),
  );
  return columns.map((column) =>
    filled.has(column.name) || filled.has(column.name.toLowerCase()) ? { ...column, hasDefault: true } : column,
  );
}

/**
 * Matches `new.a := 1`, `new.a = 1` at the start of a statement, `into new.a`, and the first argument of
 * tsvector_update_trigger.
 */
const ASSIGNED =
  /(?:(?:^|;|,|\b(?:begin|then|else|loop|set|into|strict))\s*new\s*\.\s*|\bnew\s*\.\s*(?=[^\s:=]+\s*:=)|^tsvector:)(?:(\w+)|"([^"]+)"|`([^`]+)`)/gim;

/** SQLite compares table names case-insensitively; MariaDB does if its file system does. */
function createNameLookup({ tables }: Facts, dialect: Dialect): (place: TableLocation) => string | undefined {
  const idOf = ({ schema, name }: TableLocation) => JSON.stringify([schema ?? null, name]);
  const exact = new Map<string, string>();
  const folded = new Map<string, string>();
  for (const { name, place } of tables) {
    const id = idOf(place ?? { name });
    exact.set(id, name);
    folded.set(id.toLowerCase(), name);
  }
  const find = (place: TableLocation) =>
    exact.get(idOf(place)) ?? (dialect === 'postgres' ? undefined : folded.get(idOf(place).toLowerCase()));
  // A table in the connection's schema may be listed with or without its schema.
  return (place) => find(place) ?? (place.isCurrent ? find({ name: place.name }) : undefined);
}

async function readSqliteEffects(catalogue: Catalogue): Promise<EffectFacts> {
  const rows = await catalogue<SqliteReference>(SQLITE_REFERENCES);
  const triggers = await catalogue<{ table: string; sql: string }>(SQLITE_TRIGGERS);
  const parts = new Map<string, SqliteReference[]>();
  for (const row of rows) listAt(parts, JSON.stringify([row.table, row.id])).push(row);
  return {
    references: [...parts.values()].map((some) => {
      const [{ table, target, onDelete, onUpdate }] = some as [SqliteReference];
      return {
        from: { name: table },
        to: { name: target },
        columns: some.map(({ column }) => column),
        targetColumns: some.map(({ targetColumn }) => targetColumn),
        onDelete: actionOf(onDelete),
        onUpdate: actionOf(onUpdate),
      };
    }),
    triggers: triggers.map(({ table, sql }) => ({ name: table, events: readSqliteEvents(sql) })),
  };
}

interface SqliteReference {
  table: string;
  id: number;
  target: string;
  column: string;
  targetColumn: string;
  onDelete: string;
  onUpdate: string;
}

/**
 * Returns names as the tables define them, even if the key uses another case. Returns no rows if foreign keys are not
 * enforced.
 */
const SQLITE_REFERENCES = `select m.name as "table", f.id as id, f."table" as target,
  coalesce((select c.name from pragma_table_xinfo(m.name) c where lower(c.name) = lower(f."from")), f."from") as "column",
  coalesce(
    (select c.name from pragma_table_xinfo(f."table") c where lower(c.name) = lower(f."to")),
    (select c.name from pragma_table_xinfo(f."table") c where c.pk = f.seq + 1), f."to", '') as targetColumn,
  f.on_delete as onDelete, f.on_update as onUpdate
  from sqlite_schema m join pragma_foreign_key_list(m.name) f
  where m.type = 'table' and (select foreign_keys from pragma_foreign_keys) = 1
  order by m.name, f.id, f.seq`;

const SQLITE_TRIGGERS = 'select tbl_name as "table", sql from sqlite_schema where type = \'trigger\' order by name';

/** Reads the event before the first ON outside a quoted name. Returns all events if the text cannot be parsed. */
function readSqliteEvents(sql: string): readonly WriteEvent[] {
  const bare = sql.replace(/"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'/g, ' x ');
  const [, head = ''] = /\btrigger\b([\s\S]*?)\bon\b/i.exec(bare) ?? [];
  const event = /\b(insert|update|delete)(?:\s+of\b[\s\S]*)?\s*$/i.exec(head)?.[1];
  return event ? [event.toLowerCase() as WriteEvent] : ['insert', 'update', 'delete'];
}

async function readMysqlEffects(catalogue: Catalogue): Promise<EffectFacts> {
  const rows = await catalogue<MysqlReference>(MYSQL_REFERENCES);
  const triggers = await catalogue<{
    schema: string;
    name: string;
    here: number;
    event: string;
    before: string | null;
  }>(MYSQL_TRIGGERS);
  const parts = new Map<string, MysqlReference[]>();
  for (const row of rows) listAt(parts, JSON.stringify([row.schema, row.table, row.name])).push(row);
  return {
    references: [...parts.values()].map((some) => {
      const [first] = some as [MysqlReference];
      return {
        from: { schema: first.schema, name: first.table, isCurrent: Number(first.here) === 1 },
        to: { schema: first.targetSchema, name: first.target, isCurrent: Number(first.targetHere) === 1 },
        columns: some.map(({ column }) => column),
        targetColumns: some.map(({ targetColumn }) => targetColumn),
        onDelete: actionOf(first.onDelete),
        onUpdate: actionOf(first.onUpdate),
      };
    }),
    triggers: triggers.map(({ schema, name, here, event, before }) => ({
      before: before ?? undefined,
      schema,
      name,
      isCurrent: Number(here) === 1,
      events: [event.toLowerCase() as WriteEvent],
    })),
  };
}

interface MysqlReference {
  schema: string;
  table: string;
  name: string;
  here: number;
  column: string;
  targetSchema: string;
  target: string;
  targetHere: number;
  targetColumn: string;
  onDelete: string;
  onUpdate: string;
}

const MYSQL_REFERENCES = `select k.table_schema as \`schema\`, k.table_name as \`table\`, k.constraint_name as name,
  k.table_schema = database() as here, k.column_name as \`column\`, k.referenced_table_schema as targetSchema,
  k.referenced_table_name as target, k.referenced_table_schema = database() as targetHere,
  k.referenced_column_name as targetColumn, r.delete_rule as onDelete, r.update_rule as onUpdate
  from information_schema.key_column_usage k join information_schema.referential_constraints r
  on r.constraint_schema = k.constraint_schema and r.constraint_name = k.constraint_name and r.table_name = k.table_name
  and cast(r.constraint_schema as binary) = cast(k.constraint_schema as binary)
  and cast(r.table_name as binary) = cast(k.table_name as binary)
  where k.referenced_table_name is not null
  order by 1, 2, 3, k.ordinal_position`;

const MYSQL_TRIGGERS = `select event_object_schema as \`schema\`, event_object_table as name,
  event_object_schema = database() as here, event_manipulation as event,
  if(action_timing = 'BEFORE' and event_manipulation = 'INSERT', action_statement, null) as \`before\`
  from information_schema.triggers`;

async function readPostgresEffects(catalogue: Catalogue): Promise<EffectFacts> {
  const rows = await catalogue<PostgresReference>(POSTGRES_REFERENCES);
  const triggers = await catalogue<{
    schema: string;
    name: string;
    here: string;
    events: string;
    before: string | null;
  }>(POSTGRES_TRIGGERS);
  return {
    references: rows.map((row) => ({
      from: { schema: row.schema, name: row.table, isCurrent: row.here === 't' },
      to: { schema: row.targetSchema, name: row.target, isCurrent: row.targetHere === 't' },
      columns: JSON.parse(row.columns) as string[],
      targetColumns: JSON.parse(row.targetColumns) as string[],
      onDelete: actionOf(row.onDelete),
      onUpdate: actionOf(row.onUpdate),
      ...(row.setColumns && { setColumns: JSON.parse(row.setColumns) as string[] }),
    })),
    triggers: triggers.map(({ schema, name, here, events, before }) => ({
      before: before ?? undefined,
      schema,
      name,
      isCurrent: here === 't',
      events: JSON.parse(events) as WriteEvent[],
    })),
  };
}

interface PostgresReference {
  schema: string;
  table: string;
  here: string;
  targetSchema: string;
  target: string;
  targetHere: string;
  columns: string;
  targetColumns: string;
  onDelete: string;
  onUpdate: string;
  /** For ON DELETE SET NULL (column), from version 15. */
  setColumns: string | null;
}

const columnNames = (list: string, owner: string): string =>
  `(select json_agg(a.attname order by k.place) from ${list} join pg_attribute a on a.attrelid = ${owner} and a.attnum = k.attnum)`;

/** A key of a single partition counts as that of a table that is not served. */
const POSTGRES_REFERENCES = `select s.nspname as schema, c.relname as "table", s.nspname = current_schema() as here,
  n.nspname as "targetSchema", f.relname as target, n.nspname = current_schema() as "targetHere",
  ${columnNames('unnest(o.conkey) with ordinality as k(attnum, place)', 'o.conrelid')} as columns,
  ${columnNames('unnest(o.confkey) with ordinality as k(attnum, place)', 'o.confrelid')} as "targetColumns",
  o.confdeltype as "onDelete", o.confupdtype as "onUpdate",
  ${columnNames("(select e::int2, p from jsonb_array_elements_text(nullif(to_jsonb(o) -> 'confdelsetcols', 'null')) with ordinality as j(e, p)) as k(attnum, place)", 'o.conrelid')} as "setColumns"
  from pg_constraint o join pg_class c on c.oid = o.conrelid join pg_namespace s on s.oid = c.relnamespace
  join pg_class f on f.oid = coalesce(pg_partition_root(o.confrelid), o.confrelid)
  join pg_namespace n on n.oid = f.relnamespace
  where o.contype = 'f' and o.conparentid = 0
  order by s.nspname, c.relname, o.conname`;

/** Rewrite rules can write to other tables just like triggers. */
const POSTGRES_TRIGGERS = `select s.nspname as schema, c.relname as name, s.nspname = current_schema() as here,
  json_agg(distinct e.event) as events, string_agg(e.before, ';' || chr(10)) as before
  from (
    select tgrelid as relation, v.event, case when v.event = 'insert' and t.tgtype & 3 = 3 then
      case when p.proname like 'tsvector_update_trigger%' then 'tsvector:' || split_part(encode(t.tgargs, 'escape'), '\\000', 1) else p.prosrc end
    end as before from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    join (values (4, 'insert'), (8, 'delete'), (16, 'update')) as v(bit, event) on t.tgtype & v.bit > 0
    where not t.tgisinternal and t.tgenabled <> 'D'
    union all
    select r.ev_class, v.event, null from pg_rewrite r
    join (values ('2', 'update'), ('3', 'insert'), ('4', 'delete')) as v(code, event) on r.ev_type::text = v.code
  ) e join pg_class c on c.oid = coalesce(pg_partition_root(e.relation), e.relation)
  join pg_namespace s on s.oid = c.relnamespace
  group by 1, 2, 3`;

const actions: Readonly<Record<string, ReferentialAction>> = {
  c: 'cascade',
  n: 'set null',
  d: 'set default',
  CASCADE: 'cascade',
  'SET NULL': 'set null',
  'SET DEFAULT': 'set default',
};

/** RESTRICT and NO ACTION refuse the statement and have no effects. */
const actionOf = (word: string): ReferentialAction => actions[word] ?? 'none';
