// A sample of the long test: processes that are killed while a schedule and a data change start runs.
import { describe, test } from 'vitest';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { servers } from '../databases.ts';
import { proveStartFaults } from './start-faults.ts';

// The WebAssembly driver has one lock for reads and writes, so several processes cannot share a storage.
describe.runIf(loadSqliteDriver().kind === 'native')('processes that die while they start runs', () => {
  test('no start is lost, and none happens twice', { timeout: 300_000 }, async () => {
    // The hook after an update runs between the commit and the confirmation of its starts.
    await proveStartFaults(servers.at(1) ?? servers[0]!, ['after claimOccurrence', 'after create', 'after an update']);
  });
});
