// Charts defined in code: for the whole agent, or for one record that the caller may read. GET returns the bare value.
// POST returns it as a statistic document. Clients use both.
import { randomId } from '../../core/secret.ts';
import { failArgument, isObject, readId, readParameter } from '../records/body.ts';
import { type Answer, type AnyDataRoute, type DataCall, type DataRequest, dataRoute } from '../route.ts';

interface ChartCall {
  readonly chart: string;
  readonly collection?: string;
  readonly id?: string;
  readonly timezone?: string;
}

/** Reads `record_id` and `timezone` from the query string or the body. */
function parseChart({ params, query, body = {} }: DataRequest): ChartCall {
  if (!isObject(body)) return failArgument('body', 'expected an object such as {"record_id": "1"}.');
  const id = body.record_id ?? readParameter(query, 'record_id') ?? undefined;
  const timezone = body.timezone ?? readParameter(query, 'timezone') ?? undefined;
  if (timezone !== undefined && typeof timezone !== 'string') return failArgument('timezone', 'expected a string.');
  return {
    chart: params.chart!,
    ...(params.collection !== undefined && { collection: params.collection }),
    ...(id !== undefined && { id: readId(id, 'record_id') }),
    ...(timezone !== undefined && { timezone }),
  };
}

const subject = ({ collection, id }: ChartCall) => ({
  ...(collection !== undefined && { collection }),
  ...(id !== undefined && { recordIds: [id] }),
});

async function renderValue({ id, ...chart }: ChartCall, { access, engine, signal }: DataCall): Promise<unknown> {
  if (chart.collection !== undefined && id === undefined)
    return failArgument('record_id', `this chart is for one record of '${chart.collection}': send its id.`);
  return engine.charts.render(access, { ...chart, ...(id !== undefined && { id }) }, { signal });
}

/** Returns a JSON:API document of type `stats`. */
export function toStatistic(value: unknown): Answer {
  return { status: 200, body: { data: { id: randomId(), type: 'stats', attributes: { value } } } };
}

const chartsAt = (path: string): readonly AnyDataRoute[] => {
  const row = { path, action: 'getChart', writes: false, parse: parseChart, subject } as const;
  const runBare = async (args: ChartCall, call: DataCall): Promise<Answer> => ({
    status: 200,
    body: (await renderValue(args, call)) as NonNullable<Answer['body']>,
  });
  return [
    dataRoute({ ...row, method: 'GET', run: runBare }),
    dataRoute({ ...row, method: 'POST', run: async (args, call) => toStatistic(await renderValue(args, call)) }),
  ];
};

export const chartRoutes: readonly AnyDataRoute[] = [
  ...chartsAt('/_charts/:chart'),
  ...chartsAt('/_charts/:collection/:chart'),
];
