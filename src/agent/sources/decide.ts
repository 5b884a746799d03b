// Filters and sorts in the process whatever the database cannot, using evaluate.ts. The cost depends on the rows, the
// conditions and, for text patterns, text length times pattern length. Callers control all of these. The cost is
// therefore estimated first: small work runs at once, the rest in a worker thread under the query's time limit.

import { systemClock } from '../../core/clock.ts';
import type { Operator } from '../../core/filter.ts';
import { entryOf } from '../../core/limit/entry.ts';
import { type Ask, createWorkers } from '../../core/limit/workers.ts';
import { compareNullable, holds } from './evaluate.ts';
import type { Pattern } from './pattern.ts';
import type { ReadOptions } from './source.ts';
import type { Filter, Order, Row, SourceColumn } from './statement.ts';

type Facts = Pick<SourceColumn, 'type' | 'collation'>;
/** The position of a value in a row. */
type Slot = number;

/** A condition on rows in memory. */
export interface RowFilter {
  readonly where: Filter;
  /** The slots of the tested values, by path id. */
  readonly slots: ReadonlyMap<string, Slot>;
  /** The slots of the results of conditions that the values cannot decide. */
  readonly told: ReadonlyMap<object, Slot>;
}

export interface RowOrder {
  readonly by: readonly { readonly slot: Slot; readonly order: Order }[];
}

/** A filter in a form that can be posted to a worker: slots instead of paths. */
export interface PlainTest {
  readonly test: Operator;
  readonly at: Slot;
  readonly field: Facts;
  readonly value: unknown;
}
export type PlainWhere =
  | PlainTest
  | { readonly told: Slot }
  | { readonly op: 'and' | 'or'; readonly of: readonly PlainWhere[] }
  | { readonly op: 'not'; readonly of: PlainWhere }
  | { readonly op: 'always' | 'never' };

export type DecideMessage =
  | { readonly where: PlainWhere }
  | { readonly rows: readonly unknown[][] }
  | { readonly keys: readonly unknown[][] }
  | { readonly by: readonly { readonly field: Facts; readonly ascending: boolean }[] };

/** The most work done in the process, in estimated worst-case nanoseconds. */
const WORK_HERE = 10_000_000;
/** The most rows, and approximate bytes, copied to a worker at a time. */
const BATCH_ROWS = 2000;
const BATCH_BYTES = 500_000;

const workers = createWorkers(entryOf(import.meta.url, './decide-worker'), 2);

/** The rows that satisfy the condition. Throws TIMED_OUT or CANCELLED. */
export async function keepRows(step: RowFilter, rows: readonly Row[], options: ReadOptions): Promise<Row[]> {
  return keepHere(step, rows) ?? keepAway(step, rows, options);
}

/** Like `keepRows`, but synchronous. Returns undefined if the work could take long. */
export function keepHere({ where, slots, told }: RowFilter, rows: readonly Row[]): Row[] | undefined {
  const tests = testsOf(where).map(({ is, path, value }) => ({ at: slots.get(path.id)!, weigh: weightOf(is, value) }));
  let work = 0;
  for (const row of rows)
    for (const { at, weigh } of tests) {
      work += weigh(sizeOf(row[at]));
      if (work > WORK_HERE) return undefined;
    }
  return rows.filter((row) =>
    holds(
      where,
      (path) => row[slots.get(path.id)!],
      (each) => row[told.get(each)!] === true,
    ),
  );
}

/**
 * The texts that satisfy the test. Returns undefined if the test is cheap enough to evaluate row by row. For sources
 * that hold their rows in the process. Throws TIMED_OUT or CANCELLED.
 */
export async function keepTexts(
  test: Filter & { readonly op: 'test' },
  texts: () => ReadonlySet<string>,
  options: ReadOptions,
): Promise<ReadonlySet<string> | undefined> {
  if (!patterns.has(test.is)) return undefined;
  const rows = [...texts()].map((text) => [text]);
  const weigh = weightOf(test.is, test.value);
  if (rows.reduce((work, [text]) => work + weigh(text!.length), 0) <= WORK_HERE) return undefined;
  const step: RowFilter = { where: test, slots: new Map([[test.path.id, 0]]), told: new Map() };
  const kept = await keepAway(step, rows, options);
  return new Set(kept.map(([text]) => text as string));
}

const patterns: ReadonlySet<Operator> = new Set<Operator>([
  'Like',
  'ILike',
  'Contains',
  'NotContains',
  'IContains',
  'NotIContains',
]);

/** The rows in the order of the step. Throws TIMED_OUT or CANCELLED. */
export async function sortRows({ by }: RowOrder, rows: Row[], options: ReadOptions): Promise<Row[]> {
  let work = 0;
  const rounds = Math.ceil(Math.log2(rows.length + 1));
  for (const row of rows) for (const { slot } of by) work += rounds * (50 + sizeOf(row[slot]));
  if (work <= WORK_HERE) return rows.sort((a, b) => compareRows(a, b, by));
  return workers.use(
    async (ask) => {
      const keys = rows.map((row) => by.map(({ slot }) => row[slot]));
      await inBatches(keys, (batch) => ask({ keys: batch } satisfies DecideMessage));
      const columns = by.map(({ order }) => ({ field: factsOf(order.path.field), ascending: order.ascending }));
      const order = await ask<Uint32Array>({ by: columns } satisfies DecideMessage);
      return Array.from(order, (at) => rows[at]!);
    },
    systemClock,
    options,
  );
}

function compareRows(a: Row, b: Row, by: RowOrder['by']): number {
  for (const { slot, order } of by) {
    const difference = compareNullable(a[slot], b[slot], order.path.field);
    if (difference !== 0) return order.ascending ? difference : -difference;
  }
  return 0;
}

function keepAway(step: RowFilter, rows: readonly Row[], options: ReadOptions): Promise<Row[]> {
  const slots: Slot[] = [];
  const place = (slot: Slot): number => {
    const at = slots.indexOf(slot);
    return at >= 0 ? at : slots.push(slot) - 1;
  };
  const where = plainOf(step.where, step, place);
  return workers.use(
    async (ask: Ask) => {
      await ask({ where } satisfies DecideMessage);
      const kept: Row[] = [];
      await inBatches(rows, async (batch) => {
        const sent = batch.map((row) => slots.map((slot) => row[slot]));
        const verdicts = await ask<Uint8Array>({ rows: sent } satisfies DecideMessage);
        for (const [at, row] of batch.entries()) if (verdicts[at]) kept.push(row);
      });
      return kept;
    },
    systemClock,
    options,
  );
}

async function inBatches(rows: readonly Row[], send: (batch: readonly Row[]) => Promise<unknown>): Promise<void> {
  let batch: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    batch.push(row);
    for (const value of row) bytes += sizeOf(value);
    if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
    await send(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) await send(batch);
}

function plainOf(filter: Filter, step: RowFilter, place: (slot: Slot) => number): PlainWhere {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map((each) => plainOf(each, step, place)) };
    case 'not':
      return { op: 'not', of: plainOf(filter.of, step, place) };
    case 'test': {
      const { is, path, value } = filter;
      const at = place(step.slots.get(path.id)!);
      return { test: is, at, field: factsOf(path.field), value: is === 'Match' ? (value as Pattern).given : value };
    }
    case 'some':
    case 'found':
      return { told: place(step.told.get(filter)!) };
    case 'any':
      throw new Error(`what '${filter.relation.name}' leads to has not been planned`);
    default:
      return { op: filter.op };
  }
}

const factsOf = ({ type, collation }: Facts): Facts => ({ type, collation });

function testsOf(filter: Filter): readonly (Filter & { readonly op: 'test' })[] {
  if (filter.op === 'test') return [filter];
  if (filter.op === 'not') return testsOf(filter.of);
  return filter.op === 'and' || filter.op === 'or' ? filter.of.flatMap(testsOf) : [];
}

/** Estimates the nanoseconds of one test, as a function of the value's length in characters. */
function weightOf(is: Operator, value: unknown): (characters: number) => number {
  if (is === 'Match') return (characters) => 50 * (value as Pattern).size * (characters + 1);
  if (Array.isArray(value)) return (characters) => 30 * (value.length + 1) + value.length * Math.min(characters, 20);
  const length = sizeOf(value);
  if (is === 'Like' || is === 'ILike') return (characters) => 30 + 5 * (length + 5) * characters;
  if (/Contains$/.test(is)) return (characters) => 30 + (length + 5) * characters;
  return (characters) => 50 + 5 * characters;
}

/** Documents count as 8: their size is unknown without printing them, and only Missing applies to them. */
const sizeOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array
    ? value.length
    : Array.isArray(value)
      ? 20 * value.length
      : 8;
