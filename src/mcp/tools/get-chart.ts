import type { ChartResult, MeasuresChart } from '../../agent/charts/definitions.ts';
import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { checkNames, type JsonObject, readRequiredText, readText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { formatId, readRecordId } from '../input/record-ids.ts';
import { chartText } from '../results/chart-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { type AggregateArguments, failWithInverseCall } from './aggregate/instead.ts';
import { parseAggregate, toRequest } from './aggregate/request.ts';

interface ChartArguments {
  readonly chart: string;
  /** Absent: a chart of the whole agent. */
  readonly collection: string | undefined;
  readonly id: RecordId | undefined;
  readonly timezone: string | undefined;
  /** A chart that the caller defines, in place of a name. */
  readonly measures: AggregateArguments | undefined;
}

export const getChart: Tool<ChartArguments> = {
  name: 'getChart',
  title: 'Figures of a chart',
  description:
    'Figures of a chart: chartName, of all data or of one record of a collection; or collectionName, measures and at most 2 groups as in aggregate.',
  scope: 'mcp:read',
  isVisible: toolVisibility.chart,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      chartName: { type: 'string' },
      collectionName: { type: 'string' },
      recordId: { type: 'string' },
      measures: { type: 'object' },
      groups: { type: 'array', items: {} },
      filters: { type: 'object' },
      timezone: { type: 'string' },
    },
  },
  parse,
  subject: ({ collection, id }) => ({
    ...(collection !== undefined && { collection }),
    ...(id !== undefined && { recordIds: [formatId(id)] }),
  }),
  run,
};

const ofMeasures = ['measures', 'groups', 'filters', 'having', 'sort', 'top', 'compare', 'includeEmpty'] as const;
const alsoOfMeasures = ['over', 'segment', 'search', 'limit'] as const;

function parse(input: JsonObject): ChartArguments {
  checkNames(input, ['chartName', 'collectionName', 'recordId', ...ofMeasures, ...alsoOfMeasures, 'timezone']);
  const isNamed = input.measures === undefined || input.measures === null;
  const other = [...ofMeasures, ...alsoOfMeasures].find((name) => input[name] !== undefined && input[name] !== null);
  if (isNamed && other !== undefined)
    fail('INVALID_ARGUMENT', { argument: other, problem: 'needs measures: {"measures":{"orders":{"count":true}}}.' });
  if (!isNamed) return parseMeasures(input);
  const args = {
    chart: readRequiredText(input, 'chartName', 'send the name of a chart; describeCollection lists them.'),
    collection: readText(input, 'collectionName')?.trim() || undefined,
    id: readRecordId(input, 'recordId'),
    timezone: readText(input, 'timezone') || undefined,
    measures: undefined,
  };
  if (args.id !== undefined && args.collection === undefined)
    fail('INVALID_ARGUMENT', { argument: 'collectionName', problem: 'send the collection of the record.' });
  return args;
}

function parseMeasures(input: JsonObject): ChartArguments {
  for (const argument of ['chartName', 'recordId'])
    if (input[argument] !== undefined && input[argument] !== null)
      fail('INVALID_ARGUMENT', { argument, problem: 'send either a chart or measures.' });
  const measures = parseAggregate(input);
  return { chart: '', collection: measures.collection, id: undefined, timezone: measures.timezone, measures };
}

async function run(args: ChartArguments, call: ToolCall): Promise<string> {
  const result = await (args.measures ? drawMeasures(args.measures, call) : renderNamed(args, call));
  return chartText(result, call.config.answerTokens);
}

/** The limit is that of the chart only if the caller sends one. */
async function drawMeasures(args: AggregateArguments, call: ToolCall): Promise<ChartResult> {
  const { limit, ...chart } = toRequest(args, args.limit ?? 0);
  const definition = { ...chart, ...(args.limit !== undefined && { limit }) } as MeasuresChart;
  return call.engine.charts
    .draw(call.access, definition, { signal: call.signal })
    .catch((error: unknown) => failWithInverseCall(args, call, error));
}

async function renderNamed(
  { chart, collection, id, timezone }: ChartArguments,
  { access, engine, signal }: ToolCall,
): Promise<ChartResult> {
  if (collection !== undefined) {
    // The caller must be able to see the collection and read its records before any error names its charts.
    engine.charts.names(access, collection);
    if (!access.can('read', collection)) fail('FORBIDDEN', { verb: 'read', collection });
  }
  const request = {
    chart,
    ...(collection !== undefined && { collection }),
    ...(id !== undefined && { id }),
    ...(timezone !== undefined && { timezone }),
  };
  const names = { id: 'recordId', collection: 'collectionName' };
  return withToolNames(names, () => engine.charts.render(access, request, { signal }));
}
