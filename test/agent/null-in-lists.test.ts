// What null means to operators that take lists, for a field and for an array, on every source.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const parts = { observe: () => undefined, clock: systemClock };
const memory = () =>
  createMemorySource('memory', [
    {
      name: 'notes',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'word', type: 'String', nullable: true },
        { name: 'tags', type: ['String'], nullable: true },
      ],
      primaryKey: ['id'],
      rows: [
        [1, 'a', ['a', 'b']],
        [2, 'b', []],
        [3, null, null],
      ],
    },
  ]);
const list = { postgres: 'text[]', mariadb: "set('a', 'b')", sqlite: undefined } as const;
const rows = {
  postgres: "(1, 'a', '{a,b}'), (2, 'b', '{}'), (3, null, null)",
  mariadb: "(1, 'a', 'a,b'), (2, 'b', ''), (3, null, null)",
  sqlite: "(1, 'a'), (2, 'b'), (3, null)",
} as const;

const asked: readonly (readonly [
  field: 'word' | 'tags',
  operator: string,
  value: unknown,
  ids: readonly number[] | 'refused',
])[] = [
  ['word', 'In', ['a', null], [1, 3]],
  ['word', 'In', [null], [3]],
  ['word', 'In', [], []],
  ['word', 'NotIn', ['a'], [2, 3]],
  ['word', 'NotIn', ['a', null], [2]],
  ['word', 'NotIn', [null], [1, 2]],
  ['word', 'NotIn', [], [1, 2, 3]],
  ['word', 'NotContains', 'a', [2, 3]],
  ['tags', 'IncludesNone', ['a'], [2, 3]],
  ['tags', 'IncludesNone', [], 'refused'],
  ['tags', 'IncludesAll', ['a'], [1]],
  ['tags', 'IncludesAll', [], 'refused'],
  ['tags', 'IncludesNone', ['a', null], 'refused'],
  ['tags', 'IncludesAll', [null], 'refused'],
];

describe.each([...servers.map(({ dialect }) => dialect), 'memory' as const])('%s', (dialect) => {
  let database: TestDatabase | undefined;
  let engine: Engine;
  beforeAll(async () => {
    const server = servers.find((each) => each.dialect === dialect);
    database = await server?.create();
    if (database && dialect !== 'memory')
      await runSql(database, [
        `create table notes (id integer not null primary key, word varchar(9)${list[dialect] ? `, tags ${list[dialect]}` : ''})`,
        `insert into notes values ${rows[dialect]}`,
      ]);
    const url = database?.url;
    const agent = createHeadlessAgent().addDataSource(() => (url ? createSqlSource(url, parts) : memory()));
    engine = await agent.createEngine({ ...parts, limits: { pageSizeLimit: 10, queryTimeoutMs: 5000 } });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });
  const find = async (filter: unknown) =>
    (await engine.list(accessOf(), { collection: 'notes', fields: ['id'], filter: filter as never, limit: 9 })).rows
      .flat()
      .map(Number)
      .sort();

  test.each(asked.filter(([field]) => field === 'word' || dialect !== 'sqlite'))(
    '%s %s %j',
    async (field, operator, value, ids) => {
      const filter = { field, operator, value };
      const denied = { aggregator: 'Not', conditions: [filter] };
      if (ids === 'refused') {
        const refused = {
          code: 'INVALID_VALUE',
          message: expect.stringMatching(/at least one value, without null; use Missing for records without an array/),
        };
        await expect(find(filter)).rejects.toMatchObject(refused);
        await expect(find(denied)).rejects.toMatchObject(refused);
        return;
      }
      expect([await find(filter), await find(denied)]).toEqual([ids, [1, 2, 3].filter((id) => !ids.includes(id))]);
    },
  );
});
