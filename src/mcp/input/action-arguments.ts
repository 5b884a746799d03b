// The arguments that name an action, its records and its form values. Reading the form and executing the action share
// them.
import type { ActionRequest } from '../../agent/actions/actions.ts';
import type { ActionDescription } from '../../agent/actions/catalogue.ts';
import type { RecordId } from '../../agent/encode/record-id.ts';
import { fail } from '../../core/errors.ts';
import type { ToolCall } from '../tool.ts';
import { type JsonObject, readObject, readRequiredText } from './arguments.ts';
import { readRecordIds } from './record-ids.ts';

export interface ActionArguments {
  readonly collection: string;
  readonly action: string;
  readonly recordIds: readonly RecordId[] | undefined;
  /** Values by field; empty if absent. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The search text for the options of a field, by field. */
  readonly searches: Readonly<Record<string, string>>;
}

export const actionArgumentNames = ['collectionName', 'actionName', 'recordIds', 'values', 'searches'] as const;

export const actionProperties = {
  collectionName: { type: 'string' },
  actionName: { type: 'string' },
  recordIds: { type: 'array', items: { type: 'string' } },
  values: { type: 'object' },
  searches: { type: 'object' },
};

export function readActionArguments(input: JsonObject): ActionArguments {
  const searches = readObject(input, 'searches', '{"city":"par"}') ?? {};
  return {
    collection: readRequiredText(input, 'collectionName', 'send the name of the collection with the action.'),
    action: readRequiredText(input, 'actionName', 'send the name of an action; describeCollection lists them.'),
    recordIds: readRecordIds(input, 'recordIds'),
    values: readObject(input, 'values', '{"field":"value"}') ?? {},
    searches: Object.fromEntries(Object.entries(searches).map(([field, text]) => [field, String(text)])),
  };
}

/** A Global action takes no ids: a model that sends ids expects the action to affect only those records. */
export function checkAction({ access, engine }: ToolCall, { collection, action, recordIds }: ActionArguments): void {
  const found = engine.actions.describe(access, collection).find(({ name }) => name === action);
  if (found?.scope !== 'Global' || !recordIds?.length) return;
  fail('INVALID_ARGUMENT', {
    argument: 'recordIds',
    problem: `'${action}' is a global action and takes no records: leave it out.`,
  });
}

export function toActionRequest({ collection, action, recordIds, values }: ActionArguments): ActionRequest {
  return { collection, action, ...(recordIds && { recordIds }), values };
}

/** The description of an action, for example `single form`. */
export function describeAction({ scope, form, generateFile }: ActionDescription): string {
  return [scope.toLowerCase(), ...(form === 'none' ? [] : ['form']), ...(generateFile ? ['file'] : [])].join(' ');
}
