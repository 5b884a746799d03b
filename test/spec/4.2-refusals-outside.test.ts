// Invalid customizer operations (behaviour 4.2) fail at start with an error that names the problem and the line.
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
    { name: 'boss_id', type: 'Number', nullable: true },
  ],
  primaryKey: ['id'],
  foreignKeys: [{ columns: ['boss_id'], table: 'people', targetColumns: ['id'] }],
  rows: [],
};
const keyless: MemoryTable = { name: 'keyless', columns: [{ name: 'n', type: 'Number' }], primaryKey: [], rows: [] };

type Each = CollectionCustomizer;
const made = { columnType: 'String', dependencies: ['name'], getValues: () => [] } as const;
const run = { scope: 'Global', execute: () => undefined } as const;
const draw = () => ({}) as never;
const leaf = { field: 'name', operator: 'Equal', value: 'a' } as const;
const never = (value: unknown) => value as never;
type Case = [row: string, say: (each: Each) => unknown, problem: string, of?: string];
const cases: Case[] = [
  ['addAction', (each) => each.addAction('A', never(null)), "The action 'A' needs a definition."],
  ['addAction', (each) => each.addAction('A', never('close')), "The action 'A' needs a definition."],
  ['addAction', (each) => each.addAction('', run), 'an action needs a name'],
  ['addAction', (each) => each.addAction('A', run).addAction('A', run), 'another action has this name, added at'],
  ['addAction', (each) => each.addAction('A', { ...run, scope: never('Some') }), 'scope must be one of Single, Bulk, Global'],
  ['addAction', (each) => each.addAction('A', { ...run, execute: never(1) }), 'execute must be a function'],
  ['addAction', (each) => each.addAction('A', { ...run, generateFiles: true } as never), 'near: generateFile'],
  ['addAction', (each) => each.addAction('A', { ...run, scope: 'Single' }), 'only a Global action is possible', 'keyless'],
  ['addField', (each) => each.addField('name', made), "The collection 'people' already has a field 'name'"],
  ['addField', (each) => each.addField('x', made).addField('x', made), "field 'x' of 'people' is already defined"],
  ['addField', (each) => each.addField('x', { ...made, dependencies: [] }), "needs 'dependencies'"],
  ['addField', (each) => each.addField('x', { ...made, dependencies: ['nam'] }), "no field 'nam'. Near: name."],
  ['addField', (each) => each.addField('x', { ...made, dependencies: ['boss'] }), 'is a relation: name one of its fields'],
  ['addField', (each) => each.addField('x', { ...made, dependencies: ['people:name'] }), 'does not lead to one record'],
  ['addField', (each) => each.addField('x', { ...made, dependencies: ['y'] }).addField('y', { ...made, dependencies: ['x'] }), 'Circular fields'],
  ['addField', (each) => each.addField('x', { ...made, columnType: never('Strng') }), "There is no column type 'Strng'. Near: String."],
  ['addField', (each) => each.addField('x', { ...made, columnType: 'Enum' }), "is an Enum and needs 'enumValues'"],
  ['addField', (each) => each.addField('x', { ...made, getValues: never(1) }), 'getValues must be a function.'],
  ['addField', (each) => each.addField('x', { ...made, getValue: 1 } as never), 'getValue'],
  ['addField', (each) => each.addField('a:b', made), "'a:b' cannot be a name"],
  ['importField', (each) => each.importField('x', { path: 'boss:nam' }), "no field 'nam'. Near: name."],
  ['importField', (each) => each.importField('x', { path: 'bos:name' }), "no relation 'bos'. Near: boss"],
  ['importField', (each) => each.importField('x', { path: 'boss:id', readonly: false }), 'cannot be written'],
  ['importField', (each) => each.importField('name', { path: 'boss:name' }), "already has a field 'name'"],
  ['importField', (each) => each.importField('x', { path: 'boss:name', readOnly: true } as never), 'Near: readonly'],
  ['renameField', (each) => each.renameField('nam', 'x'), "no field 'nam'. Near: name."],
  ['renameField', (each) => each.renameField('name', 'age'), "would have the name 'age'"],
  ['renameField', (each) => each.renameField('name', ' x'), "' x' cannot be a name"],
  ['removeField', (each) => each.removeField('name', 'ag'), "no field 'ag'. Near: age"],
  ['removeField', (each) => each.removeField('id'), "is part of the key of 'people' and cannot be removed"],
  ['addFieldValidation', (each) => each.addFieldValidation('nam', 'Present'), "no field 'nam'. Near: name."],
  ['addFieldValidation', (each) => each.addFieldValidation('name', never('LongThan'), 1), 'Near: LongerThan'],
  ['addFieldValidation', (each) => each.addFieldValidation('age', 'LongerThan', 1), "cannot check 'age', which is Number"],
  ['addFieldValidation', (each) => each.addFieldValidation('name', 'LongerThan'), 'it needs a value.'],
  ['addFieldValidation', (each) => each.addFieldValidation('name', 'LongerThan', 'x'), 'a whole number of characters'],
  ['addFieldValidation', (each) => each.addField('x', made).addFieldValidation('x', 'Present'), 'is read-only and cannot have a validation'],
  ['setFieldNullable', (each) => each.setFieldNullable('nam'), "no field 'nam'. Near: name."],
  ['setFieldNullable', (each) => each.setFieldNullable('boss'), 'is a relation, not a field'],
  ['replaceFieldWriting', (each) => each.replaceFieldWriting('nam', null), "no field 'nam'. Near: name."],
  ['replaceFieldWriting', (each) => each.replaceFieldWriting('name', never({})), 'must be a function.'],
  ['replaceFieldWriting', (each) => each.replaceFieldWriting('name', null).replaceFieldWriting('name', null), 'is already defined'],
  ['replaceFieldBinaryMode', (each) => each.replaceFieldBinaryMode('photo', never('base64')), "Use 'datauri' or 'hex'."],
  ['replaceFieldBinaryMode', (each) => each.replaceFieldBinaryMode('name', 'hex'), 'only a Binary field has a mode'],
  ['replaceFieldBinaryMode', (each) => each.replaceFieldBinaryMode('photo', 'hex').replaceFieldBinaryMode('photo', 'datauri'), 'is already defined'],
  ['addManyToOneRelation', (each) => each.addManyToOneRelation('x', 'people', { foreignKey: 'name' }), 'the two keys must have the same type'],
  ['addManyToOneRelation', (each) => each.addField('n', { ...made, columnType: 'Number' }).addManyToOneRelation('x', 'people', { foreignKey: 'n' }), "no field 'n'"],
  ['addManyToOneRelation', (each) => each.addManyToOneRelation('name', 'people', { foreignKey: 'boss_id' }), "already has a field 'name'"],
  ['addManyToOneRelation', (each) => each.addManyToOneRelation('x', 'peple', { foreignKey: 'boss_id' }), "There is no collection 'peple'. Near: people."],
  ['addManyToOneRelation', (each) => each.addManyToOneRelation('x', 'keyless', { foreignKey: 'boss_id' }), 'has no key of one column'],
  ['addOneToManyRelation', (each) => each.addOneToManyRelation('x', 'people', { originKey: 'name' }), 'the two keys must have the same type'],
  ['addOneToManyRelation', (each) => each.addOneToManyRelation('x', 'peple', { originKey: 'boss_id' }), "There is no collection 'peple'. Near: people."],
  ['addOneToManyRelation', (each) => each.addOneToManyRelation('boss', 'people', { originKey: 'boss_id' }), "already has a field 'boss'"],
  ['addOneToOneRelation', (each) => each.addOneToOneRelation('x', 'people', { originKey: 'name' }), 'the two keys must have the same type'],
  ['addOneToOneRelation', (each) => each.addOneToOneRelation('x', 'people', { originkey: 'boss_id' } as never), 'Near: originKey'],
  ['addManyToManyRelation', (each) => each.addManyToManyRelation('x', 'people', 'people', { originKey: 'boss_id', foreignKey: 'boss_id' }), "both keys are 'boss_id'"],
  ['addManyToManyRelation', (each) => each.addManyToManyRelation('x', 'people', 'people', { originKey: 'boss_id', foreignKey: 'name' }), 'the two keys must have the same type'],
  ['addManyToManyRelation', (each) => each.addManyToManyRelation('x', 'people', 'peple', { originKey: 'boss_id', foreignKey: 'id' }), "There is no collection 'peple'. Near: people."],
  ['addExternalRelation', (each) => each.addExternalRelation('x', { schema: {}, listRecords: () => [] }), "needs a 'schema'"],
  ['addExternalRelation', (each) => each.addExternalRelation('x', { schema: { n: 'Number' }, listRecords: () => [] }), "list the fields that 'x' needs", 'keyless'],
  ['addSegment', (each) => each.addSegment('s', { field: 'nam', operator: 'Present' }), "The segment 's' of 'people': "],
  ['addSegment', (each) => each.addSegment('s', { field: 'age', operator: 'Equal', value: 'old' }), 'a number'],
  ['addSegment', (each) => each.addSegment('s', { field: 'age', operator: 'Contains', value: '1' }), "The segment 's' of 'people': "],
  ['addSegment', (each) => each.addSegment('s', { aggregator: 'And', conditions: [leaf, { field: 'x', operator: 'Present' }] }), "The segment 's' of 'people': "],
  ['addSegment', (each) => each.addSegment('s', leaf).addSegment('s', leaf), "segment 's' of 'people' is already defined"],
  ['addSegment', (each) => each.addSegment('s', never('name')), 'needs a filter'],
  ['addHook', (each) => each.addHook(never('Within'), 'List', () => {}), 'Use one of Before, After.'],
  ['addHook', (each) => each.addHook('Before', never('Read'), () => {}), 'Use one of List, Create, Update, Delete, Aggregate.'],
  ['addHook', (each) => each.addHook('Before', 'List', never(null)), 'The hook must be a function.'],
  ['replaceSearch', (each) => each.replaceSearch(never('name')), 'The replacement of the search must be a function.'],
  ['emulateFieldSorting', (each) => each.emulateFieldSorting('nam'), "no field 'nam'. Near: name."],
  ['emulateFieldSorting', (each) => each.emulateFieldSorting('boss'), 'is a relation, not a field'],
  ['emulateFieldSorting', (each) => each.emulateFieldSorting('name').disableFieldSorting('name'), 'is already defined'],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', []), 'needs at least one clause'],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', [{ field: 'ag' }]), "no field 'ag'. Near: age"],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', [{ field: 'age' }, { field: 'name' }]), 'is circular'],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', never({ field: 'age' })), 'needs at least one clause'],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', [{ field: 'age', asc: true } as never]), 'asc'],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', [{ field: 'name' }]), 'is circular'],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', [{ field: 'age' }]).replaceFieldSorting('age', [{ field: 'name' }]), 'Circular sortings'],
  ['replaceFieldSorting', (each) => each.addField('x', made).replaceFieldSorting('name', [{ field: 'x' }]), 'cannot be sorted by'],
  ['replaceFieldSorting', (each) => each.replaceFieldSorting('name', [{ field: 'age', ascending: 'no' } as never]), 'true or false'],
  ['disableFieldSorting', (each) => each.disableFieldSorting('nam'), "no field 'nam'. Near: name."],
  ['emulateFieldFiltering', (each) => each.emulateFieldFiltering('nam'), "no field 'nam'. Near: name."],
  ['emulateFieldFiltering', (each) => each.emulateFieldFiltering('boss'), 'is a relation, not a field'],
  ['emulateFieldOperator', (each) => each.emulateFieldOperator('name', never('Equals')), 'Near: Equal'],
  ['emulateFieldOperator', (each) => each.emulateFieldOperator('age', 'Contains'), "'Contains' cannot be used on 'age', which is Number"],
  ['emulateFieldOperator', (each) => each.emulateFieldOperator('name', 'In').emulateFieldOperator('name', 'In'), 'is already defined'],
  ['replaceFieldOperator', (each) => each.replaceFieldOperator('age', 'Contains', () => leaf), "'Contains' cannot be used on 'age', which is Number"],
  ['replaceFieldOperator', (each) => each.replaceFieldOperator('name', 'Equal', never(leaf)), 'must be a function.'],
  ['replaceFieldOperator', (each) => each.replaceFieldOperator('nam', 'Equal', () => leaf), "no field 'nam'. Near: name."],
  ['addChart', (each) => each.addChart('c', draw).addChart('c', draw), "The chart 'c' is already defined, at"],
  ['addChart', (each) => each.addChart(' ', draw), 'A chart needs a name'],
  ['addChart', (each) => each.addChart('c', never(1)), "The chart 'c' must be a function."],
  ['addChart', (each) => each.addChart('c', draw), 'has no key to identify it', 'keyless'],
  ['overrideCreate', (each) => each.overrideCreate(never(1)), 'The override of create must be a function.'],
  ['overrideCreate', (each) => each.overrideCreate(() => []).overrideCreate(() => []), "override of create of 'people' is already defined"],
  ['overrideUpdate', (each) => each.overrideUpdate(never(1)), 'The override of update must be a function.'],
  ['overrideUpdate', (each) => each.overrideUpdate(() => {}).overrideUpdate(() => {}), "override of update of 'people' is already defined"],
  ['overrideDelete', (each) => each.overrideDelete(never(1)), 'The override of delete must be a function.'],
  ['overrideDelete', (each) => each.overrideDelete(() => {}).overrideDelete(() => {}), "override of delete of 'people' is already defined"],
  ['use', (each) => each.use(never({})), 'The plugin must be a function.'],
  ['use', (each) => each.use((inner) => void inner.removeField('ag')), "no field 'ag'. Near: age"],
]; // biome-ignore format: a table

test.each<Case>(cases)('%s: an invalid call ends the start, with the error and the line', async (_, say, problem, of = 'people') => {
  const { agent } = emptyAgent();
  agent
    .addDataSource(createMemoryDataSource('people', [people, keyless]))
    .customizeCollection(of, (each) => void say(each));
  const message = await messageOf(() => agent.start());
  expect([message.includes(problem) ? problem : message, message]).toEqual([
    problem,
    expect.stringMatching(/4\.2-refusals-outside\.test\.ts:\d+/),
  ]);
}); // biome-ignore format: short
