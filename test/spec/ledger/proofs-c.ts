import type { Proof } from './decisions.ts';

const proof = (file: string, ...titles: string[]): Proof => ({ file: `test/${file}.test.ts`, titles });

const customized = (...titles: string[]): Proof => proof('agent/customize', ...titles);
const related = proof(
  'rest/related',
  'to many: a list of the foreign collection, its count, and all list parameters',
  'to one: the record, or null',
  'a record that is missing or not visible has no related records',
);
const emulated = customized(
  'emulateFieldFiltering, emulateFieldOperator: filters are evaluated after reading, with pages and counts',
  'a search does not read all records for an emulated field',
  'reading 10,000 rows for a field is logged once',
);
const refusedCode = customized('an error of code shows the caller the name of the field, and the log its line');

const chartsOverHttp = proof(
  'rest/charts',
  'GET returns the value, POST the same as a statistic; periods are in the requested timezone',
  'without a timezone, periods are in the timezone of the caller, not of the server',
);
const chartsOverMcp = proof(
  'mcp/charts',
  'every kind of chart, in a compact form',
  'a long chart is cut within the budget, and the note says so',
);
const readByClient = proof('testing/agent-client', 'each reader reads its kind of chart, of the agent and of a record');
const charts = [chartsOverHttp, chartsOverMcp, readByClient];

const timeRanges = proof('spec/2.7-code-outside', 'time range | Day, Week, Month, Quarter, Year: no others');

const bounded = proof(
  'mcp/refusals',
  'a token without the scope of the tool gets 403 with the required scopes, and the attempt is logged',
  'a token without the scope does not see the tools that need it',
);
const marked = proof(
  'mcp/writes',
  'a denial is logged as denied',
  'without the OAuth scope nothing is marked and nothing is written',
  'a dry run is a read: no mark, one log entry, nothing written',
);
const repeated = proof(
  'mcp/idempotency',
  'the repeat gets the first answer and writes nothing; the log shows it as a read',
  'other arguments and a long key are errors; another user and a dry run do not share the key',
);
const enabled = proof(
  'mcp/matrix',
  'enabledTools without %s: the tool is not listed, not suggested and not callable',
  'enabledTools with only %s: no other tool',
);

const endpointRefusals = proof(
  'mcp/refusals',
  'an unknown Host gets 403 before the token is checked',
  'an allowed Origin is named in the CORS header, without credentials, and can read the challenge',
  '%s returns 405 with the allowed methods',
  'a call without a token gets 401 with a challenge without an error, as RFC 6750 section 3 requires',
  'Content-Type %s returns 415',
  'application/json with a charset is accepted',
  '5 MB get 413, with or without a length, the client receives the answer, and the server continues',
  'an unknown tool is an invalid params error with near names, in both eras',
);
const documents = proof(
  'oauth/routes',
  'the metadata documents have exactly these members',
  'an unknown Host is refused, and changes no advertised URL',
  'scripts of any site may discover, register and redeem, without credentials',
);
const ours = proof(
  'oauth/routes',
  'unknown paths of /oauth and /.well-known return 404 and wrong methods 405, in JSON',
  'other paths reach the host application',
);
const underBasePath = proof(
  'oauth/routes',
  'under a basePath only the prefixed namespace and the two suffixed documents are served',
);
const authorizes = proof(
  'oauth/routes',
  'an authorization request by POST is redirected to GET with 303, and signs in',
  'a body over the limit is refused with 413 and the server continues',
);
const redeems = proof(
  'oauth/tokens',
  'that expired is refused, even if it was cached',
  'used twice is refused, and its tokens are revoked',
  'is stored as a hash, and a wrong one is refused',
);
const uncached = proof('oauth/tokens', '%s gives a token for it');
const behindPath = proof(
  'app/addresses',
  'metadata is at the root of the origin, every URL has the path, and a client lists',
);
const signsIn = proof('oauth/flow', 'a client that knows only the issuer registers, signs in and calls');
const addresses = proof(
  'app/addresses',
  'a client that knows the URL of /mcp discovers all others, signs in and lists',
  'wrong methods get 405 and unknown paths 404, as JSON',
  'with a basePath, URLs without it get 404',
);

const commands = proof(
  'cli/cloud',
  'a missing secret, an unknown option and an invalid name are reported',
  'a server that is down, is not Portico, lacks https or has another URL is reported',
  'a folder without a customization is refused',
);

/** By the id of the row. */
// biome-ignore format: a table
export const proofsC: Readonly<Record<string, readonly Proof[]>> = {
  '4.2 · Actions · addAction': [proof('spec/2.1-action-routes', 'with useUnsafeActionEndpoint the action route is /_actions/{collection}/{slug} instead of /_actions/{collection}/{index}/{slug}'), proof('spec/2.3-action-outside', 'description, generateFile, submitButtonLabel: the schema file has their values or defaults', 'Single, Bulk, Global, form: the schema file has the scope, and whether the form is static', 'Single: exactly one record, which exists')],
  '4.2 · Fields · addField': [customized('addField: fields can depend on others, be async, have a default, and are null without a record', 'addField: code runs once per page, with each record once', 'addField: a related record outside the row scope counts as missing', 'addField: values, promises and missing elements may be mixed'), refusedCode, proof('spec/2.5-computed-outside', 'defaultValue: replaces only null and undefined, and not where the related record is missing', 'dependencies: similar values stay distinct: null, an empty string and JSON strings; also for an imported field', 'enumValues: the values of an Enum, in the schema file and in describeCollection')],
  '4.2 · Fields · importField': [customized('importField: filtered and sorted by the database', 'importField: a field that is hidden in its own collection is unknown')],
  '4.2 · Fields · renameField': [customized('renameField: callers see only the new name, also through relations')],
  '4.2 · Fields · removeField': [customized('removeField: the field does not exist for callers')],
  '4.2 · Fields · addFieldValidation': [proof('spec/2.7-field-validation', 'applies to updates of the field, and the error names its value and what to send', 'every broken rule of every record is returned, and nothing is written', 'rules check the values after hooks, and not fields that an update omits', 'the error of a rule on a hidden field does not name it'), proof('spec/2.7-code-outside', 'validation | Present: a record without the field is not created; other rules allow it')],
  '4.2 · Fields · setFieldNullable': [customized('setFieldNullable: the description shows the field as nullable'), proof('spec/2.7-field-validation', 'Present | validation | setFieldNullable removes Present')],
  '4.2 · Fields · replaceFieldBinaryMode': [proof('spec/2.7-code-outside', 'binary mode | datauri, hex: shown in this form at any length, null as null; the schema file names it', 'binary mode | datauri, hex: both forms are accepted for both modes, in writes and filters; others are refused')],
  '4.2 · Relations · addManyToOneRelation': [customized('addManyToOneRelation: the related record is joined'), proof('spec/2.6-relations-outside', 'many-to-one: foreignKeyTarget without a unique index: the first by key, also in filters', 'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target'), proof('rest/writes', 'a to-one relation is set and cleared from either side, and the previous record is released')],
  '4.2 · Relations · addOneToManyRelation': [related, proof('spec/2.6-relations-outside', 'many-to-one: foreignKey; one-to-many: originKey: to a collection of another data source', 'one-to-many: originKey, originKeyTarget; many-to-many: throughCollection, originKey, foreignKey: a linked record is listed, an unlinked one is not', 'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target')],
  '4.2 · Relations · addOneToOneRelation': [related, proof('spec/2.6-relations-outside', 'one-to-one: originKey: without a unique index the lowest key wins, with a warning; it is linked from the other side', 'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target'), proof('rest/writes', 'a to-one relation is set and cleared from either side, and the previous record is released')],
  '4.2 · Relations · addManyToManyRelation': [proof('spec/2.6-relations-outside', 'many-to-many: throughCollection, originKey, foreignKey: also from the other side', 'one-to-many: originKey, originKeyTarget; many-to-many: throughCollection, originKey, foreignKey: a linked record is listed, an unlinked one is not', 'one-to-many, many-to-many: originKey, foreignKey, throughCollection: double links, unlinked and missing records, required keys, and a removed join collection'), proof('agent/many-to-many', 'works like a derived relation', 'junction rows outside the row scope do not relate records', 'associate needs the permission to add to the junction collection, and dissociate to delete from it')],
  '4.2 · Relations · addExternalRelation': [proof('spec/2.6-relations-outside', 'external: schema, listRecords: records have exactly these fields and types; they are filtered, sorted and counted', 'external: listRecords, schema: gets the key of each record or its dependencies, and the caller; the order is kept', 'external: schema, listRecords: 0, false and an empty string are kept; missing values are null; wrong lists and exceptions fail; no linking'), proof('agent/external', 'an external relation is shown as a whole, with its record and through other relations', 'an external relation is not among the default fields, and is described with its fields', 'needs a record that the caller may see', 'cannot be written', 'code runs once for each combination of its dependencies')],
  '4.2 · Segments · addSegment': [customized('addSegment: a filter, a function or a filter by a computed field, combined with other filters by And', 'a row scope applies with a segment, and may use a computed field'), proof('spec/2.7-conditions-outside', 'conditionTree, search, segment: all of them apply together, for callers and for code', 'segment: a named filter of the collection: a leaf, a tree, or the result of code for the caller')],
  '4.2 · Hooks · addHook': [customized('addHook: a hook before a list can restrict or refuse it'), proof('spec/2.7-code-outside', 'hook: List, Aggregate; position: Before: conditions of several hooks and of the request all apply, and After gets them; 0 and an empty string are unchanged', 'hook: %s: Before that throws stops the call, and nothing is written; After cannot undo it'), proof('spec/2.7-hooks', 'hook types: `Create`: the data can be changed before, and is as stored after', 'hook types: `Update`: the patch can be changed, and records can be left out', 'hook types: `Delete`: gets the selected records, and their former values', 'hook types: `Aggregate`: narrowed before, its values changed after; a count is an aggregate', 'Before, After, Create, Update, Delete | hook | in a preview isPreview is true, and After hooks are not called', 'Before, After | hook | hooks run in the order in which they were added, after names are checked')],
  '4.2 · Search · replaceSearch': [proof('agent/search', 'replaceSearch: an async function gets the text, the extended flag and a context'), customized('replaceSearch changes the search; disableSearch and disableCount refuse them')],
  '4.2 · Search · disableSearch': [customized('replaceSearch changes the search; disableSearch and disableCount refuse them')],
  '4.2 · Sorting · emulateFieldSorting': [customized('emulateFieldSorting: pages with cursors show every record once', 'reading more rows than the limit is refused; only rows that match the rest of the filter count')],
  '4.2 · Sorting · replaceFieldSorting': [customized('replaceFieldSorting: the field is sorted by its clauses, which a descending sort reverses', 'replaceFieldSorting: a cursor never contains a hidden field, also through a relation')],
  '4.2 · Sorting · disableFieldSorting': [customized('disableFieldSorting: sorts are refused, and the field is not listed as sortable')],
  '4.2 · Filtering · emulateFieldFiltering': [emulated],
  '4.2 · Filtering · emulateFieldOperator': [emulated],
  '4.2 · Filtering · replaceFieldOperator': [customized('replaceFieldOperator: its filter is used for In and NotEqual too', 'a search does not read all records for an emulated field', 'circular operator replacements give an error')],
  '4.2 · Charts · addChart': [...charts, proof('rest/charts', 'a chart of one record, which the query or the body names', 'a record outside the row scope is not found, and charts of a record need the right to read'), proof('agent/charts', 'a chart of a collection gets the record under the names before renaming', 'a chart of a missing record or one outside the row scope is refused, and its relations are scoped', 'a chart of a hidden collection, or of one whose key is hidden, is refused', 'charts are listed in the order in which they were added', 'an unknown chart is refused with similar names of the same collection', 'an error of chart code shows only the name of the chart and logs the cause; an engine error is passed on', 'a result that the builder did not create gives CHART_FAILED: %s'), proof('mcp/charts', 'charts are listed with their collections, and charts of a hidden collection are unknown')],
  '4.2 · Other · disableCount': [customized('replaceSearch changes the search; disableSearch and disableCount refuse them')],
  '4.2 · Other · use': [proof('spec/4.1-agent-outside', 'use: omitted options are undefined, null and 0 are passed, for a plugin of the agent and of each collection')],
  '4.3 · value': charts, '4.3 · distribution': charts, '4.3 · timeBased': [...charts, timeRanges], '4.3 · multipleTimeBased': [...charts, timeRanges], '4.3 · percentage': charts, '4.3 · objective': charts, '4.3 · leaderboard': charts, '4.3 · smart': [...charts, proof('agent/charts', 'a result that the builder did not create gives CHART_FAILED: %s')], '4.4 · tool · describeCollection': [proof('mcp/resources', 'lists the index and every collection, and each resource equals describeCollection'), proof('mcp/arguments', 'describeCollection refuses an unknown argument'), proof('agent/customize', 'disableFieldSorting: sorts are refused, and the field is not listed as sortable')],
  '4.4 · tool · list': [proof('mcp/calls', 'the count runs in parallel with the list'), proof('mcp/arguments', 'accepted: all arguments as one JSON string', 'an operator that does not exist is refused with near names')],
  '4.4 · tool · create': [marked, repeated, bounded],
  '4.4 · tool · update': [marked],
  '4.4 · tool · executeAction': [repeated],
  '4.4 · endpoint · /mcp': [endpointRefusals, addresses],
  '4.4 · endpoint · /oauth/authorize': [authorizes, signsIn, ours],
  '4.4 · endpoint · /oauth/token': [redeems, uncached, signsIn, documents],
  '4.4 · endpoint · /.well-known/oauth-authorization-server': [documents, ours, behindPath],
  '4.4 · endpoint · /.well-known/oauth-protected-resource/mcp': [documents, ours],
  '4.4 · basePath · <prefix>/mcp': [endpointRefusals, addresses],
  '4.4 · basePath · <prefix>/oauth/authorize': [authorizes, signsIn, underBasePath],
  '4.4 · basePath · <prefix>/oauth/token': [redeems, signsIn, underBasePath],
  '4.4 · basePath · /.well-known/oauth-authorization-server<prefix>': [documents, underBasePath],
  '4.4 · basePath · /.well-known/oauth-protected-resource<prefix>/mcp': [documents, underBasePath],
  '4.4 · rule · prefix': [addresses, underBasePath, proof('spec/4.1-agent-outside', 'mountAiMcpServer: all tools by default, or those of enabledTools in any order; a basePath moves all routes')],
  '4.4 · rule · capture': [ours, underBasePath],
  '4.4 · rule · discovery': [documents, signsIn, addresses],
  '4.4 · rule · enabledTools': [enabled, proof('defects/code-and-environment', 'the served tools are those of both lists, and an empty intersection ends the start'), proof('spec/2.1-options-outside', 'SERVICE_MCP_ENABLED_TOOLS: comma-separated; it restricts the tools that code enables, and refuses unknown names')],
  '4.5 · collections': [related, proof('rest/writes', 'a record is created, changed and deleted; each answer is the current document of the record', 'several records are deleted, all or none', 'delete=false keeps the record, delete=true deletes a record that belongs to the parent, others are refused'), proof('rest/related', 'capabilities: types, operators and to-one relations of everything the caller may see')],
  '4.5 · prefix': [proof('spec/2.1-options-outside', 'prefix | string | no | the API is served only below it; default is /service')],
  '4.6 · bootstrap': [commands],
  '4.6 · update-typings': [commands],
  '4.7 · createAgentTestClient': [readByClient, proof('testing/agent-client', 'records have the requested fields, under their own names, with relations nested', 'filters, search, segments and counts', 'a form is filled in, reloads when a field depends on a value, and is executed', 'the records of a relation are listed, counted and exported, by the names of both sides', 'a call for the wrong kind of relation names the right one', 'are overridden from the next call on, only where named, and {} restores all'), proof('testing/writes', 'records are created, updated and deleted; ids of several columns too', 'records are linked, unlinked, set and deleted'), proof('testing/wire', 'filters, sort, page, search and segment', 'each kind of result is recognised', 'each refusal of the agent has its own error class')],
  '4.7 · workflow': [proof('testing/agent-client', 'are overridden from the next call on, only where named, and {} restores all'), proof('spec/2.9-testing-client-options', 'agentSchemaPath | string | the schema file that the agent writes', 'serverUrl | string | the URL of the sandbox'), proof('platform/sandbox', 'only its user can read the key file of a sandbox, and close removes it', 'the sandbox accepts its first environment, and refuses another secret', 'rights that a test overrides apply to the next call'), proof('spec/4.7-sandbox', 'createForestServerSandbox: two concurrently without a port, the last port too, only on this machine; bound to the first environment', 'createForestServerSandbox: has close()')],
  '5 · authSecret': [proof('spec/2.9-testing-client-options', 'agentForestAuthSecret | string | the authSecret of the agent; agentServiceAuthSecret is the same'), proof('spec/2.1-agent-options', '%s | string | yes | is required, and no error shows its value')],
  '5 · envSecret': [proof('spec/2.1-agent-options', '%s | string | yes | is required, and no error shows its value', 'envSecret: a storage belongs to the environment that used it first')],
  '5 · Bearer': [redeems, proof('mcp/refusals', 'a call without a token gets 401 with a challenge without an error, as RFC 6750 section 3 requires'), proof('oauth/tokens', 'opens its own resource, and the result is cached synchronously', 'of a disabled user is refused immediately, and works again when the user is enabled'), proof('app/challenge', 'the 401 challenge names every scope that the served tools need', 'a URL with parameters has the same metadata URL, without the parameters')],
  '5 · discovery': [documents, signsIn],
  '5 · apiKey': [proof('agent/ai', 'printing a provider never shows its key', 'a redirect is not followed, so that the key reaches one URL only', 'environment variables change neither the URL, the account nor the log output')],
  '7 · useUnsafeActionEndpoint': [proof('spec/2.1-agent-options', 'useUnsafeActionEndpoint | boolean | no | default false; drops the positional index from action routes')],
  '7 · addAi': [proof('spec/4.1-agent', 'addAi | can be called only once; it needs a provider of the factory, with name, provider, apiKey and model')],
  '7 · basePath': [proof('app/addresses', 'a basePath together with a public URL that has a path is refused at the start')],
  '7 · namespaces': [ours, underBasePath, addresses],
  '9 · generateSchemaOnly': [proof('spec/4.1-agent', 'generateSchemaOnly | none | writes the schema to schemaPath and typings to typingsPath, without starting', 'generateSchemaOnly: without sending the schema or contacting the platform', 'generateSchemaOnly: always rebuilds, so that a broken or old schema file is replaced'), proof('spec/4.1-agent-outside', 'createAgent, generateSchemaOnly: typings are five levels deep by default, or as configured; the schema is written too')],
};
