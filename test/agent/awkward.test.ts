// The awkward schema of test/sql, and a column of every type, through the engine.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { nastySchema, runSql, typeSchemas } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const access = accessOf();
const binaryKey = {
  sqlite: ['create table tokens (id blob primary key not null, nr integer)', `x'00ff'`, `x'01'`, `x'00'`],
  mariadb: ['create table tokens (id varbinary(16) primary key, nr integer)', `x'00ff'`, `x'01'`, `x'00'`],
  postgres: ['create table tokens (id bytea primary key, nr integer)', `'\\x00ff'`, `'\\x01'`, `'\\x00'`],
};

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    const [create, ...keys] = binaryKey[server.dialect];
    const tokens = keys.map((key, nr) => `insert into tokens values (${key}, ${nr})`);
    await runSql(database, [...nastySchema(server.dialect), ...typeSchemas[server.dialect], create!, ...tokens]);
    const source = createSqlSource(database.url, { observe: () => {}, clock: systemClock });
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
    engine = await createEngine({ sources: [source], observe: () => {}, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  test('every collection lists every column of as many records as it counts', async () => {
    const told: unknown[] = [];
    for (const { name, fields } of engine.index(access)) {
      const answer = await engine.list(access, { collection: name, limit: 100 });
      const count = await engine.count(access, { collection: name });
      told.push([
        name,
        answer.rows.length === count,
        answer.columns.length === fields,
        answer.rows.every((row) => row.length === fields),
      ]);
    }
    expect(told).toEqual(engine.index(access).map(({ name }) => [name, true, true, true]));
    expect(told.length).toBeGreaterThan(6);
  });

  test('pages of one record, sorted by any column in both directions, show every record once', async () => {
    for (const { name } of engine.index(access)) {
      const { key, fields } = engine.describe(access, name);
      if (key.length === 0) continue;
      const all = (await engine.list(access, { collection: name, fields: key, limit: 100 })).rows.map(String).sort();
      for (const field of fields.filter(({ sortable }) => sortable))
        for (const ascending of [true, false]) {
          const request = { collection: name, fields: key, sort: [{ field: field.name, ascending }], limit: 1 };
          const seen: string[] = [];
          for (let cursor: string | undefined, more = true; more && seen.length <= all.length; ) {
            const answer = await engine.list(access, { ...request, ...(cursor && { cursor }) });
            seen.push(...answer.rows.map(String));
            cursor = answer.cursorAfter(0);
            more = answer.hasMore;
          }
          expect(seen.sort(), `${name} by ${field.name} ${ascending}`).toEqual(all);
        }
    }
  });

  test('a returned value finds its record in a filter', async () => {
    for (const { name } of engine.index(access)) {
      const { fields } = engine.describe(access, name);
      const { rows, columns } = await engine.list(access, { collection: name, limit: 100 });
      for (const field of fields)
        for (const row of rows) {
          const value = row[columns.indexOf(field.name)];
          for (const filter of [
            { field: field.name, operator: 'Equal', value },
            { field: field.name, operator: 'In', value: [value] },
          ] as const) {
            if (!field.operators.includes(filter.operator)) continue;
            const found = await engine.list(access, { collection: name, filter, limit: 100 });
            expect(found.rows, `${name}.${field.name} ${filter.operator} ${value}`).toContainEqual(row);
          }
        }
    }
  });

  test('cursors continue after a binary key', async () => {
    const request = { collection: 'tokens', limit: 1 };
    const first = await engine.list(access, request);
    const second = await engine.list(access, { ...request, cursor: first.cursorAfter(0)! });
    const third = await engine.list(access, { ...request, cursor: second.cursorAfter(0)! });
    expect([first, second, third].map(({ rows, hasMore }) => [...rows[0]!, hasMore])).toEqual([
      ['00', 2, true],
      ['00ff', 0, true],
      ['01', 1, false],
    ]);
  });
});
