// What collections and fields mean: comments of the database and words from code, within the rights of the caller.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import { createSqlDataSource } from '../../src/agent/data-sources.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { shopAgent } from '../app/agent.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { commentedParcels, commentSql, withComments } from '../sql/comments.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf, type Shop, sellers } from './shop.ts';

const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
const tools = { observe: () => undefined, clock: systemClock };

describe.each(servers.filter(({ dialect }) => dialect !== 'sqlite'))('comments of $dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, commentedParcels(server.dialect));
    engine = await createHeadlessAgent()
      .addDataSource(createSqlDataSource(database.url))
      .createEngine({ ...tools, limits });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  test('are used as the descriptions of collections and fields', () => {
    const { description, fields } = engine.describe(accessOf(), 'parcels');
    expect(description).toBe('Parcels that left the store');
    expect(fields.map((field) => [field.name, field.description])).toEqual([
      ['id', undefined],
      ['left_at', 'The day on which the parcel left'],
      ['code', 'Tracking code of the carrier'],
    ]);
    const [index] = engine.index(accessOf()).filter(({ name }) => name === 'parcels');
    expect(index?.description).toBe('Parcels that left the store');
  });

  test('exist for views only if the database supports them', () => {
    expect(engine.describe(accessOf(), 'left_parcels').description).toBe(
      server.dialect === 'postgres' ? 'Only those that left' : undefined,
    );
  });

  test('of hidden fields are hidden', () => {
    const { fields } = engine.describe(accessOf({ hidden: ['parcels.left_at'] }), 'parcels');
    expect(fields.map(({ name }) => name)).toEqual(['id', 'code']);
  });

  test('change the version of the tables when they change', async () => {
    const source = createSqlSource(database.url, tools);
    const versions: (string | undefined)[] = [await source.version?.()];
    await runSql(database, [commentSql(server.dialect, 'table', 'Parcels of all stores')]);
    versions.push(await source.version?.());
    await runSql(database, [commentSql(server.dialect, 'column', 'The carrier gives it')]);
    versions.push(await source.version?.());
    const parcels = (await source.describe()).tables.find(({ name }) => name === 'parcels');
    await source.close();
    expect(new Set(versions).size).toBe(3);
    expect(parcels?.comment).toBe('Parcels of all stores');
    expect(parcels?.columns.find(({ name }) => name === 'code')?.comment).toBe('The carrier gives it');
  });
});

test('collections of SQLite have no descriptions', async () => {
  const database = await servers.find(({ dialect }) => dialect === 'sqlite')!.create();
  await runSql(database, commentedParcels('sqlite'));
  const engine = await createHeadlessAgent()
    .addDataSource(createSqlDataSource(database.url))
    .createEngine({ ...tools, limits });
  const { description, fields } = engine.describe(accessOf(), 'parcels');
  await engine.close();
  await database.drop();
  expect([description, ...fields.map((field) => field.description)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

const parcels = {
  name: 'parcels',
  columns: [{ name: 'id', type: 'Number' as const }],
  primaryKey: ['id'],
  rows: [[1]],
};

test.each([
  ['several lines', 'Sent\n\n  by\tpost', 'Sent by post'],
  ['invisible and direction characters', 'Sent\u{e0041}\u{e0042} \u202eby\u200b post\u0007', 'Sent by post'],
  ['only spaces', ' \n ', undefined],
  ['a long text', `${'a'.repeat(150)} ${'😀'.repeat(100)}`, `${'a'.repeat(150)} ${'😀'.repeat(48)}…`],
])('a comment is one line of visible text, at most 200 characters: %s', async (_, comment, expected) => {
  const engine = await createHeadlessAgent()
    .addDataSource(() => withComments(parcels, comment))
    .createEngine({ ...tools, limits });
  const { description, fields } = engine.describe(accessOf(), 'parcels');
  await engine.close();
  expect([description, fields[0]?.description]).toEqual([expected, expected]);
});

describe.each(sellers)('descriptions from code: $name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({
      customize: (agent) =>
        agent
          .customizeCollection('customers', (customers) =>
            customers
              .describe({ description: 'People who bought', synonyms: ['clients'] })
              .renameField('name', 'full name')
              .describeField('name', { description: 'First and last name', examples: ['Ada Byron'] })
              .describeField('secret', { hiddenByDefault: true }),
          )
          .customizeCollection('orders', (orders) =>
            orders
              .describeField('total', { description: 'With tax', unit: 'EUR', synonyms: ['amount', 'price'] })
              .describeField('customer', { description: 'Who pays' })
              .importField('customer secret', { path: 'customer:secret' })
              .importField('buyer', { path: 'customer:name' })
              .describeField('buyer', { description: 'Name of the one who pays' })
              .addField('size', {
                columnType: 'Enum',
                enumValues: ['small', 'large'],
                dependencies: ['total'],
                getValues: (records) => records.map(({ total }) => (Number(total) > 20 ? 'large' : 'small')),
              })
              .describeField('size', { values: { small: 'At most 20 EUR', large: 'More' } }),
          ),
    });
  });
  afterAll(() => shop?.close());

  const field = (collection: string, name: string, access = accessOf()) =>
    shop.engine.describe(access, collection).fields.find((each) => each.name === name);

  test('are part of the descriptions, under the published names', () => {
    expect(shop.engine.describe(accessOf(), 'customers')).toMatchObject({
      description: 'People who bought',
      synonyms: ['clients'],
    });
    expect(field('customers', 'full name')).toMatchObject({
      description: 'First and last name',
      examples: ['Ada Byron'],
    });
    expect(field('orders', 'total')).toMatchObject({ description: 'With tax', unit: 'EUR' });
    expect(field('orders', 'size')?.values).toEqual({ small: 'At most 20 EUR', large: 'More' });
    const { relations } = shop.engine.describe(accessOf(), 'orders');
    expect(relations.find(({ name }) => name === 'customer')?.description).toBe('Who pays');
  });

  test('of an imported field come from its source, unless it has its own', () => {
    expect(field('orders', 'buyer')).toMatchObject({
      description: 'Name of the one who pays',
      examples: ['Ada Byron'],
    });
    expect(field('orders', 'customer secret')?.hiddenByDefault).toBe(true);
  });

  test('are hidden with their field', () => {
    expect(JSON.stringify(shop.engine.describe(accessOf({ hidden: ['orders.total'] }), 'orders'))).not.toMatch(
      /With tax|amount/,
    );
    expect(shop.engine.describe(accessOf({ browse: ['orders'] }), 'orders').relations).toEqual([]);
  });

  test('a field hidden by default is returned only if it is named', async () => {
    const { engine } = shop;
    const ask = { collection: 'customers', limit: 9 };
    expect((await engine.list(accessOf(), ask)).columns).toEqual(['id', 'full name', 'city']);
    expect((await engine.get(accessOf(), { collection: 'customers', id: 1 })).columns).not.toContain('secret');
    expect((await engine.list(accessOf(), { ...ask, fields: ['id', 'secret'] })).rows[0]).toEqual([1, 'x1']);
    const filter = { field: 'secret', operator: 'Equal', value: 'x1' } as const;
    expect(await engine.count(accessOf(), { collection: 'customers', filter })).toBe(1);
    const orders = await engine.list(accessOf(), { collection: 'orders', limit: 1 });
    expect(orders.columns).toContain('buyer');
    expect(orders.columns).not.toContain('customer secret');
  });

  test('a search does not read a field hidden by default, unless it names it', async () => {
    const count = (search: string, more = {}) =>
      shop.engine.count(accessOf(), { collection: 'customers', search, ...more });
    expect(await count('x1')).toBe(0);
    expect(await count('secret:x1')).toBe(1);
    const orders = { collection: 'orders', search: 'x1', searchExtended: true };
    expect(await shop.engine.count(accessOf(), orders)).toBe(0);
  });
});

describe('an invalid description', () => {
  const shopOf = (customize: (agent: HeadlessAgent) => unknown) =>
    sellers[0]!.open({ customize: (agent) => void customize(agent) });
  const orders = (run: (orders: CollectionCustomizer) => unknown) => (agent: HeadlessAgent) =>
    agent.customizeCollection('orders', run);

  test.each<[string, (agent: HeadlessAgent) => unknown, RegExp]>([
    ['an unknown field', orders((each) => each.describeField('totl', { unit: 'EUR' })), /no field 'totl'. Near: total/],
    ['a misspelt option', orders((each) => each.describeField('total', { units: 'EUR' } as never)), /Near: unit/],
    ['a long text', orders((each) => each.describe({ description: 'a'.repeat(501) })), /at most 500 characters/],
    ['synonyms that are not a list', orders((each) => each.describe({ synonyms: 'x' as never })), /list of at most 20/],
    [
      'a unit of a relation',
      orders((each) => each.describeField('customer', { unit: 'kg' })),
      /is a relation.*not unit/,
    ],
    ['a hidden key', orders((each) => each.describeField('id', { hiddenByDefault: true })), /part of the key/],
    [
      'an unknown value of an enum',
      orders((each) =>
        each
          .addField('size', {
            columnType: 'Enum',
            enumValues: ['small'],
            dependencies: ['id'],
            getValues: (all) => all.map(() => 'small'),
          })
          .describeField('size', { values: { smal: 'Little' } }),
      ),
      /no value 'smal'. Near: small/,
    ],
    [
      'two descriptions of one field',
      orders((each) => each.describeField('total', { unit: 'EUR' }).describeField('total', { unit: 'kg' })),
      /already defined, at .*meaning.test.ts/,
    ],
    ['two introductions', (agent) => agent.addInstructions('One.').addInstructions('Two.'), /already called, at/],
    ['a long introduction', (agent) => agent.addInstructions('a'.repeat(2001)), /at most 2000 characters/],
  ])('%s fails the start with the line', async (_, customize, problem) => {
    await expect(shopOf(customize)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringMatching(problem),
    });
    await expect(shopOf(customize)).rejects.toThrow(/meaning\.test\.ts:\d+/);
  });

  test('an empty description hides the comment of the database', async () => {
    const engine = await createHeadlessAgent()
      .addDataSource(() => withComments(parcels, 'A comment'))
      .customizeCollection('parcels', (each) => each.describe({ description: '' }).describeField('id', { unit: 'kg' }))
      .createEngine({ ...tools, limits });
    const { description, fields } = engine.describe(accessOf(), 'parcels');
    await engine.close();
    expect(description).toBeUndefined();
    expect(fields[0]).toMatchObject({ description: 'A comment', unit: 'kg' });
  });
});

test('the schema file and the typings contain the descriptions', async () => {
  const { agent, schemaPath, folder } = shopAgent();
  agent.customizeCollection('orders', (orders) =>
    orders
      .describe({ description: 'What was bought' })
      .describeField('total', { description: 'With tax */ export const evil = 1; /*', unit: 'EUR' })
      .describeField('customer', { description: 'Who pays' }),
  );
  await agent.generateSchemaOnly();
  const { collections } = JSON.parse(readFileSync(schemaPath, 'utf8')) as {
    collections: { name: string; description?: string; fields: { field: string; description?: string }[] }[];
  };
  const orders = collections.find(({ name }) => name === 'orders')!;
  const described = orders.fields.flatMap(({ field, description }) => (description ? [[field, description]] : []));
  expect([orders.description, Object.fromEntries(described)]).toEqual([
    'What was bought',
    { total: 'With tax */ export const evil = 1; /*', customer: 'Who pays' },
  ]);
  expect(JSON.stringify(orders)).not.toContain('EUR');
  const path = join(folder, 'typings.ts');
  await agent.updateTypesOnFileSystem(path, 2);
  expect(readFileSync(path, 'utf8')).toContain(
    '      /** With tax *\\/ export const evil = 1; /* */\n      total: "Number";',
  );
});
