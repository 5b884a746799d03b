import { fail } from '../../core/errors.ts';
import type { CustomizationContext, MaybePromise } from '../customize/context.ts';
import { readyRows } from '../encode/records.ts';
import { and } from '../lower/simplify.ts';
import type { Collection } from '../model/types.ts';
import { lookupsOf } from '../plan/cross-source.ts';
import type { Ask, Bound, Compute, Condition, Fetch, Lookup, ReadPlan, Select, Step } from '../plan/types.ts';
import { keepHere, keepRows, sortRows } from '../sources/decide.ts';
import type { ReadOptions } from '../sources/source.ts';
import type { Row } from '../sources/statement.ts';
import { computeField } from './compute.ts';
import { askTold, distinctKeys, fetchRelated, inTurns, STATEMENTS_AT_ONCE, settle } from './fetch-related.ts';

export interface Found {
  /** Rows with all slots of the plan, ready for JSON. */
  readonly rows: Row[];
  readonly hasMore: boolean;
}

/** The context of steps. Plans without steps do not use it. */
export interface StepTools {
  readonly rowsLimit: number;
  readonly code: () => CustomizationContext;
  /** Receives the number of rows that were read because the database cannot decide a condition or an order. */
  many(rows: number, step: Bound): void;
  /** Receives the number of stored values that do not fit their declared type. */
  misfits(count: number, step: Compute): void;
}

/** Runs the lookups, the statement (unless no row can match) and the steps. TOO_MANY_ROWS, CUSTOMIZATION_FAILED. */
export async function executeRead(
  plan: ReadPlan,
  limit: number | null,
  options: ReadOptions,
  tools: StepTools,
): Promise<Found> {
  if (!plan.select) return { rows: [], hasMore: false };
  let rows = await runPlan(plan, plan.select, options, tools);
  const hasMore = limit !== null && rows.length > limit;
  if (hasMore) rows.length = limit;
  for (const step of plan.finish) rows = await runStep(step, rows, options, tools);
  readyRows(rows, plan.binary);
  return { rows, hasMore };
}

/** Returns canonical values. */
async function runPlan(plan: ReadPlan, given: Select, options: ReadOptions, tools: StepTools): Promise<Row[]> {
  const select = plan.lookups.length ? await lookUp(given, plan.lookups, options, tools) : given;
  let rows = await plan.source.read(select, options);
  for (const step of plan.steps) rows = await runStep(step, rows, options, tools);
  return rows;
}

/** The condition with the results of its lookups. */
export function lookUpAll<C extends Condition>(condition: C, options: ReadOptions, tools: StepTools): MaybePromise<C> {
  const lookups = lookupsOf(condition);
  return lookups.length ? lookUp(condition, lookups, options, tools) : condition;
}

async function lookUp<C extends Condition>(
  condition: C,
  lookups: readonly Lookup[],
  options: ReadOptions,
  tools: StepTools,
): Promise<C> {
  const found = new Map<Lookup, readonly unknown[]>();
  await inTurns(lookups, STATEMENTS_AT_ONCE, async (lookup) => {
    found.set(lookup, await findKeys(lookup, options, tools));
  });
  return settle(condition, found);
}

async function findKeys({ plan, query, of }: Lookup, options: ReadOptions, tools: StepTools): Promise<unknown[]> {
  if (!plan.select) return [];
  const rows = await runPlan(plan, { limit: tools.rowsLimit + 1, ...plan.select }, options, tools);
  const key = query.select[0]!.path;
  const cure = cureFor(query.collection);
  const step: Bound = { kind: 'bound', collection: of.collection, field: of.name, column: key.field, cure };
  bound(step, rows, tools);
  return distinctKeys(rows, plan.columns[0]!, key);
}

const cureFor = ({ name }: Collection): string =>
  `filter by something else as well, or keep a copy of what is asked for where '${name}' is pointed to, since it lies in another data source`;

async function fetch(step: Fetch, rows: Row[], options: ReadOptions, tools: StepTools): Promise<Row[]> {
  const { plan } = step;
  const select = plan.select && (await lookUpAll(plan.select, options, tools));
  const settled = { ...plan, lookups: [] };
  await fetchRelated(step, rows, async (where) => {
    if (!select) return [];
    const found = await runPlan(settled, { ...select, where: and(where, select.where) }, options, tools);
    for (const each of plan.finish) await runStep(each, found, options, tools);
    return found;
  });
  return rows;
}

/** Whether the steps keep each row. A row has the columns of the plan, then the results of its `ask` steps. */
export async function decideRows(
  { steps, width }: ReadPlan,
  rows: readonly Row[],
  options: ReadOptions,
  tools: StepTools,
): Promise<boolean[]> {
  const wide = widen(steps, width, rows);
  let kept: Row[] = [...wide];
  for (const step of steps)
    if (step.kind !== 'bound' && step.kind !== 'ask') kept = await runStep(step, kept, options, tools);
  const those = new Set(kept);
  return wide.map((row) => those.has(row));
}

/** Synchronous. Undefined if the plan needs code or another source, or if the work could take long. */
export function decideAtOnce({ steps, width }: ReadPlan, rows: readonly Row[]): boolean[] | undefined {
  if (steps.some(({ kind }) => kind === 'fetch' || kind === 'compute')) return undefined;
  const wide = widen(steps, width, rows);
  let those: ReadonlySet<Row> = new Set(wide);
  for (const step of steps) {
    if (step.kind !== 'keep') continue;
    const kept = keepHere(step, [...those]);
    if (!kept) return undefined;
    those = new Set(kept);
  }
  return wide.map((row) => those.has(row));
}

/** Adds the missing slots before the results of the `ask` steps, which are last in a plan. */
function widen(steps: readonly Step[], width: number, rows: readonly Row[]): Row[] {
  const asked = steps.filter(({ kind }) => kind === 'ask').length;
  return rows.map((row) => {
    const told = row.length - asked;
    return [...row.slice(0, told), ...new Array<unknown>(width - row.length), ...row.slice(told)];
  });
}

async function runStep(step: Step, rows: Row[], options: ReadOptions, tools: StepTools): Promise<Row[]> {
  switch (step.kind) {
    case 'bound':
      return bound(step, rows, tools);
    case 'fetch':
      return fetch(step, rows, options, tools);
    case 'compute':
      await computeField(step, rows, tools.code(), tools.misfits);
      return rows;
    case 'ask':
      return ask(step, rows, options, tools);
    case 'keep':
      return keepRows(step, rows, options);
    case 'sort':
      return sortRows(step, rows, options);
    case 'slice':
      return rows.slice(step.skip, step.skip + step.limit);
  }
}

function bound(step: Bound, rows: Row[], { rowsLimit, many }: StepTools): Row[] {
  many(rows.length, step);
  if (rows.length > rowsLimit)
    fail('TOO_MANY_ROWS', {
      collection: step.collection,
      field: step.field,
      limit: rowsLimit,
      ...(step.cure && { cure: step.cure }),
    });
  return rows;
}

async function ask(step: Ask, rows: Row[], options: ReadOptions, tools: StepTools): Promise<Row[]> {
  const { select, source } = step.plan;
  const settled = select && (await lookUpAll(select, options, tools));
  await askTold(step, rows, async (where) =>
    settled ? source.read({ ...settled, where: and(where, settled.where) }, options) : [],
  );
  return rows;
}
