// What of a record is shown, and where in a row of the engine each value stands: the fields of the collection and, through
// relations to one, those of others, all read by one statement. Without a wish: every visible column, and those of every
// relation to one, as front ends expect. The key is always there. Kept with the description that it was made of.
import type { CollectionDescription } from '../agent/engine.ts';
import { fail } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import type { Shown, SortClause } from './parameters.ts';
import { describe, firstOf, type Seeing } from './seen.ts';

/** One resource of each row. */
export interface Resource {
  readonly collection: string;
  /** Attributes, and where in the row they are. */
  readonly names: readonly string[];
  readonly slots: readonly number[];
  /** Where the key is; empty where the collection has none that the caller sees. */
  readonly key: readonly number[];
  readonly toOne: readonly { readonly name: string; readonly resource: Resource }[];
  readonly toMany: readonly string[];
}

export interface Projection {
  /** For the engine. */
  readonly fields: readonly string[];
  /** Those that were wished for, in that order: without the keys that were not. */
  readonly wished: readonly string[];
  readonly root: Resource;
  /** Collections of which a row holds several resources: one of them may come twice. */
  readonly repeated: ReadonlySet<string>;
}

const PROJECTIONS_KEPT = 200;
const projected = new WeakMap<CollectionDescription, Map<string, Projection>>();

/** UNKNOWN_FIELD, RELATION_TO_MANY; INVALID_ARGUMENT for `fields` of what is no relation. */
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

/** What is wished for, before it has its place. */
interface Tree {
  readonly description: CollectionDescription;
  readonly columns: Set<string>;
  readonly toOne: Map<string, Tree>;
  /** The relations up to here: '' or `owner:`. */
  readonly before: string;
  /** Of the whole tree: paths. */
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

/** The key is always shown. */
function growTree(description: CollectionDescription, before: string, wished: Set<string>): Tree {
  return { description, columns: new Set(description.key), toOne: new Map(), before, wished };
}

function growColumn({ columns, before, wished }: Tree, name: string): void {
  columns.add(name);
  wished.add(before + name);
}

function growEverything(seeing: Seeing, tree: Tree, fields: Shown['fields']): void {
  growColumns(tree);
  // A resource without a key cannot be pointed to.
  for (const { name, kind, to } of tree.description.relations)
    if (kind === 'one' && describe(seeing, to).key.length > 0) growRelation(seeing, tree, name, fields);
}

function growColumns(tree: Tree): void {
  for (const { name } of tree.description.fields) growColumn(tree, name);
}

/** A relation named alone: the fields that are named for it, else all columns. */
function growRelation(seeing: Seeing, tree: Tree, name: string, fields: Shown['fields'] | undefined): void {
  const branch = branchOf(seeing, tree, name);
  const named = fields?.get(name);
  if (!named) growColumns(branch);
  else for (const path of named) growPath(seeing, branch, path, undefined);
}

function branchOf(seeing: Seeing, { description, toOne, before, wished }: Tree, name: string): Tree {
  const known = toOne.get(name);
  if (known) return known;
  const { to } = description.relations.find((relation) => relation.name === name)!;
  const foreign = describe(seeing, to);
  if (foreign.key.length === 0)
    fail('INVALID_ARGUMENT', { argument: 'fields', problem: `'${name}' leads to '${to}', whose key you do not see.` });
  const branch = growTree(foreign, `${before}${name}:`, wished);
  toOne.set(name, branch);
  return branch;
}

/** UNKNOWN_FIELD, RELATION_TO_MANY; a relation to many named alone is there anyway, as a link. */
function growPath(seeing: Seeing, root: Tree, path: string, fields: Shown['fields'] | undefined): void {
  let tree = root;
  let rest = path;
  for (;;) {
    const { name, fields: columns, relations } = tree.description;
    // The name of a flattened field may hold what parts a path.
    if (columns.some((column) => column.name === rest)) {
      growColumn(tree, rest);
      return;
    }
    const [first, further] = firstOf(rest);
    const relation = relations.find((one) => one.name === first);
    if (!relation) {
      const names = [...columns, ...relations].map((field) => field.name);
      fail('UNKNOWN_FIELD', { collection: name, field: rest, near: nearNames(first, names) });
    }
    if (relation.kind === 'many') {
      if (further === undefined) return;
      fail('RELATION_TO_MANY', { collection: name, relation: first, foreign: relation.to });
    }
    if (further === undefined) {
      growRelation(seeing, tree, first, fields);
      return;
    }
    tree = branchOf(seeing, tree, first);
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

/** Paths of a sort: `customer.name` and `customer:name` are the same, but where a field has such a name itself. */
export function sortOf({ fields }: CollectionDescription, clauses: readonly SortClause[]) {
  return clauses.map(({ text, ascending }) => ({
    field: fields.some(({ name }) => name === text) ? text : text.replaceAll('.', ':'),
    ascending,
  }));
}
