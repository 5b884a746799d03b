// Relations between collections of different data sources.
import { afterEach, describe, expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import type { EngineLimits } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { servers } from '../databases.ts';
import { connect } from './connection.ts';
import { counted } from './counted.ts';
import { accessOf } from './shop.ts';

const table = (name: string, columns: string, rows: MemoryTable['rows'], key = ['id']): MemoryTable => ({
  name,
  columns: columns.split(' ').map((column) => ({
    name: column.replace(/[?#]/g, ''),
    type: column.includes('#') ? ('Number' as const) : ('String' as const),
    nullable: column.includes('?'),
  })),
  primaryKey: key,
  rows,
});

const orders = table('orders', '#id #?customer_id note', [
  [1, 1, 'a'],
  [2, 2, 'b'],
  [3, 1, 'c'],
  [4, null, 'd'],
  [5, 99, 'e'],
]);
const customers = table('customers', '#id name #?country_id', [
  [1, 'Ada', 1],
  [2, 'Bo', 2],
  [3, 'Cy', null],
]);
const countries = table('countries', '#id label', [
  [1, 'Norway'],
  [2, 'Spain'],
]);
const likes = table(
  'likes',
  '#order_id #country_id ?by',
  [
    [1, 1, 'ada'],
    [1, 2, 'bo'],
    [3, 2, 'ada'],
  ],
  ['order_id', 'country_id'],
);

function relate(agent: HeadlessAgent): void {
  agent
    .customizeCollection('orders', (each) =>
      each
        .addManyToOneRelation('customer', 'customers', { foreignKey: 'customer_id' })
        .addManyToManyRelation('liked', 'countries', 'likes', { originKey: 'order_id', foreignKey: 'country_id' })
        .addField('title', {
          columnType: 'String',
          dependencies: ['note', 'customer:name'],
          getValues: (records) =>
            records.map(({ note, customer }) => `${note} ${(customer as { name: string } | null)?.name}`),
        }),
    )
    .customizeCollection('customers', (each) =>
      each
        .addManyToOneRelation('country', 'countries', { foreignKey: 'country_id' })
        .addOneToManyRelation('orders', 'orders', { originKey: 'customer_id' }),
    )
    .customizeCollection('countries', (each) =>
      each.addOneToManyRelation('customers', 'customers', { originKey: 'country_id' }),
    );
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Opened {
  readonly engine: Engine;
  /** Number of statements per source since the last call. */
  statements(): number[];
  readonly observed: Observation[];
}

async function open(
  sources: readonly Source[],
  limits: Partial<EngineLimits> = {},
  customize: (agent: HeadlessAgent) => void = relate,
): Promise<Opened> {
  const all = sources.map((source) => counted(source));
  const agent = createHeadlessAgent();
  for (const { source } of all) agent.addDataSource(() => source);
  customize(agent);
  const observed: Observation[] = [];
  const engine = await agent.createEngine({
    observe: (each) => void observed.push(each),
    clock: systemClock,
    limits: { pageSizeLimit: 1000, queryTimeoutMs: 10_000, ...limits },
  });
  closing.push(() => engine.close());
  return { engine, observed, statements: () => all.map(({ statements }) => statements()) };
}

const parts = [[orders], [customers, likes], [countries]];
const inMemory = (limits?: Partial<EngineLimits>) =>
  open(
    parts.map((tables, index) => createMemorySource(`memory ${index}`, tables)),
    limits,
  );

describe('collections of three sources', () => {
  test('show related records with one statement per source, and null where there is none', async () => {
    const { engine, statements } = await inMemory();
    const fields = ['id', 'customer:id', 'customer:name', 'customer:country:label', 'title'];
    const { rows } = await engine.list(accessOf(), { collection: 'orders', fields, limit: 10 });
    expect(rows).toEqual([
      [1, 1, 'Ada', 'Norway', 'a Ada'],
      [2, 2, 'Bo', 'Spain', 'b Bo'],
      [3, 1, 'Ada', 'Norway', 'c Ada'],
      [4, null, null, null, 'd undefined'],
      [5, null, null, null, 'e undefined'],
    ]);
    expect(statements()).toEqual([1, 1, 1]);
  });

  test('fetch only the related records of the page', async () => {
    const { engine } = await inMemory({ rowsLimit: 2 });
    const list = { collection: 'orders', fields: ['customer:name'], limit: 2, skip: 1 };
    expect((await engine.list(accessOf(), list)).rows).toEqual([['Bo'], ['Ada']]);
  });

  test.each([
    [{ field: 'customer:name', operator: 'Equal', value: 'Ada' }, [1, 3]],
    [{ field: 'customer:name', operator: 'NotEqual', value: 'Ada' }, [2, 4, 5]],
    [{ field: 'customer:name', operator: 'Missing' }, [4, 5]],
    [{ field: 'customer:country:label', operator: 'StartsWith', value: 'S' }, [2]],
    [{ field: 'title', operator: 'Equal', value: 'c Ada' }, [3]],
  ] as const)('filter by %j', async (filter, ids) => {
    const { engine } = await open(
      parts.map((tables, index) => createMemorySource(`memory ${index}`, tables)),
      {},
      (agent) => {
        relate(agent);
        agent.customizeCollection('orders', (each) => each.emulateFieldFiltering('title'));
      },
    );
    const asked = { collection: 'orders', fields: ['id'], filter, limit: 10 };
    expect((await engine.list(accessOf(), asked)).rows.flat()).toEqual(ids);
    expect(await engine.count(accessOf(), asked)).toBe(ids.length);
  });

  test('query once for all conditions through a relation', async () => {
    const { engine, statements } = await inMemory();
    const test = (field: string) => ({ field, operator: 'NotEqual', value: 'x' }) as const;
    await engine.count(accessOf(), {
      collection: 'orders',
      filter: {
        aggregator: 'And',
        conditions: [test('customer:name'), test('note'), test('customer:country_id') as never].slice(0, 2),
      },
    });
    expect(statements()).toEqual([1, 1, 0]);
  });

  test('sort, with cursors', async () => {
    const { engine } = await inMemory();
    const asked = {
      collection: 'orders',
      fields: ['id', 'customer:name'],
      sort: [{ field: 'customer:name', ascending: false }],
      limit: 2,
    };
    const ids: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await engine.list(accessOf(), { ...asked, ...(cursor && { cursor }) });
      ids.push(...page.rows.map(([id]) => id));
      if (!page.hasMore) break;
      cursor = page.cursorAfter(page.rows.length - 1);
    }
    expect(ids).toEqual([2, 3, 1, 5, 4]);
  });

  test('search through relations and aggregate by fields of related records', async () => {
    const { engine } = await inMemory();
    const found = await engine.list(accessOf(), {
      collection: 'orders',
      fields: ['id'],
      search: 'ada',
      searchExtended: true,
      limit: 10,
    });
    expect(found.rows.flat()).toEqual([1, 3]);
    const { rows } = await engine.aggregate(accessOf(), {
      collection: 'orders',
      operation: 'Count',
      groups: [{ field: 'customer:country:label' }],
      limit: 10,
    });
    expect(rows).toEqual([
      [null, 2],
      ['Norway', 2],
      ['Spain', 1],
    ]);
  });

  test('list the related records of one record', async () => {
    const { engine } = await inMemory();
    const list = async (collection: string, relation: string, id: number, field: string) =>
      (await engine.listRelated(accessOf(), { collection, relation, id, fields: [field], limit: 10 })).rows.flat();
    expect(await list('customers', 'orders', 1, 'note')).toEqual(['a', 'c']);
    expect(await list('orders', 'liked', 1, 'label')).toEqual(['Norway', 'Spain']);
    await expect(list('orders', 'liked', 9, 'label')).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
  });

  test('create and delete junction rows', async () => {
    const { engine } = await inMemory();
    const link = { collection: 'orders', relation: 'liked', id: 3, ids: [1, 2] };
    expect((await engine.associate(accessOf(), link)).count).toBe(1);
    expect((await engine.dissociate(accessOf(), { ...link, ids: [2] })).count).toBe(1);
    const liked = await engine.listRelated(accessOf(), { ...link, fields: ['label'], limit: 10 });
    expect(liked.rows).toEqual([['Norway']]);
  });
});

describe('row scopes', () => {
  const scopes = { customers: { field: 'country:label', operator: 'Equal', value: 'Norway' } } as const;

  test('of the related collection that use a third source apply to fields, filters, sorts and related lists', async () => {
    const { engine } = await inMemory();
    const access = accessOf({ scopes });
    const fields = ['id', 'customer:name'];
    const all = await engine.list(access, {
      collection: 'orders',
      fields,
      sort: [{ field: 'customer:name' }],
      limit: 10,
    });
    expect(all.rows).toEqual([
      [2, null],
      [4, null],
      [5, null],
      [1, 'Ada'],
      [3, 'Ada'],
    ]);
    const filter = { field: 'customer:name', operator: 'Present' } as const;
    expect(await engine.count(access, { collection: 'orders', filter })).toBe(2);
    const related = { collection: 'customers', relation: 'orders', id: 2, limit: 10 };
    await expect(engine.listRelated(access, related)).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
  });

  test('a foreign key must refer to a record of the other source that the caller may see', async () => {
    const { engine } = await inMemory();
    const access = accessOf({ scopes: { customers: { field: 'name', operator: 'Equal', value: 'Ada' } } });
    const write = (customer_id: number) =>
      engine.update(access, { collection: 'orders', ids: [1], values: { customer_id } });
    await expect(write(2)).rejects.toMatchObject({
      code: 'INVALID_RECORD',
      details: { problems: [{ field: 'customer_id', problem: 'no record has this key, or you may not see it.' }] },
    });
    expect((await write(1)).count).toBe(1);
    const create = engine.create(access, { collection: 'orders', records: [{ id: 9, customer_id: 3, note: '' }] });
    await expect(create).rejects.toMatchObject({ code: 'INVALID_RECORD' });
  });

  test('that use another source are read-only', async () => {
    const { engine } = await inMemory();
    const access = accessOf({ scopes: { orders: { field: 'customer:name', operator: 'Equal', value: 'Ada' } } });
    expect(await engine.count(access, { collection: 'orders' })).toBe(2);
    for (const id of [1, 2])
      await expect(
        engine.update(access, { collection: 'orders', ids: [id], values: { note: 'x' } }),
      ).rejects.toMatchObject({ code: 'FORBIDDEN', message: expect.stringContaining("'customer:name'") });
    const fields = ['id', 'customer_id', 'note'];
    const all = await engine.list(accessOf(), { collection: 'orders', fields, limit: 2 });
    expect(all.rows).toEqual([
      [1, 1, 'a'],
      [2, 2, 'b'],
    ]);
  });
});

describe('limits', () => {
  const many = Array.from({ length: 12_000 }, (_, index) => [index + 1, `name ${index}`, null]);
  const openMany = (rowsLimit: number) =>
    open(
      [
        createMemorySource('near', [orders, likes]),
        createMemorySource('far', [{ ...customers, rows: many }, countries]),
      ],
      { rowsLimit },
    );
  const filter = { field: 'customer:name', operator: 'StartsWith', value: 'name' } as const;

  test('more keys than the limit are refused with a remedy', async () => {
    const { engine } = await openMany(11_000);
    await expect(engine.count(accessOf(), { collection: 'orders', filter })).rejects.toMatchObject({
      code: 'TOO_MANY_ROWS',
      message: expect.stringMatching(/'customer' of 'orders'.*more than 11000.*store a copy.*'customers'/),
    });
  });

  test('many keys are used in lists that every source accepts, and logged once', async () => {
    const { engine, observed } = await openMany(100_000);
    for (const _ of [1, 2]) expect(await engine.count(accessOf(), { collection: 'orders', filter })).toBe(4);
    expect(observed.filter(({ type }) => type === 'warning')).toMatchObject([
      { message: expect.stringContaining("'customer' of 'orders' is evaluated after reading, and 12000 rows") },
    ]);
  });

  test('keys are sent in lists of at most 1,000', async () => {
    const rows = Array.from({ length: 2_500 }, (_, index) => [index + 1, index + 1, 'x']);
    const { engine, statements } = await open(
      [
        createMemorySource('near', [{ ...orders, rows }, likes]),
        createMemorySource('far', [{ ...customers, rows: many }, countries]),
      ],
      { pageSizeLimit: 5000 },
    );
    const page = await engine.list(accessOf(), { collection: 'orders', fields: ['customer:name'], limit: 2500 });
    expect([page.rows.length, page.rows.at(-1)]).toEqual([2500, ['name 2499']]);
    expect(statements()).toEqual([1, 3]);
  });
});

describe.each(servers)('$dialect beside memory', (server) => {
  test('tens of thousands of keys are matched', async () => {
    const database = await server.create();
    closing.push(() => database.drop());
    const connection = await connect(database);
    await connection.run(
      'create table orders (id int primary key, customer_id int null, note varchar(9) not null)',
      [],
    );
    await connection.run("insert into orders values (1, 1, 'a'), (2, 40000, 'b'), (3, 50000, 'c')", []);
    await connection.end();
    const rows = Array.from({ length: 40_000 }, (_, index) => [index + 1, 'x', null]);
    const { engine } = await open([
      createSqlSource(database.url, { clock: systemClock, observe: () => {} }),
      createMemorySource('far', [{ ...customers, rows }, countries, likes]),
    ]);
    const asked = { collection: 'orders', fields: ['id'], limit: 10 };
    const of = async (operator: 'Equal' | 'NotEqual') =>
      (
        await engine.list(accessOf(), { ...asked, filter: { field: 'customer:name', operator, value: 'x' } })
      ).rows.flat();
    expect([await of('Equal'), await of('NotEqual')]).toEqual([[1, 2], [3]]);
  });
});

test('the plan shows the lookups and the fetched relations', async () => {
  const { engine } = await inMemory();
  const plan = await engine.explain(accessOf({ scopes: { countries: { field: 'label', operator: 'Present' } } }), {
    collection: 'orders',
    fields: ['note', 'customer:name', 'customer:country:label'],
    filter: { field: 'customer:country:label', operator: 'Equal', value: 'Spain' },
    sort: [{ field: 'customer:name' }],
    limit: 15,
  });
  await expect(plan).toMatchFileSnapshot('plans/across-sources.memory.plan');
});

test.each(servers)('on $dialect the plan shows the statements that depend on lookups', async (server) => {
  const databases = [await server.create(), await server.create()] as const;
  for (const database of databases) closing.push(() => database.drop());
  const run = async (url: (typeof databases)[number], sql: string) => {
    const connection = await connect(url);
    await connection.run(sql, []);
    await connection.end();
  };
  await run(databases[0], 'create table orders (id int primary key, customer_id int null, note varchar(9) not null)');
  await run(databases[1], 'create table customers (id int primary key, name varchar(9) not null)');
  const sources = databases.map(({ url }) => createSqlSource(url, { clock: systemClock, observe: () => {} }));
  const { engine } = await open(sources, {}, (agent) =>
    agent.customizeCollection('orders', (each) =>
      each.addManyToOneRelation('customer', 'customers', { foreignKey: 'customer_id' }),
    ),
  );
  const plan = await engine.explain(accessOf(), {
    collection: 'orders',
    fields: ['note', 'customer:name'],
    filter: { field: 'customer:name', operator: 'NotEqual', value: 'Bo' },
    limit: 15,
  });
  await expect(plan).toMatchFileSnapshot(`plans/across-sources.${server.dialect}.plan`);
});
