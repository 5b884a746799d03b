// A metric of a collection: a form for administrators. Its buttons that change conditions show the form again.

import type { StoredMetric } from '../../../../core/caller/meanings.ts';
import { fail } from '../../../../core/errors.ts';
import { html } from '../../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { isUnfinished } from '../../../ui/filter/state.ts';
import { field, openForm } from '../../../ui/form.ts';
import {
  emptyMetric,
  metricControls,
  readMetricForm,
  showsConditions,
  type TypedMetric,
  toMetric,
  toTypedMetric,
} from './metric-form.ts';
import {
  baseOf,
  findNameProblem,
  type MeaningTarget,
  meaningPage,
  metricPage,
  newMetricPage,
  overtaken,
  partAnswer,
  readTarget,
  save,
} from './places.ts';

interface MetricTarget extends MeaningTarget {
  /** Undefined for a new one. */
  readonly metric: string | undefined;
  readonly is: StoredMetric | undefined;
}

/** Throws NOT_FOUND for an unknown metric. */
function readMetricTarget(request: SignedInRequest, parts: Parts): MetricTarget {
  const target = readTarget(request, parts);
  const { metric } = request.params;
  const is = metric === undefined ? undefined : target.stored.metrics.get(metric);
  if (metric !== undefined && !is) fail('NOT_FOUND', { path: parts.paths.path(meaningPage(target.collection)) });
  return { ...target, metric, is };
}

type Problems = Readonly<Partial<Record<'name' | 'description' | 'figure' | 'divisor' | 'filter' | 'form', string>>>;

export async function showMetric(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = readMetricTarget(request, parts);
  const { metric, is, model, collection } = target;
  const typed = is ? toTypedMetric(metric!, is, model.describe, collection) : emptyMetric;
  return metricAnswer(request, parts, target, typed, {});
}

function metricAnswer(
  request: SignedInRequest,
  parts: Parts,
  { collection, model, metric, is }: MetricTarget,
  typed: TypedMetric,
  problems: Problems,
): Answer {
  const title = metric ?? 'New metric';
  const isWrong = Object.keys(problems).length > 0;
  const page = metric === undefined ? newMetricPage(collection) : metricPage(collection, metric);
  // The page says that somebody else changed the metric, so the next save replaces that change.
  const base = (problems.form === overtaken ? null : request.form.get('base')) ?? baseOf(is);
  const isWhole = !is || showsConditions(is, model.describe, collection);
  // The first button of a form is the one that Enter presses.
  const content = html`<h1>${title}</h1>
<p class="lead">A figure of the records of ${collection}. Assistants compute it by its name, with the rights of their user. People see it if they may see all its fields.</p>
${problems.form !== undefined && html`<p class="alert" role="alert">${problems.form}</p>`}
${!isWhole && html`<p class="alert" role="alert">This form cannot show the stored conditions: one of their fields no longer exists. Saving replaces them with those below.</p>`}
${openForm(request, parts, page)}<input type="hidden" name="base" value="${base}"><button class="unseen" name="action" value="save" tabindex="-1" aria-hidden="true">Save</button>
${metric === undefined && field({ id: 'name', label: 'Name', value: typed.name, maxLength: 100, problem: problems.name, hint: 'Such as revenue. To rename a metric, create another one.' })}
${metricControls({ typed, describe: model.describe, collection, problems })}
<div class="row-of-buttons"><button class="primary slim" name="action" value="save">Save</button>${is && html`<button class="danger slim" name="action" value="delete">Delete</button>`}</div></form>`;
  return partAnswer(request, parts, { collection, name: title, content, isWrong });
}

export async function saveMetric(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = readMetricTarget(request, parts);
  const { collection, model, metric, is } = target;
  const { form } = request;
  const typed = readMetricForm(form, model.describe, collection);
  const show = (problems: Problems) => metricAnswer(request, parts, target, typed, problems);
  if (form.has('do')) return show({});
  const name = metric ?? typed.name;
  const subject = { kind: 'metric', collection, name } as const;
  if (form.get('action') === 'delete' && is) {
    const isDeleted = await save(request, parts, subject, is, null);
    return isDeleted ? { to: `${meaningPage(collection)}?done=deleted` } : show({ form: overtaken });
  }
  const defined = toMetric(typed, model.describe, collection);
  const problems = findProblems(target, typed, defined);
  if (Object.keys(problems).length > 0) return show(problems);
  const isSaved = await save(request, parts, subject, is, defined);
  return isSaved ? { to: `${meaningPage(collection)}?done=saved` } : show({ form: overtaken });
}

function findProblems(
  { collection, model, code, stored, metric }: MetricTarget,
  { name, description, rows }: TypedMetric,
  defined: ReturnType<typeof toMetric>,
): Problems {
  const nameProblem =
    metric === undefined ? findNameProblem(name, [...code.metrics, ...stored.metrics.keys()]) : undefined;
  const isPart = typeof defined === 'string';
  const computed = isPart ? undefined : model.findMetricProblem(collection, defined);
  const length = description.replace(/\s+/g, ' ').trim().length;
  return {
    ...(nameProblem !== undefined && { name: nameProblem }),
    ...(length > 500 && { description: `At most 500 characters. This text has ${length}.` }),
    ...(isPart && { [defined]: 'Choose the field.' }),
    ...(isUnfinished(rows)
      ? { filter: 'A condition has no value. Enter one, or remove the condition.' }
      : computed !== undefined && { form: `The metric cannot be computed. ${computed}` }),
  };
}
