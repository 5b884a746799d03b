// What the database decides, and what is decided after reading: conditions on fields that code added, emulated operators
// and emulated sorting.
import { awayAt } from './paths.ts';
import { always, and, join } from './simplify.ts';
import type { Filter, Order, Path, Told } from './types.ts';

export type Test = Filter & { readonly op: 'test' };

export function isSortedHere({ path }: Order): boolean {
  return path.field.made !== undefined || path.field.order === 'here' || awayAt(path) >= 0;
}

export function isDecidedHere({ path, is }: Test): boolean {
  return path.field.made !== undefined || path.field.operators.get(is)?.by === 'here' || awayAt(path) >= 0;
}

/** `native and rest` is the filter; `rest` is what is decided after reading, `always` for most. */
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

/** What the filter says that rows do not tell. */
export function eachTold(filter: Filter, visit: (told: Told) => void): void {
  if (filter.op === 'some' || filter.op === 'found') visit(filter);
  else if (filter.op === 'not') eachTold(filter.of, visit);
  else if (filter.op === 'and' || filter.op === 'or') for (const each of filter.of) eachTold(each, visit);
}

/** Why a read is bounded: the first field that the database cannot decide. */
export function undecided(rest: Filter, order: readonly Order[]): Path | undefined {
  let found: Path | undefined;
  eachTest(rest, (test) => {
    if (isDecidedHere(test)) found ??= test.path;
  });
  return found ?? order.find(isSortedHere)?.path;
}
