import type { Option } from '../../agent/actions/elements.ts';
import {
  type ActionArguments,
  actionNames,
  actionProperties,
  checkAction,
  readActionArguments,
  toRequest,
} from '../input/action-arguments.ts';
import { checkNames, type Given, readText } from '../input/arguments.ts';
import { withToolNames } from '../input/engine-names.ts';
import { nameOf } from '../input/record-ids.ts';
import { formText } from '../results/form-result.ts';
import type { Tool, ToolCall } from '../tool.ts';
import { showUploads } from '../uploads/file-values.ts';
import { offers } from '../visibility/visibility.ts';

interface FormArguments extends ActionArguments {
  /** The field that changed since the last request of the form. */
  readonly changed: string | undefined;
}

export const getActionForm: Tool<FormArguments> = {
  name: 'getActionForm',
  title: 'Form of an action',
  description:
    'The fields to fill for an action (executeAction), with values so far. After setting one with reload, ask again. searches {field: text} finds options.',
  scope: 'mcp:read',
  isOffered: offers.trigger,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  inputSchema: {
    type: 'object',
    properties: { ...actionProperties, changedField: { type: 'string' } },
    required: ['collectionName', 'actionName'],
  },
  parse(given: Given) {
    checkNames(given, [...actionNames, 'changedField']);
    return { ...readActionArguments(given), changed: readText(given, 'changedField') };
  },
  subject: ({ collection, recordIds }) => ({ collection, ...(recordIds && { recordIds: recordIds.map(nameOf) }) }),
  run,
};

async function run(args: FormArguments, call: ToolCall): Promise<string> {
  const { access, engine, signal, config } = call;
  const { changed, searches } = args;
  checkAction(call, args);
  const values = await showUploads(call.files, access.caller.id, args.values);
  const request = { ...toRequest(args), values };
  const asked = Object.entries(searches);
  return withToolNames({ field: 'searches', collection: 'collectionName' }, async () => {
    const [answer, ...options] = await Promise.all([
      engine.actions.loadForm(access, { ...request, ...(changed !== undefined && { changed }) }, { signal }),
      ...asked.map(([field, search]) =>
        engine.actions.searchOptions(access, { ...request, field, search }, { signal }),
      ),
    ]);
    const found = asked.map(([field], index): [string, readonly Option[]] => [field, options[index]!]);
    const action = engine.actions.describe(access, args.collection).find(({ name }) => name === args.action);
    return formText(answer, Object.fromEntries(found), config.answerTokens, action?.description);
  });
}
