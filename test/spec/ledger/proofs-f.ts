// Tests of the same section that are about the whole that a row is a part of: a relation of the kind, a plugin, the options
// of a client, hooks, rules.
import type { Proof } from './decisions.ts';

const proof = (file: string, ...titles: string[]): Proof => ({ file: `test/${file}.test.ts`, titles });

const links = proof(
  'spec/2.7-hooks-and-callers-outside',
  'links: a to-one relation is not linked but updated; an error about a link names the records or the relation',
);
const keyless = proof(
  'spec/2.7-hooks-and-callers-outside',
  'external: schema, listRecords: of a collection without a key, dependencies are needed',
);
const noObject = proof(
  'spec/2.7-hooks-and-callers-outside',
  'flatten: a value that is no object is replaced by one when a part is written; other members stay',
);
const hooksAround = proof(
  'spec/2.7-hooks-and-callers-outside',
  'hook: Aggregate; position: Before, After: each plain measure has its own call, and other measures are refused',
  'hook: %s; position: After: throwError says its message after the write',
  'hook: List; position: Before: the filter has each part of the request, and only these',
);

/** The tests of every kind of relation, and those of one kind. */
const ofRelations = (...own: string[]): Proof =>
  proof(
    'spec/2.6-edges-outside',
    '%s: one record is linked, replaced and unlinked; invalid requests are refused and change nothing',
    '%s: a record is linked over HTTP and MCP, and unlinked unless its key is not nullable',
    'many-to-one, one-to-many, one-to-one, many-to-many: of a collection with itself, by names before renaming, from a record with the key 0',
    '%s: in records, lists, CSV, filters, sorts, groups and code',
    '%s: the related list is filtered, sorted, searched, paged, counted and exported, and can be filtered through',
    ...own,
  );

/** The rows whose id begins with the text, and their proofs. */
export const ofWhole: readonly (readonly [row: string, ...Proof[]])[] = [
  ['2.6 · many-to-one', links],
  ['2.6 · one-to-many', links],
  ['2.6 · many-to-many', links],
  ['2.6 · external', keyless],
  ['2.7 · hook', hooksAround],
  ['2.8 · flattenColumn', noObject],
  ['2.8 · flattenJsonColumn', noObject],
  [
    '2.6 · many-to-one',
    proof(
      'spec/2.6-relations-outside',
      '%s: the list of each record contains only its own records',
      'many-to-one: %s: the record that it refers to, also in filters, or null',
      'many-to-one: foreignKey; one-to-many: originKey: to a collection of another data source',
      'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target',
      '%s: an invalid value ends the start, with the error and the line',
      'many-to-one: foreignKeyTarget without a unique index: the first by key, also in filters',
    ),
    ofRelations(
      'many-to-one: foreignKey, foreignKeyTarget: the schema file has the relation instead of its key column',
    ),
  ],
  [
    '2.6 · one-to-many',
    proof(
      'spec/2.6-relations-outside',
      '%s: the list of each record contains only its own records',
      'many-to-one: foreignKey; one-to-many: originKey: to a collection of another data source',
      'one-to-many: originKey, originKeyTarget; many-to-many: throughCollection, originKey, foreignKey: a linked record is listed, an unlinked one is not',
      'one-to-many: originKeyTarget; many-to-many: originKeyTarget: a record whose target is null cannot be linked, and nothing is written',
      'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target',
      '%s: an invalid value ends the start, with the error and the line',
      'one-to-many, many-to-many: originKey, foreignKey, throughCollection: double links, unlinked and missing records, required keys, and a removed join collection',
    ),
    ofRelations(),
  ],
  [
    '2.6 · one-to-one',
    proof(
      'spec/2.6-relations-outside',
      '%s: the list of each record contains only its own records',
      'one-to-one: %s: the one record that refers to it, or null',
      'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target',
      '%s: an invalid value ends the start, with the error and the line',
      'one-to-one: originKey: without a unique index the lowest key wins, with a warning; it is linked from the other side',
    ),
    ofRelations(
      'one-to-one: originKey: half of a composite unique index is not unique: the first record, with a warning, and read-only',
    ),
  ],
  [
    '2.6 · many-to-many',
    proof(
      'spec/2.6-relations-outside',
      '%s: the list of each record contains only its own records',
      'many-to-many: throughCollection, originKey, foreignKey: also from the other side',
      'one-to-many: originKey, originKeyTarget; many-to-many: throughCollection, originKey, foreignKey: a linked record is listed, an unlinked one is not',
      'one-to-many: originKeyTarget; many-to-many: originKeyTarget: a record whose target is null cannot be linked, and nothing is written',
      'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target',
      '%s: an invalid value ends the start, with the error and the line',
      'one-to-many, many-to-many: originKey, foreignKey, throughCollection: double links, unlinked and missing records, required keys, and a removed join collection',
    ),
    ofRelations(
      'many-to-many: throughCollection, originKey, foreignKey, originKeyTarget, foreignKeyTarget: a link is a row of these columns, made once, and removed',
    ),
  ],
  [
    '2.6 · external',
    proof(
      'spec/2.6-relations-outside',
      'many-to-one, one-to-many, one-to-one, many-to-many, external: the schema file and describeCollection have their kind and target',
      'external: schema, listRecords: records have exactly these fields and types; they are filtered, sorted and counted',
      'external: listRecords, schema: gets the key of each record or its dependencies, and the caller; the order is kept',
      '%s: an invalid value ends the start, with the error and the line',
      'external: schema, listRecords: 0, false and an empty string are kept; missing values are null; wrong lists and exceptions fail; no linking',
    ),
    proof(
      'spec/2.6-edges-outside',
      'external: schema, listRecords: records are attributes and CSV columns, as code returns them; no filter, sort or group',
      'external: listRecords: the code runs for four records concurrently, and each record gets its own',
      'external: schema: values of each type in their usual JavaScript forms; a value of another type is a code error',
    ),
  ],
  [
    '2.8 · flatten',
    proof(
      'spec/2.8-plugins-outside',
      '%s: of %s: these fields, in this order, with their types, instead of the column',
      'columnName, level, include, columnType: each part has its value, and null without an object',
      'readonly: a write is refused and changes nothing',
      'readonly, level: without it parts are written into the object, beside its other members, also if it is null',
      'readonly, columnType: an update of several records sets the part only if the rest of the object is equal',
      '%s: of %s: these fields, in this order, with their types',
      'relationName: the values of the related record, null without one; they can be filtered and sorted by',
      'readonly: a write is refused and changes nothing; without it, the related record is written',
      'flattenRelation: include, exclude: fields that code adds there are flattened, removed ones are not; renames keep their source',
      'flattenJsonColumn: readonly: parts of a read-only column are read-only; columnType, level, keepOriginalColumn: a non-object has no parts, and null is kept',
      'flattenColumn: columnName, level: of a computed field, with its declared shape',
      'columnName, columnType, level, keepOriginalColumn: each part has its value, a missing one is null, and other keys are hidden',
      'readonly: a write is refused and changes nothing; without it, it is written beside the other members',
      'keepOriginalColumn: the column is shown and written as before; the parts follow it, and both together are refused',
      '%s: an invalid value ends the start, with the error and the line',
    ),
  ],
  [
    '2.9',
    proof(
      'spec/2.9-testing-client-options',
      'agentForestEnvSecret | string | the envSecret of the agent; agentServiceEnvSecret is the same',
      'agentForestAuthSecret | string | the authSecret of the agent; agentServiceAuthSecret is the same',
      'agentUrl | string | the URL of the agent, with its prefix or without',
      'serverUrl | string | the URL of the sandbox',
      'agentSchemaPath | string | the schema file that the agent writes',
      'an unknown option is refused with near names',
    ),
  ],
  [
    '2.7 · hook',
    proof(
      'spec/2.7-code-outside',
      'hook: List: Before narrows the list, After changes the answer and not the stored record: %s',
      'hook: Create; position: Before, After: Before changes the new record, After gets the stored one: %s',
      'hook: Update: Before changes the patch, After gets it and the records: %s',
      'hook: Delete: Before runs while the record exists, After gets the deleted record: %s',
      'hook: Aggregate: Before narrows the records, After changes the result: %s',
      'hook: List, Aggregate; position: Before: conditions of several hooks and of the request all apply, and After gets them; 0 and an empty string are unchanged',
      'hook: %s: Before that throws stops the call, and nothing is written; After cannot undo it',
    ),
    proof(
      'spec/2.7-code-edges-outside',
      'hook | %s, position: Before: each way to refuse has its status, over HTTP and MCP, and nothing happens',
      'hook | %s: a dry run calls Before with isPreview and not After; After that throws reports the saved write without its message',
      'hook: List, Aggregate, position: After: null, 0, false and an empty string are returned as set, also in related lists, files and groups',
    ),
  ],
  [
    '2.7 · validation',
    proof(
      'spec/2.7-code-outside',
      'validation | %s: of %s: at its bounds, for creates and updates; invalid values are not written; the schema file has the rule',
      'validation | Present: a record without the field is not created; other rules allow it',
    ),
    proof(
      'spec/2.7-code-edges-outside',
      'validation | %s: of %s: in tools, code, dry runs and for the second of several records; valid values are stored',
      'validation | %s: with the value %j ends the start',
    ),
  ],
  [
    '2.7 · time range',
    proof(
      'spec/2.7-code-outside',
      'time range | %s: every period from first to last, with sums of its values, in the requested timezone',
      'time range | Day, Week, Month, Quarter, Year: no others',
    ),
    proof(
      'spec/2.7-code-edges-outside',
      'time range | %s: %j: periods without a value, with null and in any order, of one line and two, over HTTP and MCP',
      'time range | %s: an invalid date or number, and more than 10,000 periods, fail the chart',
    ),
  ],
  [
    '2.7 · binary mode',
    proof(
      'spec/2.7-code-outside',
      'binary mode | datauri, hex: shown in this form at any length, null as null; the schema file names it',
      'binary mode | datauri, hex: both forms are accepted for both modes, in writes and filters; others are refused',
    ),
    proof(
      'spec/2.7-code-edges-outside',
      'binary mode | datauri, hex: each kind of file, also empty, in lists, tools, files and code; hex in any case and all of base64 are accepted',
    ),
  ],
  [
    '2.7 · caller',
    proof(
      'spec/2.7-code-outside',
      'caller: id, email, firstName, lastName, team, role, tags, timezone: of the signed-in user',
    ),
    proof(
      'spec/2.7-code-edges-outside',
      'caller: id, email, firstName, lastName, team, role, tags, timezone: equal in every kind of code, over HTTP and MCP, and immutable',
    ),
  ],
  [
    '2.7 · sort',
    proof(
      'spec/2.7-conditions-outside',
      'sort: field: the fields to sort by, also of relations, the second within the first, then the key',
      'sort: ascending: true by default; for each clause separately; ties are sorted by the key',
    ),
    proof(
      'spec/2.7-ways-outside',
      'sort: field, ascending: nulls first and last, relations two levels deep, spaces, duplicates, and at most 100 clauses, over HTTP and MCP',
    ),
  ],
  [
    '2.7 · filter',
    proof(
      'spec/2.7-code-edges-outside',
      'filter | segment: code that returns no condition fails, and returns no record: %s',
    ),
    proof(
      'spec/2.7-conditions-outside',
      'conditionTree, search, segment: all of them apply together, for callers and for code',
      'conditionTree: selects exactly the records that code changes, and an empty one is refused',
      'search: a text is searched in the columns of the collection, in any case, numbers exactly',
      'search: at most 16 words and 1,000 characters; every word must match; an empty search matches all',
      'searchExtended: the text is also searched in to-one relations, only if requested',
      'segment: a named filter of the collection: a leaf, a tree, or the result of code for the caller',
    ),
    proof(
      'spec/2.7-ways-outside',
      'filter | segment, search, searchExtended, conditionTree: also for related lists, counts, groups and files',
    ),
  ],
];
