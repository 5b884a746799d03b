import type { Proof } from './decisions.ts';

const proof = (file: string, ...titles: string[]): Proof => ({ file: `test/${file}.test.ts`, titles });

const lowest = proof('agent/lowest', 'a list agrees with SQL: %s');
const junction = proof(
  'agent/many-to-many',
  'is used as the found one is',
  'through %s by %j ends the start at the line of the call',
);
const pairs = proof(
  'agent/many-to-many',
  'pairs outside the row scope do not link',
  'there is no relation where %s',
  'a removed collection between still links, and nothing can be written to it',
  'pairs are made with the right to add to the collection between, and deleted with the right to delete there',
  'a pair that is there outside the row scope cannot be made',
  'makes a pair once, and deletes pairs and nothing else',
  'two who make the same pair at once both succeed',
);
const fromOneRecord = proof(
  'agent/many-to-many',
  'a record that is not to be seen has no related records, and is not told from one that is not there',
  'a hidden key cannot be tried out',
  'a cursor of one record is of no use for another',
  'a relation to one is no list, and says how it is read',
);
const external = proof(
  'agent/external',
  'is shown whole, with its record and through relations to it',
  'is listed as code gives it, filtered, sorted, searched, paged, counted and added up',
  'tells which relation it is, and for the log where it was added, when code gives %s',
  '%j ends the start at the line of the call',
);
const otherSource = proof(
  'agent/across',
  'show what is related, each record once and by lists of keys; what is not there is null',
  'sort, with cursors',
  'list what is related to one record',
  'make and delete pairs',
  'of the other end, which look into a third source, hold in fields, filters, sorts and pairs',
);
const setToOne = proof(
  'rest/writes',
  'a relation to one is set and emptied from either side; what led there before is released along',
);

const sql = proof('sql/operators', '%s %s %s holds for the right rows, and its negation for all others');
const types = proof('agent/oracle/operators', 'every operator of $type means what the docs say');
const refused = proof(
  'agent/names',
  '%s %s %j is refused with what to send instead',
  '%s %s %j has one plain meaning, and is taken',
);
const nulls = proof('agent/names', '%s %s %j has one plain meaning, and is taken');
const days = proof('agent/dates', 'days: %s %j');
const periods = proof('agent/dates', '%s is from %s to %s');
const midnights = proof(
  'agent/dates',
  'a day begins at its midnight, inclusive, and ends before the next, also when it has 23 hours',
  'where midnight comes twice, the day begins at the first',
  'where midnight is skipped, the day begins when the clocks went forward',
);
const before = proof('agent/previous-period', '%s is compared with the period before it');

const rules = proof(
  'spec/2.7-field-validation',
  'is kept by updates of the field, and told with its value and what to send',
  'every rule of every record is told at once, and nothing is written',
  'what a hook makes of a record is what is checked, and what an update leaves out is not',
  'a rule with %s stops the start, with the line of the call',
);
const stopped = proof(
  'spec/2.7-hooks',
  'Before | hook | what a hook stops a call with reaches the caller, and nothing is written',
);
const previewed = proof(
  'spec/2.7-hooks',
  'Before, After, Create, Update, Delete | hook | before a preview hooks are told that it is one; after it they are not called',
);
const afterWrites = proof(
  'app/visible-writes',
  'what hooks write is in the answer and the log; what runs afterwards is announced',
);
const charts = proof(
  'rest/charts',
  'GET gives the value, POST the same as a statistic; periods are those of the zone that asks',
  'periods are those of the caller where no zone is named, and never those of the server',
);

const parts = proof(
  'agent/flatten',
  'parts are read, and filtered and sorted where that is emulated; names may be written in filters and sorts',
  'parts that are written go into the object, and the rest of it stays; relations are written along',
  'what there is of records out of scope goes into no object',
);
const ofRelation = proof(
  'agent/flatten',
  'parts are read, and filtered and sorted where that is emulated; names may be written in filters and sorts',
  'parts that are written go into the object, and the rest of it stays; relations are written along',
  'a relation that may not be seen has no flattened fields',
);

const refusals = proof('spec/4.1-refusals-outside', '%s: a wrong one is refused, with what is wrong and the line');
const mounted = proof(
  'hosts/wrong-things',
  'no data source, and MCP without a place: more calls are the cure',
  'a customization that throws',
  'a port that is taken',
);

/** By the id of the row. */
export const proofsB: Readonly<Record<string, readonly Proof[]>> = {
  '2.6 · many-to-one': [otherSource, lowest, setToOne, proof('agent/customize', 'addManyToOneRelation: joined')],
  '2.6 · many-to-one · foreignKey': [otherSource, setToOne],
  '2.6 · many-to-one · foreignKeyTarget': [lowest],
  '2.6 · one-to-many': [
    fromOneRecord,
    proof('rest/writes', 'records of a relation to many: all that are sent are linked, whatever holds the key'),
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
      'is no field of a list that asks for none, and is described with its fields',
      'is of records that the caller sees',
      'cannot be %s',
      'cannot be written',
    ),
  ],
  '2.6 · external · schema': [external],
  '2.6 · external · listRecords': [
    external,
    proof('agent/external', 'asks code once for each combination of what it needs, four at a time'),
  ],

  '2.7 · condition · leaf': [
    refused,
    proof('agent/names', 'an operator that the type does not have is answered with those it has'),
  ],
  '2.7 · condition · And': [
    proof('sql/operators', 'branches, empty branches and negations of them follow de Morgan'),
    proof('agent/names', 'a filter deeper or wider than a database takes is refused'),
  ],
  '2.7 · condition · Or': [
    proof('sql/operators', 'branches, empty branches and negations of them follow de Morgan'),
    proof('agent/names', 'a filter deeper or wider than a database takes is refused'),
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
      '%j is itself, and matches no other text',
      '%s are refused, with the bound',
    ),
  ],
  '2.7 · filter · searchExtended': [
    proof('agent/search', 'searchExtended looks into to-one relations too, within the scope of their rows'),
  ],
  '2.7 · filter · segment': [
    proof(
      'agent/customize',
      'addSegment: a filter, an async function, or over what is computed; joined with the rest by And',
      'a row scope holds with a segment, and may use what is computed',
    ),
  ],
  '2.7 · projection': [
    proof(
      'rest/shapes',
      'one record, and the header that says what is shown, two relations deep',
      'HEAD is GET without a body; a front end may send its projection; every answer has its type',
    ),
    proof(
      'agent/names',
      '@@@ separates like a colon',
      'a relation alone is answered with one of its fields',
      'a relation to many records cannot be a column',
    ),
  ],
  '2.7 · sort · field': [
    proof('agent/names', 'a field that cannot be sorted by is answered with those that can'),
    proof('sql/operators', 'nulls come first in ascending order and last in descending'),
  ],
  '2.7 · sort · ascending': [
    proof('agent/cursors', 'pages of one go through ties and nulls in both directions, by columns and by relations'),
    proof('sql/operators', 'nulls come first in ascending order and last in descending'),
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
      'a restart changes the tools that are shown',
      'a restart tells those that listen, and a server that cannot tell does not say that it would',
    ),
    proof('app/agent-mcp', 'assistants are served by the model of the last restart, with the token that they have'),
  ],
  '4.1 · stop': [
    proof(
      'hosts/untouched',
      'the application answers as if nobody was mounted, before the start, during it and after the end',
    ),
  ],
  '4.1 · addChart': [
    proof(
      'agent/charts',
      'names, in the order in which they were added',
      'an unknown name is told with near ones; of a collection, with those of the collection',
      'an error of the chart is its name alone, with the cause and the place for the log; one of the engine passes',
      'a wrong definition ends the start at the line of the user: %s',
    ),
  ],
  '4.1 · removeCollection': [
    proof('agent/customize', 'removeCollection: it is not listed, and no relation leads to it'),
  ],
  '4.1 · mountAiMcpServer': [
    proof(
      'hosts/untouched',
      'without mountAiMcpServer the paths of MCP are the application’s, and the HTTP API is there',
    ),
    mounted,
  ],
  '4.1 · addAi': [
    proof(
      'agent/ai',
      'openai is asked what was asked, with the model',
      'anthropic is asked the same in its own form',
      'a redirect is not followed: the key goes to one address',
    ),
  ],
  '4.1 · updateTypesOnFileSystem': [
    proof(
      'agent/typings',
      'a file whose text would be the same is left alone',
      'a folder in the place of the file is an error that names the option',
    ),
  ],
};
