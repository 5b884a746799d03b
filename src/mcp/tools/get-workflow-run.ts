import { fail } from '../../core/errors.ts';
import { type AwaitReason, isOver, type RunStep } from '../../store/workflows/types.ts';
import { stepOf } from '../../workflows/definition/definition.ts';
import type { RunTrace } from '../../workflows/workflows.ts';
import { checkNames, type Given, readRequiredText } from '../input/arguments.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { offers } from '../visibility/visibility.ts';
import { doorOf } from '../workflow-access.ts';

interface RunArguments {
  readonly runId: string;
}

export const getWorkflowRun: Tool<RunArguments> = {
  name: 'getWorkflowRun',
  title: 'State of a workflow run',
  description: 'How far a run is: its steps, what it waits for, and the page where a person answers that.',
  scope: 'mcp:action',
  isOffered: offers.workflow,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: { type: 'object', properties: { runId: { type: 'string' } }, required: ['runId'] },
  parse(given: Given) {
    checkNames(given, ['runId']);
    return { runId: readRequiredText(given, 'runId', 'send the id of a run; triggerWorkflow gives it.') };
  },
  subject: () => ({}),
  run,
};

/** The maximum number of steps, the last ones of a run with loops. */
const MOST_STEPS = 60;

const asks: Readonly<Record<AwaitReason, string>> = {
  guidance: 'A person is to do something and say that it is done.',
  choice: 'A person is to choose.',
  confirmation: 'A person is to confirm what would be done.',
  form: 'A person is to fill in values.',
  approval: 'A person is to approve it.',
  uncertain: 'The step was begun, and whether it was done is not known: a person is to look.',
  reconnect: 'A person is to connect the remote server again.',
};

async function run({ runId }: RunArguments, call: ToolCall): Promise<string> {
  const { room, pageOf } = doorOf(call);
  const trace = await room.trace(call.access, runId);
  if (!trace) return fail('UNKNOWN_RUN', { run: runId });
  const { run, steps } = trace;
  const { failure } = run;
  const shown = steps.slice(-MOST_STEPS);
  return JSON.stringify({
    ...{ runId, workflow: run.name, collectionName: run.collection, recordId: run.recordId, state: run.state },
    ...(run.cancelAsked && !isOver(run.state) && { note: 'It was asked to end, and does before its next step.' }),
    ...(run.state === 'awaiting-input' && { waitsFor: waitsFor(trace, pageOf(runId)) }),
    ...(failure && { failure: { code: failure.code, message: failure.message } }),
    columns: ['step', 'state'],
    rows: shown.map((step) => [titleOf(trace, step), step.state]),
    ...(steps.length > shown.length && { note: `The last ${shown.length} of ${steps.length} steps.` }),
    startedAt: timeOf(run.createdAt),
    ...(run.finishedAt !== null && { finishedAt: timeOf(run.finishedAt) }),
    page: pageOf(runId),
  });
}

const titleOf = ({ definition }: RunTrace, { stepId }: Pick<RunStep, 'stepId'>): string =>
  stepOf(definition, stepId)?.title ?? stepId;

function waitsFor(trace: RunTrace, page: string) {
  const { stepId, reason, answerBy } = trace.run;
  return {
    step: titleOf(trace, { stepId: stepId ?? '' }),
    ...(reason && { reason, what: asks[reason] }),
    ...(answerBy !== null && { answerBy: timeOf(answerBy) }),
    answerAt: page,
  };
}

const timeOf = (ms: number): string => new Date(ms).toISOString();
