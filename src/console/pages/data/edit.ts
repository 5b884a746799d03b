// Creating, editing and deleting a record. An edit is refused if somebody changed the record since the form was opened.
import { type AppError, fail } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { InputRequestField } from '../../../workflows/input-requests/fields.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { dataPage, recordPage } from '../../paths.ts';
import { table } from '../../ui/data.ts';
import { openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { inputName } from '../../ui/value-input.ts';
import { collectionLink, requireCollection, under } from './access.ts';
import { cell } from './cells.ts';
import { type Change, fieldProblems, makeChange, previewChange } from './change.ts';
import { changedMeanwhile, formFields, readRecord, recordInputs } from './form.ts';
import { applyChoices, readLookups } from './lookup.ts';
import { type FoundRecord, requireRecord } from './read-record.ts';
import { createPage, deletePage, editPage, mayCreate, mayDelete, mayEdit } from './rights.ts';

interface Shown {
  readonly alert?: Html | string;
  readonly problems?: ReadonlyMap<string, string>;
  readonly status?: number;
}

interface FormTarget {
  readonly described: FoundRecord['described'];
  readonly fields: readonly InputRequestField[];
  readonly title: string;
  readonly page: string;
  readonly back: string;
}

async function formPage(target: FormTarget, request: SignedInRequest, parts: Parts, shown: Shown): Promise<Answer> {
  const { described, fields, title, page, back } = target;
  const { alert, problems = new Map<string, string>(), status } = shown;
  const submitted = request.req.method === 'POST' ? request.form : undefined;
  const lookups = await readLookups(described, fields, problems, request, parts, true);
  const content = html`<h1>${title}</h1>
${alert !== undefined && html`<div class="alert" role="alert">${alert}</div>`}
${openForm(request, parts, page)}${recordInputs(fields, submitted, problems, lookups)}
<div class="pair"><a class="button plain" href="${parts.paths.path(back)}">Cancel</a><button class="primary" name="action" value="review">Preview</button></div></form>`;
  const framed = createFramedPage(request, parts, {
    title: alert === undefined ? title : `Error: ${title}`,
    between: [collectionLink(described.name, parts)],
    under,
    content,
  });
  return { page: framed, ...(status !== undefined && { status }) };
}

const refusedBy =
  (target: FormTarget, request: SignedInRequest, parts: Parts) =>
  (failure: AppError): Promise<Answer> =>
    formPage(target, request, parts, {
      alert: failure.message,
      problems: fieldProblems(failure),
      status: failure.status,
    });

/** The submitted fields, for the confirmation. */
const carriedOf = ({ fields }: FormTarget, form: URLSearchParams): Change['carried'] =>
  fields.flatMap((field) => [
    ...form.getAll(inputName(field)).map((value) => [inputName(field), value] as const),
    [`was.${field.name}`, form.get(`was.${field.name}`) ?? ''] as const,
  ]);

/** Shows the form again, the preview, or makes the change: as the pressed button says. */
async function answerForm(
  target: FormTarget,
  change: Pick<Change, 'tool' | 'title' | 'button' | 'after'>,
  toArgs: (values: Readonly<Record<string, unknown>>) => Change['args'],
  isNew: boolean,
  request: SignedInRequest,
  parts: Parts,
): Promise<Answer> {
  const { form } = request;
  const action = form.get('action') ?? '';
  if (action === 'edit' || action === 'find') return formPage(target, request, parts, {});
  if (action !== 'review' && action !== 'confirm')
    return fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons on the page.' });
  const { values, problems } = readRecord(target.fields, form, target.described, isNew);
  if (problems.size > 0)
    return formPage(target, request, parts, { alert: 'Some values are not valid.', problems, status: 400 });
  if (!isNew && Object.keys(values).length === 0)
    return formPage(target, request, parts, { alert: 'You have not changed any value.', status: 400 });
  const whole: Change = {
    ...change,
    args: toArgs(values),
    page: target.page,
    back: target.back,
    carried: carriedOf(target, form),
    refused: refusedBy(target, request, parts),
  };
  return action === 'review' ? previewChange(whole, request, parts) : makeChange(whole, request, parts);
}

async function requireEditable(request: SignedInRequest, parts: Parts): Promise<FoundRecord & FormTarget> {
  const record = await requireRecord(request, parts);
  const { described, id, name, answer } = record;
  const page = editPage(described.name, id);
  if (!mayEdit(request, parts, described)) return fail('NOT_FOUND', { path: parts.paths.path(page) });
  const back = recordPage(described.name, id);
  return { ...record, fields: formFields(described, answer), title: `Edit ${name}`, page, back };
}

export async function showEdit(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return formPage(await requireEditable(request, parts), request, parts, {});
}

export async function saveEdit(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await requireEditable(request, parts);
  const { described, id, name, fields, back } = target;
  applyChoices(described, fields, request);
  const changed = changedMeanwhile(fields, request.form);
  if (changed.length > 0) return conflictPage(target, changed, request, parts);
  const change = {
    tool: 'update',
    title: `Save these changes to ${name}?`,
    button: 'Save',
    after: () => `${back}?done=saved`,
  } as const;
  const toArgs = (attributes: Change['args']) => ({ collectionName: described.name, recordId: toolId(id), attributes });
  return answerForm(target, change, toArgs, false, request, parts);
}

/** A list cannot be mistaken for a packed id, and a text that looks like a list is no list. */
const toolId = (id: string): string | readonly string[] => (id.trimStart().startsWith('[') ? [id] : id);

/** Shows both: what is stored now, and what the person entered. */
function conflictPage(
  { name, page, back, fields }: FoundRecord & FormTarget,
  changed: readonly InputRequestField[],
  request: SignedInRequest,
  parts: Parts,
): Answer {
  const title = 'The record has changed in the meantime';
  const typed = (field: InputRequestField) => request.form.getAll(inputName(field)).join(', ');
  const current = (field: InputRequestField) => cell(field.value ?? null);
  const mine = fields.filter((field) => request.form.has(inputName(field)));
  const rows = mine
    .filter((field) => changed.includes(field))
    .map((field) => [field.name, current(field), cell(typed(field))]);
  const content = html`<h1>${title}</h1>
<p class="state bad" role="alert"><span><b>Your changes are not saved</b>Somebody changed ${name} after you opened the form. Compare the values, and edit the current record.</span></p>
${table({ caption: 'Current values and yours', heads: ['Field', 'Now', 'In your form'], rows })}
<div class="deeds"><a class="button primary slim" href="${parts.paths.path(page)}">Edit the current record</a><a class="button plain slim" href="${parts.paths.path(back)}">Show the record</a></div>`;
  return { status: 409, page: createFramedPage(request, parts, { title, under, content }) };
}

function requireCreatable(request: SignedInRequest, parts: Parts): FormTarget {
  const described = requireCollection(request, parts);
  const page = createPage(described.name);
  if (!mayCreate(request, parts, described)) return fail('NOT_FOUND', { path: parts.paths.path(page) });
  const back = dataPage(described.name);
  return { described, fields: formFields(described, undefined), title: `New record of ${described.name}`, page, back };
}

export async function showCreate(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return formPage(requireCreatable(request, parts), request, parts, {});
}

export async function saveCreate(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = requireCreatable(request, parts);
  applyChoices(target.described, target.fields, request);
  const { name } = target.described;
  const change = {
    tool: 'create',
    title: `Create this record of ${name}?`,
    button: 'Create',
    after: ({ ids }: Readonly<Record<string, unknown>>) => {
      const [id] = Array.isArray(ids) ? (ids as readonly string[]) : [];
      return id === undefined ? dataPage(name) : `${recordPage(name, id)}?done=created`;
    },
  } as const;
  return answerForm(target, change, (attributes) => ({ collectionName: name, attributes }), true, request, parts);
}

export async function deleteRecord(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { described, id, name } = await requireRecord(request, parts);
  const page = deletePage(described.name, id);
  const back = recordPage(described.name, id);
  if (!mayDelete(request, parts, described)) return fail('NOT_FOUND', { path: parts.paths.path(page) });
  const refused = (failure: AppError): Answer => {
    const title = 'Not deleted';
    const content = html`<h1>${title}</h1><p class="alert" role="alert">${failure.message}</p><p><a class="button plain" href="${parts.paths.path(back)}">Back</a></p>`;
    return { status: failure.status, page: createFramedPage(request, parts, { title, under, content }) };
  };
  const change: Change = {
    tool: 'delete',
    args: { collectionName: described.name, recordIds: [id] },
    title: `Delete ${name} of ${described.name}?`,
    button: 'Delete',
    page,
    back,
    carried: [],
    after: () => `${dataPage(described.name)}?done=deleted`,
    refused,
  };
  const action = request.form.get('action');
  if (action === 'edit') return { to: back };
  return action === 'confirm' ? makeChange(change, request, parts) : previewChange(change, request, parts);
}
