// PostgreSQL compiles statements with a high cost estimate (JIT), and cannot cancel them meanwhile. Filters over
// several levels of relations, on tables without statistics, took more than 20 seconds for 40 rows.
import { expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { connect } from '../agent/connection.ts';
import { accessOf } from '../agent/shop.ts';
import { servers } from '../databases.ts';

test.runIf(servers.some(({ dialect }) => dialect === 'postgres'))(
  'sessions with PostgreSQL do not compile statements',
  async () => {
    const database = await servers.find(({ dialect }) => dialect === 'postgres')!.create();
    const connection = await connect(database);
    await connection.run("create view session as select current_setting('jit') as jit", []);
    await connection.end();
    const agent = createHeadlessAgent().addDataSource(() =>
      createSqlSource(database.url, { clock: systemClock, observe: () => {} }),
    );
    const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
    const engine = await agent.createEngine({ observe: () => {}, clock: systemClock, limits });
    try {
      const { rows } = await engine.list(accessOf(), { collection: 'session', fields: ['jit'], limit: 1 });
      expect(rows).toEqual([['off']]);
    } finally {
      await engine.close();
      await database.drop();
    }
  },
);
