// Caches the collection descriptions visible to a caller. An entry lives as long as the Access, which belongs to one
// version of the permissions, and as long as the engine's build.
import type { Engine } from '../agent/engine.ts';
import type { CollectionDescription } from '../agent/requests.ts';
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import { isCalled, nearNames } from '../core/suggestions.ts';
import type { DataCall } from './route.ts';

interface Kept {
  readonly build: object;
  readonly descriptions: Map<string, CollectionDescription>;
}

export type Seeing = Pick<DataCall, 'access'> & { readonly engine: Pick<Engine, 'describe' | 'build'> };

const kept = new WeakMap<Access, Kept>();

function keptOf({ access, engine: { build } }: Seeing): Kept {
  let known = kept.get(access);
  if (known?.build !== build) {
    known = { build, descriptions: new Map() };
    kept.set(access, known);
  }
  return known;
}

/** Throws UNKNOWN_COLLECTION. */
export function describe(seeing: Seeing, collection: string): CollectionDescription {
  const { descriptions } = keptOf(seeing);
  let known = descriptions.get(collection);
  if (!known) {
    known = seeing.engine.describe(seeing.access, collection);
    descriptions.set(collection, known);
  }
  return known;
}

/**
 * Describes the records of a relation: a collection, or records computed by code, which have no collection. Throws
 * UNKNOWN_RELATION.
 */
export function describeRelated(seeing: Seeing, home: CollectionDescription, relation: string): Related {
  const found = home.relations.find((each) => isCalled(each, relation));
  if (!found) {
    const names = home.relations.map(({ name }) => name);
    return fail('UNKNOWN_RELATION', { collection: home.name, relation, near: nearNames(relation, names) });
  }
  const { kind, to, fields } = found;
  if (!fields) return { kind, description: describe(seeing, to), rights: to };
  const { descriptions } = keptOf(seeing);
  // The separator cannot occur in a collection name.
  const id = `${home.name}\0${relation}`;
  const description = descriptions.get(id) ?? describeGiven(relation, fields);
  descriptions.set(id, description);
  return { kind, description, rights: home.name };
}

export interface Related {
  readonly kind: 'one' | 'many';
  readonly description: CollectionDescription;
  /** The collection for checks of rights. For records computed by code, it is the source collection. */
  readonly rights: string;
}

function describeGiven(name: string, fields: Readonly<Record<string, string>>): CollectionDescription {
  const column = { nullable: true, readOnly: true, required: false, isKey: false, sortable: true, operators: [] };
  return {
    name,
    kind: 'view',
    key: [],
    fields: Object.entries(fields).map(([field, type]) => ({ name: field, type, ...column })),
    relations: [],
    segments: [],
    searchable: true,
    countable: true,
    permissions: { add: false, edit: false, delete: false },
  };
}

/**
 * Returns the type of the field at the end of a path, as in the description. Undefined if the field is missing or not
 * visible.
 */
export function typeAt(seeing: Seeing, collection: CollectionDescription, path: string): string | undefined {
  let at = collection;
  let rest = path;
  for (;;) {
    const column = at.fields.find(({ name }) => name === rest);
    if (column) return column.type;
    const [first, further] = firstOf(rest);
    const relation = at.relations.find((each) => isCalled(each, first));
    if (!relation || relation.fields || further === undefined) return undefined;
    at = describe(seeing, relation.to);
    rest = further;
  }
}

/** Splits a path into its first name and the rest. */
export function firstOf(path: string): readonly [first: string, further: string | undefined] {
  const at = path.indexOf(':');
  return at < 0 ? [path, undefined] : [path.slice(0, at), path.slice(at + 1)];
}
