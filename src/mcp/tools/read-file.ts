import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import { checkNames, type JsonObject, readRequiredText } from '../input/arguments.ts';
import { formatId, readRecordId } from '../input/record-ids.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface FileArguments {
  readonly collection: string;
  readonly id: RecordId;
  readonly field: string;
}

/**
 * Reads the content of a File field. Only the resource `portico://files/...` calls this tool. Reading a file therefore
 * passes every check of a tool call and leaves an entry in the activity log.
 */
const tool: Tool<FileArguments> = {
  name: 'readFile',
  title: 'Read a file',
  description: 'Content of a File field of a record.',
  scope: 'mcp:read',
  isVisible: toolVisibility.browse,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: { collectionName: { type: 'string' }, recordId: { type: 'string' }, field: { type: 'string' } },
    required: ['collectionName', 'recordId', 'field'],
  },
  parse,
  subject: ({ collection, id }) => ({ collection, recordIds: [formatId(id)] }),
  run,
};

/** As a row of the tool table: its methods take the arguments of its own `parse`. */
export const readFile = tool as unknown as Tool;

function parse(input: JsonObject): FileArguments {
  checkNames(input, ['collectionName', 'recordId', 'field']);
  return {
    collection: readRequiredText(input, 'collectionName', 'send the name of a collection.'),
    id: readRecordId(input, 'recordId') ?? fail('INVALID_ARGUMENT', { argument: 'recordId', problem: 'send an id.' }),
    field: readRequiredText(input, 'field', 'send the name of a File field.'),
  };
}

/** Returns a `data:` URI. */
async function run({ collection, id, field }: FileArguments, call: ToolCall): Promise<string> {
  const { access, engine, signal } = call;
  const { rows, files } = await engine.get(access, { collection, id, fields: [field] }, { signal });
  const content = rows[0]?.[0];
  if (files.length === 0)
    fail('INVALID_ARGUMENT', { argument: 'field', problem: `'${field}' is not a File; read it with list.` });
  if (typeof content !== 'string') return fail('RECORD_NOT_FOUND', { collection, id: formatId(id) });
  return content;
}
