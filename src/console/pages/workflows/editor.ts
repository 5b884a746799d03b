// The editor: a workflow definition as JSON, validated with the executor's schema, and a drawing of it. Saving
// publishes a new version. If another user has saved in the meantime, the page shows both versions and keeps the typed
// text.

import { type AppError, fail, isAppError } from '../../../core/errors.ts';
import { findInexact } from '../../../core/filter/exact-numbers.ts';
import { exactText, type Html, html } from '../../../http/html.ts';
import type { Workflow } from '../../../store/workflows/types.ts';
import { checkAgainstModel } from '../../../workflows/definition/check-model.ts';
import { readDefinition, type WorkflowDefinition } from '../../../workflows/definition/definition.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { formOf } from '../../ui/form.ts';
import { createFramed } from '../../ui/frame.ts';
import { copyable } from '../../ui/notices.ts';
import { definitionOf, findWorkflow, mayEdit, needEditor, under, workflowPage } from './access.ts';
import { drawWorkflow } from './graph.ts';
import { outline } from './outline.ts';
import { reference } from './reference.ts';
import { lineAt, lineOf } from './source-position.ts';

const DEPTH_MOST = 60;

interface Editing {
  /** Absent for a new workflow. */
  readonly workflow?: Workflow;
  readonly text: string;
  /** Version that the edit is based on. */
  readonly since: number;
  readonly problem?: Problem;
  /** The typed definition, if valid. */
  readonly checked?: WorkflowDefinition;
  /** Version that another user saved in the meantime. */
  readonly theirs?: WorkflowDefinition;
}

interface Problem {
  readonly text: string;
  readonly line?: number;
}

const pretty = (definition: WorkflowDefinition): string => JSON.stringify(definition, null, 2);

/** Example definition on a collection that the user may see. */
const sample = (collection: string): WorkflowDefinition => ({
  name: 'New workflow',
  collection,
  steps: [
    {
      id: 'look',
      type: 'guidance',
      title: 'Look at it',
      text: 'Look at the record, and say what is to be done.',
      next: 'decide',
    },
    {
      id: 'decide',
      type: 'condition',
      title: 'Go on?',
      mode: 'manual',
      question: 'Is everything right?',
      options: [{ id: 'yes' }, { id: 'no' }],
    },
  ],
});

export async function showNewWorkflow(visit: MemberVisit, parts: Parts): Promise<Answer> {
  needEditor(visit.access);
  const [first] = parts.engine.index(visit.access);
  return show({ text: pretty(sample(first?.name ?? 'orders')), since: 0 }, visit, parts);
}

export async function showEditor(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const workflow = await findWorkflow(visit, parts);
  const definition = await definitionOf(workflow, parts);
  return show({ workflow, text: pretty(definition), since: workflow.version, checked: definition }, visit, parts);
}

export async function saveWorkflow(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { access, form } = visit;
  needEditor(access);
  const workflow = visit.id === '' ? undefined : await findWorkflow(visit, parts);
  const text = (form.get('definition') ?? '').replaceAll('\r\n', '\n');
  const since = Number(/^\d{1,9}$/.exec(form.get('since') ?? '')?.[0] ?? 0);
  const editing: Editing = { ...(workflow && { workflow }), text, since };
  const read = readText(text, visit, parts);
  if ('problem' in read) return show({ ...editing, problem: read.problem }, visit, parts, 400);
  const { definition } = read;
  if (form.get('action') !== 'save') return show({ ...editing, checked: definition }, visit, parts);
  try {
    const { name, collection, concurrency = null } = definition;
    const saved = await parts.store.workflows.publish({
      ...{ renderingId: access.caller.renderingId, name, collection, concurrency, by: access.caller.id },
      definition: JSON.stringify(definition),
      ...(workflow && { of: { id: workflow.id, since } }),
    });
    return { to: `${workflowPage(saved.id)}?done=${workflow ? 'saved' : 'made'}` };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { argument, problem } = error.details;
    const isLate = workflow !== undefined && argument === 'version';
    const now = isLate ? ((await parts.workflows.find(access, workflow.id)) ?? workflow) : workflow;
    return show(
      {
        ...editing,
        ...(now && { workflow: now }),
        ...(isLate && now && { since: now.version, theirs: await definitionOf(now, parts) }),
        checked: definition,
        problem: argument === 'name' ? { text: problem, line: lineOf(text, ['name']) } : { text: capital(problem) },
      },
      visit,
      parts,
      409,
    );
  }
}

function readText(
  text: string,
  { access }: MemberVisit,
  { engine }: Parts,
): { readonly definition: WorkflowDefinition } | { readonly problem: Problem } {
  let given: unknown;
  try {
    if (depthOf(text) > DEPTH_MOST) return { problem: { text: `It is nested more than ${DEPTH_MOST} deep.` } };
    const inexact = findInexact(text);
    if (inexact !== undefined) return { problem: { text: inexact } };
    given = JSON.parse(text);
  } catch (error) {
    return { problem: syntaxProblem(text, error as SyntaxError) };
  }
  try {
    const definition = readDefinition(given);
    // Validate with the rights of the user who saves: hidden names count as unknown.
    checkAgainstModel(definition, access, engine, { isSaved: true });
    return { definition };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    return { problem: problemOf(text, error) };
  }
}

function problemOf(text: string, { details, message }: AppError<'INVALID_ARGUMENT'>): Problem {
  const { argument } = details;
  return { text: message, line: lineOf(text, argument === 'definition' ? [] : argument.split('.')) };
}

function syntaxProblem(text: string, { message }: SyntaxError): Problem {
  const [, position] = /position (\d+)/.exec(message) ?? [];
  const at = position === undefined ? text.length : Number(position);
  return { text: 'This is not JSON: look at this line and the one before it.', line: lineAt(text, at) };
}

/** Nesting depth of brackets, ignoring strings. */
function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/gs)) {
    if (token === '[' || token === '{') most = Math.max(most, ++depth);
    else if (token === ']' || token === '}') depth--;
  }
  return most;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function show(editing: Editing, visit: MemberVisit, parts: Parts, status?: number): Answer {
  const { workflow, text, problem, checked, theirs } = editing;
  const isOpen = mayEdit(visit.access) && workflow?.source !== 'code';
  const title = workflow ? workflow.name : 'New workflow';
  const content = html`<h1>${title}</h1>
<p class="lead">${isOpen ? 'Saving publishes: new runs take the new version, and runs under way keep theirs.' : readOnly(workflow)}</p>
${problem && notice(problem, text)}
${theirs && workflow && conflict(theirs, workflow)}
${isOpen ? form(editing, visit, parts) : copyable(text, 'the definition')}
${checked && html`<h2 class="plainly">${problem ? 'What you typed' : 'The drawing'}</h2>${drawWorkflow(checked)}${outline(checked)}`}
${reference()}
<p class="quietly"><a href="${parts.paths.path(workflow ? workflowPage(workflow.id) : under)}">${workflow ? 'Back to the workflow' : 'Workflows'}</a></p>`;
  const page = createFramed(visit, parts, { title: problem ? `Error: ${title}` : title, under, content, wide: true });
  return { page, ...(status !== undefined && { status }) };
}

const readOnly = (workflow: Workflow | undefined): string =>
  workflow?.source === 'code'
    ? 'It is defined in code, and is changed there.'
    : 'Editors, developers and administrators can change it.';

function notice({ text, line }: Problem, typed: string): Html {
  const wrong = line === undefined ? undefined : typed.split('\n')[line - 1]?.slice(0, 200);
  return html`<div class="alert" role="alert" id="definition-problem">${line !== undefined && html`<b>Line ${line}.</b> `}${text}${wrong !== undefined && html`<span class="wrong-line"><code>${wrong}</code></span>`}</div>`;
}

const conflict = (theirs: WorkflowDefinition, { version }: Workflow): Html =>
  html`<h2 class="plainly">Version ${version}, as it was saved meanwhile</h2>
${copyable(pretty(theirs), `version ${version}`)}
<p>Yours is below, as you typed it. Put in what you want to keep of theirs; saving once more makes yours version ${version + 1}.</p>`;

function form({ workflow, text, since, problem }: Editing, visit: MemberVisit, parts: Parts): Html {
  const page = workflow ? `${workflowPage(workflow.id)}/edit` : `${under}/new`;
  const rows = Math.min(36, Math.max(14, text.split('\n').length + 1));
  return html`<div class="editing">${formOf(visit, parts, page)}<input type="hidden" name="since" value="${since}">
<div class="field code-area"><label for="definition">Definition (JSON)</label><textarea id="definition" name="definition" rows="${rows}" spellcheck="false" autocapitalize="off" autocomplete="off" required${problem && html` aria-invalid="true" aria-describedby="definition-problem"`}>
${exactText(text)}</textarea></div>
<div class="pair"><button class="plain" name="action" value="check">Check and draw</button><button class="primary" name="action" value="save">Save and publish</button></div></form></div>`;
}

/** One earlier version. */
export async function showVersion(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const workflow = await findWorkflow(visit, parts);
  const page = `${workflowPage(workflow.id)}/versions/${visit.params.version}`;
  const version = /^[1-9]\d{0,8}$/.test(visit.params.version ?? '') ? Number(visit.params.version) : 0;
  if (version === 0 || version > workflow.version) fail('NOT_FOUND', { path: page });
  const definition = await definitionOf({ ...workflow, version }, parts);
  const content = html`<h1>${workflow.name}, version ${version}</h1>
<p class="lead">${version === workflow.version ? 'New runs take this one.' : 'Runs that began with it keep it.'}</p>
${drawWorkflow(definition)}${outline(definition)}
<h2 class="plainly">Definition</h2>${copyable(pretty(definition), 'the definition')}
<p class="quietly"><a href="${parts.paths.path(workflowPage(workflow.id))}">Back to the workflow</a></p>`;
  const title = `${workflow.name}, version ${version}`;
  return { page: createFramed(visit, parts, { title, under, content, wide: true }) };
}
