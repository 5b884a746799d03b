// Filters and sorts in the process whatever the database cannot, using evaluate.ts. The cost depends on the rows, the
// conditions and, for text patterns, text length times pattern length. Callers control all of these. The cost is
// therefore estimated first: small work runs at once, the rest in a worker thread under the query's time limit.

import { systemClock } from '../../core/clock.ts';
import type { Operator } from '../../core/filter.ts';
import { resolveEntry } from '../../core/limit/entry.ts';
import { createWorkers, type SendMessage } from '../../core/limit/workers.ts';
import { comparedPaths, mapPaths } from './aggregate/expression.ts';
import { compareNullable, evaluateFilter } from './evaluate.ts';
import type { Pattern } from './pattern.ts';
import type { ReadOptions } from './source.ts';
import type { Comparison, Expression, Filter, Order, Path, Row, SourceColumn } from './statement.ts';

type ComparedColumn = Pick<SourceColumn, 'type' | 'collation'>;
/** The position of a value in a row. */
type Slot = number;

/** A condition on rows in memory. */
export interface RowFilter {
  readonly where: Filter;
  /** The slots of the tested values, by path id. */
  readonly slots: ReadonlyMap<string, Slot>;
  /** The slots of the results of conditions that the values cannot decide. */
  readonly subquerySlots: ReadonlyMap<object, Slot>;
}

export interface RowOrder {
  readonly by: readonly { readonly slot: Slot; readonly order: Order }[];
}

/** A filter in a form that can be posted to a worker: slots instead of paths. */
export interface PlainTest {
  readonly test: Operator;
  readonly at: Slot;
  readonly field: ComparedColumn;
  readonly value: unknown;
}
/** A path in a form that can be posted to a worker. */
type PlacedPath = Path & { readonly at: Slot };
export type PlainWhere =
  | PlainTest
  | {
      readonly compare: Comparison['is'];
      readonly left: Expression<PlacedPath>;
      readonly right: Expression<PlacedPath>;
    }
  | { readonly subquery: Slot }
  | { readonly op: 'and' | 'or'; readonly of: readonly PlainWhere[] }
  | { readonly op: 'not'; readonly of: PlainWhere }
  | { readonly op: 'always' | 'never' };

export type DecideMessage =
  | { readonly where: PlainWhere }
  | { readonly rows: readonly unknown[][] }
  | { readonly keys: readonly unknown[][] }
  | { readonly by: readonly { readonly field: ComparedColumn; readonly ascending: boolean }[] };

/** The most work done in the process, in estimated worst-case nanoseconds. */
const MAX_WORK_IN_PROCESS = 10_000_000;
/** The most rows, and approximate bytes, copied to a worker at a time. */
const BATCH_ROWS = 2000;
const BATCH_BYTES = 500_000;

const workers = createWorkers(resolveEntry('src/agent/sources/decide-worker.ts'), 2);

/** The rows that satisfy the condition. Throws TIMED_OUT or CANCELLED. */
export async function filterRows(step: RowFilter, rows: readonly Row[], options: ReadOptions): Promise<Row[]> {
  return filterRowsSync(step, rows) ?? filterInWorker(step, rows, options);
}

/** Like `filterRows`, but synchronous. Returns undefined if the work could take long. */
export function filterRowsSync({ where, slots, subquerySlots }: RowFilter, rows: readonly Row[]): Row[] | undefined {
  const tests = collectTests(where).flatMap((test) =>
    test.op === 'compare'
      ? comparedPaths(test).map((path) => ({ at: slots.get(path.id)!, weigh: compareCost }))
      : [{ at: slots.get(test.path.id)!, weigh: estimateCost(test.is, test.value) }],
  );
  let work = 0;
  for (const row of rows)
    for (const { at, weigh } of tests) {
      work += weigh(lengthOf(row[at]));
      if (work > MAX_WORK_IN_PROCESS) return undefined;
    }
  return rows.filter((row) =>
    evaluateFilter(
      where,
      (path) => row[slots.get(path.id)!],
      (each) => row[subquerySlots.get(each)!] === true,
    ),
  );
}

/**
 * The texts that satisfy the test. Returns undefined if the test is cheap enough to evaluate row by row. For sources
 * that hold their rows in the process. Throws TIMED_OUT or CANCELLED.
 */
export async function filterTexts(
  test: Filter & { readonly op: 'test' },
  texts: () => ReadonlySet<string>,
  options: ReadOptions,
): Promise<ReadonlySet<string> | undefined> {
  if (!patterns.has(test.is)) return undefined;
  const rows = [...texts()].map((text) => [text]);
  const weigh = estimateCost(test.is, test.value);
  if (rows.reduce((work, [text]) => work + weigh(text!.length), 0) <= MAX_WORK_IN_PROCESS) return undefined;
  const step: RowFilter = { where: test, slots: new Map([[test.path.id, 0]]), subquerySlots: new Map() };
  const matching = await filterInWorker(step, rows, options);
  return new Set(matching.map(([text]) => text as string));
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
  for (const row of rows) for (const { slot } of by) work += rounds * (50 + lengthOf(row[slot]));
  if (work <= MAX_WORK_IN_PROCESS) return rows.sort((a, b) => compareRows(a, b, by));
  return workers.use(
    async (ask) => {
      const keys = rows.map((row) => by.map(({ slot }) => row[slot]));
      await inBatches(keys, (batch) => ask({ keys: batch } satisfies DecideMessage));
      const columns = by.map(({ order }) => ({
        field: toComparedColumn(order.path.field),
        ascending: order.ascending,
      }));
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

function filterInWorker(step: RowFilter, rows: readonly Row[], options: ReadOptions): Promise<Row[]> {
  const slots: Slot[] = [];
  const positionOf = (slot: Slot): number => {
    const at = slots.indexOf(slot);
    return at >= 0 ? at : slots.push(slot) - 1;
  };
  const where = toPlainWhere(step.where, step, positionOf);
  return workers.use(
    async (ask: SendMessage) => {
      await ask({ where } satisfies DecideMessage);
      const matching: Row[] = [];
      await inBatches(rows, async (batch) => {
        const rowsOfBatch = batch.map((row) => slots.map((slot) => row[slot]));
        const verdicts = await ask<Uint8Array>({ rows: rowsOfBatch } satisfies DecideMessage);
        for (const [at, row] of batch.entries()) if (verdicts[at]) matching.push(row);
      });
      return matching;
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
    for (const value of row) bytes += lengthOf(value);
    if (batch.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
    await send(batch);
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) await send(batch);
}

function toPlainWhere(filter: Filter, step: RowFilter, place: (slot: Slot) => number): PlainWhere {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map((each) => toPlainWhere(each, step, place)) };
    case 'not':
      return { op: 'not', of: toPlainWhere(filter.of, step, place) };
    case 'test': {
      const { is, path, value } = filter;
      const at = place(step.slots.get(path.id)!);
      return {
        test: is,
        at,
        field: toComparedColumn(path.field),
        value: is === 'Match' ? (value as Pattern).source : value,
      };
    }
    case 'compare': {
      const placed = (expression: Expression) =>
        mapPaths(expression, ({ id, field }): PlacedPath => {
          // The worker reads the slot and how values compare.
          return { id, at: place(step.slots.get(id)!), field: toComparedColumn(field) } as unknown as PlacedPath;
        });
      return { compare: filter.is, left: placed(filter.left), right: placed(filter.right) };
    }
    case 'some':
    case 'found':
      return { subquery: place(step.subquerySlots.get(filter)!) };
    case 'any':
      throw new Error(`the target of '${filter.relation.name}' has not been planned`);
    default:
      return { op: filter.op };
  }
}

const toComparedColumn = ({ type, collation }: ComparedColumn): ComparedColumn => ({ type, collation });

function collectTests(filter: Filter): readonly (Filter & { readonly op: 'test' | 'compare' })[] {
  if (filter.op === 'test' || filter.op === 'compare') return [filter];
  if (filter.op === 'not') return collectTests(filter.of);
  return filter.op === 'and' || filter.op === 'or' ? filter.of.flatMap(collectTests) : [];
}

/** For each field of a comparison: exact arithmetic takes about a microsecond for an operation. */
const compareCost = (characters: number): number => 2000 + 5 * characters;

/** Estimates the nanoseconds of one test, as a function of the value's length in characters. */
function estimateCost(is: Operator, value: unknown): (characters: number) => number {
  if (is === 'Match') return (characters) => 50 * (value as Pattern).size * (characters + 1);
  if (Array.isArray(value)) return (characters) => 30 * (value.length + 1) + value.length * Math.min(characters, 20);
  const length = lengthOf(value);
  if (is === 'Like' || is === 'ILike') return (characters) => 30 + 5 * (length + 5) * characters;
  if (/Contains$/.test(is)) return (characters) => 30 + (length + 5) * characters;
  return (characters) => 50 + 5 * characters;
}

/** Documents count as 8: their size is unknown without printing them, and only Missing applies to them. */
const lengthOf = (value: unknown): number =>
  typeof value === 'string' || value instanceof Uint8Array
    ? value.length
    : Array.isArray(value)
      ? 20 * value.length
      : 8;
