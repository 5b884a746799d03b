import type { Proof } from './decisions.ts';

const of =
  (path: string) =>
  (...titles: readonly string[]): Proof => ({ file: `test/${path}.test.ts`, titles });
const http = of('rest/actions');
const forms = of('agent/actions/forms');
const widgets = of('agent/actions/widgets');
const conditions = of('agent/actions/conditions');
const rights = of('agent/actions/permissions');
const start = of('agent/actions/start');
const keys = of('agent/actions/composite-ids');
const client = of('testing/agent-client');
const files = of('mcp/files');
const writes = of('app/action-writes');
const settings = of('defects/code-and-environment');
const typings = of('agent/typings');

const refusedOverHttp = http('%s: refused, and nothing runs', '%s returns 404');
const conditioned = conditions(
  'the condition must hold for every selected record, by id and by filter, or the action does not run',
  'the form, its options, the check and the preview are refused too',
  'the condition applies to its own action only',
  'a single action runs on a record that meets the condition',
);
const filledByClient = client('a form is filled in, reloads when a field depends on a value, and is executed');
const answersOfClient = client('files, webhooks, redirects and errors are returned as their own result types');
const fieldsOfClient = client('fields return their types, and the layout is available');
const problems = forms(
  'all problems are reported together by label, and the action does not run',
  'loading a form reports missing and invalid values without an error',
);
const tracked = forms(
  'a handler runs again only when a value that it read has changed',
  'a value from the caller stays until a dependency of the field changes',
);
const hidden = forms(
  'only their `if` is evaluated, also when the action is executed',
  'handlers do not see a value sent for a hidden field',
  'an `if` that returns %s hides the field',
  'the fields of a hidden layout are hidden, and an empty layout is left out',
);
const laidOut = forms('pages, rows, separators and HTML blocks are returned in their order');
const broken = forms('a handler that returns a %s gives ACTION_FAILED');
const documented = http(
  'load returns the document of the form',
  'change accepts the current fields, and returns the form again',
);
const searched = http('search returns the options that match a text');
const ran = http(
  'with valid values: the code gets decoded files and unpacked ids, and the answer says what to reload',
  'every value of a form is checked: all problems are returned by field, and nothing runs',
);
const attached = http('a file is an attachment; headers of the action are sent, except those that Portico sets');
const uploaded = files(
  'a file is uploaded to the URL, and the action receives it under the announced name and type',
  'several files in a list, and a small file as a data URI',
);
const downloaded = files(
  'a file of an action downloads from its URL, as an attachment that runs nothing',
  'a file over the limit is not stored, and the action still succeeds',
);
const bounded = widgets('$widget of $type accepts and refuses values: %j');
const filePicker = widgets('FilePicker checks the extensions, size and number of files');

/** By the id of the row. */
export const proofsA: Readonly<Record<string, readonly Proof[]>> = {
  '2.1 · useUnsafeActionEndpoint': [
    start('behaviour 2.1 | useUnsafeActionEndpoint | the route is /_actions/{collection}/{slug} instead of .../{index}/{slug}', 'behaviour 7 | useUnsafeActionEndpoint enabled and two actions of one collection share a slug | the agent refuses to start', 'without useUnsafeActionEndpoint, or on two collections, actions may share a slug'),
  ],
  '2.1 · prefix': [settings('paths and tools that code sets win over the environment', 'the environment fills omitted settings in the schema file, the console and the testing client too')],
  '2.1 · environment · SERVICE_MCP_ENABLED_TOOLS': [settings('the served tools are those of both lists, and an empty intersection ends the start', 'paths and tools that code sets win over the environment')],
  '2.1 · logger': [of('defects/logged-causes')('the logger receives the error object, with the line that threw it', 'a callback of the start, and a plugin')],
  '2.1 · typingsMaxDepth': [typings('with too many paths, the typings follow fewer relations, and a warning is logged')],
  '2.1 · typingsPath': [typings('a folder as the path of the file is refused with the name of the option', 'a file is rewritten only if its text changes')],
  '2.3 · scope · Single': [refusedOverHttp, conditioned, keys('an id from a list selects its record, and an unescaped backslash stands for itself')],
  '2.3 · scope · Bulk': [refusedOverHttp, conditioned, rights('a selection by a hidden field is refused as an unknown field')],
  '2.3 · scope · Global': [conditions('a global action with a condition does not exist'), rights('an action that the caller may not trigger does not exist')],
  '2.3 · execute': [rights('the user gets the message of an ActionError; other errors only reach the log, with the action and its line', 'an action that the caller may not trigger does not exist'), http('code that throws is reported without its message', 'each call makes a log entry, a write before it runs, with its outcome'), writes('over MCP, the answer and the log list creates, updates and deletes in several collections')],
  '2.3 · form': [documented, filledByClient, tracked, forms('a form function runs again only when a value that it read has changed', 'values that keep changing give an error that names their fields', 'a form function that fails after a cancellation gives CANCELLED'), of('spec/2.4-form-outside')('if: a hidden field or layout element is not required, and may not be sent')],
  '2.3 · generateFile': [attached],
  '2.3 · context · collection': [writes('over MCP, the answer has the values before and after, and the log has the ids', 'over MCP, the answer and the log list creates, updates and deletes in several collections')],
  '2.3 · context · filter': [conditions('the condition may use hidden fields and related records; records outside the row scope do not exist')],
  '2.3 · context · formValues': [ran, forms('handlers cannot change form values', 'a handler that enumerates all values depends on all of them')],
  '2.3 · context · getRecordIds': [keys('an id from a list selects its record, and an unescaped backslash stands for itself')],
  '2.3 · context · getCompositeRecordIds': [keys('an id from a list selects its record, and an unescaped backslash stands for itself')],
  '2.3 · context · hasFieldChanged': [tracked],
  '2.3 · result builder · success': [ran, filledByClient],
  '2.3 · result builder · error': [answersOfClient, http('each call makes a log entry, a write before it runs, with its outcome')],
  '2.3 · result builder · webhook': [answersOfClient],
  '2.3 · result builder · file': [attached, downloaded, answersOfClient],
  '2.3 · result builder · redirectTo': [answersOfClient],
  '2.3 · result builder · setHeader': [attached, answersOfClient],
  '2.4 · label': [problems, documented, fieldsOfClient],
  '2.4 · isRequired': [problems, documented, filledByClient],
  '2.4 · isReadOnly': [ran, documented, fieldsOfClient],
  '2.4 · description': [documented, filledByClient],
  '2.4 · defaultValue': [tracked, documented],
  '2.4 · value': [tracked, documented, broken, forms('values that keep changing give an error that names their fields', 'a handler that reads its own field runs once')],
  '2.4 · enumValues': [filledByClient, broken, ran],
  '2.4 · collectionName': [fieldsOfClient, broken, ran],
  '2.4 · widget': [documented, fieldsOfClient],
  '2.4 · options': [searched, broken],
  '2.4 · placeholder': [documented],
  '2.4 · if': [hidden, filledByClient],
  '2.4 · type · File': [uploaded, ran, answersOfClient],
  '2.4 · type · FileList': [uploaded],
  '2.4 · type · Collection': [ran, fieldsOfClient, answersOfClient],
  '2.4 · type · NumberList': [answersOfClient, fieldsOfClient],
  '2.4 · search · dynamic': [searched, answersOfClient],
  '2.4 · layout · Page': [laidOut, hidden, fieldsOfClient],
  '2.4 · layout · Row': [laidOut, hidden],
  '2.4 · layout · Separator': [laidOut, hidden],
  '2.4 · layout · HtmlBlock': [laidOut, hidden],
  ...Object.fromEntries(['TextInputList', 'NumberInput', 'NumberInputList', 'CurrencyInput', 'ColorPicker', 'DatePicker', 'CheckboxGroup', 'RadioGroup', 'UserDropdown', 'Dropdown'].map((widget) => [`2.4 · widget · ${widget}`, [bounded]])),
  '2.4 · widget · FilePicker': [filePicker, bounded],
}; // biome-ignore format: a table
