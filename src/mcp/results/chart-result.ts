// Chart results for a model: figures stay as they are, and series become a table. The shape of the data decides, also
// for a `smart` chart.
import type { ChartResult } from '../../agent/charts/definitions.ts';
import { type Table, tableText } from './table.ts';
import { fitsTokens } from './tokens.ts';

type Json = Readonly<Record<string, unknown>>;

const advice = 'Ask the operator for a chart of longer periods, or use aggregate.';

/** `{value}`, `{value, previous}`, `{value, objective}`, `{columns, rows}`, or `{data}` for a smart chart. */
export function chartText(result: ChartResult, budgetTokens: number): string {
  const table = toTable(result);
  if (table) return tableText(table, budgetTokens, { of: 'rows', advice });
  const text = JSON.stringify(toFigures(result));
  if (fitsTokens(text, budgetTokens)) return text;
  // A character rarely costs more than one token.
  const start = JSON.stringify(result).slice(0, budgetTokens);
  return JSON.stringify({
    start,
    note: `Cut: an answer is limited to about ${budgetTokens} tokens.`,
  });
}

function toTable(result: ChartResult): Table | undefined {
  if (Array.isArray(result) && result.length > 0) {
    const items = result as readonly unknown[];
    if (items.every((item) => hasExactly(item, 'key', 'value'))) {
      return { columns: ['key', 'value'], rows: (items as readonly Json[]).map(({ key, value }) => [key, value]) };
    }
    if (items.every((item) => hasExactly(item, 'label', 'values') && hasExactly(item.values, 'value'))) {
      const points = items as readonly { readonly label: unknown; readonly values: Json }[];
      return { columns: ['period', 'value'], rows: points.map(({ label, values }) => [label, values.value]) };
    }
  }
  if (!hasExactly(result, 'labels', 'values') || !Array.isArray(result.labels) || !Array.isArray(result.values)) {
    return undefined;
  }
  const lines = result.values as readonly unknown[];
  if (!lines.every((line) => hasExactly(line, 'key', 'values') && Array.isArray(line.values))) return undefined;
  const series = lines as readonly { readonly key: unknown; readonly values: readonly unknown[] }[];
  return {
    columns: [result.labels.every(isPeriodLabel) ? 'period' : 'key', ...series.map(({ key }) => String(key))],
    rows: result.labels.map((label: unknown, at) => [label, ...series.map(({ values }) => values[at])]),
  };
}

/** As charts label periods: `31/03/2024`, `W13-2024`, `Mar 24`, `Q1-2024`, `2024`, or an hour that begins with its day. */
const isPeriodLabel = (label: unknown): boolean =>
  /^(\d\d\/\d\d\/\d{4}|W\d{1,2}-\d{4}|[A-Z][a-z]{2} \d\d|Q[1-4]-\d{4}|\d{4}|\d{4}-\d\d.*)$/.test(String(label));

function toFigures(result: ChartResult): unknown {
  if (typeof result === 'number' || typeof result === 'string') return { value: result };
  if (hasExactly(result, 'countCurrent')) return { value: result.countCurrent };
  if (hasExactly(result, 'countCurrent', 'countPrevious')) {
    return { value: result.countCurrent, previous: result.countPrevious };
  }
  return hasExactly(result, 'value', 'objective') ? result : { data: result };
}

/** Whether the value is an object with exactly these members. */
function hasExactly(value: unknown, ...members: readonly string[]): value is Json {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value);
  return names.length === members.length && members.every((name) => names.includes(name));
}
