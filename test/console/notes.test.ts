// Notes in the console: who sees them, how they are written, and how they are displayed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toHtml, toText } from '../../src/console/pages/notes/text.ts';
import type { Account, Browser } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const people: Record<string, Account> = {};
let renderings: Record<string, number>;

beforeAll(async () => {
  server = await openConsoleServer();
  const { store } = server;
  for (const [name, team, role, level] of [
    ['olga', 'Operations', 'Clerk', 'user'],
    ['omar', 'Operations', 'Narrow', 'user'],
    ['nora', 'North', 'Clerk', 'editor'],
    ['abe', 'North', 'Clerk', 'admin'],
  ] as const) {
    people[name] = await server.addUser({ email: `${name}@example.com`, firstName: name, team, role, level });
  }
  await store.permissions.setRole('Clerk', { '*': all });
  await store.permissions.setRole('Narrow', { customers: all, orders: { ...all, read: false } });
  await store.permissions.setScope('North', 'customers', { field: 'id', operator: 'LessThan', value: 3 });
  const renderingOf = async (email: string) => {
    const { id } = (await store.identity.findUserByEmail(email))!;
    return (await store.permissions.caller(id))!.renderingId;
  };
  renderings = { Operations: await renderingOf('olga@example.com'), North: await renderingOf('nora@example.com') };
});
afterAll(() => server?.stop());

const write = (title: string, collection: string, recordId: string, team: 'Operations' | 'North', content?: string) =>
  server.store.notes.create({
    title,
    collection,
    recordId,
    userId: server.ada.id,
    renderingId: renderings[team]!,
    ...(content !== undefined && { content }),
  });

/** Titles in the list. */
const titlesOf = (html: string): string[] =>
  [...html.matchAll(/<li><a href="[^"]*\/notes\/\d+"><b>([^<]*)/g)].map(([, title]) => title!.trim());

/** Signs in and opens a page, whose path may have a query. */
async function visit(name: string, page: string) {
  const { browser } = await server.browse(people[name]!);
  return { browser, page: await browser.open(server.at(page)) };
}

async function see(name: string, query = ''): Promise<string[]> {
  return titlesOf((await visit(name, `/notes${query}`)).page.html);
}

test('a member sees the notes of their team, on collections they may read, about records in their row scope', async () => {
  const ids = [
    await write('seen on a customer', 'customers', '1', 'Operations'),
    await write('seen on an order', 'orders', '1', 'Operations'),
    await write('seen on a record that is gone', 'orders', '999999', 'Operations'),
    await write('seen on a collection that is gone', 'nothing', '1', 'Operations'),
    await write('seen of the north', 'customers', '2', 'North'),
    await write('seen beyond their rows', 'customers', '3', 'North'),
  ];
  // Other tests create other notes.
  const lists = [];
  for (const name of ['olga', 'omar', 'nora', 'abe']) lists.push(await see(name, '?text=seen'));
  expect(lists).toEqual([
    ['seen on an order', 'seen on a customer'],
    ['seen on a customer'],
    ['seen of the north'],
    ['seen of the north', 'seen on an order', 'seen on a customer'],
  ]);
  const opened = [];
  for (const name of ['olga', 'omar', 'nora', 'abe']) {
    const { browser } = await server.browse(people[name]!);
    for (const id of ids) opened.push(`${name} ${id} ${(await browser.open(server.at(`/notes/${id}`))).status}`);
  }
  const open = opened.filter((line) => line.endsWith('200')).map((line) => line.split(' ').slice(0, 2).join(' '));
  expect([open, new Set(opened.map((line) => line.slice(-3)))]).toEqual([
    [
      `olga ${ids[0]}`,
      `olga ${ids[1]}`,
      `omar ${ids[0]}`,
      `nora ${ids[4]}`,
      `abe ${ids[0]}`,
      `abe ${ids[1]}`,
      `abe ${ids[4]}`,
    ],
    new Set(['200', '404']),
  ]);
});

test('the list is filtered and paged, even if many notes are not visible', async () => {
  for (let note = 1; note <= 60; note++) {
    await write(`many ${note}`, 'products', note % 2 ? '1' : '999999', 'Operations');
  }
  const { browser, page } = await visit('olga', '/notes?collection=products');
  const older = /href="([^"]+)" rel="next"/.exec(page.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const next = await browser.open(new URL(older, server.address).href);
  const odd = Array.from({ length: 30 }, (_, at) => `many ${59 - 2 * at}`);
  expect([titlesOf(page.html), titlesOf(next.html), next.html.includes('rel="next"')]).toEqual([
    odd.slice(0, 25),
    odd.slice(25),
    false,
  ]);
  const note = (await server.store.notes.list({ limit: 1, title: 'many 59' })).notes[0]!;
  await server.store.notes.change(note.id, { archived: true });
  expect([
    await see('olga', '?text=MANY+59'),
    await see('olga', '?text=many+59&state=archived'),
    await see('olga', '?text=many+5&state=all'),
    await see('olga', '?mine=yes&collection=products'),
    await see('olga', '?collection=products&record=999999'),
    await see('omar', '?collection=products'),
    await see('olga', '?text=%00&after=x&state=odd'),
  ]).toEqual([
    [],
    ['many 59'],
    ['many 59', 'many 57', 'many 55', 'many 53', 'many 51', 'many 5'],
    [],
    [],
    [],
    expect.any(Array),
  ]);
});

const post = (browser: Browser, csrf: string, page: string, form: Record<string, string>) =>
  browser.open(server.at(page), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: `${new URLSearchParams({ csrf, ...form })}`,
  });

test('a note is created, replied to, edited by its author and administrators only, renamed and archived', async () => {
  const olga = await visit('olga', '/notes/new?collection=customers&record=1');
  const prefilled = [
    /About <a href="[^"]*\/data\/customers\/1">/.test(olga.page.html),
    /type="hidden" name="record" value="1"/.test(olga.page.html),
  ];
  const csrf = /name="csrf" value="([^"]+)"/.exec(olga.page.html)?.[1] ?? '';
  const made = await post(olga.browser, csrf, '/notes/new', {
    collection: 'customers',
    record: '1',
    title: 'Call them back',
    content: 'One & two\n<b>three</b>\n\nSee https://example.com/a?b=1&c=2.\n\n- first\n- second',
  });
  const note = (await server.store.notes.list({ limit: 1, title: 'Call them' })).notes[0]!;
  expect([prefilled, note.messages[0]?.content, note.user.email, read(made).includes('Note created.')]).toEqual([
    [true, true],
    '<p>One &amp; two<br />&lt;b&gt;three&lt;/b&gt;</p><p>See <a href="https://example.com/a?b=1&amp;c=2" rel="noopener noreferrer">https://example.com/a?b=1&amp;c=2</a>.</p><ul><li>first</li><li>second</li></ul>',
    'olga@example.com',
    true,
  ]);
  const message = `${note.messages[0]!.id}`;
  const page = `/notes/${note.id}`;
  const other = await server.browse(people.omar!, page);
  const otherCsrf = /name="csrf" value="([^"]+)"/.exec(other.page.html)?.[1] ?? '';
  const refused = await post(other.browser, otherCsrf, page, {
    action: 'edit',
    message,
    as: 'text',
    content: 'Mine now',
  });
  const steps = [
    [olga.browser, csrf, { action: 'edit', message, as: 'text', content: 'Edited' }, 'Message saved.'],
    [other.browser, otherCsrf, { action: 'message', content: 'Answered' }, 'Message sent.'],
    [other.browser, otherCsrf, { action: 'rename', title: 'Another name' }, 'Title saved.'],
    [other.browser, otherCsrf, { action: 'archive' }, 'Note archived'],
    [olga.browser, csrf, { action: 'unarchive' }, 'Note unarchived.'],
    [olga.browser, csrf, { action: 'message', content: ' \n ' }, 'Expected some text.'],
    [olga.browser, csrf, { action: 'rename', title: '' }, 'Expected 1 to 255 characters.'],
    [olga.browser, csrf, { action: 'odd' }, 'press one of the buttons'],
  ] as const;
  const told = [];
  for (const [browser, token, form, text] of steps)
    told.push(read(await post(browser, token, page, form)).includes(text));
  const after = (await server.store.notes.find(note.id))!;
  expect([
    [other.page.html.includes('value="edit"'), refused.status],
    told,
    [after.title, after.archivedAt, after.messages.map(({ content, user }) => `${user.name}: ${content}`)],
  ]).toEqual([
    [false, 403],
    steps.map(() => true),
    ['Another name', null, ['olga: <p>Edited</p>', 'omar: <p>Answered</p>']],
  ]);
  const wrong = await Promise.all(
    [
      { collection: 'customers', record: '999999', title: 'x' },
      { collection: 'nothing', record: '1', title: 'x' },
      { collection: 'customers', record: 'x', title: 'x' },
      { collection: 'customers', record: '1', title: '' },
    ].map((form) => post(olga.browser, csrf, '/notes/new', { ...form, content: 'kept' })),
  );
  expect(
    wrong.map((one) => [one.status, one.html.includes('kept'), /role="alert">([^<]*)/.exec(one.html)?.[1]]),
  ).toEqual([
    [400, true, 'The record does not exist, or you cannot see it.'],
    [400, true, 'Unknown collection.'],
    [400, true, expect.stringContaining('Expected ')],
    [400, true, 'Expected 1 to 255 characters.'],
  ]);
});

test('a revoked right applies to the next form: nothing is written', async () => {
  const id = await write('for a while', 'customers', '1', 'Operations');
  const { browser, page } = await server.browse(people.omar!, `/notes/${id}`);
  const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)?.[1] ?? '';
  await server.store.permissions.setRole('Narrow', { customers: { ...all, read: false } });
  const refused = await post(browser, csrf, `/notes/${id}`, { action: 'message', content: 'Too late' });
  await server.store.permissions.setRole('Narrow', { customers: all, orders: { ...all, read: false } });
  expect([page.status, refused.status, (await server.store.notes.find(id))?.messages]).toEqual([200, 404, []]);
});

test('stored HTML is sanitized again when it is shown', async () => {
  const id = await write(
    '<img src=x>',
    'customers',
    '1',
    'Operations',
    '<p onclick="x()">a<script>alert(1)</script></p>',
  );
  const { page } = await server.browse(people.olga!, `/notes/${id}`);
  expect([
    page.html.includes('<div class="prose"><p>a</p></div>'),
    page.html.includes('alert(1)</script>'),
    page.html.includes('<h1>&lt;img src=x&gt;</h1>'),
  ]).toEqual([true, false, true]);
});

test('typed text is edited as it was typed; other HTML is edited as HTML', () => {
  const typed = ['a', 'a\nb\n\nc', '- a\n- b\n\nc & <d> "e"', 'https://example.com/?a=1&b=2 (see it)', '&lt;'];
  expect([
    typed.map((text) => toText(toHtml(text))),
    toText('<p><b>a</b></p>'),
    toText('<blockquote>a</blockquote>'),
  ]).toEqual([typed, undefined, undefined]);
});
