import { fail } from '../../core/errors.ts';
import { type AwaitReason, isOver, type RunStep } from '../../store/workflows/types.ts';
import { stepOf } from '../../workflows/definition/definition.ts';
import type { RunTrace } from '../../workflows/workflows.ts';
import { checkNames, type JsonObject, readRequiredText } from '../input/arguments.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { requireWorkflows } from '../workflow-access.ts';

interface RunArguments {
  readonly runId: string;
}

export const getWorkflowRun: Tool<RunArguments> = {
  name: 'getWorkflowRun',
  title: 'State of a workflow run',
  description: 'State of a run: its steps, what it waits for, and the page to answer it.',
  scope: 'mcp:action',
  isVisible: toolVisibility.workflow,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: { type: 'object', properties: { runId: { type: 'string' } }, required: ['runId'] },
  parse(input: JsonObject) {
    checkNames(input, ['runId']);
    return { runId: readRequiredText(input, 'runId', 'send the id of a run; triggerWorkflow returns it.') };
  },
  subject: () => ({}),
  run,
};

/** The maximum number of steps, the last ones of a run with loops. */
const MAX_STEPS = 60;

const reasonTexts: Readonly<Record<AwaitReason, string>> = {
  guidance: 'A person must complete a task and mark it as done.',
  choice: 'A person must choose.',
  confirmation: 'A person must confirm what will be done.',
  form: 'A person must fill in values.',
  approval: 'A person must approve it.',
  uncertain: 'The step was interrupted, and its outcome is unknown: a person must check it.',
  reconnect: 'A person must reconnect the remote server.',
};

async function run({ runId }: RunArguments, call: ToolCall): Promise<string> {
  const { service, pageOf } = requireWorkflows(call);
  const trace = await service.trace(call.access, runId);
  if (!trace) return fail('UNKNOWN_RUN', { run: runId });
  const { run, steps } = trace;
  const { failure } = run;
  const shown = steps.slice(-MAX_STEPS);
  return JSON.stringify({
    ...{ runId, workflow: run.name, collectionName: run.collection, recordId: run.recordId, state: run.state },
    ...(run.cancelAsked && !isOver(run.state) && { note: 'Cancelling before the next step.' }),
    ...(run.state === 'awaiting-input' && { waitsFor: describeWait(trace, pageOf(runId)) }),
    ...(failure && { failure: { code: failure.code, message: failure.message } }),
    columns: ['step', 'state'],
    rows: shown.map((step) => [stepTitle(trace, step), step.state]),
    ...(steps.length > shown.length && { note: `The last ${shown.length} of ${steps.length} steps.` }),
    startedAt: formatTime(run.createdAt),
    ...(run.finishedAt !== null && { finishedAt: formatTime(run.finishedAt) }),
    page: pageOf(runId),
  });
}

const stepTitle = ({ definition }: RunTrace, { stepId }: Pick<RunStep, 'stepId'>): string =>
  stepOf(definition, stepId)?.title ?? stepId;

function describeWait(trace: RunTrace, page: string) {
  const { stepId, reason, answerBy } = trace.run;
  return {
    step: stepTitle(trace, { stepId: stepId ?? '' }),
    ...(reason && { reason, what: reasonTexts[reason] }),
    ...(answerBy !== null && { answerBy: formatTime(answerBy) }),
    answerAt: page,
  };
}

const formatTime = (ms: number): string => new Date(ms).toISOString();
