// A read-only view, with code that writes to the table behind it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { refusalOf } from './attempt.ts';
import { connect } from './connection.ts';
import { accessOf } from './shop.ts';

const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    const connection = await connect(database);
    await connection.run('create table people (id int not null primary key, name varchar(20), age int)', []);
    await connection.run('create view adults as select id, name, age from people where age >= 18', []);
    await connection.end();
    const agent = createHeadlessAgent().addDataSource(() =>
      createSqlSource(database.url, { clock: systemClock, observe: () => {} }),
    );
    agent.customizeCollection('adults', (adults) =>
      adults
        .addFieldValidation('age', 'GreaterThan', 17)
        .overrideCreate(({ data, collection }) => collection('people').create(data)),
    );
    engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine?.close();
    await database?.drop();
  });

  test('overrideCreate makes a view writable, except under a row scope, and validation rules apply', async () => {
    const create = (access: ReturnType<typeof accessOf>, record: Record<string, unknown>) =>
      engine.create(access, { collection: 'adults', records: [record] });
    const { records } = await create(accessOf(), { id: 1, name: 'Ada', age: 36 });
    const scopes = { adults: { field: 'age', operator: 'GreaterThan', value: 20 } } as const;
    const listed = await engine.list(accessOf(), { collection: 'adults', limit: 5 });
    expect([
      records,
      (await refusalOf(create(accessOf(), { id: 2, name: 'Bo', age: 3 }))).code,
      (await refusalOf(create(accessOf({ scopes }), { id: 3, name: 'Cy', age: 30 }))).code,
      listed.rows,
      engine.index(accessOf()).map(({ name, writable }) => [name, writable]),
      (await refusalOf(engine.delete(accessOf(), { collection: 'adults', ids: [1] }))).code,
    ]).toEqual([
      [{ id: 1, name: 'Ada', age: 36 }],
      'INVALID_RECORD',
      'READ_ONLY',
      [[1, 'Ada', 36]],
      [
        ['adults', true],
        ['people', true],
      ],
      'READ_ONLY',
    ]);
  });
});
