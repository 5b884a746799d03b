// A run in progress: its state, its history, and its current question as a form. The live region reloads until the run
// is over (console/ui/script.ts). The form is outside that region, so a reload cannot discard typed values.
import { fail, isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { isOver, type Run, type RunStep } from '../../../store/workflows/types.ts';
import type { InputRequest } from '../../../workflows/input-requests/input-request.ts';
import type { RunTrace } from '../../../workflows/workflows.ts';
import type { Answer, Parts, SignedInRequest } from '../../page-request.ts';
import { parseCount, runPage } from '../../paths.ts';
import { readNames } from '../../records/names.ts';
import { facts, table } from '../../ui/data.ts';
import { buttonTo } from '../../ui/form.ts';
import { createFragment, createFramedPage } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeLeft, showTime } from '../../ui/times.ts';
import { readValues, sizeOf } from '../../ui/value-input.ts';
import { logFile, savedFile } from '../approvals/saved-file.ts';
import { mayEdit, runsPage, workflowPage } from './access.ts';
import { drawWorkflow, type ShownState, type StepStates, stateWord, titleOf } from './graph.ts';
import { questionForm, readPosition, runTarget } from './input-request-form.ts';
import { outline } from './outline.ts';
import { describeCallback, originWords, reasonWords, stateWords } from './words.ts';

const doneTexts: Readonly<Record<string, string>> = {
  answered: 'Answer saved. The run continues.',
  late: 'Another person answered first. Your answer was not used.',
  ongoing: 'A run on this record was still active. This is that run. No new run was started.',
  cancelled: 'Cancellation requested.',
  over: 'The run had already ended.',
};

const RENEWED_SECONDS = 10;
const MAX_RENEWALS = 120;

const livePage = (id: string): string => `${runPage(id)}/live`;

/** Unknown runs, runs of another view and runs of another user return the same 404 (CWE-639). */
async function findTrace({ id, access }: SignedInRequest, { workflows }: Parts): Promise<RunTrace> {
  return (await workflows.trace(access, id)) ?? fail('NOT_FOUND', { path: runPage(id) });
}

export async function showRun(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { overflow } = request;
  if (overflow === undefined) return show(request, parts);
  const problem = `Not sent: the files exceed ${sizeOf(overflow)} in total. Choose smaller files.`;
  return show(request, parts, { status: 413, problem });
}

/** Content of the page's live region. */
export async function showRunLive(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const trace = await findTrace(request, parts);
  return { page: createFragment(await live(trace, request, parts, parseCount(request.query.get('asked')))) };
}

/** Download of a file in a question. Only users who may see the question get it; others get 404. */
export async function sendRunFile(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access, id, params, query } = request;
  const [number, position] = [params.number, query.get('asked')].map(parseCount);
  const at = number !== undefined && position !== undefined && { number, position };
  const file = at && (await parts.workflows.file(access, id, at));
  if (!file) return fail('NOT_FOUND', { path: runPage(id) });
  const { run } = await findTrace(request, parts);
  const { collection, recordId, name } = run;
  logFile(request, parts, { collection, recordIds: [recordId], workflow: { name, runId: run.id } });
  return savedFile(file);
}

interface RunPageError {
  readonly status: number;
  readonly problem: string;
  /** Field of the question. */
  readonly field?: string;
}

async function show(request: SignedInRequest, parts: Parts, pageError?: RunPageError): Promise<Answer> {
  const trace = await findTrace(request, parts);
  const { run } = trace;
  const { access } = request;
  const question = await parts.workflows.inputRequest(access, run.id);
  const questionQuery = question ? `?asked=${question.position}` : '';
  const names = await readRunName(run, request, parts);
  const about = `${run.name} on ${names.name(run.collection, run.recordId)}`;
  const content = html`<h1>${about}</h1>
${!pageError && flash(doneTexts, request.query)}
${question && questionForm(question, runTarget(run), request, parts, pageError)}
<div data-live="${parts.paths.path(`${livePage(run.id)}${questionQuery}`)}" data-live-every="2000">${await live(trace, request, parts, question?.position)}</div>
${!isOver(run.state) && ending(run, request, parts)}
<p class="quietly"><a href="${parts.paths.path(workflowPage(run.workflowId))}">Workflow</a> · <a href="${parts.paths.path(runPage(run.id))}">Refresh</a></p>`;
  const title = `${pageError ? 'Error: ' : ''}${about}`;
  // Do not reload while the user fills in a form or is about to decide.
  const isAnswerable = question !== undefined && question.refusal === null;
  const renews = isOver(run.state) || isAnswerable || pageError ? undefined : renewal(request, run);
  const page = createFramedPage(request, parts, { title, under: runsPage, content, wide: true, renews });
  return { page, ...(pageError && { status: pageError.status }) };
}

/** Limited as in the script, because each reload extends the session. A manual reload starts the count again. */
function renewal(
  { query }: SignedInRequest,
  { id }: Run,
): { readonly seconds: number; readonly page: string } | undefined {
  const before = Number(/^\d{1,4}$/.exec(query.get('renewed') ?? '')?.[0] ?? 0);
  return before < MAX_RENEWALS ? { seconds: RENEWED_SECONDS, page: `${runPage(id)}?renewed=${before + 1}` } : undefined;
}

const readRunName = ({ collection, recordId }: Run, request: SignedInRequest, parts: Parts) =>
  readNames(request, parts, [{ collection, id: recordId }]);

/** `shown`: the question that the page already shows next to the live region. */
async function live(trace: RunTrace, request: SignedInRequest, parts: Parts, shown: number | undefined): Promise<Html> {
  const { access } = request;
  const { run, steps, definition } = trace;
  const { timezone } = access.caller;
  const states = statesOf(steps, run);
  const asker = await nameOf(run.userId, parts);
  const records = await readRunName(run, request, parts);
  const names = new Map<number, string>();
  for (const { answeredBy } of steps) {
    if (answeredBy !== null && !names.has(answeredBy)) names.set(answeredBy, await nameOf(answeredBy, parts));
  }
  const waiting = run.state === 'awaiting-input' ? steps.at(-1)?.position : undefined;
  return html`${isOver(run.state) && html`<span data-live-end hidden></span>`}${stateBox(trace, parts)}${run.userId === access.caller.id && resultText(trace)}
${waiting !== undefined && waiting !== shown && html`<p class="done"><a href="${parts.paths.path(runPage(run.id))}">Show the question</a></p>`}
${facts([
  ['Record', html`${records.link(run.collection, run.recordId)} of ${run.collection}`],
  ['Version', run.version],
  ['Started by', asker],
  [
    'Through',
    html`${originWords[run.origin]}${run.originName !== originWords[run.origin] && html`<small>${run.originName}</small>`}`,
  ],
  ['Started', showTime(run.createdAt, timezone)],
  ['Ended', run.finishedAt !== null && showTime(run.finishedAt, timezone)],
  ['Callback', mayEdit(access) && run.callbackFailure !== null && describeCallback(run.callbackFailure, timezone)],
])}
<h2 class="plainly">Steps</h2>
${drawWorkflow(definition, states)}${outline(definition, states)}
${
  steps.length > 0 &&
  html`<h2 class="plainly">History</h2>${table({
    caption: 'Steps of the run',
    heads: ['Step', 'State', 'Started', 'Ended', 'Answered by'],
    rows: steps.map((step) => [
      titleOf(definition.steps.find(({ id }) => id === step.stepId) ?? { id: step.stepId }),
      stateWord(shownState(step, run)),
      showTime(step.startedAt, timezone),
      step.finishedAt === null ? '' : showTime(step.finishedAt, timezone),
      step.answeredBy === null ? '' : names.get(step.answeredBy),
    ]),
  })}`
}`;
}

/** Error text of a remote tool. Only the user of the run sees it, because it may contain record data. */
function resultText({ run, steps }: RunTrace): Html | false {
  if (run.failure?.code !== 'REMOTE_TOOL_FAILED') return false;
  const text = (steps.at(-1)?.data as { readonly text?: unknown } | undefined)?.text;
  if (typeof text !== 'string' || text.trim() === '') return false;
  return html`<p>Output of the tool:</p><p class="said">${text}</p>`;
}

const cutOff: Partial<Record<RunStep['state'], ShownState>> = { begun: 'unknown', waiting: 'unanswered' };

/** A run that is over has no running steps. */
const shownState = ({ state }: RunStep, run: Run): ShownState => (isOver(run.state) && cutOff[state]) || state;

/** State of each step; a repeated step has its last one. */
function statesOf(steps: readonly RunStep[], run: Run): StepStates {
  const { state, stepId } = run;
  const states = new Map(steps.map((step) => [step.stepId, shownState(step, run)]));
  if (state === 'running' && stepId !== null) states.set(stepId, 'begun');
  if (state === 'failed' && stepId !== null) states.set(stepId, 'failed');
  return states;
}

async function nameOf(id: number, { store }: Parts): Promise<string> {
  const user = await store.identity.findUser(id);
  return user ? `${user.firstName} ${user.lastName}`.trim() || user.email : 'a former user';
}

const tones: Readonly<Record<Run['state'], string>> = {
  queued: 'over',
  running: 'over',
  'awaiting-input': 'wait',
  succeeded: 'good',
  failed: 'bad',
  cancelled: 'over',
};

function stateBox({ run, steps }: RunTrace, { clock }: Parts): Html {
  const unsure = run.state === 'cancelled' && steps.at(-1)?.state === 'begun' && html` ${unknownText}`;
  return html`<div class="state ${tones[run.state]}" role="status"><div><b>${stateWords[run.state]}</b><span>${textOf(run, clock.now())}${unsure}</span></div></div>`;
}

const unknownText = 'The outcome of its last step is unknown. Check the record.';

function textOf({ state, reason, failure, answerBy, cancelAsked }: Run, now: number): string {
  if (cancelAsked && !isOver(state)) return 'Cancelling before the next step.';
  switch (state) {
    case 'queued':
      return 'It starts as soon as capacity is free.';
    case 'running':
      return 'A step is running.';
    case 'awaiting-input': {
      const left = answerBy === null ? '' : ` ${describeLeft(answerBy - now)} left.`;
      return `${reason === null ? '' : reasonWords[reason]}${left}`;
    }
    case 'succeeded':
      return cancelAsked
        ? 'The cancellation came too late: the last step was already running and is complete.'
        : 'Completed.';
    case 'failed':
      return failure ? `${failure.message} (${failure.code})` : 'The run could not continue.';
    case 'cancelled':
      return 'Ended before completion. Changes made until then remain.';
  }
}

const ending = ({ id, cancelAsked }: Run, request: SignedInRequest, parts: Parts): Html | false =>
  !cancelAsked &&
  html`<details class="more"><summary>Cancel this run</summary><p class="quietly">It ends before its next step. Changes made until then remain.</p><div class="deeds spaced">${buttonTo(
    request,
    parts,
    { page: runPage(id), action: 'cancel', text: 'Cancel run', kind: 'danger' },
  )}</div></details>`;

export async function answerRun(request: SignedInRequest, parts: Parts): Promise<Answer> {
  const { access, form } = request;
  const { run } = await findTrace(request, parts);
  if (form.get('action') === 'cancel') {
    const isEnded = await parts.workflows.cancel(access, run.id);
    return { to: `${runPage(run.id)}?done=${isEnded ? 'cancelled' : 'over'}` };
  }
  const question: InputRequest | undefined = await parts.workflows.inputRequest(access, run.id);
  const position = readPosition(form);
  if (!question || question.position !== position) return { to: `${runPage(run.id)}?done=late` };
  const input = { decision: form.get('action') ?? '', values: readValues(question.fields, request) };
  try {
    const isFirst = await parts.workflows.answer(access, run.id, position, input);
    return { to: `${runPage(run.id)}?done=${isFirst ? 'answered' : 'late'}` };
  } catch (error) {
    if (isAppError(error, 'INVALID_ARGUMENT')) {
      return show(request, parts, { status: 400, problem: error.details.problem, field: error.details.argument });
    }
    if (!isAppError(error) || error.code === 'INTERNAL') throw error;
    return show(request, parts, { status: error.status, problem: error.message });
  }
}
