import { expect, test, vi } from 'vitest';
import { startServer } from './place.ts';

test('loading and serving writes nothing to the console', async () => {
  const spies = (['log', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name));
  const place = await startServer();
  await fetch(`${place.local}/oauth/jwks`);
  await fetch(`${place.local}/oauth/authorize?client_id=nobody`);
  await place.stop();
  expect(spies.flatMap((spy) => spy.mock.calls)).toEqual([]);
});
