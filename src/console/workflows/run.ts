// A run as it goes: where it stands, what it did and when, and what it waits for as a form. The part that changes by itself asks
// for itself again until the run is over (script.ts); the form lies outside of it, so that nobody loses what he types.
import { fail, isAppError } from '../../core/errors.ts';
import { type Html, html } from '../../oauth/html.ts';
import { isOver, type Run, type RunStep } from '../../store/workflow-types.ts';
import type { Question } from '../../workflow/question.ts';
import type { RunTrace } from '../../workflow/room.ts';
import { createFragment, createFramed } from '../frame.ts';
import { facts, table } from '../parts/data.ts';
import { buttonTo } from '../parts/form.ts';
import { flash } from '../parts/said.ts';
import { countIn, runPage } from '../paths.ts';
import { savedFile } from '../saved-file.ts';
import { describeWait, showTime } from '../times.ts';
import type { Answer, MemberVisit, Parts } from '../visit.ts';
import { runsPage, under, workflowPage } from './access.ts';
import { drawWorkflow, type ShownState, type StepStates, stateWord, titleOf } from './graph.ts';
import { outline } from './outline.ts';
import { askedIn, questionForm, readValues, sizeOf } from './question-form.ts';
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

/** A run of another view, of somebody else, and one that is not there look the same (CWE-639). */
async function findTrace({ id, access }: MemberVisit, { workflows }: Parts): Promise<RunTrace> {
  return (await workflows.trace(access, id)) ?? fail('NOT_FOUND', { path: runPage(id) });
}

export async function showRun(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { overflow } = visit;
  if (overflow === undefined) return show(visit, parts);
  const problem = `Nothing was sent: the files are larger than ${sizeOf(overflow)} together. Choose smaller ones.`;
  return show(visit, parts, { status: 413, problem });
}

/** What the live region of the page is given again and again. */
export async function showRunLive(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const trace = await findTrace(visit, parts);
  return { page: createFragment(await live(trace, visit, parts, countIn(visit.query.get('asked')))) };
}

/** A file that a question names, to whoever is shown the question; to anybody else it is not there. */
export async function sendRunFile(visit: MemberVisit, parts: Parts): Promise<Answer> {
  const { access, id, params, query } = visit;
  const [number, position] = [params.number, query.get('asked')].map(countIn);
  const at = number !== undefined && position !== undefined && { number, position };
  const file = at && (await parts.workflows.file(access, id, at));
  return file ? savedFile(file) : fail('NOT_FOUND', { path: runPage(id) });
}

interface Told {
  readonly status: number;
  readonly problem: string;
  /** Of the question. */
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
  // What a person is filling in or about to decide is not taken from under his hands.
  const isAsked = question !== undefined && question.refusal === null;
  const renews = isOver(run.state) || isAsked || told ? undefined : renewal(visit, run);
  const page = createFramed(visit, parts, { title, under, content, wide: true, renews });
  return { page, ...(told && { status: told.status }) };
}

/** As with scripts: not for ever, since to ask keeps the session from ending. Who looks again by himself begins anew. */
function renewal({ query }: MemberVisit, { id }: Run): { readonly seconds: number; readonly page: string } | undefined {
  const before = Number(/^\d{1,4}$/.exec(query.get('renewed') ?? '')?.[0] ?? 0);
  return before < RENEWALS_MOST
    ? { seconds: RENEWED_SECONDS, page: `${runPage(id)}?renewed=${before + 1}` }
    : undefined;
}

/** `shown`: the question that the page has beside it. */
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

/** Why a tool failed, as its server puts it: for the user of the run alone, since it may tell values of records. */
function saidOf({ run, steps }: RunTrace): Html | false {
  if (run.failure?.code !== 'REMOTE_TOOL_FAILED') return false;
  const said = (steps.at(-1)?.data as { readonly text?: unknown } | undefined)?.text;
  if (typeof said !== 'string' || said.trim() === '') return false;
  return html`<p>What the tool said:</p><p class="said">${said}</p>`;
}

const cutOff: Partial<Record<RunStep['state'], ShownState>> = { begun: 'unknown', waiting: 'unanswered' };

/** Nothing of a run that is over is under way. */
const shownState = ({ state }: RunStep, run: Run): ShownState => (isOver(run.state) && cutOff[state]) || state;

/** Of a step that was come to again, the last. */
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
