// Mail of the console: invitations and links for a forgotten password, sent to a real SMTP server.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createMailer } from '../../src/notifications/mail.ts';
import { issuerOf } from '../app/shop.ts';
import { authorizationUrl, register } from '../oauth/client.ts';
import { type Account, type Browser, createBrowser, type Page } from '../oauth/flow.ts';
import { type MailServer, startMailServer } from '../smtp.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let smtp: MailServer;
let server: ConsoleTestServer;
let late = 0;
beforeAll(async () => {
  smtp = await startMailServer();
  server = await openConsoleServer({
    app: { clock: { ...systemClock, now: () => systemClock.now() + late } },
    env: {
      SERVICE_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
      SERVICE_MAIL_FROM: 'Portico <portico@example.com>',
    },
  });
});
afterAll(async () => {
  await server.stop();
  await smtp.stop();
});

const heading = (page: Page): string => /<h1[^>]*>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';
const linkIn = (text: string): string | undefined => /https?:\S+\/welcome\/[\w-]+/.exec(text)?.[0];
const chosen = { new: 'a few words of hers', again: 'a few words of hers' };
const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email));

describe('an invitation', () => {
  let admin: Browser;
  beforeAll(async () => {
    ({ browser: admin } = await server.browse(server.account));
  });

  /** By mail, as the form has it, or not. */
  const invite = async (email: string, byMail: boolean) => {
    const shown = await admin.open(server.at('/people/new'));
    const form = byMail
      ? shown
      : { ...shown, html: shown.html.replace('name="mail" value="yes" checked', 'name="mail" value="yes"') };
    const person = { email, firstName: 'Eve', lastName: 'Hill', team: 'Operations', role: 'Member', level: 'user' };
    return admin.press(form, 'invite', person);
  };

  test('is sent by mail, with a link that is on no page, and sets a password', async () => {
    const page = await invite('eve@example.com', true);
    const [mail, ...others] = mailsTo('eve@example.com');
    expect([others.length, mail!.from, read(page).includes('The link was sent to eve@example.com')]).toEqual([
      0,
      'portico@example.com',
      true,
    ]);
    expect(linkIn(page.html)).toBe(undefined);
    expect(mail!.content).toMatch(/^Subject: Invitation to My organization$/m);
    expect(mail!.content).toContain('Hello Eve,');
    expect(mail!.content).toContain('expires in 7 days');
    const browser = createBrowser();
    const opened = await browser.open(linkIn(mail!.content)!);
    expect(heading(await browser.press(opened, 'choose', chosen))).toBe('Password set');
  });

  test('is a link on the page if mail is off or the mail server refuses it', async () => {
    const unwanted = await invite('paper@example.com', false);
    smtp.refuse(true);
    const refused = await invite('gone@example.com', true);
    smtp.refuse(false);
    expect([mailsTo('paper@example.com'), mailsTo('gone@example.com')]).toEqual([[], []]);
    expect([linkIn(unwanted.html), linkIn(refused.html)]).toEqual([expect.any(String), expect.any(String)]);
    expect(read(refused)).toContain('The mail server did not accept the mail.');
    expect(server.observed).toContainEqual(
      expect.objectContaining({ type: 'warning', message: expect.stringContaining('did not accept a mail') }),
    );
  });
});

describe('a forgotten password', () => {
  const ask = async (email: string) => {
    const browser = createBrowser();
    const form = await browser.open(server.at('/forgot'));
    return browser.press(form, 'forgot', { email });
  };
  const signsIn = async (account: Account) => heading((await server.browse(account)).page) !== 'Sign in';
  /** Until the work after the answer is done. */
  const events = (name: string) =>
    server.observed.filter((one) => one.type === 'security' && one.event === name).length;

  test('is replaced by a link in a mail; the old one works until then', async () => {
    const una = await server.addUser({ email: 'una@example.com', firstName: 'Una', level: 'user' });
    const page = await ask(' UNA@example.com ');
    await expect.poll(() => mailsTo('una@example.com').length).toBe(1);
    const { content } = mailsTo('una@example.com')[0]!;
    expect([heading(page), linkIn(page.html), await signsIn(una)]).toEqual(['Check your mail', undefined, true]);
    expect(content).toMatch(/^Subject: A new password for My organization$/m);
    const browser = createBrowser();
    await browser.press(await browser.open(linkIn(content)!), 'choose', chosen);
    expect([await signsIn(una), await signsIn({ ...una, password: chosen.new })]).toEqual([false, true]);
  });

  test('has a link on both sign-in pages', async () => {
    const registered = await register(issuerOf(server), {
      client_name: 'Notebook',
      redirect_uris: ['https://notebook.example/callback'],
    });
    const { url } = await authorizationUrl(registered, { redirectUri: 'https://notebook.example/callback' });
    const pages = [await createBrowser().open(url), await createBrowser().open(server.at('/sign-in'))];
    for (const page of pages) expect(page.html).toContain(`href="${server.at('/forgot')}">Forgot your password?`);
  });

  test('gets the same answer for active, unknown and disabled accounts, and those without a password', async () => {
    late += 900_000;
    const off = await server.addUser({ email: 'off@example.com', level: 'user' });
    await server.store.identity.setDisabled((await server.userOf(off)).id, true);
    const invited = await server.store.identity.addUser({ email: 'invited@example.com' });
    const known = await server.addUser({ email: 'known@example.com', level: 'user' });
    const [refused, before] = [events('link.refused'), smtp.mails.length];
    const emails = [known.email, 'nobody@example.com', off.email, invited.email, 'x'.repeat(300)];
    const pages: Page[] = [];
    for (const email of emails) pages.push(await ask(email));
    await expect.poll(() => events('link.refused') - refused).toBe(4);
    await expect.poll(() => smtp.mails.length - before).toBe(1);
    expect(new Set(pages.map(({ status, html }) => `${status} ${html}`)).size).toBe(1);
  });

  test('is looked up only after the answer is sent, so its time reveals nothing', async () => {
    late += 900_000;
    const known = await server.addUser({ email: 'timed@example.com', level: 'user' });
    const seen: number[] = [];
    const onFinish = (message: unknown) => {
      const { request } = message as { readonly request: IncomingMessage };
      if (request.method === 'POST') seen.push(events('link.requested') + events('link.refused') - before);
    };
    const before = events('link.requested') + events('link.refused');
    subscribe('http.server.response.finish', onFinish);
    try {
      for (const email of [known.email, 'nobody@example.com']) await ask(email);
    } finally {
      unsubscribe('http.server.response.finish', onFinish);
    }
    await expect.poll(() => events('link.requested') + events('link.refused') - before).toBe(2);
    expect(seen[0]).toBe(0);
  });

  test('sends a limited number of mails, and limits the requests of one address', async () => {
    late += 900_000;
    const una = await server.addUser({ email: 'often@example.com', level: 'user' });
    const answers: number[] = [];
    for (let i = 0; i < 11; i++) answers.push((await ask(una.email)).status);
    await expect.poll(() => events('link.throttled')).toBe(7);
    expect([answers.slice(0, 10).every((status) => status === 200), answers[10]]).toEqual([true, 429]);
    expect(mailsTo(una.email)).toHaveLength(3);
  });
});

test('without a mail server the page for a forgotten password and the link to it do not exist', async () => {
  const own = await openConsoleServer();
  try {
    const browser = createBrowser();
    const page = await browser.open(own.at('/forgot'));
    const signIn = await browser.open(own.at('/sign-in'));
    expect([page.status, signIn.html.includes('Forgot')]).toEqual([404, false]);
  } finally {
    await own.stop();
  }
});

test('mail to another host needs TLS, and a name cannot inject headers', async () => {
  const observed: unknown[] = [];
  const mailerOf = async (host: string) =>
    (await createMailer({
      config: { mailUrl: `smtp://eve:secret@${host}:${smtp.port}`, mailFrom: 'portico@example.com' },
      observe: (one) => observed.push(one),
    }))!;
  const [lines, before] = [smtp.lines.length, smtp.mails.length];
  // This machine, under an address that is not known to be it.
  const far = await mailerOf('[::ffff:127.0.0.1]');
  const mail = { to: 'eve@example.com', subject: 'Hello', text: 'a secret link' };
  expect(await far.send(mail)).toBe(false);
  far.close();
  expect(smtp.lines.slice(lines).join('\n')).not.toMatch(/AUTH|secret|MAIL/);
  expect(observed).toHaveLength(1);

  const near = (await createMailer({
    config: { mailUrl: `smtp://127.0.0.1:${smtp.port}`, mailFrom: 'portico@example.com' },
    observe: (one) => observed.push(one),
  }))!;
  await near.send({ ...mail, subject: 'Hello\r\nBcc: all@example.com' });
  await near.send({ ...mail, to: 'eve@example.com, all@example.com' });
  near.close();
  const sent = smtp.mails.slice(before);
  expect(sent.flatMap(({ to }) => to)).not.toContain('all@example.com');
  expect(sent[0]!.content).not.toMatch(/^Bcc/m);
});
