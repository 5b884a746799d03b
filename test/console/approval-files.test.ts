// Files of a call that waits for approval: until the decision, the requester and those who may decide can open them.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashToken } from '../../src/core/secret.ts';
import { callTool } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import type { Account, Browser } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer } from './console-server.ts';

const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const page = '<script>alert(1)</script>';

let server: ConsoleTestServer;
let token: string;
const people: Record<string, Account> = {};
beforeAll(async () => {
  server = await openConsoleServer({
    app: {
      customize: (agent) =>
        agent.customizeCollection('orders', (orders) =>
          orders.addAction('Attach', {
            scope: 'Single',
            form: [
              { label: 'Words', type: 'String' },
              { label: 'constructor', type: 'String' },
              { label: 'Bill', type: 'File', isRequired: true },
              { label: 'Pictures', type: 'FileList' },
            ],
            approval: { policy: 'ask-person', secondPerson: true },
            execute: () => undefined,
          }),
        ),
    },
  });
  for (const [name, rights] of [
    ['clerk', all],
    ['reader', { ...all, edit: false, add: false, delete: false }],
  ] as const) {
    people[name] = await server.addUser({ email: `${name}@example.com`, team: 'Operations', role: name });
    await server.store.permissions.setRole(name, { '*': rights });
  }
  token = (await signedIn(server, server.account, 'mcp:read mcp:action')).token;
});
afterAll(() => server?.stop());

const call = (name: string, given: Record<string, unknown>) => callTool(server.mcpUrl, token, name, given);

async function upload(filename: string, mimeType: string, body: string): Promise<string> {
  const asked = await call('requestActionFileUpload', { filename, mimeType });
  const { uploadUrl, fileHandle } = (asked as { json: { uploadUrl: string; fileHandle: string } }).json;
  const headers = { authorization: `Bearer ${token}`, 'content-type': mimeType };
  expect((await fetch(uploadUrl, { method: 'PUT', headers, body })).status).toBeLessThan(300);
  return fileHandle;
}

/** The file behind each download link of the page. */
async function open(browser: Browser, html: string) {
  const links = [...html.matchAll(/<a href="([^"]+)" download>([^<]+)</g)];
  const got: unknown[] = [];
  for (const [, href, text] of links) {
    const { status, headers, html: body } = await browser.open(new URL(href!, server.consoleUrl));
    got.push([text, status, headers.get('content-type'), headers.get('content-disposition'), body]);
  }
  return got;
}

test('the page of an approval opens an upload and a small file of an assistant', async () => {
  const asked = await call('executeAction', {
    collectionName: 'orders',
    actionName: 'Attach',
    recordIds: [1],
    values: {
      Words: 'Please',
      constructor: 'of nothing',
      Bill: await upload('bill.pdf', 'application/pdf', '%PDF-1'),
      Pictures: [
        `data:text/html;name=a.html;base64,${Buffer.from(page).toString('base64')}`,
        'data:image/png;base64,UE5H',
      ],
    },
  });
  const id = /\/approvals\/([\w-]+)/.exec(JSON.stringify(asked))?.[1] ?? expect.fail(JSON.stringify(asked));
  const at = `/approvals/${id}`;
  const { browser, page: shown } = await server.browse(people.clerk!, at);
  expect(await open(browser, shown.html)).toEqual([
    [
      'bill.pdf (application/pdf, 6 bytes)',
      ...[200, 'application/octet-stream', `attachment; filename="bill.pdf"; filename*=UTF-8''bill.pdf`, '%PDF-1'],
    ],
    [
      `a.html (text/html, ${page.length} bytes)`,
      ...[200, 'application/octet-stream', `attachment; filename="a.html"; filename*=UTF-8''a.html`, page],
    ],
    [
      'file (image/png, 3 bytes)',
      ...[200, 'application/octet-stream', `attachment; filename="file"; filename*=UTF-8''file`, 'PNG'],
    ],
  ]);
  const statusOf = async (who: Browser, file: string) => (await who.open(server.at(`${at}/files/${file}`))).status;
  const wrong = ['0', '4', 'x', '-1', '1.0'];
  expect(await Promise.all(wrong.map((file) => statusOf(browser, file)))).toEqual(wrong.map(() => 404));
  const reader = await server.browse(people.reader!);
  expect(await statusOf(reader.browser, '1')).toBe(404);
  expect((await fetch(server.at(`${at}/files/1`), { redirect: 'manual' })).status).toBe(303);
  // The requester sees the files, but cannot decide.
  const asker = await server.browse(server.account, at);
  expect((await open(asker.browser, asker.page.html)).length).toBe(3);
  await browser.press(shown, 'approve');
  expect(await statusOf(browser, '1')).toBe(404);
  // The log has an entry for each opened file, but not for refused ones.
  await server.store.activity.flush();
  const opened = await server.store.activity.search({ action: 'openFile', limit: 20 });
  expect(opened.map(({ user }) => user?.email).sort()).toEqual([
    ...[server.account, server.account, server.account].map(({ email }) => email),
    ...[people.clerk!, people.clerk!, people.clerk!].map(({ email }) => email),
  ]);
  expect(opened[0]).toMatchObject({ type: 'read', collection: 'orders', recordIds: ['1'], approvalId: id });
});

test('a denial deletes the uploads of the call, except those of another pending call', async () => {
  const Bill = await upload('bill.pdf', 'application/pdf', '%PDF-1');
  const send = (Words: string) =>
    call('executeAction', {
      ...{ collectionName: 'orders', actionName: 'Attach', recordIds: [1] },
      values: { Words, constructor: 'of nothing', Bill },
    });
  const isThere = async () =>
    (await server.store.files.find(hashToken(Bill.slice('$uploadedFile:'.length)))) !== undefined;
  const { browser } = await server.browse(people.clerk!);
  const deny = async (asked: unknown) => {
    const id = /\/approvals\/([\w-]+)/.exec(JSON.stringify(asked))?.[1] ?? expect.fail(JSON.stringify(asked));
    await browser.press(await browser.open(server.at(`/approvals/${id}`)), 'deny');
  };
  const [first, second] = [await send('One'), await send('Two')];
  await deny(first);
  const between = await isThere();
  await deny(second);
  expect([between, await isThere()]).toEqual([true, false]);
  // The denial still applies, before the missing file is noticed.
  expect(JSON.stringify(await send('One'))).toContain('NOT_APPROVED');
});
