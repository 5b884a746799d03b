// A comparison that fails for a row that the caller may not see: the error would reveal its value.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const tables = [
  'create table owners (id int primary key, grade int, word varchar(9))',
  'create table labels (id int primary key, owner_id int references owners(id), word varchar(9))',
  'create table visits (id int primary key, owner_id int references owners(id), n bigint, d double precision)',
  'create table calls (id int primary key, visit_id int)',
  "insert into owners values (1, 1, 'open'), (2, 2, 'shut')",
  "insert into labels values (1, 1, 'open'), (2, 2, 'shut')",
  'insert into visits values (1, 1, 10, 1.5), (2, 2, 4611686018427387904, 1.7e308), (3, 1, 20, 2.5)',
  'insert into calls values (1, 1), (2, 2), (3, 3)',
];

/** Cheap and dear to evaluate, on the row itself and behind relations. */
const scopes: readonly (readonly [name: string, scope: PlainFilter])[] = [
  ['a field', { field: 'id', operator: 'NotEqual', value: 2 }],
  ['a number of a related record', { field: 'owner:grade', operator: 'Equal', value: 1 }],
  ['a text of a related record', { field: 'owner:word', operator: 'Equal', value: 'open' }],
  ['related records', { some: 'owner:labels', where: { field: 'word', operator: 'Equal', value: 'open' } }],
  ['a comparison', { field: 'id', operator: 'NotEqual', other: 'owner:grade' } as PlainFilter],
];

const product = (field: string) =>
  ({ expression: { times: [field, { times: [field, field] }] }, operator: 'GreaterThan', value: 1 }) as const;
const present = { field: 'owner:id', operator: 'Present' } as const;

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, tables);
    const agent = createHeadlessAgent();
    agent.addDataSource(() => createSqlSource(database.url, { observe: () => undefined, clock: systemClock }));
    agent.customizeCollection('calls', (calls) =>
      calls.addManyToOneRelation('visit', 'visits', { foreignKey: 'visit_id' }),
    );
    agent.customizeCollection('visits', (visits) =>
      visits.addOneToManyRelation('calls', 'calls', { originKey: 'visit_id' }),
    );
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
    engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  test.each(scopes)(
    'a failing comparison is not evaluated for rows outside a row scope with %s',
    async (name, scope) => {
      // Visit 2 has the numbers that are out of range.
      const seen = name === 'a comparison' ? [3] : [1, 3];
      const access = accessOf({ scopes: { visits: scope } });
      const ids = async (collection: string, filter: unknown) =>
        (
          await engine.list(access, { collection, fields: ['id'], filter: filter as PlainFilter, limit: 9 })
        ).rows.flat();
      for (const field of ['n', 'd']) {
        const through = product(`visit:${field}`);
        const one = { field: 'visit:id', operator: 'In', value: [1, 2, 3] };
        expect(await ids('visits', product(field))).toEqual(seen);
        expect(await ids('visits', { aggregator: 'And', conditions: [product(field), present] })).toEqual(seen);
        expect(await ids('visits', { aggregator: 'Not', conditions: [product(field)] })).toEqual([]);
        expect(await ids('calls', through)).toEqual(seen);
        expect(await ids('calls', { aggregator: 'And', conditions: [one, through] })).toEqual(seen);
        expect(await ids('calls', { some: 'visit', where: product(field) })).toEqual(seen);
        expect(await ids('calls', { none: 'visit', where: product(field) })).toEqual(
          [1, 2, 3].filter((id) => !seen.includes(id)),
        );
        expect(await engine.count(access, { collection: 'visits', filter: product(field) as PlainFilter })).toBe(
          seen.length,
        );
      }
    },
  );
});
