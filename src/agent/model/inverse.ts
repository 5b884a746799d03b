// Finds inverse relations: over the same columns, in the other direction.
import type { Collection, KeyPair, Relation } from './types.ts';

/** The relation of the foreign collection that leads back to `home`. */
export function findInverse(relation: Relation, home: string): Relation | undefined {
  const way = turned(relation);
  return relationsOf(relation.to).find(
    (field) => field.to.name === home && field !== relation && marksOf(field) === way,
  );
}

/** The to-one relation of a collection over these columns. It must reach every record with such a key. */
export function findHolder(collection: Collection, on: readonly KeyPair[]): Relation | undefined {
  const way = JSON.stringify(pairs(on));
  return relationsOf(collection).find(
    (field) => !field.inverse && !field.through && !field.lowestBy && marksOf(field) === way,
  );
}

function relationsOf({ fields }: Collection): Relation[] {
  return [...fields.values()].flatMap((field) => (field.kind === 'column' ? [] : [field]));
}

/** The columns of a relation, in order, as text. */
function marksOf({ on, through }: Relation): string {
  return JSON.stringify(through ? [pairs(through.origin), through.collection.name, pairs(through.foreign)] : pairs(on));
}

/** Like `marksOf`, for the inverse direction. */
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
