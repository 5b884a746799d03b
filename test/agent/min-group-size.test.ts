// The minimum group size: figures of few records are not shown, and others do not reveal them.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import type { Access } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { findLeaks } from './group-leaks.ts';
import { accessOf } from './shop.ts';

/** Department, gender, salary, year. The people of `c` are few, and so are the women of `b`. */
const people: (readonly [string | null, string, number | null, number])[] = [
  ...Array.from({ length: 12 }, (_, at) => ['a', at % 2 ? 'f' : 'm', 100 + at, 2020 + (at % 2)] as const),
  ...Array.from({ length: 8 }, (_, at) => ['b', at < 2 ? 'f' : 'm', 200 + at, 2020] as const),
  ...Array.from({ length: 3 }, (_, at) => ['c', 'm', 300 + at, 2020] as const),
  ...Array.from({ length: 6 }, (_, at) => [null, 'f', at < 2 ? 400 + at : null, 2021] as const),
];

const tables: readonly MemoryTable[] = [
  {
    name: 'departments',
    columns: [
      { name: 'code', type: 'String' },
      { name: 'city', type: 'String' },
    ],
    primaryKey: ['code'],
    rows: [
      ['a', 'Oslo'],
      ['b', 'Oslo'],
      ['c', 'Bergen'],
    ],
  },
  {
    name: 'people',
    columns: [
      { name: 'id', type: 'Number' },
      { name: 'department', type: 'String', nullable: true },
      { name: 'gender', type: 'String' },
      { name: 'salary', type: 'Number', nullable: true },
      { name: 'hired', type: 'Dateonly' },
    ],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['department'], table: 'departments', targetColumns: ['code'] }],
    rows: people.map(([department, gender, salary, year], at) => [
      at,
      department,
      gender,
      salary,
      `${year}-03-0${1 + (at % 9)}`,
    ]),
  },
];

const by = ['department', 'gender', { field: 'hired', bucket: 'Year' }] as const;
const ofField = (agent: HeadlessAgent) =>
  void agent
    .customizeCollection('people', (each) => each.setMinGroupSize(5, { fields: ['salary'], by }))
    .addMetric('high', {
      collection: 'people',
      measure: { count: 'salary' },
      filter: { field: 'salary', operator: 'GreaterThan', value: 206 },
    })
    .addMetric('mean', { collection: 'people', measure: { avg: 'salary' } });
const ofCollection = (agent: HeadlessAgent) =>
  void agent.customizeCollection('people', (each) => each.setMinGroupSize(5, { by: ['gender', 'department'] }));

const open = (
  source: ReturnType<typeof createMemorySource>,
  customize: (agent: HeadlessAgent) => void,
): Promise<Engine> => {
  const agent = createHeadlessAgent().addDataSource(() => source);
  customize(agent);
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
  return agent.createEngine({ observe: () => undefined, clock: systemClock, limits });
};
const openMemory = (customize: (agent: HeadlessAgent) => void) => open(createMemorySource('memory', tables), customize);

type Given = Omit<AggregateRequest, 'collection' | 'limit'>;
const askOf =
  (engine: Engine) =>
  async (given: Given, access: Access = accessOf()) => {
    const { rows, note } = await engine.aggregate(access, { collection: 'people', limit: 50, ...given });
    return { rows: rows.map((row) => [...row]), note };
  };
const note = 'Groups and figures of fewer than 5 records are not shown, nor others that would reveal them.';
const is = (field: string, value: unknown) => ({ field, operator: 'Equal', value }) as const;
const sum = { sum: { sum: 'salary' } } as const;

describe.each([{ dialect: 'memory' } as const, ...servers])('$dialect', (server) => {
  let engine: Engine;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    if (server.dialect === 'memory') {
      engine = await openMemory(ofField);
      return;
    }
    const database = await server.create();
    const quoted = (value: unknown) => (value === null || typeof value === 'number' ? String(value) : `'${value}'`);
    await runSql(database, [
      'create table departments (code varchar(9) primary key, city varchar(9) not null)',
      'create table people (id integer primary key, department varchar(9) references departments (code), gender varchar(9) not null, salary integer, hired date not null)',
      ...tables.map(({ name, rows }) => `insert into ${name} values ${rows.map((row) => `(${row.map(quoted)})`)}`),
    ]);
    engine = await open(createSqlSource(database.url, { observe: () => undefined, clock: systemClock }), ofField);
    ends.push(
      () => engine.close(),
      () => database.drop(),
    );
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('hides small groups, and another group if a total would reveal them', async () => {
    const ask = askOf(engine);
    const groups = ['department'];
    const sort = [{ group: 0 }];
    // 3 records of c are too few, and so are the 2 salaries without department: together they are 5.
    expect(await ask({ measures: { n: { count: true }, ...sum }, groups, sort })).toEqual({
      rows: [
        ['a', 12, 1266],
        ['b', 8, 1628],
      ],
      note,
    });
    expect((await ask({ measures: sum })).rows).toEqual([[1266 + 1628 + 903 + 801]]);
    // The women of b are too few. Their department has others, so these are hidden too, and so are the women of another.
    const { rows } = await ask({ measures: sum, groups: ['department', 'gender'] });
    expect(rows.filter(([department, gender]) => department === 'b' && gender !== null)).toEqual([]);
  });

  test('hides figures of filters, of conditions of measures and of metrics', async () => {
    const ask = askOf(engine);
    expect(await ask({ measures: sum, filter: is('department', 'c') })).toEqual({ rows: [[null]], note });
    expect((await ask({ measures: sum, filter: is('department', 'a') })).rows).toEqual([[1266]]);
    // An empty group reveals no record.
    expect((await ask({ measures: { n: { count: 'salary' } }, filter: is('department', 'x') })).rows).toEqual([[0]]);
    const not = { aggregator: 'Not', conditions: [is('department', 'c')] } as const;
    expect((await ask({ measures: sum, filter: not })).rows).toEqual([[null]]);
    const measures = { few: { ...sum.sum, where: is('department', 'c') }, all: sum.sum } as const;
    expect((await ask({ measures })).rows).toEqual([[null, 4598]]);
    // 1 record of b, 3 of c and 2 without department are above: too few each; of b, 7 are left out.
    expect((await ask({ measures: { high: { metric: 'high' } } })).rows).toEqual([[6]]);
    expect(
      (await ask({ measures: { high: { metric: 'high' }, mean: { metric: 'mean' } }, filter: is('department', 'b') }))
        .rows,
    ).toEqual([[null, 203.5]]);
  });

  test('excludes hidden groups from shares, running totals, having, top, over and pages', async () => {
    const ask = askOf(engine);
    const groups = ['department'];
    const sort = [{ group: 0 }];
    const measures = { ...sum, part: { share: 'sum' }, total: { running: 'sum' } } as const;
    const { rows } = await ask({ measures, groups, sort });
    expect(rows.map(([name, , , total]) => [name, total])).toEqual([
      ['a', 1266],
      ['b', 2894],
    ]);
    expect(rows.reduce((all, row) => all + Number(row[2]), 0)).toBeCloseTo(1);
    // The rank of a group says nothing about those that are not shown.
    expect((await ask({ measures: { ...sum, place: { rank: 'sum' } }, groups, sort })).rows).toEqual([
      ['a', 1266, 2],
      ['b', 1628, 1],
    ]);
    await expect(ask({ measures: { ...sum, filled: { coalesce: ['sum', 0] } }, groups })).rejects.toThrow(
      /^measures\.filled: figures of these fields are of at least \d+ records\. Leave coalesce out\.$/,
    );
    const having = { measure: 'sum', operator: 'LessThan', value: 1000 } as const;
    expect((await ask({ measures: sum, groups, having })).rows).toEqual([]);
    const top = { n: 1 };
    expect((await ask({ measures: sum, groups, top, sort: [{ measure: 'sum', ascending: true }] })).rows).toEqual([
      ['a', 1266],
    ]);
    const over = { groups, measures: sum } as const;
    expect(await ask({ over, measures: { least: { min: 'sum' } } })).toEqual({ rows: [[1266]], note });
    const periods = {
      measures: sum,
      groups: [{ field: 'hired', bucket: 'Year' }],
      filter: is('department', 'a'),
      compare: { previous: 1 },
      sort: [{ group: 0 }],
    } as const;
    expect((await ask(periods)).rows).toEqual([
      ['2020-01-01', 630, null],
      ['2021-01-01', 636, 630],
    ]);
    const pages = await engine.aggregate(accessOf(), { collection: 'people', measures: sum, groups, limit: 1, sort });
    expect([pages.rows, pages.hasMore]).toEqual([[['a', 1266]], true]);
    const next = { collection: 'people', measures: sum, groups, limit: 5, sort, cursor: pages.cursorAfter(0)! };
    expect((await engine.aggregate(accessOf(), next)).rows).toEqual([['b', 1628]]);
  });

  test('applies within a row scope', async () => {
    const scoped = accessOf({ scopes: { people: { field: 'id', operator: 'LessThan', value: 15 } } });
    expect((await askOf(engine)({ measures: sum, groups: ['department'] }, scoped)).rows).toEqual([]);
    expect((await askOf(engine)({ measures: sum }, scoped)).rows).toEqual([[1266 + 603]]);
  });
});

describe('a minimum group size of a field', () => {
  test.each<[Given, string]>([
    [{ measures: { m: { max: 'salary' } } }, 'It shows the value of one. Send count, countDistinct, sum or avg.'],
    [{ measures: { m: { median: 'salary' } } }, 'It shows the value of one.'],
    [{ measures: { m: { sum: { times: ['salary', 'id'] } } } }, 'not an expression or a path'],
    [{ measures: sum, groups: ['id'] }, 'They cannot be grouped by id. Usable: department, gender, year(hired).'],
    [{ measures: sum, groups: [{ field: 'hired', bucket: 'Month' }] }, 'They cannot be grouped by month(hired).'],
    [{ measures: sum, groups: ['salary'] }, 'They cannot be grouped by salary.'],
    [{ measures: { n: { count: true } }, filter: is('salary', 100) }, 'They cannot be filtered by salary.'],
    [{ measures: sum, filter: is('id', 1) }, 'They cannot be filtered by id. Usable: department, gender.'],
    [{ measures: sum, filter: { field: 'hired', operator: 'After', value: '2020-03-01' } }, 'filtered by hired'],
    [
      { measures: sum, filter: { field: 'department', operator: 'StartsWith', value: 'a' } },
      'Send Equal or In for department',
    ],
    [{ measures: { s: { sum: 'salary', where: is('id', 1) } } }, 'They cannot be filtered by id.'],
    [{ measures: sum, search: 'a' }, 'Send filters in place of search.'],
    [{ measures: sum, groups: ['gender'], includeEmpty: true }, 'Leave includeEmpty out.'],
    [{ operation: 'Min', field: 'salary' }, 'It shows the value of one.'],
  ])('refuses %j', async (given, text) => {
    const engine = await openMemory(ofField);
    const asked = askOf(engine)(given).then(
      ({ rows }) => JSON.stringify(rows),
      (error: Error) => error.message,
    );
    expect(await asked).toContain(text);
  });

  test('makes the field unknown in lists, filters, sorts, searches and relations', async () => {
    const engine = await openMemory(ofField);
    const access = accessOf();
    const unknown = { code: 'UNKNOWN_FIELD' };
    const list = (given: object) => engine.list(access, { collection: 'people', limit: 3, ...given });
    expect((await list({})).columns).toEqual(['id', 'department', 'gender', 'hired']);
    await expect(list({ fields: ['salary'] })).rejects.toMatchObject(unknown);
    await expect(list({ filter: is('salary', 100) })).rejects.toMatchObject(unknown);
    await expect(list({ sort: [{ field: 'salary' }] })).rejects.toMatchObject(unknown);
    await expect(list({ fields: ['salary'], distinct: true })).rejects.toMatchObject(unknown);
    expect((await list({ search: '100' })).rows).toEqual([]);
    await expect(engine.count(access, { collection: 'people', filter: is('salary', 100) })).rejects.toMatchObject(
      unknown,
    );
    const ofDepartments = (given: object) => engine.list(access, { collection: 'departments', limit: 3, ...given });
    await expect(ofDepartments({ fields: ['code', { name: 'm', max: 'people:salary' }] })).rejects.toThrow('salary');
    await expect(ofDepartments({ filter: { some: 'people', where: is('salary', 100) } })).rejects.toMatchObject(
      unknown,
    );
    const groups = ['people:salary'];
    const other = { collection: 'departments', limit: 3, measures: { n: { count: true } }, groups } as const;
    await expect(engine.aggregate(access, other)).rejects.toMatchObject(unknown);
    expect((await askOf(engine)({ measures: { n: { count: true } }, groups: ['id'] })).rows).toHaveLength(29);
    const described = engine.describe(access, 'people');
    expect(described.fields.map(({ name }) => name)).not.toContain('salary');
    expect(described.aggregates).toMatchObject({ minGroupSize: 5, fields: [{ name: 'salary' }], by: [...by] });
  });
});

describe('a minimum group size of a collection', () => {
  test('makes its records unreadable and protects counts', async () => {
    const engine = await openMemory(ofCollection);
    const access = accessOf();
    const forbidden = {
      code: 'FORBIDDEN',
      message: expect.stringContaining('it has only figures of at least 5 records: use aggregate'),
    };
    await expect(engine.list(access, { collection: 'people', limit: 3 })).rejects.toMatchObject(forbidden);
    await expect(engine.get(access, { collection: 'people', id: 1 })).rejects.toMatchObject(forbidden);
    await expect(
      engine.update(access, { collection: 'people', ids: [1], values: { gender: 'x' } }),
    ).rejects.toMatchObject(forbidden);
    const related = { collection: 'departments', id: 'c', relation: 'people', limit: 3 };
    await expect(engine.listRelated(access, related)).rejects.toThrow("no relation 'people'");
    await expect(engine.countRelated(access, related)).rejects.toThrow("no relation 'people'");
    await expect(
      engine.list(access, { collection: 'departments', filter: { some: 'people' }, limit: 3 }),
    ).rejects.toThrow();
    const count = (filter?: object) =>
      engine.count(access, { collection: 'people', ...(filter && { filter: filter as never }) });
    expect(await count()).toBe(29);
    expect(await count(is('department', 'a'))).toBe(12);
    await expect(count(is('department', 'c'))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(count(is('id', 1))).rejects.toThrow('They cannot be filtered by id');
    expect((await askOf(engine)({ operation: 'Count', groups: ['gender'], order: 'groups' })).rows).toEqual([
      ['f', 14],
      ['m', 15],
    ]);
    expect(engine.describe(access, 'people')).toMatchObject({ fields: [], relations: [] });
  });

  test.each([
    [(each: HeadlessAgent) => each.customizeCollection('people', (p) => p.setMinGroupSize(1)), 'a whole number from 2'],
    [
      (each: HeadlessAgent) => each.customizeCollection('people', (p) => p.setMinGroupSize(5, { fields: ['pay'] })),
      "no field 'pay'",
    ],
    [
      (each: HeadlessAgent) => each.customizeCollection('people', (p) => p.setMinGroupSize(5, { by: ['town'] })),
      "'town'",
    ],
    [
      (each: HeadlessAgent) =>
        each.customizeCollection('departments', (p) => p.setMinGroupSize(5, { by: ['people:id'] })),
      'leads to many records',
    ],
  ])('is refused at the start if it is invalid', async (customize, text) => {
    const started = openMemory((agent) => void customize(agent)).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    expect(await started).toContain(text);
  });
});

// group-leaks.long.test.ts tries more tables.
test.each([
  [1, [3, 3]],
  [2, [3, 2, 2]],
  [3, [4, 3]],
])('no sum or difference of figures reveals a small group (%i)', async (seed, sizes) => {
  const { shown, wrong, revealed } = await findLeaks(seed, sizes);
  expect({ wrong, revealed }).toEqual({ wrong: [], revealed: [] });
  expect(shown).toBeGreaterThan(10);
});
