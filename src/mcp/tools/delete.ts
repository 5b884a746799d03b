import type { RecordId } from '../../agent/encode/record-id.ts';
import { anyPolicy, foreseeWrite } from '../approvals/preview.ts';
import { checkNames, type Given, readFlag, readRequiredText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { nameOf, readRequiredIds } from '../input/record-ids.ts';
import { writeOptions } from '../input/write-options.ts';
import { writeText } from '../results/write-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { offers } from '../visibility/visibility.ts';

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
  isOffered: offers.delete,
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
  subject: ({ collection, ids }) => ({ collection, recordIds: ids.map(nameOf) }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    concerns: anyPolicy,
    foresee: ({ collection, ids }, call) =>
      foreseeWrite(call, { count: ids.length }, (access, options) =>
        withToolNames(toolNames, () => call.engine.delete(access, { collection, ids }, options)),
      ),
  },
  run,
};

function parse(given: Given): DeleteArguments {
  checkNames(given, ['collectionName', 'recordIds', 'recordId', 'dryRun']);
  return {
    collection: readRequiredText(given, 'collectionName', 'send the name of a collection.'),
    ids: readRequiredIds(given, 'recordIds', 'recordId'),
    dryRun: readFlag(given, 'dryRun'),
  };
}

const toolNames = { ids: 'recordIds' };

async function run({ collection, ids, dryRun }: DeleteArguments, call: ToolCall) {
  const answer = await withToolNames(toolNames, () =>
    call.engine.delete(call.access, { collection, ids }, writeOptions(call, dryRun)),
  );
  return writeText(answer, { budgetTokens: call.config.answerTokens, records: false });
}
