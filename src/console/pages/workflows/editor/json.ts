// The JSON tab of the editor: a workflow definition as JSON, validated with the executor's schema, and a drawing of it. Saving
// publishes a new version. If another user has saved in the meantime, the page shows both versions and keeps the typed
// text.

import { type AppError, fail, isAppError } from '../../../../core/errors.ts';
import { findInexactNumber } from '../../../../core/filter/exact-numbers.ts';
import { exactText, type Html, html } from '../../../../http/html.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import type { WorkflowDefinition } from '../../../../workflows/definition/definition.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { openForm } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { copyable } from '../../../ui/notices.ts';
import { definitionOf, findWorkflow, mayEdit, requireEditor, under, workflowPage } from '../access.ts';
import { drawWorkflow } from '../graph.ts';
import { outline } from '../outline.ts';
import { reference } from '../reference.ts';
import { findLine, lineAt } from '../source-position.ts';
import { checkDefinition, publishDefinition, readSince, sentence } from './save.ts';
import { jsonPage, newJsonPage, tabs } from './tabs.ts';

const MAX_DEPTH = 60;

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
  readonly otherVersion?: WorkflowDefinition;
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
      title: 'Check the record',
      text: 'Check the record and note what to do.',
      next: 'decide',
    },
    {
      id: 'decide',
      type: 'condition',
      title: 'Continue?',
      mode: 'manual',
      question: 'Is everything correct?',
      options: [{ id: 'yes' }, { id: 'no' }],
    },
  ],
});

export async function showNewJson(request: SignedInRequest, parts: Parts): Promise<Answer> {
  requireEditor(request.access);
  const [first] = parts.engine.index(request.access);
  return show({ text: pretty(sample(first?.name ?? 'orders')), since: 0 }, request, parts);
}

export async function showJson(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const workflow = await findWorkflow(request, parts);
  const definition = await definitionOf(workflow, parts);
  return show({ workflow, text: pretty(definition), since: workflow.version, checked: definition }, request, parts);
}

export async function saveJson(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access, form } = request;
  requireEditor(access);
  const workflow = request.id === '' ? undefined : await findWorkflow(request, parts);
  const text = (form.get('definition') ?? '').replaceAll('\r\n', '\n');
  const since = readSince(form);
  const editing: Editing = { ...(workflow && { workflow }), text, since };
  const read = readText(text, request, parts);
  if ('problem' in read) return show({ ...editing, problem: read.problem }, request, parts, 400);
  const { definition } = read;
  if (form.get('action') !== 'save') return show({ ...editing, checked: definition }, request, parts);
  const of = workflow && { id: workflow.id, since };
  const published = await publishDefinition(definition, of, request, parts);
  if ('saved' in published) return { to: `${workflowPage(published.saved.id)}?done=${workflow ? 'saved' : 'made'}` };
  const { argument, problem } = published;
  const isLate = workflow !== undefined && argument === 'version';
  const now = isLate ? ((await parts.workflows.find(access, workflow.id)) ?? workflow) : workflow;
  return show(
    {
      ...editing,
      ...(now && { workflow: now }),
      ...(isLate && now && { since: now.version, otherVersion: await definitionOf(now, parts) }),
      checked: definition,
      problem: argument === 'name' ? { text: problem, line: findLine(text, ['name']) } : { text: sentence(problem) },
    },
    request,
    parts,
    409,
  );
}

function readText(
  text: string,
  request: SignedInRequest,
  parts: Parts,
): { readonly definition: WorkflowDefinition } | { readonly problem: Problem } {
  let parsed: unknown;
  try {
    if (depthOf(text) > MAX_DEPTH)
      return { problem: { text: `The JSON is nested more than ${MAX_DEPTH} levels deep.` } };
    const inexact = findInexactNumber(text);
    if (inexact !== undefined) return { problem: { text: inexact } };
    parsed = JSON.parse(text);
  } catch (error) {
    return { problem: syntaxProblem(text, error as SyntaxError) };
  }
  try {
    return { definition: checkDefinition(parsed, request, parts) };
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    return { problem: problemOf(text, error) };
  }
}

function problemOf(text: string, { details, message }: AppError<'INVALID_ARGUMENT'>): Problem {
  const { argument } = details;
  return { text: message, line: findLine(text, argument === 'definition' ? [] : argument.split('.')) };
}

function syntaxProblem(text: string, { message }: SyntaxError): Problem {
  const [, position] = /position (\d+)/.exec(message) ?? [];
  const at = position === undefined ? text.length : Number(position);
  return { text: 'Invalid JSON: check this line and the one before it.', line: lineAt(text, at) };
}

/** Nesting depth of brackets, ignoring strings. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++depth);
    else if (token === ']' || token === '}') depth--;
  }
  return deepest;
}

function show(editing: Editing, request: SignedInRequest, parts: Parts, status?: number): Answer {
  const { workflow, text, problem, checked, otherVersion } = editing;
  const isOpen = mayEdit(request.access) && workflow?.source !== 'code';
  const title = workflow ? workflow.name : 'New workflow';
  const content = html`<h1>${title}</h1>
${tabs('json', workflow?.id, parts)}
<p class="lead">${isOpen ? 'Saving publishes the workflow. New runs use the new version. Current runs keep theirs.' : readOnly(workflow)}</p>
${problem && notice(problem, text)}
${otherVersion && workflow && conflict(otherVersion, workflow)}
${isOpen ? form(editing, request, parts) : copyable(text, 'the definition')}
${checked && html`<h2 class="plainly">${problem ? 'Your input' : 'Diagram'}</h2>${drawWorkflow(checked)}${outline(checked)}`}
${reference()}
<p class="quietly"><a href="${parts.paths.path(workflow ? workflowPage(workflow.id) : under)}">${workflow ? 'Back to the workflow' : 'Workflows'}</a></p>`;
  const page = createFramedPage(request, parts, {
    title: problem ? `Error: ${title}` : title,
    under,
    content,
    wide: true,
  });
  return { page, ...(status !== undefined && { status }) };
}

const readOnly = (workflow: Workflow | undefined): string =>
  workflow?.source === 'code'
    ? 'This workflow is defined in code. Change it there.'
    : 'Only editors, developers and administrators can change it.';

function notice({ text, line }: Problem, typed: string): Html {
  const wrong = line === undefined ? undefined : typed.split('\n')[line - 1]?.slice(0, 200);
  return html`<div class="alert" role="alert" id="definition-problem">${line !== undefined && html`<b>Line ${line}.</b> `}${text}${wrong !== undefined && html`<span class="wrong-line"><code>${wrong}</code></span>`}</div>`;
}

const conflict = (otherVersion: WorkflowDefinition, { version }: Workflow): Html =>
  html`<h2 class="plainly">Version ${version}, saved in the meantime</h2>
${copyable(pretty(otherVersion), `version ${version}`)}
<p>Your input is below. Add the parts of theirs that you want to keep. Saving again creates version ${version + 1} from it.</p>`;

function form({ workflow, text, since, problem }: Editing, request: SignedInRequest, parts: Parts): Html {
  const page = workflow ? jsonPage(workflow.id) : newJsonPage;
  const rows = Math.min(36, Math.max(14, text.split('\n').length + 1));
  return html`<div class="editing">${openForm(request, parts, page)}<input type="hidden" name="since" value="${since}">
<div class="field code-area"><label for="definition">Definition (JSON)</label><textarea id="definition" name="definition" rows="${rows}" spellcheck="false" autocapitalize="off" autocomplete="off" required${problem && html` aria-invalid="true" aria-describedby="definition-problem"`}>
${exactText(text)}</textarea></div>
<div class="pair"><button class="plain" name="action" value="check">Check and preview</button><button class="primary" name="action" value="save">Save and publish</button></div></form></div>`;
}

/** One earlier version. */
export async function showVersion(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const workflow = await findWorkflow(request, parts);
  const page = `${workflowPage(workflow.id)}/versions/${request.params.version}`;
  const version = /^[1-9]\d{0,8}$/.test(request.params.version ?? '') ? Number(request.params.version) : 0;
  if (version === 0 || version > workflow.version) fail('NOT_FOUND', { path: page });
  const definition = await definitionOf({ ...workflow, version }, parts);
  const content = html`<h1>${workflow.name}, version ${version}</h1>
<p class="lead">${version === workflow.version ? 'New runs use this version.' : 'Runs that started with this version keep it.'}</p>
${drawWorkflow(definition)}${outline(definition)}
<h2 class="plainly">Definition</h2>${copyable(pretty(definition), 'the definition')}
<p class="quietly"><a href="${parts.paths.path(workflowPage(workflow.id))}">Back to the workflow</a></p>`;
  const title = `${workflow.name}, version ${version}`;
  return { page: createFramedPage(request, parts, { title, under, content, wide: true }) };
}
