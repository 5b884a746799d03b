// Endpoints that load action forms and run actions. The URLs are those in `ActionDescription.endpoint`. They contain
// the action's position unless `useUnsafeActionEndpoint` is set. Both patterns are registered, and only one of them
// matches an action. The engine checks rights, records and values.
import type { ActionRequest } from '../../agent/actions/actions.ts';
import type { ActionDescription } from '../../agent/actions/catalogue.ts';
import { describeEffects } from '../../agent/write/effects.ts';
import { fail, isAppError } from '../../core/errors.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { checkActionPolicy } from '../approval.ts';
import { failArgument, isObject, type JsonObject, readAttributes, readMember, readText } from '../records/body.ts';
import { parseSelection, type Selection, selectIds } from '../records/selection.ts';
import { type AnyDataRoute, type DataCall, type DataRequest, dataRoute, toCallOptions } from '../route.ts';
import { type KeyOf, toWireForm, withOptions } from './form.ts';
import { toActionResponse } from './result.ts';

/** The maximum number of records for one action. */
const MAX_RECORDS = 10_000;

interface ActionCall {
  readonly collection: string;
  /** As in the path. */
  readonly index: string | undefined;
  readonly slug: string;
  readonly selection: Selection;
  readonly values: JsonObject;
}

interface FormCall extends ActionCall {
  readonly changed?: string;
}

interface SearchCall extends ActionCall {
  readonly field: string;
  readonly search: string;
}

interface ExecuteCall extends ActionCall {
  readonly searches: Readonly<Record<string, string>>;
}

function parseCall({ params }: DataRequest, attributes: JsonObject, values: JsonObject): ActionCall {
  const { collection, index, slug } = params as Readonly<Record<'collection' | 'slug', string>> & {
    readonly index?: string;
  };
  return { collection, index, slug, selection: parseSelection(attributes), values };
}

const subject = ({ collection, selection: { ids } }: ActionCall) => ({
  collection,
  ...(ids.length > 0 && { recordIds: ids }),
});

/** Rejects a `values` member that is not an object. The engine reports invalid values by field. */
function readValues(attributes: JsonObject): JsonObject {
  return readMember(attributes, 'values', 'values');
}

interface SubmittedField {
  readonly field: string;
  readonly value?: unknown;
  readonly searchValue?: unknown;
}

function readFields({ fields }: JsonObject): readonly SubmittedField[] {
  if (!Array.isArray(fields)) return failArgument('fields', 'expected the fields of the form, as a list.');
  return fields.map((field) => {
    if (isObject(field) && typeof field.field === 'string') return field as unknown as SubmittedField;
    return failArgument('fields', 'expected objects such as {"field": "Reason", "value": "late"}.');
  });
}

const valuesOf = (fields: readonly SubmittedField[]): JsonObject =>
  Object.fromEntries(fields.map(({ field, value }) => [field, value]));

function parseLoad(request: DataRequest): FormCall {
  return parseCall(request, readAttributes(request.body), {});
}

function parseChange(request: DataRequest): FormCall {
  const attributes = readAttributes(request.body);
  const changed = readText(attributes, 'changed_field');
  const call = parseCall(request, attributes, valuesOf(readFields(attributes)));
  return { ...call, ...(changed !== undefined && { changed }) };
}

function parseSearch(request: DataRequest): SearchCall {
  const attributes = readAttributes(request.body);
  const field = readText(attributes, 'search_field');
  if (field === undefined) return failArgument('search_field', 'expected the field with the options to search.');
  const fields = readFields(attributes);
  const search = fields.find((each) => each.field === field)?.searchValue ?? '';
  if (typeof search !== 'string') return failArgument('fields', `expected searchValue of '${field}' as a string.`);
  return { ...parseCall(request, attributes, valuesOf(fields)), field, search };
}

function parseExecute(request: DataRequest): ExecuteCall {
  const attributes = readAttributes(request.body);
  if ('signed_approval_request' in attributes || 'requester_id' in attributes)
    fail('REFUSED', { problem: 'Approvals are decided in the console, and cannot be sent with a call.' });
  const searches = readMember(attributes, 'searches', 'searches');
  for (const [field, text] of Object.entries(searches))
    if (typeof text !== 'string') failArgument(`searches.${field}`, 'expected the text to search for.');
  return {
    ...parseCall(request, attributes, readValues(attributes)),
    searches: searches as Readonly<Record<string, string>>,
  };
}

/** Throws UNKNOWN_ACTION for a missing action and also for one that the caller may not trigger. */
function findAction({ access, engine }: DataCall, { collection, index, slug }: ActionCall): ActionDescription {
  const known = engine.actions.describe(access, collection);
  const path = [collection, ...(index === undefined ? [] : [index]), slug];
  const endpoint = `/_actions/${path.map(encodeURIComponent).join('/')}`;
  const found = known.find((action) => action.endpoint === endpoint);
  const slugs = known.map((action) => decodeURIComponent(action.endpoint.split('/').at(-1)!));
  return found ?? fail('UNKNOWN_ACTION', { collection, action: slug, near: suggestNames(slug, slugs) });
}

async function toActionRequest(action: ActionDescription, args: ActionCall, call: DataCall): Promise<ActionRequest> {
  const { collection, selection, values } = args;
  const request = { collection, action: action.name, values };
  // A global action ignores the records selected in the client.
  if (action.scope === 'Global') return request;
  const recordIds = await selectIds(selection, { collection, maxRecords: MAX_RECORDS }, call);
  return { ...request, recordIds };
}

/** Returns an empty list for collections that the caller cannot see. */
function createKeyLookup({ access, engine }: DataCall): KeyOf {
  return (collection) => {
    try {
      const { key, fields } = engine.describe(access, collection);
      return key.map((name) => ({ name, type: fields.find((field) => field.name === name)?.type ?? 'String' }));
    } catch (error) {
      if (isAppError(error, 'UNKNOWN_COLLECTION')) return [];
      throw error;
    }
  };
}

async function loadForm(args: FormCall, call: DataCall) {
  const action = findAction(call, args);
  const { access, engine, signal } = call;
  const { changed } = args;
  const request = { ...(await toActionRequest(action, args, call)), ...(changed !== undefined && { changed }) };
  const form = await engine.actions.loadForm(access, request, { signal });
  return { status: 200, body: toWireForm(form, createKeyLookup(call)) };
}

async function searchForm(args: SearchCall, call: DataCall) {
  const action = findAction(call, args);
  const { access, engine, signal } = call;
  const { field, search } = args;
  const request = await toActionRequest(action, args, call);
  const options = await engine.actions.searchOptions(access, { ...request, field, search }, { signal });
  const form = await engine.actions.loadForm(access, request, { signal });
  return { status: 200, body: toWireForm(withOptions(form, field, options), createKeyLookup(call)) };
}

/** Renames the engine's argument `recordIds` to `ids`, the name in this API's requests. */
async function withApiNames<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isAppError(error, 'INVALID_ARGUMENT') || error.details.argument !== 'recordIds') throw error;
    return failArgument('ids', error.details.problem);
  }
}

async function execute(args: ExecuteCall, call: DataCall) {
  const action = findAction(call, args);
  const { access, engine, written } = call;
  checkActionPolicy(call, args.collection, action);
  const request = { ...(await toActionRequest(action, args, call)), searches: args.searches };
  const result = await engine.actions.execute(access, request, toCallOptions(call));
  const selectedIds = args.selection.all && request.recordIds?.map(String);
  return {
    ...toActionResponse(result, access, describeEffects(access, written, false)),
    ...(selectedIds && { recordIds: selectedIds }),
  };
}

const load = (args: FormCall, call: DataCall) => withApiNames(() => loadForm(args, call));

const routesAt = (path: string): readonly AnyDataRoute[] => {
  const form = { method: 'POST', action: 'getActionForm', writes: false, subject } as const;
  return [
    dataRoute({
      ...{ method: 'POST', path, action: 'executeAction', writes: true, parse: parseExecute, subject },
      scope: 'records:action',
      run: (args: ExecuteCall, call) => withApiNames(() => execute(args, call)),
    }),
    dataRoute({ ...form, path: `${path}/hooks/load`, parse: parseLoad, run: load }),
    dataRoute({ ...form, path: `${path}/hooks/change`, parse: parseChange, run: load }),
    dataRoute({
      ...{ ...form, path: `${path}/hooks/search`, parse: parseSearch },
      run: (args: SearchCall, call) => withApiNames(() => searchForm(args, call)),
    }),
  ];
};

export const actionRoutes: readonly AnyDataRoute[] = [
  ...routesAt('/_actions/:collection/:index/:slug'),
  ...routesAt('/_actions/:collection/:slug'),
];
