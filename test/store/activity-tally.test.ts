// Counts of the activity log by hour, on every database.
import { expect, test } from 'vitest';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const FROM = 1_700_000_000_000;
const HOUR = 3_600_000;

test.each(variants)('$name counts by hour, kind and outcome, of one user or of all', async (variant) => {
  const place = await createPlace(variant);
  const store = await place.open();
  const log = (startedAt: number, more: Partial<ActivityEntry> = {}) =>
    store.activity.record({
      ...{ userId: 1, renderingId: 1, clientId: 'c', clientName: 'C', action: 'list', type: 'read', collection: 'a' },
      ...{ outcome: 'completed', durationMs: 1, startedAt, ...more },
    });
  log(FROM - 1);
  log(FROM);
  log(FROM + HOUR - 1);
  log(FROM + HOUR, { outcome: 'failed' });
  log(FROM + HOUR, { type: 'write', action: 'update', dryRun: true });
  log(FROM + 2 * HOUR + 5, { type: 'write', action: 'approve', userId: 2 });
  await store.activity.flush();
  const row = { type: 'read', outcome: 'completed', dryRun: false, isDecision: false };
  const own = [
    { ...row, hour: 0, count: 2 },
    { ...row, hour: 1, outcome: 'failed', count: 1 },
    { ...row, hour: 1, type: 'write', dryRun: true, count: 1 },
  ];
  const decision = { ...row, hour: 2, type: 'write', isDecision: true, count: 1 };
  const all = await store.activity.tally({ from: FROM });
  expect(all).toHaveLength(4);
  expect(all).toEqual(expect.arrayContaining([...own, decision]));
  const mine = await store.activity.tally({ from: FROM, userId: 1 });
  expect(mine).toHaveLength(3);
  expect(mine).toEqual(expect.arrayContaining(own));
});
