import { describe, expect, test } from 'vitest';
import type { CodeRecord, ManyToManyOptions } from '../../src/agent/customize/definitions.ts';
import { createMemorySource, type MemoryTable } from '../../src/agent/sources/memory.ts';
import { accessOf } from '../agent/shop.ts';
import { openWith } from './opened.ts';

/** No foreign keys: what relates to what is for code to say. Every table has a second column that is unique. */
const tables = (): readonly MemoryTable[] => [
  {
    name: 'people',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'badge', type: 'String' },
      { name: 'name', type: 'String' },
    ],
    primaryKey: ['id'],
    uniqueKeys: [['badge']],
    rows: [
      [1, 'b1', 'Ada'],
      [2, 'b2', 'Bo'],
      [3, 'b3', 'Cy'],
    ],
  },
  {
    name: 'desks',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'person_id', type: 'Number', nullable: true },
      { name: 'person_badge', type: 'String', nullable: true },
    ],
    primaryKey: ['id'],
    uniqueKeys: [['person_id'], ['person_badge']],
    rows: [
      [10, 2, 'b1'],
      [11, 1, 'b2'],
      [12, null, null],
    ],
  },
  {
    name: 'uses',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'person_id', type: 'Number' },
      { name: 'desk_id', type: 'Number' },
      { name: 'badge', type: 'String' },
    ],
    primaryKey: ['id'],
    rows: [
      [1, 1, 10, 'b2'],
      [2, 1, 12, 'b3'],
      [3, 2, 12, 'b3'],
    ],
  },
];
const source = () => ({ sources: [createMemorySource('memory', tables())] });

describe('many-to-one', () => {
  test('many-to-one: foreignKey: with foreignCollection, leads to the key of the foreign collection', async () => {
    const shop = await openWith(
      'desks',
      (desks) => desks.addManyToOneRelation('owner', 'people', { foreignKey: 'person_id' }),
      source(),
    );
    expect([
      await shop.list({ collection: 'desks', fields: ['id', 'owner:name'] }),
      shop.engine.describe(accessOf(), 'desks').relations,
    ]).toEqual([
      [
        [10, 'Bo'],
        [11, 'Ada'],
        [12, null],
      ],
      [{ name: 'owner', kind: 'one', to: 'people', columns: ['person_id'] }],
    ]);
  });

  test('many-to-one: foreignKeyTarget: leads to another unique column', async () => {
    const options = { foreignKey: 'person_badge', foreignKeyTarget: 'badge' };
    const shop = await openWith('desks', (desks) => desks.addManyToOneRelation('owner', 'people', options), source());
    const filter = { field: 'owner:name', operator: 'Equal', value: 'Ada' } as const;
    expect(await shop.list({ collection: 'desks', fields: ['id', 'owner:name'], filter })).toEqual([[10, 'Ada']]);
  });
});

describe('one-to-many', () => {
  test('one-to-many: originKey: with foreignCollection, from the key of this collection', async () => {
    const shop = await openWith(
      'people',
      (people) => people.addOneToManyRelation('desks', 'desks', { originKey: 'person_id' }),
      source(),
    );
    const link = { collection: 'people', id: 3, relation: 'desks', ids: [12] };
    expect([
      shop.engine.describe(accessOf(), 'people').relations,
      (await shop.engine.associate(accessOf(), link)).records,
    ]).toEqual([
      [{ name: 'desks', kind: 'many', to: 'desks', columns: ['id'] }],
      [{ id: 12, person_id: 3, person_badge: null }],
    ]);
    await expect(shop.list({ collection: 'people', fields: ['desks:id'] })).rejects.toMatchObject({
      code: 'RELATION_TO_MANY',
    });
  });

  test('one-to-many: originKeyTarget: from another column', async () => {
    const options = { originKey: 'person_badge', originKeyTarget: 'badge' };
    const shop = await openWith('people', (people) => people.addOneToManyRelation('desks', 'desks', options), source());
    const link = { collection: 'people', id: 3, relation: 'desks', ids: [12] };
    expect((await shop.engine.associate(accessOf(), link)).records).toEqual([
      { id: 12, person_id: null, person_badge: 'b3' },
    ]);
  });
});

describe('one-to-one', () => {
  test('one-to-one: originKey: with foreignCollection, the one record that points to this one', async () => {
    const shop = await openWith(
      'people',
      (people) => people.addOneToOneRelation('desk', 'desks', { originKey: 'person_id' }),
      source(),
    );
    expect(await shop.list({ collection: 'people', fields: ['name', 'desk:id'] })).toEqual([
      ['Ada', 11],
      ['Bo', 10],
      ['Cy', null],
    ]);
  });

  test('one-to-one: originKeyTarget: by another column', async () => {
    const options = { originKey: 'person_badge', originKeyTarget: 'badge' };
    const shop = await openWith('people', (people) => people.addOneToOneRelation('desk', 'desks', options), source());
    expect(await shop.list({ collection: 'people', fields: ['name', 'desk:id'] })).toEqual([
      ['Ada', 10],
      ['Bo', 11],
      ['Cy', null],
    ]);
  });
});

describe('many-to-many', () => {
  const related = async (
    from: 'people' | 'desks',
    to: 'people' | 'desks',
    options: ManyToManyOptions,
    through = 'uses',
    id = 1,
  ) => {
    const shop = await openWith(from, (each) => each.addManyToManyRelation('others', to, through, options), source());
    const asked = { collection: from, relation: 'others', id, fields: ['id'], limit: 9 };
    return (await shop.engine.listRelated(accessOf(), asked)).rows.flat();
  };

  test('many-to-many: throughCollection: with foreignCollection, pairs the records of both', async () => {
    expect(await related('people', 'desks', { originKey: 'person_id', foreignKey: 'desk_id' })).toEqual([10, 12]);
    await expect(related('people', 'desks', { originKey: 'person_id', foreignKey: 'desk_id' }, 'use')).rejects.toThrow(
      "There is no collection 'use'. Near: uses.",
    );
  });

  test('many-to-many: originKey: what points from the pair to this collection', async () => {
    expect(await related('desks', 'people', { originKey: 'desk_id', foreignKey: 'person_id' }, 'uses', 12)).toEqual([
      1, 2,
    ]);
  });

  test('many-to-many: foreignKey: what points from the pair to the foreign collection', async () => {
    expect(await related('people', 'desks', { originKey: 'person_id', foreignKey: 'desk_id' }, 'uses', 2)).toEqual([
      12,
    ]);
  });

  test('many-to-many: originKeyTarget: from another column of this collection', async () => {
    const options = { originKey: 'badge', originKeyTarget: 'badge', foreignKey: 'desk_id' };
    expect(await related('people', 'desks', options, 'uses', 2)).toEqual([10]);
  });

  test('many-to-many: foreignKeyTarget: to another column of the foreign collection', async () => {
    const options = { originKey: 'person_id', foreignKey: 'badge', foreignKeyTarget: 'badge' };
    expect(await related('people', 'people', options)).toEqual([2, 3]);
  });
});

describe('external', () => {
  const definition = {
    schema: { day: 'Dateonly', hours: 'Number' },
    listRecords: ({ id }: CodeRecord) => [{ day: '2024-02-29', hours: Number(id) }],
  } as const;

  test('external: schema: the records have its fields, with their types', async () => {
    const shop = await openWith('people', (people) => people.addExternalRelation('shifts', definition), source());
    const asked = { collection: 'people', relation: 'shifts', id: 2, limit: 9 };
    const filter = { field: 'day', operator: 'Before', value: '2024-03-01' } as const;
    const { columns, rows } = await shop.engine.listRelated(accessOf(), { ...asked, filter });
    expect([columns, rows]).toEqual([['day', 'hours'], [['2024-02-29', 2]]]);
  });

  test('external: listRecords: is given the key of each record', async () => {
    const shop = await openWith('people', (people) => people.addExternalRelation('shifts', definition), source());
    expect(await shop.list({ collection: 'people', fields: ['shifts'] })).toEqual(
      [1, 2, 3].map((hours) => [[{ day: '2024-02-29', hours }]]),
    );
  });
});
