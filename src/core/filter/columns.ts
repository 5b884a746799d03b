// The JSON of the columns of a list. This file only defines the data; agent/resolve/columns.ts resolves names and checks
// types.
import type { PlainFilter } from '../filter.ts';
import type { PlainExpression } from './expression.ts';

/** Maximum number of columns that are not fields in one list. */
export const MAX_COLUMNS = 20;

/**
 * A column of a list that is not a field: a value computed from the record, or a figure of the related records of a
 * to-many relation. `count` takes the relation, or `relation:field` for its values that are not null. The others take
 * fields behind one relation, also in expressions. `where` is about the related record. `F`: the names of fields; `W`:
 * the filters.
 *
 * @example
 * const last: PlainColumn = {
 *   name: 'last_paid',
 *   max: 'orders:placed_at',
 *   where: { field: 'status', operator: 'Equal', value: 'paid' },
 * };
 */
export type PlainColumn<F extends string = string, W = PlainFilter> = {
  /** The name of the column in the answer and in `sort`. Not the name of a field or relation. */
  readonly name: string;
} & (
  | { readonly expression: PlainExpression<F> }
  | ({
      /** Only related records that match it count. Default: all that the caller may see. */
      readonly where?: W;
    } & (
      | { readonly count: PlainExpression<F> }
      | { readonly countDistinct: PlainExpression<F> }
      | { readonly sum: PlainExpression<F> }
      | { readonly avg: PlainExpression<F> }
      | { readonly min: PlainExpression<F> }
      | { readonly max: PlainExpression<F> }
    ))
);
