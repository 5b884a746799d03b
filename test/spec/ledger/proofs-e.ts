// Tests of the source folders that carry out the rows of 2.6 to 2.9 and 4.1, by the rows that they are about.
import type { Proof } from './decisions.ts';
import { ofWhole } from './proofs-f.ts';

const proof = (file: string, ...titles: string[]): Proof => ({ file: `test/${file}.test.ts`, titles });

const starts = proof('agent/customize', '%s ends the start with the line of the call');
const relationWrites = proof(
  'agent/writes',
  'a foreign key to a record outside the row scope is refused like one to a missing record',
  'associate sets foreign keys, and dissociate sets them to null without deleting records',
  'associate applies the row scopes of both ends',
  'dissociating a non-null foreign key is refused, and so is associate on a to-one relation',
);
const setting = proof(
  'rest/writes',
  'a to-one relation is set and cleared from either side, and the previous record is released',
  'setting a relation is atomic: the previous record stays linked if the rest fails',
  'the row scope applies to both sides of a relation, before and after',
);
const lowest = proof(
  'agent/lowest-writes',
  'writes apply filters and row scopes through the relation',
  'a foreign key must refer to a record that the caller may see',
  'writes through the relation are refused',
  'setRelation is refused unless the relation then leads to the given record',
  'each relation is logged once, with the unique index to add',
  'a relation by a unique key is not logged',
  'a collection %s is refused',
  'the description marks the relation, and it is not used as an inverse',
);
const relatedLists = proof(
  'rest/related',
  'to many: a list of the foreign collection, its count, and all list parameters',
  'to one: the record, or null',
  'a record that is missing or not visible has no related records',
);
const many = proof(
  'rest/writes',
  'delete=false keeps the record, delete=true deletes a record that belongs to the parent, others are refused',
);
const inCode = proof('agent/inside', 'associate and dissociate: are atomic');
const fromTests = proof(
  'testing/agent-client',
  'the records of a relation are listed, counted and exported, by the names of both sides',
  'a call for the wrong kind of relation names the right one',
);
const hiddenRelations = proof(
  'agent/permissions',
  'a relation to a collection that the caller may not browse is an unknown field',
  'a hidden foreign key hides its relation, from both sides',
);
const externals = [
  proof(
    'agent/external',
    'an external relation is shown as a whole, with its record and through other relations',
    'is listed, filtered, sorted, searched, paged, counted and aggregated',
    'code runs once for each combination of its dependencies',
  ),
  proof(
    'testing/external',
    'are a field of a record that was asked for',
    'are listed and counted from one record, and cannot be written',
  ),
  proof('rest/related', 'records of an external relation have no id'),
  proof('agent/schema-file', 'shows an external relation as a field with a list of records'),
];

const texts = [
  proof('agent/wrong-things', 'text operators match special characters literally'),
  proof('agent/match', 'Match works through relations, in counts and in row scopes'),
];
const values = [
  proof(
    'agent/names',
    '%s %s %j is refused with what to send instead',
    '%s %s %j is converted and accepted',
    'an operator that the type does not have is refused with the allowed operators',
  ),
  proof(
    'agent/limits',
    'a list of 10,000 values is accepted',
    'numbers out of range match nothing, and only those that JSON may have rounded are refused',
  ),
];
const trees = [
  proof('agent/limits', 'a filter of 500 conditions joined by %s is accepted'),
  proof('agent/scopes', 'an empty Or as a row scope matches no record'),
  proof(
    'agent/quantified',
    'some, none, every and Not work as documented',
    'an invalid quantifier is refused with what to send',
  ),
];
const columns = proof(
  'agent/column-types',
  'memory: every type has its operators, and list operators compare elements',
  'every type has its operators',
  'list operators compare elements',
);
const dates = proof('agent/dates', 'a timestamp without an offset is read in the timezone of the call', 'days: %s %j');
const search = [
  proof(
    'agent/search',
    'hidden and unknown fields in a search are treated as text',
    'replaceSearch: an async function gets the text, the extended flag and a context',
    '%j is read as %s',
  ),
  proof('agent/scopes', 'a search through relations finds nothing outside the row scope'),
  proof('rest/shapes', 'a search returns the matched fields, by position of the record'),
  proof('agent/customize', 'replaceSearch changes the search; disableSearch and disableCount refuse them'),
];
const hooks = proof(
  'spec/2.7-hooks',
  'Hook position: `Before` or `After`; hook types: `List`',
  'Before, List | hook | a narrowed list also applies the row scope, and its cursor continues',
  'hook types: `Create`: the data can be changed before, and is as stored after',
  'Before, Create | hook | a hook may fill required fields; the resulting values are validated',
  'hook types: `Update`: the patch can be changed, and records can be left out',
  'hook types: `Delete`: gets the selected records, and their former values',
  'hook types: `Aggregate`: narrowed before, its values changed after; a count is an aggregate',
  'Before | hook | the error of a hook reaches the caller, and nothing is written',
  'After, Create, Update, Delete | hook | a hook that throws after a write cannot undo it, and the error says so',
);
const charts = [
  proof('agent/charts', 'a chart of the agent has the periods of the timezone of the request'),
  proof(
    'rest/statistics',
    '%s: 400, with what to send',
    'a line with empty periods over many centuries returns 400, and is not logged as a failure',
  ),
];
const files = proof('rest/types', 'documents', 'tables');
const flattened = proof(
  'agent/flatten',
  'flattened fields are read, and filtered and sorted if that is emulated',
  'writing a flattened field keeps the rest of the object, and nested writes work',
  'flattened fields of records outside the row scope are not written',
  'a hidden relation has no flattened fields',
);
const options = proof('testing/mcp-client', 'wrong options are errors that say what to set');
const schemaOfTests = proof(
  'testing/wire',
  'a changed file is read again',
  'a missing or invalid file is an error that says what to set',
);

const restarts = proof('app/restart', 'a restart changes the listed tools');
const tables = proof(
  'app/changed-tables',
  'writes the schema file when the tables change',
  'in production serves only what the schema file has, until a restart',
);
const paths = proof('app/schema-paths', 'a link to %s stays a link', 'a folder is refused', 'a socket is refused');
const typings = proof(
  'agent/typings',
  'the generated typings equal those of the type tests',
  'a file is rewritten only if its text changes',
  'with too many paths, the typings follow fewer relations, and a warning is logged',
);
const hosts = proof(
  'hosts/wrong-things',
  'a port in use',
  'a path in the public URL, with a basePath',
  'a secret of another environment',
  'no schema file in production',
  'a customization that throws',
  'no data source, and MCP without a mount: more calls fix it',
  'a host application without a public URL',
);
const addresses = proof(
  'app/addresses',
  'a client that knows the URL of /mcp discovers all others, signs in and lists',
  'wrong methods get 405 and unknown paths 404, as JSON',
  'with a basePath, URLs without it get 404',
  'metadata is at the root of the origin, every URL has the path, and a client lists',
  'a basePath together with a public URL that has a path is refused at the start',
);

/** The rows whose id begins with the text, and their proofs. */
const about: readonly (readonly [row: string, ...Proof[]])[] = [
  ['2.6 · many-to-one', relationWrites, setting, lowest, relatedLists, hiddenRelations, fromTests],
  ['2.6 · one-to-one', setting, lowest, relatedLists, hiddenRelations, fromTests],
  ['2.6 · one-to-many', relationWrites, relatedLists, many, inCode, hiddenRelations, fromTests],
  ['2.6 · many-to-many', inCode, relatedLists, fromTests, proof('rest/writes', 'a to-many relation: all records in the body are linked, whichever side has the key'), proof('agent/many-to-many', 'works like a derived relation', 'through %s by %j ends the start at the line of the call', 'associate creates a pair once, and dissociate deletes only junction rows', 'associate needs the permission to add to the junction collection, and dissociate to delete from it', 'associating a pair that exists outside the row scope is refused', 'a record outside the row scope gives the same error as a missing record')],
  ['2.6 · external', ...externals],
  ['2.7 · condition', ...trees, ...values],
  ['2.7 · operator', ...values, columns],
  ...['Like', 'ILike', 'Contains', 'NotContains', 'StartsWith', 'EndsWith'].map((name) => [`2.7 · operator · ${name}`, ...texts] as const),
  ...['Before', 'After', 'Today', 'Yesterday', 'Past', 'Future', 'Previous'].map((name) => [`2.7 · operator · ${name}`, dates] as const),
  ['2.7 · validation', starts, proof('agent/schema-file', 'shows validation patterns as regular expressions, each rule once'), proof('agent/writes', 'all problems of the fields are reported together'), proof('spec/2.7-field-validation', 'every broken rule of every record is returned, and nothing is written', 'Present | validation | setFieldNullable removes Present', 'a rule with %s stops the start, with the line of the call')],
  ['2.7 · filter · search', ...search],
  ['2.7 · filter', proof('agent/names', '%j is refused with the name of the argument'), proof('testing/wire', 'filters, sort, page, search and segment')],
  ['2.7 · filter · segment', starts, proof('agent/filters-through-many', 'segments, replaced operators and added fields can use to-many relations')],
  ['2.7 · projection', proof('agent/permissions', 'a hidden field is unknown in fields, filters, sorts, relations and searches'), proof('testing/wire', 'columns and those of a relation are query parameters; deeper fields are a header')],
  ['2.7 · caller', proof('store/scope-variables', '%s alone keeps its type, and within a text becomes text'), proof('testing/agent-client', 'are overridden from the next call on, only where named, and {} restores all'), proof('agent/scopes', 'dates of a row scope are in the timezone of the caller, not of the request'), proof('store/permissions', 'a leaf with a variable without a value matches nothing, and the rest of the filter applies')],
  ['2.7 · sort', proof('agent/cursors', 'ties follow the direction of the last field, also if it repeats another'), proof('agent/customize', 'replaceFieldSorting: the field is sorted by its clauses, which a descending sort reverses', 'disableFieldSorting: sorts are refused, and the field is not listed as sortable'), proof('agent/scopes', 'a sort through a relation treats records outside the row scope as missing')],
  ['2.7 · hook', hooks, proof('agent/wrong-things', 'a hook that throws before a write writes nothing'), proof('testing/agent-client', 'hooks run, and errors are those of the agent'), proof('agent/customize', 'addHook: a hook before a list can restrict or refuse it')],
  ['2.7 · binary mode', files, proof('spec/4.2-binary-mode', 'Fields | replaceFieldBinaryMode(name, mode): the form that callers see, while both forms are accepted')],
  ['2.7 · time range', ...charts],
  ['2.8 · flatten', flattened],
  ['2.9', options],
  ['2.9 · agentSchemaPath', schemaOfTests],
  ['4.1 · createAgent', hosts, proof('app/host-sign-in', 'invalid options are refused: %j', 'without signInUrl, a user signs in with a password, or reads that they must sign in to the application', 'a user without a host session is sent to the sign-in page of the host and back, and passwords are refused'), paths],
  ['4.1 · addDataSource', starts, hosts, proof('agent/customize', 'addDataSource: include, exclude and rename')],
  ['4.1 · customizeCollection', starts, proof('agent/customize', 'customizing after the start is refused')],
  ['4.1 · removeCollection', starts],
  ['4.1 · addChart', proof('rest/charts', 'a chart of one record, which the query or the body names', 'without a timezone, periods are in the timezone of the caller, not of the server'), proof('testing/agent-client', 'each reader reads its kind of chart, of the agent and of a record', 'a chart of another kind, and an unknown chart, are errors')],
  ['4.1 · use', starts],
  ['4.1 · start', hosts, proof('hosts/untouched', 'the routes of the application answer as before, before the start, during it and after the stop', 'on a standalone server, unknown paths return 404, before the start of MCP or without it'), tables],
  ['4.1 · stop', hosts],
  ['4.1 · restart', restarts, tables],
  ['4.1 · addAi', proof('rest/ai-query', 'an agent without a provider returns NO_AI_PROVIDER', 'a model other than the configured one', 'the official client gets an answer')],
  ['4.1 · mountAiMcpServer', addresses, hosts],
  ['4.1 · updateTypesOnFileSystem', typings, paths],
  ['4.1 · generateSchemaOnly', typings, paths, proof('agent/schema-file', 'has its properties, segments, actions and fields', 'the text does not depend on the order of customizations, and its keys are sorted')],
]; // biome-ignore format: a table

const customizer = (...titles: string[]) => proof('spec/4.2-customizer-outside', ...titles);
const customizerEdges = (...titles: string[]) => proof('spec/4.2-edges-outside', ...titles);
const operations = (...titles: string[]) => proof('spec/4.2-operations-outside', ...titles);
const agentOptions = [
  proof(
    'spec/2.1-agent-options',
    '%s is refused with the line of the call',
    'createAgent without options is refused as well',
    'prefix | string | no | API prefix; default is /service',
    'loggerLevel | string | no | one of Debug, Info, Warn, Error',
    'schemaPath | string | no | path of the schema file',
    'typingsMaxDepth | number | no | depth used for typings generation',
  ),
  proof(
    'spec/2.1-options-outside',
    'prefix | string | no | the API is served only below it; default is /service',
    'MCP_SERVER_PORT: the default is 3931; a port in code wins; an invalid port is refused',
    'loggerLevel | string | no | logs that level and higher ones, to the logger or to standard error',
  ),
  proof(
    'spec/2.1-whole-outside',
    '%s: accepts each valid value, and refuses each invalid one with the line',
    'loggerLevel: the environment sets it, and code wins',
    'typingsMaxDepth, typingsPath, schemaPath: a depth from 1 to 10, 5 by default; paths are relative to the working folder',
  ),
];
const agentFiles = [
  proof(
    'spec/2.1-options-outside',
    'typingsPath | string | no | written by start and generateSchemaOnly from the current schema, not in production',
    'schemaPath | string | no | the default is .service-schema.json in the working folder; typingsPath: the default writes no file',
  ),
  proof(
    'spec/2.1-whole-outside',
    'typingsMaxDepth, typingsPath, schemaPath: a depth from 1 to 10, 5 by default; paths are relative to the working folder',
    'isProduction, schemaPath, typingsPath: in production a start keeps both files, and generateSchemaOnly writes them',
  ),
  proof(
    'spec/2.1-agent-options',
    'isProduction | boolean | no | production mode reads the schema file, and writes nothing',
    'typingsPath | string | no | path of generated typings file; written when set',
    'typingsMaxDepth | number | no | depth used for typings generation',
  ),
  proof(
    'spec/9-versioning',
    'generateSchemaOnly | always rebuilds the schema, in production too, and connections stay open until the agent stops',
    'generateSchemaOnly | writes typings only if configured, with their depth; the schema has names of callers, typings names in code',
  ),
];
const sources = [
  proof(
    'spec/2.2-data-source-options',
    '%s is invalid and ends the start with the line',
    'factory: %s is refused with the line',
    'factory: several factories are called in order, each after the previous one returned',
    'factory: a factory that throws ends the start with the line that added it',
  ),
  proof(
    'spec/2.2-data-sources-outside',
    'include | string[] | only these tables, and relations between them; rename | they get new names, and relations follow',
    'exclude | string[] | all tables but these, without relations to them; an empty list excludes nothing',
    'include, exclude | together: a name in both is excluded',
    'rename, exclude | names are those of the source: two can be swapped, and one can take an excluded name',
    'include | an empty list serves nothing; exclude | each of several; rename | applies once',
  ),
];
const refusedCalls = proof(
  'spec/4.2-refusals-outside',
  '%s: an invalid call ends the start, with the error and the line',
);
const relationsOfRecords = [
  customizer(
    'addManyToOneRelation, addOneToManyRelation, addOneToOneRelation, addManyToManyRelation, addExternalRelation: the records of each record',
  ),
  operations(
    'Relations | addManyToOneRelation, addOneToManyRelation, addOneToOneRelation, addManyToManyRelation, addExternalRelation: each leads to its records',
  ),
  refusedCalls,
];
const linkTools = [
  proof(
    'spec/4.4-tools-outside',
    'associate, dissociate: by a foreign key and by a join table; the other record stays, and an existing link is no error',
    'listRelated: only records of this record, with the arguments of list',
  ),
  proof(
    'spec/4.4-tool-edges-outside',
    'associate, dissociate: one or several records, with and without dry run; other argument names are refused',
  ),
];
const testClients = [
  proof(
    'spec/4.7-test-client',
    'createAgentTestClient: list accepts the parameters of a front end, in its timezone; refusals are errors with status; workflow: a closed client sends nothing',
  ),
  proof(
    'spec/4.7-sandbox',
    'createForestServerSandbox: two concurrently without a port, the last port too, only on this machine; bound to the first environment',
  ),
];
const listTool = proof(
  'spec/4.4-tools-outside',
  'list: filters, a segment and a search are combined with And; sorts apply in order',
  'list: all records in the order of the key, with the requested columns',
);
const listEdges = proof(
  'spec/4.4-tool-edges-outside',
  'list: fields once each in order, also as a string; a sort in each notation; a trimmed search; both formats',
  'list, listRelated: many fields, empty names, a search in relations, and the rest of a long cell, which must be listed',
);
const chartResults = proof(
  'spec/4.3-charts-outside',
  '%s: over HTTP and MCP: %s',
  '%s: an invalid result fails the chart, and the log says why: %s',
  'timeBased: the days are in the requested timezone, otherwise in that of the caller',
);
const oneProvider = proof(
  'spec/7-errors',
  'addAi called a second time | throws an error, with the lines of both calls',
  'addAi, called by a plugin, names both lines too',
  'addAi after the start is refused, like every late call',
  'addAi accepts the result of createAiProvider, and not %s',
);
const keyOfProvider = proof(
  'spec/5-authentication',
  'apiKey: an AI provider sends it, and cannot be created without it',
  'apiKey: the other provider sends it too',
);
const valueForms = proof(
  'spec/2.7-value-forms-outside',
  '%s: of %s, $4: this form of a value matches these records',
  '%s: of %s, $4: this form is refused, with what to send',
);

/** Tests of other sections about the same subject. */
const elsewhere: readonly (readonly [row: string, ...Proof[]])[] = [
  ...['many-to-one', 'one-to-many', 'one-to-one', 'many-to-many', 'external'].map((kind) => [`2.6 · ${kind}`, ...relationsOfRecords] as const),
  ['2.6 · one-to-many', ...linkTools],
  ['2.6 · many-to-many', ...linkTools],
  ['2.6 · external', customizerEdges('addExternalRelation: enums are strings there, times are times, and missing values are null')],
  ['2.7 · condition', listTool, valueForms],
  ['2.7 · filter', listTool, listEdges],
  ['2.7 · filter · search', customizer('replaceSearch, disableSearch: code gets the text as typed, for lists and counts; a collection without search refuses it'), customizerEdges('replaceSearch, disableSearch, disableCount: the last call wins, in lists, counts and the schema file; an empty search is ignored')],
  ['2.7 · filter · segment', customizer('addSegment: a leaf, a tree or code for the caller, with filters, counts and over MCP; only in this collection'), customizerEdges('addSegment, addHook, replaceSearch: a segment depends on caller and timezone; code gets segment and search as sent', 'addSegment: code that returns no filter fails the call, also a count'), refusedCalls],
  ['2.7 · projection', listTool, listEdges],
  ['2.7 · sort', listTool, listEdges, customizerEdges('emulateFieldSorting, replaceFieldSorting, disableFieldSorting: null, ties and several clauses, in both directions; by earlier names')],
  ['2.7 · validation', customizer('addFieldValidation: every rule of a field applies, for creates and updates, HTTP and MCP; null breaks only Present'), customizerEdges('addFieldValidation, setFieldNullable: null breaks only Present; a nullable field keeps other rules; null in In never matches; long strings are checked fully'), refusedCalls],
  ['2.7 · hook', customizer('replaceFieldWriting, addHook, setFieldNullable: the values of code are written, over HTTP and MCP; hooks run before and after, only for their type'), customizerEdges('addHook: errors of a call are returned before any hook runs; each way of stopping has its status', 'addHook, replaceFieldWriting: code reads the records before a write; an error afterwards says that it was written', 'addSegment, addHook, replaceSearch: a segment depends on caller and timezone; code gets segment and search as sent'), operations('Hooks | addHook(position, type, handler): called before and after, in the order in which they were added')],
  ['2.7 · binary mode', valueForms, customizer('replaceFieldBinaryMode: hex or a data URI, as set for the column, for reading and writing'), customizerEdges('replaceFieldBinaryMode: up to 32 bytes are hex and more are a file, unless code sets a mode')],
  ['2.7 · time range', chartResults],
  ['2.9', ...testClients],
  ['4.1 · createAgent', ...agentOptions, ...agentFiles],
  ['4.1 · addDataSource', ...sources],
  ['4.1 · addChart', chartResults, proof('spec/4.3-charts-outside', 'objective, value: of one record, which must exist; a result without a builder is an error')],
  ['4.1 · use', customizer('disableCount, use: no count of that collection, but its lists; plugins with options, without, and twice'), customizerEdges('use: a nested plugin, with options and without'), operations('use(plugin, options?): the plugin is called with the customizer and its options, or none')],
  ['4.1 · start', ...agentFiles, proof('spec/7-errors', 'basePath set while the agent URL includes a path | throws at startup', 'useUnsafeActionEndpoint enabled and two actions of one collection share a slug | the agent refuses to start, naming both')],
  ['4.1 · generateSchemaOnly', ...agentFiles],
  ['4.1 · updateTypesOnFileSystem', ...agentFiles],
  ['4.1 · addAi', oneProvider, keyOfProvider],
  ['4.1 · mountAiMcpServer', proof('spec/2.1-options-outside', 'SERVICE_MCP_ENABLED_TOOLS: comma-separated; it restricts the tools that code enables, and refuses unknown names'), proof('spec/7-errors', 'basePath set while the agent URL includes a path | throws at startup', 'namespaces | a request in the MCP namespaces that the MCP server does not serve | answered 404 or 405 and does not reach the host application', 'namespaces | with a basePath those below it belong to Portico, and those of the root to the host')],
]; // biome-ignore format: a table

export const proofsOf = (id: string): readonly Proof[] =>
  [...about, ...elsewhere, ...ofWhole].flatMap(([row, ...proofs]) => (id.startsWith(row) ? proofs : []));
