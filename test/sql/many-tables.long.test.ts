// 3,000 tables: at most 8 statements, a start of less than 3 s of processor time, and answers of bounded size.
import { expect, onTestFinished, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlDataSource } from '../../src/agent/data-sources.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { accessOf } from '../agent/shop.ts';
import { servers } from '../databases.ts';
import { runSql } from './schemas.ts';
import { wideSchema } from './wide-schema.ts';

test.each([...servers])('$dialect: 3,000 tables', async (server) => {
  const database = await server.create();
  onTestFinished(() => database.drop(true));
  const tables = wideSchema(server.dialect, 3000);
  // One transaction would need a lock for each table.
  for (let at = 0; at < tables.length; at += 100) await runSql(database, tables.slice(at, at + 100));
  const observed: Observation[] = [];
  const before = process.cpuUsage();
  const engine = await createHeadlessAgent()
    .addDataSource(createSqlDataSource(database.url))
    .createEngine({
      observe: (one) => observed.push(one),
      clock: systemClock,
      limits: { pageSizeLimit: 1000, queryTimeoutMs: 30_000 },
    });
  const { user } = process.cpuUsage(before);
  onTestFinished(() => engine.close());
  const [read] = observed.filter((one) => one.type === 'source.introspected');
  console.log(`${server.dialect}: ${Math.round(user / 1000)} ms of processor time`, read);
  expect(engine.index(accessOf({})).length).toBe(3000);
  expect(read?.statements).toBeLessThanOrEqual(8);
  expect(user / 1000).toBeLessThan(3000);
});
