// Mail to other people, and the settings of the process.
import { systemClock } from '../../../src/core/clock.ts';
import { createBrowser } from '../../oauth/flow.ts';
import { type MailServer, startMailServer } from '../../smtp.ts';
import { type Attack, type Place, verdict } from '../attack.ts';
import type { Target } from '../target.ts';
import { on, web } from './web.ts';

const mailServers = new WeakMap<Target, MailServer>();
const withMail: Place = {
  ...web,
  name: 'web with mail',
  async around() {
    const smtp = await startMailServer();
    const env = {
      SERVICE_MAIL_URL: `smtp://127.0.0.1:${smtp.port}`,
      SERVICE_MAIL_FROM: 'Portico <portico@example.test>',
    };
    return { env, started: (target) => void mailServers.set(target, smtp), close: () => smtp.stop() };
  },
};

/** Asks for a link to replace a forgotten password, from this address. */
async function askForLink({ consoleUrl }: Target, email: string, address: string): Promise<number> {
  const browser = createBrowser();
  const form = await browser.open(`${consoleUrl}/forgot`);
  const csrf = /name="csrf" value="([^"]+)"/.exec(form.html)?.[1] ?? '';
  const page = await browser.open(`${consoleUrl}/forgot`, {
    method: 'POST',
    body: new URLSearchParams({ csrf, action: 'forgot', email }),
    headers: { 'sec-fetch-site': 'same-origin', origin: new URL(consoleUrl).origin, 'x-forwarded-for': address },
  });
  return page.status;
}

const mailsTo = (target: Target, email: string) =>
  mailServers.get(target)!.mails.filter(({ to }) => to.includes(email)).length;

/** Waits until somebody else, who asks after the others, has their mail, and the mails before are sent. */
async function mailsSent(target: Target): Promise<void> {
  const { email } = await target.person();
  await askForLink(target, email, '192.0.2.250');
  for (let at = 0; at < 200 && mailsTo(target, email) === 0; at++) await systemClock.sleep(50);
  if (mailsTo(target, email) === 0) throw new Error('no mail arrived');
  await systemClock.sleep(500);
}

export const mailAttacks: readonly Attack[] = [
  {
    id: 'web-held-mail-fills-a-mailbox',
    finding: 'web held',
    title: 'requests from many addresses fill the mailbox of one person (CWE-799)',
    place: withMail,
    on,
    async attack(target) {
      const { email } = await target.person();
      const statuses: number[] = [];
      for (let at = 0; at < 12; at++) statuses.push(await askForLink(target, email, `198.51.100.${at}`));
      await mailsSent(target);
      const mails = mailsTo(target, email);
      return verdict(mails > 3, { mails, statuses });
    },
    protection: [
      {
        file: 'src/console/pages/account/forgotten.ts',
        text: 'const mailsToUser = { points: 3, seconds: 3600 };',
        into: 'const mailsToUser = { points: 3000, seconds: 3600 };',
      },
    ],
  },
  {
    id: 'web-held-mail-to-many-people',
    finding: 'web held',
    title: 'one address makes the server mail everybody (CWE-799)',
    place: withMail,
    on,
    async attack(target) {
      const people = await Promise.all(Array.from({ length: 14 }, () => target.person()));
      const statuses: number[] = [];
      for (const { email } of people) statuses.push(await askForLink(target, email, '203.0.113.7'));
      await mailsSent(target);
      const mails = people.filter(({ email }) => mailsTo(target, email) > 0).length;
      return verdict(mails > 10, { mails, statuses });
    },
    protection: [
      {
        file: 'src/console/pages/account/forgotten.ts',
        text: 'const requests = { points: 10, seconds: 900 };',
        into: 'const requests = { points: 10_000, seconds: 900 };',
      },
    ],
  },
  {
    id: 'web-held-mail-to-the-disabled',
    finding: 'web held',
    title: 'somebody whose account is disabled gets a link that lets them in again (CWE-640)',
    place: withMail,
    on,
    async attack(target) {
      const gone = await target.person();
      await target.store.identity.setDisabled(gone.id, true);
      const status = await askForLink(target, gone.email, '192.0.2.8');
      await mailsSent(target);
      return verdict(mailsTo(target, gone.email) > 0, { status, mails: mailsTo(target, gone.email) });
    },
    protection: [
      {
        file: 'src/console/pages/account/forgotten.ts',
        text: 'if (!user?.hasPassword || user.disabled) return observe(',
        into: 'if (!user?.hasPassword) return observe(',
      },
      {
        file: 'src/store/users/one-time-links.ts',
        text: '        if (user.disabled) {\n',
        into: '        if (!user) {\n',
      },
    ],
  },
  {
    id: 'web-held-settings-of-a-developer',
    finding: 'web held',
    title: 'somebody who is no administrator reads the settings of the process, or makes it read its tables (CWE-862)',
    place: withMail,
    on,
    async attack(target) {
      const visit = await (await target.person({ level: 'developer' })).visit('/settings');
      const { status } = visit.page;
      const csrf = /name="csrf" value="([^"]+)"/.exec((await visit.open('/account')).html)?.[1] ?? '';
      const posted = await visit.forge({ csrf, action: 'reload' });
      const isShown = visit.page.html.includes('SERVICE_DATA_DIR');
      return verdict(isShown || posted.status < 400, { status, posted: posted.status });
    },
    protection: [
      {
        file: 'src/console/routes.ts',
        text: "{ page: '/settings', open: false, admin: true, get: showSettings, post: reloadTables },",
        into: "{ page: '/settings', open: false, get: showSettings, post: reloadTables },",
      },
    ],
  },
  {
    id: 'web-held-settings-show-secrets',
    finding: 'web held',
    title: 'an administrator reads secrets of the process in its settings (CWE-200)',
    place: withMail,
    on,
    async attack(target) {
      const { page } = await (await target.person({ level: 'admin' })).visit('/settings');
      if (!page.html.includes('SERVICE_SECRET')) throw new Error(`no settings: ${page.status}`);
      return verdict(page.html.includes('the secret of the server that is attacked'), { status: page.status });
    },
    protection: [
      {
        file: 'src/core/config/shown.ts',
        text: "if ('secret' in settings[name]) return '***';",
        into: "if (!settings[name]) return '***';",
      },
    ],
  },
];
