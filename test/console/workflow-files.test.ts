// Files that a user uploads for an action of a run, as a browser sends them: only the action gets them, with a size
// limit, and only users with the right can open them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { FormFile } from '../../src/agent/actions/definitions.ts';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/core/clock.ts';
import { hashToken } from '../../src/core/secret.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const LIMIT = 400_000;
const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const got: unknown[] = [];
let fails = false;

const told = ({ name, mimeType, content }: FormFile) => [
  name,
  mimeType,
  content.toString('latin1').slice(0, 6),
  content.length,
];

function customize(agent: HeadlessAgent): void {
  const form = [
    { label: 'Invoice', type: 'File', isRequired: true, widget: 'FilePicker', extensions: ['pdf', '.csv'] },
    { label: 'Pictures', type: 'FileList' },
    { label: 'Words', type: 'String', isRequired: true },
  ] as const;
  const execute = ({ formValues }: { readonly formValues: Readonly<Record<string, unknown>> }) => {
    if (fails) throw new Error('broken');
    const { Invoice, Pictures, Words } = formValues;
    got.push([Words, told(Invoice as FormFile), ((Pictures ?? []) as FormFile[]).map(told)]);
    return undefined;
  };
  agent.customizeCollection('orders', (orders) =>
    orders.addAction('Attach', { scope: 'Single', form: [...form], execute }).addAction('Attach twice seen', {
      ...{ scope: 'Single', form: [...form], execute },
      approval: { policy: 'ask-person', secondPerson: true },
    }),
  );
}

let server: ConsoleTestServer;
const people: Record<string, { readonly account: Account; readonly browser: Browser }> = {};
beforeAll(async () => {
  server = await openConsoleServer({ app: { customize }, env: { SERVICE_FILE_LIMIT_BYTES: `${LIMIT}` } });
  await server.store.permissions.setRole('Clerk', { '*': all });
  for (const [name, level] of [
    ['olga', 'editor'],
    ['oli', 'editor'],
    ['omar', 'user'],
  ] as const) {
    const account = await server.addUser({ email: `${name}@example.com`, team: 'Operations', role: 'Clerk', level });
    people[name] = { account, browser: (await server.browse(account)).browser };
  }
});
afterAll(() => server?.stop());
beforeEach(() => {
  got.length = 0;
  fails = false;
});

let made = 0;
/** A run of Olga's that waits at the form of the action. */
async function ask(action = 'Attach'): Promise<string> {
  const { id: by } = await server.userOf(people.olga!.account);
  const { renderingId } = (await server.store.permissions.caller(by))!;
  const about = { name: `Attach ${++made}`, collection: 'orders' };
  const definition = JSON.stringify({
    ...about,
    steps: [{ id: 'one', type: 'trigger-action', action, mode: 'automatic' }],
  });
  const { id } = await server.store.workflows.publish({ ...about, renderingId, concurrency: null, by, definition });
  const { browser } = people.olga!;
  const started = await browser.press(await browser.open(server.at(`/workflows/${id}`)), 'start', { record: '1' });
  const runId = /\/runs\/([\w-]{36})/.exec(started.url)![1]!;
  await until(runId, 'awaiting-input', 'form');
  return runId;
}

async function until(runId: string, state: string, reason: string | null = null): Promise<void> {
  const now = async () => {
    const run = (await server.store.runs.find(runId))!;
    return [run.state, run.reason];
  };
  for (let i = 0; i < 400 && `${await now()}` !== `${[state, reason]}`; i++) await systemClock.sleep(25);
  expect(await now()).toEqual([state, reason]);
}

const see = (runId: string, name = 'olga') => people[name]!.browser.open(server.at(`/runs/${runId}`));
const file = (name: string, text: string, type = 'text/csv') => new File([text], name, { type });

/** Sends the form of the page with these values. */
async function send(
  page: Page,
  entries: Readonly<Record<string, string | File | readonly File[]>>,
  name = 'olga',
): Promise<Page> {
  const body = new FormData();
  const position = /name="position" value="(\d+)"/.exec(page.html)?.[1] ?? '';
  for (const [field, value] of Object.entries({ csrf: csrfOf(page), position, action: 'run', ...entries })) {
    for (const each of [value].flat()) body.append(field, each as string);
  }
  const headers = { 'sec-fetch-site': 'same-origin' };
  return people[name]!.browser.open(page.url, { method: 'POST', body, headers });
}

const kept = async () => {
  const { id } = await server.userOf(people.olga!.account);
  return server.store.files.countOf(id);
};

test('the action gets the files chosen on the page, and none of them stays in the storage', async () => {
  const runId = await ask();
  const page = await see(runId);
  expect(page.html).toMatch(/<form [^>]*enctype="multipart\/form-data"/);
  expect(page.html).toMatch(/<input id="value-0" name="value.Invoice" type="file" accept=".pdf,.csv" required/);
  expect(page.html).toMatch(/name="value.Pictures" type="file" multiple/);
  expect(read(page)).toContain('At most 400 kB.');
  await send(page, {
    'value.Invoice': file('../über\u202e.csv', `a;b\n${'x'.repeat(300_000)}`),
    'value.Pictures': [file('1.png', '\u0089PNG', 'image/png'), file('2', 'zwei', 'nonsense')],
    'value.Words': 'Please',
  });
  await until(runId, 'succeeded');
  expect(got).toEqual([
    [
      'Please',
      ['über.csv', 'text/csv', 'a;b\nxx', 300_004],
      [
        ['1.png', 'image/png', expect.stringContaining('PNG'), 5],
        ['2', 'application/octet-stream', 'zwei', 4],
      ],
    ],
  ]);
  expect(await kept()).toBe(0);
});

test('a missing, wrong or invalid file is refused with what to do, and nothing is stored', async () => {
  const runId = await ask();
  const page = await see(runId);
  const words = { 'value.Words': 'x' };
  const none = await send(page, words);
  const empty = await send(page, { ...words, 'value.Invoice': new File([], '') });
  const typed = await send(page, { ...words, 'value.Invoice': 'data:text/csv;base64,YQ==' });
  for (const one of [none, empty, typed]) {
    expect([one.status, read(one).includes('a value is required')]).toEqual([400, true]);
    expect(read(one)).toContain('Choose the file again');
  }
  const kind = await send(page, { ...words, 'value.Invoice': file('a.exe', 'MZ') });
  expect([kind.status, /pdf.*csv/.test(read(kind))]).toEqual([400, true]);
  expect([got, await kept(), (await server.store.runs.find(runId))!.state]).toEqual([[], 0, 'awaiting-input']);
});

test('a file that is too large is refused on the page, before it is read and by its exact size', async () => {
  const runId = await ask();
  const page = await see(runId);
  const over = await send(page, { 'value.Invoice': file('a.csv', 'x'.repeat(LIMIT + 200_000)), 'value.Words': 'x' });
  expect([over.status, read(over).includes('the files exceed 400 kB in total')]).toEqual([413, true]);
  // Within the limit for a form, but one byte over the limit for a file.
  const byOne = await send(page, { 'value.Invoice': file('a.csv', 'x'.repeat(LIMIT + 1)), 'value.Words': 'x' });
  expect(byOne.status).toBe(413);
  const together = [1, 2, 3].map((n) => file(`${n}.png`, 'x'.repeat(200_000), 'image/png'));
  expect(
    (await send(page, { 'value.Invoice': file('a.csv', 'x'), 'value.Pictures': together, 'value.Words': 'x' })).status,
  ).toBe(413);
  expect([got, await kept(), (await server.store.runs.find(runId))!.state]).toEqual([[], 0, 'awaiting-input']);
  await send(page, { 'value.Invoice': file('a.csv', 'x'.repeat(LIMIT)), 'value.Words': 'x' });
  await until(runId, 'succeeded');
});

test('a body with files needs a session, the same site, and this page', async () => {
  const runId = await ask();
  const page = await see(runId);
  const body = () => {
    const form = new FormData();
    for (const [name, value] of Object.entries({
      csrf: csrfOf(page),
      position: '1',
      action: 'run',
      'value.Words': 'x',
    })) {
      form.append(name, value);
    }
    form.append('value.Invoice', file('a.csv', 'x'.repeat(300_000)));
    return form;
  };
  const post = (to: string, headers: Record<string, string>) => ({
    to,
    init: { method: 'POST', body: body(), headers },
  });
  const same = { 'sec-fetch-site': 'same-origin' };
  const stranger = await fetch(page.url, { ...post('', same).init, redirect: 'manual' });
  const foreign = await people.olga!.browser.open(page.url, post('', { 'sec-fetch-site': 'cross-site' }).init);
  const other = await people.olga!.browser.open(server.at('/account'), post('', same).init);
  const notHis = await people.omar!.browser.open(page.url, post('', same).init);
  expect([stranger.status, foreign.status, other.status, notHis.status]).toEqual([413, 413, 413, 403]);
  const parts = new FormData();
  for (let at = 0; at < 600; at++) parts.append('x', 'y');
  const many = await people.olga!.browser.open(page.url, { method: 'POST', body: parts, headers: same });
  const broken = await people.olga!.browser.open(page.url, {
    ...{ method: 'POST', body: '--b\r\nnonsense' },
    headers: { ...same, 'content-type': 'multipart/form-data; boundary=b' },
  });
  expect([many.status, broken.status, got]).toEqual([400, 400, []]);
});

test('a second person approves a named file; files of other runs cannot be opened', async () => {
  const runId = await ask('Attach twice seen');
  await send(await see(runId), { 'value.Invoice': file('bill.pdf', '%PDF-1', 'application/pdf'), 'value.Words': 'x' });
  await until(runId, 'awaiting-input', 'approval');
  expect(await kept()).toBe(1);
  const [asked] = await server.store.runs.steps(runId);
  const { values } = asked!.data as { values: Record<string, unknown> };
  expect(JSON.stringify(values.Invoice)).toMatch(/^{"\$fileOfRun":"[\w-]{43}","name":"bill.pdf"/);
  // Reuses the file's key in another run: in a form, and in a workflow definition.
  const thief = await ask();
  const forged = await send(await see(thief), { 'value.Invoice': JSON.stringify(values.Invoice), 'value.Words': 'x' });
  expect(forged.status).toBe(400);
  const { id: by } = await server.userOf(people.olga!.account);
  const { renderingId } = (await server.store.permissions.caller(by))!;
  const about = { name: 'Thief', collection: 'orders' };
  const step = {
    id: 'one',
    type: 'trigger-action',
    action: 'Attach',
    mode: 'automatic',
    values: { ...values, Words: 'mine' },
  };
  const workflow = await server.store.workflows.publish({
    ...{ ...about, renderingId, concurrency: null, by },
    definition: JSON.stringify({ ...about, steps: [step] }),
  });
  const { browser } = people.olga!;
  const started = await browser.press(await browser.open(server.at(`/workflows/${workflow.id}`)), 'start', {
    record: '2',
  });
  const defined = /\/runs\/([\w-]{36})/.exec(started.url)![1]!;
  await until(defined, 'awaiting-input', 'form');
  const other = await ask('Attach twice seen');
  // The end of another run that names the key does not delete the file; a Json field may hold any value.
  await server.store.runs.answer(other, { position: 1, by, value: { decision: 'decline', values } });
  await until(other, 'failed');
  expect(got).toEqual([]);
  const page = await see(runId, 'oli');
  expect(read(page)).toContain('bill.pdf (application/pdf, 6 bytes)');
  await people.oli!.browser.press(page, 'confirm');
  await until(runId, 'succeeded');
  expect([got, await kept()]).toEqual([[['x', ['bill.pdf', 'application/pdf', '%PDF-1', 6], []]], 0]);
});

test('users who can approve a file can open it until they decide', async () => {
  const runId = await ask('Attach twice seen');
  const page = '<script>alert(1)</script>';
  await send(await see(runId), {
    'value.Invoice': file('bill "1".pdf', '%PDF-1', 'application/pdf'),
    'value.Pictures': [file('1.html', page, 'text/html'), file('2.png', 'zwei', 'image/png')],
    'value.Words': 'x',
  });
  await until(runId, 'awaiting-input', 'approval');
  const asked = await see(runId, 'oli');
  const links = [...asked.html.matchAll(/<a href="([^"]+)" download>([^<]+)</g)].map(([, href, text]) => [
    new URL(href!, asked.url).href,
    text,
  ]);
  expect(links.map(([, text]) => text)).toEqual([
    'bill &quot;1&quot;.pdf (application/pdf, 6 bytes)',
    `1.html (text/html, ${page.length} bytes)`,
    '2.png (image/png, 4 bytes)',
  ]);
  const open = (url: string, name = 'oli') => people[name]!.browser.open(url);
  const [bill, script, picture] = await Promise.all(links.map(([href]) => open(href!)));
  expect([bill, script, picture].map((one) => one!.html)).toEqual(['%PDF-1', page, 'zwei']);
  // Uploaded content is never rendered as a page of ours.
  expect(Object.fromEntries(script!.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="1.html"; filename*=UTF-8''1.html`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  expect(bill!.headers.get('content-disposition')).toContain(`filename*=UTF-8''bill%20%221%22.pdf`);
  const first = links[0]![0]!;
  const wrong = [
    'files/4?asked=1',
    'files/0?asked=1',
    'files/1?asked=2',
    'files/1',
    'files/x?asked=1',
    'files/-1?asked=1',
  ];
  for (const one of wrong)
    expect([one, (await open(`${server.at(`/runs/${runId}`)}/${one}`)).status]).toEqual([one, 404]);
  // Refused to a user who may not see the run, and without a session.
  expect((await open(first, 'omar')).status).toBe(404);
  expect((await fetch(first, { redirect: 'manual' })).status).toBe(303);
  await people.oli!.browser.press(asked, 'confirm');
  await until(runId, 'succeeded');
  expect((await open(first)).status).toBe(404);
});

test('a run that ends without the action deletes its files', async () => {
  const chosen = { 'value.Invoice': file('a.csv', 'x'), 'value.Words': 'x' };
  const answered = async (): Promise<string> => {
    const runId = await ask('Attach twice seen');
    await send(await see(runId), chosen);
    await until(runId, 'awaiting-input', 'approval');
    return runId;
  };
  const before = await kept();
  const declined = await answered();
  const [held] = [(await kept()) - before];
  await people.oli!.browser.press(await see(declined, 'oli'), 'decline');
  await until(declined, 'failed');
  const cancelled = await answered();
  await people.olga!.browser.press(await see(cancelled), 'cancel');
  await until(cancelled, 'cancelled');
  const overApi = await answered();
  const { id: userId } = await server.userOf(people.olga!.account);
  const { secret } = await server.store.tokens.create({ userId, name: 'to end runs', scopes: ['all'] });
  const runs = `${server.address}/v1/project/My%20project/environment/Production/workflow-runs`;
  const headers = { authorization: `Bearer ${secret}` };
  expect((await fetch(`${runs}/${overApi}/cancel`, { method: 'POST', headers })).status).toBe(200);
  await server.store.activity.flush();
  const [told] = await server.store.activity.search({ action: 'abortWorkflow', limit: 1 });
  expect(told?.workflow?.runId).toBe(overApi);
  const unsure = await ask();
  fails = true;
  await send(await see(unsure), chosen);
  await until(unsure, 'awaiting-input', 'uncertain');
  await people.olga!.browser.press(await see(unsure), 'end');
  await until(unsure, 'failed');
  // The file is deleted shortly after the run ends.
  for (let i = 0; i < 400 && (await kept()) > before; i++) await systemClock.sleep(25);
  expect([held, (await kept()) - before]).toEqual([1, 0]);
});

test('an action that fails finds the file again when it is repeated; a deleted file is requested again', async () => {
  const runId = await ask();
  fails = true;
  await send(await see(runId), { 'value.Invoice': file('a.csv', 'once'), 'value.Words': 'x' });
  await until(runId, 'awaiting-input', 'uncertain');
  fails = false;
  const unsure = await see(runId);
  const again = await people.olga!.browser.press(unsure, 'again');
  expect(again.status).toBe(200);
  await until(runId, 'succeeded');
  expect(got).toEqual([['x', ['a.csv', 'text/csv', 'once', 4], []]]);

  const other = await ask('Attach twice seen');
  await send(await see(other), { 'value.Invoice': file('a.csv', 'gone'), 'value.Words': 'x' });
  await until(other, 'awaiting-input', 'approval');
  const [asks] = await server.store.runs.steps(other);
  const { Invoice } = (asks!.data as { values: { Invoice: { $fileOfRun: string } } }).values;
  await server.store.files.remove(hashToken(Invoice.$fileOfRun));
  await people.oli!.browser.press(await see(other, 'oli'), 'confirm');
  await until(other, 'awaiting-input', 'form');
  const asked = await see(other);
  expect(asked.html).toMatch(/name="value.Invoice" type="file" accept=".pdf,.csv" required/);
  expect(asked.html).toMatch(/name="value.Words"[^>]*>\s*x</);
});
