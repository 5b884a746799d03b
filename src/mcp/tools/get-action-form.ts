import type { Option } from '../../agent/actions/elements.ts';
import {
  type ActionArguments,
  actionArgumentNames,
  actionProperties,
  checkAction,
  readActionArguments,
  toActionRequest,
} from '../input/action-arguments.ts';
import { checkNames, type JsonObject, readText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { formatId } from '../input/record-ids.ts';
import { formText } from '../results/form-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { readUploads } from '../uploads/file-values.ts';
import { toolVisibility } from '../visibility/visibility.ts';

interface FormArguments extends ActionArguments {
  /** The field that changed since the last request of the form. */
  readonly changed: string | undefined;
}

export const getActionForm: Tool<FormArguments> = {
  name: 'getActionForm',
  title: 'Form of an action',
  description:
    'Fields to fill for an action (executeAction), with values so far. After setting one with reload, call again. searches {field: text} finds options.',
  scope: 'mcp:read',
  isVisible: toolVisibility.trigger,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: { ...actionProperties, changedField: { type: 'string' } },
    required: ['collectionName', 'actionName'],
  },
  parse(input: JsonObject) {
    checkNames(input, [...actionArgumentNames, 'changedField']);
    return { ...readActionArguments(input), changed: readText(input, 'changedField') };
  },
  subject: ({ collection, recordIds }) => ({ collection, ...(recordIds && { recordIds: recordIds.map(formatId) }) }),
  run,
};

async function run(args: FormArguments, call: ToolCall): Promise<string> {
  const { access, engine, signal, config } = call;
  const { changed, searches } = args;
  checkAction(call, args);
  const values = await readUploads(call.files, access.caller.id, args.values);
  const request = { ...toActionRequest(args), values };
  const searchEntries = Object.entries(searches);
  return withToolNames({ field: 'searches', collection: 'collectionName' }, async () => {
    const [answer, ...options] = await Promise.all([
      engine.actions.loadForm(access, { ...request, ...(changed !== undefined && { changed }) }, { signal }),
      ...searchEntries.map(([field, search]) =>
        engine.actions.searchOptions(access, { ...request, field, search }, { signal }),
      ),
    ]);
    const searchResults = searchEntries.map(([field], index): [string, readonly Option[]] => [field, options[index]!]);
    const action = engine.actions.describe(access, args.collection).find(({ name }) => name === args.action);
    return formText(answer, Object.fromEntries(searchResults), config.answerTokens, action?.description);
  });
}
