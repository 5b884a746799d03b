import type { Proof } from './decisions.ts';

const proof = (file: string, ...titles: string[]): Proof => ({ file: `test/${file}.test.ts`, titles });

const lowest = proof('agent/lowest', 'a list agrees with SQL: %s');
const junction = proof(
  'agent/many-to-many',
  'works like a derived relation',
  'through %s by %j ends the start at the line of the call',
);
const pairs = proof(
  'agent/many-to-many',
  'junction rows outside the row scope do not relate records',
  'the relation does not exist if %s',
  'a removed junction collection still relates records, but is read-only',
  'associate needs the permission to add to the junction collection, and dissociate to delete from it',
  'associating a pair that exists outside the row scope is refused',
  'associate creates a pair once, and dissociate deletes only junction rows',
  'two concurrent calls that associate the same pair both succeed',
);
const fromOneRecord = proof(
  'agent/many-to-many',
  'a record outside the row scope gives the same error as a missing record',
  'related records by a hidden key are refused',
  'a cursor of one parent record is refused for another',
  'listing a to-one relation is refused with how to read it',
);
const external = proof(
  'agent/external',
  'an external relation is shown as a whole, with its record and through other relations',
  'is listed, filtered, sorted, searched, paged, counted and aggregated',
  'if code returns %s, the error names the relation and the log its line',
  '%j ends the start at the line of the call',
);
const otherSource = proof(
  'agent/across',
  'show related records with one statement per source, and null where there is none',
  'sort, with cursors',
  'list the related records of one record',
  'create and delete junction rows',
  'of the related collection that use a third source apply to fields, filters, sorts and related lists',
);
const setToOne = proof(
  'rest/writes',
  'a to-one relation is set and cleared from either side, and the previous record is released',
);

const sql = proof('sql/operators', '%s %s %s matches the right rows, and its negation all others');
const types = proof('agent/oracle/operators', 'every operator of $type works as documented');
const refused = proof(
  'agent/names',
  '%s %s %j is refused with what to send instead',
  '%s %s %j is converted and accepted',
);
const nulls = proof('agent/names', '%s %s %j is converted and accepted');
const days = proof('agent/dates', 'days: %s %j');
const periods = proof('agent/dates', '%s includes %s to %s');
const midnights = proof(
  'agent/dates',
  'a day begins at midnight and ends before the next, also if it has 23 hours',
  'a day with two midnights begins at the first',
  'a day without midnight begins when the clock goes forward',
);
const before = proof('agent/previous-period', '%s is compared with the previous period');

const rules = proof(
  'spec/2.7-field-validation',
  'applies to updates of the field, and the error names its value and what to send',
  'every broken rule of every record is returned, and nothing is written',
  'rules check the values after hooks, and not fields that an update omits',
  'a rule with %s stops the start, with the line of the call',
);
const stopped = proof(
  'spec/2.7-hooks',
  'Before | hook | the error of a hook reaches the caller, and nothing is written',
);
const previewed = proof(
  'spec/2.7-hooks',
  'Before, After, Create, Update, Delete | hook | in a preview isPreview is true, and After hooks are not called',
);
const afterWrites = proof(
  'app/visible-writes',
  'writes of hooks are in the answer and the log, and a dry run announces the hooks that run afterwards',
);
const charts = proof(
  'rest/charts',
  'GET returns the value, POST the same as a statistic; periods are in the requested timezone',
  'without a timezone, periods are in the timezone of the caller, not of the server',
);

const parts = proof(
  'agent/flatten',
  'flattened fields are read, and filtered and sorted if that is emulated',
  'writing a flattened field keeps the rest of the object, and nested writes work',
  'flattened fields of records outside the row scope are not written',
);
const ofRelation = proof(
  'agent/flatten',
  'flattened fields are read, and filtered and sorted if that is emulated',
  'writing a flattened field keeps the rest of the object, and nested writes work',
  'a hidden relation has no flattened fields',
);

const refusals = proof('spec/4.1-refusals-outside', '%s: an invalid call is refused, with the error and the line');
const mounted = proof(
  'hosts/wrong-things',
  'no data source, and MCP without a mount: more calls fix it',
  'a customization that throws',
  'a port in use',
);

/** By the id of the row. */
export const proofsB: Readonly<Record<string, readonly Proof[]>> = {
  '2.6 · many-to-one': [
    otherSource,
    lowest,
    setToOne,
    proof('agent/customize', 'addManyToOneRelation: the related record is joined'),
  ],
  '2.6 · many-to-one · foreignKey': [otherSource, setToOne],
  '2.6 · many-to-one · foreignKeyTarget': [lowest],
  '2.6 · one-to-many': [
    fromOneRecord,
    proof('rest/writes', 'a to-many relation: all records in the body are linked, whichever side has the key'),
  ],
  '2.6 · one-to-many · originKey': [otherSource],
  '2.6 · one-to-one': [lowest, setToOne],
  '2.6 · one-to-one · originKey': [lowest, setToOne],
  '2.6 · many-to-many': [junction, pairs, fromOneRecord],
  '2.6 · many-to-many · throughCollection': [junction, pairs],
  '2.6 · many-to-many · originKey': [junction, pairs],
  '2.6 · many-to-many · foreignKey': [junction, pairs],
  '2.6 · external': [
    external,
    proof(
      'agent/external',
      'an external relation is not among the default fields, and is described with its fields',
      'needs a record that the caller may see',
      'cannot be %s',
      'cannot be written',
    ),
  ],
  '2.6 · external · schema': [external],
  '2.6 · external · listRecords': [
    external,
    proof('agent/external', 'code runs once for each combination of its dependencies'),
  ],

  '2.7 · condition · leaf': [
    refused,
    proof('agent/names', 'an operator that the type does not have is refused with the allowed operators'),
  ],
  '2.7 · condition · And': [
    proof('sql/operators', 'And, Or, empty branches and their negations follow De Morgan'),
    proof('agent/names', 'a filter that is too deep or too wide is refused'),
  ],
  '2.7 · condition · Or': [
    proof('sql/operators', 'And, Or, empty branches and their negations follow De Morgan'),
    proof('agent/names', 'a filter that is too deep or too wide is refused'),
  ],
  ...Object.fromEntries(
    ['Equal', 'NotEqual', 'In', 'NotIn'].map((operator) => [`2.7 · operator · ${operator}`, [sql, types, nulls]]),
  ),
  ...Object.fromEntries(
    ['GreaterThan', 'LessThan', 'Contains', 'NotContains', 'StartsWith', 'EndsWith', 'Like', 'ILike'].map(
      (operator) => [`2.7 · operator · ${operator}`, [sql, types]],
    ),
  ),
  ...Object.fromEntries(
    ['Present', 'Blank', 'Before', 'After', 'IncludesAll', 'IncludesNone'].map((operator) => [
      `2.7 · operator · ${operator}`,
      [types],
    ]),
  ),
  '2.7 · operator · Today': [days, midnights, types, before],
  '2.7 · operator · Yesterday': [days, midnights, types, before],
  '2.7 · operator · Past': [days, types],
  '2.7 · operator · Future': [days, types],
  '2.7 · operator · PreviousWeek': [days, types, before],
  ...Object.fromEntries(
    ['Month', 'Quarter', 'Year'].map((period) => [`2.7 · operator · Previous${period}`, [periods, types, before]]),
  ),
  ...Object.fromEntries(
    [
      'Present',
      'LongerThan',
      'ShorterThan',
      'Contains',
      'Like',
      'Match',
      'GreaterThan',
      'LessThan',
      'Before',
      'After',
    ].map((operator) => [`2.7 · validation · ${operator}`, [rules]]),
  ),
  '2.7 · filter · search': [
    proof(
      'agent/search',
      'customers: %s',
      'orders, in the timezone of the caller: %s',
      '%j is a literal character, not a wildcard',
      '%s are refused, with the limit',
    ),
  ],
  '2.7 · filter · searchExtended': [
    proof('agent/search', 'searchExtended also searches to-one relations, within their row scopes'),
  ],
  '2.7 · filter · segment': [
    proof(
      'agent/customize',
      'addSegment: a filter, a function or a filter by a computed field, combined with other filters by And',
      'a row scope applies with a segment, and may use a computed field',
    ),
  ],
  '2.7 · projection': [
    proof(
      'rest/shapes',
      'one record, and the projection header, two relations deep',
      'HEAD is GET without a body; a front end may send its projection; every answer has a content type',
    ),
    proof(
      'agent/names',
      '@@@ separates a path like a colon',
      'a relation without a field is refused with one of its fields',
      'a relation to many records cannot be a column',
    ),
  ],
  '2.7 · sort · field': [
    proof('agent/names', 'a sort by an unsortable field is refused with the sortable fields'),
    proof('sql/operators', 'nulls are first in ascending order and last in descending'),
  ],
  '2.7 · sort · ascending': [
    proof(
      'agent/cursors',
      'pages of one record include ties and nulls, in both directions, by columns and related fields',
    ),
    proof('sql/operators', 'nulls are first in ascending order and last in descending'),
  ],
  '2.7 · hook position · Before': [stopped, previewed],
  '2.7 · hook position · After': [previewed, afterWrites],
  '2.7 · hook type · Create': [stopped, previewed, afterWrites],
  '2.7 · hook type · Update': [stopped, previewed, afterWrites],
  '2.7 · hook type · Delete': [previewed],
  ...Object.fromEntries(
    ['Day', 'Week', 'Month', 'Quarter', 'Year'].map((range) => [`2.7 · time range · ${range}`, [charts]]),
  ),

  '2.8 · flattenRelation · relationName': [ofRelation],
  '2.8 · flattenRelation · include': [ofRelation],
  '2.8 · flattenJsonColumn · columnName': [parts],
  '2.8 · flattenJsonColumn · columnType': [parts],
  '2.8 · flattenJsonColumn · level': [parts],
  '2.8 · flattenJsonColumn · readonly': [parts],
  '2.8 · flattenColumn · readonly': [parts],

  '4.1 · createAgent': [refusals],
  '4.1 · start': [mounted],
  '4.1 · restart': [
    proof(
      'app/restart',
      'restart under load drops no call: %s',
      'a restart changes the listed tools',
      'a restart notifies listening clients; clients that cannot listen get no listChanged capability',
    ),
    proof('app/agent-mcp', 'an assistant keeps its token and gets the model of the last successful restart'),
  ],
  '4.1 · stop': [
    proof(
      'hosts/untouched',
      'the routes of the application answer as before, before the start, during it and after the stop',
    ),
  ],
  '4.1 · addChart': [
    proof(
      'agent/charts',
      'charts are listed in the order in which they were added',
      'an unknown chart is refused with similar names of the same collection',
      'an error of chart code shows only the name of the chart and logs the cause; an engine error is passed on',
      'an invalid definition ends the start with its line: %s',
    ),
  ],
  '4.1 · removeCollection': [
    proof('agent/customize', 'removeCollection: the collection is not listed, and no relation leads to it'),
  ],
  '4.1 · mountAiMcpServer': [
    proof('hosts/untouched', 'without mountAiMcpServer the application keeps the paths of MCP, and the HTTP API works'),
    mounted,
  ],
  '4.1 · addAi': [
    proof(
      'agent/ai',
      'openai gets the request unchanged, with the model',
      'anthropic gets the request in its own format',
      'a redirect is not followed, so that the key reaches one URL only',
    ),
  ],
  '4.1 · updateTypesOnFileSystem': [
    proof(
      'agent/typings',
      'a file is rewritten only if its text changes',
      'a folder as the path of the file is refused with the name of the option',
    ),
  ],
};
