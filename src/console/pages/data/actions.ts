// Actions with their forms. Loading a form and running the action are the operations of the tools getActionForm and
// executeAction. A file cannot be sent from these pages.

import type { LayoutAnswer } from '../../../agent/actions/answer.ts';
import type { ActionDescription } from '../../../agent/actions/catalogue.ts';
import { RECORDS_LIMIT } from '../../../agent/write/target.ts';
import { type AppError, fail, isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { htmlToText } from '../../../http/html-text.ts';
import { parseInput } from '../../../workflows/input-requests/answers.ts';
import { type InputRequestField, toInputFields } from '../../../workflows/input-requests/fields.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { dataPage, recordPage, segment } from '../../paths.ts';
import { readNames } from '../../records/names.ts';
import { openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { inputName, isFileField, readValues, valueInput } from '../../ui/value-input.ts';
import { collectionLink, isOffered, logRead, requireCollection, under } from './access.ts';
import { type Change, makeChange, previewChange } from './change.ts';

export const actionPage = (collection: string, action: string): string =>
  `/act/${segment(collection)}/${segment(action)}`;

/** The actions that the viewer may run, and that the operator offers. */
export function actionsFor(
  collection: string,
  { access }: SignedInRequest,
  parts: Parts,
): readonly ActionDescription[] {
  const isOpen = parts.playground !== null && isOffered(parts, 'executeAction') && isOffered(parts, 'getActionForm');
  return isOpen ? parts.engine.actions.describe(access, collection) : [];
}

interface ActionTarget {
  readonly collection: string;
  readonly action: ActionDescription;
  readonly records: readonly string[];
  readonly fields: readonly InputRequestField[];
  readonly texts: readonly string[];
  /** Values so far, in the form that the tool takes. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: ReadonlyMap<string, string>;
}

/** Records of one call that the page names. */
const MAX_NAMED = 20;
/** A later field may depend on an earlier one, so the form is loaded until it has the values of all its fields. */
const MAX_LOADS = 5;

async function loadTarget(request: SignedInRequest, parts: Parts): Promise<ActionTarget> {
  const { name: collection } = requireCollection(request, parts);
  const { access, signal, form, query, params } = request;
  const action = actionsFor(collection, request, parts).find(({ name }) => name === params.action);
  if (!action) return fail('NOT_FOUND', { path: parts.paths.path(dataPage(collection)) });
  const isPosted = request.req.method === 'POST';
  const records = (isPosted ? form : query).getAll('record');
  if (records.length > RECORDS_LIMIT)
    return fail('INVALID_ARGUMENT', { argument: 'record', problem: `choose at most ${RECORDS_LIMIT} records.` });
  const startedAt = parts.clock.now();
  const log = (failure?: unknown) =>
    logRead(request, parts, {
      action: 'getActionForm',
      collection,
      ...(records.length > 0 && { recordIds: records }),
      startedAt,
      failure,
    });
  try {
    let values: Readonly<Record<string, unknown>> = {};
    for (let load = 1; ; load++) {
      const selected = {
        collection,
        action: action.name,
        values,
        ...(action.scope !== 'Global' && { recordIds: records }),
      };
      const loaded = await parts.engine.actions.loadForm(access, selected, { signal });
      const fields = toInputFields(loaded);
      const read = isPosted ? readTyped(fields, request) : { values: {}, problems: new Map<string, string>() };
      const isStable = JSON.stringify(read.values) === JSON.stringify(values);
      if (!isStable && load < MAX_LOADS) {
        values = read.values;
        continue;
      }
      log();
      return { collection, action, records, fields, texts: textsOf(loaded.layout ?? []), ...read };
    }
  } catch (error) {
    log(error);
    if (isAppError(error, 'RECORD_NOT_FOUND') || isAppError(error, 'INVALID_VALUE'))
      return fail('NOT_FOUND', { path: parts.paths.path(dataPage(collection)) });
    throw error;
  }
}

function readTyped(fields: readonly InputRequestField[], request: SignedInRequest) {
  const problems = new Map<string, string>();
  const given = Object.entries(readValues(fields, request)).flatMap(([name, value]) => {
    const field = fields.find((each) => each.name === name)!;
    try {
      // A form that did not show the field has no value for it.
      return request.form.has(inputName(field)) ? [[name, parseInput(field, value)] as const] : [];
    } catch (error) {
      if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
      problems.set(name, error.details.problem);
      return [];
    }
  });
  return { values: Object.fromEntries(given), problems };
}

const textsOf = (layout: readonly LayoutAnswer[]): readonly string[] =>
  layout.flatMap((element): readonly string[] => {
    if (element.component === 'HtmlBlock') return [htmlToText(element.content)].filter(Boolean);
    if (element.component === 'Row') return textsOf(element.fields);
    return element.component === 'Page' ? textsOf(element.elements) : [];
  });

interface Shown {
  readonly alert?: string;
  readonly problems?: ReadonlyMap<string, string>;
  readonly status?: number;
}

async function formPage(target: ActionTarget, request: SignedInRequest, parts: Parts, shown: Shown): Promise<Answer> {
  const { collection, action, records, fields, texts } = target;
  const named = records.slice(0, MAX_NAMED);
  const names = await readNames(
    request,
    parts,
    named.map((id) => ({ collection, id })),
  );
  const { alert, status, problems = target.problems } = shown;
  // Each button of the form has the name.
  const submitted = request.form.has('action') ? request.form : undefined;
  const hasFiles = fields.some(isFileField);
  const inputs = fields
    .filter((field) => !isFileField(field))
    .map((field, at) =>
      valueInput(field, at, {
        submitted: submitted?.has(inputName(field)) || field.type === 'boolean' ? submitted : undefined,
        fileLimitBytes: 0,
        submittedProblem: problems.get(field.name),
        isRetry: submitted !== undefined,
      }),
    );
  const content = html`<h1>${action.name}</h1>
${action.description !== undefined && html`<p class="lead">${action.description}</p>`}
${records.length > 0 && html`<p>On ${named.map((id, at) => html`${at > 0 && ', '}${names.link(collection, id)}`)}${records.length > named.length && ` and ${records.length - named.length} more`}</p>`}
${texts.map((text) => html`<p class="told">${text}</p>`)}
${alert !== undefined && html`<p class="alert" role="alert">${alert}</p>`}
${hasFiles && html`<p class="warning">This action takes a file, which you cannot send from this page. Ask your assistant, or use a workflow.</p>`}
${openForm(request, parts, actionPage(collection, action.name))}${recordInputs(records)}${inputs}
<div class="deeds"><a class="button plain slim" href="${parts.paths.path(backOf(target))}">Cancel</a>${fields.length > 0 && html`<button class="plain slim" name="action" value="update" formnovalidate>Update the form</button>`}<button class="primary slim" name="action" value="review">${action.submitButtonLabel ?? 'Continue'}</button></div></form>`;
  const title = alert === undefined ? action.name : `Error: ${action.name}`;
  return {
    page: createFramedPage(request, parts, { title, under, between: [collectionLink(collection, parts)], content }),
    ...(status !== undefined && { status }),
  };
}

const recordInputs = (records: readonly string[]): Html =>
  html`${records.map((id) => html`<input type="hidden" name="record" value="${id}">`)}`;

const backOf = ({ collection, records }: ActionTarget): string =>
  records.length === 1 ? recordPage(collection, records[0]!) : dataPage(collection);

export async function showAction(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return formPage(await loadTarget(request, parts), request, parts, {});
}

/** Shows the form of an action for records of a list. */
export async function openAction(
  action: string,
  records: readonly string[],
  alert: string | undefined,
  request: SignedInRequest,
  parts: Parts,
): Promise<Answer> {
  const form = new URLSearchParams(records.map((id): [string, string] => ['record', id]));
  const opened = { ...request, params: { ...request.params, action }, form };
  return formPage(await loadTarget(opened, parts), opened, parts, alert === undefined ? {} : { alert });
}

export async function runAction(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await loadTarget(request, parts);
  const { collection, action, records, fields, values, problems } = target;
  const button = request.form.get('action') ?? '';
  if (button === 'update' || button === 'edit') return formPage(target, request, parts, { problems: new Map() });
  if (button !== 'review' && button !== 'confirm')
    return fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons on the page.' });
  if (problems.size > 0) return formPage(target, request, parts, { alert: 'Some values are not valid.', status: 400 });
  const refused = (failure: AppError): Promise<Answer> => {
    const byField = isAppError(failure, 'INVALID_FORM')
      ? new Map(failure.details.fields.map(({ field, problem }) => [field, problem]))
      : new Map<string, string>();
    return formPage(target, request, parts, { alert: failure.message, problems: byField, status: failure.status });
  };
  const back = backOf(target);
  const change: Change = {
    tool: 'executeAction',
    args: {
      ...{ collectionName: collection, actionName: action.name, values },
      ...(records.length > 0 && { recordIds: records }),
    },
    title: `Run ${action.name}?`,
    button: action.submitButtonLabel ?? 'Run',
    page: actionPage(collection, action.name),
    back,
    carried: [
      ...records.map((id) => ['record', id] as const),
      ...fields.flatMap((field) =>
        request.form.getAll(inputName(field)).map((value) => [inputName(field), value] as const),
      ),
    ],
    after: () => back,
    refused,
    finished: (result) => resultPage(target, result, request, parts),
  };
  return button === 'review' ? previewChange(change, request, parts) : makeChange(change, request, parts);
}

/** The answer of the action, with its file or its address. */
function resultPage(
  target: ActionTarget,
  result: Readonly<Record<string, unknown>>,
  request: SignedInRequest,
  parts: Parts,
): Answer {
  const { message, text, url, name, note, result: kind } = result;
  const isLink = typeof url === 'string' && /^https?:\/\//i.test(url);
  const content = html`<h1>${target.action.name}</h1>
<div class="state" role="status"><div><b>Done</b>${[message, text, note].map((each) => typeof each === 'string' && each !== '' && html`<span class="lines">${each}</span>`)}</div></div>
${isLink && html`<p><a href="${url}" rel="noreferrer">${kind === 'file' ? `Download ${String(name)}` : url}</a></p>`}
<div class="deeds"><a class="button primary slim" href="${parts.paths.path(backOf(target))}">Back</a></div>`;
  return { page: createFramedPage(request, parts, { title: target.action.name, under, content }) };
}
