// The dry run of a workflow: what a run on a record would do, step by step. The answers that the person gives in place
// of others are fields of the form, so nothing is stored.
import { type Html, html } from '../../../../http/html.ts';
import type { Workflow } from '../../../../store/workflows/types.ts';
import type { DryRun, TriedStep } from '../../../../workflows/dry-run/dry-run.ts';
import type { SubmittedAnswer } from '../../../../workflows/input-requests/answers.ts';
import { withoutToolAdvice } from '../../../../workflows/runs/failure.ts';
import type { Answer, Parts, SignedInRequest } from '../../../page-request.ts';
import { readNames } from '../../../records/names.ts';
import { openForm } from '../../../ui/form.ts';
import { createFramedPage } from '../../../ui/frame.ts';
import { isFileField, readValues } from '../../../ui/value-input.ts';
import { changeTables, effectTables, shownValue, valueTable } from '../../approvals/changes-view.ts';
import { logRead } from '../../data/access.ts';
import { definitionOf, findWorkflow, under, workflowPage } from '../access.ts';
import { titleOf, typeName } from '../graph.ts';
import { questionForm, readPosition } from '../input-request-form.ts';
import { recordPicker } from './record-picker.ts';
import { sentence } from './save.ts';
import { tabs, tryPage } from './tabs.ts';

const MAX_ANSWERS_LENGTH = 200_000;
const MAX_ID = 400;

export async function showTry(request: SignedInRequest, parts: Parts): Promise<Answer> {
  return show(request, parts, []);
}

export async function tryStep(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { form } = request;
  const action = form.get('action') ?? '';
  const answers = readAnswers(form.get('answers') ?? '');
  if (action === 'find') return show(request, parts, [], false);
  if (action === 'run') return show(request, parts, []);
  if (action === 'back') return show(request, parts, answers.slice(0, -1));
  return show(request, parts, answers, true, action);
}

function readAnswers(text: string): readonly SubmittedAnswer[] {
  if (text === '' || text.length > MAX_ANSWERS_LENGTH) return [];
  try {
    const read: unknown = JSON.parse(text);
    const all: readonly unknown[] = Array.isArray(read) ? read : [];
    return all.flatMap((each): readonly SubmittedAnswer[] => {
      const { decision, values } = (each ?? {}) as { readonly decision?: unknown; readonly values?: unknown };
      const isAnswer = typeof decision === 'string' && typeof values === 'object' && values !== null;
      return isAnswer ? [{ decision, values: values as Readonly<Record<string, unknown>> }] : [];
    });
  } catch {
    return [];
  }
}

interface Tried {
  readonly dryRun: DryRun;
  readonly answers: readonly SubmittedAnswer[];
}

/** `decision`: the answer of the form to the last question. */
async function tryAnswers(
  workflow: Workflow,
  recordId: string,
  answers: readonly SubmittedAnswer[],
  decision: string | undefined,
  request: SignedInRequest,
  parts: Parts,
): Promise<Tried> {
  const definition = await definitionOf(workflow, parts);
  const { access, signal } = request;
  const startedAt = parts.clock.now();
  const attempt = (given: readonly SubmittedAnswer[]) =>
    parts.workflows.dryRun(access, { workflow, definition, recordId, answers: given, signal });
  let dryRun = await attempt(answers);
  let kept = answers;
  const { end } = dryRun;
  if (decision !== undefined && end.kind === 'asks' && readPosition(request.form) === end.question.position) {
    const values = readValues(end.question.fields, request);
    dryRun = await attempt([...answers, { decision, values }]);
    const isRefused = dryRun.end.kind === 'asks' && dryRun.end.problem !== undefined;
    if (!isRefused) kept = [...answers, { decision, values }];
  }
  for (const { action, collection = workflow.collection, recordIds = [recordId] } of dryRun.reads)
    logRead(request, parts, { action, collection, recordIds, startedAt });
  return { dryRun, answers: kept };
}

async function show(
  request: SignedInRequest,
  parts: Parts,
  given: readonly SubmittedAnswer[],
  isRun = true,
  decision?: string,
): Promise<Answer> {
  const workflow = await findWorkflow(request, parts);
  const { id, name, collection } = workflow;
  const recordId = (request.form.get('record') ?? request.query.get('record') ?? '').trim();
  const isTried = isRun && recordId !== '' && recordId.length <= MAX_ID && !recordId.includes('\0');
  const tried = isTried ? await tryAnswers(workflow, recordId, given, decision, request, parts) : undefined;
  const isWrong = tried?.dryRun.end.kind === 'asks' && tried.dryRun.end.problem !== undefined;
  const picker = await recordPicker(collection, undefined, request, parts);
  const content = html`<h1>Dry run of ${name}</h1>
${tabs('try', id, parts)}
<p class="lead">These are the steps of a run with your rights. A dry run changes no data, and calls no action, remote server or language model.</p>
${openForm(request, parts, tryPage(id))}<div class="narrow">${picker}<button class="${tried ? 'plain' : 'primary'} slim" name="action" value="run">${tried ? 'Start again' : 'Try it'}</button></div></form>
${tried && (await triedView(tried, workflow, recordId, request, parts))}
<p class="quietly"><a href="${parts.paths.path(workflowPage(id))}">Back to the workflow</a></p>`;
  const title = `Dry run of ${name}`;
  const page = createFramedPage(request, parts, {
    ...{ title: isWrong ? `Error: ${title}` : title, under, content, wide: true },
  });
  return { page, ...(isWrong && { status: 400 }) };
}

async function triedView(
  { dryRun: { steps, end }, answers }: Tried,
  workflow: Workflow,
  recordId: string,
  request: SignedInRequest,
  parts: Parts,
): Promise<Html> {
  const loaded = steps.flatMap(({ step, values }) =>
    step.type === 'load-related-record' && values && 'collection' in values
      ? [{ collection: String(values.collection), id: String(values.id) }]
      : [],
  );
  const names = await readNames(request, parts, [{ collection: workflow.collection, id: recordId }, ...loaded]);
  const hidden = html`<input type="hidden" name="record" value="${recordId}"><input type="hidden" name="answers" value="${JSON.stringify(answers)}">`;
  const back =
    answers.length > 0 &&
    html`${openForm(request, parts, tryPage(workflow.id))}${hidden}<button class="plain slim" name="action" value="back">Change the last answer</button></form>`;
  return html`<h2 class="plainly">On ${names.link(workflow.collection, recordId)}</h2>
<ol class="wf-tried">${steps.map((each) => triedItem(each, names.link))}</ol>
${endView(end, hidden, workflow, request, parts)}${back}`;
}

function triedItem(
  { step, values, option, isSkipped, effect, isAnswered, notes }: TriedStep,
  link: (collection: string, id: string) => Html,
): Html {
  const shown = values && step.type !== 'load-related-record' && !effect && option === undefined ? values : {};
  const rows = Object.entries(shown).map(([field, value]) => [field, shownValue(value)] as const);
  return html`<li><b>${titleOf(step)}</b> <span class="quietly">${typeName(step)}</span>
${option !== undefined && html`<p>Takes the option <strong>${option}</strong>.</p>`}
${isSkipped && html`<p>Finds no record.</p>`}
${step.type === 'load-related-record' && values && 'collection' in values && html`<p>Loads ${link(String(values.collection), String(values.id))} of ${String(values.collection)}.</p>`}
${rows.length > 0 && valueTable(false, 'Value', rows)}
${effect && effectView(effect)}
${isAnswered && html`<p class="quietly">You answered in place of the person.</p>`}
${notes.map((note) => html`<p class="quietly">${note}</p>`)}</li>`;
}

function effectView({ type, text, changes = [], effects = [], unseen = [] }: NonNullable<TriedStep['effect']>): Html {
  if (type !== 'update-record') {
    const rows = changes.map(({ field, after }) => [field, shownValue(after)] as const);
    return html`<p>${text}</p>${rows.length > 0 && valueTable(false, 'Value', rows)}`;
  }
  const fields = Object.fromEntries(changes.map(({ field, before, after }) => [field, { before, after }]));
  return html`<p>It would make this change:</p>${changes.length > 0 ? changeTables('update', [{ id: '', fields }]) : html`<p class="quietly">No field that you can see changes.</p>`}${effectTables(effects, unseen)}`;
}

function endView(end: DryRun['end'], hidden: Html, workflow: Workflow, request: SignedInRequest, parts: Parts): Html {
  if (end.kind === 'succeeded')
    return html`<div class="state good" role="status"><div><b>The run would succeed</b><span>No step follows.</span></div></div>`;
  const title = titleOf(end.step);
  if (end.kind === 'failed')
    return html`<div class="state bad" role="status"><div><b>The run would fail at ${title}</b><span>${withoutToolAdvice(end.problem)}</span></div></div>`;
  if (end.kind === 'unknown')
    return html`<div class="state wait" role="status"><div><b>The dry run ends at ${title}</b><span>${end.problem}</span></div></div>`;
  const { question, notes, problem } = end;
  const hasFiles = question.fields.some(isFileField);
  const fields = question.fields.filter((each) => !isFileField(each));
  const target = { page: tryPage(workflow.id), refused: 'The dry run ends here.', hidden };
  const error = problem && { problem: sentence(problem.text), field: problem.field };
  return html`<p class="quietly">Here the run would wait for a person. Answer in their place to continue.</p>
${notes.map((note) => html`<p class="quietly">${note}</p>`)}
${hasFiles && html`<p class="warning">A file cannot be chosen in a dry run.</p>`}
${questionForm({ ...question, fields }, target, request, parts, error)}`;
}
