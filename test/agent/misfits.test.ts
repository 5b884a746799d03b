// A stored value that does not fit its declared type reads as empty, with a warning. Other records are not affected.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { flattenJsonColumn } from '../../src/plugins/index.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

/** The stored text, and the value that each field shows. */
const cells: readonly (readonly [stored: string, name: unknown, goals: unknown, tags: unknown])[] = [
  ['{"name": "Ada", "stats": {"goals": 3}, "tags": ["a"]}', 'Ada', 3, ['a']],
  ['{"name": {"first": "Bo"}, "stats": {"goals": "many"}, "tags": "a"}', null, null, null],
  ['{"name": ["Cy"], "stats": "none", "tags": {"a": 1}}', null, null, null],
  ['{"name": "Di", "stats": [1], "tags": ["a", {"b": 1}]}', 'Di', null, null],
  ['[1, 2]', null, null, null],
  ['"text"', null, null, null],
  ['7', null, null, null],
  ['null', null, null, null],
  ['{"name": "Eve", "stats": {"goals": true}, "tags": [null]}', 'Eve', null, [null]],
  ['{"name": "Flo", "stats": {"goals": 5}, "tags": []}', 'Flo', 5, []],
];
const json = { sqlite: 'json', mariadb: 'json', postgres: 'jsonb' };

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  const observed: Observation[] = [];
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [
      `create table players (id int not null primary key, data ${json[server.dialect]} null)`,
      ...cells.map(([stored], at) => `insert into players values (${at + 1}, '${stored}')`),
    ]);
    const agent = createHeadlessAgent()
      .addDataSource(() => createSqlSource(database.url, { observe: () => {}, clock: systemClock }))
      .customizeCollection('players', (players) =>
        players
          .use(flattenJsonColumn, {
            columnName: 'data',
            columnType: { name: 'String', stats: { goals: 'Number' }, tags: ['String'] },
            level: 2,
          })
          .emulateFieldFiltering('data@@@stats@@@goals')
          .emulateFieldSorting('data@@@stats@@@goals')
          .addField('broken', { columnType: 'Number', dependencies: ['id'], getValues: (all) => all.map(() => 'x') }),
      );
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
    engine = await agent.createEngine({ observe: (one) => observed.push(one), clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  const parts = ['data@@@name', 'data@@@stats@@@goals', 'data@@@tags'];
  const list = async (request: object) =>
    (await engine.list(accessOf(), { collection: 'players', limit: 99, ...request })).rows;

  test('all records are listed, filtered and sorted', async () => {
    expect(await list({ fields: parts, sort: [{ field: 'id' }] })).toEqual(cells.map(([, ...shown]) => shown));
    const goals = 'data@@@stats@@@goals';
    expect(await list({ fields: ['id'], filter: { field: goals, operator: 'GreaterThan', value: 3 } })).toEqual([[10]]);
    const sorted = await list({ fields: ['id'], sort: [{ field: goals, ascending: false }] });
    expect([sorted.length, sorted[0], sorted[1]]).toEqual([cells.length, [10], [1]]);
  });

  test('such values are logged once per field, without the values', async () => {
    await list({ fields: parts });
    await list({ fields: parts });
    const warnings = observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));
    expect(warnings.filter((text) => text.includes('data@@@tags'))).toEqual([
      expect.stringMatching(
        /^3 stored values of 'data@@@tags', added at .*misfits\.test\.ts:\d+,.* are not of the declared type and shown as empty\.$/,
      ),
    ]);
    expect(warnings.join()).not.toContain('many');
  });

  test('a value of code with the wrong type still gives CUSTOMIZATION_FAILED', async () => {
    await expect(list({ fields: ['broken'] })).rejects.toMatchObject({ code: 'CUSTOMIZATION_FAILED' });
  });
});
