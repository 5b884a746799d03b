import { checkNames, type Given, readText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { offers } from '../visibility/visibility.ts';
import { doorOf } from '../workflow-access.ts';

interface ListArguments {
  readonly collection: string | undefined;
}

/** The answer lists at most so many workflows; with more, a model must name a collection. */
const MOST = 200;

export const listWorkflows: Tool<ListArguments> = {
  name: 'listWorkflows',
  title: 'List workflows',
  description: 'Workflows that can be started on a record.',
  scope: 'mcp:action',
  isOffered: offers.workflow,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: { type: 'object', properties: { collectionName: { type: 'string' } } },
  parse(given: Given) {
    checkNames(given, ['collectionName']);
    return { collection: readText(given, 'collectionName')?.trim() || undefined };
  },
  subject: ({ collection }) => (collection === undefined ? {} : { collection }),
  run: (args, call) => withToolNames({ collection: 'collectionName' }, () => run(args, call)),
};

async function run({ collection }: ListArguments, call: ToolCall): Promise<string> {
  const { access, engine } = call;
  const { room } = doorOf(call);
  // Throws UNKNOWN_COLLECTION with similar names.
  if (collection !== undefined) engine.describe(access, collection);
  const found = await room.list(access, collection === undefined ? {} : { collection });
  const active = found.filter(({ isActive }) => isActive);
  return JSON.stringify({
    columns: ['workflowId', 'name', 'collectionName'],
    rows: active.slice(0, MOST).map((one) => [one.id, one.name, one.collection]),
    hasMore: active.length > MOST,
    ...(active.length > MOST && { note: `The first ${MOST} of ${active.length}. Send collectionName for fewer.` }),
  });
}
