// The rules of foreign keys, and the triggers and rewrite rules.
import type { WriteEvent } from '../../described.ts';
import { actionOf, type Catalogue, type Effects } from '../introspection/introspect.ts';

/** Takes two statements. */
export async function readPostgresEffects(catalogue: Catalogue): Promise<Effects> {
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
