// In JavaScript, only the start can detect a misspelt option. Each option of each definition object of every customizer
// method is misspelt once, as untyped code could. The error names the closest option and the line.
import { describe, expect, test } from 'vitest';
import { createMemoryDataSource, createSqlDataSource } from '../../src/index.ts';
import { flattenColumn, flattenJsonColumn, flattenRelation } from '../../src/plugins/index.ts';
import { emptyAgent, messageOf, shopAgent } from '../app/agent.ts';

// biome-ignore lint/suspicious/noExplicitAny: as JavaScript has it
type Loose = any;

interface Row {
  readonly given: Readonly<Record<string, unknown>>;
  readonly call: (collection: Loose, given: Loose) => unknown;
}

const getValues = (records: readonly unknown[]) => records.map(() => null);
const toOne = { foreignKey: 'customer_id', foreignKeyTarget: 'id' };
const fromOther = { originKey: 'customer_id', originKeyTarget: 'id' };
const polymorphic = { foreignKey: 'customer_id', typeField: 'label', targets: { a: 'customers' } };

/** Rows are for `orders`. The options are complete. */
const rows: Readonly<Record<string, Row>> = {
  addField: {
    given: { columnType: 'Enum', dependencies: ['id'], getValues, defaultValue: 'a', enumValues: ['a'] },
    call: (orders, given) => orders.addField('more', given),
  },
  importField: {
    given: { path: 'customer:name', readonly: true },
    call: (orders, given) => orders.importField('more', given),
  },
  addManyToOneRelation: {
    given: toOne,
    call: (orders, given) => orders.addManyToOneRelation('more', 'customers', given),
  },
  addOneToManyRelation: {
    given: fromOther,
    call: (orders, given) => orders.addOneToManyRelation('more', 'orders', given),
  },
  addOneToOneRelation: {
    given: { ...fromOther, originKey: 'id' },
    call: (orders, given) => orders.addOneToOneRelation('more', 'orders', given),
  },
  addManyToManyRelation: {
    given: { originKey: 'id', foreignKey: 'customer_id', originKeyTarget: 'id', foreignKeyTarget: 'id' },
    call: (orders, given) => orders.addManyToManyRelation('more', 'customers', 'orders', given),
  },
  addPolymorphicManyToOneRelation: {
    given: polymorphic,
    call: (orders, given) => orders.addPolymorphicManyToOneRelation('more', given),
  },
  'a target of addPolymorphicManyToOneRelation': {
    given: { collection: 'customers', foreignKeyTarget: 'id', name: 'most' },
    call: (orders, given) => orders.addPolymorphicManyToOneRelation('more', { ...polymorphic, targets: { a: given } }),
  },
  addPolymorphicOneToManyRelation: {
    given: { ...fromOther, typeField: 'label', type: 'a' },
    call: (orders, given) => orders.addPolymorphicOneToManyRelation('more', 'orders', given),
  },
  addPolymorphicOneToOneRelation: {
    given: { ...fromOther, typeField: 'label', type: 'a' },
    call: (orders, given) => orders.addPolymorphicOneToOneRelation('more', 'orders', given),
  },
  addExternalRelation: {
    given: { schema: { who: 'String' }, listRecords: () => [], dependencies: ['id'] },
    call: (orders, given) => orders.addExternalRelation('more', given),
  },
  replaceFieldSorting: {
    given: { field: 'id', ascending: false },
    call: (orders, given) => orders.replaceFieldSorting('total', [given]),
  },
  addAction: {
    given: {
      ...{ scope: 'Single', execute: () => undefined, form: [], description: 'a', generateFile: false },
      submitButtonLabel: 'Go',
    },
    call: (orders, given) => orders.addAction('More', given),
  },
  'an element of a form': {
    given: { label: 'Why', type: 'String', isRequired: true, isReadOnly: false, description: 'a', defaultValue: 'b' },
    call: (orders, given) => orders.addAction('More', { scope: 'Single', execute: () => undefined, form: [given] }),
  },
  describe: {
    given: { description: 'a', synonyms: ['b'] },
    call: (orders, given) => orders.describe(given),
  },
  describeField: {
    given: {
      ...{ description: 'a', synonyms: ['b'], unit: 'EUR', examples: [1] },
      ...{ values: { 1: 'One' }, hiddenByDefault: true },
    },
    call: (orders, given) => orders.describeField('total', given),
  },
  addSegment: {
    given: { field: 'total', operator: 'GreaterThan', value: 3 },
    call: (orders, given) => orders.addSegment('More', given),
  },
  'a branch of addSegment': {
    given: { aggregator: 'And', conditions: [{ field: 'total', operator: 'Present' }] },
    call: (orders, given) => orders.addSegment('More', given),
  },
  'a condition in a branch of addSegment': {
    given: { field: 'total', operator: 'GreaterThan', value: 3 },
    call: (orders, given) => orders.addSegment('More', { aggregator: 'Or', conditions: [given] }),
  },
  flattenColumn: {
    given: { columnName: 'total', include: [], exclude: [], level: 1, readonly: true, columnType: {} },
    call: (orders, given) => orders.use(flattenColumn, given),
  },
  flattenJsonColumn: {
    given: { columnName: 'total', level: 1, readonly: true, columnType: {}, keepOriginalColumn: true },
    call: (orders, given) => orders.use(flattenJsonColumn, given),
  },
  flattenRelation: {
    given: { relationName: 'customer', include: ['name'], exclude: [], readonly: true },
    call: (orders, given) => orders.use(flattenRelation, given),
  },
};

/** Swaps the last two letters, a common typo. */
const misspell = (name: string) => `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`;

/** The error message when an agent starts with it. */
function startWith({ call }: Row, given: object): Promise<string> {
  const { agent } = shopAgent();
  agent.customizeCollection('orders', (orders) => void call(orders, given));
  return messageOf(() => agent.start());
}

const line = /misspelt-options\.test\.ts:\d+/;

describe.each(Object.entries(rows))('%s', (_method, row) => {
  test.each(Object.keys(row.given))('%s misspelled', async (option) => {
    const { [option]: value, ...rest } = row.given;
    const wrong = misspell(option);
    for (const given of [
      { ...rest, [wrong]: value },
      { ...row.given, [wrong]: value },
    ]) {
      const problem = await startWith(row, given);
      expect(problem).toContain(`'${wrong}'`);
      expect(problem).toMatch(new RegExp(`[Nn]ear: .*${option}`));
      expect(problem).toMatch(line);
    }
  });

  test.each(['a text', null, undefined, 5])('%s instead of an object', async (given) => {
    expect(await startWith(row, given as never)).toMatch(line);
  });
});

test.each([
  ['an unknown field', { field: 'totl', operator: 'Present' }, /'totl'.*[Nn]ear: total/],
  ['an unknown operator', { field: 'total', operator: 'GreatrThan', value: 1 }, /'GreatrThan'.*[Nn]ear: GreaterThan/],
  ['a wrong value', { field: 'total', operator: 'GreaterThan', value: 'much' }, /expected a number/],
  ['an unknown field in a branch', { aggregator: 'Or', conditions: [{ field: 'x', operator: 'Present' }] }, /'x'/],
  ['an operator that the field does not support', { field: 'total', operator: 'StartsWith', value: 'a' }, /StartsWith/],
])('a segment with %s ends the start', async (_what, definition, problem) => {
  const { agent } = shopAgent();
  agent.customizeCollection('orders', (orders) => void orders.addSegment('s', definition as never));
  const message = await messageOf(() => agent.start());
  expect(message).toMatch(problem);
  expect(message).toMatch(line);
});

test('a segment of relative dates, computed fields and relations still starts', async () => {
  const { agent } = shopAgent();
  agent.customizeCollection('orders', (orders) =>
    orders
      .addField('much', { columnType: 'Boolean', dependencies: ['total'], getValues: (all) => all.map(() => true) })
      .emulateFieldFiltering('much')
      .addSegment('much', { field: 'much', operator: 'Equal', value: true })
      .addSegment('of Ada', { field: 'customer:name', operator: 'Equal', value: 'Ada' }),
  );
  expect(await messageOf(() => agent.start())).toBe('it worked');
});

test.each([
  ['createSqlDataSource', () => createSqlDataSource('sqlite::memory:', { sqlit: 'wasm' } as never), 'sqlite'],
  ['a connection', () => createSqlDataSource({ dialect: 'sqlite', storag: 'a' } as never), 'storage'],
  ['its pool', () => createSqlDataSource({ dialect: 'mysql', host: 'a', pool: { mx: 1 } } as never), 'max'],
  ['its TLS files', () => createSqlDataSource({ dialect: 'mysql', host: 'a', ssl: { crt: '' } } as never), 'cert'],
  [
    'a table in memory',
    () => createMemoryDataSource('m', [{ name: 'a', columns: [], primarKey: [], rows: [] }] as never),
    'primaryKey',
  ],
])('%s', async (_what, create, near) => {
  const { agent } = emptyAgent();
  const problem = await messageOf(() => agent.addDataSource(create()).start());
  expect(problem).toMatch(new RegExp(`[Nn]ear: .*${near}`));
  expect(problem).toMatch(line);
});

test.each([
  ['a misspelled option of addWorkflow', { name: 'w', collection: 'orders', stpes: [] }, /stpes/],
  [
    'an unknown collection',
    { name: 'w', collection: 'order', steps: [{ id: 'look', type: 'read-record', fields: ['total'] }] },
    /'order'.*orders/s,
  ],
])('%s ends the start, even if nothing is mounted', async (_what, definition, problem) => {
  const { agent } = shopAgent();
  agent.addWorkflow(definition as never);
  const message = await messageOf(() => agent.start());
  expect(message).toMatch(problem);
  expect(message).toMatch(line);
});

test('a misspelled option in the options of addWorkflow, and of an AI provider', async () => {
  const { agent } = shopAgent();
  const steps = [{ id: 'look', type: 'read-record', fields: ['total'] }];
  const add = () => agent.addWorkflow({ name: 'w', collection: 'orders', steps }, { tems: ['a'] } as never);
  expect(await messageOf(add)).toMatch(/'tems'. Near: teams/);
});
