// Splits a read into the part for the database and the part after reading: conditions on added fields, emulated
// operators and emulated sorting.

import { always, and, join } from '../lower/simplify.ts';
import { awayAt } from '../resolve/paths.ts';
import type { Filter, Order, Path, Told } from './types.ts';

export type Test = Filter & { readonly op: 'test' };

export function isSortedHere({ path }: Order): boolean {
  return path.field.made !== undefined || path.field.order === 'here' || awayAt(path) >= 0;
}

export function isDecidedHere({ path, is }: Test): boolean {
  return path.field.made !== undefined || path.field.operators.get(is)?.by === 'here' || awayAt(path) >= 0;
}

/** The filter equals `native and rest`. `rest` is decided after reading; it is `always` for most filters. */
export function splitFilter(filter: Filter): { readonly native: Filter; readonly rest: Filter } {
  if (isNative(filter)) return { native: filter, rest: always };
  if (filter.op !== 'and') return { native: always, rest: filter };
  const parts = filter.of.map(splitFilter);
  return {
    native: and(...parts.map((part) => part.native)),
    rest: join(
      'and',
      parts.map((part) => part.rest),
    ),
  };
}

function isNative(filter: Filter): boolean {
  switch (filter.op) {
    case 'test':
      return !isDecidedHere(filter);
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

export function eachTest(filter: Filter, visit: (test: Test) => void): void {
  if (filter.op === 'test') visit(filter);
  else if (filter.op === 'not') eachTest(filter.of, visit);
  else if (filter.op === 'and' || filter.op === 'or') for (const each of filter.of) eachTest(each, visit);
}

/** Visits the conditions that the values of a row cannot decide. */
export function eachTold(filter: Filter, visit: (told: Told) => void): void {
  if (filter.op === 'some' || filter.op === 'found') visit(filter);
  else if (filter.op === 'not') eachTold(filter.of, visit);
  else if (filter.op === 'and' || filter.op === 'or') for (const each of filter.of) eachTold(each, visit);
}

/** The reason for a bounded read: the first field that the database cannot filter or sort by. */
export function undecided(rest: Filter, order: readonly Order[]): Path | undefined {
  let found: Path | undefined;
  eachTest(rest, (test) => {
    if (isDecidedHere(test)) found ??= test.path;
  });
  return found ?? order.find(isSortedHere)?.path;
}
