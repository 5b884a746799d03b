// Relations with records that code returns.
import { afterEach, describe, expect, test } from 'vitest';
import type { CodeRecord } from '../../src/agent/customize/context.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import type { ExternalRelationDefinition } from '../../src/agent/customize/definitions.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { accessOf, sellers } from './shop.ts';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const definition: ExternalRelationDefinition = {
  schema: { title: 'String', off: 'Number', until: 'Dateonly', logo: 'File' },
  listRecords: ({ id }) =>
    id === 3
      ? []
      : [
          { title: `late ${id}`, off: 5, until: '2024-02-01', internal: true },
          { title: `early ${id}`, off: 10, logo: Buffer.from('hi') },
        ],
};

async function open(given: Partial<ExternalRelationDefinition> = {}, more?: (customers: CollectionCustomizer) => void) {
  const shop = await sellers[0]!.open({
    customize: (agent) =>
      agent.customizeCollection('customers', (customers) => {
        customers.addExternalRelation('offers', { ...definition, ...given });
        more?.(customers);
      }),
  });
  closing.push(() => shop.close());
  return shop.engine;
}

const offers = (engine: Engine, id: number, more: object = {}) =>
  engine.listRelated(accessOf(), { collection: 'customers', relation: 'offers', id, limit: 10, ...more });

test('an external relation is shown as a whole, with its record and through other relations', async () => {
  const engine = await open();
  const fields = ['id', 'offers'];
  const { rows } = await engine.list(accessOf(), { collection: 'customers', fields, limit: 10 });
  expect(rows).toEqual([
    [
      1,
      [
        { title: 'late 1', off: 5, until: '2024-02-01', logo: null },
        { title: 'early 1', off: 10, until: null, logo: 'data:application/octet-stream;base64,aGk=' },
      ],
    ],
    [2, expect.any(Array)],
    [3, []],
  ]);
  const far = await engine.list(accessOf(), { collection: 'orders', fields: ['customer:offers'], limit: 4, skip: 3 });
  expect(far.rows).toEqual([[null], [[]]]);
});

test('an external relation is not among the default fields, and is described with its fields', async () => {
  const engine = await open();
  const { columns } = await engine.list(accessOf(), { collection: 'customers', limit: 1 });
  expect(columns).toEqual(['id', 'name', 'city', 'secret']);
  expect(engine.describe(accessOf(), 'customers').relations).toContainEqual({
    name: 'offers',
    kind: 'many',
    to: 'customers.offers',
    fields: { title: 'String', off: 'Number', until: 'Dateonly', logo: 'Binary' },
    columns: [],
  });
  expect(engine.index(accessOf()).map(({ name }) => name)).not.toContain('customers.offers');
});

describe('an external relation of one record', () => {
  test('is listed, filtered, sorted, searched, paged, counted and aggregated', async () => {
    const engine = await open();
    const titles = async (more: object) => (await offers(engine, 1, { fields: ['title'], ...more })).rows.flat();
    expect(await titles({})).toEqual(['late 1', 'early 1']);
    expect(await titles({ sort: [{ field: 'title' }] })).toEqual(['early 1', 'late 1']);
    expect(await titles({ filter: { field: 'off', operator: 'LessThan', value: 10 } })).toEqual(['late 1']);
    expect(await titles({ search: 'EARLY' })).toEqual(['early 1']);
    const page = await offers(engine, 1, { limit: 1, skip: 1 });
    expect([page.rows, page.hasMore, page.cursorAfter(0)]).toEqual([
      [['early 1', 10, null, 'data:application/octet-stream;base64,aGk=']],
      false,
      undefined,
    ]);
    const parent = { collection: 'customers', relation: 'offers', id: 1 };
    expect(await engine.countRelated(accessOf(), parent)).toBe(2);
    const sum = { ...parent, operation: 'Sum', field: 'off', limit: 1 } as const;
    expect((await engine.aggregateRelated(accessOf(), sum)).rows).toEqual([[15]]);
    await expect(offers(engine, 1, { fields: ['titel'] })).rejects.toThrow("has no field 'titel'");
  });

  test('needs a record that the caller may see', async () => {
    const engine = await open();
    expect((await offers(engine, 3)).rows).toEqual([]);
    await expect(offers(engine, 9)).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    const access = accessOf({ scopes: { customers: { field: 'id', operator: 'Equal', value: 2 } } });
    const asked = engine.listRelated(access, { collection: 'customers', relation: 'offers', id: 1, limit: 1 });
    await expect(asked).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
    const hidden = accessOf({ hidden: ['customers.offers'] });
    const unseen = engine.listRelated(hidden, { collection: 'customers', relation: 'offers', id: 1, limit: 1 });
    await expect(unseen).rejects.toMatchObject({ code: 'UNKNOWN_RELATION' });
  });
});

test.each([
  ['filtered', { filter: { field: 'offers', operator: 'Present' } }, 'filters and sorts cannot use them'],
  ['sorted', { sort: [{ field: 'offers' }] }, 'filters and sorts cannot use them'],
  ['split into fields', { fields: ['offers:title'] }, "request 'offers' as a whole"],
])('an external relation cannot be %s', async (_, more, problem) => {
  const engine = await open();
  const asked = engine.list(accessOf(), { collection: 'customers', limit: 1, ...(more as object) });
  await expect(asked).rejects.toThrow(problem);
});

test('an external relation cannot be written', async () => {
  const engine = await open();
  const link = { collection: 'customers', relation: 'offers', id: 1, ids: [1] };
  await expect(engine.associate(accessOf(), link)).rejects.toMatchObject({ code: 'READ_ONLY' });
  const update = engine.update(accessOf(), { collection: 'customers', ids: [1], values: { offers: [] } });
  await expect(update).rejects.toThrow('comes from code and cannot be written');
});

test('code runs once for each combination of its dependencies', async () => {
  const asked: CodeRecord[] = [];
  let [now, most] = [0, 0];
  const engine = await open(
    {
      dependencies: ['city', 'upper'],
      listRecords: async (record, { caller }) => {
        asked.push(record);
        most = Math.max(most, ++now);
        await new Promise((done) => setImmediate(done));
        now--;
        return [{ title: `${record.upper} for ${caller.firstName}` }];
      },
    },
    (customers) =>
      customers.addField('upper', {
        columnType: 'String',
        dependencies: ['name'],
        getValues: (records) => records.map(({ name }) => String(name).toUpperCase()),
      }),
  );
  const page = { collection: 'order_lines', fields: ['order:customer:offers'], limit: 10 };
  const { rows } = await engine.list(accessOf(), page);
  expect(rows.map(([all]) => (all as { title: string }[] | null)?.[0]?.title)).toEqual([
    'ADA for Ada', 'ADA for Ada', 'BO for Ada', 'BO for Ada', undefined,
  ]); // biome-ignore format: one for each line
  expect(asked).toEqual([
    { id: 1, city: 'Paris', upper: 'ADA' },
    { id: 2, city: 'Rome', upper: 'BO' },
  ]);
  expect(most).toBe(2);
});

test.each([
  ['no list', { title: 'x' }, 'object instead of a list of records'],
  ['nothing', undefined, 'undefined instead of a list of records'],
  ['a value that is not a record', ['x'], 'a value that is not a record, at 0'],
  ['a wrong type', [{}, { off: 'much' }], "a 'off' that is not a Number, at 1"],
])('if code returns %s, the error names the relation and the log its line', async (_, given, problem) => {
  const engine = await open({ listRecords: () => given as never });
  const asked = engine.list(accessOf(), { collection: 'customers', fields: ['offers'], limit: 10 });
  const error = await asked.catch((thrown: unknown) => thrown as Error);
  expect(error).toMatchObject({
    code: 'CUSTOMIZATION_FAILED',
    details: { what: "the relation 'offers' of 'customers'" },
    cause: {
      message: expect.stringMatching(/external\.test\.ts:\d+/),
      cause: { message: `listRecords returned ${problem}` },
    },
  });
  await expect(offers(engine, 1)).rejects.toMatchObject({ code: 'CUSTOMIZATION_FAILED' });
});

test.each([
  [{ schema: {} }, "needs a 'schema'"],
  [{ schema: { title: 'Text' } }, "There is no column type 'Text'"],
  [{ listRecords: 'x' }, 'listRecords must be a function'],
  [{ dependencies: ['citi'] }, "has no field 'citi'. Near: city"],
  [{ dependencies: ['offers'] }, 'Circular fields'],
])('%j ends the start at the line of the call', async (given, problem) => {
  const opening = open(given as never);
  await expect(opening).rejects.toThrow(problem);
  await expect(opening).rejects.toThrow(/external\.test\.ts:\d+/);
});
