// Loops over many items that other calls can interrupt.
import { createTurns } from './turns.ts';

export type Turn = ReturnType<typeof createTurns>;

const CHUNK = 2000;

export async function mapInTurns<T, R>(
  items: Iterable<T>,
  turn: Turn,
  map: (item: T, index: number) => R,
): Promise<R[]> {
  const mapped: R[] = [];
  for (const item of items) {
    mapped.push(map(item, mapped.length));
    const pause = turn();
    if (pause) await pause;
  }
  return mapped;
}

/** A stable merge sort. */
export async function sortInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  turn: Turn = createTurns(),
): Promise<T[]> {
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += CHUNK) {
    runs.push(items.slice(at, at + CHUNK).sort(compare));
    await turn();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await mergeInTurns(runs[at]!, runs[at + 1] ?? [], compare, turn));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function mergeInTurns<T>(left: T[], right: T[], compare: (a: T, b: T) => number, turn: Turn): Promise<T[]> {
  const merged: T[] = [];
  let [l, r] = [0, 0];
  while (l < left.length && r < right.length) {
    merged.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!);
    if (merged.length % CHUNK === 0) await turn();
  }
  return merged.concat(left.slice(l), right.slice(r));
}
