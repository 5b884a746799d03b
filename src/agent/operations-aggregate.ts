// Aggregates, in the phases of operations.ts: may the caller -> names and values -> one filter -> one plan -> one statement.
import type { Access } from '../core/caller.ts';
import { fail } from '../core/errors.ts';
import type { AggregateAnswer, AggregateRequest, CallOptions } from './engine.ts';
import { checkLimit, getCollection, momentOf, type Operations, readOptions, scopesOf } from './operations.ts';
import { lowerConditions } from './query/lower.ts';
import { type AggregatePlan, planAggregate } from './query/plan-aggregate.ts';
import type { Path } from './query/types.ts';
import { viewOf } from './query/view.ts';
import { aggregateRecords } from './sources/aggregate.ts';
import type { GroupSelect, ReadOptions, Row, Source } from './sources/source.ts';

/** The most records that are read where the source cannot aggregate. */
const RECORDS_LIMIT = 100_000;

export async function aggregate(
  ops: Operations,
  access: Access,
  request: AggregateRequest,
  options: CallOptions = {},
): Promise<AggregateAnswer> {
  const view = viewOf(access, getCollection(ops.model, access, request.collection));
  const moment = momentOf(ops, access, request);
  checkLimit(request.limit, ops.limits.pageSizeLimit);
  const scope = scopesOf(ops, access);
  const where = lowerConditions(scope, view, request, moment);
  const plan = planAggregate(view, request, where, scope, moment);
  const found = plan.group ? await run(plan, plan.group, readOptions(ops, options)) : nothing(request);
  return {
    columns: plan.columns,
    rows: found.slice(0, request.limit).map(([value, ...groups]) => [...groups, value]),
    hasMore: found.length > request.limit,
  };
}

/** No group, or the one number of no records. */
function nothing({ operation, groups }: AggregateRequest): Row[] {
  return groups?.length ? [] : [[operation === 'Count' ? 0 : null]];
}

async function run({ source }: AggregatePlan, group: GroupSelect, options: ReadOptions): Promise<Row[]> {
  return source.aggregate ? source.aggregate(group, options) : aggregateHere(source, group, options);
}

/** TOO_MANY_ROWS when more records match than are read. */
async function aggregateHere(source: Source, group: GroupSelect, options: ReadOptions): Promise<Row[]> {
  const { table, joins, where, groups, value } = group;
  const columns = [...new Set([...groups.map((key) => key.path), ...(value ? [value] : [])])];
  const rows = await source.read({ table, joins, where, columns, order: [], limit: RECORDS_LIMIT + 1 }, options);
  if (rows.length > RECORDS_LIMIT)
    fail('TOO_MANY_ROWS', { collection: table, field: columns[0]?.id ?? '', limit: RECORDS_LIMIT });
  const slots = new Map(columns.map((path, slot) => [path, slot]));
  return aggregateRecords(
    rows.map((row) => (path: Path) => row[slots.get(path)!] ?? null),
    group,
  );
}
