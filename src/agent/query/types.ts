// The phases of a read, as data: PlainFilter (what was written) -> Filter (resolved and lowered) -> Query -> ReadPlan.
import type { Operator } from '../../core/filter.ts';
import type { Collection, Column, Relation } from '../model/types.ts';
import type { Select, Source } from '../sources/source.ts';

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
  | { readonly op: 'always' }
  | { readonly op: 'never' };

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
  /** Total: it ends with the key of the collection. */
  readonly order: readonly Order[];
  /** Records wanted; one more is read, to know whether there is more. */
  readonly limit: number;
  readonly skip: number;
  /** Whether a cursor may be made of the answer. */
  readonly cursor: boolean;
}

/** Plain data: what the database does (`select`, or null when no record can match) and how rows become records. */
export interface ReadPlan {
  readonly source: Source;
  readonly select: Select | null;
  /** Where each asked column lies. */
  readonly columns: readonly Slot[];
  /** Where the values of the order lie; empty when no cursor may be made. */
  readonly keys: readonly Slot[];
  /** Slots whose values are not ready for JSON. */
  readonly binary: readonly Slot[];
  readonly shape: Shape;
}

/** Where each value of a record lies in its row. */
export interface Shape {
  readonly leaves: readonly (readonly [name: string, slot: Slot])[];
  /** A relation is null when its `present` slot is. */
  readonly nested: readonly (readonly [name: string, present: Slot, shape: Shape])[];
}

/** A value is a position, never a name. */
export type Slot = number;
