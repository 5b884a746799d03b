// Mail about what waits, sent to a real SMTP server: who gets it, what it says, how often, and what happens if the mail
// server refuses it.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { examine } from '../../src/cli/doctor.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Config, loadConfig } from '../../src/core/config.ts';
import { createObserver } from '../../src/core/observe.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { openStore } from '../../src/store/open.ts';
import { servers, type TestDatabase } from '../databases.ts';
import type { Account } from '../oauth/flow.ts';
import { type MailServer, startMailServer } from '../smtp.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

const MINUTE = 60_000;
let smtp: MailServer;
let server: ConsoleTestServer;
let kim: Account;
let late = 0;
/** The look for people, which happens every 15 seconds, happens often. */
const clock = {
  ...systemClock,
  now: () => systemClock.now() + late,
  after: (ms: number, run: () => void) => systemClock.after(ms === 15_000 ? 40 : ms, run),
};
const env = () => ({
  SERVICE_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
  SERVICE_MAIL_FROM: 'Portico <portico@example.com>',
});
beforeAll(async () => {
  smtp = await startMailServer();
  server = await openConsoleServer({ app: { clock, customize: customizeDemo }, env: env() });
  const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
  await server.store.permissions.setRole('Clerk', { orders: all });
  kim = await server.addUser({ email: 'kim@example.com', firstName: 'Kim', role: 'Clerk', team: 'North' });
  await server.store.permissions.setScope('North', 'orders', { field: 'id', operator: 'LessThan', value: 100 });
});
afterAll(async () => {
  await server?.stop();
  await smtp.stop();
});
beforeEach(async () => {
  for (const { id } of await server.store.approvals.list('pending', 100))
    await server.store.approvals.decide(id, { by: server.ada.id, verdict: 'denied' });
  await settle();
  late += 10 * MINUTE;
  smtp.mails.length = 0;
});

const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email));
const settle = () => new Promise((done) => setTimeout(done, 250));
/** A request of Ada that waits for somebody. The waiting hook of the server sees it, as it does requests of tools. */
const ask = (recordId: string, more = {}) =>
  server.file({
    collection: 'orders',
    recordIds: [recordId],
    given: { collectionName: 'orders', recordId, attributes: { note: `secret ${recordId}` } },
    ...more,
  });
const turn = async (account: Account, isOn: boolean) => {
  const { browser, page } = await server.browse(account, '/account');
  return browser.press(page, 'mail', { waiting: isOn ? 'yes' : '' });
};

describe('a person who turned it on', () => {
  beforeAll(async () => {
    const saved = await turn(kim, true);
    expect(read(saved)).toContain('Saved.');
    expect(saved.html).toMatch(/name="waiting" value="yes" checked/);
  });

  test('gets one mail about all that is new, without ids and values, and with a link to the inbox', async () => {
    await ask('11');
    await ask('12');
    await settle();
    expect(mailsTo(kim.email)).toEqual([]);
    late += MINUTE;
    await expect.poll(() => mailsTo(kim.email).length).toBe(1);
    const { content } = mailsTo(kim.email)[0]!;
    expect(content).toMatch(/^Subject: 2 items are waiting for you at My organization$/m);
    expect(content).toContain('Hello Kim,');
    expect(content).toContain('- Approval: Change records of orders');
    expect(content).toContain(server.at('/inbox'));
    expect(content).not.toMatch(/secret|\b1[12]\b\s*of|ORD-/);
    expect(mailsTo(server.account.email)).toEqual([]);
  });

  test('gets at most one mail in five minutes, and none about what they know', async () => {
    await ask('13');
    await settle();
    late += MINUTE;
    await expect.poll(() => mailsTo(kim.email).length).toBe(1);
    await ask('14');
    await settle();
    late += 2 * MINUTE;
    await settle();
    expect(mailsTo(kim.email).length).toBe(1);
    late += 3 * MINUTE;
    await expect.poll(() => mailsTo(kim.email).length).toBe(2);
    expect(mailsTo(kim.email)[1]!.content).toContain('2 items are waiting');
    late += 10 * MINUTE;
    await settle();
    expect(mailsTo(kim.email).length).toBe(2);
  });

  test('gets none about what they may not decide, and none about what was decided before', async () => {
    await ask('200');
    const { id } = await ask('15');
    await settle();
    await server.store.approvals.decide(id, { by: server.ada.id, verdict: 'denied' });
    late += MINUTE;
    await settle();
    expect(mailsTo(kim.email)).toEqual([]);
  });

  test('gets it later if the mail server refuses it, which the log and the doctor show', async () => {
    smtp.refuse(true);
    const from = performance.now();
    await ask('16');
    expect(performance.now() - from).toBeLessThan(2000);
    await settle();
    late += MINUTE;
    await expect.poll(() => server.store.waitingMails.countFailing()).toBe(1);
    expect(server.observed).toContainEqual(
      expect.objectContaining({ type: 'warning', message: expect.stringContaining('did not accept a mail') }),
    );
    smtp.refuse(false);
    await settle();
    expect(mailsTo(kim.email)).toEqual([]);
    late += 2 * MINUTE;
    await expect.poll(() => mailsTo(kim.email).length).toBe(1);
    expect(await server.store.waitingMails.countFailing()).toBe(0);
  });

  test('gets no more after turning it off', async () => {
    await turn(kim, false);
    await ask('17');
    await settle();
    late += MINUTE;
    await settle();
    expect(mailsTo(kim.email)).toEqual([]);
  });
});

test('without a mail server there is nothing to turn on', async () => {
  const plain = await openConsoleServer();
  try {
    const { page, browser } = await plain.browse(plain.account, '/account');
    expect(page.html).not.toContain('name="waiting"');
    await browser.press({ ...page, html: page.html.replace('value="profile"', 'value="mail"') }, 'mail');
    expect(await plain.store.waitingMails.isOn(plain.ada.id)).toBe(false);
  } finally {
    await plain.stop();
  }
});

describe.each(servers)('on $dialect', ({ create }) => {
  let database: TestDatabase;
  let stores: OpenedStore[];
  let config: Config;
  let now = Date.now();
  let userId: number;
  beforeAll(async () => {
    database = await create();
    config = loadConfig({
      env: { ...env(), SERVICE_STORAGE_URL: database.url, SERVICE_SECRET: 'x'.repeat(40), MCP_SERVER_PORT: '0' },
    });
    const { observe } = createObserver();
    const open = () => openStore({ config, observe, clock: { ...systemClock, now: () => now } });
    stores = [await open(), await open()];
    const user = { email: 'a@example.com', password: 'correct horse battery', level: 'user' } as const;
    userId = (
      await stores[0]!.identity.addUser({ firstName: '', lastName: '', team: 'Operations', role: 'Member', ...user })
    ).id;
    await stores[0]!.waitingMails.setOn(userId, true);
    await stores[0]!.waitingMails.setOn(userId, true);
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await database.drop();
  });
  const claimAll = async () =>
    (await Promise.all([...stores, ...stores].map(({ waitingMails }) => waitingMails.claim(10, 60_000)))).flat();

  test('one of several processes gets a person, and what is raised meanwhile is not forgotten', async () => {
    const [{ waitingMails }, other] = [stores[0]!, stores[1]!.waitingMails];
    await waitingMails.raise(30_000, 300_000);
    expect(await claimAll()).toEqual([]);
    now += 30_000;
    const [claim, ...more] = await claimAll();
    expect(more).toEqual([]);
    expect(claim).toMatchObject({ userId, failures: 0, items: [] });
    await other.raise(30_000, 300_000);
    await waitingMails.finish(claim!, { items: ['a'], isSent: true, nextMs: 300_000 });
    now += 299_000;
    expect(await claimAll()).toEqual([]);
    now += 1000;
    const [second] = await claimAll();
    expect(second).toMatchObject({ items: ['a'] });
    now += 60_000;
    const [third] = await claimAll();
    await waitingMails.finish(second!, { items: ['late'], isSent: true, nextMs: 0 });
    await waitingMails.finish(third!, { isSent: false, retryMs: 60_000, nextMs: 300_000 });
    expect(await other.countFailing()).toBe(1);
    const printed = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    await examine(config);
    const lines = printed.mock.calls.join('');
    printed.mockRestore();
    expect(lines).toContain('the mail server did not accept the last mail about waiting items to 1 person');
    expect(await claimAll()).toEqual([]);
    now += 60_000;
    expect(await claimAll()).toMatchObject([{ failures: 1, items: ['a'] }]);
  });
});
