// The schema file (agent/artifacts/schema-file.ts) as the test client uses it: targets of relations and endpoints of
// actions. The file is reloaded when it changes, because a restarted agent rewrites it.
import { readFileSync, statSync } from 'node:fs';
import { fail } from '../core/errors.ts';
import { suggestNames } from '../core/suggestions.ts';

interface SchemaField {
  readonly field: string;
  readonly isPrimaryKey: boolean;
  readonly type: unknown;
  /** `collection.key`, for relations. */
  readonly reference: string | null;
  readonly relationship?: 'BelongsTo' | 'HasOne' | 'HasMany' | 'BelongsToMany';
}

interface SchemaAction {
  readonly name: string;
  readonly type: 'single' | 'bulk' | 'global';
  /** Path with the prefix of the HTTP API. */
  readonly endpoint: string;
}

interface SchemaCollection {
  readonly name: string;
  readonly fields: readonly SchemaField[];
  readonly actions: readonly SchemaAction[];
  readonly segments: readonly { readonly name: string }[];
}

export interface Schema {
  /** Throws CONFIGURATION, with similar names, for an unknown name; so do `action` and `relation`. */
  collection(name: string): SchemaCollection;
  action(collection: string, name: string): SchemaAction;
  relation(collection: string, name: string): SchemaRelation;
  /** Undefined if the field is not a relation. */
  findRelation(collection: string, name: string): SchemaRelation | undefined;
  /** Key columns, in key order. */
  keyOf(collection: string): readonly string[];
}

interface SchemaRelation {
  readonly name: string;
  readonly target: string;
  readonly isMany: boolean;
}

/** Throws CONFIGURATION when the file is missing or is not a schema. */
export function openSchema(path: string): Schema {
  let read: { readonly mark: string; readonly collections: readonly SchemaCollection[] } | undefined;
  const collections = (): readonly SchemaCollection[] => {
    const mark = fileVersion(path);
    if (read?.mark !== mark) read = { mark, collections: readCollections(path) };
    return read.collections;
  };
  const pick = <Item>(items: readonly Item[], nameOf: (item: Item) => string, name: string, what: string): Item => {
    const found = items.find((item) => nameOf(item) === name);
    if (found) return found;
    const names = items.map(nameOf);
    const near = suggestNames(name, names);
    const hint = near.length ? `Near: ${near.join(', ')}.` : `There are: ${names.join(', ') || 'none'}.`;
    return fail('CONFIGURATION', { problem: `The schema (${path}) has no ${what} '${name}'. ${hint}` });
  };
  const collection = (name: string) => pick(collections(), (one) => one.name, name, 'collection');
  const relations = (name: string) => collection(name).fields.flatMap(relationOf);
  const computedRelations = (name: string) => collection(name).fields.flatMap(computedRelationOf);
  collections();
  return {
    collection,
    action: (of, name) => pick(collection(of).actions, (one) => one.name, name, `action of '${of}' called`),
    relation: (of, name) =>
      pick([...relations(of), ...computedRelations(of)], (one) => one.name, name, `relation of '${of}' called`),
    findRelation: (of, name) => relations(of).find((one) => one.name === name),
    keyOf: (of) =>
      collection(of)
        .fields.filter(({ isPrimaryKey }) => isPrimaryKey)
        .map(({ field }) => field),
  };
}

function relationOf({ field, relationship, reference }: SchemaField): SchemaRelation[] {
  if (relationship === undefined || reference === null) return [];
  // Collection names may contain a dot; names of key columns rarely do.
  const target = reference.slice(0, reference.lastIndexOf('.'));
  return [{ name: field, target, isMany: relationship.endsWith('Many') }];
}

/**
 * A field with records computed by code: its type is a list of one object with `fields`. These records are read-only.
 */
function computedRelationOf({ field, type }: SchemaField): SchemaRelation[] {
  const [item] = Array.isArray(type) ? (type as readonly unknown[]) : [];
  const isComputed = typeof item === 'object' && item !== null && 'fields' in item;
  return isComputed ? [{ name: field, target: field, isMany: true }] : [];
}

function fileVersion(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.mtimeMs} ${found.size}` : 'none';
}

function readCollections(path: string): readonly SchemaCollection[] {
  const refuse = (problem: string, cause?: unknown): never =>
    fail('CONFIGURATION', { problem: `agentSchemaPath: ${path} ${problem}` }, cause);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    return refuse('cannot be read. Start the agent first: it writes the schema there (its option schemaPath).', cause);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    return refuse('is not JSON. Give the path of the schema file that the agent writes.', cause);
  }
  const { collections } = (parsed ?? {}) as { readonly collections?: unknown };
  if (!Array.isArray(collections)) return refuse('has no collections. Give the path of the schema file of the agent.');
  return collections as readonly SchemaCollection[];
}
