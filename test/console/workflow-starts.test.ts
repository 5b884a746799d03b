// The pages of automatic starts over HTTP: who may see and change them, and the writes of each entry point.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { randomId } from '../../src/core/secret.ts';
import type { Workflow } from '../../src/store/workflows/types.ts';
import { callTool } from '../app/call.ts';
import { signedIn } from '../app/shop.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { frontOrigin, sessionToken } from '../rest/front-end.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const people: Record<string, Account> = {};

beforeAll(async () => {
  server = await openConsoleServer({ env: { SERVICE_AGENT_ORIGINS: frontOrigin } });
  for (const [name, team, role, level] of [
    ['olga', 'Operations', 'Clerk', 'editor'],
    ['oli', 'Operations', 'Clerk', 'editor'],
    ['omar', 'Operations', 'Clerk', 'user'],
    ['nora', 'North', 'Clerk', 'editor'],
    ['bill', 'Operations', 'Blind', 'editor'],
  ] as const) {
    people[name] = await server.addUser({ email: `${name}@example.com`, firstName: name, team, role, level });
  }
  await server.store.permissions.setRole('Clerk', { '*': all });
  await server.store.permissions.setRole('Blind', { '*': { ...all, fields: { total: 'hidden' } } });
});
afterAll(() => server?.stop());

const sessions = new Map<string, Browser>();
async function visit(name: string, page: string): Promise<{ browser: Browser; page: Page }> {
  const browser = sessions.get(name) ?? (await server.browse(people[name]!)).browser;
  sessions.set(name, browser);
  return { browser, page: await browser.open(server.at(page)) };
}
/** A same-origin form request, as a browser sends it. */
const posted = (form: Record<string, string>): RequestInit => ({
  method: 'POST',
  headers: { 'sec-fetch-site': 'same-origin' },
  body: new URLSearchParams(form),
});

let made = 0;
async function publish(
  steps: readonly object[] = [{ id: 'wait', type: 'guidance', text: 'Look.' }],
): Promise<Workflow> {
  const olga = await server.userOf(people.olga!);
  const { renderingId } = (await server.store.permissions.caller(olga.id))!;
  const given = { name: `Check ${++made}`, collection: 'orders', steps };
  const wish = { renderingId, name: given.name, collection: 'orders', concurrency: null, by: olga.id };
  return server.store.workflows.publish({ ...wish, definition: JSON.stringify(given) });
}
const schedule = { kind: 'schedule', frequency: 'day', time: '08:00', timezone: 'Europe/Paris', limit: '10' };
async function add(name: string, { id }: Workflow, form: Record<string, string> = schedule): Promise<string> {
  const { browser, page } = await visit(name, `/workflows/${id}/starts/new?kind=${form.kind}`);
  const saved = await browser.press(page, 'save', form);
  expect(read(saved)).toContain('Automatic start added.');
  return (await server.store.startRules.list({ workflowId: id })).at(-1)!.id;
}
/** The records with a run of the workflow, when there are this many. */
async function recordsOf({ id }: Workflow, count: number): Promise<readonly string[]> {
  const list = async () => (await server.store.runs.list({ workflowId: id, limit: 100 })).map((run) => run.recordId);
  for (let i = 0; i < 200 && (await list()).length < count; i++) await systemClock.sleep(25);
  return (await list()).sort();
}

describe('the pages', () => {
  test('an editor adds a schedule without a cron expression, sees its next times, changes, pauses and deletes it', async () => {
    const workflow = await publish();
    const { browser, page } = await visit('olga', `/workflows/${workflow.id}/starts/new?kind=schedule`);
    const preview = read(await browser.press(page, 'preview', schedule));
    expect(preview).toMatch(/[\d,]+ of your orders match now/);
    expect(preview.match(/Next: .*?\./)?.[0].match(/\d\d:00 CES?T/g)).toEqual(['08:00 CET', '08:00 CET', '08:00 CET']);
    const id = await add('olga', workflow);
    const at = `/workflows/${workflow.id}/starts/${id}`;
    const listed = read((await visit('olga', `/workflows/${workflow.id}`)).page);
    expect(listed).toContain('Every day at 08:00, Europe/Paris For you. Next:');
    const rule = await browser.press((await visit('olga', at)).page, 'save', { ...schedule, frequency: 'weekdays' });
    expect(read(rule)).toContain('Monday to Friday at 08:00, Europe/Paris');
    const stored = async () => server.store.startRules.find(id);
    expect(await stored()).toMatchObject({ settings: { cron: '0 8 * * MON-FRI', limit: 10 }, isActive: true });
    expect(read(await browser.press((await visit('olga', at)).page, 'pause'))).toContain('Paused. It starts no runs.');
    expect(await stored()).toMatchObject({ isActive: false, nextAt: null });
    expect(read(await browser.press((await visit('olga', at)).page, 'resume'))).toContain('Active again.');
    expect(read(await browser.press((await visit('olga', at)).page, 'delete'))).toContain('Automatic start deleted.');
    expect(await stored()).toBeUndefined();
    const log = await server.store.adminLog.search({ limit: 20 });
    const about = log.filter(({ newValue, previousValue }) => JSON.stringify([newValue, previousValue]).includes(id));
    expect(about.map(({ action }) => action).reverse()).toEqual(
      ['add', 'update', 'pause', 'resume', 'delete'].map((verb) => `start-rule.${verb}`),
    );
  });

  test.each([
    ['a cron expression with six fields', { frequency: 'cron', cron: '0 * * * * *' }, 'Enter five fields'],
    ['no time', { time: '' }, 'Enter a time.'],
    ['a timezone that does not exist', { timezone: 'Mars/Base' }, 'Enter the name of a timezone'],
    ['no limit', { limit: '0' }, 'Enter a number from 1 to 1000.'],
    [
      'a condition without a value',
      { match: 'And', 'c.0.field': 'status', 'c.0.operator': 'Equal', 'c.0.group': '' },
      'A condition has no value.',
    ],
  ])('%s is refused, and the form keeps what was typed', async (_, form, problem) => {
    const workflow = await publish();
    const { browser, page } = await visit('olga', `/workflows/${workflow.id}/starts/new?kind=schedule`);
    const refused = await browser.press(page, 'save', { ...schedule, ...form });
    expect(refused.status).toBe(400);
    expect(read(refused)).toContain(problem);
    expect(await server.store.startRules.list({ workflowId: workflow.id })).toEqual([]);
  });

  test('a condition on a field that the person does not see is refused', async () => {
    const workflow = await publish();
    const condition = {
      match: 'And',
      'c.0.field': 'total',
      'c.0.operator': 'GreaterThan',
      'c.0.value': '1',
      'c.0.group': '',
    };
    const { browser, page } = await visit('bill', `/workflows/${workflow.id}/starts/new?kind=schedule`);
    expect(page.html).not.toContain('value="total"');
    const refused = await browser.open(
      server.at(`/workflows/${workflow.id}/starts/new`),
      posted({ csrf: csrfOf(page), action: 'save', ...schedule, ...condition }),
    );
    expect(refused.status).toBe(400);
    expect(await server.store.startRules.list({ workflowId: workflow.id })).toEqual([]);
    // The same condition of a person who sees the field. Its words are not for others.
    const id = await add('olga', workflow, { ...schedule, ...condition });
    const own = read((await visit('olga', `/workflows/${workflow.id}/starts/${id}`)).page);
    expect(own).toContain('those where total is more than 1');
    const others = read((await visit('bill', `/workflows/${workflow.id}/starts/${id}`)).page);
    expect(others).not.toContain('total');
  });

  test('a field that a forged form names many times is watched once', async () => {
    const { id } = await publish();
    const { browser, page } = await visit('olga', `/workflows/${id}/starts/new?kind=change`);
    const changed = Array.from({ length: 2000 }, () => 'total');
    await browser.press(page, 'save', { kind: 'change', operation: 'update', limit: '10', changed });
    const [rule] = await server.store.startRules.list({ workflowId: id });
    expect(rule?.settings).toMatchObject({ fields: ['total'] });
  });

  test('another editor can pause and delete it, and cannot change or resume it', async () => {
    const workflow = await publish();
    const id = await add('olga', workflow);
    const at = `/workflows/${workflow.id}/starts/${id}`;
    const { browser, page } = await visit('oli', at);
    expect(read(page)).toContain('Only the person that it acts for can change it.');
    expect(page.html).not.toContain('value="save"');
    const csrf = csrfOf(page);
    const send = (form: Record<string, string>) => browser.open(server.at(at), posted({ csrf, ...form }));
    expect((await send({ action: 'save', ...schedule })).status).toBe(403);
    expect(read(await browser.press(page, 'pause'))).toContain('Paused. It starts no runs.');
    expect((await send({ action: 'resume' })).status).toBe(403);
    expect(await server.store.startRules.find(id)).toMatchObject({ isActive: false });
    expect(read(await browser.press((await visit('oli', at)).page, 'delete'))).toContain('Automatic start deleted.');
  });

  test('only the person that it acts for sees its last result, which counts records that others may not see', async () => {
    const workflow = await publish();
    const form = { kind: 'change', operation: 'update', limit: '10' };
    const id = await add('olga', workflow, form);
    const { startRules } = server.store;
    await startRules.put(
      [{ id: randomId(), ruleId: id, records: [], unlisted: 0, hasMore: false, chain: [], occurredAt: 0 }],
      0,
    );
    const seen = async (name: string) =>
      Promise.all(
        [`/workflows/${workflow.id}/starts/${id}`, `/workflows/${workflow.id}`].map(async (page) =>
          /No record matched/.test((await visit(name, page)).page.html),
        ),
      );
    for (let at = 0; at < 100 && !(await startRules.find(id))?.lastResult; at++) await systemClock.sleep(100);
    expect([await seen('olga'), await seen('oli')]).toEqual([
      [true, true],
      [false, false],
    ]);
    await startRules.delete(id, (await server.userOf(people.olga!)).id);
  });

  test('users below editor and other teams see none of it, and a rule belongs to one workflow', async () => {
    const workflow = await publish();
    const id = await add('olga', workflow);
    const pages = ['new', id].map((name) => `/workflows/${workflow.id}/starts/${name}`);
    for (const page of pages) {
      expect((await visit('omar', page)).page.status).toBe(403);
      expect((await visit('nora', page)).page.status).toBe(404);
    }
    const { browser, page } = await visit('omar', `/workflows/${workflow.id}`);
    expect(page.html).not.toContain('Automatic starts');
    for (const path of pages)
      for (const action of ['save', 'pause', 'resume', 'delete'])
        expect((await browser.open(server.at(path), posted({ csrf: csrfOf(page), action, ...schedule }))).status).toBe(
          403,
        );
    const other = await publish();
    expect((await visit('olga', `/workflows/${other.id}/starts/${id}`)).page.status).toBe(404);
    expect(await server.store.startRules.find(id)).toMatchObject({ isActive: true });
  });
});

test('tools, the HTTP API, the console and runs of other workflows start runs', { timeout: 60_000 }, async () => {
  const workflow = await publish();
  await add('olga', workflow, { kind: 'change', operation: 'update', limit: '10' });
  const account = people.oli!;
  const { token } = await signedIn(server, account);
  const changed = await callTool(server.mcpUrl, token, 'update', {
    collectionName: 'orders',
    recordId: 1,
    attributes: { note: 'by a tool' },
  });
  expect(changed).toHaveProperty('json');
  expect(await recordsOf(workflow, 1)).toEqual(['1']);

  const session = await sessionToken(server.apiUrl, account);
  const put = await fetch(`${server.apiUrl}/orders/2`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify({ data: { type: 'orders', id: '2', attributes: { note: 'by the API' } } }),
  });
  expect(put.status).toBe(200);
  expect(await recordsOf(workflow, 2)).toEqual(['1', '2']);

  const { browser, page } = await visit('oli', '/data/orders/3/edit');
  const preview = await browser.press(page, 'review', { 'value.note': 'by a person' });
  await browser.press(preview, 'confirm');
  expect(await recordsOf(workflow, 3)).toEqual(['1', '2', '3']);

  const writes = await publish([{ id: 'set', type: 'update-record', mode: 'automatic', values: { note: 'by a run' } }]);
  await add('olga', writes, { kind: 'change', operation: 'update', limit: '10' });
  const opened = await visit('olga', `/workflows/${writes.id}`);
  await opened.browser.press(opened.page, 'start', { record: '4' });
  expect(await recordsOf(workflow, 4)).toEqual(['1', '2', '3', '4']);
  // It does not start itself.
  expect(await recordsOf(writes, 1)).toEqual(['4']);
  const run = (await server.store.runs.list({ workflowId: workflow.id, recordId: '4', limit: 1 }))[0]!;
  expect(run).toMatchObject({ origin: 'change', originName: 'Data change rule of olga', chain: [writes.id] });
  const rule = read((await visit('olga', `/workflows/${workflow.id}`)).page);
  expect(rule).toContain('When a record is changed');
  expect(rule).toContain('1 run started.');
});
