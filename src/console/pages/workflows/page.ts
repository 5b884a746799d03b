// One workflow: its drawing, start form, pause button, versions and latest runs.
import { fail, isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Workflow } from '../../../store/workflows/types.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { runPage } from '../../paths.ts';
import { empty, facts } from '../../ui/data.ts';
import { buttonTo, openForm } from '../../ui/form.ts';
import { createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { showTime } from '../../ui/times.ts';
import { refusal } from '../rights/review.ts';
import { definitionOf, findWorkflow, mayEdit, requireEditor, runsPage, under, workflowPage } from './access.ts';
import { automaticStarts, startTexts } from './automatic/section.ts';
import { recordPicker } from './editor/record-picker.ts';
import { tryPage } from './editor/tabs.ts';
import { drawWorkflow } from './graph.ts';
import { outline } from './outline.ts';
import { runTable } from './runs.ts';
import { changeTrigger, type TriggerResult, triggerSettings, triggerTexts } from './trigger-settings.ts';

const doneTexts: Readonly<Record<string, string>> = {
  made: 'Published. You can start it.',
  saved: 'Published. New runs use this version.',
  paused: 'Paused. New runs are blocked. Current runs continue.',
  resumed: 'Active again. You can start it.',
  ...triggerTexts,
  ...startTexts,
};

const RUNS = 8;
const VERSIONS = 10;

interface PageResult extends TriggerResult {
  readonly problem?: string;
  readonly status?: number;
}

export async function showWorkflow(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return show(await findWorkflow(request, parts), request, parts);
}

async function show(
  workflow: Workflow,
  request: SignedInRequest,
  parts: Parts,
  result: PageResult = {},
): Promise<Answer> {
  const { access } = request;
  const { id, name, collection, version, isActive, source, updatedAt } = workflow;
  const { timezone } = access.caller;
  const definition = await definitionOf(workflow, parts);
  const runs = await parts.workflows.runs(access, { workflowId: id, limit: RUNS });
  const edit = source === 'code' ? 'View definition' : mayEdit(access) ? 'Edit' : 'View definition';
  const content = html`<div class="head"><h1>${name}</h1><a class="button plain slim" href="${parts.paths.path(`${workflowPage(id)}/edit`)}">${edit}</a></div>
${definition.description && html`<p class="lead">${definition.description}</p>`}
${flash(doneTexts, request.query)}
${facts([
  ['Collection', collection],
  ['Version', html`${version}<small>${showTime(updatedAt, timezone)}</small>`],
  ['State', isActive ? 'Active' : 'Paused'],
  ['Source', source === 'code' && 'Defined in code. Change it there.'],
])}
${isActive && access.startsWorkflows && (await startForm(workflow, request, parts, result.problem))}
<h2 class="plainly">Steps</h2>
${drawWorkflow(definition)}${outline(definition)}
${await automaticStarts(workflow, request, parts)}
${await triggerSettings(workflow, runs, request, parts, result)}
<h2 class="plainly">Latest runs</h2>
${runs.length > 0 ? await runTable(runs, request, parts) : empty('No runs yet', isActive ? 'Start it on a record above.' : 'The workflow is paused.')}
${runs.length > 0 && html`<p class="quietly"><a href="${parts.paths.path(runsPage)}?workflow=${id}">All its runs</a></p>`}
${await versionsOf(workflow, request, parts)}
${source === 'console' && mayEdit(access) && html`${pausing(workflow, request, parts)}${deleting(workflow, request, parts)}`}
<p class="quietly"><a href="${parts.paths.path(under)}">All workflows</a></p>`;
  const title = result.problem === undefined && result.callbackProblem === undefined ? name : `Error: ${name}`;
  const page = createFramedPage(request, parts, { title, under, content, wide: true });
  return { page, ...(result.status !== undefined && { status: result.status }) };
}

async function startForm(
  { id, collection }: Workflow,
  request: SignedInRequest,
  parts: Parts,
  problem: string | undefined,
): Promise<Html> {
  return html`<h2 class="plainly">Start</h2>${openForm(request, parts, workflowPage(id))}<div class="narrow">${await recordPicker(collection, problem, request, parts)}<div class="deeds"><button class="primary slim" name="action" value="start">Start a run</button><button class="plain slim" name="action" value="try">Dry run</button></div></div></form>`;
}

const pausing = ({ id, isActive }: Workflow, request: SignedInRequest, parts: Parts): Html =>
  html`<h2 class="plainly">${isActive ? 'Pause' : 'Resume'}</h2><p class="quietly">${isActive ? 'A paused workflow cannot be started, and its webhook returns 404. Current runs continue.' : 'The workflow can then be started again.'}</p><div class="deeds">${buttonTo(
    request,
    parts,
    {
      page: workflowPage(id),
      action: isActive ? 'pause' : 'resume',
      text: isActive ? 'Pause' : 'Resume',
    },
  )}</div>`;

const deleting = ({ id, name }: Workflow, request: SignedInRequest, parts: Parts): Html =>
  html`<details class="more"><summary>Delete</summary><p class="quietly">Deletes the workflow, its versions and its runs. Waiting runs end. What runs did stays in the activity log. This cannot be undone.</p>${buttonTo(request, parts, { page: workflowPage(id), action: 'delete', text: 'Delete', label: `Delete ${name}`, kind: 'danger' })}</details>`;

async function versionsOf(workflow: Workflow, { access }: SignedInRequest, { store, paths }: Parts): Promise<Html> {
  const versions = await store.workflows.versions(workflow.id);
  const shown = versions.slice(0, VERSIONS);
  const names = new Map<number, string>();
  for (const { createdBy } of shown) {
    if (createdBy === null || names.has(createdBy)) continue;
    const user = await store.identity.findUser(createdBy);
    names.set(createdBy, user ? `${user.firstName} ${user.lastName}`.trim() || user.email : 'a former user');
  }
  const rows = shown.map(
    ({ version, createdAt, createdBy }) =>
      html`<li><a href="${paths.path(`${workflowPage(workflow.id)}/versions/${version}`)}"><b>Version ${version}</b><span>${showTime(createdAt, access.caller.timezone)}, ${createdBy === null ? 'by code' : names.get(createdBy)}</span></a></li>`,
  );
  return html`<h2 class="plainly">Versions</h2><ul class="rows">${rows}</ul>${versions.length > shown.length && html`<p class="quietly">The newest ${shown.length} of ${versions.length}.</p>`}`;
}

type WorkflowAction = (workflow: Workflow, request: SignedInRequest, parts: Parts) => Promise<Answer>;

const workflowActions: Readonly<Record<string, WorkflowAction>> = {
  start,
  find: (workflow, request, parts) => show(workflow, request, parts),
  try: async ({ id }, { form }) => ({
    to: `${tryPage(id)}?${new URLSearchParams({ record: form.get('record') ?? '' })}`,
  }),
  pause: (workflow, request, parts) => setActive(workflow, false, request, parts),
  resume: (workflow, request, parts) => setActive(workflow, true, request, parts),
  delete: deleteWorkflow,
  enable: setTrigger,
  disable: setTrigger,
  regenerate: setTrigger,
  secret: setTrigger,
  'trigger-settings': setTrigger,
};

export async function changeWorkflow(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const workflow = await findWorkflow(request, parts);
  const action = request.form.get('action') ?? '';
  const workflowAction = Object.hasOwn(workflowActions, action) ? workflowActions[action] : undefined;
  if (!workflowAction)
    return fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons on the page.' });
  return workflowAction(workflow, request, parts);
}

async function start(workflow: Workflow, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access, form } = request;
  if (!workflow.isActive) return show(workflow, request, parts, { problem: 'It is paused.', status: 409 });
  const by = { access, origin: 'console', clientId: 'console', clientName: 'Console' } as const;
  const recordId = (form.get('record') ?? '').trim();
  try {
    const created = await parts.workflows.start(by, { workflow, recordId });
    if (created.state === 'mismatch') return fail('IDEMPOTENCY_KEY_REUSED', { tool: 'start' });
    return { to: `${runPage(created.runId)}${created.state === 'ongoing' ? '?done=ongoing' : ''}` };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    return show(workflow, request, parts, { problem: 'Choose a record.', status: 400 });
  }
}

async function setTrigger(workflow: Workflow, request: SignedInRequest, parts: Parts): Promise<Answer> {
  requireEditor(request.access);
  const changed = await changeTrigger(workflow, request, parts);
  if ('done' in changed) return { to: `${workflowPage(workflow.id)}?done=${changed.done}` };
  const { result } = changed;
  return show(workflow, request, parts, { ...result, ...(result.callbackProblem !== undefined && { status: 400 }) });
}

async function setActive(
  { id }: Workflow,
  isActive: boolean,
  { access }: SignedInRequest,
  { store }: Parts,
): Promise<Answer> {
  requireEditor(access);
  await store.workflows.setActive(id, isActive, access.caller.id);
  return { to: `${workflowPage(id)}?done=${isActive ? 'resumed' : 'paused'}` };
}

async function deleteWorkflow(workflow: Workflow, request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { id: by } = request.access.caller;
  requireEditor(request.access);
  try {
    await parts.store.workflows.delete(workflow.id, by);
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { problem } = error.details;
    return refusal(request, parts, { under, problem, back: workflowPage(workflow.id) });
  }
  return { to: `${under}?done=deleted` };
}
