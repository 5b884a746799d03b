// The condition of a page after a cursor: the rows that sort after one with given values. Nulls are first in ascending
// order and last in descending order.
import type { Operator } from '../../core/filter.ts';
import type { Path } from './statement.ts';

/** A part of `Filter` that fits the paths of statements and of plans. */
type AfterFilter<P extends Path> =
  | { readonly op: 'and' | 'or'; readonly of: readonly AfterFilter<P>[] }
  | { readonly op: 'not'; readonly of: AfterFilter<P> }
  | { readonly op: 'test'; readonly path: P; readonly is: Operator; readonly value: unknown }
  | { readonly op: 'always' }
  | { readonly op: 'never' };

interface OrderOf<P extends Path> {
  readonly path: P;
  readonly ascending: boolean;
}

/** `values`: one for each clause of the order. `hasValue`: whether the path is null on no row. */
export function afterFilter<P extends Path>(
  order: readonly OrderOf<P>[],
  values: readonly unknown[],
  hasValue: (path: P) => boolean = isRequired,
): AfterFilter<P> {
  const test = (path: P, is: Operator, value: unknown): AfterFilter<P> => ({ op: 'test', path, is, value });
  const missing = (path: P): AfterFilter<P> => test(path, 'Missing', null);

  const isBeyond = ({ path, ascending }: OrderOf<P>, value: unknown): AfterFilter<P> => {
    if (value === null) return ascending && !hasValue(path) ? { op: 'not', of: missing(path) } : never;
    if (ascending) return test(path, 'GreaterThan', value);
    const less = test(path, 'LessThan', value);
    return hasValue(path) ? less : { op: 'or', of: [less, missing(path)] };
  };

  return order.reduceRight<AfterFilter<P>>((after, clause, index) => {
    const value = values[index];
    const beyond = isBeyond(clause, value);
    if (after.op === 'never') return beyond;
    const { path } = clause;
    const same: AfterFilter<P> = {
      op: 'and',
      of: [value === null ? missing(path) : test(path, 'Equal', value), after],
    };
    if (beyond.op === 'never') return same;
    return { op: 'or', of: beyond.op === 'or' ? [...beyond.of, same] : [beyond, same] };
  }, never);
}

const never = Object.freeze({ op: 'never' } as const);

function isRequired({ via, field }: Path): boolean {
  return via.length === 0 && !field.nullable;
}
