// Finds inverse relations: over the same columns, in the other direction.
import type { Collection, KeyPair, Relation } from './types.ts';

/** The relation of the foreign collection that leads back to `home`. */
export function findInverse(relation: Relation, home: string): Relation | undefined {
  const inverted = invertedKey(relation);
  return relationsOf(relation.to).find(
    (field) => field.to.name === home && field !== relation && columnsKey(field) === inverted,
  );
}

/** The to-one relation of a collection over these columns. It must reach every record with such a key. */
export function findForeignKeyRelation(collection: Collection, on: readonly KeyPair[]): Relation | undefined {
  return relationsOf(collection).find((field) => !field.inverse && !field.lowestBy && isOver(field, on));
}

/** Whether a relation without through collection is over these columns. */
export function isOver(relation: Relation, on: readonly KeyPair[]): boolean {
  return !relation.through && columnsKey(relation) === JSON.stringify(toNamePairs(on));
}

function relationsOf({ fields }: Collection): Relation[] {
  return [...fields.values()].flatMap((field) => (field.kind === 'column' ? [] : [field]));
}

/** The columns of a relation, in order, as text. */
function columnsKey({ on, through }: Relation): string {
  return JSON.stringify(
    through ? [toNamePairs(through.origin), through.collection.name, toNamePairs(through.foreign)] : toNamePairs(on),
  );
}

/** Like `columnsKey`, for the inverse direction. */
function invertedKey({ on, through }: Relation): string {
  const invert = (all: readonly KeyPair[]) => toNamePairs(invertPairs(all));
  return JSON.stringify(
    through ? [invert(through.foreign), through.collection.name, invert(through.origin)] : invert(on),
  );
}

export function invertPairs(on: readonly KeyPair[]): KeyPair[] {
  return on.map(({ from, to }) => ({ from: to, to: from }));
}

function toNamePairs(on: readonly KeyPair[]): readonly string[][] {
  return on.map(({ from, to }) => [from.column, to.column]);
}
