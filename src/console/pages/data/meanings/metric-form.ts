// A metric in a form: a figure, the records that count, and what the figure is divided by.
import type { StoredMetric } from '../../../../core/caller/meanings.ts';
import { type Html, html } from '../../../../http/html.ts';
import { filterBuilder } from '../../../ui/filter/builder.ts';
import { type Describe, fieldChoices } from '../../../ui/filter/fields.ts';
import { readRows } from '../../../ui/filter/form.ts';
import { noRows, type Rows, toFilter, toRows } from '../../../ui/filter/state.ts';
import { areaField, type Option, selectField } from '../../../ui/form.ts';

const operations = {
  count: 'Number of records',
  sum: 'Sum of a field',
  avg: 'Average of a field',
  median: 'Median of a field',
  min: 'Lowest value of a field',
  max: 'Highest value of a field',
  countDistinct: 'Different values of a field',
} as const;
type Operation = keyof typeof operations;

interface Figure {
  /** '' for none. */
  readonly operation: Operation | '';
  /** A field, or `relation:field`. */
  readonly of: string;
}

export interface TypedMetric {
  readonly name: string;
  readonly description: string;
  readonly figure: Figure;
  readonly divisor: Figure;
  readonly rows: Rows;
}

export const emptyMetric: TypedMetric = {
  ...{ name: '', description: '', rows: noRows },
  figure: { operation: 'count', of: '' },
  divisor: { operation: '', of: '' },
};

export function readMetricForm(form: URLSearchParams, describe: Describe, collection: string): TypedMetric {
  const text = (name: string) => (form.get(name) ?? '').replaceAll('\0', '');
  const figureAt = (name: string): Figure => {
    const operation = text(name);
    return { operation: Object.hasOwn(operations, operation) ? (operation as Operation) : '', of: text(`${name}-of`) };
  };
  return {
    ...{ name: text('name').trim(), description: text('description') },
    ...{ figure: figureAt('figure'), divisor: figureAt('divisor') },
    rows: readRows(form, describe, collection),
  };
}

/** Undefined for a figure without its field. */
function toBase({ operation, of }: Figure): Record<string, unknown> | undefined {
  if (operation === 'count') return { count: true };
  return operation === '' || of === '' ? undefined : { [operation]: of };
}

/** What the form defines, or the part that is missing. */
export function toMetric(
  { description, figure, divisor, rows }: TypedMetric,
  describe: Describe,
  collection: string,
): StoredMetric | 'figure' | 'divisor' {
  const base = toBase(figure);
  if (!base) return 'figure';
  const text = description.replace(/\s+/g, ' ').trim();
  const filter = toFilter(rows, describe, collection);
  const about = text === '' ? {} : { description: text };
  if (divisor.operation === '')
    return { measure: base, ...(filter && { filter }), ...about } as unknown as StoredMetric;
  const by = toBase(divisor);
  if (!by) return 'divisor';
  return {
    measure: { ratio: [{ ...base, ...(filter && { where: filter }) }, by] },
    ...about,
  } as unknown as StoredMetric;
}

/** Those of its records, or of the figure that is divided. */
function filterOf({ measure, filter }: StoredMetric): StoredMetric['filter'] {
  const [first] = 'ratio' in measure ? measure.ratio : [measure];
  return filter ?? ((first as Record<string, unknown>).where as StoredMetric['filter']);
}

/** Whether the form can show its conditions. It cannot if a field of theirs does not exist any more. */
export const showsConditions = (metric: StoredMetric, describe: Describe, collection: string): boolean =>
  toRows(filterOf(metric), describe, collection) !== undefined;

/** The metric in the form, without conditions that it cannot show. */
export function toTypedMetric(name: string, metric: StoredMetric, describe: Describe, collection: string): TypedMetric {
  const { measure, description = '' } = metric;
  const [first, second] = 'ratio' in measure ? measure.ratio : [measure];
  const { where: _, ...base } = first as Record<string, unknown>;
  return {
    ...{ name, description, figure: toFigure(base), divisor: toFigure((second ?? {}) as Record<string, unknown>) },
    rows: toRows(filterOf(metric), describe, collection) ?? noRows,
  };
}

function toFigure(measure: Readonly<Record<string, unknown>>): Figure {
  const [operation = '', of] = Object.entries(measure)[0] ?? [];
  return { operation: operation as Figure['operation'], of: typeof of === 'string' ? of : '' };
}

interface MetricControls {
  readonly typed: TypedMetric;
  readonly describe: Describe;
  readonly collection: string;
  /** By control. */
  readonly problems: Readonly<Partial<Record<'description' | 'figure' | 'divisor' | 'filter', string>>>;
}

export function metricControls({ typed, describe, collection, problems }: MetricControls): Html {
  const { description, figure, divisor, rows } = typed;
  const fields = fieldChoices(describe, collection).shown.map(({ path, label }): Option => [path, label]);
  const figureFields = (
    id: 'figure' | 'divisor',
    { operation, of }: Figure,
    label: string,
    none: readonly Option[],
  ) => {
    const known: readonly Option[] = of === '' || fields.some(([path]) => path === of) ? fields : [[of, of], ...fields];
    const options = [...none, ...Object.entries(operations)];
    return html`<div class="two">${selectField({ id, label, value: operation, options, problem: problems[id] })}
${selectField({ id: `${id}-of`, label: `${label}: field`, value: of, options: [['', 'No field'], ...known] })}</div>`;
  };
  return html`${areaField({
    ...{ id: 'description', label: 'Description', value: description, rows: 2, problem: problems.description },
    hint: 'What counts and what does not. At most 500 characters.',
  })}
${figureFields('figure', figure, 'Figure', [])}
<h2 class="plainly">Only records that match</h2>
${problems.filter !== undefined && html`<p class="note" role="alert">${problems.filter}</p>`}
${filterBuilder({ rows, describe, collection })}
${figureFields('divisor', divisor, 'Divided by', [['', 'Nothing']])}
<p class="quietly">The divisor covers all records, including those that do not match. So the number of records that match, divided by the number of records, is their share.</p>`;
}
