// `portico user invite`, `reset`, `disable`, `enable`, `reset-totp` and `sign-out`, while a server is running.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createBrowser, type Page } from '../oauth/flow.ts';
import { buildOnce, makePlace, type Place, portico, type StartedServer, startServer } from './command.ts';

let place: Place;
let server: StartedServer;
beforeAll(async () => {
  await buildOnce();
  place = makePlace();
  server = await startServer(['--email', 'ada@example.com'], place);
});
afterAll(async () => {
  server.signal('SIGTERM');
  await server.ended;
  place.remove();
});

const heading = (page: Page): string => /<h1>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';
const run = (...args: string[]) => portico(['user', ...args], { ...place, env: { SERVICE_PUBLIC_URL: server.origin } });
const linkOf = (stdout: string): string => /^Link: (\S+) {2}\(/m.exec(stdout)?.[1] ?? '';
const chosen = { new: 'a few words of his', again: 'a few words of his' };
const bob = { email: 'bob@example.com', password: chosen.new };

test('a user is invited, uses the link, is signed out, disabled and enabled again', async () => {
  const invited = await run('invite', 'Bob@example.com', '--level', 'editor', '--role', 'Clerk', '--first-name', 'Bob');
  const listed = await run('list');
  const again = await run('invite', bob.email);
  const browser = createBrowser();
  const replaced = await browser.open(linkOf(invited.stdout));
  const page = await browser.open(linkOf(again.stdout));
  await browser.press(page, 'choose', chosen);
  const signIn = () => browser.open(`${server.origin}/console/account`).then((at) => browser.press(at, 'sign-in', bob));
  const signedIn = await signIn();
  const late = await run('invite', bob.email);
  const out = await run('sign-out', bob.email);
  const after = await browser.open(`${server.origin}/console/account`);
  const back = await signIn();
  const disabled = await run('disable', bob.email);
  const gone = await browser.open(`${server.origin}/console/account`);
  const refused = await browser.press(gone, 'sign-in', bob);
  const enabled = await run('enable', bob.email);
  expect([
    [invited.code, invited.stdout.split('\n')[0]],
    /bob@example.com\s+Bob\s+editor\s+Operations\s+Clerk\s+invited/.test(listed.stdout),
    again.stdout.includes('Earlier links stop working.'),
    heading(replaced),
    heading(page),
    heading(signedIn),
    [late.code, late.stderr],
    out.stdout,
    heading(after),
    heading(back),
    disabled.stdout,
    [heading(gone), refused.status],
    enabled.stdout,
    heading(await signIn()),
  ]).toEqual([
    [0, 'bob@example.com is invited: level editor, team Operations, role Clerk.'],
    true,
    true,
    'This link no longer works',
    'Welcome, Bob',
    'Account',
    [
      1,
      "portico: email: 'bob@example.com' already has an account. 'portico user reset' creates a link to set a new password.\n",
    ],
    'bob@example.com is signed out everywhere.\n',
    'Sign in',
    'Account',
    'bob@example.com is disabled from the next call on.\n',
    ['Sign in', 400],
    'bob@example.com is active from the next call on.\n',
    'Account',
  ]);
});

test('a reset prints its link and how long it works; an unknown user and a missing authenticator are reported', async () => {
  const reset = await run('reset', 'ada@example.com');
  const unknown = await run('reset', 'nobody@example.com');
  const totp = await run('reset-totp', 'ada@example.com');
  const page = await createBrowser().open(linkOf(reset.stdout));
  expect([
    linkOf(reset.stdout).replace(/[\w-]{43}$/, '<token>'),
    /works once, expires in an hour\)$/m.test(reset.stdout),
    heading(page),
    [unknown.code, unknown.stderr],
    totp.stdout,
  ]).toEqual([
    `${server.origin}/console/welcome/<token>`,
    true,
    'Choose a new password',
    [1, "portico: email: no user has the address 'nobody@example.com'.\n"],
    'ada@example.com had no authenticator app set up.\n',
  ]);
});
