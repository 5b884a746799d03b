// Section 2.5 of the public API: what an application token is, as its holder is told over HTTP.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { type NoteDoor, openNoteDoor } from '../api/note-door.ts';
import { createBrowser } from '../oauth/flow.ts';

let late = 0;
let door: NoteDoor;
beforeAll(async () => {
  door = await openNoteDoor({ app: { clock: { ...systemClock, now: () => Date.now() + late } } });
});
afterAll(() => door?.shop.stop());

let made = 0;
async function make(given: { readonly expiresAt?: number; readonly scopes?: readonly string[] } = {}) {
  const { store, account } = door.shop;
  const user = (await store.identity.findUserByEmail(account.email))!;
  return store.tokens.create({ userId: user.id, name: `report ${++made}`, scopes: ['notes:read'], ...given });
}
const own = async (secret: string) => (await door.ask('GET', '/token', { secret })).body;

test('name | given at creation', async () => {
  const { token, secret } = await make();
  expect((await own(secret)).name).toBe(token.name);
});

test('project | bound to one project', async () => {
  const { secret } = await make();
  const there = await door.ask('GET', '/project/Another/environment/Production/notes', { secret });
  expect([there.status, (await door.ask('GET', '{notes}', { secret })).status]).toEqual([404, 200]);
});

test('creation date | ISO 8601', async () => {
  const before = Date.now();
  const { secret } = await make();
  const { createdAt } = await own(secret);
  expect(new Date(createdAt).toISOString()).toBe(createdAt);
  expect(Date.parse(createdAt) - before).toBeLessThan(60_000);
  expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
});

test('last used | absent before the first use', { timeout: 30_000 }, async () => {
  const { secret } = await make();
  const first = (await own(secret)).lastUsedAt;
  // Uses are written together, some seconds later.
  await expect
    .poll(async () => (await own(secret)).lastUsedAt, { timeout: 20_000, interval: 1000 })
    .toBeTypeOf('string');
  expect(first).toBeUndefined();
});

test('expiration date | the token opens nothing from then on', async () => {
  const expiresAt = Date.now() + 60_000;
  const { secret } = await make({ expiresAt });
  const shown = (await own(secret)).expiresAt;
  late = 60_001;
  const after = await door.ask('GET', '/token', { secret });
  late = 0;
  expect([shown, after.status]).toEqual([new Date(expiresAt).toISOString(), 401]);
});

test('scopes | as they were chosen', async () => {
  const { secret } = await make({ scopes: ['notes:read', 'activity_logs:read'] });
  expect((await own(secret)).scopes).toEqual(['notes:read', 'activity_logs:read']);
});

test('value | displayed once at creation, and cannot be retrieved later', async () => {
  const { shop } = door;
  const browser = createBrowser();
  const at = (page: string) => shop.consoleUrl + page;
  await browser.press(await browser.open(at('/tokens')), 'sign-in', { ...shop.account });
  const form = await browser.open(at('/tokens/new?for=api'));
  const typed = { name: 'Once', scope: 'notes:read', expires: '30', password: shop.account.password };
  const { html } = await browser.press(form, 'make', typed);
  const [, secret = 'none'] = /aria-label="the token"><code>(svc_[\w-]{43})</.exec(html) ?? [];
  const everywhere = [
    (await browser.open(at('/tokens'))).html,
    (await browser.open(at('/tokens/new?for=api'))).html,
    (await browser.press(form, 'make', typed)).html,
    JSON.stringify([await own(secret), await door.ask('GET', '/project/My%20project/tokens')]),
  ];
  expect([
    (await door.ask('GET', '/token', { secret })).status,
    everywhere.some((text) => text.includes('svc_')),
  ]).toEqual([200, false]);
});
