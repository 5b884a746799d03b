// Relations come from foreign keys: to one on the collection that holds the key, and its inverse on the other. A name
// depends on the tables and columns it comes from only, never on their order: where two relations of a collection would
// bear one name, or a column bears it already, each of them takes the long form `<target>_through_<columns>`.
import type { DescribedForeignKey } from '../sources/source.ts';
import type { Collection, Column, KeyPair, Relation } from './types.ts';

/** One foreign key, its collections found. */
export interface Reference {
  readonly owner: Collection;
  readonly target: Collection;
  readonly on: readonly KeyPair[];
}

interface Wanted {
  readonly home: Collection;
  readonly short: string;
  readonly long: string;
  readonly make: (name: string) => Relation;
}

/** Undefined when the key points to something that is not served, or that may hold several records for one value. */
export function findReference(
  owner: Collection,
  target: Collection | undefined,
  foreignKey: DescribedForeignKey,
): Reference | undefined {
  if (!target) return undefined;
  const on: KeyPair[] = [];
  for (const [index, name] of foreignKey.columns.entries()) {
    const from = owner.inside.get(name);
    const to = target.inside.get(foreignKey.targetColumns[index] ?? '');
    if (from?.kind !== 'column' || to?.kind !== 'column') return undefined;
    on.push(Object.freeze({ from, to }));
  }
  return isUnique(
    target,
    on.map((pair) => pair.to.name),
  )
    ? { owner, target, on: Object.freeze(on) }
    : undefined;
}

/**
 * The relations of every collection, ordered by name; nothing is written to the collections. Those through a collection
 * between come last, so that no other is called otherwise because of them.
 */
export function buildRelations(references: readonly Reference[]): Map<Collection, Relation[]> {
  const built = new Map<Collection, Relation[]>();
  nameRelations(
    references.flatMap((reference) => [toOne(reference), inverse(reference)]),
    built,
  );
  nameRelations(
    findJunctions(references).flatMap(([one, other]) => [across(one, other), across(other, one)]),
    built,
  );
  for (const relations of built.values()) relations.sort((a, b) => (a.name < b.name ? -1 : 1));
  return built;
}

function nameRelations(wanted: readonly Wanted[], built: Map<Collection, Relation[]>): void {
  const claims = new Map<Collection, Map<string, number>>();
  for (const { home, short } of wanted) {
    const names = claims.get(home) ?? new Map<string, number>();
    claims.set(home, names.set(short, (names.get(short) ?? 0) + 1));
  }
  for (const { home, short, long, make } of wanted) {
    const relations = built.get(home) ?? [];
    const taken = (name: string) => home.inside.has(name) || relations.some((relation) => relation.name === name);
    let name = claims.get(home)!.get(short) === 1 && !taken(short) ? short : long;
    for (let count = 2; taken(name); count++) name = `${long}_${count}`;
    relations.push(make(name));
    built.set(home, relations);
  }
}

/** The two references of each collection that says nothing but which records of two others belong together. */
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

/** Each pair at most once, and nothing else that a new pair would need. */
function isJunction(one: Reference, other: Reference): boolean {
  const { owner } = one;
  const columns = [...one.on, ...other.on].map(({ from }) => from);
  if (owner.kind === 'view' || new Set(columns).size < columns.length) return false;
  const isPair = (key: readonly Column[]) =>
    key.length === columns.length && key.every((each) => columns.includes(each));
  return (
    owner.uniqueKeys.some(isPair) &&
    [...owner.inside.values()].every((field) => field.kind !== 'column' || !field.required || columns.includes(field))
  );
}

function across(origin: Reference, foreign: Reference): Wanted {
  const { owner: collection } = origin;
  const turned = Object.freeze(origin.on.map((pair) => Object.freeze({ from: pair.to, to: pair.from })));
  const through = Object.freeze({ collection, origin: turned, foreign: foreign.on });
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

function toOne({ owner, target, on }: Reference): Wanted {
  const columns = on.map((pair) => pair.from.name);
  const stem = columns.length === 1 ? columns[0]!.replace(/(?<=.)(?:_id|Id|_ID)$/, '') : columns[0]!;
  return {
    home: owner,
    short: relationName(columns.length === 1 && stem !== columns[0] ? stem : target.name),
    long: relationName(`${target.name}_through_${columns.join('_')}`),
    make: (name) => Object.freeze({ kind: 'one', name, to: target, on, inverse: false, reach: 'join', enforced: true }),
  };
}

function inverse({ owner, target, on }: Reference): Wanted {
  const columns = on.map((pair) => pair.from.name);
  const turned = Object.freeze(on.map((pair) => Object.freeze({ from: pair.to, to: pair.from })));
  const kind = isUnique(owner, columns) ? 'one' : 'many';
  return {
    home: target,
    short: relationName(owner.name),
    long: relationName(`${owner.name}_through_${columns.join('_')}`),
    make: (name) => Object.freeze({ kind, name, to: owner, on: turned, inverse: true, reach: 'join', enforced: true }),
  };
}

/** A colon separates the parts of a path. */
function relationName(text: string): string {
  return text.replaceAll(':', '_');
}

function isUnique(collection: Collection, columns: readonly string[]): boolean {
  return collection.uniqueKeys.some((key) => key.every((column) => columns.includes(column.name)));
}
