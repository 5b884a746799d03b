import { fail } from '../../core/errors.ts';
import type { CustomizationContext } from '../customize/definitions.ts';
import type { Column } from '../model/types.ts';
import { compareNullable, holds } from '../sources/evaluate.ts';
import type { ReadOptions, Row } from '../sources/source.ts';
import { computeField } from './compute.ts';
import { readyRows } from './shape.ts';
import type { Bound, Keep, ReadPlan, Sort, Step } from './types.ts';

export interface Found {
  /** As wide as the plan; ready for JSON. */
  readonly rows: Row[];
  readonly hasMore: boolean;
}

/** What the steps need; not looked at where a plan has none. */
export interface StepTools {
  readonly rowsLimit: number;
  readonly code: () => CustomizationContext;
  /** Told where so many rows were read for what the database could not decide. */
  many(rows: number, step: Bound): void;
}

/** One statement, or none where nothing can match, and then the steps. TOO_MANY_ROWS, CUSTOMIZATION_FAILED. */
export async function executeRead(
  plan: ReadPlan,
  limit: number | null,
  options: ReadOptions,
  tools: StepTools,
): Promise<Found> {
  if (!plan.select) return { rows: [], hasMore: false };
  let rows = await plan.source.read(plan.select, options);
  for (const step of plan.steps) rows = await runStep(step, rows, tools);
  const hasMore = limit !== null && rows.length > limit;
  if (hasMore) rows.length = limit;
  for (const step of plan.finish) await computeField(step, rows, tools.code());
  readyRows(rows, plan.binary);
  return { rows, hasMore };
}

async function runStep(step: Step, rows: Row[], tools: StepTools): Promise<Row[]> {
  switch (step.kind) {
    case 'bound':
      return bound(step, rows, tools);
    case 'compute':
      await computeField(step, rows, tools.code());
      return rows;
    case 'keep':
      return keep(step, rows);
    case 'sort':
      return rows.sort((a, b) => compareRows(a, b, step.by));
    case 'slice':
      return rows.slice(step.skip, step.skip + step.limit);
  }
}

function bound(step: Bound, rows: Row[], { rowsLimit, many }: StepTools): Row[] {
  many(rows.length, step);
  if (rows.length > rowsLimit)
    fail('TOO_MANY_ROWS', { collection: step.collection, field: step.field, limit: rowsLimit });
  return rows;
}

function keep({ where, slots }: Keep, rows: readonly Row[]): Row[] {
  return rows.filter((row) => holds(where, (path) => row[slots.get(path.id)!]));
}

function compareRows(a: Row, b: Row, by: Sort['by']): number {
  for (const { slot, order } of by) {
    const difference = compareNullable(a[slot], b[slot], order.path.field as Column);
    if (difference !== 0) return order.ascending ? difference : -difference;
  }
  return 0;
}
