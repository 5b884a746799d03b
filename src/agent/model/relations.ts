// Builds relations from foreign keys: a to-one relation on the collection that holds the key, and its inverse on the
// other. A name depends only on table and column names, never on their order. If relations or columns would share a
// name, each relation takes the long form `<target>_through_<columns>`.
import type { DescribedForeignKey, DescribedReference } from '../sources/described.ts';
import { findBetterNames, type NamedReference } from './relation-names.ts';
import type { Collection, Column, KeyPair, ReferencingCollection, Relation } from './types.ts';

/** One foreign key with its resolved collections. */
export interface Reference {
  readonly owner: Collection;
  readonly target: Collection;
  readonly on: readonly KeyPair[];
  /** No record can be without its target. */
  readonly isComplete: boolean;
}

interface RelationDraft {
  readonly home: Collection;
  readonly short: string;
  readonly long: string;
  readonly make: (name: string) => Relation;
}

/** By collection and original name. */
type Named = Map<Collection, Map<string, Relation>>;

interface BuiltRelations {
  /** Ordered by their original names. */
  readonly relations: ReadonlyMap<Collection, readonly Relation[]>;
  /** Better names for callers, for some of them. */
  readonly better: Map<Collection, Map<string, string>>;
}

/** Undefined if the target is not part of the model, or if the referenced columns are not unique. */
export function findReference(
  owner: Collection,
  target: Collection | undefined,
  foreignKey: DescribedForeignKey,
): Reference | undefined {
  if (!target) return undefined;
  const { isValidated } = foreignKey;
  const on: KeyPair[] = [];
  for (const [index, name] of foreignKey.columns.entries()) {
    const from = owner.internalFields.get(name);
    const to = target.internalFields.get(foreignKey.targetColumns[index] ?? '');
    if (from?.kind !== 'column' || to?.kind !== 'column') return undefined;
    on.push(Object.freeze({ from, to }));
  }
  return isUnique(
    target,
    on.map((pair) => pair.to.name),
  )
    ? {
        owner,
        target,
        on: Object.freeze(on),
        isComplete: isValidated === true && on.every(({ from }) => !from.nullable),
      }
    : undefined;
}

/**
 * Returns the relations of every collection, ordered by name, without changing the collections. Many-to-many relations
 * are named last, so they do not affect other names.
 */
export function buildRelations(references: readonly Reference[]): BuiltRelations {
  const built: Named = new Map();
  const sides = references.map((reference) => [createToOne(reference), createInverse(reference)] as const);
  const names = nameRelations(sides.flat(), built);
  nameRelations(
    findJunctions(references).flatMap(([one, other]) => [createManyToMany(one, other), createManyToMany(other, one)]),
    built,
  );
  const named = references.map((reference, at): NamedReference => {
    const side = (wanted: RelationDraft) => ({ name: names.get(wanted)!, isLong: names.get(wanted) !== wanted.short });
    const column = reference.on.length === 1 ? reference.on[0]!.from.column : undefined;
    return { ...reference, column, one: side(sides[at]![0]), other: side(sides[at]![1]) };
  });
  const taken = (home: Collection, name: string) => home.internalFields.has(name) || built.get(home)!.has(name);
  const sorted = [...built].map(
    ([home, relations]) => [home, [...relations.values()].sort((a, b) => (a.name < b.name ? -1 : 1))] as const,
  );
  return { relations: new Map(sorted), better: findBetterNames(named, taken) };
}

/** Assigns the name of each relation. */
function nameRelations(drafts: readonly RelationDraft[], built: Named): Map<RelationDraft, string> {
  const names = new Map<RelationDraft, string>();
  const claims = new Map<Collection, Map<string, number>>();
  for (const { home, short } of drafts) {
    const names = claims.get(home) ?? new Map<string, number>();
    claims.set(home, names.set(short, (names.get(short) ?? 0) + 1));
  }
  for (const each of drafts) {
    const { home, short, long, make } = each;
    const relations = built.get(home) ?? new Map<string, Relation>();
    const taken = (name: string) => home.internalFields.has(name) || relations.has(name);
    let name = claims.get(home)!.get(short) === 1 && !taken(short) ? short : long;
    for (let count = 2; taken(name); count++) name = `${long}_${count}`;
    built.set(home, relations.set(name, make(name)));
    names.set(each, name);
  }
  return names;
}

/** The two references of each collection that only holds pairs. */
function findJunctions(references: readonly Reference[]): (readonly [Reference, Reference])[] {
  const byOwner = new Map<Collection, Reference[]>();
  for (const reference of references) {
    const known = byOwner.get(reference.owner) ?? [];
    byOwner.set(reference.owner, [...known, reference]);
  }
  return [...byOwner.values()].flatMap(([one, other, ...more]) =>
    one && other && more.length === 0 && isJunction(one, other) ? [[one, other] as const] : [],
  );
}

/** True if each pair is unique and a new pair needs no other values. */
function isJunction(one: Reference, other: Reference): boolean {
  const { owner } = one;
  const columns = [...one.on, ...other.on].map(({ from }) => from);
  if (owner.kind === 'view' || new Set(columns).size < columns.length) return false;
  const isPair = (key: readonly Column[]) =>
    key.length === columns.length && key.every((each) => columns.includes(each));
  return (
    owner.uniqueKeys.some(isPair) &&
    [...owner.internalFields.values()].every(
      (field) => field.kind !== 'column' || !field.required || columns.includes(field),
    )
  );
}

function createManyToMany(origin: Reference, foreign: Reference): RelationDraft {
  const { owner: collection } = origin;
  const inverted = Object.freeze(origin.on.map((pair) => Object.freeze({ from: pair.to, to: pair.from })));
  const through = Object.freeze({ collection, origin: inverted, foreign: foreign.on });
  const columns = foreign.on.map((pair) => pair.from.name);
  const none = Object.freeze([]);
  return {
    home: origin.target,
    short: relationName(foreign.target.name),
    long: relationName(`${foreign.target.name}_through_${collection.name}_${columns.join('_')}`),
    make: (name) =>
      Object.freeze({
        kind: 'many',
        name,
        to: foreign.target,
        on: none,
        inverse: true,
        reach: 'join',
        enforced: true,
        through,
      }),
  };
}

function createToOne({ owner, target, on, isComplete }: Reference): RelationDraft {
  const columns = on.map((pair) => pair.from.name);
  const stem = columns.length === 1 ? columns[0]!.replace(/(?<=.)(?:_id|Id|_ID)$/, '') : columns[0]!;
  return {
    home: owner,
    short: relationName(columns.length === 1 && stem !== columns[0] ? stem : target.name),
    long: relationName(`${target.name}_through_${columns.join('_')}`),
    make: (name) =>
      Object.freeze({
        ...{ kind: 'one', name, to: target, on, inverse: false, reach: 'join', enforced: true },
        ...(isComplete && { isComplete }),
      }),
  };
}

function createInverse({ owner, target, on }: Reference): RelationDraft {
  const columns = on.map((pair) => pair.from.name);
  const inverted = Object.freeze(on.map((pair) => Object.freeze({ from: pair.to, to: pair.from })));
  const kind = isUnique(owner, columns) ? 'one' : 'many';
  return {
    home: target,
    short: relationName(owner.name),
    long: relationName(`${owner.name}_through_${columns.join('_')}`),
    make: (name) =>
      Object.freeze({ kind, name, to: owner, on: inverted, inverse: true, reach: 'join', enforced: true }),
  };
}

/** A colon separates the parts of a path. */
function relationName(text: string): string {
  return text.replaceAll(':', '_');
}

function isUnique(collection: Collection, columns: readonly string[]): boolean {
  return collection.uniqueKeys.some((key) => key.every((column) => columns.includes(column.name)));
}

/** Null if a column of the key is not served. */
export function toReferencingCollection(
  holder: Collection,
  target: Collection,
  reference: DescribedReference,
): ReferencingCollection | null {
  const { columns, targetColumns, setColumns = columns } = reference;
  const on: KeyPair[] = [];
  for (const [at, name] of columns.entries()) {
    const from = holder.internalFields.get(name);
    const to = target.internalFields.get(targetColumns[at]!);
    if (from?.kind !== 'column' || to?.kind !== 'column') return null;
    on.push(Object.freeze({ from, to }));
  }
  const set = on.flatMap(({ from }) => (setColumns.includes(from.column) ? [from] : []));
  const relation: Relation = Object.freeze({
    kind: 'one',
    // Databases do not allow NUL in a name, so this name is unique.
    name: `\0${JSON.stringify([target.name, columns])}`,
    to: target,
    on: Object.freeze(on),
    inverse: false,
    reach: 'join',
    enforced: true,
  });
  return Object.freeze({ collection: holder, relation, setColumns: Object.freeze(set) });
}
