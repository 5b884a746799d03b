import { fail } from '../../core/errors.ts';
import type { CustomizationContext, MaybePromise } from '../customize/context.ts';
import { readyRows } from '../encode/records.ts';
import { and } from '../lower/simplify.ts';
import type { Collection } from '../model/types.ts';
import { collectLookups } from '../plan/cross-source.ts';
import type {
  ComputeStep,
  Condition,
  FetchStep,
  Lookup,
  ReadPlan,
  RowLimitStep,
  Select,
  Step,
  SubqueryStep,
} from '../plan/types.ts';
import { filterRows, filterRowsSync, sortRows } from '../sources/decide.ts';
import type { ReadOptions } from '../sources/source.ts';
import type { Row } from '../sources/statement.ts';
import { computeField } from './compute.ts';
import {
  distinctKeys,
  evaluateSubqueries,
  fetchRelated,
  inBatches,
  MAX_CONCURRENT_STATEMENTS,
  substituteLookups,
} from './fetch-related.ts';

interface ReadResult {
  /** Rows with all slots of the plan, ready for JSON. */
  readonly rows: Row[];
  readonly hasMore: boolean;
}

/** The context of steps. Plans without steps do not use it. */
export interface StepContext {
  readonly rowsLimit: number;
  readonly code: () => CustomizationContext;
  /** Receives the number of rows that were read because the database cannot decide a condition or an order. */
  onManyRows(rows: number, step: RowLimitStep): void;
  /** Receives the number of stored values that do not fit their declared type. */
  onMisfits(count: number, step: ComputeStep): void;
}

/** Runs the lookups, the statement (unless no row can match) and the steps. TOO_MANY_ROWS, CUSTOMIZATION_FAILED. */
export async function executeRead(
  plan: ReadPlan,
  limit: number | null,
  options: ReadOptions,
  context: StepContext,
): Promise<ReadResult> {
  if (!plan.select) return { rows: [], hasMore: false };
  let rows = await runPlan(plan, plan.select, options, context);
  const hasMore = limit !== null && rows.length > limit;
  if (hasMore) rows.length = limit;
  for (const step of plan.outputSteps) rows = await runStep(step, rows, options, context);
  readyRows(rows, plan.binary);
  return { rows, hasMore };
}

/** Returns canonical values. */
async function runPlan(plan: ReadPlan, select: Select, options: ReadOptions, context: StepContext): Promise<Row[]> {
  const resolved = plan.lookups.length ? await runLookups(select, plan.lookups, options, context) : select;
  let rows = await plan.source.read(resolved, options);
  for (const step of plan.steps) rows = await runStep(step, rows, options, context);
  return rows;
}

/** The condition with the results of its lookups. */
export function resolveLookups<C extends Condition>(
  condition: C,
  options: ReadOptions,
  context: StepContext,
): MaybePromise<C> {
  const lookups = collectLookups(condition);
  return lookups.length ? runLookups(condition, lookups, options, context) : condition;
}

async function runLookups<C extends Condition>(
  condition: C,
  lookups: readonly Lookup[],
  options: ReadOptions,
  context: StepContext,
): Promise<C> {
  const found = new Map<Lookup, readonly unknown[]>();
  await inBatches(lookups, MAX_CONCURRENT_STATEMENTS, async (lookup) => {
    found.set(lookup, await readLookupKeys(lookup, options, context));
  });
  return substituteLookups(condition, found);
}

async function readLookupKeys(
  { plan, query, of }: Lookup,
  options: ReadOptions,
  context: StepContext,
): Promise<unknown[]> {
  if (!plan.select) return [];
  const rows = await runPlan(plan, { limit: context.rowsLimit + 1, ...plan.select }, options, context);
  const key = query.select[0]!.path;
  const advice = adviceFor(query.collection);
  const step: RowLimitStep = { kind: 'bound', collection: of.collection, field: of.name, column: key.field, advice };
  checkRowLimit(step, rows, context);
  return distinctKeys(rows, plan.columns[0]!, key);
}

const adviceFor = ({ name }: Collection): string =>
  `add another condition, or store a copy of the filtered value in the collection that points to '${name}', which is in another data source`;

async function runFetch(step: FetchStep, rows: Row[], options: ReadOptions, context: StepContext): Promise<Row[]> {
  const { plan } = step;
  const select = plan.select && (await resolveLookups(plan.select, options, context));
  const resolvedPlan = { ...plan, lookups: [] };
  await fetchRelated(step, rows, async (where) => {
    if (!select) return [];
    const found = await runPlan(resolvedPlan, { ...select, where: and(where, select.where) }, options, context);
    for (const each of plan.outputSteps) await runStep(each, found, options, context);
    return found;
  });
  return rows;
}

/** Whether the steps keep each row. A row has the columns of the plan, then the results of its `ask` steps. */
export async function evaluateRows(
  { steps, width }: ReadPlan,
  rows: readonly Row[],
  options: ReadOptions,
  context: StepContext,
): Promise<boolean[]> {
  const wide = addMissingSlots(steps, width, rows);
  let remaining: Row[] = [...wide];
  for (const step of steps)
    if (step.kind !== 'bound' && step.kind !== 'ask') remaining = await runStep(step, remaining, options, context);
  const those = new Set(remaining);
  return wide.map((row) => those.has(row));
}

/** Synchronous. Undefined if the plan needs code or another source, or if the work could take long. */
export function evaluateRowsSync({ steps, width }: ReadPlan, rows: readonly Row[]): boolean[] | undefined {
  if (steps.some(({ kind }) => kind === 'fetch' || kind === 'compute')) return undefined;
  const wide = addMissingSlots(steps, width, rows);
  let those: ReadonlySet<Row> = new Set(wide);
  for (const step of steps) {
    if (step.kind !== 'keep') continue;
    const remaining = filterRowsSync(step, [...those]);
    if (!remaining) return undefined;
    those = new Set(remaining);
  }
  return wide.map((row) => those.has(row));
}

/** Adds the missing slots before the results of the `ask` steps, which are last in a plan. */
function addMissingSlots(steps: readonly Step[], width: number, rows: readonly Row[]): Row[] {
  const subqueryCount = steps.filter(({ kind }) => kind === 'ask').length;
  return rows.map((row) => {
    const subqueryStart = row.length - subqueryCount;
    return [...row.slice(0, subqueryStart), ...new Array<unknown>(width - row.length), ...row.slice(subqueryStart)];
  });
}

async function runStep(step: Step, rows: Row[], options: ReadOptions, context: StepContext): Promise<Row[]> {
  switch (step.kind) {
    case 'bound':
      return checkRowLimit(step, rows, context);
    case 'fetch':
      return runFetch(step, rows, options, context);
    case 'compute':
      await computeField(step, rows, context.code(), context.onMisfits);
      return rows;
    case 'ask':
      return runSubquery(step, rows, options, context);
    case 'keep':
      return filterRows(step, rows, options);
    case 'sort':
      return sortRows(step, rows, options);
    case 'slice':
      return rows.slice(step.skip, step.skip + step.limit);
  }
}

function checkRowLimit(step: RowLimitStep, rows: Row[], { rowsLimit, onManyRows: many }: StepContext): Row[] {
  many(rows.length, step);
  if (rows.length > rowsLimit)
    fail('TOO_MANY_ROWS', {
      collection: step.collection,
      field: step.field,
      limit: rowsLimit,
      ...(step.advice && { cure: step.advice }),
    });
  return rows;
}

async function runSubquery(
  step: SubqueryStep,
  rows: Row[],
  options: ReadOptions,
  context: StepContext,
): Promise<Row[]> {
  const { select, source } = step.plan;
  const resolvedSelect = select && (await resolveLookups(select, options, context));
  await evaluateSubqueries(step, rows, async (where) =>
    resolvedSelect ? source.read({ ...resolvedSelect, where: and(where, resolvedSelect.where) }, options) : [],
  );
  return rows;
}
