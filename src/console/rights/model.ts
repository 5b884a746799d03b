// What there is to have rights about, as the model has it: names of collections, fields, actions and charts, and no record.
// Administrators may see the structure of the database whatever their role shows (core/caller.ts), and could give themselves
// any right; so the names are read with an Access that hides none. It asks for descriptions alone, here and nowhere else.
import type { ActionDescription } from '../../agent/actions.ts';
import type { CollectionDescription, Engine } from '../../agent/engine.ts';
import { type Caller, fullAccess } from '../../core/caller.ts';
import { isBranch, type PlainFilter } from '../../core/filter.ts';
import { nearNames } from '../../core/near.ts';

export interface ModelNames {
  readonly collections: readonly string[];
  /** Undefined for one that is not there. */
  describe(collection: string): CollectionDescription | undefined;
  actions(collection: string): readonly ActionDescription[];
  /** Of the whole agent, or of one collection. */
  charts(collection?: string): readonly string[];
  /** Fields and relations; empty for a collection that is not there. */
  fields(collection: string): readonly string[];
  /** What of a filter does not exist, with what is near. */
  findUnknown(collection: string, filter: PlainFilter): readonly string[];
}

export function readModel(engine: Engine, caller: Caller): ModelNames {
  const access = fullAccess(caller);
  const collections = engine.index(access).map(({ name }) => name);
  const isThere = (collection: string) => collections.includes(collection);
  const describe = (collection: string) => (isThere(collection) ? engine.describe(access, collection) : undefined);
  const fields = (collection: string) => {
    const described = describe(collection);
    return described ? [...described.fields, ...described.relations].map(({ name }) => name) : [];
  };

  /** `relation:field`, one step after the other. */
  function findPath(collection: string, path: string): readonly string[] {
    const described = describe(collection);
    if (!described || described.fields.some(({ name }) => name === path)) return [];
    const relation = described.relations.find(({ name }) => path.startsWith(`${name}:`));
    if (!relation) return [unknown(collection, path, fields(collection))];
    return relation.fields ? [] : findPath(relation.to, path.slice(relation.name.length + 1));
  }

  return {
    collections,
    describe,
    fields,
    actions: (collection) => (isThere(collection) ? engine.actions.describe(access, collection) : []),
    charts: (collection) =>
      collection === undefined || isThere(collection) ? engine.charts.names(access, collection) : [],
    findUnknown: (collection, filter) => [...new Set(fieldsOf(filter).flatMap((field) => findPath(collection, field)))],
  };
}

function fieldsOf(filter: PlainFilter): readonly string[] {
  return isBranch(filter) ? filter.conditions.flatMap(fieldsOf) : [filter.field];
}

function unknown(collection: string, field: string, known: readonly string[]): string {
  const near = nearNames(field, known, 3);
  return `'${collection}': there is no field '${field}'.${near.length > 0 ? ` Near: ${near.join(', ')}.` : ''}`;
}
