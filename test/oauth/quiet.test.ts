import { expect, test, vi } from 'vitest';
import { startServer } from './oauth-server.ts';

test('loading and serving write nothing to the console', async () => {
  const spies = (['log', 'info', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name));
  const server = await startServer();
  await fetch(`${server.local}/oauth/jwks`);
  await fetch(`${server.local}/oauth/authorize?client_id=nobody`);
  await server.stop();
  expect(spies.flatMap((spy) => spy.mock.calls)).toEqual([]);
});
