// The form of one step: of a stored workflow, or of a new step. Saving checks the whole definition and publishes a
// version. If another user has saved in the meantime, the page says so and keeps what was typed.
import { isDeepStrictEqual } from 'node:util';
import { fail, isAppError } from '../../../../core/errors.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import { stepOf, type WorkflowDefinition, type WorkflowStep } from '../../../../workflows/definition/definition.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { openForm, selectField } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { definitionOf, findWorkflow, requireEditor, under, workflowPage } from '../access.ts';
import { drawWorkflow, typeName } from '../graph.ts';
import { createId, insertStep, nextChoices, removeStep, replaceStep, stepsBefore, titleIn } from './connections.ts';
import { createContext, type StepTarget } from './context.ts';
import { type FormView, fillForm, readForm, showForm } from './forms/part.ts';
import { changeForm, partsOf } from './forms/table.ts';
import { checkDefinition, publishDefinition, readSince, sentence } from './save.ts';
import { editPage, stepPage } from './tabs.ts';

interface Shown {
  readonly form: URLSearchParams;
  readonly problems?: ReadonlyMap<string, string>;
  readonly alert?: string | undefined;
  readonly status?: number;
}

/** Throws NOT_FOUND, or DENIED if the user may not change the workflow. */
export async function requireEditable(request: SignedInRequest, parts: Parts): Promise<Workflow> {
  const workflow = await findWorkflow(request, parts);
  requireEditor(request.access);
  if (workflow.source === 'code') fail('DENIED', { problem: 'This workflow is defined in code. Change it there.' });
  return workflow;
}

/** The version of the form, if there is one. */
export async function readVersion(workflow: Workflow, form: URLSearchParams, parts: Parts) {
  const read = readSince(form);
  const since = read > 0 && read <= workflow.version ? read : workflow.version;
  return { since, definition: await definitionOf({ ...workflow, version: since }, parts) };
}

async function readTarget(request: SignedInRequest, parts: Parts): Promise<StepTarget> {
  const workflow = await requireEditable(request, parts);
  const { since, definition } = await readVersion(workflow, request.form, parts);
  const page = stepPage(workflow.id, request.params.step!);
  const base = stepOf(definition, request.params.step!) ?? fail('NOT_FOUND', { path: page });
  return { workflow, definition, since, base, place: undefined, page, above: html`` };
}

export async function showStep(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return showTarget(await readTarget(request, parts), request, parts);
}

/** The form with the values of the stored or blank step. */
export async function showTarget(target: StepTarget, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const context = await createContext(target, undefined, request, parts);
  return stepAnswer(target, { form: fillForm(partsOf(target.base), target.base, context) }, request, parts);
}

export async function changeStep(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const target = await readTarget(request, parts);
  return request.form.get('action') === 'delete'
    ? deleteStep(target, request, parts)
    : saveTarget(target, request, parts);
}

export async function saveTarget(target: StepTarget, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { workflow, definition, since, base, place } = target;
  const form = changeForm(request.form);
  if (form.has('do') || form.get('action') !== 'save') return stepAnswer(target, { form }, request, parts);
  const problems = new Map<string, string>();
  const context = await createContext(target, form, request, parts);
  const draft = readForm(partsOf(base), form, context, (path, problem) => {
    if (!problems.has(path)) problems.set(path, sentence(problem));
  });
  if (place !== undefined && draft.title === undefined) problems.set('title', 'Enter a title.');
  if (problems.size > 0) return stepAnswer(target, { form, problems, status: 400 }, request, parts);
  const ids = definition.steps.map(({ id }) => id);
  const id = place === undefined ? draft.id! : createId(draft.title ?? '', ids, draft.type);
  const step = { ...draft, id } as WorkflowStep;
  const changed = place === undefined ? replaceStep(definition, step) : insertStep(definition, place, step);
  if (workflow && workflow.version === since && isDeepStrictEqual(changed, definition))
    return { to: `${editPage(workflow.id)}?done=same` };
  let checked: WorkflowDefinition;
  try {
    checked = checkDefinition(changed, request, parts);
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    return stepAnswer(target, { form, ...locate(changed, id, error.details), status: 400 }, request, parts);
  }
  const of = workflow && { id: workflow.id, since };
  const published = await publishDefinition(checked, of, request, parts);
  if ('saved' in published) return { to: `${editPage(published.saved.id)}?done=${workflow ? 'saved' : 'made'}` };
  if (workflow && published.argument === 'version') return showConflict(target, workflow, form, request, parts);
  return stepAnswer(target, { form, alert: sentence(published.problem), status: 409 }, request, parts);
}

/** Where the page shows the problem: at a key of the step, or above the form. */
function locate(
  definition: WorkflowDefinition,
  id: string,
  { argument, problem }: { readonly argument: string; readonly problem: string },
): Pick<Shown, 'problems' | 'alert'> {
  const [, number, path = ''] = /^steps\.(\d+)\.?(.*)$/.exec(argument) ?? [];
  const step = number === undefined ? undefined : definition.steps[Number(number)];
  if (step?.id === id && path !== '') return { problems: new Map([[path, sentence(problem)]]) };
  return { alert: step && step.id !== id ? `${titleIn(definition, step.id)}: ${problem}` : sentence(problem) };
}

async function showConflict(
  target: StepTarget,
  { id }: Workflow,
  form: URLSearchParams,
  request: SignedInRequest,
  parts: Parts,
): Promise<Answer> {
  const workflow = (await parts.workflows.find(request.access, id)) ?? fail('NOT_FOUND', { path: workflowPage(id) });
  const definition = await definitionOf(workflow, parts);
  const base = target.place === undefined ? stepOf(definition, target.base.id!) : target.base;
  if (!base) return { to: `${editPage(id)}?done=gone` };
  const isSame = isDeepStrictEqual(base, target.base);
  const alert = `Version ${workflow.version} was saved in the meantime. ${isSame ? 'It does not change this step.' : 'It changes this step, too.'} Your input is below. Save it again to add it to that version.`;
  const now = { ...target, workflow, definition, since: workflow.version, base };
  return stepAnswer(now, { form, alert, status: 409 }, request, parts);
}

async function stepAnswer(target: StepTarget, shown: Shown, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { workflow, definition, since, base, place, page, above } = target;
  const { form, problems = new Map<string, string>(), alert, status } = shown;
  const context = await createContext(target, form, request, parts);
  const problem: FormView['problem'] = (path) =>
    problems.get(path) ?? [...problems].find(([at]) => at.startsWith(`${path}.`))?.[1];
  const kind = typeName({ type: base.type } as WorkflowStep);
  const title = place === undefined ? titleIn(definition, base.id!) : `New step: ${kind}`;
  const isWrong = problems.size > 0 || alert !== undefined;
  const back = workflow ? editPage(workflow.id) : under;
  const between = workflow
    ? [
        html`<a href="${parts.paths.path(workflowPage(workflow.id))}">${workflow.name}</a>`,
        html`<a href="${parts.paths.path(back)}">Steps</a>`,
      ]
    : [];
  const content = html`<h1>${workflow ? title : 'New workflow'}</h1>
<p class="lead">${place === undefined ? `${kind}. Saving publishes a new version. Current runs keep theirs.` : 'You can change everything later.'}</p>
${alert !== undefined && html`<p class="alert" role="alert">${alert}</p>`}
${problems.size > 0 && html`<p class="alert" role="alert">Not saved. ${[...problems.values()].length === 1 ? [...problems.values()][0] : 'Some values do not fit.'}</p>`}
<div class="wf-cols"><div>${openForm(request, parts, page)}<button class="unseen" name="action" value="save" tabindex="-1" aria-hidden="true"></button><input type="hidden" name="since" value="${since}">${above}
${showForm(partsOf(base), { context, form, problem })}
<div class="deeds"><a class="button plain slim" href="${parts.paths.path(back)}">Cancel</a><button class="plain slim" name="action" value="update" formnovalidate>Update the form</button><button class="primary slim" name="action" value="save">${workflow ? 'Save' : 'Create the workflow'}</button></div></form>
${place === undefined && workflow && deletion(target, workflow, request, parts)}</div>
${definition.steps.length > 0 && html`<div>${drawWorkflow(definition)}</div>`}</div>`;
  const framed = createFramedPage(request, parts, {
    ...{ title: isWrong ? `Error: ${title}` : title, under, between, content, wide: true },
  });
  return { page: framed, ...(status !== undefined && { status }) };
}

function deletion(
  { definition, base, page, since }: StepTarget,
  _workflow: Workflow,
  request: SignedInRequest,
  parts: Parts,
): Html {
  const choices = nextChoices(base as WorkflowStep);
  const id = base.id!;
  const before = stepsBefore(definition, id).map((step) => titleIn(definition, step.id));
  const leading = before.length > 0 ? `What leads to it (${before.join(', ')})` : 'The run';
  if (definition.steps.length === 1) return html`<p class="quietly">You cannot delete the only step.</p>`;
  const options = choices.map((to) => [to ?? '', titleIn(definition, to)] as const);
  const only = choices.length < 2 ? titleIn(definition, choices[0] ?? null) : undefined;
  return html`<details class="more"><summary>Delete this step</summary>${openForm(request, parts, page)}<input type="hidden" name="since" value="${since}">
${only !== undefined ? html`<p class="quietly">${leading} then leads to ${only}.</p><input type="hidden" name="to" value="${choices[0] ?? ''}">` : selectField({ id: 'to', label: `${leading} then leads to`, value: options[0]![0], options })}
${choices.length > 1 && html`<p class="quietly">Steps that no other step leads to are deleted with it.</p>`}
<button class="danger slim" name="action" value="delete">Delete step</button></form></details>`;
}

async function deleteStep(target: StepTarget, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { workflow, definition, since, base } = target;
  const id = base.id!;
  const to = request.form.get('to') || null;
  const before = stepsBefore(definition, id).map((step) => step.id);
  const removal = nextChoices(base as WorkflowStep).includes(to) ? removeStep(definition, id, to) : undefined;
  const refuse = async (alert: string, status: number): Promise<Answer> => {
    const context = await createContext(target, undefined, request, parts);
    return stepAnswer(target, { form: fillForm(partsOf(base), base, context), alert, status }, request, parts);
  };
  if (!removal || !workflow) return refuse('Not deleted: no step would remain.', 400);
  try {
    const checked = checkDefinition(removal.definition, request, parts);
    const published = await publishDefinition(checked, { id: workflow.id, since }, request, parts);
    if (!('saved' in published)) return await refuse(`Not deleted: ${published.problem}`, 409);
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { alert, problems } = locate(removal.definition, '', error.details);
    return refuse(`Not deleted. ${alert ?? [...(problems?.values() ?? [])].join(' ')}`, 400);
  }
  const query = new URLSearchParams({ done: 'deleted', to: to ?? '' });
  for (const each of before) query.append('from', each);
  if (removal.dropped.length > 0) query.set('dropped', `${removal.dropped.length}`);
  return { to: `${editPage(workflow.id)}?${query}` };
}
