// Charts are functions that users write: they ask for what they need, and say with a builder what it looks like. A chart of
// the whole agent is there for every caller whose Access sees them, which all do but at an address that names collections;
// one of a collection is about one record, which the caller must be allowed to read.
import type { Access } from '../core/caller.ts';
import { fail, isAppError } from '../core/errors.ts';
import { nearNames } from '../core/near.ts';
import { createChartBuilder } from './charts/builder.ts';
import type {
  ChartBuilder,
  ChartContext,
  ChartDefinition,
  ChartEntry,
  ChartResult,
  RecordChartContext,
} from './charts/definitions.ts';
import type { CustomizationContext } from './customize/definitions.ts';
import type { CallOptions } from './engine.ts';
import type { Collection } from './model/types.ts';
import { type Call, callOf, getCollection, type Operations, readOptions, rowsLimitOf, scopesOf } from './operations.ts';

import { executeRead } from './query/execute.ts';
import { lowerConditions } from './query/lower.ts';
import { planRead, totalOrder } from './query/plan-read.ts';
import { keysFilter, planTarget } from './query/plan-write.ts';
import { resolveName } from './query/resolve.ts';
import { shapeRecords } from './query/shape.ts';
import { and } from './query/simplify.ts';
import type { Query } from './query/types.ts';
import { insideViewOf, viewOf } from './query/view.ts';
import { type RecordId, unpackId } from './record-id.ts';
import { packReady } from './write-transaction.ts';

export interface Charts {
  /** Of the whole agent, or of one collection; in the order in which they were added. UNKNOWN_COLLECTION. */
  names(access: Access, collection?: string): readonly string[];
  /**
   * UNKNOWN_CHART; RECORD_NOT_FOUND also for a record that the caller may not see; CHART_FAILED when the code of the chart
   * throws, or gives what no method of the builder made. Errors of the engine that the chart met pass.
   */
  render(access: Access, request: ChartRequest, options?: CallOptions): Promise<ChartResult>;
}

export interface ChartRequest {
  readonly chart: string;
  /** Of a chart of a collection, which is about the record `id`. */
  readonly collection?: string;
  readonly id?: RecordId;
  /** Whose days and weeks its periods are; IANA name, the caller's when absent. */
  readonly timezone?: string;
}

type AnyChart = ChartDefinition<ChartContext> & ChartDefinition<RecordChartContext>;

/** CONFIGURATION for two charts of one name, and for a chart of records that nothing tells apart. */
export function createCharts(ops: Operations, entries: readonly ChartEntry[]): Charts {
  const byHome = new Map<string | undefined, Map<string, ChartEntry>>();
  for (const entry of entries) {
    const others = byHome.get(entry.collection) ?? new Map<string, ChartEntry>();
    checkEntry(ops, entry, others.get(entry.name));
    byHome.set(entry.collection, others.set(entry.name, entry));
  }

  const chartsOf = (access: Access, collection: string | undefined) =>
    collection === undefined && !access.seesAgentCharts ? undefined : byHome.get(collection);

  function find(access: Access, { chart, collection }: ChartRequest): ChartEntry {
    const known = chartsOf(access, collection);
    const near = nearNames(String(chart), [...(known?.keys() ?? [])]);
    return known?.get(chart) ?? fail('UNKNOWN_CHART', { chart: String(chart), near });
  }

  return {
    names(access, collection) {
      if (collection !== undefined) getCollection(ops.model, access, collection);
      return [...(chartsOf(access, collection)?.keys() ?? [])];
    },
    async render(access, request, options = {}) {
      const home = request.collection === undefined ? undefined : getCollection(ops.model, access, request.collection);
      const entry = find(access, request);
      const { timezone, id } = request;
      const call = callOf(ops, access, { ...(timezone !== undefined && { timezone }) }, options);
      const context = home ? await recordContext(call, home, id) : call.code();
      return run(entry, context, call.moment.zone);
    },
  };
}

function checkEntry(ops: Operations, { collection, name, at }: ChartEntry, other: ChartEntry | undefined): void {
  const refuse = (problem: string) => fail('CONFIGURATION', { problem: `${problem}. (${at})` });
  if (typeof name !== 'string' || name.trim() === '') refuse('A chart needs a name');
  if (other) refuse(`This adds the chart '${name}' a second time; the first is at ${other.at}`);
  if (collection !== undefined && ops.model.inside.get(collection)?.key.length === 0)
    refuse(`The chart '${name}' is about one record, and '${collection}' has no key to choose it by`);
}

/** Asserts that the caller may read the record, within the row scope, before any code of the chart runs. */
async function recordContext(
  call: Call,
  collection: Collection,
  id: RecordId | undefined,
): Promise<RecordChartContext> {
  const { ops, access } = call;
  const { name } = collection;
  if (!access.can('read', name)) fail('FORBIDDEN', { verb: 'read', collection: name });
  const visible = viewOf(access, collection);
  // Nobody may try out the values of a key that is hidden from him.
  if (!collection.key.every((column) => visible.columns.includes(column)))
    fail('FORBIDDEN', {
      verb: 'read',
      collection: name,
      why: 'its key is hidden from you. An administrator can show it.',
    });
  if (id === undefined)
    fail('INVALID_ARGUMENT', { argument: 'id', problem: `this chart is about one record of '${name}': send its id.` });
  const key = unpackId(collection.key, id, 'id', call.moment);
  const view = insideViewOf(access, collection);
  const target = planTarget(view);
  const packed = packReady(target, key);
  const getRecord = async (fields: readonly string[]): Promise<Record<string, unknown>> => {
    const scope = scopesOf(call);
    const scoped = await lowerConditions(scope, {}, { view, moment: call.moment, code: call.code });
    const query: Query = {
      collection,
      select: fields.map((field) => resolveName(view, field)),
      where: and(scoped, keysFilter(target, [key])),
      order: totalOrder(collection, []),
      limit: 1,
      skip: 0,
      cursor: false,
    };
    const plan = planRead(query, scope, rowsLimitOf(ops));
    const { rows } = await executeRead(plan, 1, readOptions(ops, call.options), call);
    return shapeRecords(rows, plan.shape)[0] ?? fail('RECORD_NOT_FOUND', { collection: name, id: packed });
  };
  await getRecord([]);
  const compositeRecordId = Object.freeze(key.map((part) => (typeof part === 'number' ? part : String(part))));
  const recordId = compositeRecordId.length === 1 ? compositeRecordId[0]! : packed;
  return Object.freeze({ ...call.code(), recordId, compositeRecordId, getRecord });
}

async function run(entry: ChartEntry, context: CustomizationContext, timezone: string): Promise<ChartResult> {
  const { name, at } = entry;
  const failWith = (cause: unknown) =>
    fail('CHART_FAILED', { chart: name }, new Error(`the chart '${name}', added at ${at}, failed`, { cause }));
  const { builder, made } = watchBuilder(createChartBuilder(timezone));
  let result: ChartResult;
  try {
    result = await (entry.definition as AnyChart)(context as RecordChartContext, builder);
  } catch (error) {
    if (isAppError(error)) throw error;
    return failWith(error);
  }
  if (made.has(result)) return result;
  return failWith(new TypeError('it must return what a method of the result builder gave'));
}

/** The same builder, and everything that it made. */
function watchBuilder(builder: ChartBuilder): { readonly builder: ChartBuilder; readonly made: ReadonlySet<unknown> } {
  const made = new Set<unknown>();
  const watched = Object.entries(builder).map(([name, make]: [string, (...given: unknown[]) => unknown]) => [
    name,
    (...given: unknown[]) => {
      const result = make(...given);
      made.add(result);
      return result;
    },
  ]);
  return { builder: Object.fromEntries(watched) as ChartBuilder, made };
}
