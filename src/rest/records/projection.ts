// Decides which fields a request returns and their positions in the engine's rows. One statement reads the fields of
// the collection and of its relations to one. By default these are all visible columns of the collection and of every
// relation to one. The key is always included. Projections are cached by collection description.
import type { CollectionDescription } from '../../agent/requests.ts';
import { fail } from '../../core/errors.ts';
import { isCalled, nearNames } from '../../core/suggestions.ts';
import type { Shown, SortClause } from '../parameters.ts';
import { describe, firstOf, type Seeing } from '../visible-schema.ts';

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
  readonly wished: readonly string[];
  readonly root: Resource;
  /** Collections with several resources in one row. The same record can occur twice. */
  readonly repeated: ReadonlySet<string>;
}

const PROJECTIONS_KEPT = 200;
const projected = new WeakMap<CollectionDescription, Map<string, Projection>>();

/** Throws UNKNOWN_FIELD or RELATION_TO_MANY, and INVALID_ARGUMENT if `fields` names an unknown relation. */
export function project(seeing: Seeing, description: CollectionDescription, shown: Shown): Projection {
  const projections = projected.get(description) ?? new Map<string, Projection>();
  projected.set(description, projections);
  const id = JSON.stringify(shown.header ?? [...shown.fields]);
  const known = projections.get(id);
  if (known) return known;
  if (projections.size >= PROJECTIONS_KEPT) projections.clear();
  const made = layOut(plant(seeing, description, shown));
  projections.set(id, made);
  return made;
}

/** The requested fields before they have positions. */
interface Tree {
  readonly description: CollectionDescription;
  readonly columns: Set<string>;
  readonly toOne: Map<string, Tree>;
  /** The path of relations to this node: '' or `owner:`. */
  readonly before: string;
  /** Paths of the whole tree. */
  readonly wished: Set<string>;
}

function plant(seeing: Seeing, description: CollectionDescription, { header, fields }: Shown): Tree {
  const { name } = description;
  const root = growTree(description, '', new Set());
  if (header !== undefined) {
    for (const path of header.split(',')) if (path.trim() !== '') growPath(seeing, root, path.trim(), undefined);
    return root;
  }
  const relations = description.relations.map((relation) => relation.name);
  for (const of of fields.keys())
    if (of !== name && !relations.includes(of))
      fail('INVALID_ARGUMENT', {
        argument: `fields[${of}]`,
        problem: `'${of}' is neither '${name}' nor one of its relations.${nearText(of, [name, ...relations])}`,
      });
  const own = fields.get(name);
  if (own) for (const path of own) growPath(seeing, root, path, fields);
  else growEverything(seeing, root, fields);
  return root;
}

const nearText = (name: string, known: readonly string[]): string => {
  const near = nearNames(name, known);
  return near.length > 0 ? ` Near: ${near.join(', ')}.` : '';
};

function growTree(description: CollectionDescription, before: string, wished: Set<string>): Tree {
  return { description, columns: new Set(description.key), toOne: new Map(), before, wished };
}

function growColumn({ columns, before, wished }: Tree, name: string): void {
  columns.add(name);
  wished.add(before + name);
}

function growEverything(seeing: Seeing, tree: Tree, fields: Shown['fields']): void {
  growColumns(tree);
  // A resource without a key has no identifier.
  for (const { name, kind, to } of tree.description.relations)
    if (kind === 'one' && describe(seeing, to).key.length > 0) growRelation(seeing, tree, name, fields);
}

function growColumns(tree: Tree): void {
  for (const { name } of tree.description.fields) growColumn(tree, name);
}

/** A relation without a subfield includes the fields requested for it, or all its columns. */
function growRelation(seeing: Seeing, tree: Tree, name: string, fields: Shown['fields'] | undefined): void {
  const branch = branchOf(seeing, tree, name);
  const named = fields?.get(name);
  if (!named) growColumns(branch);
  else for (const path of named) growPath(seeing, branch, path, undefined);
}

function branchOf(seeing: Seeing, { description, toOne, before, wished }: Tree, name: string): Tree {
  const known = toOne.get(name);
  if (known) return known;
  const { to } = description.relations.find((relation) => isCalled(relation, name))!;
  const foreign = describe(seeing, to);
  if (foreign.key.length === 0)
    fail('INVALID_ARGUMENT', { argument: 'fields', problem: `'${name}' leads to '${to}', whose key you do not see.` });
  const branch = growTree(foreign, `${before}${name}:`, wished);
  toOne.set(name, branch);
  return branch;
}

/**
 * Throws UNKNOWN_FIELD or RELATION_TO_MANY. A path that ends at a relation to many adds no field, because its link is
 * always included. Records computed by code have no collection: they become an attribute with a list of objects.
 */
function growPath(seeing: Seeing, root: Tree, path: string, fields: Shown['fields'] | undefined): void {
  let tree = root;
  let rest = path;
  for (;;) {
    const { name, fields: columns, relations } = tree.description;
    // The name of a flattened field can contain the path separator.
    if (columns.some((column) => column.name === rest)) {
      growColumn(tree, rest);
      return;
    }
    const [first, further] = firstOf(rest);
    const relation = relations.find((one) => isCalled(one, first));
    if (!relation) {
      const names = [...columns, ...relations].map((field) => field.name);
      fail('UNKNOWN_FIELD', { collection: name, field: rest, near: nearNames(first, names) });
    }
    if (relation.kind === 'many') {
      if (relation.fields && further === undefined) growColumn(tree, first);
      if (relation.fields && further !== undefined)
        fail('INVALID_ARGUMENT', {
          argument: 'fields',
          problem: `'${rest}': records that code gives are shown whole; send '${first}'.`,
        });
      if (further === undefined) return;
      fail('RELATION_TO_MANY', { collection: name, relation: first, foreign: relation.to });
    }
    if (further === undefined) {
      growRelation(seeing, tree, relation.name, fields);
      return;
    }
    tree = branchOf(seeing, tree, relation.name);
    rest = further;
  }
}

function layOut(tree: Tree): Projection {
  const fields: string[] = [];
  const times = new Map<string, number>();
  const place = ({ description, columns, toOne, before }: Tree): Resource => {
    const { name, key, relations } = description;
    times.set(name, (times.get(name) ?? 0) + 1);
    const names = [...columns];
    const slots = names.map((column) => fields.push(before + column) - 1);
    return {
      collection: name,
      names,
      slots,
      key: key.map((column) => slots[names.indexOf(column)]!),
      toOne: [...toOne].map(([relation, branch]) => ({
        name: relation,
        resource: place(branch),
      })),
      toMany: key.length > 0 ? relations.filter(({ kind }) => kind === 'many').map((relation) => relation.name) : [],
    };
  };
  const root = place(tree);
  const repeated = new Set([...times].filter(([, count]) => count > 1).map(([name]) => name));
  return { fields, wished: [...tree.wished], root, repeated };
}

/** Converts sort paths: `customer.name` means `customer:name`, unless a field has that exact name. */
export function sortOf({ fields }: CollectionDescription, clauses: readonly SortClause[]) {
  return clauses.map(({ text, ascending }) => ({
    field: fields.some(({ name }) => name === text) ? text : text.replaceAll('.', ':'),
    ascending,
  }));
}
