// Decides which fields a request returns and their positions in the engine's rows. One statement reads the fields of
// the collection and of its relations to one. By default these are all visible columns of the collection and of every
// relation to one. The key is always included. Projections are cached by collection description.
import type { CollectionDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { hasName, suggestNames } from '../../core/suggestions.ts';
import type { FieldSelection, SortClause } from '../parameters.ts';
import { describe, splitFirst, type VisibleSchema } from '../visible-schema.ts';

/** One resource of each row. */
export interface Resource {
  readonly collection: string;
  /** Attributes, and their positions in the row. */
  readonly names: readonly string[];
  readonly slots: readonly number[];
  /** Positions of the key. Empty if the collection has no key visible to the caller. */
  readonly key: readonly number[];
  readonly toOne: readonly { readonly name: string; readonly resource: Resource }[];
  readonly toMany: readonly string[];
}

export interface Projection {
  /** The fields for the engine request. */
  readonly fields: readonly string[];
  /** The requested fields in their order, without added keys. */
  readonly requestedFields: readonly string[];
  readonly root: Resource;
  /** Collections with several resources in one row. The same record can occur twice. */
  readonly repeated: ReadonlySet<string>;
}

const MAX_CACHED_PROJECTIONS = 200;
const projectionCache = new WeakMap<CollectionDescription, Map<string, Projection>>();

/** Throws UNKNOWN_FIELD or RELATION_TO_MANY, and INVALID_ARGUMENT if `fields` names an unknown relation. */
export function project(
  schema: VisibleSchema,
  description: CollectionDescription,
  selection: FieldSelection,
): Projection {
  const projections = projectionCache.get(description) ?? new Map<string, Projection>();
  projectionCache.set(description, projections);
  const id = JSON.stringify(selection.header ?? [...selection.fields]);
  const cached = projections.get(id);
  if (cached) return cached;
  if (projections.size >= MAX_CACHED_PROJECTIONS) projections.clear();
  const created = createProjection(buildTree(schema, description, selection));
  projections.set(id, created);
  return created;
}

/** The requested fields before they have positions. */
interface Tree {
  readonly description: CollectionDescription;
  readonly columns: Set<string>;
  readonly toOne: Map<string, Tree>;
  /** The path of relations to this node: '' or `owner:`. */
  readonly prefix: string;
  /** Paths of the whole tree. */
  readonly requestedFields: Set<string>;
}

function buildTree(
  schema: VisibleSchema,
  description: CollectionDescription,
  { header, fields }: FieldSelection,
): Tree {
  const { name } = description;
  const root = createTree(description, '', new Set());
  if (header !== undefined) {
    for (const path of header.split(',')) if (path.trim() !== '') addPath(schema, root, path.trim(), undefined);
    return root;
  }
  const relations = description.relations.map((relation) => relation.name);
  for (const owner of fields.keys())
    if (owner !== name && !relations.includes(owner))
      fail('INVALID_ARGUMENT', {
        argument: `fields[${owner}]`,
        problem: `'${owner}' is neither '${name}' nor one of its relations.${formatSuggestions(owner, [name, ...relations])}`,
      });
  const own = fields.get(name);
  if (own) for (const path of own) addPath(schema, root, path, fields);
  else addDefaultFields(schema, root, fields);
  return root;
}

const formatSuggestions = (name: string, known: readonly string[]): string => {
  const near = suggestNames(name, known);
  return near.length > 0 ? ` Near: ${near.join(', ')}.` : '';
};

function createTree(description: CollectionDescription, prefix: string, requestedFields: Set<string>): Tree {
  return { description, columns: new Set(description.key), toOne: new Map(), prefix, requestedFields };
}

function addColumn({ columns, prefix, requestedFields }: Tree, name: string): void {
  columns.add(name);
  requestedFields.add(prefix + name);
}

function addDefaultFields(schema: VisibleSchema, tree: Tree, fields: FieldSelection['fields']): void {
  addColumns(tree);
  // A resource without a key has no identifier.
  for (const { name, kind, to } of tree.description.relations)
    if (kind === 'one' && describe(schema, to).key.length > 0) addRelation(schema, tree, name, fields);
}

function addColumns(tree: Tree): void {
  for (const { name, hiddenByDefault } of tree.description.fields) if (!hiddenByDefault) addColumn(tree, name);
}

/** A relation without a subfield includes the fields requested for it, or all its columns. */
function addRelation(
  schema: VisibleSchema,
  tree: Tree,
  name: string,
  fields: FieldSelection['fields'] | undefined,
): void {
  const branch = branchOf(schema, tree, name);
  const requested = fields?.get(name);
  if (!requested) addColumns(branch);
  else for (const path of requested) addPath(schema, branch, path, undefined);
}

function branchOf(schema: VisibleSchema, { description, toOne, prefix, requestedFields }: Tree, name: string): Tree {
  const existing = toOne.get(name);
  if (existing) return existing;
  const { to } = description.relations.find((relation) => hasName(relation, name))!;
  const target = describe(schema, to);
  if (target.key.length === 0)
    fail('INVALID_ARGUMENT', {
      argument: 'fields',
      problem: `'${name}' leads to '${to}', and you may not see its key.`,
    });
  const branch = createTree(target, `${prefix}${name}:`, requestedFields);
  toOne.set(name, branch);
  return branch;
}

/**
 * Throws UNKNOWN_FIELD or RELATION_TO_MANY. A path that ends at a relation to many adds no field, because its link is
 * always included. Records computed by code have no collection: they become an attribute with a list of objects.
 */
function addPath(schema: VisibleSchema, root: Tree, path: string, fields: FieldSelection['fields'] | undefined): void {
  let tree = root;
  let rest = path;
  for (;;) {
    const { name, fields: columns, relations } = tree.description;
    // The name of a flattened field can contain the path separator.
    if (columns.some((column) => column.name === rest)) {
      addColumn(tree, rest);
      return;
    }
    const [first, remaining] = splitFirst(rest);
    const relation = relations.find((candidate) => hasName(candidate, first));
    if (!relation) {
      const names = [...columns, ...relations].map((field) => field.name);
      fail('UNKNOWN_FIELD', { collection: name, field: rest, near: suggestNames(first, names) });
    }
    if (relation.kind === 'many') {
      if (relation.fields && remaining === undefined) addColumn(tree, first);
      if (relation.fields && remaining !== undefined)
        fail('INVALID_ARGUMENT', {
          argument: 'fields',
          problem: `'${rest}': records computed by code are always complete; send '${first}'.`,
        });
      if (remaining === undefined) return;
      fail('RELATION_TO_MANY', { collection: name, relation: first, foreign: relation.to });
    }
    if (remaining === undefined) {
      addRelation(schema, tree, relation.name, fields);
      return;
    }
    tree = branchOf(schema, tree, relation.name);
    rest = remaining;
  }
}

function createProjection(tree: Tree): Projection {
  const fields: string[] = [];
  const occurrences = new Map<string, number>();
  const layOutResource = ({ description, columns, toOne, prefix }: Tree): Resource => {
    const { name, key, relations } = description;
    occurrences.set(name, (occurrences.get(name) ?? 0) + 1);
    const names = [...columns];
    const slots = names.map((column) => fields.push(prefix + column) - 1);
    return {
      collection: name,
      names,
      slots,
      key: key.map((column) => slots[names.indexOf(column)]!),
      toOne: [...toOne].map(([relation, branch]) => ({
        name: relation,
        resource: layOutResource(branch),
      })),
      toMany: key.length > 0 ? relations.filter(({ kind }) => kind === 'many').map((relation) => relation.name) : [],
    };
  };
  const root = layOutResource(tree);
  const repeated = new Set([...occurrences].filter(([, count]) => count > 1).map(([name]) => name));
  return { fields, requestedFields: [...tree.requestedFields], root, repeated };
}

/** Converts sort paths: `customer.name` means `customer:name`, unless a field has that exact name. */
export function toSort({ fields }: CollectionDescription, clauses: readonly SortClause[]) {
  return clauses.map(({ text, ascending }) => ({
    field: fields.some(({ name }) => name === text) ? text : text.replaceAll('.', ':'),
    ascending,
  }));
}
