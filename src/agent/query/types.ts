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

export interface Query {
  readonly collection: Collection;
  readonly select: readonly Path[];
  readonly where: Filter;
  /** Total: it ends with the key of the collection. */
  readonly order: readonly Order[];
  readonly limit: number;
  readonly skip: number;
}

/** Plain data: what the database does (`select`, or null when no record can match) and how rows become records. */
export interface ReadPlan {
  readonly source: Source;
  readonly select: Select | null;
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
