// Caches the collection descriptions visible to a caller. An entry lives as long as the Access, which belongs to one
// version of the permissions, and as long as the engine's build.
import type { Engine } from '../agent/engine.ts';
import type { CollectionDescription } from '../agent/requests.ts';
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import { hasName, suggestNames } from '../core/suggestions.ts';
import type { DataCall } from './route.ts';

interface CachedSchema {
  readonly build: object;
  readonly descriptions: Map<string, CollectionDescription>;
}

export type VisibleSchema = Pick<DataCall, 'access'> & { readonly engine: Pick<Engine, 'describe' | 'build'> };

const schemaCache = new WeakMap<Access, CachedSchema>();

function cachedSchemaOf({ access, engine: { build } }: VisibleSchema): CachedSchema {
  let cached = schemaCache.get(access);
  if (cached?.build !== build) {
    cached = { build, descriptions: new Map() };
    schemaCache.set(access, cached);
  }
  return cached;
}

/** Throws UNKNOWN_COLLECTION. */
export function describe(schema: VisibleSchema, collection: string): CollectionDescription {
  const { descriptions } = cachedSchemaOf(schema);
  let description = descriptions.get(collection);
  if (!description) {
    description = schema.engine.describe(schema.access, collection);
    descriptions.set(collection, description);
  }
  return description;
}

/**
 * Describes the records of a relation: a collection, or records computed by code, which have no collection. Throws
 * UNKNOWN_RELATION.
 */
export function describeRelated(schema: VisibleSchema, source: CollectionDescription, relation: string): Related {
  const found = source.relations.find((each) => hasName(each, relation));
  if (!found) {
    const names = source.relations.map(({ name }) => name);
    return fail('UNKNOWN_RELATION', { collection: source.name, relation, near: suggestNames(relation, names) });
  }
  const { kind, to, fields } = found;
  if (!fields) return { kind, description: describe(schema, to), rights: to };
  const { descriptions } = cachedSchemaOf(schema);
  // The separator cannot occur in a collection name.
  const id = `${source.name}\0${relation}`;
  const description = descriptions.get(id) ?? describeExternal(relation, fields);
  descriptions.set(id, description);
  return { kind, description, rights: source.name };
}

export interface Related {
  readonly kind: 'one' | 'many';
  readonly description: CollectionDescription;
  /** The collection for checks of rights. For records computed by code, it is the source collection. */
  readonly rights: string;
}

function describeExternal(name: string, fields: Readonly<Record<string, string>>): CollectionDescription {
  const column = { nullable: true, readOnly: true, required: false, isKey: false, sortable: true, operators: [] };
  return {
    name,
    kind: 'view',
    key: [],
    fields: Object.entries(fields).map(([field, type]) => ({ name: field, type, ...column })),
    relations: [],
    segments: [],
    metrics: [],
    searchable: true,
    countable: true,
    permissions: { add: false, edit: false, delete: false },
  };
}

/**
 * Returns the type of the field at the end of a path, as in the description. Undefined if the field is missing or not
 * visible.
 */
export function typeAt(schema: VisibleSchema, collection: CollectionDescription, path: string): string | undefined {
  let current = collection;
  let rest = path;
  for (;;) {
    const column = current.fields.find(({ name }) => name === rest);
    if (column) return column.type;
    const [first, remaining] = splitFirst(rest);
    const relation = current.relations.find((each) => hasName(each, first));
    if (!relation || relation.fields || remaining === undefined) return undefined;
    current = describe(schema, relation.to);
    rest = remaining;
  }
}

/** Splits a path into its first name and the rest. */
export function splitFirst(path: string): readonly [first: string, further: string | undefined] {
  const at = path.indexOf(':');
  return at < 0 ? [path, undefined] : [path.slice(0, at), path.slice(at + 1)];
}
