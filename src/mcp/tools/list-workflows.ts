import { checkNames, type JsonObject, readText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { toolVisibility } from '../visibility/visibility.ts';
import { requireWorkflows } from '../workflow-access.ts';

interface ListArguments {
  readonly collection: string | undefined;
}

/** The answer lists at most so many workflows; with more, a model must name a collection. */
const MAX_WORKFLOWS = 200;

export const listWorkflows: Tool<ListArguments> = {
  name: 'listWorkflows',
  title: 'List workflows',
  description: 'Workflows that can be started on a record.',
  scope: 'mcp:action',
  isVisible: toolVisibility.workflow,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: { type: 'object', properties: { collectionName: { type: 'string' } } },
  parse(input: JsonObject) {
    checkNames(input, ['collectionName']);
    return { collection: readText(input, 'collectionName')?.trim() || undefined };
  },
  subject: ({ collection }) => (collection === undefined ? {} : { collection }),
  run: (args, call) => withToolNames({ collection: 'collectionName' }, () => run(args, call)),
};

async function run({ collection }: ListArguments, call: ToolCall): Promise<string> {
  const { access, engine } = call;
  const { service } = requireWorkflows(call);
  // Throws UNKNOWN_COLLECTION with similar names.
  if (collection !== undefined) engine.describe(access, collection);
  const found = await service.list(access, collection === undefined ? {} : { collection });
  const active = found.filter(({ isActive }) => isActive);
  return JSON.stringify({
    columns: ['workflowId', 'name', 'collectionName'],
    rows: active.slice(0, MAX_WORKFLOWS).map((workflow) => [workflow.id, workflow.name, workflow.collection]),
    hasMore: active.length > MAX_WORKFLOWS,
    ...(active.length > MAX_WORKFLOWS && {
      note: `The first ${MAX_WORKFLOWS} of ${active.length}. Send collectionName for fewer.`,
    }),
  });
}
