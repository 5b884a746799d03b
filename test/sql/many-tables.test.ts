// Schemas of many tables: few statements, and work in proportion to their number. many-tables.long.test.ts has 3,000.
import { Session } from 'node:inspector/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlDataSource } from '../../src/agent/data-sources.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { toolVisibility } from '../../src/mcp/visibility/visibility.ts';
import { accessOf } from '../agent/shop.ts';
import { servers } from '../databases.ts';
import { runSql } from './schemas.ts';
import { wideSchema } from './wide-schema.ts';

test.each([...servers])(
  '$dialect: 300 tables take at most 8 statements',
  async (server) => {
    const keyed = server.dialect === 'mariadb' ? 3 : 300;
    const database = await server.create();
    await runSql(database, wideSchema(server.dialect, 300, keyed));
    const observed: Observation[] = [];
    const source = createSqlSource(database.url, { observe: (one) => observed.push(one), clock: systemClock });
    onTestFinished(async () => {
      await source.close();
      await database.drop();
    });
    const described = await source.describe();
    const [read] = observed.filter((one) => one.type === 'source.introspected');
    expect({
      tables: described.tables.length,
      columns: described.tables.flatMap((table) => table.columns).length,
      foreignKeys: described.tables.flatMap((table) => table.foreignKeys).length,
    }).toEqual({ tables: 300, columns: 2400, foreignKeys: (keyed - 1) * 3 });
    expect(read?.statements).toBeLessThanOrEqual(8);
    expect(await source.version?.()).toBe(described.version);
  },
  60_000,
);

/** Calls of functions of the engine while `work` runs. The same in every run, unlike a time. */
async function countCalls(work: () => Promise<void>): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  await session.post('Profiler.stopPreciseCoverage');
  session.disconnect();
  return result
    .filter(({ url }) => /\/src\/(?:agent|mcp)\//.test(url))
    .flatMap(({ functions }) => functions.map(({ ranges }) => ranges[0]?.count ?? 0))
    .reduce((sum, count) => sum + count, 0);
}

test('three times the tables take about three times the function calls: start, index and tool list', async () => {
  const [sqlite] = servers.filter(({ dialect }) => dialect === 'sqlite');
  if (!sqlite) return;
  const callsFor = async (tables: number): Promise<number> => {
    const database = await sqlite.create();
    onTestFinished(() => database.drop());
    await runSql(database, wideSchema('sqlite', tables));
    return countCalls(async () => {
      const engine = await createHeadlessAgent()
        .addDataSource(createSqlDataSource(database.url))
        .createEngine({
          observe: () => undefined,
          clock: systemClock,
          limits: { pageSizeLimit: 1000, queryTimeoutMs: 30_000 },
        });
      const access = accessOf({});
      expect(engine.index(access).length).toBe(tables);
      for (const isVisible of Object.values(toolVisibility)) isVisible(access, engine, []);
      await engine.close();
    });
  };
  // Fills the caches of types.
  await callsFor(10);
  const few = await callsFor(100);
  const many = await callsFor(300);
  expect(few).toBeGreaterThan(10_000);
  expect(many / few).toBeLessThan(3.3);
}, 60_000);
