import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ApiDocument } from '../../src/api/openapi/document.ts';
import { notesPath } from '../api/ways.ts';
import { openWebhookClient, type WebhookClient, waiting } from '../api/webhook-client.ts';

let ways: WebhookClient;
beforeAll(async () => {
  ways = await openWebhookClient();
});
afterAll(() => ways?.stop());

test('Public API paths carry the version prefix `/v1`.', async () => {
  const { secret } = await ways.make(['all']);
  const paths = Object.keys(((await ways.ask('/v1/openapi.json')).json as unknown as ApiDocument).paths);
  expect(paths.filter((path) => !path.startsWith('/v1/'))).toEqual([]);
  const here = await ways.ask(notesPath, { secret });
  const elsewhere = [];
  for (const prefix of ['', '/v2', '/V1', '/v1/v1', '/v10', '/api/v1'])
    elsewhere.push((await ways.ask(notesPath.replace('/v1', prefix), { secret })).status);
  expect([here.status, elsewhere]).toEqual([200, Array(6).fill(404)]);
  const { path } = await ways.hook();
  expect([path.startsWith('/v1/'), (await ways.call(path.replace('/v1', '/v2'))).status]).toEqual([true, 404]);
});

test('webhook URL: does not change when the workflow is published again; changes only on regeneration', async () => {
  const { id, path } = await ways.hook();
  const known = (await ways.store.workflows.find(id))!;
  const wish = { ...known, concurrency: null, definition: JSON.stringify({ name: known.name, ...waiting }) };
  await ways.store.workflows.publish({ ...wish, by: 1, of: { id, since: 1 } });
  expect(await ways.pathOf(id)).toBe(path);
  for (const change of [{ enabled: false }, { needsSignature: true }, { needsSignature: false }, { enabled: true }]) {
    await ways.change(id, change);
    expect(await ways.pathOf(id)).toBe(path);
  }
  expect((await ways.call(path)).status).toBe(202);
  await ways.store.keys.rotate();
  await ways.store.workflows.setActive(id, false, 1);
  await ways.store.workflows.setActive(id, true, 1);
  expect([await ways.pathOf(id), (await ways.call(path, { record_id: '2' })).status]).toEqual([path, 202]);
  await ways.change(id, { regenerate: true });
  expect(await ways.pathOf(id)).not.toBe(path);
});

test('Public API paths, webhook URL | the document, the trigger and the path use one public URL, also behind a proxy path and in a host', async () => {
  const proxied = await openWebhookClient({ env: { SERVICE_PUBLIC_URL: 'https://portico.example/data' } });
  try {
    const document = (await proxied.ask('/v1/openapi.json')).json as unknown as ApiDocument;
    expect(document.servers.map(({ url }) => url)).toEqual(['https://portico.example/data']);
    const { id, path } = await proxied.hook();
    const { json } = await proxied.ask(`/v1/project/My%20project/environment/Production/workflows/${id}`, {
      secret: proxied.secret,
    });
    const { url } = (json?.trigger ?? {}) as { url: string };
    expect([new URL(url).origin, path.startsWith('/data/v1/webhooks/workflows/')]).toEqual([
      'https://portico.example',
      true,
    ]);
    expect([(await proxied.call(path)).status, (await proxied.call(path.slice(5), { record_id: '2' })).status]).toEqual(
      [202, 202],
    );
    expect((await proxied.ask(`/data${notesPath}`, { secret: proxied.secret })).status).toBe(200);
  } finally {
    await proxied.stop();
  }
});
