import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { errorShape, notesPath, openWays, shapeOf, type Ways } from '../api/ways.ts';

let late = 0;
let ways: Ways;
beforeAll(async () => {
  ways = await openWays({ app: { clock: { ...systemClock, now: () => Date.now() + late } } });
  await ways.addUser({ email: 'edda@example.com', level: 'editor' });
});
afterAll(() => ways?.stop());

test('401 | missing, invalid or expired token | { error: <text>, message: <text> }', async () => {
  const { secret: expired } = await ways.make(['all'], { expiresAt: Date.now() + 30_000 });
  const before = await ways.ask(notesPath, { secret: expired });
  late = 31_000;
  const answers = [
    await ways.ask(notesPath),
    await ways.ask(notesPath, { secret: `svc_${'x'.repeat(43)}` }),
    await ways.ask(notesPath, { secret: expired }),
  ];
  late = 0;
  expect([before.status, ...answers.map(({ status }) => status)]).toEqual([200, 401, 401, 401]);
  expect(answers.map(shapeOf)).toEqual([errorShape, errorShape, errorShape]);
});

test('403 | token lacks the required scope or permission | { error: <text>, message: <text> }', async () => {
  const { secret: scope } = await ways.make(['activity_logs:read']);
  const { secret: level } = await ways.make(['notes:read']);
  const { secret: role } = await ways.make(['all'], { email: 'edda@example.com' });
  const body = JSON.stringify({ title: 'T', collectionName: 'orders', recordId: '1' });
  const headers = { 'Content-Type': 'application/json' };
  const answers = [
    await ways.ask(notesPath, { secret: scope }),
    await ways.ask(notesPath, { secret: level, method: 'POST', body, headers }),
    await ways.ask(notesPath, { secret: role }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect(answers.map(shapeOf)).toEqual([errorShape, errorShape, errorShape]);
  expect(answers.map(({ json }) => json?.message)).toEqual([
    expect.stringContaining('notes:read'),
    expect.stringContaining('notes:write'),
    expect.stringContaining('Admin role'),
  ]);
});

test('An expired token gives 401 with a message saying it has expired.', async () => {
  const { secret } = await ways.make(['all'], { expiresAt: Date.now() + 30_000 });
  late = 30_000;
  const { status, json } = await ways.ask(notesPath, { secret });
  late = 0;
  expect([status, json?.message]).toEqual([401, expect.stringContaining('has expired')]);
});
