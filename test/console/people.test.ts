// Users in the console: who may see them, and what can be changed. Users cannot lock themselves out, and forged pages
// change nothing.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import { type Account, type Browser, createBrowser, type Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read as readHtml } from './console-server.ts';

const read = (page: Page) => readHtml(page).replaceAll('&#39;', "'");

const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

let server: ConsoleTestServer;
let admin: Browser;
let start: Page;
let bob: Account;
let bobId: number;
beforeAll(async () => {
  server = await openConsoleServer();
  bob = await server.addUser({ email: 'bob@example.com', firstName: 'Bob', lastName: 'Marsh', team: 'South' });
  await server.store.permissions.setRole('Member', { '*': all });
  await server.store.permissions.setRole('Clerk', { '*': { ...all, delete: false } });
  bobId = (await server.userOf(bob)).id;
  ({ browser: admin, page: start } = await server.browse(server.account, '/people'));
});
afterAll(() => server.stop());

const post = (browser: Browser, page: Page, path: string, body: Record<string, string>, csrf = true) =>
  browser.open(server.at(path), {
    method: 'POST',
    body: new URLSearchParams({ ...(csrf && { csrf: csrfOf(page) }), ...body }),
    headers: { 'sec-fetch-site': 'same-origin' },
  });
const open = (page: string) => admin.open(server.at(page));
const bobs = async () => (await server.store.identity.findUser(bobId))!;
/** Every page about users and rights, and whether it accepts a form. */
const pages: readonly (readonly [page: string, post: boolean])[] = [
  ['/people', false],
  ['/people/new', true],
  ['/people/1', true],
  ['/teams', true],
  ['/teams/South', true],
  ['/teams/South/orders', true],
  ['/roles', true],
  ['/roles/Clerk', true],
  ['/roles/Clerk/orders', true],
  ['/rights/file', false],
  ['/environments', false],
  ['/collections', false],
  ['/collections/orders', false],
];

describe('access', () => {
  test('only administrators can open the pages, and every form needs its CSRF token', async () => {
    const editor = await server.addUser({ email: 'ed@example.com', level: 'developer' });
    const { browser, page } = await server.browse(editor, '/apps');
    const before = await server.store.rights.read();
    const found: string[] = [];
    for (const [path, takes] of pages) {
      const [shown, hidden] = [await open(path), await browser.open(server.at(path))];
      if (shown.status !== 200 || hidden.status !== 404) found.push(`${path} ${shown.status} ${hidden.status}`);
      const stranger = await createBrowser().open(server.at(path));
      if (!stranger.url.includes('/sign-in')) found.push(`${path} is open`);
      if (!takes) continue;
      const action = { action: 'make', name: 'Thieves', email: 'thief@example.com', from: '' };
      const refused = await post(browser, page, path, action);
      const forged = await post(admin, start, path, action, false);
      if (refused.status !== 404 || forged.status !== 403) found.push(`${path} ${refused.status} ${forged.status}`);
    }
    expect([
      found,
      await server.store.rights.read(),
      await server.store.identity.findUserByEmail('thief@example.com'),
    ]).toEqual([[], before, undefined]);
    // Only administrators have this link in the navigation.
    expect([start.html.includes('/console/people"'), page.html.includes('/console/people"')]).toEqual([true, false]);
  });

  test('unknown ids and names return 404', async () => {
    const statuses = await Promise.all(
      [
        '/people/999',
        '/people/x',
        '/teams/None',
        '/teams/South/none',
        '/roles/None',
        '/roles/Clerk/none',
        '/collections/none',
        '/roles/Clerk?in=None',
      ].map(async (path) => (await open(path)).status),
    );
    expect(statuses).toEqual(statuses.map(() => 404));
  });
});

test('users are found by name, team, role, level and state, a page at a time', async () => {
  for (let at = 0; at < 60; at++) await server.store.identity.addUser({ email: `p${at}@many.example`, team: 'Crowd' });
  await server.store.identity.setDisabled((await server.store.identity.findUserByEmail('p7@many.example'))!.id, true);
  const count = async (query: string) => {
    const page = await open(`/people?${query}`);
    return [...page.html.matchAll(/href="\/console\/people\/\d+"/g)].length;
  };
  const second = await open('/people?team=Crowd&page=2');
  expect([
    await count('team=Crowd'),
    [...second.html.matchAll(/href="\/console\/people\/\d+"/g)].length,
    read(second).includes('Page 2 of 2'),
    await count('find=MARSH'),
    await count('level=admin'),
    await count('state=invited&team=Crowd&page=2'),
    await count('state=disabled'),
    read(await open('/people?find=nobody%3Cb%3E')).includes('No results'),
  ]).toEqual([50, 10, true, 1, 1, 9, 1, true]);
});

test('the page of a user shows their apps, tokens and last call', async () => {
  const { token } = await signedIn(server, bob);
  await server.store.tokens.create({ userId: bobId, name: 'nightly', scopes: ['mcp:read'] });
  await ask(server.mcpUrl, token, 'tools/list', {});
  const text = read(await open(`/people/${bobId}`));
  expect(text).toMatch(
    /Bob Marsh active .*E-mail bob@example.com Team South Role Member Level user Second factor No authenticator app/,
  );
  expect(text).toMatch(/Apps 1 Tokens 1 Last call never/);
});

test('role, team, level, profile and tags can be changed; each change applies to the next call and is logged', async () => {
  const { token } = await signedIn(server, bob);
  const rights = async () => (await server.store.permissions.accessOf(bobId))!;
  const person = await open(`/people/${bobId}`);
  const saved = await admin.press(person, 'rights', { role: 'Clerk', team: 'Operations', level: 'editor' });
  const tools = await ask(server.mcpUrl, token, 'tools/list', {});
  await admin.press(await open(`/people/${bobId}`), 'profile', { firstName: 'Robert', timezone: 'Europe/Oslo' });
  const tagged = await admin.press(await open(`/people/${bobId}`), 'tags', {
    tags: 'region = south\r\ndesk=a=b\r\n\r\n',
  });
  const { caller } = await rights();
  const asIs = await admin.press(tagged, 'tags');
  const once = await admin.press(tagged, 'tags', { tags: 'desk=4' });
  expect([
    read(saved).includes('Saved. It takes effect immediately.'),
    tools.status,
    (await rights()).can('delete', 'orders'),
    [caller.role, caller.team, caller.permissionLevel, caller.firstName, caller.lastName, caller.timezone],
    caller.tags,
    read(asIs).includes('No change was needed'),
    once.html.includes('>\ndesk=4</textarea>'),
    (await rights()).caller.tags,
  ]).toEqual([
    true,
    200,
    false,
    ['Clerk', 'Operations', 'editor', 'Robert', 'Marsh', 'Europe/Oslo'],
    { region: 'south', desk: 'a=b' },
    true,
    true,
    { desk: '4' },
  ]);
});

test('an invalid form keeps the typed values, and changes nothing', async () => {
  const before = await bobs();
  const typed = 'a=1\n<b>x</b>\nc=3';
  const tags = await admin.press(await open(`/people/${bobId}`), 'tags', { tags: typed });
  const twice = await admin.press(await open(`/people/${bobId}`), 'tags', { tags: 'a=1\na=2' });
  const team = await post(admin, start, `/people/${bobId}`, { action: 'rights', team: 'Sout' });
  const zone = await post(admin, start, `/people/${bobId}`, {
    action: 'profile',
    timezone: 'Mars/North',
    firstName: 'Kept',
  });
  const level = await post(admin, start, `/people/${bobId}`, { action: 'rights', level: 'root' });
  expect([
    [
      tags.status,
      read(tags).includes('Line 2: expected key=value'),
      tags.html.includes('a=1\n&lt;b&gt;x&lt;/b&gt;\nc=3</textarea>'),
    ],
    [twice.status, read(twice).includes('is listed twice')],
    [team.status, read(team).includes("there is no team 'Sout'. Near: South")],
    [zone.status, zone.html.includes('value="Kept"')],
    [level.status, read(level).includes('expected one of admin, developer')],
    await bobs(),
  ]).toEqual([[400, true, true], [400, true], [400, true], [400, true], [400, true], before]);
});

test('administrators cannot disable or demote themselves, and two cannot demote each other', async () => {
  const own = `/people/${server.ada.id}`;
  const page = await open(own);
  const [disabled, demoted, totp] = [
    await post(admin, start, own, { action: 'disable' }),
    await post(admin, start, own, { action: 'rights', level: 'user' }),
    await post(admin, start, own, { action: 'totp-off' }),
  ];
  const kim = await server.addUser({ email: 'kim@example.com', level: 'admin' });
  const { browser, page: kims } = await server.browse(kim, '/people');
  const kimId = (await server.userOf(kim)).id;
  await post(admin, start, `/people/${kimId}`, { action: 'rights', level: 'user' });
  const late = await post(browser, kims, own, { action: 'disable' });
  expect([
    page.html.includes('value="disable"') || page.html.includes('name="level"'),
    [disabled.status, read(disabled).includes('You cannot disable yourself. Ask another administrator.')],
    [demoted.status, read(demoted).includes('You cannot change the permission level of yourself')],
    totp.status,
    late.status,
    (await server.store.identity.findUser(server.ada.id))!,
  ]).toEqual([false, [409, true], [409, true], 409, 404, expect.objectContaining({ level: 'admin', disabled: false })]);
});

test('disabling ends the sessions of a user, and enabling restores access', async () => {
  const eve = await server.addUser({ email: 'eve@example.com' });
  const { id } = await server.userOf(eve);
  const { token } = await signedIn(server, eve);
  const { browser } = await server.browse(eve);
  const works = async () => (await ask(server.mcpUrl, token, 'tools/list', {})).status;
  const before = await works();
  const gone = await admin.press(await open(`/people/${id}`), 'disable');
  const [after, shown] = [await works(), await browser.open(server.at('/account'))];
  const back = await admin.press(gone, 'enable');
  expect([
    before,
    after,
    shown.url.includes('/sign-in'),
    read(gone).includes('Disabled. All sessions ended'),
    read(back).includes('Enabled.'),
    await works(),
  ]).toEqual([200, 401, true, true, true, 200]);
});

test('signing out everywhere keeps assistants or not, as chosen; a lost second factor can be disabled', async () => {
  const joe = await server.addUser({ email: 'joe@example.com' });
  const { id } = await server.userOf(joe);
  const { token } = await signedIn(server, joe);
  const { browser } = await server.browse(joe);
  const works = async () => (await ask(server.mcpUrl, token, 'tools/list', {})).status;
  const out = await admin.press(await open(`/people/${id}`), 'end-sessions');
  const [kept, shown] = [await works(), await browser.open(server.at('/account'))];
  await admin.press(out, 'end-sessions', { assistants: 'yes' });
  const { secret } = await server.store.secondFactors.propose(joe.email, 'x');
  const { TOTP } = await import('otpauth');
  await server.store.secondFactors.switchOn(id, secret, new TOTP({ secret }).generate());
  const on = await open(`/people/${id}`);
  const off = await admin.press(on, 'totp-off');
  expect([
    kept,
    shown.url.includes('/sign-in'),
    await works(),
    read(on).includes('Authenticator app since'),
    read(off).includes('The password is now enough'),
    await server.store.secondFactors.of(id),
  ]).toEqual([200, true, 401, true, true, undefined]);
});

describe('links', () => {
  test('an invited user chooses a password with the link, once, and is signed in', async () => {
    const form = await open('/people/new');
    const made = await admin.press(form, 'invite', {
      email: 'New@Example.com',
      firstName: 'Nina',
      team: 'South',
      role: 'Clerk',
    });
    const link = /http[^"<]*\/welcome\/[\w-]{43}/.exec(made.html)![0];
    const browser = createBrowser();
    const done = await browser.press(await browser.open(link), 'choose', {
      new: 'a few words of hers',
      again: 'a few words of hers',
    });
    const again = await createBrowser().open(link);
    const user = (await server.store.identity.findUserByEmail('new@example.com'))!;
    const { page } = await server.browse({ email: user.email, password: 'a few words of hers' });
    expect([
      [made.status, made.html.includes(`<code>${link}</code>`), read(made).includes('shown once')],
      done.url.endsWith('/password-set'),
      again.status,
      [user.team, user.role, user.level, user.firstName],
      page.url.includes('/sign-in'),
    ]).toEqual([[200, true, true], true, 410, ['South', 'Clerk', 'user', 'Nina'], false]);
    expect(read(await open(`/people/${user.id}`))).not.toContain(link);
  });

  test('an invalid invitation shows the error at its field, with the typed values', async () => {
    const taken = await admin.press(await open('/people/new'), 'invite', {
      email: 'bob@example.com',
      lastName: 'Kept',
    });
    const wrong = await post(admin, start, '/people/new', {
      action: 'invite',
      email: 'x@example.com',
      team: 'Nowhere',
      role: 'Clerk',
      level: 'user',
    });
    expect([
      taken.status,
      read(taken).includes('is taken'),
      taken.html.includes('value="Kept"'),
      wrong.status,
      read(wrong).includes("There is no team 'Nowhere'."),
      await server.store.identity.findUserByEmail('x@example.com'),
    ]).toEqual([400, true, true, 400, true, undefined]);
  });

  test('a link for a new password can be made, but not for a disabled user', async () => {
    const sue = await server.addUser({ email: 'sue@example.com' });
    const { id } = await server.userOf(sue);
    const page = await open(`/people/${id}`);
    const made = await admin.press(page, 'link');
    await server.store.identity.setDisabled(id, true);
    const refused = await admin.press(page, 'link');
    expect([
      read(made).includes('A new password for sue@example.com'),
      refused.status,
      read(refused).includes('is disabled'),
    ]).toEqual([true, 409, true]);
  });
});

test('each change raises a security event with its author', async () => {
  const events = server.observed.flatMap((one) =>
    one.type === 'security' && one.event.startsWith('user.') ? [[one.event, one.userId]] : [],
  );
  for (const event of [
    'user.rights',
    'user.tags',
    'user.disable',
    'user.enable',
    'user.end-sessions',
    'user.totp-off',
    'user.reset',
    'user.invite',
  ]) {
    expect(events).toContainEqual([event, server.ada.id]);
  }
});

test('an administrator deletes a user only after typing the address, and never themselves', async () => {
  const carl = await server.addUser({ email: 'carl@example.com', firstName: 'Carl' });
  const { id } = await server.userOf(carl);
  const { browser: his } = await server.browse(carl, '/apps');
  const page = await open(`/people/${id}`);
  const refused = await admin.press(page, 'delete', { confirm: 'bob@example.com' });
  expect([refused.status, read(refused)]).toEqual([409, expect.stringContaining('carl@example.com to confirm')]);
  expect(await server.store.identity.findUser(id)).toBeDefined();
  const done = await admin.press(await open(`/people/${id}`), 'delete', { confirm: 'Carl@example.com' });
  expect([done.url, read(done)]).toEqual([
    expect.stringContaining('/people?done=deleted'),
    expect.stringContaining('Deleted. Logs and notes keep a number'),
  ]);
  expect([await server.store.identity.findUser(id), (await his.open(server.at('/apps'))).url]).toEqual([
    undefined,
    expect.stringContaining('/sign-in'),
  ]);
  const me = (await server.userOf(server.account)).id;
  const own = await open(`/people/${me}`);
  expect(own.html).not.toContain('value="delete"');
  const forced = await post(admin, own, `/people/${me}`, { action: 'delete', confirm: server.account.email });
  expect([forced.status, read(forced)]).toEqual([409, expect.stringContaining('You cannot delete yourself')]);
});
