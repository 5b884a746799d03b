import { packId, type RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { digitsAsString, losesPrecision } from '../../core/filter/exact-numbers.ts';
import { checkNames, type JsonObject, readIdempotencyKey, readRequiredText } from '../input/arguments.ts';
import { readRecordId } from '../input/record-ids.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { requireWorkflows } from '../workflow-access.ts';

interface TriggerArguments {
  readonly workflowId: string;
  /** The packed key. */
  readonly recordId: string;
  readonly idempotencyKey: string | undefined;
}

export const triggerWorkflow: Tool<TriggerArguments> = {
  name: 'triggerWorkflow',
  title: 'Start a workflow',
  description: 'Start a workflow on a record. It runs on its own; getWorkflowRun shows its state.',
  scope: 'mcp:action',
  isVisible: toolVisibility.startWorkflow,
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
  parse(input: JsonObject) {
    checkNames(input, ['workflowId', 'recordId', 'idempotencyKey']);
    const id = readRecordId(input, 'recordId');
    if (id === undefined) fail('INVALID_ARGUMENT', { argument: 'recordId', problem: 'send the id of one record.' });
    return {
      workflowId: readRequiredText(input, 'workflowId', 'send the id of a workflow; listWorkflows returns it.'),
      recordId: toPackedId(id),
      idempotencyKey: readIdempotencyKey(input),
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
function toPackedId(id: RecordId): string {
  const parts = Array.isArray(id) ? (id as readonly unknown[]) : [id];
  // RFC 8259 section 6: rounded, it would be the id of another record.
  if (parts.some(losesPrecision))
    return fail('INVALID_ARGUMENT', { argument: 'recordId', problem: `send ${digitsAsString}.` });
  return Array.isArray(id) ? packId(parts) : String(id);
}

async function run({ workflowId, recordId }: TriggerArguments, call: ToolCall): Promise<string> {
  const { access } = call;
  const { service, pageOf, clientId, clientName } = requireWorkflows(call);
  const workflow = await service.find(access, workflowId);
  // CWE-204: a workflow of another rendering, a paused one and a missing one give the same error.
  if (!workflow?.isActive) return fail('UNKNOWN_WORKFLOW', { workflow: workflowId });
  const requester = { access, origin: 'mcp', clientId, clientName } as const;
  const created = await service.start(requester, { workflow, recordId });
  if (created.state === 'mismatch') return fail('IDEMPOTENCY_KEY_REUSED', { tool: 'triggerWorkflow' });
  const { runId } = created;
  if (created.state === 'ongoing') return fail('RUN_ONGOING', { run: runId });
  return JSON.stringify({ runId, state: 'queued', page: pageOf(runId) });
}
