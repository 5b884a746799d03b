// The operators of each column type on each database, and the results of list operators on every source.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Operator, operators } from '../../src/core/filter.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const presence = 'Present Blank Missing';
const equality = `${presence} Equal NotEqual In NotIn`;
const order = `${equality} LessThan GreaterThan LessThanOrEqual GreaterThanOrEqual`;
const texts =
  'Like ILike Match Contains NotContains IContains NotIContains StartsWith EndsWith IStartsWith IEndsWith LongerThan ShorterThan';
const days =
  'Before After Today Yesterday PreviousWeek PreviousMonth PreviousQuarter PreviousYear PreviousWeekToDate PreviousMonthToDate PreviousQuarterToDate PreviousYearToDate PreviousXDays PreviousXDaysToDate Past Future';

const offered: Readonly<Record<string, string>> = {
  String: `${order} ${texts}`,
  Number: order,
  Boolean: equality,
  Date: `${order} ${days} BeforeXHoursAgo AfterXHoursAgo`,
  Dateonly: `${order} ${days}`,
  Time: order,
  Enum: equality,
  Json: presence,
  Uuid: equality,
  Binary: equality,
  Point: presence,
  '[String]': `${presence} Equal NotEqual IncludesAll IncludesNone`,
  '[Number]': `${presence} Equal NotEqual IncludesAll IncludesNone`,
};

const types: { readonly [D in Dialect]: Readonly<Record<string, string>> } = {
  sqlite: {
    String: 'text', Number: 'decimal(10, 2)', Boolean: 'boolean', Date: 'datetime', Dateonly: 'date', Time: 'time', Json: 'json',
    Uuid: 'uuid', Binary: 'blob',
  },
  mariadb: {
    String: 'varchar(20)', Number: 'decimal(10, 2)', Boolean: 'tinyint(1)', Date: 'datetime', Dateonly: 'date', Time: 'time',
    Enum: "enum('a', 'b')", Json: 'json', Uuid: 'uuid', Binary: 'varbinary(20)', Point: 'point',
  },
  postgres: {
    String: 'text', Number: 'numeric(10, 2)', Boolean: 'boolean', Date: 'timestamptz', Dateonly: 'date', Time: 'time',
    Enum: 'mood', Json: 'jsonb', Uuid: 'uuid', Binary: 'bytea', Point: 'point', '[String]': 'text[]', '[Number]': 'int[]',
  },
}; // biome-ignore format: one family

const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };

/** Fields that code adds are lists on every source. */
function addLists(agent: HeadlessAgent): HeadlessAgent {
  return agent.customizeCollection('cells', (cells) =>
    cells
      .addField('digits', {
        columnType: ['Number'],
        dependencies: ['id'],
        getValues: (records) => records.map(({ id }) => (id === 3 ? null : [Number(id), 10, null])),
      })
      .addField('words', {
        columnType: ['String'],
        dependencies: ['id'],
        getValues: (records) => records.map(({ id }) => (id === 1 ? ['a', 'A'] : [])),
      })
      .emulateFieldFiltering('digits')
      .emulateFieldFiltering('words'),
  );
}

const open = (source: Source) =>
  addLists(createHeadlessAgent().addDataSource(() => source)).createEngine({
    observe: () => {},
    clock: systemClock,
    limits,
  });

async function ids(engine: Engine, field: string, operator: Operator, value: unknown): Promise<unknown[]> {
  const filter = { field, operator, value };
  return (await engine.list(accessOf(), { collection: 'cells', fields: ['id'], filter, limit: 9 })).rows.flat();
}

async function testLists(engine: Engine): Promise<void> {
  expect([
    await ids(engine, 'digits', 'IncludesAll', [10, 1]),
    await ids(engine, 'digits', 'IncludesAll', '10'),
    await ids(engine, 'digits', 'IncludesNone', [1, 7]),
    await ids(engine, 'words', 'IncludesAll', ['a', 'A']),
    await ids(engine, 'words', 'IncludesNone', ['a']),
    await ids(engine, 'digits', 'Missing', null),
    await ids(engine, 'digits', 'Equal', ['2', 10, null]),
    await ids(engine, 'digits', 'Equal', [10, 2, null]),
    await ids(engine, 'digits', 'NotEqual', [1, 10, null]),
    await ids(engine, 'words', 'Equal', []),
    await ids(engine, 'digits', 'NotEqual', null),
  ]).toEqual([[1], [1, 2], [2, 3], [1], [2, 3], [3], [2], [], [2, 3], [2, 3], [1, 2]]);
}

const memoryTypes = Object.keys(offered);

test('memory: every type has its operators, and list operators compare elements', async () => {
  const column = (name: string) => (name.startsWith('[') ? ([name.slice(1, -1)] as const) : name);
  const engine = await open(
    createMemorySource('memory', [
      {
        name: 'cells',
        columns: [
          { name: 'id', type: 'Number' },
          ...memoryTypes.map((name) => ({
            name: `c ${name}`,
            type: column(name) as 'String',
            nullable: true,
            ...(name === 'Enum' && { enumValues: ['a', 'b'] }),
          })),
        ],
        primaryKey: ['id'],
        rows: [1, 2, 3].map((id) => [
          id,
          ...memoryTypes.map((name) => (name === '[String]' && id < 3 ? ['x', `${id}`] : null)),
        ]),
      },
    ]),
  );
  expect(describeTypes(engine)).toEqual(expected(memoryTypes));
  await testLists(engine);
  expect([
    await ids(engine, 'c [String]', 'IncludesAll', ['x', '2']),
    await ids(engine, 'c [String]', 'IncludesNone', ['2']),
    await ids(engine, 'c [String]', 'Equal', ['x', '2']),
    await ids(engine, 'c [String]', 'NotEqual', ['x', '2']),
  ]).toEqual([[2], [1, 3], [2], [1, 3]]);
  await engine.close();
});

function describeTypes(engine: Engine): unknown {
  const { fields } = engine.describe(accessOf(), 'cells');
  const own = fields.filter(({ name }) => name.startsWith('c '));
  return own.map(({ name, type, operators: some }) => [name, type, some]);
}

function expected(names: readonly string[]): unknown {
  return names.map((name) => {
    const wanted = new Set(offered[name]!.split(' '));
    return [`c ${name}`, name, operators.filter((operator) => wanted.has(operator))];
  });
}

test('every operator is available for some type', () => {
  const all = new Set(Object.values(offered).flatMap((some) => some.split(' ')));
  expect(operators.filter((operator) => !all.has(operator))).toEqual([]);
});

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    const quote = (name: string) => (server.dialect === 'mariadb' ? `\`${name}\`` : `"${name}"`);
    const columns = Object.entries(types[server.dialect]).map(([name, type]) => `${quote(`c ${name}`)} ${type} null`);
    await runSql(database, [
      ...(server.dialect === 'postgres' ? ["create type mood as enum ('a', 'b')"] : []),
      `create table cells (id int not null primary key, ${columns.join(', ')})`,
      'insert into cells (id) values (1), (2), (3)',
    ]);
    engine = await open(createSqlSource(database.url, { observe: () => {}, clock: systemClock }));
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  test('every type has its operators', () => {
    expect(describeTypes(engine)).toEqual(expected(Object.keys(types[server.dialect])));
  });

  test('list operators compare elements', () => testLists(engine));

  test.runIf(server.dialect === 'postgres')('PostgreSQL arrays are compared by the database', async () => {
    await runSql(database, [
      `insert into cells (id, "c [String]", "c [Number]") values (30, '{a,NULL,"b c"}', '{1,2}'), (31, '{a}', '{}'), (32, null, '{{1,2},{3,4}}')`,
    ]);
    const among = async (field: string, operator: Operator, value: unknown) =>
      (await ids(engine, field, operator, value)).filter((id) => Number(id) >= 30);
    expect([
      await among('c [String]', 'Equal', ['a', null, 'b c']),
      await among('c [String]', 'Equal', ['a', 'b c', null]),
      await among('c [String]', 'NotEqual', ['a']),
      await among('c [Number]', 'Equal', ['1', 2]),
      await among('c [Number]', 'Equal', []),
      await among('c [Number]', 'Equal', [1.5]),
      await among('c [Number]', 'IncludesAll', [1.5]),
      await among('c [Number]', 'IncludesNone', [1.5, 2]),
      await among('c [Number]', 'NotEqual', ['12345678901234567890']),
      await among('c [String]', 'Equal', null),
    ]).toEqual([[30], [], [30, 32], [30], [31], [], [], [31], [30, 31, 32], [32]]);
    const one = {
      collection: 'cells',
      limit: 9,
      filter: { field: 'c [String]', operator: 'Equal', value: 'a' },
    } as const;
    await expect(engine.list(accessOf(), one)).rejects.toMatchObject({ code: 'INVALID_VALUE' });
    await runSql(database, ['delete from cells where id >= 30']);
  });

  test('JSON is returned unchanged, with the order of its keys unless the database sorts them', async () => {
    const given = { z: 1, a: [1.5, -0.25, 1e21, null, true, '"\\\u2028é😀'], deep: { '10': 1, '2': {} }, '': '' };
    const values = [given, [], {}, 'text', 0, false, [[]]];
    const ids = values.map((_, at) => 10 + at);
    await engine.create(accessOf(), {
      collection: 'cells',
      records: values.map((value, at) => ({ id: ids[at], 'c Json': value })),
    });
    const filter = { field: 'id', operator: 'GreaterThanOrEqual', value: 10 } as const;
    const answer = await engine.list(accessOf(), { collection: 'cells', fields: ['c Json'], filter, limit: 20 });
    const texts = answer.rows.flat().map((value) => JSON.stringify(value));
    // jsonb orders keys by length.
    if (server.dialect === 'postgres') expect(answer.rows.flat()).toEqual(values);
    else expect(texts).toEqual(values.map((value) => JSON.stringify(value)));
    await engine.delete(accessOf(), { collection: 'cells', ids });
  });
});
