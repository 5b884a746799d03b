// The endpoint for `portico cloud`: who may read the structure of the data sources, and which parts of it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProof, proofHeader } from '../../src/api/cloud/environment-proof.ts';
import type { CloudSchema } from '../../src/api/cloud/router.ts';
import { issuerOf, openShop, type Shop } from '../app/shop.ts';
import { type Account, createBrowser } from '../oauth/flow.ts';
import { ask, poll, refresh } from '../oauth/terminal.ts';

const secret = 'the secret of this environment';
let shop: Shop;
let url: string;
beforeAll(async () => {
  shop = await openShop({ env: { SERVICE_ENV_SECRET: secret } });
  url = `${shop.address}/v1/cloud/schema`;
});
afterAll(() => shop?.stop());

async function connect(server: Shop, account: Account): Promise<{ token: string; refreshToken: string }> {
  const asked = await ask(issuerOf(server));
  const browser = createBrowser();
  const signIn = await browser.press(await browser.open(asked.verification_uri_complete), 'continue');
  await browser.press(await browser.press(signIn, 'sign-in', { ...account }), 'allow');
  const { body } = await poll(issuerOf(server), asked.device_code);
  return { token: `${body.access_token}`, refreshToken: `${body.refresh_token}` };
}

interface Asking {
  readonly token: string;
  readonly secret?: string;
  readonly now?: number;
  readonly header?: string;
  readonly path?: string;
}

async function get({ token, secret: shown = secret, now = Date.now(), header, path = url }: Asking) {
  const proof = header ?? createProof({ method: 'GET', url: path, token }, shown, now);
  const headers = { authorization: `Bearer ${token}`, ...(proof && { [proofHeader]: proof }) };
  const response = await fetch(path, { headers });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as CloudSchema & { message?: string },
  };
}

test('a developer with the secret reads tables, columns, types and keys, but no data', async () => {
  const account = await shop.addUser({ email: 'dev@example.com', level: 'developer', role: 'Nothing' });
  const { token } = await connect(shop, account);
  const { status, body } = await get({ token });
  const tables = body.structure.sources[0]!.tables;
  const orders = tables.find(({ collection }) => collection === 'orders')!;
  const text = JSON.stringify(body);
  expect([
    status,
    body.format,
    tables.map(({ collection }) => collection),
    orders.columns.slice(0, 3).map(({ operators: _operators, collation: _collation, ...column }) => column),
    orders.primaryKey,
    orders.foreignKeys,
    [/portico-shop-/.test(text), text.includes('@example'), text.includes(secret)],
  ]).toMatchObject([
    200,
    1,
    expect.arrayContaining(['customers', 'orders', 'products']),
    [{ name: 'id', type: 'Number', nullable: false }, expect.anything(), expect.anything()],
    ['id'],
    [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
    [false, false, false],
  ]);
  await shop.store.activity.flush();
  const [entry] = await shop.store.activity.list({ limit: 1 });
  expect(entry).toMatchObject({ action: 'cloud.schema', outcome: 'completed', clientId: 'portico-cli' });
});

describe('refusals', () => {
  let token: string;
  beforeAll(async () => {
    ({ token } = await connect(shop, shop.account));
  });

  test('a missing or wrong secret, or a proof of another time, token or URL, is refused', async () => {
    const other = await connect(shop, shop.account);
    const now = Date.now();
    const proven = { method: 'GET', url, token };
    const answers = [
      await get({ token, header: '' }),
      await get({ token, header: `Bearer ${secret}` }),
      await get({ token, secret: 'another secret' }),
      await get({ token, now: now - 301_000 }),
      await get({ token, now: now + 302_000 }),
      await get({ token: other.token, header: createProof(proven, secret, now) }),
      await get({ token, header: createProof({ ...proven, url: `${url}?` }, secret, now) }),
    ];
    const told = answers.map(({ status, body }) => [status, `${body.message}`.split('.')[0]]);
    const wrong = [403, 'The environment secret does not match this environment'];
    const stale = [403, 'The clocks of the two machines are more than five minutes apart'];
    const missing = [403, 'The proof of the environment secret is missing'];
    expect(told).toEqual([missing, missing, wrong, stale, stale, wrong, wrong]);
    await shop.store.activity.flush();
    const [entry] = await shop.store.activity.list({ limit: 1 });
    expect(entry).toMatchObject({ action: 'cloud.schema', outcome: 'denied', code: 'DENIED' });
  });

  test('a user who is no longer a developer is refused from the next call on', async () => {
    const account = await shop.addUser({ email: 'left@example.com', level: 'developer' });
    const his = await connect(shop, account);
    const before = await get({ token: his.token });
    const user = (await shop.store.identity.findUserByEmail(account.email))!;
    await shop.store.members.change(user.id, { level: 'editor' });
    const after = await get({ token: his.token });
    await shop.store.identity.setDisabled(user.id, true);
    const gone = await get({ token: his.token });
    const late = await refresh(issuerOf(shop), his.refreshToken);
    expect([
      before.status,
      [after.status, after.body.message],
      [gone.status, gone.headers.get('www-authenticate')],
      late.status,
    ]).toEqual([
      200,
      [
        403,
        'Only admins and developers can read the structure, and your level is editor. Ask an administrator to change it.',
      ],
      [401, 'Bearer realm="cloud", error="invalid_token"'],
      400,
    ]);
  });

  test('unknown paths, other methods and a missing token are refused', async () => {
    const unknown = await get({ token, path: `${shop.address}/v1/cloud/data` });
    const posted = await fetch(url, { method: 'POST' });
    const none = await fetch(url);
    expect([
      unknown.status,
      [posted.status, posted.headers.get('allow')],
      [none.status, none.headers.get('www-authenticate')],
    ]).toEqual([404, [405, 'GET, HEAD'], [401, 'Bearer realm="cloud"']]);
  });
});

test('after too many wrong secrets, the right one gets 429 too', async () => {
  const own = await openShop({ env: { SERVICE_ENV_SECRET: secret, SERVICE_SIGN_IN_ATTEMPTS: '3' } });
  try {
    const { token } = await connect(own, own.account);
    const path = `${own.address}/v1/cloud/schema`;
    const statuses: number[] = [];
    for (const shown of ['a', 'b', 'c', secret]) statuses.push((await get({ token, secret: shown, path })).status);
    expect(statuses).toEqual([403, 403, 403, 429]);
  } finally {
    await own.stop();
  }
});

test('a secret that is not set is generated once; after a rotation the old and the new one are valid', async () => {
  const own = await openShop();
  try {
    const { token } = await connect(own, own.account);
    const path = `${own.address}/v1/cloud/schema`;
    const wrong = await get({ token, path });
    const [made] = await own.store.keys.of('environment-secret', () => 'not made');
    await own.store.keys.rotate('environment-secret');
    const [newest] = await own.store.keys.of('environment-secret', () => 'not made');
    const both = await Promise.all([made, newest].map((one) => get({ token, path, secret: one!.value })));
    expect([wrong.status, made!.value.length, both.map(({ status }) => status)]).toEqual([403, 43, [200, 200]]);
  } finally {
    await own.stop();
  }
});

test('with SERVICE_CLOUD=false the endpoint is closed and the metadata does not mention it', async () => {
  const own = await openShop({ env: { SERVICE_CLOUD: 'false' } });
  try {
    const metadata = await (await fetch(`${own.address}/.well-known/oauth-authorization-server`)).json();
    const { status } = await fetch(`${own.address}/v1/cloud/schema`);
    expect([Object.keys(metadata as object).filter((name) => /device|cloud/.test(name)), status]).toEqual([[], 401]);
  } finally {
    await own.stop();
  }
});
