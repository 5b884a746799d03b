// Charts are functions of the user, which read data and describe the chart with a builder, or measures (measures.ts).
// Charts of the agent are visible to callers whose Access includes them, functions to all: except on endpoints limited
// to some collections. A chart of a collection shows one record, which the caller must be allowed to read.
import type { Access } from '../../core/caller.ts';
import { CodeFailure } from '../../core/errors/code-failure.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import type { CustomizationContext } from '../customize/context.ts';
import { type RecordId, unpackId } from '../encode/record-id.ts';
import { shapeRecords } from '../encode/records.ts';
import { executeRead } from '../execute/read.ts';
import { lowerConditions } from '../lower/filter.ts';
import { and } from '../lower/simplify.ts';
import type { Collection } from '../model/types.ts';
import {
  type Call,
  callOf,
  getCollection,
  type Operations,
  readOptions,
  rowsLimitOf,
  scopesOf,
} from '../operations/call.ts';
import { planRead, totalOrder } from '../plan/read.ts';
import type { Query } from '../plan/types.ts';
import { keysFilter, planTarget } from '../plan/write.ts';
import type { CallOptions } from '../requests.ts';
import { resolveName } from '../resolve/names.ts';
import { hasOnlyAggregates, internalViewOf, viewOf } from '../resolve/visibility.ts';
import { packKey } from '../write/transaction.ts';
import { createChartBuilder } from './builder.ts';
import type {
  ChartBuilder,
  ChartContext,
  ChartDefinition,
  ChartEntry,
  ChartResult,
  MeasuresChart,
  RecordChartContext,
} from './definitions.ts';
import { canDraw, checkMeasuresChart, drawMeasures } from './measures.ts';

export interface Charts {
  /** The charts of the agent, or of one collection, in the order of the calls. UNKNOWN_COLLECTION. */
  names(access: Access, collection?: string): readonly string[];
  /**
   * UNKNOWN_CHART. RECORD_NOT_FOUND, also for a record that the caller may not see. CHART_FAILED if the code throws, or
   * returns a value that the builder did not make. Errors of the engine in the chart's code pass unchanged.
   */
  render(access: Access, request: ChartRequest, options?: CallOptions): Promise<ChartResult>;
  /** A chart that the caller defines. The errors of an aggregate; INVALID_ARGUMENT for what no chart can show. */
  draw(access: Access, chart: MeasuresChart, options?: CallOptions): Promise<ChartResult>;
}

export interface ChartRequest {
  readonly chart: string;
  /** For a chart of a collection, with the `id` of the record. */
  readonly collection?: string;
  readonly id?: RecordId;
  /** The timezone of days and weeks. IANA name; defaults to the caller's timezone. */
  readonly timezone?: string;
}

type AnyChart = ChartDefinition<ChartContext> & ChartDefinition<RecordChartContext>;

/** CONFIGURATION for two charts with the same name, and for a record chart of a collection without a key. */
export function createCharts(ops: Operations, entries: readonly ChartEntry[]): Charts {
  const byHome = new Map<string | undefined, Map<string, ChartEntry>>();
  for (const entry of entries) {
    const others = byHome.get(entry.collection) ?? new Map<string, ChartEntry>();
    checkEntry(ops, entry, others.get(entry.name));
    byHome.set(entry.collection, others.set(entry.name, entry));
  }

  const isVisible = (access: Access, { collection, definition }: ChartEntry): boolean =>
    (collection !== undefined || access.collections === null) &&
    (typeof definition === 'function' || canDraw(ops, access, definition));
  const namesOf = (access: Access, collection: string | undefined): string[] =>
    [...(byHome.get(collection)?.values() ?? [])].filter((entry) => isVisible(access, entry)).map(({ name }) => name);

  function find(access: Access, { chart, collection }: ChartRequest): ChartEntry {
    const entry = byHome.get(collection)?.get(chart);
    if (entry && isVisible(access, entry)) return entry;
    return fail('UNKNOWN_CHART', {
      chart: String(chart),
      near: suggestNames(String(chart), namesOf(access, collection)),
    });
  }

  return {
    names(access, collection) {
      if (collection !== undefined && hasOnlyAggregates(getCollection(ops.model, access, collection, 'aggregates')))
        return [];
      return namesOf(access, collection);
    },
    async render(access, request, options = {}) {
      const home = request.collection === undefined ? undefined : getCollection(ops.model, access, request.collection);
      const entry = find(access, request);
      const { timezone, id } = request;
      const { definition } = entry;
      if (typeof definition !== 'function')
        return drawMeasures(ops, access, { ...definition, ...(timezone !== undefined && { timezone }) }, options);
      const call = callOf(ops, access, { ...(timezone !== undefined && { timezone }) }, options);
      const context = home ? await recordContext(call, home, id) : call.code();
      return run(entry, context, call.moment.zone);
    },
    draw: (access, chart, options = {}) => drawMeasures(ops, access, chart, options),
  };
}

function checkEntry(
  ops: Operations,
  { collection, name, at, definition }: ChartEntry,
  other: ChartEntry | undefined,
): void {
  const refuse = (problem: string) => fail('CONFIGURATION', { problem: `${problem}. (${at})` });
  // Tools trim the names that they get.
  if (typeof name !== 'string' || name === '' || name.trim() !== name)
    refuse('A chart needs a name without spaces at its ends');
  if (other) refuse(`The chart '${name}' is already defined, at ${other.at}`);
  if (collection !== undefined && ops.model.internalCollections.get(collection)?.key.length === 0)
    refuse(`The chart '${name}' is for one record, but '${collection}' has no key to identify it`);
  if (typeof definition === 'function') return;
  try {
    checkMeasuresChart(ops, definition);
  } catch (error) {
    refuse(`The chart '${name}': ${(error as Error).message}`);
  }
}

/** Checks that the caller may read the record, within the row scope, before the chart's code runs. */
async function recordContext(
  call: Call,
  collection: Collection,
  id: RecordId | undefined,
): Promise<RecordChartContext> {
  const { ops, access } = call;
  const { name } = collection;
  if (!access.can('read', name)) fail('FORBIDDEN', { verb: 'read', collection: name });
  const visible = viewOf(access, collection);
  // Callers must not probe the values of a key that is hidden from them.
  if (!collection.key.every((column) => visible.columns.includes(column)))
    fail('FORBIDDEN', {
      verb: 'read',
      collection: name,
      why: 'its key is hidden from you. An administrator can show it.',
    });
  if (id === undefined)
    fail('INVALID_ARGUMENT', { argument: 'id', problem: `this chart is for one record of '${name}': send its id.` });
  const key = unpackId(collection.key, id, 'id', call.moment);
  const view = internalViewOf(access, collection);
  const target = planTarget(view);
  const packed = packKey(target, key);
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
    fail('CHART_FAILED', { chart: name }, new CodeFailure(`the chart '${name}', added at ${at}, failed`, cause));
  const { builder, results } = trackResults(createChartBuilder(timezone));
  let result: ChartResult;
  try {
    result = await (entry.definition as AnyChart)(context as RecordChartContext, builder);
  } catch (error) {
    if (isAppError(error)) throw error;
    return failWith(error);
  }
  if (results.has(result)) return result;
  return failWith(new TypeError('it must return a result of the result builder'));
}

/** Wraps the builder to record every result that it makes. */
function trackResults(builder: ChartBuilder): {
  readonly builder: ChartBuilder;
  readonly results: ReadonlySet<unknown>;
} {
  const results = new Set<unknown>();
  const watched = Object.entries(builder).map(([name, make]: [string, (...given: unknown[]) => unknown]) => [
    name,
    (...given: unknown[]) => {
      const result = make(...given);
      results.add(result);
      return result;
    },
  ]);
  return { builder: Object.fromEntries(watched) as ChartBuilder, results };
}
