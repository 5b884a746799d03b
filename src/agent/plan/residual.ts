// Splits a read into the part for the database and the part after reading: conditions on added fields, emulated
// operators and emulated sorting.

import { always, and, join } from '../lower/simplify.ts';
import { crossSourceIndex } from '../resolve/paths.ts';
import { comparedPaths } from '../sources/aggregate/expression.ts';
import type { Filter, Order, Path, SubqueryFilter } from './types.ts';

/** A condition that the values of a row decide. */
export type ValueFilter = Filter & { readonly op: 'test' | 'compare' };

/** Whether the value comes from code or another source, after the statement. */
export function isReadAfterwards(path: Path): boolean {
  return path.field.computedFrom !== undefined || crossSourceIndex(path) >= 0;
}

export function isSortedInMemory({ path }: Order): boolean {
  return isReadAfterwards(path) || path.field.order === 'here';
}

export function isEvaluatedInMemory(test: ValueFilter): boolean {
  if (test.op === 'compare' && test.isResidual) return true;
  const paths = pathsOf(test);
  return paths.some((path) => isReadAfterwards(path) || path.field.operators.get(test.is)?.evaluatedBy === 'here');
}

/** The paths whose values decide the condition. */
export function pathsOf(test: ValueFilter): readonly Path[] {
  return test.op === 'test' ? [test.path] : comparedPaths(test);
}

/** The filter equals `native and rest`. `rest` is decided after reading; it is `always` for most filters. */
export function splitFilter(filter: Filter): { readonly native: Filter; readonly residual: Filter } {
  if (isNative(filter)) return { native: filter, residual: always };
  if (filter.op !== 'and') return { native: always, residual: filter };
  const parts = filter.of.map(splitFilter);
  return {
    native: and(...parts.map((part) => part.native)),
    residual: join(
      'and',
      parts.map((part) => part.residual),
    ),
  };
}

function isNative(filter: Filter): boolean {
  switch (filter.op) {
    case 'test':
    case 'compare':
      return !isEvaluatedInMemory(filter);
    case 'any':
      return false;
    case 'not':
      return isNative(filter.of);
    case 'and':
    case 'or':
      return filter.of.every(isNative);
    default:
      return true;
  }
}

export function visitTests(filter: Filter, visit: (test: ValueFilter) => void): void {
  if (filter.op === 'test' || filter.op === 'compare') visit(filter);
  else if (filter.op === 'not') visitTests(filter.of, visit);
  else if (filter.op === 'and' || filter.op === 'or') for (const each of filter.of) visitTests(each, visit);
}

/** Visits the conditions that the values of a row cannot decide. */
export function visitSubqueries(filter: Filter, visit: (subquery: SubqueryFilter) => void): void {
  if (filter.op === 'some' || filter.op === 'found') visit(filter);
  else if (filter.op === 'not') visitSubqueries(filter.of, visit);
  else if (filter.op === 'and' || filter.op === 'or') for (const each of filter.of) visitSubqueries(each, visit);
}

/** The reason for a bounded read: the first field that the database cannot filter or sort by. */
export function findResidualPath(residual: Filter, order: readonly Order[]): Path | undefined {
  let found: Path | undefined;
  visitTests(residual, (test) => {
    if (isEvaluatedInMemory(test)) found ??= pathsOf(test).find(isReadAfterwards) ?? pathsOf(test)[0];
  });
  return found ?? order.find(isSortedInMemory)?.path;
}
