import { packId, type RecordId } from '../../agent/record-id.ts';
import { fail } from '../../core/errors.ts';
import { checkNames, type Given, readIdempotencyKey, readRequiredText } from '../arguments/arguments.ts';
import { readRecordId } from '../arguments/record-ids.ts';
import { offers } from '../offers/offers.ts';
import type { Tool, ToolCall } from '../tools.ts';
import { doorOf } from '../workflow-door.ts';

interface TriggerArguments {
  readonly workflowId: string;
  /** Packed. */
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
      workflowId: readRequiredText(given, 'workflowId', 'send an id as listWorkflows gives it.'),
      recordId: packed(id),
      idempotencyKey: readIdempotencyKey(given),
    };
  },
  subject: ({ recordId }) => ({ recordIds: [recordId] }),
  writes: () => true,
  idempotency: {
    key: ({ idempotencyKey }) => idempotencyKey,
    // The answer names a run of the caller's own, and nothing of the record.
    rights: (_args, { access }) => [access.startsWorkflows, access.caller.renderingId],
  },
  run,
};

/** A text is taken as it is: packed, where the key has several columns. */
const packed = (id: RecordId): string => (Array.isArray(id) ? packId(id) : String(id));

async function run({ workflowId, recordId }: TriggerArguments, call: ToolCall): Promise<string> {
  const { access } = call;
  const { room, pageOf, clientId, clientName } = doorOf(call);
  const workflow = await room.find(access, workflowId);
  // CWE-204: one of another view, one that is paused and one that is not there are told the same.
  if (!workflow?.isActive) return fail('UNKNOWN_WORKFLOW', { workflow: workflowId });
  const by = { access, origin: 'mcp', clientId, clientName } as const;
  const created = await room.start(by, { workflow, recordId });
  if (created.state === 'mismatch') return fail('IDEMPOTENCY_KEY_REUSED', { tool: 'triggerWorkflow' });
  const { runId } = created;
  if (created.state === 'ongoing') return fail('RUN_ONGOING', { run: runId });
  return JSON.stringify({ runId, state: 'queued', page: pageOf(runId) });
}
