// A run in progress: its state, its history, and its current question as a form. The live region reloads until the run
// is over (console/ui/script.ts). The form is outside that region, so a reload cannot discard typed values.
import { fail, isAppError } from '../../../core/errors.ts';
import { type Html, html } from '../../../http/html.ts';
import { isOver, type Run, type RunStep } from '../../../store/workflows/types.ts';
import type { Question } from '../../../workflows/input-requests/input-request.ts';
import type { RunTrace } from '../../../workflows/workflows.ts';
import type { Answer, MemberVisit, Parts } from '../../page-request.ts';
import { countIn, runPage } from '../../paths.ts';
import { facts, table } from '../../ui/data.ts';
import { buttonTo } from '../../ui/form.ts';
import { createFragment, createFramed } from '../../ui/frame.ts';
import { flash } from '../../ui/notices.ts';
import { describeWait, showTime } from '../../ui/times.ts';
import { logFile, savedFile } from '../approvals/saved-file.ts';
import { runsPage, under, workflowPage } from './access.ts';
import { drawWorkflow, type ShownState, type StepStates, stateWord, titleOf } from './graph.ts';
import { askedIn, questionForm, readValues, sizeOf } from './input-request-form.ts';
import { outline } from './outline.ts';
import { originWords, reasonWords, stateWords } from './words.ts';

const doneTexts: Readonly<Record<string, string>> = {
  answered: 'Your answer is there: the run goes on.',
  late: 'It was answered before yours came, so that yours changed nothing.',
  ongoing: 'A run of it on this record was not over yet. This is that run; no other was started.',
  cancelled: 'It was asked to end.',
  over: 'It was over already.',
};

const RENEWED_SECONDS = 10;
const RENEWALS_MOST = 120;

const livePage = (id: string): string => `${runPage(id)}/live`;

/** Unknown runs, runs of another view and runs of another user return the same 404 (CWE-639). */
async function findTrace({ id, access }: MemberVisit, { workflows }: Parts): Promise<RunTrace> {
  return (await workflows.trace(access, id)) ?? fail('NOT_FOUND', { path: runPage(id) });
}

export async function showRun(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { overflow } = visit;
  if (overflow === undefined) return show(visit, parts);
  const problem = `Nothing was sent: the files are larger than ${sizeOf(overflow)} together. Choose smaller ones.`;
  return show(visit, parts, { status: 413, problem });
}

/** Content of the page's live region. */
export async function showRunLive(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const trace = await findTrace(visit, parts);
  return { page: createFragment(await live(trace, visit, parts, countIn(visit.query.get('asked')))) };
}

/** Download of a file in a question. Only users who may see the question get it; others get 404. */
export async function sendRunFile(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { access, id, params, query } = visit;
  const [number, position] = [params.number, query.get('asked')].map(countIn);
  const at = number !== undefined && position !== undefined && { number, position };
  const file = at && (await parts.workflows.file(access, id, at));
  if (!file) return fail('NOT_FOUND', { path: runPage(id) });
  const { run } = await findTrace(visit, parts);
  const { collection, recordId, name } = run;
  logFile(visit, parts, { collection, recordIds: [recordId], workflow: { name, runId: run.id } });
  return savedFile(file);
}

interface Told {
  readonly status: number;
  readonly problem: string;
  /** Field of the question. */
  readonly field?: string;
}

async function show(visit: MemberVisit, parts: Parts, told?: Told): Promise<Answer> {
  const trace = await findTrace(visit, parts);
  const { run } = trace;
  const { access } = visit;
  const question = await parts.workflows.question(access, run.id);
  const asked = question ? `?asked=${question.position}` : '';
  const content = html`<h1>${run.name} on ${run.recordId}</h1>
${!told && flash(doneTexts, visit.query)}
${question && questionForm(question, run, visit, parts, told)}
<div data-live="${parts.paths.path(`${livePage(run.id)}${asked}`)}" data-live-every="2000">${await live(trace, visit, parts, question?.position)}</div>
${!isOver(run.state) && ending(run, visit, parts)}
<p class="quietly"><a href="${parts.paths.path(workflowPage(run.workflowId))}">The workflow</a> · <a href="${parts.paths.path(runsPage)}">All runs</a> · <a href="${parts.paths.path(runPage(run.id))}">Look again</a></p>`;
  const title = `${told ? 'Error: ' : ''}${run.name} on ${run.recordId}`;
  // Do not reload while the user fills in a form or is about to decide.
  const isAsked = question !== undefined && question.refusal === null;
  const renews = isOver(run.state) || isAsked || told ? undefined : renewal(visit, run);
  const page = createFramed(visit, parts, { title, under, content, wide: true, renews });
  return { page, ...(told && { status: told.status }) };
}

/** Limited as in the script, because each reload extends the session. A manual reload starts the count again. */
function renewal({ query }: MemberVisit, { id }: Run): { readonly seconds: number; readonly page: string } | undefined {
  const before = Number(/^\d{1,4}$/.exec(query.get('renewed') ?? '')?.[0] ?? 0);
  return before < RENEWALS_MOST
    ? { seconds: RENEWED_SECONDS, page: `${runPage(id)}?renewed=${before + 1}` }
    : undefined;
}

/** `shown`: the question that the page already shows next to the live region. */
async function live(trace: RunTrace, { access }: MemberVisit, parts: Parts, shown: number | undefined): Promise<Html> {
  const { run, steps, definition } = trace;
  const { timezone } = access.caller;
  const states = statesOf(steps, run);
  const asker = await nameOf(run.userId, parts);
  const names = new Map<number, string>();
  for (const { answeredBy } of steps) {
    if (answeredBy !== null && !names.has(answeredBy)) names.set(answeredBy, await nameOf(answeredBy, parts));
  }
  const waiting = run.state === 'awaiting-input' ? steps.at(-1)?.position : undefined;
  return html`${isOver(run.state) && html`<span data-live-end hidden></span>`}${stateBox(trace, parts)}${run.userId === access.caller.id && saidOf(trace)}
${waiting !== undefined && waiting !== shown && html`<p class="done"><a href="${parts.paths.path(runPage(run.id))}">Show what it asks</a></p>`}
${facts([
  ['Record', `${run.recordId} of ${run.collection}`],
  ['Version', run.version],
  ['Started by', asker],
  [
    'Through',
    html`${originWords[run.origin]}${run.originName !== originWords[run.origin] && html`<small>${run.originName}</small>`}`,
  ],
  ['Started', showTime(run.createdAt, timezone)],
  ['Over', run.finishedAt !== null && showTime(run.finishedAt, timezone)],
])}
<h2 class="plainly">Steps</h2>
${drawWorkflow(definition, states)}${outline(definition, states)}
${
  steps.length > 0 &&
  html`<h2 class="plainly">What happened</h2>${table({
    caption: 'Steps of the run',
    heads: ['Step', 'State', 'Began', 'Over', 'Answered by'],
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
function saidOf({ run, steps }: RunTrace): Html | false {
  if (run.failure?.code !== 'REMOTE_TOOL_FAILED') return false;
  const said = (steps.at(-1)?.data as { readonly text?: unknown } | undefined)?.text;
  if (typeof said !== 'string' || said.trim() === '') return false;
  return html`<p>What the tool said:</p><p class="said">${said}</p>`;
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
  return user ? `${user.firstName} ${user.lastName}`.trim() || user.email : 'somebody who has left';
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

const unknownText = 'Whether its last step was done is not known here: look at the record.';

function textOf({ state, reason, failure, answerBy, cancelAsked }: Run, now: number): string {
  if (cancelAsked && !isOver(state)) return 'It was asked to end, and does before its next step.';
  switch (state) {
    case 'queued':
      return 'It begins as soon as there is room.';
    case 'running':
      return 'It works at a step.';
    case 'awaiting-input': {
      const left = answerBy === null ? '' : ` ${describeWait(Math.max(0, answerBy - now))} are left.`;
      return `${reason === null ? '' : reasonWords[reason]}${left}`;
    }
    case 'succeeded':
      return cancelAsked
        ? 'It was asked to end, but its last step was already under way and was done: nothing was left to leave out.'
        : 'It came to its end.';
    case 'failed':
      return failure ? `${failure.message} (${failure.code})` : 'It could not go on.';
    case 'cancelled':
      return 'It was ended before it came to its end. What was done until then stays done.';
  }
}

const ending = ({ id, cancelAsked }: Run, visit: MemberVisit, parts: Parts): Html | false =>
  !cancelAsked &&
  html`<details class="more"><summary>End this run</summary><p class="quietly">It ends before its next step. What was done until then stays done.</p><div class="deeds spaced">${buttonTo(
    visit,
    parts,
    { page: runPage(id), action: 'cancel', text: 'End the run', kind: 'danger' },
  )}</div></details>`;

export async function answerRun(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { access, form } = visit;
  const { run } = await findTrace(visit, parts);
  if (form.get('action') === 'cancel') {
    const isEnded = await parts.workflows.cancel(access, run.id);
    return { to: `${runPage(run.id)}?done=${isEnded ? 'cancelled' : 'over'}` };
  }
  const question: Question | undefined = await parts.workflows.question(access, run.id);
  const position = askedIn(form);
  if (!question || question.position !== position) return { to: `${runPage(run.id)}?done=late` };
  const given = { decision: form.get('action') ?? '', values: readValues(question, visit) };
  try {
    const isFirst = await parts.workflows.answer(access, run.id, position, given);
    return { to: `${runPage(run.id)}?done=${isFirst ? 'answered' : 'late'}` };
  } catch (error) {
    if (isAppError(error, 'INVALID_ARGUMENT')) {
      return show(visit, parts, { status: 400, problem: error.details.problem, field: error.details.argument });
    }
    if (!isAppError(error) || error.code === 'INTERNAL') throw error;
    return show(visit, parts, { status: error.status, problem: error.message });
  }
}
