// Every argument of every customizer operation (behaviour 4.2) with values that it does not take: the start fails with
// the argument and the line. The arguments that are right are in 4.2-customizer-outside.test.ts.
import { expect, test } from 'vitest';
import { type CollectionCustomizer, createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { emptyAgent, messageOf } from '../app/agent.ts';

const people: MemoryTable = {
  name: 'people',
  columns: [
    { name: 'id', type: 'Number' },
    { name: 'name', type: 'String' },
    { name: 'age', type: 'Number', nullable: true },
    { name: 'photo', type: 'Binary', nullable: true },
    { name: 'prints', type: ['Binary'], nullable: true },
    { name: 'boss_id', type: 'Number', nullable: true },
  ],
  primaryKey: ['id'],
  foreignKeys: [{ columns: ['boss_id'], table: 'people', targetColumns: ['id'] }],
  rows: [],
};
/** Its key has two columns. */
const pairs: MemoryTable = {
  name: 'pairs',
  columns: [
    { name: 'one', type: 'Number' },
    { name: 'other', type: 'Number' },
  ],
  primaryKey: ['one', 'other'],
  rows: [],
};

// biome-ignore lint/suspicious/noExplicitAny: calls that TypeScript would refuse.
type Each = any;
type Call = (each: Each, given: unknown) => unknown;
type Case = readonly [row: string, given: unknown, call: Call, problem: string, of?: string];

const made = { columnType: 'String', dependencies: ['name'], getValues: () => [] };
const run = { scope: 'Global', execute: () => undefined };
const draw = () => ({});
const leaf = { field: 'name', operator: 'Equal', value: 'a' };
const key = { foreignKey: 'boss_id' };
const origin = { originKey: 'boss_id' };
const both = { originKey: 'one', foreignKey: 'other' };
const external = { schema: { n: 'Number' }, listRecords: () => [] };

// Operations on an existing field.
const onField: Readonly<Record<string, Call>> = {
  renameField: (each, name) => each.renameField(name, 'x'),
  removeField: (each, name) => each.removeField('age', name),
  addFieldValidation: (each, name) => each.addFieldValidation(name, 'Present'),
  setFieldNullable: (each, name) => each.setFieldNullable(name),
  replaceFieldWriting: (each, name) => each.replaceFieldWriting(name, null),
  replaceFieldBinaryMode: (each, name) => each.replaceFieldBinaryMode(name, 'hex'),
  emulateFieldSorting: (each, name) => each.emulateFieldSorting(name),
  replaceFieldSorting: (each, name) => each.replaceFieldSorting(name, [{ field: 'id' }]),
  disableFieldSorting: (each, name) => each.disableFieldSorting(name),
  emulateFieldFiltering: (each, name) => each.emulateFieldFiltering(name),
  emulateFieldOperator: (each, name) => each.emulateFieldOperator(name, 'Equal'),
  replaceFieldOperator: (each, name) => each.replaceFieldOperator(name, 'Equal', () => leaf),
};
const wrongFields = ['nam', 'NAME', '', ' name', 'name ', 'boss:name', 'constructor'];
const imported: Call = (each, name) => each.importField(name, { path: 'boss:name' });
const fieldCases = Object.entries(onField).flatMap(([row, call]): Case[] => [
  ...wrongFields.map((name): Case => [row, name, call, `The collection 'people' has no field '${name}'`]),
  [row, 'nam', call, 'Near: name'],
  ...(['renameField', 'removeField'].includes(row)
    ? []
    : [
        [row, 'boss', call, "The field 'boss' of 'people' is a relation"] as const,
        [row, 'copy', (each: Each, name: unknown) => call(imported(each, name), name), 'is imported: customize its source field'] as const,
      ]),
]); // biome-ignore format: a table

// Operations that add a name.
const naming: Readonly<Record<string, Call>> = {
  addField: (each, name) => each.addField(name, made),
  importField: imported,
  renameField: (each, name) => each.renameField('age', name),
  addManyToOneRelation: (each, name) => each.addManyToOneRelation(name, 'people', key),
  addOneToManyRelation: (each, name) => each.addOneToManyRelation(name, 'people', origin),
  addOneToOneRelation: (each, name) => each.addOneToOneRelation(name, 'people', origin),
  addManyToManyRelation: (each, name) => each.addManyToManyRelation(name, 'people', 'pairs', both),
  addExternalRelation: (each, name) => each.addExternalRelation(name, external),
};
const wrongNames = ['', ' ', ' x', 'x ', 'x\t', '\nx', 'a:b', ':', 'a@@@b', 'a\0b', 'a\u0085b', 5, null, undefined];
const nameCases = Object.entries(naming).flatMap(([row, call]): Case[] => [
  ...wrongNames.map((name): Case => [row, name, call, `'${name}' cannot be a name`]),
  [row, 'name', call, row === 'renameField' ? "would have the name 'name'" : "already has a field 'name'"],
  [row, 'boss', call, row === 'renameField' ? "would have the name 'boss'" : "already has a field 'boss'"],
  ...(row === 'renameField'
    ? []
    : [[row, 'twice', (each: Each, name: unknown) => call(call(each, name), name), "'twice' of 'people' is already defined, at"] as const]),
]); // biome-ignore format: a table
const plainNames: Case[] = [
  ...['', ' ', ' x', 'x ', '\tx', 'x\n', 5, null].flatMap((name): Case[] => [
    ['addAction', name, (each, name) => each.addAction(name, run), 'an action needs a name without spaces at its ends'],
    ['addChart', name, (each, name) => each.addChart(name, draw), 'A chart needs a name without spaces at its ends'],
  ]),
  ...['', ' ', '\t', 5, null].map((name): Case => ['addSegment', name, (each, name) => each.addSegment(name, leaf), 'A segment needs a name']),
]; // biome-ignore format: a table

// The collections of relations, and their keys.
const toCollection: Readonly<Record<string, Call>> = {
  addManyToOneRelation: (each, name) => each.addManyToOneRelation('x', name, key),
  addOneToManyRelation: (each, name) => each.addOneToManyRelation('x', name, origin),
  addOneToOneRelation: (each, name) => each.addOneToOneRelation('x', name, origin),
  addManyToManyRelation: (each, name) => each.addManyToManyRelation('x', 'people', name, both),
};
const relations: Readonly<Record<string, readonly [right: object, required: readonly string[], call: Call]>> = {
  addManyToOneRelation: [{ ...key, foreignKeyTarget: 'id' }, ['foreignKey'], (each, options) => each.addManyToOneRelation('x', 'people', options)],
  addOneToManyRelation: [{ ...origin, originKeyTarget: 'id' }, ['originKey'], (each, options) => each.addOneToManyRelation('x', 'people', options)],
  addOneToOneRelation: [{ ...origin, originKeyTarget: 'id' }, ['originKey'], (each, options) => each.addOneToOneRelation('x', 'people', options)],
  addManyToManyRelation: [{ ...both, originKeyTarget: 'id', foreignKeyTarget: 'id' }, ['originKey', 'foreignKey'], (each, options) => each.addManyToManyRelation('x', 'people', 'pairs', options)],
}; // biome-ignore format: a table
const relationCases = [
  ...Object.entries(toCollection).flatMap(([row, call]): Case[] =>
    ['peple', 'People', '', ' people', null, undefined].map((name): Case => [row, name, call, `There is no collection '${name}'`]),
  ),
  ...Object.entries(relations).flatMap(([row, [right, required, call]]): Case[] => [
    ...Object.keys(right).flatMap((name): Case[] => [
      ...[null, 5, '', '  ', [], ['id'], true].map((value): Case => [row, { ...right, [name]: value }, call, `${row}('x'): '${name}' must be the name of a field`]),
      [row, { ...right, [name]: 'idd' }, call, "has no field 'idd'"],
      [row, { ...right, [name]: 'ID' }, call, "has no field 'ID'"],
    ]),
    ...required.map((name): Case => [row, { ...right, [name]: undefined }, call, `${row}('x') needs '${name}': the name of a field`]),
    ...[null, undefined, 'boss_id', 5].map((value): Case => [row, value, call, `${row}('x') needs an object of options`]),
    [row, { ...right, foreignkey: 'boss_id' }, call, `${row}('x') has no option 'foreignkey'`],
    [row, { ...right, readonly: true }, call, `${row}('x') has no option 'readonly'`],
  ]),
  // A key of several columns needs the target column.
  ['addManyToOneRelation', key, (each, options) => each.addManyToOneRelation('x', 'pairs', options), "'pairs' has no key of one column: name the target column of the key"],
  ['addOneToManyRelation', { originKey: 'boss_id' }, (each, options) => each.addOneToManyRelation('x', 'people', options), "'pairs' has no key of one column: name the target column of the key", 'pairs'],
  ['addOneToOneRelation', { originKey: 'boss_id' }, (each, options) => each.addOneToOneRelation('x', 'people', options), "'pairs' has no key of one column: name the target column of the key", 'pairs'],
  ['addManyToManyRelation', { originKey: 'boss_id', foreignKey: 'id' }, (each, options) => each.addManyToManyRelation('x', 'people', 'people', options), "'pairs' has no key of one column: name the target column of the key", 'pairs'],
  ['addManyToManyRelation', both, (each, options) => each.addManyToManyRelation('x', 'pairs', 'pairs', options), "'pairs' has no key of one column: name the target column of the key"],
  ['addManyToManyRelation', { originKey: 'boss_id', foreignKey: 'boss_id' }, (each, options) => each.addManyToManyRelation('x', 'people', 'people', options), "both keys are 'boss_id' of 'people': use two different columns"],
  // A field of code is no key.
  ...(['addManyToOneRelation', 'addOneToManyRelation', 'addOneToOneRelation'] as const).map((row): Case => [
    row, 'boss', (each, name) => each[row]('x', 'people', row === 'addManyToOneRelation' ? { foreignKey: name } : { originKey: name }), "'boss' of 'people' is not a column of the database and cannot be a key",
  ]),
] satisfies Case[]; // biome-ignore format: a table

// Functions, words and other options.
const functions: Readonly<Record<string, readonly [call: Call, problem: string]>> = {
  'addField getValues': [(each, f) => each.addField('x', { ...made, getValues: f }), 'getValues must be a function.'],
  'addExternalRelation listRecords': [(each, f) => each.addExternalRelation('x', { ...external, listRecords: f }), 'listRecords must be a function.'],
  'addAction execute': [(each, f) => each.addAction('x', { ...run, execute: f }), 'execute must be a function'],
  'addChart': [(each, f) => each.addChart('x', f), "The chart 'x' must be a function."],
  'addHook': [(each, f) => each.addHook('Before', 'List', f), 'The hook must be a function.'],
  'replaceSearch': [(each, f) => each.replaceSearch(f), 'The replacement of the search must be a function.'],
  'replaceFieldOperator': [(each, f) => each.replaceFieldOperator('name', 'Equal', f), 'The replacement of the operator must be a function.'],
  'overrideCreate': [(each, f) => each.overrideCreate(f), 'The override of create must be a function.'],
  'overrideUpdate': [(each, f) => each.overrideUpdate(f), 'The override of update must be a function.'],
  'overrideDelete': [(each, f) => each.overrideDelete(f), 'The override of delete must be a function.'],
  'use': [(each, f) => each.use(f), 'The plugin must be a function.'],
}; // biome-ignore format: a table
const functionCases = [
  ...Object.entries(functions).flatMap(([row, [call, problem]]): Case[] =>
    [undefined, null, {}, 'f', []].map((given): Case => [row.split(' ')[0]!, given, call, problem]),
  ),
  ...[undefined, {}, 'f', false].map((given): Case => ['replaceFieldWriting', given, (each, f) => each.replaceFieldWriting('name', f), "The replacement for writing 'name' (or null) must be a function."]),
]; // biome-ignore format: a table

const wrongOperators = ['equal', 'EQUAL', '', ' Equal', 'Equals', 'Nothing', null, undefined, 5];
const wordCases: Case[] = [
  ...wrongOperators.flatMap((given): Case[] => [
    ['addFieldValidation', given, (each, word) => each.addFieldValidation('name', word, 'a'), `No operator '${given}'`],
    ['emulateFieldOperator', given, (each, word) => each.emulateFieldOperator('name', word), `No operator '${given}'`],
    ['replaceFieldOperator', given, (each, word) => each.replaceFieldOperator('name', word, () => leaf), `No operator '${given}'`],
  ]),
  ...['before', 'BEFORE', '', 'Between', null].map((given): Case => ['addHook', given, (each, word) => each.addHook(word, 'List', () => {}), `There is no hook position '${given}'. Use one of Before, After.`]),
  ...['list', 'Read', '', 'Count', null].map((given): Case => ['addHook', given, (each, word) => each.addHook('After', word, () => {}), `There is no hook type '${given}'. Use one of List, Create, Update, Delete, Aggregate.`]),
  ...['Hex', 'HEX', 'dataUri', 'base64', '', null, undefined].map((given): Case => ['replaceFieldBinaryMode', given, (each, mode) => each.replaceFieldBinaryMode('photo', mode), `There is no binary mode '${given}'. Use 'datauri' or 'hex'.`]),
  ['replaceFieldBinaryMode', 'age', (each, name) => each.replaceFieldBinaryMode(name, 'hex'), "'age' of 'people' is Number: only a Binary field has a mode"],
  ...['single', '', 'Many', null, undefined].map((scope): Case => ['addAction', scope, (each, scope) => each.addAction('x', { ...run, scope }), 'scope must be one of Single, Bulk, Global']),
  ...['string', 'Text', '', null, 5, [], {}, ['String', 'String'], 'Strng'].map((columnType): Case => ['addField', columnType, (each, columnType) => each.addField('x', { ...made, columnType }), 'column type']),
  ...[undefined, null, [], 'name', {}].map((dependencies): Case => ['addField', dependencies, (each, dependencies) => each.addField('x', { ...made, dependencies }), "The field 'x' needs 'dependencies': the names of at least one field."]),
  ...[undefined, []].map((enumValues): Case => ['addField', enumValues, (each, enumValues) => each.addField('x', { ...made, columnType: 'Enum', enumValues }), "is an Enum and needs 'enumValues'"]),
  ...[null, undefined, 'name', 5].map((given): Case => ['addField', given, (each, definition) => each.addField('x', definition), "addField('x') needs an object of options"]),
  ...[null, 5, '', ' ', undefined].map((path): Case => ['importField', path, (each, path) => each.importField('x', { path }), "'path'"]),
  ...[null, 0, 1, 'true', ''].map((readonly): Case => ['importField', readonly, (each, readonly) => each.importField('x', { path: 'boss:name', readonly }), "importField('x'): 'readonly' must be true or false"]),
  ...['age:name', 'boss', 'boss:', ':name', 'boss:boss'].map((path): Case => ['importField', path, (each, path) => each.importField('x', { path }), '']),
  ...[undefined, null, {}, [], 'n', 5].map((schema): Case => ['addExternalRelation', schema, (each, schema) => each.addExternalRelation('x', { ...external, schema }), '']),
  ['addExternalRelation', 'nam', (each, name) => each.addExternalRelation('x', { ...external, dependencies: [name] }), "no field 'nam'. Near: name"],
  ['addExternalRelation', 'Strng', (each, type) => each.addExternalRelation('x', { ...external, schema: { n: 'Number', s: type } }), "There is no column type 'Strng'. Near: String"],
  ...[undefined, null, [], {}, 'age'].map((given): Case => ['replaceFieldSorting', given, (each, clauses) => each.replaceFieldSorting('name', clauses), "The sorting of 'name' needs at least one clause {field, ascending}."]),
  ...[null, 0, 'true', ''].map((ascending): Case => ['replaceFieldSorting', ascending, (each, ascending) => each.replaceFieldSorting('name', [{ field: 'age' }, { field: 'id', ascending }]), "replaceFieldSorting('name'): 'ascending' must be true or false"]),
  ...[null, 5, '', undefined].map((field): Case => ['replaceFieldSorting', field, (each, field) => each.replaceFieldSorting('name', [{ field: 'age' }, { field }]), "'field'"]),
  ['replaceFieldSorting', 'boss', (each, field) => each.replaceFieldSorting('name', [{ field }]), "'boss' of 'people' is not one field"],
  ['replaceFieldSorting', 'boss:nam', (each, field) => each.replaceFieldSorting('name', [{ field }]), "no field 'nam'. Near: name"],
  ['replaceFieldSorting', 'age:x', (each, field) => each.replaceFieldSorting('name', [{ field }]), "'age:x' of 'people' is not one field"],
  ['replaceFieldSorting', 'name', (each, field) => each.replaceFieldSorting('name', [{ field: 'age' }, { field }]), "The sorting of 'name' of 'people' is circular"],
  ...[null, undefined].map((value): Case => ['addFieldValidation', value, (each, value) => each.addFieldValidation('name', 'Contains', value), 'it needs a value.']),
  ['addFieldValidation', 'x', (each, value) => each.addFieldValidation('age', 'GreaterThan', value), "The rule 'GreaterThan' of 'age': "],
]; // biome-ignore format: a table

// A filter of a segment, in every place.
const wrongLeaf = { ...leaf, valeu: 'a' };
const segments: readonly (readonly [given: unknown, problem: string])[] = [
  ...[null, undefined, 'name', 5, []].map((given) => [given, "addSegment('s') needs a filter"] as const),
  [wrongLeaf, "addSegment('s') has no option 'valeu'. Near: value"],
  [{ aggregator: 'And', conditions: [leaf, wrongLeaf] }, "addSegment('s') has no option 'valeu'"],
  [{ aggregator: 'Or', conditions: [leaf, { aggregator: 'And', conditions: [wrongLeaf] }] }, "addSegment('s') has no option 'valeu'"],
  [{ some: 'people', where: wrongLeaf }, "addSegment('s') has no option 'valeu'"],
  [{ none: 'people', where: { aggregator: 'And', conditions: [leaf, wrongLeaf] } }, "addSegment('s') has no option 'valeu'"],
  [{ some: 'people', were: leaf }, "addSegment('s') has no option 'were'. Near: where"],
  [{ aggregator: 'And', conditions: leaf }, "addSegment('s'): 'conditions' must be a list of filters"],
  [{ aggregator: 'And' }, "addSegment('s'): 'conditions' must be a list of filters"],
  [{ conditions: [leaf], agregator: 'And' }, "addSegment('s') has no option 'agregator'. Near: aggregator"],
  [{ aggregator: 'Xor', conditions: [leaf] }, "The segment 's' of 'people': "],
  [{ ...leaf, field: 'boss' }, "The segment 's' of 'people': "],
  [{ ...leaf, field: 'age', operator: 'GreaterThan', value: null }, "The segment 's' of 'people': "],
  [{ aggregator: 'And', conditions: [leaf, { ...leaf, field: 'nam' }] }, "The segment 's' of 'people': "],
]; // biome-ignore format: a table
const segmentCases = segments.map(
  ([given, problem]): Case => ['addSegment', given, (each, filter) => each.addSegment('s', filter), problem],
);

// What can be said only once.
const once: Readonly<Record<string, Call>> = {
  addAction: (each) => each.addAction('x', run),
  addSegment: (each) => each.addSegment('x', leaf),
  addChart: (each) => each.addChart('x', draw),
  replaceFieldWriting: (each) => each.replaceFieldWriting('name', () => ({})),
  replaceFieldBinaryMode: (each) => each.replaceFieldBinaryMode('photo', 'hex'),
  emulateFieldSorting: (each) => each.emulateFieldSorting('name'),
  replaceFieldSorting: (each) => each.replaceFieldSorting('name', [{ field: 'id' }]),
  disableFieldSorting: (each) => each.disableFieldSorting('name'),
  emulateFieldOperator: (each) => each.emulateFieldOperator('name', 'Like'),
  replaceFieldOperator: (each) => each.replaceFieldOperator('name', 'Equal', () => leaf),
  overrideCreate: (each) => each.overrideCreate(() => []),
  overrideUpdate: (each) => each.overrideUpdate(() => {}),
  overrideDelete: (each) => each.overrideDelete(() => {}),
};
const onceCases = Object.entries(once).map(([row, call]): Case => [row, 'twice', (each) => call(call(each, 0), 0), row === 'addAction' ? 'another action has this name, added at' : 'is already defined, at']); // biome-ignore format: a table

const cases = [...fieldCases, ...nameCases, ...plainNames, ...relationCases, ...functionCases, ...wordCases, ...segmentCases, ...onceCases]; // biome-ignore format: a table

async function start(of: string, say: (each: CollectionCustomizer) => unknown): Promise<string> {
  const { agent } = emptyAgent();
  agent.addDataSource(createMemoryDataSource('people', [people, pairs])).customizeCollection(of, (each) => void say(each));
  return messageOf(() => agent.start());
} // biome-ignore format: short

const rows = [...new Set(cases.map(([row]) => row))];
test.each(rows)('%s: each wrong argument ends the start, with the argument and the line', async (row) => {
  for (const [, given, call, problem, of = 'people'] of cases.filter(([other]) => other === row)) {
    const message = await start(of, (each) => call(each, given));
    const about = `${row} ${JSON.stringify(given)} of ${of}: ${message}`;
    expect(message.includes(problem) ? problem : message, about).toBe(problem);
    expect(message, about).toMatch(/4\.2-arguments-outside\.test\.ts:\d+/);
  }
});

// The same calls with right arguments, so that no refusal above is about something else.
const right = [
  ...Object.entries(onField).map(([row, call]) => [row, row === 'replaceFieldBinaryMode' ? 'photo' : 'name', call] as const),
  ...Object.entries(naming).map(([row, call]) => [row, 'x', call] as const),
  ...Object.entries(toCollection).map(([row, call]) => [row, row === 'addManyToManyRelation' ? 'pairs' : 'people', call] as const),
  ...Object.entries(once).map(([row, call]) => [row, 'x', call] as const),
  ['replaceFieldBinaryMode', 'prints', onField.replaceFieldBinaryMode!] as const,
]; // biome-ignore format: a table
test.each(right)('%s: right arguments start: %s', async (_, given, call) => {
  expect(await start('people', (each) => call(each, given))).toBe('it worked');
});
