import { describe, expect, test } from 'vitest';
import type { ComputedDefinition, ComputedType } from '../../src/agent/customize/definitions.ts';
import { accessOf } from '../agent/shop.ts';
import { openWith } from './opened.ts';

const field = (definition: Partial<ComputedDefinition>) =>
  openWith('orders', (orders) =>
    orders.addField('added', {
      columnType: 'String',
      dependencies: ['id'],
      getValues: (records) => records.map(() => 'a'),
      ...definition,
    }),
  );

/** The values of the added field in the first three orders, or the message of the error. */
async function values(definition: Partial<ComputedDefinition>): Promise<unknown> {
  try {
    const shop = await field(definition);
    const rows = await shop.list({ collection: 'orders', fields: ['added'], limit: 3 });
    return rows.flat();
  } catch (error) {
    return (error as Error).message.replace(/ \(.*/s, '');
  }
}

const failed = "Code of the operator failed: the field 'added'";
const told = (given: unknown) => (typeof given === 'string' && given.startsWith(failed) ? failed : given);

test('dependencies: what getValues is given, through to-one relations too; at least one, and each must exist', async () => {
  const given: unknown[] = [];
  const getValues: ComputedDefinition['getValues'] = (records) => records.map((record) => given.push({ ...record }));
  await values({ columnType: 'Number', dependencies: ['total', 'customer:city'], getValues });
  expect(given).toEqual([
    { total: 10.5, customer: { city: 'Paris' } },
    { total: 20, customer: { city: 'Rome' } },
  ]);
  expect([
    await values({ dependencies: [] }),
    await values({ dependencies: ['totl'] }),
    await values({ dependencies: ['customer'] }),
  ]).toEqual([
    "The field 'added' needs 'dependencies': the names of at least one field.",
    "The collection 'orders' has no field 'totl'. Near: total.",
    "'customer' is a relation: name one of its fields, such as 'customer:id'.",
  ]);
});

test('getValues: one value for each record in their order, at once or later', async () => {
  const totals: ComputedDefinition['getValues'] = (records) => records.map(({ id }) => `nr ${id}`);
  expect([
    await values({ getValues: totals }),
    await values({ getValues: async (records, context) => totals(records, context) }),
    told(await values({ getValues: () => ['one'] })),
    told(await values({ getValues: () => 'abc' as never })),
    await values({ getValues: undefined as never }),
  ]).toEqual([['nr 1', 'nr 2', 'nr 3'], ['nr 1', 'nr 2', 'nr 3'], failed, failed, 'getValues must be a function.']);
});

test('defaultValue: in place of null and undefined', async () => {
  const getValues: ComputedDefinition['getValues'] = (records) => records.map((_, at) => [null, undefined, 'x'][at]);
  expect([await values({ getValues, defaultValue: 'none' }), await values({ getValues })]).toEqual([
    ['none', 'none', 'x'],
    [null, null, 'x'],
  ]);
});

test('enumValues: the values that an Enum may have; needed there', async () => {
  const getValues: ComputedDefinition['getValues'] = (records) => records.map((_, at) => ['low', 'high', null][at]);
  const shop = await field({ columnType: 'Enum', enumValues: ['low', 'high'], getValues });
  const added = shop.engine.describe(accessOf(), 'orders').fields.find(({ name }) => name === 'added');
  expect([
    added?.enumValues,
    await values({ columnType: 'Enum', enumValues: ['low', 'high'], getValues }),
    told(await values({ columnType: 'Enum', enumValues: ['low'], getValues })),
    await values({ columnType: 'Enum', getValues }),
  ]).toEqual([['low', 'high'], ['low', 'high', null], failed, "The field 'added' is an Enum and needs 'enumValues'."]);
});

describe('columnType', () => {
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  test.each<[type: ComputedType, shown: string, given: unknown[], read: unknown[], wrong: unknown]>([
    ['String', 'String', ['a', 12], ['a', '12'], {}],
    ['Number', 'Number', [1.5, 9007199254740993n], [1.5, '9007199254740993'], 'x'],
    ['Boolean', 'Boolean', [true, false], [true, false], 'true'],
    [
      'Date',
      'Date',
      [new Date('2024-03-31T10:00:00Z'), '2024-03-31T12:00:00+02:00'],
      ['2024-03-31T10:00:00.000Z', '2024-03-31T10:00:00.000Z'],
      'soon',
    ],
    ['Dateonly', 'Dateonly', ['2024-03-31', new Date('2024-03-31T10:00:00Z')], ['2024-03-31', '2024-03-31'], '31/3'],
    ['Time', 'Time', ['08:30:00', '08:30:00.5'], ['08:30:00', '08:30:00.5'], '8 o’clock'],
    ['Json', 'Json', [{ b: 1, a: [null] }, 'x'], [{ b: 1, a: [null] }, 'x'], undefined],
    [
      'Uuid',
      'Uuid',
      ['9E7B1D2A-90C4-4F1E-8A3B-000000000003', null],
      ['9e7b1d2a-90c4-4f1e-8a3b-000000000003', null],
      12,
    ],
    ['Point', 'Point', [[2.35, 48.85], null], [[2.35, 48.85], null], [1]],
    ['File', 'Binary', [png, Buffer.alloc(40)], [png.toString('hex'), expect.stringMatching(/^data:/)], 'x'],
  ])('columnType | %s', async (columnType, shown, given, read, wrong) => {
    const shop = await field({ columnType, getValues: (records) => records.map((_, at) => given[at]) });
    const added = shop.engine.describe(accessOf(), 'orders').fields.find(({ name }) => name === 'added');
    expect([added?.type, added?.readOnly, added?.sortable]).toEqual([shown, true, false]);
    expect(await values({ columnType, getValues: (records) => records.map((_, at) => given[at]) })).toEqual([
      ...read,
      null,
    ]);
    if (wrong !== undefined)
      expect(told(await values({ columnType, getValues: (records) => records.map(() => wrong) }))).toBe(failed);
  });

  test('columnType | Enum', async () => {
    const getValues: ComputedDefinition['getValues'] = (records) => records.map(() => 'low');
    expect(await values({ columnType: 'Enum', enumValues: ['low'], getValues })).toEqual(['low', 'low', 'low']);
  });

  test('columnType: a list of one type, and an object of types by key, which leaves other keys out', async () => {
    const shape = { street: 'String', geo: { at: 'Point', tags: ['String'] } } as const;
    const getValues: ComputedDefinition['getValues'] = (records) =>
      records.map(({ id }) => ({ street: `nr ${id}`, secret: 1, geo: { at: [1, 2], tags: ['a', null] } }));
    const shop = await field({ columnType: shape, getValues });
    const added = shop.engine.describe(accessOf(), 'orders').fields.find(({ name }) => name === 'added');
    const list: ComputedDefinition['getValues'] = (records) => records.map(() => [1, '2.5', null]);
    expect([
      added?.type,
      (await shop.list({ collection: 'orders', fields: ['added'], limit: 1 }))[0]?.[0],
      await values({ columnType: ['Number'], getValues: list }),
      told(await values({ columnType: [{ a: 'Number' }], getValues: (all) => all.map(() => [{ a: 'x' }]) })),
    ]).toEqual([
      '{ street: String, geo: { at: Point, tags: [String] } }',
      { street: 'nr 1', geo: { at: [1, 2], tags: ['a', null] } },
      [
        [1, '2.5', null],
        [1, '2.5', null],
        [1, '2.5', null],
      ],
      failed,
    ]);
  });

  test('columnType: what is no type ends the start, with near names', async () => {
    expect([
      await values({ columnType: 'Strng' as 'String' }),
      await values({ columnType: { a: 'Nmber' } as never }),
      await values({ columnType: {} as never }),
      await values({ columnType: { a: 'Binary' } }),
    ]).toEqual([
      "There is no column type 'Strng'. Near: String.",
      "There is no column type 'Nmber'. Near: Number.",
      'A column type is the name of one, a list of one, or an object of types by key.',
      "'Binary' cannot be within a Json: it is a String there.",
    ]);
  });
});
