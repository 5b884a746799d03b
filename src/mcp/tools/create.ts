import { anyPolicy, previewWrite } from '../approvals/preview.ts';
import { collectionRights } from '../idempotency.ts';
import {
  checkNames,
  type JsonObject,
  readFlag,
  readIdempotencyKey,
  readRecords,
  readRequiredText,
} from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { writeOptions } from '../input/write-options.ts';
import { writeText } from '../results/write-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface CreateArguments {
  readonly collection: string;
  /** One record, or several if the caller sent a list. */
  readonly records: readonly JsonObject[];
  readonly dryRun: boolean;
  readonly idempotencyKey: string | undefined;
}

export const create: Tool<CreateArguments> = {
  name: 'create',
  title: 'Create a record',
  description:
    'Create a record. Returns {count, ids, columns, rows}. dryRun: before and after by field, without writing.',
  scope: 'mcp:write',
  isVisible: toolVisibility.create,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: {
      collectionName: { type: 'string' },
      attributes: { type: 'object', description: 'Values by field' },
      dryRun: { type: 'boolean' },
      idempotencyKey: { type: 'string', description: 'Makes repeats safe' },
    },
    required: ['collectionName', 'attributes'],
  },
  parse,
  subject: ({ collection }) => ({ collection }),
  writes: ({ dryRun }) => !dryRun,
  idempotency: {
    key: ({ idempotencyKey }) => idempotencyKey,
    rights: ({ collection }, call) => collectionRights(call, collection),
  },
  approval: {
    mayNeedApproval: anyPolicy,
    preview: ({ collection, records }, call) =>
      previewWrite(
        call,
        { count: records.length, ...(records.length === 1 && { values: records[0]! }) },
        (access, options) =>
          withToolNames(toolNames, () => call.engine.create(access, { collection, records }, options)),
      ),
  },
  run,
};

function parse(input: JsonObject): CreateArguments {
  checkNames(input, ['collectionName', 'attributes', 'dryRun', 'idempotencyKey']);
  return {
    collection: readRequiredText(input, 'collectionName', 'send the name of a collection.'),
    records: readRecords(input, 'attributes'),
    dryRun: readFlag(input, 'dryRun'),
    idempotencyKey: readIdempotencyKey(input),
  };
}

const toolNames = { records: 'attributes' };

async function run({ collection, records, dryRun }: CreateArguments, call: ToolCall) {
  const answer = await withToolNames(toolNames, () =>
    call.engine.create(call.access, { collection, records }, writeOptions(call, dryRun)),
  );
  return writeText(answer, { budgetTokens: call.config.answerTokens, records: true });
}
