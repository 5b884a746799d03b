// A segment of a collection: a form for administrators. Its buttons that change conditions, and the count, show the form
// again.
import type { StoredSegment } from '../../../../core/caller/meanings.ts';
import { fail, isAppError } from '../../../../core/errors.ts';
import type { PlainFilter } from '../../../../core/filter.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { dataPage } from '../../../paths.ts';
import { filterBuilder } from '../../../ui/filter/builder.ts';
import { readJsonFilter, readRows } from '../../../ui/filter/form.ts';
import { isUnfinished, noRows, type Rows, toFilter } from '../../../ui/filter/state.ts';
import { areaField, field, openForm } from '../../../ui/form.ts';
import { safeRows } from '../../rights/rows.ts';
import {
  baseOf,
  findNameProblem,
  type MeaningTarget,
  meaningPage,
  newSegmentPage,
  overtaken,
  partAnswer,
  readTarget,
  save,
  segmentPage,
} from './places.ts';

interface SegmentTarget extends MeaningTarget {
  /** Undefined for a new one. */
  readonly name: string | undefined;
  readonly is: StoredSegment | undefined;
}

interface TypedSegment {
  readonly name: string;
  readonly description: string;
  readonly rows: Rows;
}

/** Throws NOT_FOUND for an unknown segment. */
function readSegmentTarget(request: SignedInRequest, parts: Parts): SegmentTarget {
  const target = readTarget(request, parts);
  const { segment: name } = request.params;
  const is = name === undefined ? undefined : target.stored.segments.get(name);
  if (name !== undefined && !is) fail('NOT_FOUND', { path: parts.paths.path(meaningPage(target.collection)) });
  return { ...target, name, is };
}

interface Shown {
  readonly problems?: Readonly<Partial<Record<'name' | 'description' | 'filter' | 'form', string>>>;
  readonly preview?: Html;
}

/** A new segment begins with the filter of the URL, which a list of records sends. */
export async function showSegment(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = readSegmentTarget(request, parts);
  const { collection, model, name = '', is } = target;
  const given = is ? { filter: is.filter } : readJsonFilter(request.query.get('filter') ?? '');
  const filter = 'filter' in given ? given.filter : undefined;
  const rows = safeRows(filter, collection, model) ?? noRows;
  return segmentAnswer(request, parts, target, { name, description: is?.description ?? '', rows }, {});
}

function segmentAnswer(
  request: SignedInRequest,
  parts: Parts,
  { collection, model, name, is }: SegmentTarget,
  typed: TypedSegment,
  { problems = {}, preview }: Shown,
): Answer {
  const title = name ?? 'New segment';
  const isWrong = Object.keys(problems).length > 0;
  const page = name === undefined ? newSegmentPage(collection) : segmentPage(collection, name);
  // The page says that somebody else changed the segment, so the next save replaces that change.
  const base = (problems.form === overtaken ? null : request.form.get('base')) ?? baseOf(is);
  const isWhole = !is || safeRows(is.filter, collection, model) !== undefined;
  const listed =
    name !== undefined && `${parts.paths.path(dataPage(collection))}?${new URLSearchParams({ segment: name })}`;
  // The first button of a form is the one that Enter presses.
  const content = html`<h1>${title}</h1>
<p class="lead">A part of ${collection}, chosen by its name in lists and by assistants. People have it if they may see all its fields. It shows them only records that they may see.${listed !== false && html` <a href="${listed}">View its records</a>`}</p>
${problems.form !== undefined && html`<p class="alert" role="alert">${problems.form}</p>`}
${!isWhole && html`<p class="alert" role="alert">This form cannot show the stored conditions. Saving replaces them with those below.</p>`}
${openForm(request, parts, page)}<input type="hidden" name="base" value="${base}"><button class="unseen" name="action" value="save" tabindex="-1" aria-hidden="true">Save</button>
${name === undefined && field({ id: 'name', label: 'Name', value: typed.name, maxLength: 100, problem: problems.name, hint: 'Such as late orders. To rename a segment, create another one.' })}
${areaField({ id: 'description', label: 'Description', value: typed.description, rows: 2, problem: problems.description, hint: 'What belongs to it and what does not. At most 500 characters.' })}
<h2 class="plainly">Records that match</h2>
${problems.filter !== undefined && html`<p class="note" role="alert">${problems.filter}</p>`}
${filterBuilder({ rows: typed.rows, describe: model.describe, collection })}
${preview}
<div class="row-of-buttons"><button class="primary slim" name="action" value="save">Save</button><button class="plain slim" name="action" value="try">Count records</button>${is && html`<button class="danger slim" name="action" value="delete">Delete</button>`}</div></form>`;
  return partAnswer(request, parts, { collection, name: title, content, isWrong });
}

export async function saveSegment(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = readSegmentTarget(request, parts);
  const { collection, model, is } = target;
  const { form } = request;
  const text = (control: string) => (form.get(control) ?? '').replaceAll('\0', '');
  const rows = readRows(form, model.describe, collection);
  const typed = { name: text('name').trim(), description: text('description'), rows };
  const show = (shown: Shown) => segmentAnswer(request, parts, target, typed, shown);
  if (form.has('do')) return show({});
  const subject = { kind: 'segment', collection, name: target.name ?? typed.name } as const;
  if (form.get('action') === 'delete' && is) {
    const isDeleted = await save(request, parts, subject, is, null);
    return isDeleted ? { to: `${meaningPage(collection)}?done=deleted` } : show({ problems: { form: overtaken } });
  }
  const filter = toFilter(rows, model.describe, collection);
  const isCounted = form.get('action') === 'try';
  const problems = findProblems(target, typed, filter, isCounted);
  if (Object.keys(problems).length > 0) return show({ problems });
  if (isCounted) return show({ preview: await countPreview(request, parts, collection, filter!) });
  const description = typed.description.replace(/\s+/g, ' ').trim();
  const segment = { filter: filter!, ...(description !== '' && { description }) };
  const isSaved = await save(request, parts, subject, is, segment);
  return isSaved ? { to: `${meaningPage(collection)}?done=saved` } : show({ problems: { form: overtaken } });
}

function findProblems(
  { collection, model, code, stored, name: stays }: SegmentTarget,
  { name, description, rows }: TypedSegment,
  filter: PlainFilter | undefined,
  isCounted: boolean,
): NonNullable<Shown['problems']> {
  const isNamed = stays === undefined && !isCounted;
  const nameProblem = isNamed ? findNameProblem(name, [...code.segments, ...stored.segments.keys()]) : undefined;
  const refused = filter && model.findSegmentProblem(collection, { filter });
  const filterProblem = isUnfinished(rows)
    ? 'A condition has no value. Enter one, or remove the condition.'
    : filter === undefined
      ? 'Add a condition.'
      : refused;
  const { length } = description.replace(/\s+/g, ' ').trim();
  return {
    ...(nameProblem !== undefined && { name: nameProblem }),
    ...(length > 500 && { description: `At most 500 characters. This text has ${length}.` }),
    ...(filterProblem !== undefined && { filter: filterProblem }),
  };
}

/** With the rights of the administrator. */
async function countPreview(
  { access, signal }: SignedInRequest,
  { engine }: Parts,
  collection: string,
  filter: PlainFilter,
): Promise<Html> {
  try {
    const [matching, all] = [
      await engine.count(access, { collection, filter }, { signal }),
      await engine.count(access, { collection }, { signal }),
    ];
    const figures = new Intl.NumberFormat('en');
    return html`<div class="state" role="status"><div><b>${figures.format(matching)} of the ${figures.format(all)} ${collection} that you see match</b></div></div>`;
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    return html`<p class="warning" role="status">The records could not be counted with your rights: ${error.message}</p>`;
  }
}
