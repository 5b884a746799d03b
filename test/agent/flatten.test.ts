// Flattened JSON columns of real databases, read and written like other fields.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { flattenJsonColumn, flattenRelation } from '../../src/plugins/index.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf, type Rights } from './shop.ts';

const json = { sqlite: 'json', mariadb: 'json', postgres: 'jsonb' };

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      `create table teams (id int not null primary key, name varchar(20) not null)`,
      `create table players (id int not null primary key, team_id int null references teams (id), data ${json[server.dialect]} null)`,
      `insert into teams values (1, 'Reds'), (2, 'Blues')`,
      `insert into players values (1, 1, '{"name": "Ada", "stats": {"goals": 3, "cards": null}, "old": [1, 2.5]}')`,
      `insert into players values (2, 2, '{"name": "Bo"}'), (3, null, null)`,
    ]);
    const agent = createHeadlessAgent()
      .addDataSource(() => createSqlSource(database.url, { observe: () => {}, clock: systemClock }))
      .customizeCollection('players', (players) =>
        players
          .use(flattenJsonColumn, {
            columnName: 'data',
            columnType: { name: 'String', stats: { goals: 'Number', cards: 'Number' } },
            level: 2,
          })
          .use(flattenRelation, { relationName: 'team', include: ['name'] })
          .emulateFieldFiltering('data@@@stats@@@goals')
          .emulateFieldSorting('data@@@stats@@@goals')
          .addField('all', {
            columnType: 'Json',
            dependencies: ['data'],
            getValues: (records) => records.map(({ data }) => data),
          }),
      );
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
    engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  const collection = 'players';
  const list = async (request: object, rights?: Rights) =>
    (await engine.list(accessOf(rights), { collection, limit: 9, ...request })).rows;

  test('flattened fields are read, and filtered and sorted if that is emulated', async () => {
    const goals = 'data@@@stats@@@goals';
    expect([
      await list({ fields: ['data@@@name', goals, 'team@@@name'] }),
      await list({ fields: ['id'], filter: { field: goals, operator: 'GreaterThan', value: 2 } }),
      await list({ fields: ['id'], sort: [{ field: goals }, { field: 'id', ascending: false }] }),
      await list({ fields: ['id'], filter: { field: 'team@@@name', operator: 'Equal', value: 'Blues' } }),
      // If no field has this name, it is a path.
      await list({ fields: ['team@@@id'], limit: 1 }),
    ]).toEqual([
      [
        ['Ada', 3, 'Reds'],
        ['Bo', null, 'Blues'],
        [null, null, null],
      ],
      [[1]],
      [[3], [2], [1]],
      [[2]],
      [[1]],
    ]);
  });

  test('writing a flattened field keeps the rest of the object, and nested writes work', async () => {
    await engine.update(accessOf(), {
      collection,
      ids: [1],
      values: { 'data@@@stats@@@goals': 4, 'data@@@name': 'Ada L', 'team@@@name': 'Crimsons' },
    });
    await engine.create(accessOf(), { collection, records: [{ id: 4, 'data@@@stats@@@cards': 1 }] });
    expect(
      await list({ fields: ['all', 'team@@@name'], filter: { field: 'id', operator: 'In', value: [1, 4] } }),
    ).toEqual([
      [{ name: 'Ada L', stats: { goals: 4, cards: null }, old: [1, 2.5] }, 'Crimsons'],
      [{ stats: { cards: 1 } }, null],
    ]);
  });

  test('flattened fields of records outside the row scope are not written', async () => {
    const scopes = { players: { field: 'id', operator: 'Equal', value: 1 } } as const;
    const filter = { field: 'id', operator: 'In', value: [1, 2] } as const;
    const answer = await engine.update(accessOf({ scopes }), { collection, filter, values: { 'data@@@name': 'Only' } });
    expect([answer.count, await list({ fields: ['data@@@name'], filter })]).toEqual([1, [['Only'], ['Bo']]]);
    await expect(
      engine.update(accessOf({ scopes }), { collection, ids: [2], values: { 'data@@@name': 'x' } }),
    ).rejects.toMatchObject({ code: 'RECORD_NOT_FOUND' });
  });

  test('a hidden relation has no flattened fields', async () => {
    await expect(list({ fields: ['team@@@name'] }, { browse: ['players'] })).rejects.toMatchObject({
      code: 'UNKNOWN_FIELD',
    });
  });
});
