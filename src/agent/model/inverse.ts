// Relations that are the way back of others: over the same columns, in the other direction.
import type { Collection, KeyPair, Relation } from './types.ts';

/** The relation of the foreign collection that leads back to `home`. */
export function findInverse(relation: Relation, home: string): Relation | undefined {
  const way = turned(relation);
  return relationsOf(relation.to).find(
    (field) => field.to.name === home && field !== relation && marksOf(field) === way,
  );
}

/** The relation to one of a collection that is held by these columns. */
export function findHolder(collection: Collection, on: readonly KeyPair[]): Relation | undefined {
  const way = JSON.stringify(pairs(on));
  return relationsOf(collection).find((field) => !field.inverse && !field.through && marksOf(field) === way);
}

function relationsOf({ fields }: Collection): Relation[] {
  return [...fields.values()].flatMap((field) => (field.kind === 'column' ? [] : [field]));
}

/** The columns that a relation goes over, in order, as a text. */
function marksOf({ on, through }: Relation): string {
  return JSON.stringify(through ? [pairs(through.origin), through.collection.name, pairs(through.foreign)] : pairs(on));
}

/** The same for the way back. */
function turned({ on, through }: Relation): string {
  const back = (all: readonly KeyPair[]) => pairs(turnedPairs(all));
  return JSON.stringify(through ? [back(through.foreign), through.collection.name, back(through.origin)] : back(on));
}

export function turnedPairs(on: readonly KeyPair[]): KeyPair[] {
  return on.map(({ from, to }) => ({ from: to, to: from }));
}

function pairs(on: readonly KeyPair[]): readonly string[][] {
  return on.map(({ from, to }) => [from.column, to.column]);
}
