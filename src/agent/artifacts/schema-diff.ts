// Compares two schemas, for the log of a check: one line for each collection, field, segment and action that one of
// them lacks, and for each property that differs. `meta` is ignored, because it describes the machine.
import { suggestNames } from '../../core/suggestions.ts';
import type { SchemaFile } from './schema-file.ts';

interface SchemaDifference {
  readonly collection: string;
  readonly line: string;
}

type Values = Readonly<Record<string, unknown>>;

/** The lists of a collection with named items, and the property with the name. */
const lists = [
  { of: 'fields', name: 'field', called: 'field' },
  { of: 'segments', name: 'name', called: 'segment' },
  { of: 'actions', name: 'name', called: 'action' },
] as const;

/** `known`: the schema in the file. `now`: the served schema. */
export function compareSchemas(known: SchemaFile, now: SchemaFile): readonly SchemaDifference[] {
  const [before, after] = [byName(known.collections, 'name'), byName(now.collections, 'name')];
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((collection) => {
    const lines = compareItems(`collection '${collection}'`, before.get(collection), after.get(collection), () =>
      suggestNames(collection, [...(before.has(collection) ? after : before).keys()]),
    );
    return lines.map((line) => ({ collection, line }));
  });
}

function byName(things: unknown, name: string): ReadonlyMap<string, Values> {
  const all = Array.isArray(things) ? (things as readonly Values[]) : [];
  return new Map(all.map((thing) => [String(thing?.[name]), thing]));
}

function compareItems(
  what: string,
  before: Values | undefined,
  after: Values | undefined,
  near: () => readonly string[],
): readonly string[] {
  const suggest = () => {
    const names = near();
    return names.length > 0 ? ` Near: ${names.join(', ')}.` : '';
  };
  if (!before) return [`${what}: is served, but not in the file.${suggest()}`];
  if (!after) return [`${what}: is in the file, but not served.${suggest()}`];
  const properties = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return properties.flatMap((property) => {
    if (isSame(before[property], after[property])) return [];
    const list = lists.find(({ of }) => of === property);
    if (!list || !what.startsWith('collection '))
      return [
        `${what}: ${property} is ${formatJson(after[property])}, but ${formatJson(before[property])} in the file.`,
      ];
    const [old, fresh] = [byName(before[property], list.name), byName(after[property], list.name)];
    const lines = [...new Set([...old.keys(), ...fresh.keys()])]
      .sort()
      .flatMap((name) =>
        compareItems(`${list.called} '${name}' of ${what}`, old.get(name), fresh.get(name), () =>
          suggestNames(name, [...(old.has(name) ? fresh : old).keys()]),
        ),
      );
    // The position of an action is part of its URL.
    return lines.length > 0 ? lines : [`${what}: its ${property} are in a different order.`];
  });
}

const isSame = (one: unknown, other: unknown): boolean => ordered(one) === ordered(other);

/** JSON with sorted keys, because another tool may have formatted the file. */
function ordered(value: unknown): string {
  const sorted = (_: string, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return JSON.stringify(value, sorted) ?? 'missing';
}

function formatJson(value: unknown): string {
  const text = ordered(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
