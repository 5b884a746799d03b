// The schema file (agent/schema-file.ts) as a test client needs it: which relation leads where, and where actions lie. It is
// read anew whenever the file has changed, since a restarted agent writes it.
import { readFileSync, statSync } from 'node:fs';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';

export interface SchemaField {
  readonly field: string;
  readonly isPrimaryKey: boolean;
  /** `collection.key`, of relations. */
  readonly reference: string | null;
  readonly relationship?: 'BelongsTo' | 'HasOne' | 'HasMany' | 'BelongsToMany';
}

export interface SchemaAction {
  readonly name: string;
  readonly type: 'single' | 'bulk' | 'global';
  /** With the prefix of the HTTP API. */
  readonly endpoint: string;
}

export interface SchemaCollection {
  readonly name: string;
  readonly fields: readonly SchemaField[];
  readonly actions: readonly SchemaAction[];
  readonly segments: readonly { readonly name: string }[];
}

export interface Schema {
  /** CONFIGURATION, with near names, for what the schema does not have; so for the others. */
  collection(name: string): SchemaCollection;
  action(collection: string, name: string): SchemaAction;
  relation(collection: string, name: string): SchemaRelation;
  /** Undefined where the field is none. */
  findRelation(collection: string, name: string): SchemaRelation | undefined;
  /** The columns of the key, in its order. */
  keyOf(collection: string): readonly string[];
}

export interface SchemaRelation {
  readonly name: string;
  readonly foreign: string;
  readonly isMany: boolean;
}

/** CONFIGURATION when the file is missing or is no schema. */
export function openSchema(path: string): Schema {
  let read: { readonly mark: string; readonly collections: readonly SchemaCollection[] } | undefined;
  const collections = (): readonly SchemaCollection[] => {
    const mark = markOf(path);
    if (read?.mark !== mark) read = { mark, collections: readCollections(path) };
    return read.collections;
  };
  const pick = <Item>(items: readonly Item[], nameOf: (item: Item) => string, name: string, what: string): Item => {
    const found = items.find((item) => nameOf(item) === name);
    if (found) return found;
    const names = items.map(nameOf);
    const near = nearNames(name, names);
    const offer = near.length ? `Near: ${near.join(', ')}.` : `There are: ${names.join(', ') || 'none'}.`;
    return fail('CONFIGURATION', { problem: `The schema (${path}) has no ${what} '${name}'. ${offer}` });
  };
  const collection = (name: string) => pick(collections(), (one) => one.name, name, 'collection');
  const relations = (name: string) => collection(name).fields.flatMap(relationOf);
  collections();
  return {
    collection,
    action: (of, name) => pick(collection(of).actions, (one) => one.name, name, `action of '${of}' called`),
    relation: (of, name) => pick(relations(of), (one) => one.name, name, `relation of '${of}' called`),
    findRelation: (of, name) => relations(of).find((one) => one.name === name),
    keyOf: (of) =>
      collection(of)
        .fields.filter(({ isPrimaryKey }) => isPrimaryKey)
        .map(({ field }) => field),
  };
}

function relationOf({ field, relationship, reference }: SchemaField): SchemaRelation[] {
  if (relationship === undefined || reference === null) return [];
  // Names of collections may hold a dot; names of the columns of a key rarely do.
  const foreign = reference.slice(0, reference.lastIndexOf('.'));
  return [{ name: field, foreign, isMany: relationship.endsWith('Many') }];
}

function markOf(path: string): string {
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
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch (cause) {
    return refuse('is not JSON. Give the path of the schema file that the agent writes.', cause);
  }
  const { collections } = (given ?? {}) as { readonly collections?: unknown };
  if (!Array.isArray(collections)) return refuse('has no collections. Give the path of the schema file of the agent.');
  return collections as readonly SchemaCollection[];
}
