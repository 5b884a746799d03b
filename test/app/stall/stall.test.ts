// A sample of stall.long.test.ts: inputs that used to block a process for minutes on SQLite, when statements ran in the
// process.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { servers } from '../../databases.ts';
import { sqliteIsolates } from '../../sql/schemas.ts';
import { shapes } from './shapes.ts';
import { openStalled, type Stalled } from './stall.ts';

/** The shapes blocked the process until they ended, so one or two calls were answered beside them. */
const LEAST_CALLS = 5;

const sample = shapes.filter(({ name }) =>
  [
    'Match of many states over noise',
    'a long Like',
    'a thousand wrong names',
    'two hundred spellings of a timezone',
  ].includes(name),
);

let stalled: Stalled;
beforeAll(async () => {
  if (!sqliteIsolates) return;
  stalled = await openStalled(servers[0]!);
  await stalled.feel();
});
afterAll(() => stalled?.close());

test.runIf(sqliteIsolates).each(sample)('another user is served beside: $name', async (shape) => {
  const felt = await stalled.feel(shape);
  expect(felt.failures).toEqual([]);
  expect(felt.calls).toBeGreaterThanOrEqual(LEAST_CALLS);
});
