// Splits a read into the part for the database and the part after reading: conditions on added fields, emulated
// operators and emulated sorting.

import { always, and, join } from '../lower/simplify.ts';
import { crossSourceIndex } from '../resolve/paths.ts';
import type { Filter, Order, Path, SubqueryFilter } from './types.ts';

type Test = Filter & { readonly op: 'test' };

export function isSortedInMemory({ path }: Order): boolean {
  return path.field.computedFrom !== undefined || path.field.order === 'here' || crossSourceIndex(path) >= 0;
}

export function isEvaluatedInMemory({ path, is }: Test): boolean {
  return (
    path.field.computedFrom !== undefined ||
    path.field.operators.get(is)?.evaluatedBy === 'here' ||
    crossSourceIndex(path) >= 0
  );
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

export function visitTests(filter: Filter, visit: (test: Test) => void): void {
  if (filter.op === 'test') visit(filter);
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
    if (isEvaluatedInMemory(test)) found ??= test.path;
  });
  return found ?? order.find(isSortedInMemory)?.path;
}
