import type { RecordId } from '../../agent/record-id.ts';
import { writeText } from '../answers/write-result.ts';
import { anyPolicy, foreseeWrite } from '../approvals/foresee.ts';
import { checkNames, type Given, readFlag, readRequiredText } from '../arguments/arguments.ts';
import { withToolNames } from '../arguments/engine-names.ts';
import { nameOf, readRequiredIds } from '../arguments/record-ids.ts';
import { offers } from '../offers/offers.ts';
import type { Tool, ToolCall } from '../tools.ts';

interface DeleteArguments {
  readonly collection: string;
  readonly ids: readonly RecordId[];
  readonly dryRun: boolean;
}

/** The tool `delete`, a word that nothing may be called in code. */
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
    call.engine.delete(call.access, { collection, ids }, { signal: call.signal, preview: dryRun }),
  );
  return writeText(answer, { budgetTokens: call.config.answerTokens, records: false });
}
