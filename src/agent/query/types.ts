// The phases of a read, as data: PlainFilter (what was written) -> Filter (resolved and lowered) -> Query -> ReadPlan.
import type { Operator } from '../../core/filter.ts';
import type { Collection, Column, Made, Relation } from '../model/types.ts';
import type { Condition, Select, Source } from '../sources/source.ts';

/** A resolved field: the to-one relations to follow, then the column. Interned per collection: one object for one id. */
export interface Path {
  /** `relation:relation:column` */
  readonly id: string;
  readonly via: readonly Relation[];
  readonly field: Column;
}

/**
 * What a record must satisfy. Every test says true or false, never "unknown": NotEqual, NotIn and NotContains hold for
 * a missing value, the other tests but Missing, Blank and `Equal null` do not.
 */
export type Filter =
  | { readonly op: 'and' | 'or'; readonly of: readonly Filter[] }
  | { readonly op: 'not'; readonly of: Filter }
  | { readonly op: 'test'; readonly path: Path; readonly is: Operator; readonly value: unknown }
  /** Some record of another collection of the source has in `keys` what this one has in `own`, none of it null. */
  | { readonly op: 'some'; readonly own: readonly Path[]; readonly other: Other }
  /** `own` is among the keys that are looked up in another source first; null is not. */
  | { readonly op: 'found'; readonly own: Path; readonly lookup: Lookup }
  | Any
  | { readonly op: 'always' }
  | { readonly op: 'never' };

/**
 * Some record that a relation to many leads to satisfies `of`, which is about the foreign collection; `via` leads to the
 * collection that has the relation. Planning says it with `some` or `found`.
 */
export interface Any {
  readonly op: 'any';
  readonly via: readonly Relation[];
  readonly relation: Relation;
  readonly of: Filter;
  /** Whether the caller's rows alone count, of the foreign collection and of the pairs. */
  readonly scoped: boolean;
}

/** The records of a collection that satisfy a condition. */
export interface Other extends Condition {
  readonly collection: Collection;
  readonly keys: readonly Path[];
}

/** The first columns of the rows of a plan, all of them: what is looked up before the statement that needs it. */
export interface Lookup {
  readonly query: Query;
  readonly plan: ReadPlan;
  /** What was asked for: the relations, and the collection that they start at. */
  readonly of: { readonly collection: string; readonly name: string };
}

/** A path to sort by, with its direction. */
export interface Order {
  readonly path: Path;
  readonly ascending: boolean;
}

/** A column as it was asked for. */
export interface Named {
  /** As written, `@@@` read as `:`. It may name another column than `path`: `relation:key` is the own foreign key. */
  readonly name: string;
  readonly path: Path;
  /** The relations that the name goes through, in order, then the last part of it. */
  readonly through: readonly Hop[];
  readonly leaf: string;
}

export interface Hop {
  readonly name: string;
  /** Null when there is no related record. */
  readonly present: Path;
}

export interface Query {
  readonly collection: Collection;
  readonly select: readonly Named[];
  readonly where: Filter;
  /** Besides `where`: what the order alone says, decided as the order is. */
  readonly after?: Filter;
  /** Total: it ends with the key of the collection. */
  readonly order: readonly Order[];
  /** Records wanted; one more is read, to know whether there is more. All of them when null. */
  readonly limit: number | null;
  readonly skip: number;
  /** Whether a cursor may be made of the answer. */
  readonly cursor: boolean;
}

/** Plain data: what the database does (`select`, or null when no record can match) and how rows become records. */
export interface ReadPlan {
  readonly source: Source;
  readonly select: Select | null;
  /** What the statement needs to know first. */
  readonly lookups: readonly Lookup[];
  /** What the database could not decide, in order; empty for most. */
  readonly steps: readonly Step[];
  /** What is shown only: fetched and computed for the rows of the answer, not for the one that is read beyond it. */
  readonly finish: readonly (Fetch | Compute)[];
  /** Slots of a row after the steps. */
  readonly width: number;
  /** Where each asked column lies. */
  readonly columns: readonly Slot[];
  /** Where the values of the order lie; empty when no cursor may be made. */
  readonly keys: readonly Slot[];
  /** Slots whose values are not ready for JSON. */
  readonly binary: readonly BinarySlot[];
  readonly shape: Shape;
}

export type Step = Bound | Fetch | Compute | Ask | Keep | Sort | Slice;

/** More rows than the engine reads at once are an error: `field` is why the database cannot decide. */
export interface Bound {
  readonly kind: 'bound';
  readonly collection: string;
  readonly field: string;
  readonly column: Column;
  /** What to do about it, where it is not what is done about fields. */
  readonly cure?: string;
}

/** Columns of related records in another source, read by their keys. */
export interface Fetch {
  readonly kind: 'fetch';
  readonly via: readonly Relation[];
  /** Where a row has the key. */
  readonly from: Slot;
  /** Where it says which collection the key is about, when that may be another. */
  readonly type?: Slot;
  readonly query: Query;
  /** Gives the key, and then the columns; the keys wanted are still to be put into its statement. */
  readonly plan: ReadPlan;
  readonly into: readonly Slot[];
}

/** The values of an added field, made of others of the row. */
export interface Compute {
  readonly kind: 'compute';
  readonly path: Path;
  readonly made: Made;
  /** What the code is given, and where all of it lies. */
  readonly shape: Shape;
  readonly from: readonly Slot[];
  /** Null where there is no record that could have the field. */
  readonly guard: Slot | null;
  readonly into: Slot;
}

/** A condition that rows do not tell, asked of the database about those that are here. */
export interface Ask {
  readonly kind: 'ask';
  readonly of: Told;
  /** Gives the keys of the records that satisfy it; those that are here are still to be put into its statement. */
  readonly plan: ReadPlan;
  readonly key: readonly Path[];
  /** Where a row has its key. */
  readonly from: readonly Slot[];
  readonly into: Slot;
}

/** What is known only where the records are, or in another source. */
export type Told = Filter & { readonly op: 'some' | 'found' };

export interface Keep {
  readonly kind: 'keep';
  readonly where: Filter;
  /** By the id of the path. */
  readonly slots: ReadonlyMap<string, Slot>;
  readonly told: ReadonlyMap<Told, Slot>;
}

/** Stable: what is equal stays as the database gave it. */
export interface Sort {
  readonly kind: 'sort';
  readonly by: readonly { readonly slot: Slot; readonly order: Order }[];
}

export interface Slice {
  readonly kind: 'slice';
  readonly skip: number;
  readonly limit: number;
}

export interface BinarySlot {
  readonly slot: Slot;
  readonly mode: Column['binary'];
}

/** Where each value of a record lies in its row. */
export interface Shape {
  readonly leaves: readonly (readonly [name: string, slot: Slot])[];
  /** A relation is null when its `present` slot is. */
  readonly nested: readonly (readonly [name: string, present: Slot, shape: Shape])[];
}

/** A value is a position, never a name. */
export type Slot = number;
