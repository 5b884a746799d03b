import { describe, expect, test } from 'vitest';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import { createMemorySource } from '../../src/agent/sources/memory.ts';
import {
  type FlattenColumnOptions,
  type FlattenJsonColumnOptions,
  type FlattenRelationOptions,
  flattenColumn,
  flattenJsonColumn,
  flattenRelation,
} from '../../src/plugins/index.ts';
import { accessOf } from '../agent/shop.ts';
import { openShop } from './opened.ts';

const address = { street: 'String', geo: { lat: 'Number', lng: 'Number' }, tags: ['String'] } as const;
const people = () =>
  createMemorySource('people', [
    {
      name: 'people',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'name', type: 'String' },
        { name: 'address', type: 'Json', nullable: true, shape: address },
        { name: 'extra', type: 'Json', nullable: true },
        { name: 'boss_id', type: 'Number', nullable: true },
      ],
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['boss_id'], table: 'people', targetColumns: ['id'] }],
      rows: [
        [1, 'Ada', { street: 'Rue 1', geo: { lat: 48.8, lng: 2.3 }, tags: ['a'], old: true }, { likes: 3 }, null],
        [2, 'Bo', { street: 'Via 2', tags: [] }, { likes: 'x' }, 1],
        [3, 'Cy', null, null, 1],
      ],
    },
  ]);

const open = (say: (collection: CollectionCustomizer) => unknown) =>
  openShop((agent) => agent.customizeCollection('people', (each) => void say(each)), { sources: [people()] });
const column = (options: Omit<FlattenColumnOptions, 'columnName'> = {}) =>
  open((each) => each.use(flattenColumn, { columnName: 'address', ...options }));
const json = (options: Partial<FlattenJsonColumnOptions> = {}) =>
  open((each) => each.use(flattenJsonColumn, { columnName: 'address', columnType: { street: 'String' }, ...options }));
const relation = (options: Partial<FlattenRelationOptions> = {}) =>
  open((each) => each.use(flattenRelation, { relationName: 'boss', ...options }));

type Opened = Awaited<ReturnType<typeof open>>;
const stored = ['id', 'name', 'address', 'extra', 'boss_id'];
const added = (shop: Opened) =>
  shop.engine
    .describe(accessOf(), 'people')
    .fields.map(({ name }) => name)
    .filter((name) => !stored.includes(name));
const shows = (shop: Opened, name: string) =>
  shop.engine.describe(accessOf(), 'people').fields.some((field) => field.name === name);
const values = async (shop: Opened, ...fields: string[]) => await shop.list({ collection: 'people', fields });
const isReadOnly = (shop: Opened, name: string) =>
  shop.engine.describe(accessOf(), 'people').fields.find((field) => field.name === name)?.readOnly;
const failure = (opening: Promise<unknown>) =>
  opening.then(
    () => 'it started',
    (error: Error) => error.message.replace(/ \((used at )?\S*2\.8-plugins.test.ts:\d+.*\)$/, ' HERE'),
  );
/** What is stored of the people after an update. */
const update = async (shop: Opened, ids: number[], patch: Record<string, unknown>) => {
  await shop.engine.update(accessOf(), { collection: 'people', ids, values: patch });
};
const keep = (each: CollectionCustomizer) =>
  each.addField('whole', {
    columnType: 'Json',
    dependencies: ['address'],
    getValues: (all) => all.map((one) => one.address),
  });
const whole = async (shop: Opened) => (await values(shop, 'whole')).flat();

describe('flattenColumn', () => {
  test('columnName: each part of the object is a field, in place of the column', async () => {
    const shop = await column();
    expect([added(shop), shows(shop, 'address'), await values(shop, 'address@@@street', 'address@@@geo')]).toEqual([
      ['address@@@street', 'address@@@geo', 'address@@@tags'],
      false,
      [
        ['Rue 1', { lat: 48.8, lng: 2.3 }],
        ['Via 2', null],
        [null, null],
      ],
    ]);
    const records = (
      await shop.engine.list(accessOf(), { collection: 'people', fields: ['address@@@tags'], limit: 1 })
    ).records();
    expect(records[0]).toEqual({ 'address@@@tags': ['a'] });
    expect([
      await failure(open((each) => each.use(flattenColumn, { columnName: 'adress' }))),
      await failure(open((each) => each.use(flattenColumn, { columnName: 'name' }))),
      await failure(open((each) => each.use(flattenColumn, { columnName: 'boss' }))),
      await failure(open((each) => each.use(flattenColumn, {} as never))),
      await failure(open((each) => each.use(flattenColumn, { columnName: 'address', levels: 2 } as never))),
    ]).toEqual([
      "The collection 'people' has no field 'adress'. Near: address. HERE",
      "'name' of 'people' holds no objects: it is String. HERE",
      "'boss' of 'people' is a relation: use flattenRelation. HERE",
      "flattenColumn: 'columnName' must be a name. HERE",
      "flattenColumn: there is no option 'levels'. Near: level. HERE",
    ]);
  });

  test('include: these parts alone', async () => {
    expect([
      added(await column({ include: ['street', 'address@@@tags'] })),
      await failure(column({ include: ['streat'] })),
      await failure(column({ include: [] })),
    ]).toEqual([
      ['address@@@street', 'address@@@tags'],
      "'address' of 'people' has no part 'streat'. Near: street. HERE",
      "Nothing of 'address' of 'people' is left to flatten. HERE",
    ]);
  });

  test('exclude: not these parts', async () => {
    expect([added(await column({ exclude: ['geo'] })), await failure(column({ exclude: ['gea'] }))]).toEqual([
      ['address@@@street', 'address@@@tags'],
      "'address' of 'people' has no part 'gea'. Near: geo. HERE",
    ]);
  });

  test('level: how many levels of objects become fields', async () => {
    const shop = await column({ level: 2, include: ['geo:lat', 'street'] });
    expect([added(shop), await values(shop, 'address@@@geo@@@lat'), await failure(column({ level: 0 }))]).toEqual([
      ['address@@@geo@@@lat', 'address@@@street'],
      [[48.8], [null], [null]],
      "flattenColumn: 'level' must be a whole number, 1 or more. HERE",
    ]);
  });

  test('readonly: else parts are written into the object, beside what it holds', async () => {
    const shop = await open((each) => keep(each).use(flattenColumn, { columnName: 'address', level: 2 }));
    await update(shop, [1], { 'address@@@street': 'Rue 9', 'address@@@geo@@@lat': 0 });
    await update(shop, [3], { 'address@@@geo@@@lng': 5 });
    await shop.engine.create(accessOf(), {
      collection: 'people',
      records: [{ id: 4, name: 'Di', 'address@@@street': 'Gata 4', 'address@@@tags': ['n'] }],
    });
    expect(await whole(shop)).toEqual([
      { street: 'Rue 9', geo: { lat: 0, lng: 2.3 }, tags: ['a'], old: true },
      { street: 'Via 2', tags: [] },
      { geo: { lng: 5 } },
      { street: 'Gata 4', tags: ['n'] },
    ]);
    await expect(update(shop, [1, 2], { 'address@@@street': 'Same' })).rejects.toMatchObject({
      code: 'CUSTOMIZATION_FAILED',
      cause: { cause: { message: "The records hold different 'address': update them one at a time" } },
    });
    const fixed = await column({ readonly: true });
    expect([isReadOnly(shop, 'address@@@street'), isReadOnly(fixed, 'address@@@street')]).toEqual([false, true]);
    await expect(update(fixed, [1], { 'address@@@street': 'x' })).rejects.toMatchObject({ code: 'INVALID_RECORD' });
  });

  test('columnType: what the column holds, where it does not say so itself', async () => {
    const extra = (columnType?: FlattenColumnOptions['columnType']) =>
      open((each) => each.use(flattenColumn, { columnName: 'extra', ...(columnType && { columnType }) }));
    const shop = await extra({ likes: 'String' });
    const computed = await open((each) =>
      each
        .addField('made', {
          columnType: { initial: 'String' },
          dependencies: ['name'],
          getValues: (all) => all.map(({ name }) => ({ initial: String(name)[0] })),
        })
        .use(flattenColumn, { columnName: 'made' }),
    );
    expect([
      await values(shop, 'extra@@@likes'),
      await values(computed, 'made@@@initial'),
      isReadOnly(computed, 'made@@@initial'),
      await failure(extra()),
      await failure(extra({ likes: 'Strng' as 'String' })),
      await failure(extra(['String'])),
    ]).toEqual([
      [['3'], ['x'], [null]],
      [['A'], ['B'], ['C']],
      true,
      "'extra' of 'people' does not say what it holds: give 'columnType', its types by key. HERE",
      "There is no column type 'Strng'. Near: String. HERE",
      "flattenColumn: 'columnType' must be an object of types by key. HERE",
    ]);
  });
});

describe('flattenRelation', () => {
  test('relationName: each field of the related record is a field, filtered and sorted by the database', async () => {
    const shop = await relation();
    expect([
      added(shop),
      await values(shop, 'boss@@@name'),
      await shop.list({
        collection: 'people',
        fields: ['name'],
        filter: { field: 'boss@@@name', operator: 'Equal', value: 'Ada' },
        sort: [{ field: 'boss@@@name' }, { field: 'name', ascending: false }],
      }),
      await failure(relation({ relationName: 'bos' })),
      await failure(relation({ relationName: 'people' })),
    ]).toEqual([
      ['boss@@@id', 'boss@@@name', 'boss@@@address', 'boss@@@extra', 'boss@@@boss_id'],
      [[null], ['Ada'], ['Ada']],
      [['Cy'], ['Bo']],
      "The collection 'people' has no relation 'bos'. Near: boss. HERE",
      "'people' of 'people' does not lead to one record, and cannot be flattened. HERE",
    ]);
  });

  test('include: these fields alone', async () => {
    expect([added(await relation({ include: ['name'] })), await failure(relation({ include: ['nam'] }))]).toEqual([
      ['boss@@@name'],
      "'people' has no field 'nam'. Near: name. HERE",
    ]);
  });

  test('exclude: not these fields', async () => {
    expect(added(await relation({ exclude: ['id', 'address', 'extra', 'boss_id'] }))).toEqual(['boss@@@name']);
  });

  test('readonly: else what can be written there can be written here', async () => {
    const shop = await relation({ include: ['name'] });
    await update(shop, [2], { 'boss@@@name': 'Ada L' });
    const fixed = await relation({ include: ['name'], readonly: true });
    expect([await values(shop, 'name'), isReadOnly(shop, 'boss@@@name'), isReadOnly(fixed, 'boss@@@name')]).toEqual([
      [['Ada L'], ['Bo'], ['Cy']],
      false,
      true,
    ]);
  });
});

describe('flattenJsonColumn', () => {
  test('columnName: each part of the object is a field, in place of the column', async () => {
    const shop = await json();
    expect([added(shop), shows(shop, 'address'), await values(shop, 'address@@@street')]).toEqual([
      ['address@@@street'],
      false,
      [['Rue 1'], ['Via 2'], [null]],
    ]);
  });

  test('columnType: which parts there are; needed', async () => {
    expect([
      added(await json({ columnType: { tags: ['String'], street: 'String' } })),
      await failure(json({ columnType: undefined as never })),
      await failure(json({ columnType: {} })),
    ]).toEqual([
      ['address@@@tags', 'address@@@street'],
      "flattenJsonColumn: 'columnType' must be an object of types by key. HERE",
      'A column type is the name of one, a list of one, or an object of types by key. HERE',
    ]);
  });

  test('level: how many levels of objects become fields', async () => {
    const columnType = { geo: { lat: 'Number' } } as const;
    expect([added(await json({ columnType })), added(await json({ columnType, level: 2 }))]).toEqual([
      ['address@@@geo'],
      ['address@@@geo@@@lat'],
    ]);
  });

  test('readonly: else parts are written into the object', async () => {
    const shop = await open((each) =>
      keep(each).use(flattenJsonColumn, { columnName: 'address', columnType: { street: 'String' } }),
    );
    await update(shop, [2], { 'address@@@street': null });
    expect([(await whole(shop))[1], isReadOnly(await json({ readonly: true }), 'address@@@street')]).toEqual([
      { street: null, tags: [] },
      true,
    ]);
  });

  test('keepOriginalColumn: callers see the column too', async () => {
    const shop = await json({ keepOriginalColumn: true });
    expect([shows(shop, 'address'), shows(await json({ keepOriginalColumn: false }), 'address')]).toEqual([
      true,
      false,
    ]);
    await update(shop, [3], { address: { street: 'Whole' } });
    expect((await values(shop, 'address@@@street')).flat()).toEqual(['Rue 1', 'Via 2', 'Whole']);
    await expect(update(shop, [3], { address: { street: 'a' }, 'address@@@street': 'b' })).rejects.toMatchObject({
      code: 'INVALID_RECORD',
    });
  });
});
