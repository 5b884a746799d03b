// Processes that are killed at each point while a schedule and a data change start runs.
import { describe, test } from 'vitest';
import { servers } from '../databases.ts';
import { POINTS, proveStartFaults } from './start-faults.ts';

describe.each(servers)('processes that die while they start runs, on $dialect', { timeout: 1_800_000 }, (server) => {
  test('no start is lost, and none happens twice', async () => {
    await proveStartFaults(
      server,
      Array.from({ length: POINTS }, (_, at) => at + 1),
    );
  });
});
