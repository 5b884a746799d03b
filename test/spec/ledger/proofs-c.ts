import type { Proof } from './decisions.ts';

const proof = (file: string, ...titles: string[]): Proof => ({ file: `test/${file}.test.ts`, titles });

const customized = (...titles: string[]): Proof => proof('agent/customize', ...titles);
const related = proof(
  'rest/related',
  'to many: a list of the foreign collection, its number, and everything that a list takes',
  'to one: the record, or null',
  'a record that is not there, or that may not be seen, leads nowhere',
);
const emulated = customized(
  'emulateFieldFiltering, emulateFieldOperator: filters are evaluated after reading, with pages and counts',
  'a search does not read all records for an emulated field',
  'reading 10,000 rows for a field is logged once',
);
const refusedCode = customized('an error of code shows the caller the name of the field, and the log its line');

const chartsOverHttp = proof(
  'rest/charts',
  'GET gives the value, POST the same as a statistic; periods are those of the zone that asks',
  'periods are those of the caller where no zone is named, and never those of the server',
);
const chartsOverMcp = proof(
  'mcp/charts',
  'every kind of chart, in the fewest words',
  'a long one is cut within the budget, and says so',
);
const readByClient = proof('testing/agent-client', 'each reader reads its kind, of the agent and of a record');
const charts = [chartsOverHttp, chartsOverMcp, readByClient];

const timeRanges = proof('spec/2.7-code-outside', 'time range | Day, Week, Month, Quarter, Year: no others');

const bounded = proof(
  'mcp/refusals',
  'a token without the scope of the tool is 403 with the scopes to ask for, and the attempt is logged',
  'a token without the scope is not shown the tools that need it',
);
const marked = proof(
  'mcp/writes',
  'a denial is in the log as one',
  'without the OAuth scope nothing is marked and nothing is written',
  'a dry run is a read: no mark, one entry, nothing written',
);
const repeated = proof(
  'mcp/idempotency',
  'the repeat is given the first answer, and nothing is written; in the log it is a read',
  'other arguments, and a key that is too long, are errors; another user and a dry run have nothing to do with it',
);
const enabled = proof(
  'mcp/matrix',
  'enabledTools without %s: not shown, not near, not to be called',
  'enabledTools with %s alone: nothing else',
);

const endpointRefusals = proof(
  'mcp/refusals',
  'an unknown Host gets 403 before the token is checked',
  'an allowed Origin is told so by name, without credentials, and may read the challenge',
  '%s is 405 and says what is allowed',
  'no token is 401 with a challenge without an error, as RFC 6750 section 3 wants',
  'Content-Type %s is 415',
  'application/json with a charset is taken',
  '5 MB are 413, whether announced or not, the client gets the answer, and the server goes on',
  'an unknown tool is invalid params with near names, in both eras',
);
const documents = proof(
  'oauth/routes',
  'the metadata documents are exactly these',
  'a Host that is not ours is refused, and moves no advertised URL',
  'scripts of any site may discover, register and redeem, without credentials',
);
const ours = proof(
  'oauth/routes',
  'the whole of /oauth and /.well-known is ours: unknown paths are 404 and wrong methods 405, in JSON',
  'paths of the host application are left to it',
);
const underBasePath = proof(
  'oauth/routes',
  'under a basePath only the prefixed namespace and the two suffixed documents are ours',
);
const authorizes = proof(
  'oauth/routes',
  'an authorization request by POST is sent on as GET with 303, and signs in',
  'a body over the limit is refused with 413 and the server stays up',
);
const redeems = proof(
  'oauth/tokens',
  'that expired is refused, also when it was just remembered',
  'used twice is refused, and what was made of it is revoked',
  'is kept as a hash, and a wrong one is refused',
);
const uncached = proof('oauth/tokens', 'named %s gives a token for it');
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
  '4.2 · Actions · addAction': [proof('spec/2.1-action-routes', 'with useUnsafeActionEndpoint the action route is /_actions/{collection}/{slug} instead of /_actions/{collection}/{index}/{slug}'), proof('spec/2.3-action-outside', 'description, generateFile, submitButtonLabel: the schema file has them, and what they are where nothing was said', 'Single, Bulk, Global, form: the schema file says on how many records, and whether the form is known before it is asked for', 'Single: exactly one record, which is there')],
  '4.2 · Fields · addField': [customized('addField: fields can depend on others, be async, have a default, and are null without a record', 'addField: code runs once per page, with each record once', 'addField: a related record outside the row scope counts as missing', 'addField: values, promises and missing elements may be mixed'), refusedCode, proof('spec/2.5-computed-outside', 'defaultValue: in place of null and undefined, of nothing else; not where there is no record', 'dependencies: what looks alike is not taken for the same: null, an empty text, and texts that are written as JSON is; an imported field too', 'enumValues: the values that an Enum may have: the schema file and describeCollection have them')],
  '4.2 · Fields · importField': [customized('importField: filtered and sorted by the database', 'importField: a field that is hidden in its own collection is unknown')],
  '4.2 · Fields · renameField': [customized('renameField: callers see only the new name, also through relations')],
  '4.2 · Fields · removeField': [customized('removeField: the field does not exist for callers')],
  '4.2 · Fields · addFieldValidation': [proof('spec/2.7-field-validation', 'is kept by updates of the field, and told with its value and what to send', 'every rule of every record is told at once, and nothing is written', 'what a hook makes of a record is what is checked, and what an update leaves out is not', 'a rule of a field that is closed to the caller does not name it'), proof('spec/2.7-code-outside', 'validation | Present: a record without the field is not created, with other rules it is')],
  '4.2 · Fields · setFieldNullable': [customized('setFieldNullable: the description shows the field as nullable'), proof('spec/2.7-field-validation', 'Present | validation | setFieldNullable removes Present')],
  '4.2 · Fields · replaceFieldBinaryMode': [proof('spec/2.7-code-outside', 'binary mode | datauri, hex: shown so whatever the length, and null as null; the schema file says which', 'binary mode | datauri, hex: both forms are read of both, in writes and in filters; what is neither is refused')],
  '4.2 · Relations · addManyToOneRelation': [customized('addManyToOneRelation: the related record is joined'), proof('spec/2.6-relations-outside', 'many-to-one: foreignKeyTarget without a unique index: the first by the key, also in filters', 'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and where they lead'), proof('rest/writes', 'a relation to one is set and emptied from either side; what led there before is released along')],
  '4.2 · Relations · addOneToManyRelation': [related, proof('spec/2.6-relations-outside', 'many-to-one: foreignKey; one-to-many: originKey: to a collection of another data source', 'one-to-many: originKey, originKeyTarget; many-to-many: throughCollection, originKey, foreignKey: what is linked is in the list, and what is unlinked no longer', 'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and where they lead')],
  '4.2 · Relations · addOneToOneRelation': [related, proof('spec/2.6-relations-outside', 'one-to-one: originKey: without a unique index the one with the lowest key, once for each record, with a warning; it is linked from the other end', 'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and where they lead'), proof('rest/writes', 'a relation to one is set and emptied from either side; what led there before is released along')],
  '4.2 · Relations · addManyToManyRelation': [proof('spec/2.6-relations-outside', 'many-to-many: throughCollection, originKey, foreignKey: from the other end too', 'one-to-many: originKey, originKeyTarget; many-to-many: throughCollection, originKey, foreignKey: what is linked is in the list, and what is unlinked no longer', 'one-to-many, many-to-many: originKey, foreignKey, throughCollection: a link twice is one link; what is not linked is not unlinked; a record that is not there, and a key that may not be null, are refused; a collection between that was removed is only read'), proof('agent/many-to-many', 'works like a derived relation', 'junction rows outside the row scope do not relate records', 'associate needs the permission to add to the junction collection, and dissociate to delete from it')],
  '4.2 · Relations · addExternalRelation': [proof('spec/2.6-relations-outside', 'external: schema, listRecords: the records have these fields, with their types, and no others; they are filtered, sorted and counted', 'external: listRecords, schema: is given the key of each record, or what it depends on, and who asks; its records are in its order', 'external: schema, listRecords: 0, false and an empty text stay; what is missing is null; a wrong list, and what code throws, is no answer; nothing can be linked'), proof('agent/external', 'an external relation is shown as a whole, with its record and through other relations', 'an external relation is not among the default fields, and is described with its fields', 'needs a record that the caller may see', 'cannot be written', 'code runs once for each combination of its dependencies')],
  '4.2 · Segments · addSegment': [customized('addSegment: a filter, a function or a filter by a computed field, combined with other filters by And', 'a row scope applies with a segment, and may use a computed field'), proof('spec/2.7-conditions-outside', 'conditionTree, search, segment: all of them hold together, for callers and for code', 'segment: a named filter of the collection: a leaf, a tree, or what code gives for who asks')],
  '4.2 · Hooks · addHook': [customized('addHook: a hook before a list can restrict or refuse it'), proof('spec/2.7-code-outside', 'hook: List, Aggregate; position: Before: what several conditions of hooks narrow holds together, with what is asked for, and After is told all of it; 0 and an empty text pass as they are', 'hook: %s: Before that throws stops the call, and nothing is written; After cannot take it back'), proof('spec/2.7-hooks', 'hook types: `Create`: the data may be changed before, and is seen as it is stored after', 'hook types: `Update`: the patch may be changed, and records left out', 'hook types: `Delete`: told which records are meant, and what they were', 'hook types: `Aggregate`: narrowed before, its values changed after; a count is an aggregate', 'Before, After, Create, Update, Delete | hook | before a preview hooks are told that it is one; after it they are not called', 'Before, After | hook | hooks run in the order in which they were added, and names are checked before any of them')],
  '4.2 · Search · replaceSearch': [proof('agent/search', 'replaceSearch: an async function gets the text, the extended flag and a context'), customized('replaceSearch changes the search; disableSearch and disableCount refuse them')],
  '4.2 · Search · disableSearch': [customized('replaceSearch changes the search; disableSearch and disableCount refuse them')],
  '4.2 · Sorting · emulateFieldSorting': [customized('emulateFieldSorting: pages with cursors show every record once', 'reading more rows than the limit is refused; only rows that match the rest of the filter count')],
  '4.2 · Sorting · replaceFieldSorting': [customized('replaceFieldSorting: the field is sorted by its clauses, which a descending sort reverses', 'replaceFieldSorting: a cursor never contains a hidden field, also through a relation')],
  '4.2 · Sorting · disableFieldSorting': [customized('disableFieldSorting: sorts are refused, and the field is not listed as sortable')],
  '4.2 · Filtering · emulateFieldFiltering': [emulated],
  '4.2 · Filtering · emulateFieldOperator': [emulated],
  '4.2 · Filtering · replaceFieldOperator': [customized('replaceFieldOperator: its filter is used for In and NotEqual too', 'a search does not read all records for an emulated field', 'circular operator replacements give an error')],
  '4.2 · Charts · addChart': [...charts, proof('rest/charts', 'a chart of one record, which is named in the address or in the body', 'a record outside the row scope is not there, and without the right to read there is no chart of one'), proof('agent/charts', 'a chart of a collection gets the record under the names before renaming', 'a chart of a missing record or one outside the row scope is refused, and its relations are scoped', 'a chart of a hidden collection, or of one whose key is hidden, is refused', 'charts are listed in the order in which they were added', 'an unknown chart is refused with similar names of the same collection', 'an error of chart code shows only the name of the chart and logs the cause; an engine error is passed on', 'a result that the builder did not create gives CHART_FAILED: %s'), proof('mcp/charts', 'charts are listed with what they are about, and those of a hidden collection are not told')],
  '4.2 · Other · disableCount': [customized('replaceSearch changes the search; disableSearch and disableCount refuse them')],
  '4.2 · Other · use': [proof('spec/4.1-agent-outside', 'use: options that are left out are undefined, those that are null or 0 are given, to a plugin of the agent and of each collection')],
  '4.3 · value': charts, '4.3 · distribution': charts, '4.3 · timeBased': [...charts, timeRanges], '4.3 · multipleTimeBased': [...charts, timeRanges], '4.3 · percentage': charts, '4.3 · objective': charts, '4.3 · leaderboard': charts, '4.3 · smart': [...charts, proof('agent/charts', 'a result that the builder did not create gives CHART_FAILED: %s')], '4.4 · tool · describeCollection': [proof('mcp/resources', 'lists the index and every collection, and reads of each the very text of describeCollection'), proof('mcp/arguments', 'a description takes no argument that it does not have'), proof('agent/customize', 'disableFieldSorting: sorts are refused, and the field is not listed as sortable')],
  '4.4 · tool · list': [proof('mcp/calls', 'count runs beside the list'), proof('mcp/arguments', 'taken: all arguments as one JSON text', 'an operator that does not exist is refused with near names')],
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
  '4.4 · rule · prefix': [addresses, underBasePath, proof('spec/4.1-agent-outside', 'mountAiMcpServer: without enabledTools all tools, with them these in any order; a basePath moves all routes')],
  '4.4 · rule · capture': [ours, underBasePath],
  '4.4 · rule · discovery': [documents, signsIn, addresses],
  '4.4 · rule · enabledTools': [enabled, proof('defects/code-and-environment', 'the tools that are served are those that both name, and a list without any ends the start'), proof('spec/2.1-options-outside', 'SERVICE_MCP_ENABLED_TOOLS: comma-separated; it narrows what code allows, and an unknown name ends the start')],
  '4.5 · collections': [related, proof('rest/writes', 'a record is created, changed and deleted; each answer is the document of the record as it is now', 'several are deleted, all or none', 'delete=false does not delete, delete=true deletes what belongs to the record, and anything else is refused'), proof('rest/related', 'capabilities: types, operators and relations to one of what may be seen')],
  '4.5 · prefix': [proof('spec/2.1-options-outside', 'prefix | string | no | the API is served below it, and nowhere else; default is /service')],
  '4.6 · bootstrap': [commands],
  '4.6 · update-typings': [commands],
  '4.7 · createAgentTestClient': [readByClient, proof('testing/agent-client', 'records have the fields that were asked for, under their own names, with relations nested', 'filters, search, segments and counts', 'a form is filled in, reloads when something depends on a value, and is executed', 'the records of a relation are listed, counted and exported; both ends are told by name', 'a call that is not for such a relation says which is', 'are overridden for the next call, everything else stays allowed, and {} gives all back'), proof('testing/writes', 'records are created, updated and deleted; ids of several columns too', 'records are linked, unlinked, pointed to and deleted'), proof('testing/wire', 'filters, sort, page, search and segment', 'each kind is told apart', 'what the agent refuses is an error of its own class')],
  '4.7 · workflow': [proof('testing/agent-client', 'are overridden for the next call, everything else stays allowed, and {} gives all back'), proof('spec/2.9-testing-client-options', 'agentSchemaPath | string | the schema file that the agent writes', 'serverUrl | string | the address of the sandbox')],
  '5 · authSecret': [proof('spec/2.9-testing-client-options', 'agentForestAuthSecret | string | the authSecret of the agent; agentServiceAuthSecret is the same'), proof('spec/2.1-agent-options', '%s | string | yes | it is required, and never shown')],
  '5 · envSecret': [proof('spec/2.1-agent-options', '%s | string | yes | it is required, and never shown', 'envSecret: a storage belongs to the environment that used it first')],
  '5 · Bearer': [redeems, proof('mcp/refusals', 'no token is 401 with a challenge without an error, as RFC 6750 section 3 wants'), proof('oauth/tokens', 'opens the resource that it was made for, and its answer is remembered synchronously', 'of a user who is disabled is refused at once, and works again when he is enabled'), proof('app/challenge', 'the 401 challenge names every scope that the served tools need', 'a URL with parameters has the same metadata URL, without the parameters')],
  '5 · discovery': [documents, signsIn],
  '5 · apiKey': [proof('agent/ai', 'printing a provider never shows its key', 'a redirect is not followed, so that the key reaches one URL only', 'environment variables change neither the URL, the account nor the log output')],
  '7 · useUnsafeActionEndpoint': [proof('spec/2.1-agent-options', 'useUnsafeActionEndpoint | boolean | no | default false; drops the positional index from action routes')],
  '7 · addAi': [proof('spec/4.1-agent', 'addAi | can be called once only; it needs a provider of the factory, with name, provider, apiKey and model')],
  '7 · basePath': [proof('app/addresses', 'a basePath together with a public URL that has a path is refused at the start')],
  '7 · namespaces': [ours, underBasePath, addresses],
  '9 · generateSchemaOnly': [proof('spec/4.1-agent', 'generateSchemaOnly | none | writes the schema to schemaPath and typings to typingsPath, without starting', 'generateSchemaOnly: without sending the schema, and without contacting the platform', 'generateSchemaOnly: always rebuilds, so that a schema file that is broken or old is written anew'), proof('spec/4.1-agent-outside', 'createAgent, generateSchemaOnly: typings five deep where nothing is said, and as deep as is said; the schema is written beside')],
};
