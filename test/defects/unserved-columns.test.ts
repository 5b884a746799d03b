// A required column that is not served: the error blames none of the given fields, and points to the operator.
import { expect, onTestFinished, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { accessOf } from '../agent/shop.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';

const parts = { observe: () => undefined, clock: systemClock };

test.each(servers)('$dialect', async ({ create }) => {
  const database = await create();
  const columns = 'id integer not null primary key, street varchar(20) not null';
  await runSql(database, [`create table addresses (${columns})`]);
  const agent = createHeadlessAgent().addDataSource(() => createSqlSource(database.url, parts));
  const engine = await agent.createEngine({ ...parts, limits: { pageSizeLimit: 10, queryTimeoutMs: 5000 } });
  onTestFinished(async () => {
    await engine.close();
    await database.drop();
  });
  await runSql(database, [
    'drop table addresses',
    `create table addresses (${columns}, hidden_place integer not null)`,
  ]);
  const created = engine.create(accessOf(), { collection: 'addresses', records: [{ id: 1, street: 'Main' }] } as never);
  const error = await created.then(
    () => undefined,
    (thrown: unknown) => thrown as { code: string; message: string; details: { problems: { field: string }[] } },
  );
  expect([error?.code, error?.details.problems.map(({ field }) => field)]).toEqual(['INVALID_RECORD', ['the record']]);
  expect(error?.message).toMatch(/a column that is not served.*Ask the operator to add a default in the database/);
  expect(error?.message).not.toMatch(/street|hidden_place/);
});
