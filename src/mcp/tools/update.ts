import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { anyPolicy, previewWrite } from '../approvals/preview.ts';
import { checkNames, type JsonObject, readFlag, readObject, readRequiredText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { formatId, readRequiredIds } from '../input/record-ids.ts';
import { writeOptions } from '../input/write-options.ts';
import { writeText } from '../results/write-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface UpdateArguments {
  readonly collection: string;
  /** Either all of these records get the values, or the call fails. */
  readonly ids: readonly RecordId[];
  readonly values: JsonObject;
  readonly dryRun: boolean;
}

export const update: Tool<UpdateArguments> = {
  name: 'update',
  title: 'Update records',
  description: 'Update one record or several alike, all or none. Result and dryRun as create.',
  scope: 'mcp:write',
  isVisible: toolVisibility.update,
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
  subject: ({ collection, ids }) => ({ collection, recordIds: ids.map(formatId) }),
  writes: ({ dryRun }) => !dryRun,
  approval: {
    mayNeedApproval: anyPolicy,
    preview: ({ collection, ids, values }, call) =>
      previewWrite(call, { count: ids.length, values }, (access, options) =>
        withToolNames(toolNames, () => call.engine.update(access, { collection, ids, values }, options)),
      ),
  },
  run,
};

function parse(input: JsonObject): UpdateArguments {
  checkNames(input, ['collectionName', 'recordId', 'recordIds', 'attributes', 'dryRun']);
  const example = '{"status":"paid"}';
  return {
    collection: readRequiredText(input, 'collectionName', 'send the name of a collection.'),
    ids: readRequiredIds(input, 'recordId', 'recordIds'),
    values:
      readObject(input, 'attributes', example) ??
      fail('INVALID_ARGUMENT', { argument: 'attributes', problem: `send an object such as ${example}.` }),
    dryRun: readFlag(input, 'dryRun'),
  };
}

const toolNames = { ids: 'recordId', values: 'attributes' };

async function run({ collection, ids, values, dryRun }: UpdateArguments, call: ToolCall) {
  const answer = await withToolNames(toolNames, () =>
    call.engine.update(call.access, { collection, ids, values }, writeOptions(call, dryRun)),
  );
  return writeText(answer, { budgetTokens: call.config.answerTokens, records: true });
}
