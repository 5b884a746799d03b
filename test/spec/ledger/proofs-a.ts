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

const refusedOverHttp = http('%s: refused, and nothing runs', '%s is not there');
const conditioned = conditions(
  'the condition must hold for every selected record, by id and by filter, or the action does not run',
  'the form, its options, the check and the preview are refused too',
  'the condition applies to its own action only',
  'a single action runs on a record that meets the condition',
);
const filledByClient = client('a form is filled in, reloads when something depends on a value, and is executed');
const answersOfClient = client('files, webhooks, redirects and errors come back as what they are');
const fieldsOfClient = client('fields tell what they are, and the layout is there');
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
  'load gives the document of the form',
  'change takes the fields as they are, and gives the form anew',
);
const searched = http('search gives the options that a text finds');
const ran = http(
  'with good values: the code gets them, files decoded and ids unpacked, and the answer says what to read again',
  'nothing of a form is taken on trust: every problem is told at once, by field, and nothing runs',
);
const attached = http(
  'a file is an attachment; the headers of the action come along, but for those that are ours to say',
);
const uploaded = files(
  'a file is sent to the address, and the action gets it under the announced name and type',
  'several in a list, and a small one as a data URI',
);
const downloaded = files(
  'a file of an action is fetched from its address, as an attachment that runs nothing',
  'a file over the limit is not kept, and the action is not said to have failed',
);
const bounded = widgets('$widget of $type accepts and refuses values: %j');
const filePicker = widgets('FilePicker checks the extensions, size and number of files');

/** By the id of the row. */
export const proofsA: Readonly<Record<string, readonly Proof[]>> = {
  '2.1 · useUnsafeActionEndpoint': [
    start('behaviour 2.1 | useUnsafeActionEndpoint | the route is /_actions/{collection}/{slug} instead of .../{index}/{slug}', 'behaviour 7 | useUnsafeActionEndpoint enabled and two actions of one collection share a slug | the agent refuses to start', 'without useUnsafeActionEndpoint, or on two collections, actions may share a slug'),
  ],
  '2.1 · prefix': [settings('an address and a list of tools that code says stand', 'the environment fills what code leaves out, in the schema file, the console and the testing client too')],
  '2.1 · environment · SERVICE_MCP_ENABLED_TOOLS': [settings('the tools that are served are those that both name, and a list without any ends the start', 'an address and a list of tools that code says stand')],
  '2.1 · logger': [of('defects/logged-causes')('the logger gets the error itself, with the line that threw it', 'a callback of the start, and a plugin')],
  '2.1 · typingsMaxDepth': [typings('with too many paths, the typings follow fewer relations, and a warning is logged')],
  '2.1 · typingsPath': [typings('a folder as the path of the file is refused with the name of the option', 'a file is rewritten only if its text changes')],
  '2.3 · scope · Single': [refusedOverHttp, conditioned, keys('an id from a list selects its record, and an unescaped backslash stands for itself')],
  '2.3 · scope · Bulk': [refusedOverHttp, conditioned, rights('a selection by a hidden field is refused as an unknown field')],
  '2.3 · scope · Global': [conditions('a global action with a condition does not exist'), rights('an action that the caller may not trigger does not exist')],
  '2.3 · execute': [rights('the user gets the message of an ActionError; other errors only reach the log, with the action and its line', 'an action that the caller may not trigger does not exist'), http('code that breaks is told without its words', 'each call is an entry, a write begun before it runs, with how it ended'), writes('over MCP, the answer and the log list creates, updates and deletes in several collections')],
  '2.3 · form': [documented, filledByClient, tracked, forms('a form function runs again only when a value that it read has changed', 'values that keep changing give an error that names their fields', 'a form function that fails after a cancellation gives CANCELLED')],
  '2.3 · generateFile': [attached],
  '2.3 · context · collection': [writes('over MCP, the answer has the values before and after, and the log has the ids', 'over MCP, the answer and the log list creates, updates and deletes in several collections')],
  '2.3 · context · filter': [conditions('the condition may use hidden fields and related records; records outside the row scope do not exist')],
  '2.3 · context · formValues': [ran, forms('handlers cannot change form values', 'a handler that enumerates all values depends on all of them')],
  '2.3 · context · getRecordIds': [keys('an id from a list selects its record, and an unescaped backslash stands for itself')],
  '2.3 · context · getCompositeRecordIds': [keys('an id from a list selects its record, and an unescaped backslash stands for itself')],
  '2.3 · context · hasFieldChanged': [tracked],
  '2.3 · result builder · success': [ran, filledByClient],
  '2.3 · result builder · error': [answersOfClient, http('each call is an entry, a write begun before it runs, with how it ended')],
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
