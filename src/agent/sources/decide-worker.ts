// The worker thread of decide.ts. It filters and sorts with the same code as the main process, one filter or sort at a
// time. Rows arrive in batches to keep each copy short on both sides.

import { parentPort } from 'node:worker_threads';
import { lowerPriority } from '../../core/limit/priority.ts';
import type { WorkerAnswer } from '../../core/limit/workers.ts';
import type { DecideMessage, PlainTest, PlainWhere } from './decide.ts';
import { compareNullable, evaluateFilter } from './evaluate.ts';
import { compilePattern } from './pattern.ts';
import type { Filter, Path, SubqueryFilter } from './statement.ts';

lowerPriority();

type At = { readonly at: number };

let where: Filter;
let storedRows: unknown[][] = [];

function revive(plain: PlainWhere): Filter {
  if ('test' in plain) return reviveTest(plain);
  // The paths of the expressions have their slots.
  if ('compare' in plain) return { op: 'compare', is: plain.compare, left: plain.left, right: plain.right };
  if ('subquery' in plain) return { op: 'some', at: plain.subquery } as unknown as Filter;
  if (plain.op === 'not') return { op: 'not', of: revive(plain.of) };
  if ('of' in plain) return { op: plain.op, of: plain.of.map(revive) };
  return { op: plain.op };
}

function reviveTest({ test, at, field, value }: PlainTest): Filter {
  const path = { at, field } as unknown as Path;
  return { op: 'test', is: test, path, value: test === 'Match' ? compilePattern(value as string | RegExp) : value };
}

function run(message: DecideMessage): unknown {
  if ('where' in message) {
    where = revive(message.where);
    return null;
  }
  if ('rows' in message) {
    const verdict = (row: unknown[]) =>
      evaluateFilter(
        where,
        (path) => row[(path as unknown as At).at],
        (subquery: SubqueryFilter) => row[(subquery as unknown as At).at] === true,
      );
    return Uint8Array.from(message.rows, (row) => Number(verdict(row)));
  }
  if ('keys' in message) {
    for (const row of message.keys) storedRows.push(row);
    return null;
  }
  const { by } = message;
  const compare = (a: number, b: number): number => {
    for (const [at, { field, ascending }] of by.entries()) {
      const difference = compareNullable(storedRows[a]![at], storedRows[b]![at], field);
      if (difference !== 0) return ascending ? difference : -difference;
    }
    return a - b;
  };
  const order = Uint32Array.from(storedRows.keys()).sort(compare);
  storedRows = [];
  return order;
}

parentPort?.on('message', (message: DecideMessage) => {
  let answer: WorkerAnswer;
  try {
    answer = { answer: run(message) };
  } catch (error) {
    answer = { error: (error as Error).message };
  }
  parentPort?.postMessage(answer);
});
