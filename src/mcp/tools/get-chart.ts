import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { checkNames, type JsonObject, readRequiredText, readText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { formatId, readRecordId } from '../input/record-ids.ts';
import { chartText } from '../results/chart-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface ChartArguments {
  readonly chart: string;
  /** Absent: a chart of the whole agent. */
  readonly collection: string | undefined;
  readonly id: RecordId | undefined;
  readonly timezone: string | undefined;
}

export const getChart: Tool<ChartArguments> = {
  name: 'getChart',
  title: 'Figures of a chart',
  description: 'Figures of a chart, of all data or of one record of a collection.',
  scope: 'mcp:read',
  isVisible: toolVisibility.chart,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      chartName: { type: 'string' },
      collectionName: { type: 'string' },
      recordId: { type: 'string' },
      timezone: { type: 'string' },
    },
    required: ['chartName'],
  },
  parse,
  subject: ({ collection, id }) => ({
    ...(collection !== undefined && { collection }),
    ...(id !== undefined && { recordIds: [formatId(id)] }),
  }),
  run,
};

function parse(input: JsonObject): ChartArguments {
  checkNames(input, ['chartName', 'collectionName', 'recordId', 'timezone']);
  const args = {
    chart: readRequiredText(input, 'chartName', 'send the name of a chart; describeCollection lists them.'),
    collection: readText(input, 'collectionName')?.trim() || undefined,
    id: readRecordId(input, 'recordId'),
    timezone: readText(input, 'timezone') || undefined,
  };
  if (args.id !== undefined && args.collection === undefined)
    fail('INVALID_ARGUMENT', { argument: 'collectionName', problem: 'send the collection of the record.' });
  return args;
}

async function run({ chart, collection, id, timezone }: ChartArguments, call: ToolCall): Promise<string> {
  const { access, engine, signal, config } = call;
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
  const result = await withToolNames(names, () => engine.charts.render(access, request, { signal }));
  return chartText(result, config.answerTokens);
}
