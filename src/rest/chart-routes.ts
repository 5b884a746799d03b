// Charts that code draws: of the whole agent, or of one record, which the caller must be allowed to read. GET gives the bare
// value, POST the same as the answer of a statistic, as front ends ask for either.
import { randomId } from '../core/secret.ts';
import { isObject, readId, readParameter, refuseArgument } from './body.ts';
import { type Answer, type DataCall, type DataRequest, dataRoute, type Route } from './route.ts';

interface ChartCall {
  readonly chart: string;
  readonly collection?: string;
  readonly id?: string;
  readonly timezone?: string;
}

/** `record_id` and `timezone`, of the address or of the body. */
function parseChart({ params, query, body = {} }: DataRequest): ChartCall {
  if (!isObject(body)) return refuseArgument('body', 'expected an object such as {"record_id": "1"}.');
  const id = body.record_id ?? readParameter(query, 'record_id') ?? undefined;
  const timezone = body.timezone ?? readParameter(query, 'timezone') ?? undefined;
  if (timezone !== undefined && typeof timezone !== 'string') return refuseArgument('timezone', 'expected a text.');
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

async function drawValue({ id, ...chart }: ChartCall, { access, engine, signal }: DataCall): Promise<unknown> {
  if (chart.collection !== undefined && id === undefined)
    return refuseArgument('record_id', `this chart is about one record of '${chart.collection}': send its id.`);
  return engine.charts.render(access, { ...chart, ...(id !== undefined && { id }) }, { signal });
}

/** A document of the type that front ends read statistics from. */
export function statistic(value: unknown): Answer {
  return { status: 200, body: { data: { id: randomId(), type: 'stats', attributes: { value } } } };
}

const chartsAt = (path: string): readonly Route[] => {
  const row = { path, action: 'getChart', writes: false, parse: parseChart, subject } as const;
  const bare = async (asked: ChartCall, call: DataCall): Promise<Answer> => ({
    status: 200,
    body: (await drawValue(asked, call)) as NonNullable<Answer['body']>,
  });
  return [
    dataRoute({ ...row, method: 'GET', run: bare }),
    dataRoute({ ...row, method: 'POST', run: async (asked, call) => statistic(await drawValue(asked, call)) }),
  ];
};

export const chartRoutes: readonly Route[] = [
  ...chartsAt('/_charts/:chart'),
  ...chartsAt('/_charts/:collection/:chart'),
];
