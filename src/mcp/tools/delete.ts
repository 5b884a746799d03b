import type { RecordId } from '../../agent/encode/record-id.ts';
import { anyPolicy, previewWrite } from '../approvals/preview.ts';
import { checkNames, type JsonObject, readFlag, readRequiredText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { formatId, readRequiredIds } from '../input/record-ids.ts';
import { writeOptions } from '../input/write-options.ts';
import { writeText } from '../results/write-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface DeleteArguments {
  readonly collection: string;
  readonly ids: readonly RecordId[];
  readonly dryRun: boolean;
}

/** The tool `delete`, which is a reserved word in code. */
export const deleteRecords: Tool<DeleteArguments> = {
  name: 'delete',
  title: 'Delete records',
  description: 'Delete records, all or none. dryRun as create.',
  scope: 'mcp:write',
  isVisible: toolVisibility.delete,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      recordIds: { type: 'array', items: { type: 'string' } },
      dryRun: { type: 'boolean' },
    },
    required: ['collectionName', 'recordIds'],
  },
  parse,
  subject: ({ collection, ids }) => ({ collection, recordIds: ids.map(formatId) }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    mayNeedApproval: anyPolicy,
    preview: ({ collection, ids }, call) =>
      previewWrite(call, { count: ids.length }, (access, options) =>
        withToolNames(toolNames, () => call.engine.delete(access, { collection, ids }, options)),
      ),
  },
  run,
};

function parse(input: JsonObject): DeleteArguments {
  checkNames(input, ['collectionName', 'recordIds', 'recordId', 'dryRun']);
  return {
    collection: readRequiredText(input, 'collectionName', 'send the name of a collection.'),
    ids: readRequiredIds(input, 'recordIds', 'recordId'),
    dryRun: readFlag(input, 'dryRun'),
  };
}

const toolNames = { ids: 'recordIds' };

async function run({ collection, ids, dryRun }: DeleteArguments, call: ToolCall) {
  const answer = await withToolNames(toolNames, () =>
    call.engine.delete(call.access, { collection, ids }, writeOptions(call, dryRun)),
  );
  return writeText(answer, { budgetTokens: call.config.answerTokens, records: false });
}
