// Approvals of assistants' calls: who may decide, what the page shows, and that only one decision counts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import type { Approval } from '../../src/store/approvals/types.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import type { Account, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const all: CollectionPermission = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const looks: CollectionPermission = { ...all, edit: false, add: false, delete: false };

let server: ConsoleTestServer;
let clerk: Account;
let reader: Account;
let masked: Account;
let northern: Account;
beforeAll(async () => {
  server = await openConsoleServer({ app: { customize: customizeDemo } });
  clerk = await addMember('clerk', { '*': all });
  reader = await addMember('reader', { '*': looks });
  masked = await addMember('masked', { '*': { ...all, fields: { email: 'hidden', body: 'hidden' } } });
  northern = await addMember('northern', { '*': all });
  await server.store.permissions.setScope('northern', 'customers', { field: 'id', operator: 'LessThan', value: 10 });
});
afterAll(() => server.stop());

async function addMember(name: string, role: Record<string, CollectionPermission>): Promise<Account> {
  const account = await server.addUser({
    email: `${name}@example.com`,
    firstName: 'Sam',
    lastName: name,
    role: name,
    team: name,
  });
  await server.store.permissions.setRole(name, role);
  return account;
}

const rename = (...ids: string[]) => ({
  recordIds: ids,
  given: { collectionName: 'customers', recordIds: ids, attributes: { last_name: 'Renamed' } },
});
const removal = {
  tool: 'delete',
  collection: 'reviews',
  recordIds: ['3'],
  given: { collectionName: 'reviews', recordIds: ['3'] },
};
const open = async (account: Account, { id }: Pick<Approval, 'id'>): Promise<Page> =>
  (await server.browse(account, `/approvals/${id}`)).page;
/** Opens the approval and presses the button. */
const answer = async (account: Account, { id }: Approval, button: 'approve' | 'deny') => {
  const { browser, page } = await server.browse(account, `/approvals/${id}`);
  return browser.press(page, button);
};
const stateOf = async ({ id }: Approval) => (await server.store.approvals.find(id))?.state;
const mainOf = (page: Page): string => read({ ...page, html: page.html.replace(/^.*<main/s, '<main') });
/** The page without the settled requests. */
const listOf = ({ html }: Page): string => html.split('id="history"')[0] ?? '';
const heading = (page: Page): string => /<h1>(.*?)<\/h1>/.exec(page.html)?.[1] ?? '';

describe('the page of an approval', () => {
  test('shows the effect, the requester and the client, and each field before and after', async () => {
    const [row] = await server.ask('SELECT last_name FROM customers WHERE id = 1');
    const page = await open(clerk, await server.file(rename('1')));
    const text = mainOf(page).replace(/\d+ \w{3,4} \d{4}, \d\d:\d\d UTC/, '<when>');
    expect([page.status, text]).toEqual([
      200,
      'Change Vera Virtanen of customers? ' +
        'Who asks Ada Byron ada@example.com Operations · Administrator ' +
        'Through Notebook unverified The name was not verified. Record Vera Virtanen ' +
        'Asked <when> less than a minute ago; expires in 60 minutes ' +
        `Field Now After last_name ${row!.last_name} Renamed ` +
        'Deny Approve When you approve, the server makes the changes on this page, once. If a record changes first, the approval no longer counts.',
    ]);
  });

  test('names the verified host of a client', async () => {
    const client = { clientId: 'https://paper.example/client.json', clientName: 'Paper' };
    expect(mainOf(await open(clerk, await server.file({ ...rename('1'), ...client })))).toContain(
      'Through paper.example verified Calls itself “Paper”.',
    );
  });

  test.each([
    [
      'a new record',
      {
        tool: 'create',
        collection: 'categories',
        given: { collectionName: 'categories', attributes: { name: 'Maps', slug: 'maps', position: 9 } },
      },
      ['Add 1 record to categories?', 'Field Value', 'name Maps'],
    ],
    [
      'a delete, with everything that it deletes',
      removal,
      ['Delete Wonderful of reviews?', 'Field Deleted value', 'title Wonderful'],
    ],
    [
      'several records',
      rename('1', '2'),
      [
        'Change 2 records of customers?',
        'Records Vera Virtanen',
        'Record 1 Field Now After',
        'Record 2 Field Now After',
      ],
    ],
    [
      'a link',
      {
        tool: 'associate',
        collection: 'customers',
        recordIds: ['1'],
        given: {
          collectionName: 'customers',
          relationName: 'orders',
          parentRecordId: '1',
          targetRecordId: '900',
        },
      },
      ['Link records to Vera Virtanen of customers?', 'Record 900 Field Now After customer_id'],
    ],
    [
      'an action, with its form values',
      {
        tool: 'executeAction',
        collection: 'orders',
        action: 'Cancel',
        recordIds: ['21'],
        given: {
          collectionName: 'orders',
          actionName: 'Cancel',
          recordIds: ['21'],
          values: { reason: 'Out of stock' },
        },
        content: {
          arguments: {
            collectionName: 'orders',
            actionName: 'Cancel',
            recordIds: ['21'],
            values: { reason: 'Out of stock' },
          },
          preview: { count: 1, changes: [], values: { reason: 'Out of stock' } },
        },
      },
      ['Run ‘Cancel’ on ORD-10021 of orders?', 'Form values', 'reason Out of stock'],
    ],
  ])('shows %s', async (_what, call, parts) => {
    const text = mainOf(await open(clerk, await server.file(call)));
    expect(parts.filter((part) => !text.includes(part))).toEqual([]);
  });

  test('shows texts of clients and records as text, and clips long ones', async () => {
    const evil = '<img src=x onerror=alert(1)>"\u202e`';
    const note = `${evil}${'long '.repeat(500)}`;
    const page = await open(
      clerk,
      await server.file({
        clientName: evil,
        collection: 'orders',
        recordIds: ['17'],
        given: { collectionName: 'orders', recordId: '17', attributes: { note } },
      }),
    );
    expect([
      page.html.includes('<img'),
      page.html.includes('\u202e'),
      page.html.includes('&lt;img src=x onerror=alert(1)&gt;'),
      page.html.includes(`… <i>(300 of ${note.length} characters)</i>`),
    ]).toEqual([false, false, true, true]);
  });

  test('warns if a record has changed', async () => {
    const { given, recordIds } = rename('4');
    const changes = [{ id: '4', fields: { last_name: { before: 'Somebody else', after: 'Renamed' } } }];
    const content = { arguments: given, preview: { count: 1, changes } };
    const changed = await open(clerk, await server.file({ given, recordIds, content }));
    const [row] = await server.ask('SELECT last_name FROM customers WHERE id = 4');
    const same = [{ id: '4', fields: { last_name: { before: row!.last_name, after: 'Renamed' } } }];
    const unchanged = await open(
      clerk,
      await server.file({ given, recordIds, content: { arguments: given, preview: { count: 1, changes: same } } }),
    );
    const warning = 'Changed since the request';
    expect([mainOf(changed).includes(warning), mainOf(unchanged).includes(warning)]).toEqual([true, false]);
  });
});

describe('a user who may not decide', () => {
  test.each([
    ['without the right', () => reader, rename('1')],
    ['if the record is outside their row scope', () => northern, rename('11')],
    ['if one of the records is', () => northern, rename('2', '11')],
    [
      'if a field is hidden from them',
      () => masked,
      {
        ...rename('1'),
        given: { collectionName: 'customers', recordId: '1', attributes: { email: 'new@example.com' } },
      },
    ],
  ])('%s gets the same page as for an unknown id', async (_why, account, call) => {
    const approval = await server.file(call);
    const { browser, page } = await server.browse(account(), `/approvals/${approval.id}`);
    const unknown = await browser.open(server.at('/approvals/unknown'));
    const start = await browser.open(server.at(''));
    const body = new URLSearchParams({ action: 'approve', csrf: csrfOf(start) });
    const headers = { cookie: browser.cookieHeader(new URL(page.url)), 'sec-fetch-site': 'same-origin' };
    const forced = await fetch(page.url, { method: 'POST', body, headers, redirect: 'manual' });
    const listed = await browser.open(server.at('/approvals'));
    expect([
      [page.status, heading(page), page.html === unknown.html, (await forced.text()) === unknown.html],
      forced.status,
      listed.html.includes(approval.id),
      start.html.includes(approval.id),
      await stateOf(approval),
    ]).toEqual([[404, 'Request not found', true, true], 404, false, false, 'pending']);
  });

  test('but requested it, sees that another user must decide', async () => {
    const { id: userId } = await server.userOf(reader);
    const page = await open(reader, await server.file({ ...rename('1'), userId }));
    expect([
      page.status,
      mainOf(page).includes('You cannot decide this'),
      page.html.includes('value="approve"'),
    ]).toEqual([200, true, false]);
  });
});

test('fields that are hidden from the deciding user are not shown to them', async () => {
  const [row] = await server.ask('SELECT body, title FROM reviews WHERE id = 3');
  const shown = await Promise.all(
    [clerk, masked].map(async (who) => mainOf(await open(who, await server.file(removal)))),
  );
  expect(shown.map((text) => [text.includes(`${row!.title}`), text.includes(`${row!.body}`)])).toEqual([
    [true, true],
    [true, false],
  ]);
});

describe('second-person approval', () => {
  const policy = { policy: 'ask-person', secondPerson: true } as const;

  test('the requester sees it, not in their list, and cannot decide it', async () => {
    const approval = await server.file({ ...rename('1'), policy });
    const { browser, page } = await server.browse(server.account, `/approvals/${approval.id}`);
    const start = await browser.open(server.at(''));
    const body = new URLSearchParams({ action: 'approve', csrf: csrfOf(start) });
    const headers = { cookie: browser.cookieHeader(new URL(page.url)), 'sec-fetch-site': 'same-origin' };
    const forced = await fetch(page.url, { method: 'POST', body, headers, redirect: 'manual' });
    expect([
      mainOf(page).includes('Another person must decide'),
      /<main.*<form/s.test(page.html),
      start.html.includes(approval.id),
      forced.status,
      await stateOf(approval),
    ]).toEqual([true, false, false, 403, 'pending']);
  });

  test('another user can decide it', async () => {
    const approval = await server.file({ ...rename('1'), policy });
    await answer(clerk, approval, 'approve');
    expect(await stateOf(approval)).toBe('approved');
  });
});

describe('a decision', () => {
  test.each([
    ['approve', 'approved', 'Approved by you', 'Approved by Sam clerk', 'Ask the assistant to try again'],
    ['deny', 'denied', 'Denied by you', 'Denied by Sam clerk', 'No change was made.'],
  ] as const)(
    'to %s is stored, shown to both users, and logged with names and ids',
    async (button, state, mine, theirs, next) => {
      const approval = await server.file(rename('1'));
      const page = await answer(clerk, approval, button);
      const asker = await open(server.account, approval);
      const { id } = await server.userOf(clerk);
      const [entry] = await server.store.activity.list({ limit: 1 });
      const event = server.observed.filter((one) => one.type === 'security').at(-2);
      const [row] = await server.ask('SELECT last_name FROM customers WHERE id = 1');
      expect([
        [page.url, mainOf(page).includes(mine), mainOf(page).includes(next), page.html.includes('value="approve"')],
        mainOf(asker).includes(theirs),
        [(await server.store.approvals.find(approval.id))?.decidedBy, await stateOf(approval)],
        entry,
        event,
        row!.last_name === 'Renamed',
      ]).toEqual([
        [server.at(`/approvals/${approval.id}`), true, true, false],
        true,
        [id, state],
        expect.objectContaining({
          userId: id,
          clientName: 'Console',
          action: button,
          type: 'write',
          collection: 'customers',
          recordIds: ['1'],
          outcome: 'completed',
        }),
        expect.objectContaining({ event: `approval.${state}`, userId: id, detail: approval.id }),
        false,
      ]);
    },
  );

  test('of two concurrent decisions, one counts and the other shows an error', async () => {
    const approval = await server.file(rename('2'));
    const press = async (account: Account, action: string) => {
      const { browser, page } = await server.browse(account, `/approvals/${approval.id}`);
      const headers = { cookie: browser.cookieHeader(new URL(page.url)), 'sec-fetch-site': 'same-origin' };
      const body = new URLSearchParams({ action, csrf: csrfOf(page) });
      return () => fetch(page.url, { method: 'POST', body, headers, redirect: 'manual' });
    };
    const pressed = [await press(clerk, 'approve'), await press(server.account, 'deny')];
    const answers = await Promise.all(pressed.map((send) => send()));
    const late = answers.find(({ status }) => status === 409);
    const winner = answers[0]!.status === 303 ? 'approved' : 'denied';
    expect([answers.map(({ status }) => status).sort(), await stateOf(approval)]).toEqual([[303, 409], winner]);
    expect(await late!.text()).toContain('Your answer was not used');
  });

  test('is refused if the right was revoked while the page was open', async () => {
    const brief = await addMember('brief', { '*': all });
    const approval = await server.file(rename('1'));
    const { browser, page } = await server.browse(brief, `/approvals/${approval.id}`);
    await server.store.permissions.setRole('brief', { '*': looks });
    const after = await browser.press(page, 'approve');
    expect([heading(page), after.status, await stateOf(approval)]).toEqual([
      'Change Vera Virtanen of customers?',
      404,
      'pending',
    ]);
  });

  test('is never made by a GET', async () => {
    const approval = await server.file(rename('1'));
    const { browser, page } = await server.browse(clerk, `/approvals/${approval.id}`);
    const query = new URLSearchParams({ action: 'approve', csrf: csrfOf(page) });
    const asked = await browser.open(`${page.url}?${query}`);
    expect([asked.status, await stateOf(approval)]).toEqual([200, 'pending']);
  });
});

describe('a settled request', () => {
  test('that was used, overtaken or denied says so, and has no button', async () => {
    const used = await server.file({ ...rename('1'), args: 'the call', found: 'same' });
    const call = {
      userId: server.ada.id,
      clientId: 'notebook-client',
      tool: 'update',
      args: 'the call',
      found: 'same',
    };
    await answer(clerk, used, 'approve');
    const taken = await server.store.approvals.take(used.id, call);
    const overtaken = await server.file(rename('1'));
    await server.store.approvals.overtake(overtaken.id);
    const pages = [await open(clerk, used), await open(server.account, used), await open(clerk, overtaken)];
    expect([
      taken,
      pages.map((page) => /role="status">.*?<b>(.*?)<\/b>/s.exec(page.html)?.[1]),
      pages.some((page) => page.html.includes('value="approve"')),
    ]).toEqual([true, ['Done', 'Done', 'Outdated'], false]);
  });

  test('is not shown to users who could not have decided it', async () => {
    const approval = await server.file(rename('11'));
    await answer(clerk, approval, 'deny');
    expect([(await open(northern, approval)).status, (await open(reader, approval)).status]).toEqual([404, 404]);
  });
});

test('the list shows the requests that the user may decide, newest first, or that it is empty', async () => {
  // The requester cannot be the second person, so another user decides.
  const another = server.ada.id + 1;
  for (const { id } of await server.store.approvals.list('pending', 100))
    await server.store.approvals.decide(id, { by: another, verdict: 'denied' });
  const empty = (await server.browse(clerk, '/approvals')).page;
  const first = await server.file(rename('1'));
  const second = await server.file(removal);
  const { browser, page } = await server.browse(clerk, '/approvals');
  const links = [...listOf(page).matchAll(/href="[^"]*\/approvals\/([^"]+)"/g)].map(([, id]) => id);
  const start = await browser.open(server.at(''));
  expect([
    mainOf(empty).includes('Nothing is waiting for you'),
    new Set(links),
    start.html.includes(second.id),
  ]).toEqual([true, new Set([second.id, first.id]), true]);
  expect(mainOf(page)).toContain('Delete Wonderful of reviews Notebook asks, less than a minute ago');
});

// CWE-770: fifty requests of one assistant do not hide others, and every request is reachable.
test('the list alternates between requesters, and its pages reach the oldest request', async () => {
  for (const { id } of await server.store.approvals.list('pending', 100))
    await server.store.approvals.decide(id, { by: server.ada.id + 1, verdict: 'denied' });
  const { id: readerId } = await server.userOf(reader);
  const first = await server.file({ ...rename('2'), userId: readerId });
  const all = [first.id];
  for (let at = 0; at < 50; at++) all.push((await server.file(rename('1'))).id);
  const linksOf = (from: Page) =>
    [...listOf(from).matchAll(/href="[^"]*\/approvals\/([^"?]+)"/g)].map(([, id]) => `${id}`);
  const { browser, page } = await server.browse(clerk, '/approvals');
  expect(linksOf(page)).toHaveLength(20);
  expect(linksOf(page).slice(0, 2)).toContain(first.id);
  const seen = [];
  for (let at: Page | undefined = page; at; ) {
    seen.push(...linksOf(at));
    const older: string | undefined = /<a href="([^"]+)" rel="next">/.exec(at.html)?.[1];
    at =
      older === undefined ? undefined : await browser.open(new URL(older.replaceAll('&amp;', '&'), server.at('')).href);
  }
  expect(seen.toSorted()).toEqual(all.toSorted());
});
