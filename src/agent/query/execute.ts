import type { ReadOptions, Row } from '../sources/source.ts';
import { readyRows } from './shape.ts';
import type { ReadPlan } from './types.ts';

export interface Found {
  /** As wide as the statement; ready for JSON. */
  readonly rows: Row[];
  readonly hasMore: boolean;
}

/** One statement, or none where nothing can match. */
export async function executeRead(plan: ReadPlan, limit: number, options: ReadOptions): Promise<Found> {
  if (!plan.select) return { rows: [], hasMore: false };
  const rows = await plan.source.read(plan.select, options);
  const hasMore = rows.length > limit;
  if (hasMore) rows.length = limit;
  readyRows(rows, plan.binary);
  return { rows, hasMore };
}
