// Two processes on one storage serve different environments: the users and tokens are shared, the rights are per
// environment.
import { expect, onTestFinished, test } from 'vitest';
import { servers } from '../databases.ts';
import { callTool } from './call.ts';
import { openShop } from './shop.ts';

test('each process serves one environment with its own envSecret, and does not start without naming one', async () => {
  const storage = await servers[0]!.create();
  onTestFinished(() => storage.drop());
  const shared = { SERVICE_STORAGE_URL: storage.url, SERVICE_SECRET: 'a secret that two processes share' };
  const open = async (environment: string | undefined, envSecret: string) => {
    const env = { ...shared, ...(environment !== undefined && { SERVICE_ENVIRONMENT: environment }) };
    const shop = await openShop({ env, app: { envSecret }, account: { email: 'none', password: 'none' } });
    onTestFinished(() => shop.stop());
    return shop;
  };
  const production = await open(undefined, 'secret of production');
  const { rights, identity, tokens } = production.store;
  const may = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
  const before = await rights.read();
  await rights.apply(before, [
    ...before,
    { kind: 'environment', path: ['Staging'], value: 'Staging' },
    { kind: 'permission', path: ['Member', 'Production', 'orders'], value: may },
    { kind: 'permission', path: ['Member', 'Staging', 'reviews'], value: may },
  ]);
  const user = await identity.addUser({ email: 'kim@example.com', password: 'correct horse battery' });
  const { secret } = await tokens.create({ userId: user.id, name: 'a', scopes: ['mcp:read'] });

  const staging = await open('Staging', 'secret of staging');
  const seen = [];
  for (const { mcpUrl } of [production, staging]) {
    for (const collectionName of ['orders', 'reviews']) {
      const answer = await callTool(mcpUrl, secret, 'list', { collectionName, fields: ['id'] });
      seen.push('json' in answer ? 'rows' : answer);
    }
  }
  const unknown = expect.objectContaining({ error: expect.stringContaining('UNKNOWN_COLLECTION') });
  expect(seen).toEqual(['rows', unknown, unknown, 'rows']);
  expect([
    (await production.store.identity.place()).environment,
    (await staging.store.identity.place()).environment,
  ]).toEqual(['Production', 'Staging']);
  await expect(open('Staging', 'secret of production')).rejects.toMatchObject({
    message: expect.stringMatching(/^envSecret: /),
  });
  await expect(open(undefined, 'secret of production')).rejects.toMatchObject({
    message:
      "SERVICE_ENVIRONMENT: the storage has several environments, and a process serves one. Set it to one of 'Production', 'Staging'.",
  });
});
