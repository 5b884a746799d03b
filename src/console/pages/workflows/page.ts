// One workflow: its drawing, start form, pause button, versions and latest runs.
import { fail, isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import type { Workflow } from '../../../store/workflows/types.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { runPage } from '../../paths.ts';
import { empty, facts } from '../../ui/data.ts';
import { buttonTo, field, formOf } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { showTime } from '../../ui/times.ts';
import { definitionOf, findWorkflow, mayEdit, needEditor, runsPage, under, workflowPage } from './access.ts';
import { drawWorkflow } from './graph.ts';
import { outline } from './outline.ts';
import { runTable } from './runs.ts';
import { changeTrigger, type TriggerTold, triggerSettings, triggerTexts } from './trigger-settings.ts';

const doneTexts: Readonly<Record<string, string>> = {
  made: 'It is published: it can be started.',
  saved: 'It is published: new runs take this version.',
  paused: 'It is paused: nobody can start it. Runs under way go on.',
  resumed: 'It can be started again.',
  ...triggerTexts,
};

const RUNS = 8;
const VERSIONS = 10;

interface Told extends TriggerTold {
  readonly problem?: string;
  readonly status?: number;
}

export async function showWorkflow(visit: MemberVisit, parts: Parts): Promise<Answer> {
  return show(await findWorkflow(visit, parts), visit, parts);
}

async function show(workflow: Workflow, visit: MemberVisit, parts: Parts, told: Told = {}): Promise<Answer> {
  const { access } = visit;
  const { id, name, collection, version, isActive, source, updatedAt } = workflow;
  const { timezone } = access.caller;
  const definition = await definitionOf(workflow, parts);
  const runs = await parts.workflows.runs(access, { workflowId: id, limit: RUNS });
  const edit = source === 'code' ? 'Look at its definition' : mayEdit(access) ? 'Edit' : 'Look at its definition';
  const content = html`<div class="head"><h1>${name}</h1><a class="button plain slim" href="${parts.paths.path(`${workflowPage(id)}/edit`)}">${edit}</a></div>
${definition.description && html`<p class="lead">${definition.description}</p>`}
${flash(doneTexts, visit.query)}
${facts([
  ['Collection', collection],
  ['Version', html`${version}<small>${showTime(updatedAt, timezone)}</small>`],
  ['State', isActive ? 'Can be started' : 'Paused'],
  ['Defined', source === 'code' && 'in code, and changed there'],
])}
${isActive && access.startsWorkflows && startForm(workflow, visit, parts, told.problem)}
<h2 class="plainly">Steps</h2>
${drawWorkflow(definition)}${outline(definition)}
${await triggerSettings(workflow, visit, parts, told)}
<h2 class="plainly">Latest runs</h2>
${runs.length > 0 ? runTable(runs, visit, parts) : empty('It has not run yet', isActive ? 'Start it on a record above.' : 'It is paused.')}
${runs.length > 0 && html`<p class="quietly"><a href="${parts.paths.path(runsPage)}?workflow=${id}">All its runs</a></p>`}
${await versionsOf(workflow, visit, parts)}
${source === 'console' && mayEdit(access) && pausing(workflow, visit, parts)}
<p class="quietly"><a href="${parts.paths.path(under)}">All workflows</a></p>`;
  const title = told.problem === undefined && told.callbackProblem === undefined ? name : `Error: ${name}`;
  const page = createFramed(visit, parts, { title, under, content, wide: true });
  return { page, ...(told.status !== undefined && { status: told.status }) };
}

function startForm({ id, collection }: Workflow, visit: MemberVisit, parts: Parts, problem: string | undefined): Html {
  const hint = `Its id in ${collection}; the parts of a key of several columns with | between them.`;
  return html`<h2 class="plainly">Start it</h2>${formOf(visit, parts, workflowPage(id))}<div class="narrow">${field({ id: 'record', label: 'Record', value: visit.form.get('record') ?? visit.query.get('record') ?? '', hint, problem, most: 400, required: true })}<button class="primary slim" name="action" value="start">Start a run</button></div></form>`;
}

const pausing = ({ id, isActive }: Workflow, visit: MemberVisit, parts: Parts): Html =>
  html`<h2 class="plainly">${isActive ? 'Pause it' : 'Go on with it'}</h2><p class="quietly">${isActive ? 'Nobody can start it while it is paused: its webhook answers that it is not there. Runs under way go on.' : 'Then it can be started again.'}</p><div class="deeds">${buttonTo(
    visit,
    parts,
    {
      page: workflowPage(id),
      action: isActive ? 'pause' : 'resume',
      text: isActive ? 'Pause' : 'Make it active',
    },
  )}</div>`;

async function versionsOf(workflow: Workflow, { access }: MemberVisit, { store, paths }: Parts): Promise<Html> {
  const versions = await store.workflows.versions(workflow.id);
  const shown = versions.slice(0, VERSIONS);
  const names = new Map<number, string>();
  for (const { createdBy } of shown) {
    if (createdBy === null || names.has(createdBy)) continue;
    const user = await store.identity.findUser(createdBy);
    names.set(createdBy, user ? `${user.firstName} ${user.lastName}`.trim() || user.email : 'somebody who has left');
  }
  const rows = shown.map(
    ({ version, createdAt, createdBy }) =>
      html`<li><a href="${paths.path(`${workflowPage(workflow.id)}/versions/${version}`)}"><b>Version ${version}</b><span>${showTime(createdAt, access.caller.timezone)}, ${createdBy === null ? 'by code' : names.get(createdBy)}</span></a></li>`,
  );
  return html`<h2 class="plainly">Versions</h2><ul class="rows">${rows}</ul>${versions.length > shown.length && html`<p class="quietly">The newest ${shown.length} of ${versions.length}.</p>`}`;
}

type Deed = (workflow: Workflow, visit: MemberVisit, parts: Parts) => Promise<Answer>;

const deeds: Readonly<Record<string, Deed>> = {
  start,
  pause: (workflow, visit, parts) => setActive(workflow, false, visit, parts),
  resume: (workflow, visit, parts) => setActive(workflow, true, visit, parts),
  enable: setTrigger,
  disable: setTrigger,
  regenerate: setTrigger,
  secret: setTrigger,
  'trigger-settings': setTrigger,
};

export async function changeWorkflow(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const workflow = await findWorkflow(visit, parts);
  const action = visit.form.get('action') ?? '';
  const deed = Object.hasOwn(deeds, action) ? deeds[action] : undefined;
  if (!deed) return fail('INVALID_ARGUMENT', { argument: 'action', problem: 'press one of the buttons.' });
  return deed(workflow, visit, parts);
}

async function start(workflow: Workflow, visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { access, form } = visit;
  if (!workflow.isActive) return show(workflow, visit, parts, { problem: 'It is paused.', status: 409 });
  const by = { access, origin: 'console', clientId: 'console', clientName: 'Console' } as const;
  const recordId = (form.get('record') ?? '').trim();
  try {
    const created = await parts.workflows.start(by, { workflow, recordId });
    if (created.state === 'mismatch') return fail('IDEMPOTENCY_KEY_REUSED', { tool: 'start' });
    return { to: `${runPage(created.runId)}${created.state === 'ongoing' ? '?done=ongoing' : ''}` };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    return show(workflow, visit, parts, { problem: 'Type the id of a record, at most 400 characters.', status: 400 });
  }
}

async function setTrigger(workflow: Workflow, visit: MemberVisit, parts: Parts): Promise<Answer> {
  needEditor(visit.access);
  const changed = await changeTrigger(workflow, visit, parts);
  if ('done' in changed) return { to: `${workflowPage(workflow.id)}?done=${changed.done}` };
  const { told } = changed;
  return show(workflow, visit, parts, { ...told, ...(told.callbackProblem !== undefined && { status: 400 }) });
}

async function setActive(
  { id }: Workflow,
  isActive: boolean,
  { access }: MemberVisit,
  { store }: Parts,
): Promise<Answer> {
  needEditor(access);
  await store.workflows.setActive(id, isActive, access.caller.id);
  return { to: `${workflowPage(id)}?done=${isActive ? 'resumed' : 'paused'}` };
}
