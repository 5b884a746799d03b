// A new workflow, and a new step: first what it does and where, then its form.
import { fail } from '../../../../core/errors.ts';
import { html } from '../../../../http/html.ts';
import type { WorkflowDefinition, WorkflowStep } from '../../../../workflows/definition/definition.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { field, type Option, openForm, selectField } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { requireEditor, under } from '../access.ts';
import { slotsOf, titleIn } from './connections.ts';
import type { StepTarget } from './context.ts';
import { blankStep } from './forms/table.ts';
import { slotOptions, stepTypes } from './overview.ts';
import { readVersion, requireEditable, saveTarget, showTarget } from './step.ts';
import { addPage, newPage, tabs } from './tabs.ts';

const typeIn = (values: URLSearchParams): WorkflowStep['type'] | undefined =>
  stepTypes.find(([type]) => type === values.get('type'))?.[0];

/** The form of the first step, with the name and the collection of the workflow above it. */
function firstStepTarget(
  name: string,
  collection: string,
  type: WorkflowStep['type'],
  problem: string | undefined,
): StepTarget {
  const definition: WorkflowDefinition = { name, collection, steps: [] };
  const above = html`${field({ id: 'name', label: 'Name of the workflow', value: name, maxLength: 100, problem })}
<input type="hidden" name="collection" value="${collection}"><input type="hidden" name="type" value="${type}">
<h2 class="plainly">The first step</h2>`;
  return { workflow: undefined, definition, since: 0, base: blankStep(type, null), place: '', page: newPage, above };
}

export async function showNewWorkflow(request: SignedInRequest, parts: Parts): Promise<Answer> {
  requireEditor(request.access);
  return startPage(request, parts, {});
}

function startPage(
  request: SignedInRequest,
  parts: Parts,
  { problem, status }: { readonly problem?: string; readonly status?: number },
): Answer {
  const { form } = request;
  const collections = parts.engine.index(request.access).map(({ name }): Option => [name, name]);
  const content = html`<h1>New workflow</h1>
${tabs('steps', undefined, parts)}
<p class="lead">Steps on one record, in order: read, decide, ask a person, change.</p>
${openForm(request, parts, newPage)}<div class="narrow">
${field({ id: 'name', label: 'Name', value: form.get('name') ?? '', maxLength: 100, problem, hint: 'Such as “Refund an order”.' })}
${selectField({ id: 'collection', label: 'Works on a record of', value: form.get('collection') ?? '', options: collections })}
${selectField({ id: 'type', label: 'The first step', value: form.get('type') ?? 'read-record', options: stepTypes })}
<button class="primary slim" name="action" value="continue">Continue</button></div></form>
<p class="quietly"><a href="${parts.paths.path(under)}">Workflows</a></p>`;
  const title = problem === undefined ? 'New workflow' : 'Error: New workflow';
  const page = createFramedPage(request, parts, { title, under, content, wide: true });
  return { page, ...(status !== undefined && { status }) };
}

export async function saveNewWorkflow(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form, access } = request;
  requireEditor(access);
  const name = (form.get('name') ?? '').trim();
  const collection = form.get('collection') ?? '';
  const type = typeIn(form);
  const isKnown = parts.engine.index(access).some((each) => each.name === collection);
  if (!type || !isKnown) return startPage(request, parts, {});
  const isFirst = form.get('action') === 'continue';
  if (name === '' && isFirst) return startPage(request, parts, { problem: 'Enter a name.', status: 400 });
  const isMissing = name === '' && form.get('action') === 'save';
  const target = firstStepTarget(name, collection, type, isMissing ? 'Enter a name.' : undefined);
  if (isFirst) return showTarget(target, request, parts);
  return saveTarget(target, request, parts);
}

export async function showAdd(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readAddTarget(request, request.query, parts);
  return showTarget(target, request, parts);
}

export async function saveAdd(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return saveTarget(await readAddTarget(request, request.form, parts), request, parts);
}

async function readAddTarget(request: SignedInRequest, values: URLSearchParams, parts: Parts): Promise<StepTarget> {
  const workflow = await requireEditable(request, parts);
  const { since, definition } = await readVersion(workflow, request.form, parts);
  const type = typeIn(values) ?? 'guidance';
  const slots = slotsOf(definition);
  const slot = slots.find(({ key }) => key === values.get('place')) ?? slots.at(-1)!;
  const page = addPage(workflow.id);
  if (!slot) return fail('NOT_FOUND', { path: page });
  const [, where] = slotOptions(definition).find(([key]) => key === slot.key)!;
  const above = html`<input type="hidden" name="type" value="${type}"><input type="hidden" name="place" value="${slot.key}">
<p class="quietly">It is added ${where}, before ${titleIn(definition, slot.to)}.</p>`;
  return { workflow, definition, since, base: blankStep(type, slot.to), place: slot.key, page, above };
}
