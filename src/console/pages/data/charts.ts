// The charts of the agent and of one record. A chart runs code, so it is calculated when somebody opens it: by the tool
// getChart, with the rights and the log entry of a call.

import { chartNames } from '../../../agent/charts/visible.ts';
import { type Html, html } from '../../../http/html.ts';
import { CONSOLE } from '../../../mcp/playground.ts';
import type { Parts, SignedInRequest } from '../../page-request.ts';
import { recordPage } from '../../paths.ts';
import { bar, scaleOf } from '../../ui/chart.ts';
import { table } from '../../ui/data.ts';
import { isOffered, under } from './access.ts';
import { cell } from './cells.ts';

interface ChartHome {
  readonly collection: string;
  readonly id: string;
}

/** Links to the charts, and the one that the query names. */
export async function chartSection(
  home: ChartHome | undefined,
  { access, query, signal }: SignedInRequest,
  { engine, playground, paths, ...parts }: Parts,
): Promise<Html | false> {
  if (!playground || !isOffered(parts, 'getChart')) return false;
  const names = chartNames({ access, engine }, home?.collection);
  if (names.length === 0) return false;
  const page = paths.path(home ? recordPage(home.collection, home.id) : under);
  const links = names.map(
    (name) =>
      html`<a class="button plain slim" href="${page}?${new URLSearchParams({ chart: name }).toString()}#charts">${name}</a>`,
  );
  const chosen = query.get('chart') ?? '';
  const called = names.includes(chosen)
    ? await playground.call({
        userId: access.caller.id,
        tool: 'getChart',
        args: { chartName: chosen, ...(home && { collectionName: home.collection, recordId: home.id }) },
        signal,
        client: CONSOLE,
      })
    : undefined;
  const shown =
    called &&
    (called.failure
      ? html`<p class="alert" role="alert">${called.failure.message}</p>`
      : drawChart(chosen, JSON.parse(called.text) as ChartFigures));
  return html`<section id="charts" aria-labelledby="charts-title"><h2 class="plainly" id="charts-title">Charts</h2><div class="deeds">${links}</div>${shown}</section>`;
}

interface ChartFigures {
  readonly value?: unknown;
  readonly previous?: unknown;
  readonly objective?: unknown;
  readonly columns?: readonly string[];
  readonly rows?: readonly (readonly unknown[])[];
}

function drawChart(name: string, figures: ChartFigures): Html {
  const { value, previous, objective, columns, rows } = figures;
  if (columns && rows) {
    // Measures of a chart have different units.
    const scales = columns.map((_, at) => scaleOf(rows.map((row) => row[at])));
    const figure = (each: unknown, at: number) =>
      html`<span class="bar">${bar(each, scales[at + 1]!)}${cell(each)}</span>`;
    return table({
      caption: name,
      heads: columns,
      rows: rows.map(([label, ...values]) => [cell(label), ...values.map(figure)]),
    });
  }
  if (value === undefined)
    return html`<pre class="json" tabindex="0" aria-label="${name}">${JSON.stringify(figures, null, 2)}</pre>`;
  const against = objective ?? previous;
  return html`<p class="figure"><b>${cell(value)}</b>${against !== undefined && html` <span>${objective === undefined ? 'before:' : 'of'} ${cell(against)}</span>`}</p>`;
}
