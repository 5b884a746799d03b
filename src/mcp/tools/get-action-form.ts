import type { Option } from '../../agent/actions/elements.ts';
import { formText } from '../answers/form-answer.ts';
import {
  type ActionArguments,
  actionNames,
  actionProperties,
  checkAction,
  readActionArguments,
  toRequest,
} from '../arguments/action-arguments.ts';
import { checkNames, type Given, readText } from '../arguments/arguments.ts';
import { withToolNames } from '../arguments/engine-names.ts';
import { nameOf } from '../arguments/record-ids.ts';
import { showUploads } from '../files/file-values.ts';
import { offers } from '../offers/offers.ts';
import type { Tool, ToolCall } from '../tools.ts';

interface FormArguments extends ActionArguments {
  /** The field whose value changed since the form was last asked for. */
  readonly changed: string | undefined;
}

export const getActionForm: Tool<FormArguments> = {
  name: 'getActionForm',
  title: 'Form of an action',
  description:
    'The fields to fill for executeAction, with the values so far. After setting one with reload, ask again. searches {field: text} finds options.',
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
    return formText(answer, Object.fromEntries(found), config.answerTokens);
  });
}
