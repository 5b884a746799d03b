import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorShape, shapeOf, type Told } from '../api/ways.ts';
import { openWebhookDoor, type WebhookDoor } from '../api/webhook-door.ts';

let door: WebhookDoor;
beforeAll(async () => {
  door = await openWebhookDoor({ env: { SERVICE_WEBHOOK_PER_MINUTE: '3' } });
});
afterAll(() => door?.stop());

function expectRefused(told: Told, status: number, code: string): void {
  expect([told.status, told.json?.code, shapeOf(told)]).toEqual([status, code, errorShape]);
}

test('400 | invalid JSON body, missing record_id, or a malformed, tampered or superseded URL', async () => {
  const { id, path } = await door.hook();
  expectRefused(await door.call(path, '{'), 400, 'MALFORMED_JSON');
  expectRefused(await door.call(path, '{}'), 400, 'INVALID_ARGUMENT');
  expectRefused(await door.call('/v1/webhooks/workflows/x'), 400, 'INVALID_WEBHOOK_ADDRESS');
  expectRefused(await door.call(`${path}x`), 400, 'INVALID_WEBHOOK_ADDRESS');
  await door.change(id, { regenerate: true });
  expectRefused(await door.call(path), 400, 'INVALID_WEBHOOK_ADDRESS');
});

test('401 | missing, expired or invalid Bearer token (also after the token is revoked)', async () => {
  const { path } = await door.hook();
  expectRefused(await door.call(path, {}, { headers: { Authorization: '' } }), 401, 'UNAUTHENTICATED');
  expectRefused(await door.call(path, {}, { secret: 'no token' }), 401, 'UNAUTHENTICATED');
  expectRefused(await door.call(path, {}, { secret: `svc_${'a'.repeat(43)}` }), 401, 'UNAUTHENTICATED');
  const { secret, token } = await door.make(['all']);
  expect((await door.call(path, { record_id: '1' }, { secret })).status).toBe(202);
  await door.store.tokens.revoke(token.id);
  expectRefused(await door.call(path, { record_id: '2' }, { secret }), 401, 'UNAUTHENTICATED');
});

test('403 | valid token whose user is not authorized for the organization, rendering or workflow', async () => {
  const { path } = await door.hook();
  await door.addUser({ email: 'nora@example.com', team: 'North', level: 'editor', role: 'Administrator' });
  const { secret } = await door.make(['all'], { email: 'nora@example.com' });
  expectRefused(await door.call(path, { record_id: '1' }, { secret }), 403, 'DENIED');
  const { secret: reader } = await door.make(['notes:read']);
  expectRefused(await door.call(path, { record_id: '1' }, { secret: reader }), 403, 'DENIED');
});

test('404 | unknown webhook, no active workflow for the rendering, or trigger disabled', async () => {
  const { id, path } = await door.hook();
  await door.store.workflows.setActive(id, false, 1);
  expectRefused(await door.call(path), 404, 'UNKNOWN_WEBHOOK');
  await door.store.workflows.setActive(id, true, 1);
  await door.change(id, { enabled: false });
  expectRefused(await door.call(path), 404, 'UNKNOWN_WEBHOOK');
});

test('409 | a run of this workflow is already ongoing on this record', async () => {
  const { path } = await door.hook();
  expect((await door.call(path)).status).toBe(202);
  expectRefused(await door.call(path), 409, 'RUN_ONGOING');
});

test('429 | rate limit exceeded; header Retry-After in seconds', async () => {
  const { path } = await door.hook();
  for (const record_id of ['1', '2', '3']) expect((await door.call(path, { record_id })).status).toBe(202);
  const { status, json, headers } = await door.call(path, { record_id: '4' });
  expect([status, json?.code]).toEqual([429, 'RATE_LIMITED']);
  const seconds = Number(headers.get('retry-after'));
  expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60).toBe(true);
});
