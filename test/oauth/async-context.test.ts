import type { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test, vi } from 'vitest';
import { withinProvider } from '../../src/oauth/server/async-context.ts';
import { startServer } from './oauth-server.ts';

/** Before Node 24, `enabled` shows whether the storage tracks promises; later versions may lack it. */
type Storage = AsyncLocalStorage<unknown> & { readonly enabled?: boolean };

async function storageOfProvider(): Promise<Storage> {
  const server: string = 'oidc-provider/lib/helpers/als.js';
  return ((await import(server)) as { readonly default: Storage }).default;
}

test('after the last request of the provider, Node stops tracking the promises of the process', async () => {
  const storage = await storageOfProvider();
  const run = vi.spyOn(storage, 'run');
  const server = await startServer();
  for (const path of ['/oauth/jwks', '/oauth/authorize?client_id=nobody']) await fetch(`${server.local}${path}`);
  await expect.poll(() => storage.enabled ?? false).toBe(false);
  await server.stop();
  expect(run).toHaveBeenCalledTimes(2);
});

test('a request keeps its async context while other requests start and end', async () => {
  const storage = await storageOfProvider();
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const slow = withinProvider(() =>
    storage.run('slow', async () => {
      await held;
      await Promise.resolve();
      return storage.getStore();
    }),
  );
  await withinProvider(() => storage.run('quick', async () => undefined));
  goOn();
  expect(await slow).toBe('slow');
  expect(storage.enabled ?? false).toBe(false);
});
