// The editor of a workflow: its steps in order beside the drawing, the form to add one, and the settings of the whole
// workflow. The page shows the same to users who may not change it, without the forms.
import { isAppError } from '../../../../core/errors.ts';
import { type Html, html } from '../../../../http/html.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import {
  firstStep,
  stepOf,
  transitionsOf,
  type WorkflowDefinition,
  type WorkflowStep,
} from '../../../../workflows/definition/definition.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { areaField, buttonTo, field, type Option, openForm, selectField } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { flash } from '../../../ui/notices.ts';
import { definitionOf, findWorkflow, mayEdit, under, workflowPage } from '../access.ts';
import { drawWorkflow, modeOf, typeName } from '../graph.ts';
import { outline } from '../outline.ts';
import { moveDown, moveUp, slotsOf, titleIn } from './connections.ts';
import { checkDefinition, publishDefinition, sentence } from './save.ts';
import { readVersion, requireEditable } from './step.ts';
import { addPage, editPage, stepPage, tabs } from './tabs.ts';

const doneTexts: Readonly<Record<string, string>> = {
  made: 'Created. You can start it, or add steps.',
  saved: 'Published. New runs use this version.',
  moved: 'Moved. The drawing shows the new order.',
  same: 'You changed no value, so there is no new version.',
  gone: 'Another user has deleted this step in the meantime.',
};

/** What the forms call the types of steps. */
export const stepTypes: readonly (readonly [WorkflowStep['type'], string])[] = [
  ['read-record', 'Read fields of the record'],
  ['condition', 'Choose how to go on'],
  ['guidance', 'Give a person a task'],
  ['update-record', 'Change fields of the record'],
  ['trigger-action', 'Run an action'],
  ['load-related-record', 'Load a related record'],
  ['ai', 'Ask the language model'],
  ['mcp', 'Call a tool of a remote server'],
];

interface Shown {
  readonly problems?: ReadonlyMap<string, string>;
  readonly alert?: string;
  readonly form?: URLSearchParams | undefined;
  readonly status?: number;
}

export async function showSteps(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const workflow = await findWorkflow(request, parts);
  return show(workflow, await definitionOf(workflow, parts), {}, request, parts);
}

function show(
  workflow: Workflow,
  definition: WorkflowDefinition,
  { alert, problems = new Map<string, string>(), form, status }: Shown,
  request: SignedInRequest,
  parts: Parts,
): Answer {
  const { id, name, source } = workflow;
  const isOpen = mayEdit(request.access) && source !== 'code';
  const lead =
    source === 'code'
      ? 'This workflow is defined in code. Change it there.'
      : isOpen
        ? 'Every save publishes a version. New runs use it. Current runs keep theirs.'
        : 'Only editors, developers and administrators can change it.';
  const isWrong = alert !== undefined || problems.size > 0;
  const content = html`<h1>${name}</h1>
${tabs('steps', id, parts)}
<p class="lead">${lead}</p>
${!isWrong && (flash(doneTexts, request.query) || deletedText(definition, request.query))}
${alert !== undefined && html`<p class="alert" role="alert">${alert}</p>`}
<div class="wf-cols"><div><ol class="wf-steps">${definition.steps.map((step) => stepItem(step, workflow, definition, isOpen, request, parts))}</ol>
${isOpen && addForm(workflow, definition, parts)}
${isOpen && settingsForm(workflow, definition, { problems, form }, request, parts)}</div>
<div>${drawWorkflow(definition)}${outline(definition)}</div></div>
<p class="quietly"><a href="${parts.paths.path(workflowPage(id))}">Back to the workflow</a></p>`;
  const title = isWrong ? `Error: ${name}` : name;
  const page = createFramedPage(request, parts, { title, under, content, wide: true });
  return { page, ...(status !== undefined && { status }) };
}

/** After a deletion: what now leads where. Only titles of known steps are shown. */
function deletedText(definition: WorkflowDefinition, query: URLSearchParams): Html | false {
  if (query.get('done') !== 'deleted') return false;
  const to = query.get('to') || null;
  const from = query.getAll('from').filter((id) => stepOf(definition, id));
  const target = to === null || stepOf(definition, to) ? titleIn(definition, to) : 'the end';
  const dropped = Number(/^\d{1,2}$/.exec(query.get('dropped') ?? '')?.[0] ?? 0);
  const names = from.map((id) => titleIn(definition, id)).join(' and ');
  const led =
    from.length > 0
      ? `${names} now ${from.length > 1 ? 'lead' : 'leads'} to ${target}.`
      : `The run now starts with ${target}.`;
  return html`<p class="done" role="status">Step deleted. ${led}${dropped > 0 && html` ${dropped === 1 ? 'One more step that nothing leads to was' : `${dropped} more steps that nothing leads to were`} deleted.`}</p>`;
}

function stepItem(
  step: WorkflowStep,
  workflow: Workflow,
  definition: WorkflowDefinition,
  isOpen: boolean,
  request: SignedInRequest,
  parts: Parts,
): Html {
  const { id } = step;
  const title = titleIn(definition, id);
  const page = editPage(workflow.id);
  const values = { since: `${workflow.version}`, step: id };
  const move = (action: string, text: string) =>
    buttonTo(request, parts, { page, action, text, label: `${text}: ${title}`, values });
  const buttons = isOpen && [
    moveUp(definition, id) && move('up', 'Move up'),
    moveDown(definition, id) && move('down', 'Move down'),
  ];
  const about = [typeName(step), modeOf(step), firstStep(definition) === id && 'first step'].filter(Boolean).join(', ');
  const ways = transitionsOf(step).map(
    ({ to, label }) => `${label === undefined ? '' : `${label}: `}${titleIn(definition, to)}`,
  );
  return html`<li><div><b>${isOpen ? html`<a href="${parts.paths.path(stepPage(workflow.id, id))}">${title}</a>` : title}</b><span>${about}</span><span>Then ${ways.join('; ')}</span></div>${buttons && html`<div class="wf-moves">${buttons}</div>`}</li>`;
}

export function slotOptions(definition: WorkflowDefinition): readonly Option[] {
  return slotsOf(definition).map(({ key, after, label }): Option => {
    if (!after) return [key, 'at the start'];
    const title = titleIn(definition, after.id);
    return [key, label === undefined ? `after ${title}` : `after ${title}: ${label}`];
  });
}

function addForm({ id }: Workflow, definition: WorkflowDefinition, { paths }: Parts): Html {
  const options = slotOptions(definition);
  return html`<h2 class="plainly">Add a step</h2><form method="get" action="${paths.path(addPage(id))}" class="wf-add">${selectField({ id: 'type', label: 'What it does', value: 'guidance', options: stepTypes })}${selectField({ id: 'place', label: 'Where', value: options.at(-1)![0], options })}<button class="plain slim">Continue</button></form>`;
}

function settingsForm(
  { id, version }: Workflow,
  { name, description, start, concurrency, steps }: WorkflowDefinition,
  { problems = new Map(), form }: Shown,
  request: SignedInRequest,
  parts: Parts,
): Html {
  const value = (key: string, stored: string | number = '') => form?.get(key) ?? `${stored}`;
  const first = form?.get('start') ?? start ?? '';
  return html`<details class="more"${problems.size > 0 && html` open`}><summary>Name and limits</summary>${openForm(request, parts, editPage(id))}<input type="hidden" name="since" value="${version}">
${field({ id: 'name', label: 'Name', value: value('name', name), maxLength: 100, problem: problems.get('name') })}
${areaField({ id: 'description', label: 'Description (optional)', value: value('description', description), rows: 2, maxLength: 1000, problem: problems.get('description') })}
${selectField({ id: 'start', label: 'First step', value: first, problem: problems.get('start'), options: [['', 'The first of the list'], ...steps.map((step) => [step.id, step.title ?? step.id] as const)] })}
${field({ id: 'concurrency', label: 'Runs at the same time (optional)', value: value('concurrency', concurrency), maxLength: 4, hint: 'The maximum number. Empty: no limit.', problem: problems.get('concurrency') })}
<button class="plain slim" name="action" value="settings">Save</button></form></details>`;
}

export async function changeSteps(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const workflow = await requireEditable(request, parts);
  const { form } = request;
  const { since, definition } = await readVersion(workflow, form, parts);
  const action = form.get('action') ?? '';
  const step = form.get('step') ?? '';
  const refuse = (shown: Shown): Promise<Answer> | Answer =>
    action === 'settings'
      ? show(workflow, definition, { ...shown, form }, request, parts)
      : definitionOf(workflow, parts).then((now) => show(workflow, now, shown, request, parts));
  const problems = new Map<string, string>();
  const changed =
    action === 'settings'
      ? readSettings(definition, form, problems)
      : action === 'up'
        ? moveUp(definition, step)
        : moveDown(definition, step);
  if (problems.size > 0) return refuse({ problems, status: 400 });
  if (!changed)
    return refuse({ alert: 'This step cannot be moved there. Change the next steps in its form.', status: 400 });
  try {
    const checked = checkDefinition(changed, request, parts);
    const published = await publishDefinition(checked, { id: workflow.id, since }, request, parts);
    if ('saved' in published)
      return { to: `${editPage(workflow.id)}?done=${action === 'settings' ? 'saved' : 'moved'}` };
    const { argument, problem } = published;
    if (argument === 'name') return refuse({ problems: new Map([['name', sentence(problem)]]), status: 409 });
    return refuse({
      alert: 'Another user has saved a version in the meantime. This page shows it now. Try again.',
      status: 409,
    });
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { argument, problem } = error.details;
    const isOwn = action === 'settings' && !argument.startsWith('steps.');
    return refuse({
      ...(isOwn ? { problems: new Map([[argument, sentence(problem)]]) } : { alert: sentence(problem) }),
      status: 400,
    });
  }
}

function readSettings(
  definition: WorkflowDefinition,
  form: URLSearchParams,
  problems: Map<string, string>,
): WorkflowDefinition {
  const { name: _name, description: _description, start: _start, concurrency: _concurrency, ...rest } = definition;
  const text = (key: string) => (form.get(key) ?? '').replaceAll('\r\n', '\n').trim();
  const [name, description, start, concurrency] = [
    text('name'),
    text('description'),
    text('start'),
    text('concurrency'),
  ];
  if (name === '') problems.set('name', 'Enter a name.');
  if (concurrency !== '' && !/^[1-9]\d*$/.test(concurrency)) problems.set('concurrency', 'Enter a whole number.');
  return {
    ...{ name, ...rest },
    ...(description !== '' && { description }),
    ...(start !== '' && { start }),
    ...(concurrency !== '' && { concurrency: Number(concurrency) }),
  };
}
