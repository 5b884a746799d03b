// A sample of the long test: kills a database under a working executor, and restarts it.
import { afterAll, describe, expect, test } from 'vitest';
import { servers } from '../databases.ts';
import { makeServer, type OwnServer, ownDialects } from './own-databases.ts';
import { proveRestarts } from './restarts.ts';

const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
let server: OwnServer | undefined;
afterAll(() => server?.remove());

// Vitest requires a test in each file.
if (ownDialects.length === 0) test.skip('skipped: needs a database server', () => {});

// The server that is initialized fastest.
describe.each(ownDialects.slice(-1))('%s is restarted', { timeout: 120_000 }, (dialect) => {
  test(`once, with the storage and the served database (TEST_SEED=${seed})`, async () => {
    server = await makeServer(dialect);
    const seen = await proveRestarts(server, servers[0]!, { holds: 'both', restarts: 1, workers: 1, seed });
    expect(seen.runs).toBe(16);
    for (const warning of seen.warnings)
      expect(warning).toMatch(
        /^(The |A write was refused: |Failed to |Releasing |SERVICE_|Runs? |A (run|step) of )[^\n]{10,}/,
      );
  });
});
