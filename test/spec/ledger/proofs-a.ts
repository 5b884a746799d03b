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
  'it holds for all of them or nothing runs, by id and by filter',
  'the form, its options and a foreseen call are refused alike; a form about no records is not',
  'it is of its own action alone',
  'an action on one record may be run where that record meets it',
);
const filledByClient = client('a form is filled in, reloads when something depends on a value, and is executed');
const answersOfClient = client('files, webhooks, redirects and errors come back as what they are');
const fieldsOfClient = client('fields tell what they are, and the layout is there');
const problems = forms(
  'all problems are told together, by label, and nothing runs',
  'a load tells what is missing and what is wrong without an error',
);
const tracked = forms(
  'a handler is called again only when something that it read has changed',
  'what the caller changes stands until the field has a reason to compute its value again',
);
const hidden = forms(
  'nothing of them is evaluated but their `if`, when the action is executed too',
  'a value that was sent for one is seen by no handler',
  '`if` that gives %s hides',
  'the fields of a hidden layout are hidden, and a layout with nothing in it is left out',
);
const laidOut = forms('pages, rows, separators and blocks of html are told as they lie');
const broken = forms('a handler that gives a %s is the fault of the action');
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
const bounded = widgets('$widget of $type: %j');
const filePicker = widgets('FilePicker: extensions, size and number of files');

/** By the id of the row. */
export const proofsA: Readonly<Record<string, readonly Proof[]>> = {
  '2.1 · useUnsafeActionEndpoint': [
    start('behaviour 2.1 | useUnsafeActionEndpoint | the route is /_actions/{collection}/{slug} instead of .../{index}/{slug}', 'behaviour 7 | useUnsafeActionEndpoint enabled and two actions of one collection share a slug | the agent refuses to start', 'without it, or on two collections, one slug is no matter'),
  ],
  '2.1 · prefix': [settings('an address and a list of tools that code says stand', 'the environment fills what code leaves out, in the schema file, the console and the testing client too')],
  '2.1 · environment · SERVICE_MCP_ENABLED_TOOLS': [settings('the tools that are served are those that both name, and a list without any ends the start', 'an address and a list of tools that code says stand')],
  '2.1 · logger': [of('defects/logged-causes')('the logger gets the error itself, with the line that threw it', 'a callback of the start, and a plugin')],
  '2.1 · typingsMaxDepth': [typings('where there would be too many paths, they follow fewer relations, and it is said')],
  '2.1 · typingsPath': [typings('a folder in the place of the file is an error that names the option', 'a file whose text would be the same is left alone')],
  '2.3 · scope · Single': [refusedOverHttp, conditioned, keys('every id that a list returns, and every text without escapes, selects the same record')],
  '2.3 · scope · Bulk': [refusedOverHttp, conditioned, rights('a selection by a hidden field is refused as an unknown name')],
  '2.3 · scope · Global': [conditions('one about no chosen records has none that could meet it, and does not exist'), rights('an action that the caller may not trigger does not exist')],
  '2.3 · execute': [rights('ActionError is told to the user; what else is thrown is not, and the log learns the action and its line', 'an action that the caller may not trigger does not exist'), http('code that breaks is told without its words', 'each call is an entry, a write begun before it runs, with how it ended'), writes('MCP: creates, updates and deletes of several collections')],
  '2.3 · form': [documented, filledByClient, tracked, forms('a form that is a function is made again when what it read has changed', 'values that never come to rest are an error that names them', 'a form function that fails because its call was cancelled is a cancelled call, not a failure of the code')],
  '2.3 · generateFile': [attached],
  '2.3 · context · collection': [writes('MCP: the answer has before and after, the log has the ids', 'MCP: creates, updates and deletes of several collections')],
  '2.3 · context · filter': [conditions('it may be about what is hidden, and about related records; what a row scope keeps away is not there')],
  '2.3 · context · formValues': [ran, forms('form values cannot be changed by handlers', 'a handler that goes through all values depends on all of them')],
  '2.3 · context · getRecordIds': [keys('every id that a list returns, and every text without escapes, selects the same record')],
  '2.3 · context · getCompositeRecordIds': [keys('every id that a list returns, and every text without escapes, selects the same record')],
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
  '2.4 · value': [tracked, documented, broken, forms('values that never come to rest are an error that names them', 'a handler that looks at its own field is called once')],
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
