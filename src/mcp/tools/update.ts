import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { anyPolicy, foreseeWrite } from '../approvals/preview.ts';
import { checkNames, type Given, readFlag, readObject, readRequiredText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { nameOf, readRequiredIds } from '../input/record-ids.ts';
import { writeOptions } from '../input/write-options.ts';
import { writeText } from '../results/write-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { offers } from '../visibility/visibility.ts';

interface UpdateArguments {
  readonly collection: string;
  /** Either all of these records get the values, or the call fails. */
  readonly ids: readonly RecordId[];
  readonly values: Given;
  readonly dryRun: boolean;
}

export const update: Tool<UpdateArguments> = {
  name: 'update',
  title: 'Update records',
  description: 'Update one record or several alike, all or none. Answers and dryRun as create.',
  scope: 'mcp:write',
  isOffered: offers.update,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      recordId: { type: 'string', description: 'Or a list of ids' },
      attributes: { type: 'object' },
      dryRun: { type: 'boolean' },
    },
    required: ['collectionName', 'recordId', 'attributes'],
  },
  parse,
  subject: ({ collection, ids }) => ({ collection, recordIds: ids.map(nameOf) }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    concerns: anyPolicy,
    foresee: ({ collection, ids, values }, call) =>
      foreseeWrite(call, { count: ids.length, values }, (access, options) =>
        withToolNames(toolNames, () => call.engine.update(access, { collection, ids, values }, options)),
      ),
  },
  run,
};

function parse(given: Given): UpdateArguments {
  checkNames(given, ['collectionName', 'recordId', 'recordIds', 'attributes', 'dryRun']);
  const example = '{"status":"paid"}';
  return {
    collection: readRequiredText(given, 'collectionName', 'send the name of a collection.'),
    ids: readRequiredIds(given, 'recordId', 'recordIds'),
    values:
      readObject(given, 'attributes', example) ??
      fail('INVALID_ARGUMENT', { argument: 'attributes', problem: `send an object such as ${example}.` }),
    dryRun: readFlag(given, 'dryRun'),
  };
}

const toolNames = { ids: 'recordId', values: 'attributes' };

async function run({ collection, ids, values, dryRun }: UpdateArguments, call: ToolCall) {
  const answer = await withToolNames(toolNames, () =>
    call.engine.update(call.access, { collection, ids, values }, writeOptions(call, dryRun)),
  );
  return writeText(answer, { budgetTokens: call.config.answerTokens, records: true });
}
