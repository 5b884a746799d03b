// The automatic effects of deletes and key changes: the rules of foreign keys that reference each table, including
// those of tables that are not served, and the triggers.
import type { DescribedReference, DescribedTable, WriteEvent } from '../../described.ts';
import type { Dialect } from '../codec.ts';
import { type Facts, listAt, type TableLocation } from './introspect.ts';

/** Adds the incoming references and triggers to the tables. */
export function withEffects(tables: readonly DescribedTable[], facts: Facts, dialect: Dialect): DescribedTable[] {
  const { references, triggers } = facts;
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
