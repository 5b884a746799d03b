// The webhook of a workflow: the order of its checks, idempotency, signatures, and changes made in another process.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createApiPaths } from '../../src/api/paths.ts';
import { createWebhookRouter } from '../../src/api/workflows/webhook.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { randomToken, sign } from '../../src/core/secret.ts';
import { createMountRouter } from '../../src/http/router.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import type { TriggerChange, Workflow } from '../../src/store/workflows/types.ts';
import { createTriggers } from '../../src/workflows/triggers/trigger.ts';
import { createTriggerAddresses } from '../../src/workflows/triggers/trigger-address.ts';
import { createWorkflowService } from '../../src/workflows/workflows.ts';
import { type Shop, sellers } from '../agent/shop.ts';
import { altered } from '../altered.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, createPlace, openPair, variants } from '../store/stores.ts';
import { type AskOptions, errorShape, shapeOf, type Told, tell } from './ways.ts';

/** Data for runs; none is executed here. */
let served: Shop;
beforeAll(async () => {
  served = await sellers[0]!.open({});
});
afterAll(() => served?.close());
afterAll(dropSpares);

interface Front {
  readonly address: string;
  /** Storage calls, such as `workflows.find`, since the list was last cleared. */
  readonly asked: string[];
  readonly observed: Observation[];
  pathOf(workflow: Workflow): Promise<string>;
  change(workflow: Workflow, change: Omit<TriggerChange, 'keyId'>): Promise<Workflow>;
  readonly server: Server;
}

/** Wraps the storage to record every method call. */
function watched(store: OpenedStore, asked: string[]): OpenedStore {
  return new Proxy(store, {
    get(target, part: keyof OpenedStore & string) {
      const found = target[part] as unknown;
      if (typeof found === 'function') {
        return (...args: unknown[]) => {
          asked.push(part);
          return (found as (...given: unknown[]) => unknown).apply(target, args);
        };
      }
      return new Proxy(found as object, {
        get(inner, method: string) {
          const call = Reflect.get(inner, method) as unknown;
          if (typeof call !== 'function') return call;
          return (...args: unknown[]) => {
            asked.push(`${part}.${method}`);
            return (call as (...given: unknown[]) => unknown).apply(inner, args);
          };
        },
      });
    },
  });
}

/** The webhook endpoint of one process. */
async function openFront(
  plain: OpenedStore,
  userId: number,
  webhookPerMinute: number,
  { aheadMs = 0, apiPath = '', trustedProxies = [] as readonly string[] } = {},
): Promise<Front> {
  const asked: string[] = [];
  const observed: Observation[] = [];
  const store = watched(plain, asked);
  const server = createServer((req, res) => router(req, res, () => void res.writeHead(404).end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paths = createApiPaths(address, apiPath);
  const addresses = createTriggerAddresses({ store, address: paths.address });
  const triggers = createTriggers({ store, addresses, config: { webhookHosts: [] } });
  const webhook = createWebhookRouter({
    config: {
      trustedProxies,
      allowedHosts: [],
      host: '127.0.0.1',
      ssoIssuer: null,
      ssoProviders: null,
      webhookPerMinute,
    },
    ...{
      paths,
      store,
      addresses,
      clock: { ...systemClock, now: () => systemClock.now() + aheadMs },
      observe: (one) => void observed.push(one),
    },
    workflows: createWorkflowService({ store, engine: served.engine, clock: systemClock, fileLimitBytes: 1_000_000 }),
  });
  const prefixes = paths.prefixes.map((prefix) => `${prefix}/webhooks/workflows`);
  const router = createMountRouter([{ prefixes, router: webhook }]);
  return {
    address,
    asked,
    observed,
    server,
    pathOf: async (workflow) => new URL((await triggers.addressOf(workflow)) ?? 'none:none').pathname,
    change: async (workflow, change) => triggers.change((await store.permissions.accessOf(userId))!, workflow, change),
  };
}

describe.each(variants)('the webhook on $name', (variant) => {
  cleanUpAfterAll();
  let store: OpenedStore;
  let ours: Front;
  let theirs: Front;
  let userId: number;
  let secret: string;
  let made = 0;

  beforeAll(async () => {
    const place = await createPlace(variant);
    const [one, other] = await openPair(place, variant);
    store = one;
    ({ id: userId } = await store.identity.addUser({ email: 'ada@b.example', level: 'admin' }));
    ours = await openFront(one, userId, 6);
    theirs = await openFront(other, userId, 6);
    secret = await make(['workflows:trigger']);
  });
  afterAll(() => {
    for (const { server } of [ours, theirs]) server?.close().closeAllConnections();
  });

  const make = async (
    scopes: readonly string[],
    more: { readonly userId?: number; readonly expiresAt?: number } = {},
  ) => (await store.tokens.create({ userId, name: `token ${++made}`, scopes, ...more })).secret;
  async function hook(front = ours): Promise<{ readonly workflow: Workflow; readonly path: string }> {
    const { renderingId } = (await store.permissions.caller(userId))!;
    const wish = { renderingId, name: `flow ${++made}`, collection: 'orders', definition: '{}', concurrency: null };
    const workflow = await front.change(await store.workflows.publish({ ...wish, by: userId }), { isEnabled: true });
    return { workflow, path: await front.pathOf(workflow) };
  }
  const call = ({ address }: Front, path: string, body: unknown = { record_id: '1' }, more: AskOptions = {}) =>
    tell(address, path, {
      ...{ secret, method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) },
      ...more,
    });
  const told = ({ status, json }: Told) => [status, json?.code];

  test('a regenerated URL applies to the next call in another process; the old one gets 400, a disabled one 404', async () => {
    const { workflow, path } = await hook();
    const statuses = async (address: string) => [
      (await call(ours, address, { record_id: `${++made}` })).status,
      (await call(theirs, address, { record_id: `${++made}` })).status,
    ];
    expect(await statuses(path)).toEqual([202, 202]);
    const renewed = await ours.change(workflow, { regenerate: true });
    const next = await ours.pathOf(renewed);
    expect([await theirs.pathOf(renewed), next === path]).toEqual([next, false]);
    expect(told(await call(theirs, path))).toEqual([400, 'INVALID_WEBHOOK_ADDRESS']);
    expect(told(await call(theirs, next))).toEqual([202, undefined]);
    await theirs.change(workflow, { isEnabled: false });
    expect(told(await call(ours, next))).toEqual([404, 'UNKNOWN_WEBHOOK']);
    expect(told(await call(ours, path))).toEqual([400, 'INVALID_WEBHOOK_ADDRESS']);
    // A paused workflow does not hide it either.
    await store.workflows.setActive(workflow.id, false, userId);
    expect([...told(await call(ours, path)), ...told(await call(ours, next))]).toEqual([
      ...[400, 'INVALID_WEBHOOK_ADDRESS'],
      ...[404, 'UNKNOWN_WEBHOOK'],
    ]);
    await store.workflows.setActive(workflow.id, true, userId);
    await theirs.change(workflow, { isEnabled: true });
    expect(await ours.pathOf((await store.workflows.find(workflow.id))!)).toBe(next);
    expect(told(await call(ours, next, { record_id: 'again' }))).toEqual([202, undefined]);
  });

  test('URLs work after a key rotation in another process, new ones too, until their key is retired', async () => {
    const { workflow, path } = await hook();
    expect((await call(theirs, path, { record_id: 'before' })).status).toBe(202);
    await store.keys.rotate('workflow-addresses');
    expect([await ours.pathOf(workflow), (await call(theirs, path, { record_id: 'after' })).status]).toEqual([
      path,
      202,
    ]);
    const fresh = await hook(ours);
    expect(fresh.path.split('.')[0]).not.toBe(path.split('.')[0]);
    expect((await call(theirs, fresh.path)).status).toBe(202);
    await store.keys.retire(systemClock.now() + 1000, 'workflow-addresses');
    expect(told(await call(theirs, path, { record_id: 'retired' }))).toEqual([400, 'INVALID_WEBHOOK_ADDRESS']);
    expect((await call(theirs, fresh.path, { record_id: 'retired' })).status).toBe(202);
  });

  test('a forged, truncated, changed or foreign URL is refused before any read of the storage', async () => {
    const { workflow, path } = await hook();
    await call(ours, path);
    const [, keyId = '', named = '', signature = ''] = /\/([^/.]+)\.([^.]+)\.([^.]+)$/.exec(path)!;
    const [{ value: key } = { value: '' }] = await store.keys.of('workflow-addresses', () => expect.fail('no key'));
    const { environmentId } = await store.identity.place();
    const signed = (claims: readonly unknown[], by = key) => {
      const text = `${keyId}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
      return `${text}.${sign(text, by)}`;
    };
    const own = [workflow.id, workflow.renderingId, environmentId, 1] as const;
    // Proves that the helper signs correctly; the requests below fail only for their contents.
    expect(`/v1/webhooks/workflows/${signed(own)}`).toBe(path);
    const wrong = [
      ...['', 'x', workflow.id, keyId, `${keyId}.${named}`, `${keyId}.${named}.`, `${keyId}..${signature}`],
      `${keyId}.${named}.${signature.slice(0, -1)}`,
      `${keyId}.${named}.${signature}A`,
      `${keyId}.${named}.${signature}/`,
      `${keyId}.${named}.${signature}.x`,
      `${keyId}.${named}.${altered(signature, 20)}`,
      `${keyId}.${named}.${altered(signature, 42)}`,
      `${keyId}.${altered(named, 30)}.${signature}`,
      `${keyId}.${named}.${sign(`${keyId}.${named}`, randomToken())}`,
      signed([workflow.id, workflow.renderingId, environmentId, 2], 'another key'),
      signed([workflow.id, workflow.renderingId, environmentId + 1, 1]),
      encodeURIComponent(`${keyId}.${named}.${signature} `),
    ];
    ours.asked.length = 0;
    for (const one of wrong) {
      const answer = await call(ours, `/v1/webhooks/workflows/${one}`);
      expect([one, ...told(answer)]).toEqual([one, 400, 'INVALID_WEBHOOK_ADDRESS']);
      expect(shapeOf(answer)).toEqual(errorShape);
    }
    expect(ours.asked).toEqual([]);
    expect((await call(ours, path, { record_id: '2' })).status).toBe(202);
    // The workflow is known, since no version has changed.
    expect([ours.asked.includes('runs.create'), ours.asked.includes('workflows.find')]).toEqual([true, false]);
  });

  test('an unknown key id causes at most five reads of the keys, and other calls still work', async () => {
    const { path } = await hook();
    const foreign = path.replace(/\/[^/.]{16}\./, `/${randomToken(96)}.`);
    ours.asked.length = 0;
    for (let n = 0; n < 12; n++) expect((await call(ours, foreign)).status).toBe(400);
    expect(ours.asked.filter((one) => one === 'keys.of').length).toBeLessThanOrEqual(5);
    expect(ours.asked.filter((one) => one.startsWith('workflows'))).toEqual([]);
    expect((await call(ours, path)).status).toBe(202);
  });

  test('in a host application the webhook is served below the API prefix only', async () => {
    const mounted = await openFront(store, userId, 6, { apiPath: '/service/_api' });
    onTestFinished(() => mounted.server.close().closeAllConnections());
    const { path } = await hook(mounted);
    expect(path).toMatch(/^\/service\/_api\/v1\/webhooks\/workflows\/[^/]+$/);
    const statuses = [(await call(mounted, path)).status];
    statuses.push((await call(mounted, path.replace('/service/_api', ''))).status);
    expect(statuses).toEqual([202, 404]);
  });

  test('a request with several faults gets the error of the first check that fails', async () => {
    const { workflow, path } = await hook();
    const expired = await make(['all'], { expiresAt: systemClock.now() + 600_000 });
    const later = await openFront(store, userId, 6, { aheadMs: 3_600_000 });
    onTestFinished(() => later.server.close().closeAllConnections());
    const notes = await make(['notes:write']);
    const eve = await store.identity.addUser({ email: `eve${++made}@b.example`, team: `North ${made}` });
    const elsewhere = await make(['workflows:trigger'], { userId: eve.id });
    const forged = `${path.slice(0, -5)}AAAAA`;
    const bad = { body: '{', headers: { 'webhook-id': 'x' } };
    const none = { ...bad, secret: '' };
    expect(told(await call(ours, forged, '{', { secret: expired }))).toEqual([400, 'INVALID_WEBHOOK_ADDRESS']);
    const unsigned = await tell(ours.address, path, { method: 'POST', body: '{' });
    expect([...told(unsigned), unsigned.headers.get('www-authenticate')]).toEqual([
      401,
      'UNAUTHENTICATED',
      'Bearer realm="public api"',
    ]);
    const late = await call(later, path, '{', { secret: expired });
    expect([...told(late), late.json?.message]).toEqual([401, 'UNAUTHENTICATED', expect.stringContaining('expired')]);
    expect(told(await call(ours, path, '{', { ...none, secret: `svc_${'A'.repeat(43)}` }))[0]).toBe(401);
    await store.workflows.setActive(workflow.id, false, userId);
    expect(told(await call(ours, path, '{', { secret: notes }))).toEqual([404, 'UNKNOWN_WEBHOOK']);
    await store.workflows.setActive(workflow.id, true, userId);
    const scopeless = await call(ours, path, '{', { secret: notes });
    expect([...told(scopeless), scopeless.json?.message]).toEqual([
      403,
      'DENIED',
      expect.stringContaining('workflows:trigger'),
    ]);
    expect(told(await call(ours, path, '{', { secret: elsewhere }))).toEqual([403, 'DENIED']);
    expect(told(await call(ours, path, '{', bad))).toEqual([401, 'UNAUTHENTICATED']);
    expect(told(await call(ours, path, '{'))).toEqual([400, 'MALFORMED_JSON']);
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const answer = await tell(ours.address, path, { method, secret });
      expect([...told(answer), answer.headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST']);
    }
    const head = await fetch(`${ours.address}${path}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('allow'), await head.text()]).toEqual([405, 'POST', '']);
  });

  test.each([
    ['{}', 'INVALID_ARGUMENT', 400],
    ['{"record_id":42}', 'INVALID_ARGUMENT', 400],
    ['{"record_id":null}', 'INVALID_ARGUMENT', 400],
    ['{"record_id":""}', 'INVALID_ARGUMENT', 400],
    ['{"recordId":"1"}', 'INVALID_ARGUMENT', 400],
    [JSON.stringify({ record_id: 'x'.repeat(401) }), 'INVALID_ARGUMENT', 400],
    ['{"record_id":"a\\u0000b"}', 'INVALID_ARGUMENT', 400],
    ['[]', 'INVALID_ARGUMENT', 400],
    ['"1"', 'INVALID_ARGUMENT', 400],
    ['', 'MALFORMED_JSON', 400],
    ['record_id=1', 'MALFORMED_JSON', 400],
    [`${'['.repeat(50)}${']'.repeat(50)}`, 'MALFORMED_JSON', 400],
    [JSON.stringify({ record_id: '1', more: 'x'.repeat(70_000) }), 'BODY_TOO_LARGE', 413],
  ])('the body %j is refused with %s', async (body, code, status) => {
    const { path } = await hook();
    const answer = await call(ours, path, body);
    expect(told(answer)).toEqual([status, code]);
    expect(shapeOf(answer)).toEqual(errorShape);
  });

  test('a repeat with the same idempotency key returns the same run; for another record it is refused', async () => {
    const { path } = await hook();
    const key = { headers: { 'Idempotency-Key': 'order-17' } };
    const [a, b] = [await call(ours, path, { record_id: '1' }, key), await call(theirs, path, { record_id: '1' }, key)];
    expect([a.status, b.status, b.json?.runId]).toEqual([202, 202, a.json?.runId]);
    expect([a.headers.get('idempotency-replayed'), b.headers.get('idempotency-replayed')]).toEqual([null, 'true']);
    expect(told(await call(ours, path, { record_id: '2' }, key))).toEqual([409, 'TRIGGER_KEY_REUSED']);
    const ongoing = await call(ours, path, { record_id: '1' });
    expect([...told(ongoing), ongoing.json?.error]).toEqual([409, 'RUN_ONGOING', ongoing.json?.message]);
    const { path: other } = await hook();
    for (const wrong of ['', 'x'.repeat(256)]) {
      const headers = { 'Idempotency-Key': wrong };
      expect(told(await call(ours, other, { record_id: '3' }, { headers }))).toEqual([400, 'INVALID_ARGUMENT']);
    }
    // Another user chose the same key: it is theirs, and tells them nothing about this run.
    expect((await call(ours, other, { record_id: '1' }, key)).status).toBe(202);
    const bo = await store.identity.addUser({ email: `bo${++made}@b.example`, level: 'admin' });
    const theirKey = { ...key, secret: await make(['workflows:trigger'], { userId: bo.id }) };
    expect(told(await call(ours, other, { record_id: '1' }, theirKey))).toEqual([409, 'RUN_ONGOING']);
    expect((await call(ours, other, { record_id: '2' }, theirKey)).status).toBe(202);
  });

  test('a signature is checked if it is sent, and required if the trigger says so', async () => {
    const { workflow, path } = await hook();
    const signing = new Webhook((await store.workflows.signingSecret(workflow.id, true))!);
    const body = '{ "record_id": "1" }';
    const now = systemClock.now();
    const signed = (id: string, text = body, at = now) => ({
      headers: {
        'webhook-id': id,
        'webhook-timestamp': `${Math.floor(at / 1000)}`,
        'webhook-signature': signing.sign(id, new Date(at), text),
      },
    });
    const first = await call(ours, path, body, signed('msg_1'));
    expect(first.status).toBe(202);
    // The message id serves as the idempotency key.
    const again = await call(ours, path, body, signed('msg_1'));
    expect([again.status, again.json?.runId]).toEqual([202, first.json?.runId]);
    // A signature is optional until the trigger requires it: the call passes that check. The record has an active run.
    expect((await call(ours, path, body, {})).status).toBe(409);
    await ours.change(workflow, { needsSignature: true });
    const statuses = [];
    for (const sent of [{}, signed('msg_2', `${body} `), signed('msg_2', body, now - 360_000)]) {
      statuses.push((await call(ours, path, body, sent)).status);
    }
    expect(statuses).toEqual([401, 401, 401]);
    await ours.change(workflow, { regenerate: true });
    const { path: other, workflow: unsigned } = await hook();
    expect(await store.workflows.signingSecret(unsigned.id)).toBeUndefined();
    expect((await call(ours, other, body, signed('msg_3'))).status).toBe(401);
    // One of its headers, even an empty one, makes a call signed.
    for (const name of Object.keys(signed('msg_1').headers))
      expect([name, (await call(ours, other, body, { headers: { [name]: '' } })).status]).toEqual([name, 401]);
  });

  // Standard Webhooks, "Replay attacks": an unsigned header must not turn a copied call into a new one.
  test('a replayed signed call with another idempotency key is refused', async () => {
    const { workflow, path } = await hook();
    const signing = new Webhook((await store.workflows.signingSecret(workflow.id, true))!);
    await ours.change(workflow, { needsSignature: true });
    const body = '{ "record_id": "1" }';
    const now = systemClock.now();
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': `${Math.floor(now / 1000)}`,
      'webhook-signature': signing.sign('msg_1', new Date(now), body),
    };
    const first = await call(ours, path, body, { headers });
    const replayed = await call(ours, path, body, { headers: { ...headers, 'Idempotency-Key': 'of the replayer' } });
    const same = await call(ours, path, body, { headers: { ...headers, 'Idempotency-Key': 'msg_1' } });
    expect([first.status, replayed.status, same.status, same.json?.runId]).toEqual([202, 400, 202, first.json?.runId]);
    // A time ahead would let a copied call be repeated for longer.
    const ahead = new Date(now + 360_000);
    const signedAhead = {
      'webhook-id': 'msg_2',
      'webhook-timestamp': `${Math.floor(ahead.getTime() / 1000)}`,
      'webhook-signature': signing.sign('msg_2', ahead, body),
    };
    expect((await call(ours, path, body, { headers: signedAhead })).status).toBe(401);
  });

  test('the rate limit of a webhook covers all processes, and refused tokens are limited by IP address', async () => {
    const [one, other] = [await hook(), await hook()];
    const statuses = [];
    for (let n = 0; n < 7; n++)
      statuses.push((await call(n % 2 ? ours : theirs, one.path, { record_id: `${n}` })).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 202, 429]);
    const over = await call(ours, one.path, '{');
    expect([...told(over), Number(over.headers.get('retry-after')) > 0]).toEqual([429, 'RATE_LIMITED', true]);
    // It is checked before the body is read, and calls of those who may not start the workflow do not use it up.
    expect((await call(ours, one.path, 'x'.repeat(70_000))).status).toBe(429);
    const third = await hook();
    const eve = await store.identity.addUser({ email: `eve${++made}@b.example`, team: `East ${made}` });
    const elsewhere = { secret: await make(['workflows:trigger'], { userId: eve.id }) };
    for (let n = 0; n < 7; n++) expect((await call(ours, third.path, {}, elsewhere)).status).toBe(403);
    expect((await call(ours, third.path)).status).toBe(202);
    expect((await call(ours, other.path)).status).toBe(202);
    const wrong = { secret: `svc_${'B'.repeat(43)}` };
    for (let n = 0; n < 100; n += 10) {
      await Promise.all(Array.from({ length: 10 }, () => call(ours, other.path, {}, wrong)));
    }
    const guess = await call(theirs, other.path, {}, wrong);
    expect([guess.status, guess.headers.has('retry-after')]).toEqual([429, true]);
    const proxied = await openFront(store, userId, 6, { trustedProxies: ['127.0.0.1'] });
    onTestFinished(() => proxied.server.close().closeAllConnections());
    const fromElsewhere = { ...wrong, headers: { 'X-Forwarded-For': '203.0.113.9' } };
    expect((await call(proxied, other.path, {}, fromElsewhere)).status).toBe(401);
    // Other tokens from that IP address still work.
    expect((await call(theirs, other.path, { record_id: '9' })).status).toBe(202);
  });
});
