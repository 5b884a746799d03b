// Limits on password guesses: processes share the counters, and owners are never locked out of their own browser. Also
// the effects of a password change.

import { afterEach, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { createSignIn } from '../../src/oauth/login/sign-in.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { altered } from '../altered.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from '../store/stores.ts';
import { addUser } from '../users.ts';
import { authorizationUrl, register } from './client.ts';
import { createBrowser, type Page } from './flow.ts';
import { account, type OAuthTestServer, startServer } from './oauth-server.ts';

cleanUpAfterEach();

describe.each(variants)('guessing on $name', (variant) => {
  const open = async (clock: Clock = systemClock) => {
    const server = await createPlace(variant);
    const stores = clock === systemClock ? await openPair(server, variant) : [await server.open({ clock })];
    await addUser(stores[0]!, { storageUrl: server.url, dataDir: server.dataDir, sqlite: variant.sqlite }, account);
    const signInOf = (store: OpenedStore) =>
      createSignIn({ store, config: { signInAttempts: 10, secondFactor: 'optional' }, clock });
    return stores.map(signInOf);
  };
  const right = { ...account, binding: 'here' };
  const wrong = { ...right, password: 'a wrong password' };

  test('the 11th wrong password is refused at every process, and then so is the correct one', async () => {
    const [one, two = one] = await open();
    const states: string[] = [];
    for (let turn = 0; turn < 11; turn++) {
      // Each guess comes from another IP address, so only the limit of the account applies.
      const { state } = await (turn % 2 ? one! : two!).password({ ...wrong, address: `192.0.2.${turn}` });
      states.push(state);
    }
    const elsewhere = await two!.password({ ...right, address: '198.51.100.7' });
    const otherAccount = await two!.password({ ...right, email: 'bob@example.com', address: '198.51.100.8' });
    expect([states, elsewhere, otherAccount.state]).toEqual([
      [...Array(10).fill('failed'), 'throttled'],
      { state: 'throttled', retryAfterSeconds: expect.any(Number) },
      'failed',
    ]);
  });

  test('does not lock out a browser of an earlier sign-in, which gets no more guesses than others', async () => {
    const [one, two = one] = await open();
    const home = { address: '203.0.113.5' };
    const first = await one!.password({ ...right, ...home });
    const device = first.state === 'ok' ? first.device : '';
    for (let turn = 0; turn < 11; turn++) await two!.password({ ...wrong, address: `192.0.2.${turn}` });
    const known = await two!.password({ ...right, ...home, device });
    // A forged cookie, or one of another account, is ignored.
    const another = await one!.password({
      ...right,
      ...home,
      device: altered(device),
    });
    const borrowed = await one!.password({ ...wrong, email: 'bob@example.com', ...home, device });
    const own: string[] = [];
    for (let turn = 0; turn < 11; turn++) own.push((await one!.password({ ...wrong, ...home, device })).state);
    expect([known.state, another.state, borrowed.state, own]).toEqual([
      'ok',
      'throttled',
      'failed',
      [...Array(10).fill('failed'), 'throttled'],
    ]);
  });

  test('is limited for an address that tries many accounts, and correct passwords do not count', async () => {
    let now = systemClock.now();
    const [one] = await open({ ...systemClock, now: () => now });
    const address = '192.0.2.1';
    const states: string[] = [];
    for (let turn = 0; turn < 9; turn++)
      states.push((await one!.password({ ...wrong, email: `user${turn}@example.com`, address })).state);
    for (let turn = 0; turn < 3; turn++) states.push((await one!.password({ ...right, address })).state);
    states.push((await one!.password({ ...wrong, email: 'last@example.com', address })).state);
    states.push((await one!.password({ ...right, address })).state);
    now += 900_000;
    states.push((await one!.password({ ...right, address })).state);
    expect(states).toEqual([...Array(9).fill('failed'), 'ok', 'ok', 'ok', 'failed', 'throttled', 'ok']);
  });
});

describe('a browser in which an assistant was connected', () => {
  let server: OAuthTestServer;
  afterEach(() => server.stop());
  const redirectUri = 'https://notebook.example/callback';
  const heading = (page: Page): string => /<h1>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';

  test.each(['password', 'sign-out', 'disable'] as const)(
    'is signed out of the authorization server too: %s',
    async (how) => {
      let late = 0;
      server = await startServer({ clock: { ...systemClock, now: () => systemClock.now() + late } });
      const { identity, sessions, oauth } = server.store;
      const { id } = (await identity.findUserByEmail(account.email))!;
      const browser = createBrowser();
      const client = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
      const connect = async () => browser.open((await authorizationUrl(client, { redirectUri })).url);
      const asked = await connect();
      await browser.press(await browser.press(asked, 'sign-in', { ...account }), 'allow');
      // Signs in and allows before the change.
      const remembered = await connect();
      const [session] = await oauth.listByAccount('Session', `${id}`);
      late += 2000;
      if (how === 'password') await identity.setPassword(id, 'another long one');
      else if (how === 'sign-out') await sessions.endAll(id, { grants: false });
      else await identity.setDisabled(id, true);
      const kept = await oauth.listByAccount('Session', `${id}`);
      // A concurrent request may store the session again.
      await oauth.upsert(session!);
      const after = await connect();
      expect([heading(remembered), kept, heading(after)]).toEqual(['Connect notebook.example again?', [], 'Sign in']);
      expect(await oauth.listByAccount('Grant', `${id}`)).not.toEqual([]);
    },
  );

  test('and its assistants are disconnected if requested', async () => {
    server = await startServer();
    const { identity, sessions, oauth } = server.store;
    const { id } = (await identity.findUserByEmail(account.email))!;
    const browser = createBrowser();
    const client = await register(server.paths.issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const asked = await browser.open((await authorizationUrl(client, { redirectUri })).url);
    await browser.press(await browser.press(asked, 'sign-in', { ...account }), 'allow');
    const before = (await server.store.versions()).grants;
    await sessions.endAll(id, { grants: true });
    const rows = await Promise.all(
      ['Grant', 'AuthorizationCode', 'Session'].map((model) => oauth.listByAccount(model, `${id}`)),
    );
    expect([rows, (await server.store.versions()).grants > before]).toEqual([[[], [], []], true]);
  });
});
