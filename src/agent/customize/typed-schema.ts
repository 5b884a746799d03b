// Types derived from generated typings (agent/artifacts/typings.ts): fields, paths through relations, values, and
// filters that fit the type of the field. Only types. Paths are computed in this file, so the generated text has one
// line for each column. `depth` limits the relations in a path.
import type { PlainBranch, PlainComparison } from '../../core/filter.ts';
import type { OperatorRows } from '../model/operators.ts';
import type { OperandKind } from '../model/types.ts';
import type { PrimitiveType } from '../sources/column-types.ts';

/** Without typings: any name will do. */
// biome-ignore lint/suspicious/noExplicitAny: a collection of which nothing is known
export type AnySchema = Record<string, any>;

/** The values of a column type, in the canonical form of agent/sources/source.ts. */
export interface ColumnValues {
  readonly String: string;
  /** Typings use `number | string` where the column may hold values outside the range of a number. */
  readonly Number: number;
  readonly Boolean: boolean;
  readonly Date: string;
  readonly Dateonly: string;
  readonly Time: string;
  readonly Enum: string;
  readonly Json: unknown;
  readonly Uuid: string;
  readonly Binary: Buffer;
  readonly Point: readonly [number, number];
}

/** Subtracts one from a depth. */
type Decrement = [never, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

/** The names of the collections of generated typings. */
export type CollectionName<S> = keyof S & string;
type Part<S, C extends keyof S, K extends string> = S[C] extends { readonly [P in K]: infer X } ? X : never;
type Columns<S, C extends keyof S> = Part<S, C, 'columns'>;
type One<S, C extends keyof S> = Part<S, C, 'one'>;
type Many<S, C extends keyof S> = Part<S, C, 'many'>;

export type ColumnName<S, C extends keyof S> = keyof Columns<S, C> & string;
/** A column or a relation. */
export type FieldName<S, C extends keyof S> =
  | ColumnName<S, C>
  | (keyof One<S, C> & string)
  | (keyof Many<S, C> & string);

/** A column, or `relation:column` through to-one relations. */
export type Path<S, C extends keyof S, D = Part<S, C, 'depth'>> =
  | ColumnName<S, C>
  | (D extends keyof Decrement & number
      ? D extends 0
        ? never
        : { [R in keyof One<S, C> & string]: `${R}:${Path<S, One<S, C>[R] & keyof S, Decrement[D]>}` }[keyof One<S, C> &
            string]
      : never);

/**
 * Further paths for filters: through a to-many relation and at most one more relation, optionally after a to-one
 * relation. Longer paths work but are not typed, because the union would make editors slow.
 */
type ManyPath<S, C extends keyof S> =
  Part<S, C, 'depth'> extends 0
    ? never
    :
        | PathThroughMany<S, C, 1>
        | { [R in keyof One<S, C> & string]: `${R}:${PathThroughMany<S, One<S, C>[R] & keyof S, 0>}` }[keyof One<S, C> &
            string];
type PathThroughMany<S, C extends keyof S, D> = {
  [R in keyof Many<S, C> & string]: `${R}:${Path<S, Many<S, C>[R] & keyof S, D>}`;
}[keyof Many<S, C> & string];

type Marker<S, C extends keyof S, P extends string> = P extends keyof Columns<S, C>
  ? Columns<S, C>[P]
  : P extends `${infer R}:${infer Rest}`
    ? R extends keyof One<S, C>
      ? Marker<S, One<S, C>[R] & keyof S, Rest> | null
      : R extends keyof Many<S, C>
        ? Marker<S, Many<S, C>[R] & keyof S, Rest> | null
        : never
    : never;

/** The value type of a marker such as `'String' | null`, `{ Enum: 'a' | 'b' }` or `['Number']`. */
type Value<M> = M extends null
  ? null
  : M extends PrimitiveType
    ? ColumnValues[M]
    : M extends readonly [infer I]
      ? readonly (Value<I> | null)[]
      : M[keyof M];

type TypeName<M> =
  Exclude<M, null> extends infer X
    ? X extends PrimitiveType
      ? X
      : X extends readonly [infer I]
        ? `[${TypeName<I> & string}]`
        : keyof X & string
    : never;

/** The type of the value at a path of generated typings. */
export type ValueAt<S, C extends keyof S, P extends string> = Value<Marker<S, C, P>>;

/** The record for a list of paths: nested relations, null for a relation without a record. */
export type Picked<S, C extends keyof S, P extends string> = {
  readonly [K in P as K extends keyof Columns<S, C> ? K : never]: ValueAt<S, C, K>;
} & {
  readonly [R in Head<P, Columns<S, C>> & keyof One<S, C> & string]: Picked<
    S,
    One<S, C>[R] & keyof S,
    Tail<P, R>
  > | null;
};
type Head<P extends string, Own> = P extends keyof Own ? never : P extends `${infer R}:${string}` ? R : never;
type Tail<P extends string, R extends string> = P extends `${R}:${infer Rest}` ? Rest : never;

/** A whole record. Related records are optional. */
export type RecordOf<S, C extends keyof S> = {
  readonly [K in ColumnName<S, C>]: Value<Columns<S, C>[K]>;
} & {
  readonly [R in keyof One<S, C> & string]?: Partial<RecordOf<S, One<S, C>[R] & keyof S>> | null;
};

/** Values to write: writable columns, and those of to-one relations nested. */
export type PatchOf<S, C extends keyof S> = {
  -readonly [K in Exclude<ColumnName<S, C>, Part<S, C, 'readOnly'>>]?: Value<Columns<S, C>[K]>;
} & {
  -readonly [R in keyof One<S, C> & string]?: PatchOf<S, One<S, C>[R] & keyof S> | null;
};

type IsArray<T> = T extends `[${string}]` ? true : false;
type Primitive<T> = T extends `[${infer I}]` ? I : T;

/** The operators of a type (`[String]` for an array) with one of these operands. */
type OperatorOf<T, K extends OperandKind = OperandKind> = {
  [O in keyof OperatorRows]: OperatorRows[O]['takes'] extends K
    ? Primitive<T> extends OperatorRows[O]['types']
      ? IsArray<T> extends true
        ? OperatorRows[O]['arrays'] extends 'never'
          ? never
          : O
        : OperatorRows[O]['arrays'] extends 'only'
          ? never
          : O
      : never
    : never;
}[keyof OperatorRows];

export type OperatorAt<S, C extends keyof S, P extends string> = OperatorOf<TypeName<Marker<S, C, P>>>;

/** The operand of an operator, by its kind. */
interface OperandOf<V, Whole> {
  readonly nothing: { readonly value?: null };
  readonly value: { readonly value: V };
  readonly 'value or null': { readonly value: Whole | null };
  readonly values: { readonly value: readonly (V | null)[] };
  readonly text: { readonly value: string };
  readonly pattern: { readonly value: string };
  readonly expression: { readonly value: string | RegExp };
  readonly length: { readonly value: number };
  readonly days: { readonly value: number };
  readonly hours: { readonly value: number };
}

type Leaf<P extends string, T, V> = {
  [K in OperandKind]: [OperatorOf<T, K>] extends [never]
    ? never
    : { readonly field: P; readonly operator: OperatorOf<T, K> } & OperandOf<
        V,
        IsArray<T> extends true ? readonly (V | null)[] : V
      >[K];
}[OperandKind];

/** The operand of a comparison: digits are valid for a number, and an item for an array. */
type Compared<M> = M extends null
  ? never
  : M extends readonly [infer I]
    ? Compared<I>
    : M extends 'Number'
      ? number | string
      : Value<M>;

type ByType<S, C extends keyof S, P extends string = Path<S, C> | ManyPath<S, C>> = {
  [K in P as TypeName<Marker<S, C, K>>]: K;
};

/** By type instead of field, for a small union. Enums are by field, for their values. */
type LeafOf<S, C extends keyof S, B = ByType<S, C>> = {
  [T in keyof B]: T extends 'Enum'
    ? { [P in B[T] & string]: Leaf<P, T, Compared<Marker<S, C, P>>> }[B[T] & string]
    : Leaf<B[T] & string, T, Compared<Marker<S, C, B[T] & string>>>;
}[keyof B];

/**
 * One object type, placed before `Quantify`. The compiler resolves every property of the first object type in a union;
 * `where` of each relation would make it resolve the filters of another collection.
 */
type BranchOf<S, C extends keyof S> = {
  readonly aggregator: PlainBranch['aggregator'];
  readonly conditions: readonly FilterOf<S, C>[];
};

/** The relations of a collection, and paths of two relations. */
type Related<S, C extends keyof S> = One<S, C> & Many<S, C>;
type RelatedTwice<S, C extends keyof S, R = Related<S, C>> = {
  [K in keyof R & string as `${K}:${keyof Related<S, R[K] & keyof S> & string}`]: Related<S, R[K] & keyof S>;
};
type TargetOf<P extends string, T> = P extends `${string}:${infer K}` ? (K extends keyof T ? T[K] : never) : never;

type Quantify<S, P extends string, C> =
  | { readonly some: P; readonly where?: FilterOf<S, C & keyof S> }
  | { readonly none: P; readonly where?: FilterOf<S, C & keyof S> }
  | { readonly every: P; readonly where: FilterOf<S, C & keyof S> };

/** Conditions on related records, through one or two relations. */
type QuantifiedOf<S, C extends keyof S, R = Related<S, C>, T = RelatedTwice<S, C>> =
  | { [P in keyof R & string]: Quantify<S, P, R[P]> }[keyof R & string]
  | { [P in keyof T & string]: Quantify<S, P, TargetOf<P, T[P]>> }[keyof T & string];

/** A condition, a condition on related records, or conditions joined by `And`, `Or` or `Not`. */
export type FilterOf<S, C extends keyof S> = LeafOf<S, C> | QuantifiedOf<S, C> | BranchOf<S, C> | PlainComparison;

export interface SortOf<S, C extends keyof S> {
  readonly field: Path<S, C>;
  /** Default true. */
  readonly ascending?: boolean;
}
