import { packId, type RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { checkNames, type Given, readIdempotencyKey, readRequiredText } from '../input/arguments.ts';
import { readRecordId } from '../input/record-ids.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { offers } from '../visibility/visibility.ts';
import { doorOf } from '../workflow-access.ts';

interface TriggerArguments {
  readonly workflowId: string;
  /** The packed key. */
  readonly recordId: string;
  readonly idempotencyKey: string | undefined;
}

export const triggerWorkflow: Tool<TriggerArguments> = {
  name: 'triggerWorkflow',
  title: 'Start a workflow',
  description: 'Start a workflow on a record. It runs by itself; getWorkflowRun tells how far it is.',
  scope: 'mcp:action',
  isOffered: offers.startWorkflow,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  inputSchema: {
    type: 'object',
    properties: {
      workflowId: { type: 'string' },
      recordId: { type: 'string' },
      idempotencyKey: { type: 'string' },
    },
    required: ['workflowId', 'recordId'],
  },
  parse(given: Given) {
    checkNames(given, ['workflowId', 'recordId', 'idempotencyKey']);
    const id = readRecordId(given, 'recordId');
    if (id === undefined) fail('INVALID_ARGUMENT', { argument: 'recordId', problem: 'send the id of one record.' });
    return {
      workflowId: readRequiredText(given, 'workflowId', 'send the id of a workflow; listWorkflows gives it.'),
      recordId: packed(id),
      idempotencyKey: readIdempotencyKey(given),
    };
  },
  subject: ({ recordId }) => ({ recordIds: [recordId] }),
  writes: () => true,
  idempotency: {
    key: ({ idempotencyKey }) => idempotencyKey,
    // The answer names the caller's own run and contains no data of the record.
    rights: (_args, { access }) => [access.startsWorkflows, access.caller.renderingId],
  },
  run,
};

/** A text is used unchanged; for a composite key it must be packed already. */
const packed = (id: RecordId): string => (Array.isArray(id) ? packId(id) : String(id));

async function run({ workflowId, recordId }: TriggerArguments, call: ToolCall): Promise<string> {
  const { access } = call;
  const { room, pageOf, clientId, clientName } = doorOf(call);
  const workflow = await room.find(access, workflowId);
  // CWE-204: a workflow of another rendering, a paused one and a missing one give the same error.
  if (!workflow?.isActive) return fail('UNKNOWN_WORKFLOW', { workflow: workflowId });
  const by = { access, origin: 'mcp', clientId, clientName } as const;
  const created = await room.start(by, { workflow, recordId });
  if (created.state === 'mismatch') return fail('IDEMPOTENCY_KEY_REUSED', { tool: 'triggerWorkflow' });
  const { runId } = created;
  if (created.state === 'ongoing') return fail('RUN_ONGOING', { run: runId });
  return JSON.stringify({ runId, state: 'queued', page: pageOf(runId) });
}
