// What a collection means: its description, its fields and relations, its metrics and its segments.

import type { FieldMeaning, MeaningSubject } from '../../../../core/caller/meanings.ts';
import { fail } from '../../../../core/errors.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { empty, table } from '../../../ui/data.ts';
import { buttonTo, openForm } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { flash } from '../../../ui/notices.ts';
import { readModel } from '../../rights/model.ts';
import { meaningOf } from '../list/meanings.ts';
import { meaningControls, openParts } from './controls.ts';
import {
  baseOf,
  fieldPage,
  type MeaningTarget,
  meaningPage,
  metricPage,
  newMetricPage,
  newSegmentPage,
  overtaken,
  readTarget,
  save,
  segmentPage,
  storedOf,
  under,
} from './places.ts';
import { type ReadMeaning, readMeaning, readTyped, type Typed, textForm, toTyped } from './texts.ts';

const done = { saved: 'Saved. Assistants use it from their next call.', deleted: 'Deleted.' };

interface Shown {
  readonly typed?: Typed;
  readonly problems?: ReadMeaning['problems'];
  readonly problem?: string;
}

export async function showMeanings(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return isKnown(request, parts)
    ? collectionAnswer(request, parts, readTarget(request, parts), {})
    : leftoverAnswer(request, parts);
}

const isKnown = ({ access, params }: SignedInRequest, { engine }: Parts): boolean =>
  readModel(engine, access.caller).collections.includes(params.collection!);

function collectionAnswer(request: SignedInRequest, parts: Parts, target: MeaningTarget, shown: Shown): Answer {
  const { collection, described, code, stored } = target;
  const { typed = toTyped(stored.meaning), problems, problem } = shown;
  const isWrong = problem !== undefined || problems !== undefined;
  const comment = code.meaning.description === undefined ? described.description : undefined;
  const content = html`<h1>${collection}</h1>
${flash(done, request.query)}
<p class="lead">Assistants read these texts before they ask for records.</p>
${problem !== undefined && html`<p class="alert" role="alert">${problem}</p>`}
${openForm(request, parts, meaningPage(collection))}<input type="hidden" name="base" value="${baseOf(stored.meaning)}">
${meaningControls({ form: textForm, typed, code: code.meaning, comment, problems })}
<div class="row-of-buttons"><button class="primary slim" name="action" value="save"${openParts(textForm, code.meaning).length === 0 && html` disabled`}>Save</button></div></form>
${metricSection(parts, target)}
${segmentSection(parts, target)}
${fieldSection(request, parts, target)}
${leftovers(request, parts, collection, target)}`;
  const page = createFramedPage(request, parts, {
    ...{ title: isWrong ? `Error: ${collection}` : `Meanings of ${collection}`, under, content, here: collection },
  });
  return { page, ...(isWrong && { status: 400 }) };
}

const nothing = html`<em class="none">Not described</em>`;
const saysAnything = ({ description, synonyms, examples, values }: FieldMeaning): boolean =>
  [description, synonyms, examples, values].some((part) => part !== undefined);

function fieldSection({ access }: SignedInRequest, parts: Parts, { collection }: MeaningTarget): Html {
  const described = readModel(parts.engine, access.caller, access.meanings).describe(collection)!;
  const link = (name: string, type: string) =>
    html`<a href="${parts.paths.path(fieldPage(collection, name))}">${name}</a><small>${type}</small>`;
  const fields = [...described.fields, ...(described.aggregates?.fields ?? [])];
  const rows = [
    ...fields.map((field) => [
      link(field.name, field.unit === undefined ? field.type : `${field.type}, in ${field.unit}`),
      html`${saysAnything(field) ? meaningOf(field) : nothing}${field.hiddenByDefault && html`<small>Read only if named</small>`}`,
    ]),
    ...described.relations.map((relation) => [
      link(relation.name, `${relation.kind} of ${relation.to}`),
      saysAnything(relation) ? meaningOf(relation) : nothing,
    ]),
  ];
  return html`<h2 class="plainly">Fields and relations</h2>
${table({ caption: `Fields of ${collection}`, heads: ['Field', 'Meaning'], rows })}`;
}

function metricSection({ paths }: Parts, { collection, model, described, stored }: MeaningTarget): Html {
  const rows = definitionRows(
    'metric',
    described.metrics,
    [...stored.metrics].map(([name, metric]) => ({
      ...{ name, description: metric.description, page: paths.path(metricPage(collection, name)) },
      problem: model.findMetricProblem(collection, metric),
    })),
  );
  return html`<div class="headed metrics"><h2 class="plainly">Metrics</h2><a class="button plain slim" href="${paths.path(newMetricPage(collection))}">New metric</a></div>
${rows.length > 0 ? table({ caption: `Metrics of ${collection}`, heads: ['Metric', 'Meaning'], rows }) : empty('No metrics', 'A metric names a figure, such as revenue. All assistants then compute it in the same way.')}`;
}

function segmentSection({ paths }: Parts, { collection, model, code, stored }: MeaningTarget): Html {
  const rows = definitionRows(
    'segment',
    code.segments.map((name) => ({ name })),
    [...stored.segments].map(([name, segment]) => ({
      ...{ name, description: segment.description, page: paths.path(segmentPage(collection, name)) },
      problem: model.findSegmentProblem(collection, segment),
    })),
  );
  return html`<div class="headed metrics"><h2 class="plainly">Segments</h2><a class="button plain slim" href="${paths.path(newSegmentPage(collection))}">New segment</a></div>
${rows.length > 0 ? table({ caption: `Segments of ${collection}`, heads: ['Segment', 'Meaning'], rows }) : empty('No segments', 'A segment names a filter, such as late orders. People and assistants then list the same records.')}`;
}

interface DefinitionOfConsole {
  readonly name: string;
  readonly description: string | undefined;
  readonly page: string;
  /** Why it cannot be used. */
  readonly problem: string | undefined;
}

/** Those of code first. */
function definitionRows(
  kind: 'metric' | 'segment',
  ofCode: readonly { readonly name: string; readonly description?: string }[],
  ofConsole: readonly DefinitionOfConsole[],
): readonly (readonly (string | Html)[])[] {
  return [
    ...ofCode.map(({ name, description }) => [name, html`${description}<small>Set in code</small>`]),
    ...ofConsole.map(({ name, description, page, problem: computed }) => {
      const problem = ofCode.some((each) => each.name === name)
        ? `Code defines a ${kind} of this name, which assistants see instead.`
        : computed;
      return [
        html`<a href="${page}">${name}</a>`,
        html`${description}${problem !== undefined && html`<small>Assistants do not see it: ${problem}</small>`}`,
      ];
    }),
  ];
}

/** What is stored about fields that do not exist any more. */
function leftovers(
  request: SignedInRequest,
  parts: Parts,
  collection: string,
  target: Pick<MeaningTarget, 'model'> | undefined,
): Html | false {
  const { meaning, fields, metrics, segments } = storedOf(request, collection);
  const known = target?.model.fields(collection) ?? [];
  const subjects: readonly MeaningSubject[] = [
    ...(meaning && !target ? [{ kind: 'collection', collection } as const] : []),
    ...[...fields.keys()]
      .filter((name) => !known.includes(name))
      .map((name) => ({ kind: 'field', collection, name }) as const),
    ...(target ? [] : [...metrics.keys()].map((name) => ({ kind: 'metric', collection, name }) as const)),
    ...(target ? [] : [...segments.keys()].map((name) => ({ kind: 'segment', collection, name }) as const)),
  ];
  const rows = subjects.map((subject) => {
    const name = 'name' in subject ? subject.name : subject.kind === 'collection' ? subject.collection : '';
    const values = { kind: subject.kind, name, base: baseOf(currentOf(request, subject)) };
    return [
      html`${name}<small>${subject.kind}</small>`,
      buttonTo(request, parts, {
        page: meaningPage(collection),
        action: 'delete',
        text: 'Delete',
        label: `Delete the meaning of ${name}`,
        values,
      }),
    ];
  });
  return (
    rows.length > 0 &&
    html`<h2 class="plainly">No longer in the model</h2>
<p class="quietly">The model does not have these names any more, so assistants do not see their texts. They see them again when the names come back.</p>
${table({ caption: `Stored meanings of ${collection} without a field`, heads: ['Name', ''], rows })}`
  );
}

function currentOf(request: SignedInRequest, subject: MeaningSubject): unknown {
  if (subject.kind === 'introduction') return request.access.meanings?.introduction;
  const stored = storedOf(request, subject.collection);
  if (subject.kind === 'collection') return stored.meaning;
  return stored[`${subject.kind}s`].get(subject.name);
}

/** A collection that the model does not have any more. */
function leftoverAnswer(request: SignedInRequest, parts: Parts): Answer {
  const collection = request.params.collection!;
  const left = leftovers(request, parts, collection, undefined);
  if (left === false) return fail('NOT_FOUND', { path: parts.paths.path(under) });
  const content = html`<h1>${collection}</h1>${flash(done, request.query)}${left}`;
  return {
    page: createFramedPage(request, parts, { title: `Meanings of ${collection}`, under, content, here: collection }),
  };
}

export async function saveMeanings(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form, params } = request;
  const collection = params.collection!;
  if (form.get('action') === 'delete') return removeLeftover(request, parts, collection);
  const target = readTarget(request, parts);
  const { stored, code } = target;
  const typed = readTyped(form);
  const { value, problems } = readMeaning(typed, textForm, openParts(textForm, code.meaning));
  if (problems.size > 0) return collectionAnswer(request, parts, target, { typed, problems });
  const isSaved = await save(request, parts, { kind: 'collection', collection }, stored.meaning, value);
  if (!isSaved) return collectionAnswer(request, parts, target, { typed, problem: overtaken });
  return { to: `${meaningPage(collection)}?done=saved` };
}

async function removeLeftover(request: SignedInRequest, parts: Parts, collection: string): Promise<Answer> {
  const { form } = request;
  const name = form.get('name') ?? '';
  const kind = (['field', 'metric', 'segment'] as const).find((each) => each === form.get('kind'));
  const subject: MeaningSubject = kind ? { kind, collection, name } : { kind: 'collection', collection };
  await save(request, parts, subject, currentOf(request, subject), null);
  // The page shows what is left, even if another user was faster.
  const hasMore = isKnown(request, parts) || storedOf(request, collection).fields.size > 1;
  return { to: hasMore ? `${meaningPage(collection)}?done=deleted` : `${under}?done=deleted` };
}
