// The workflow pages over HTTP: who may see and change them, errors in the editor, and a run from start to end.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findLine } from '../../src/console/pages/workflows/source-position.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { RunState } from '../../src/store/workflows/types.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { openRemote } from '../workflow/remote/server.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let testServer: ConsoleTestServer;
const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const people: Record<string, Account> = {};

beforeAll(async () => {
  testServer = await openConsoleServer({ env: { SERVICE_REMOTE_HOSTS: '127.0.0.1' } });
  const { store } = testServer;
  for (const [name, team, role, level] of [
    ['olga', 'Operations', 'Clerk', 'editor'],
    ['oli', 'Operations', 'Clerk', 'editor'],
    ['omar', 'Operations', 'Clerk', 'user'],
    ['ole', 'Operations', 'Narrow', 'editor'],
    ['nora', 'North', 'Clerk', 'editor'],
  ] as const) {
    people[name] = await testServer.addUser({ email: `${name}@example.com`, firstName: name, team, role, level });
  }
  await store.permissions.setRole('Clerk', { '*': all });
  await store.permissions.setRole('Narrow', { customers: all });
});
afterAll(() => testServer?.stop());

const steps = [
  { id: 'look', type: 'guidance', title: 'Ask the customer', text: 'Call {{record.id}}.', next: 'decide' },
  {
    id: 'decide',
    type: 'condition',
    title: 'Go on?',
    mode: 'manual',
    question: 'Is it right?',
    options: [{ id: 'yes', label: 'It is', next: 'note' }, { id: 'no' }],
  },
  { id: 'note', type: 'update-record', title: 'Write it down', values: { note: 'checked' } },
];
const definition = (more: object = {}) => ({ name: 'Check', collection: 'orders', steps, ...more });

const onRecord = (step: object) => definition({ steps: [{ id: 'one', ...step }] });

const sessions = new Map<string, Browser>();
async function visit(name: string, page: string): Promise<{ browser: Browser; page: Page }> {
  const browser = sessions.get(name) ?? (await testServer.browse(people[name]!)).browser;
  sessions.set(name, browser);
  return { browser, page: await browser.open(testServer.at(page)) };
}
/** Enters a definition in the editor and presses a button. */
async function edit(name: string, page: string, text: string, button = 'save'): Promise<Page> {
  const { browser, page: opened } = await visit(name, page);
  return browser.press(opened, button, { definition: text });
}
/** A same-origin form request, as a browser sends it. */
const posted = (form: Record<string, string>): RequestInit => ({
  method: 'POST',
  headers: { 'sec-fetch-site': 'same-origin' },
  body: new URLSearchParams(form),
});
let made = 0;
async function publish(more: object = {}): Promise<string> {
  const olga = await testServer.userOf(people.olga!);
  const { renderingId } = (await testServer.store.permissions.caller(olga.id))!;
  const given = definition({ name: `Check ${++made}`, ...more });
  const { name, collection } = given;
  const wish = { renderingId, name, collection, concurrency: null, by: olga.id };
  return (await testServer.store.workflows.publish({ ...wish, definition: JSON.stringify(given) })).id;
}
/** Polls until the run has the state; runs execute in this process. */
async function until(runId: string, state: RunState): Promise<void> {
  for (let i = 0; i < 400; i++) {
    if ((await testServer.store.runs.find(runId))?.state === state) return;
    await systemClock.sleep(25);
  }
  expect((await testServer.store.runs.find(runId))?.state).toBe(state);
}

describe('the list and the editor', () => {
  test('an editor sees how to begin; a saved workflow is published, drawn and described', async () => {
    // No workflow is published for this user's team.
    const { page: empty } = await visit('nora', '/workflows');
    expect(read(empty)).toContain('No workflows yet');
    const saved = await edit('olga', '/workflows/new/json', JSON.stringify(definition(), null, 2));
    expect(read(saved)).toContain('Published.');
    expect(saved.html).toContain('Diagram of Check');
    expect(read(saved)).toContain('Go on? Choice, manual. Then It is: Write it down; no: the end.');
    expect(read((await visit('omar', '/workflows')).page)).toContain('Check on orders, version 1');
    expect(read((await visit('nora', '/workflows')).page)).not.toContain('Check');
    expect(read((await visit('ole', '/workflows')).page)).not.toContain('Check');
  });

  test.each([
    ['invalid JSON', '{\n  "name": "x",,\n}', 2, 'Invalid JSON'],
    ['an unknown step', JSON.stringify(definition({ start: 'gone' }), null, 2), 38, "unknown step 'gone'"],
    [
      'an unknown member',
      JSON.stringify({ ...definition(), steps: [{ ...steps[0], wait: 1 }] }, null, 2),
      5,
      'Unrecognized key',
    ],
    [
      'a collection that the user may not see',
      JSON.stringify(definition({ collection: 'nothing' }), null, 2),
      3,
      "No collection 'nothing'",
    ],
    [
      'a misspelled field',
      JSON.stringify(onRecord({ type: 'read-record', fields: ['id', 'notee'] }), null, 2),
      8,
      "'orders' has no field 'notee'. Near: note.",
    ],
    [
      'a misspelled relation',
      JSON.stringify(onRecord({ type: 'load-related-record', relation: 'custmer' }), null, 2),
      8,
      "'orders' has no relation 'custmer'. Near: customer.",
    ],
    [
      'an unknown action',
      JSON.stringify(onRecord({ type: 'trigger-action', action: 'refnd' }), null, 2),
      8,
      "'orders' has no action 'refnd'",
    ],
  ])('%s is an error with its line, and the typed text is kept', async (_what, text, line, said) => {
    const before = (await testServer.store.workflows.list({})).length;
    const page = await edit('olga', '/workflows/new/json', text);
    expect(page.status).toBe(400);
    expect(read(page)).toContain(`Line ${line}.`);
    expect(read(page).replace(/&#39;/g, "'")).toContain(said);
    expect(page.html).toContain('aria-invalid="true"');
    expect((await testServer.store.workflows.list({})).length).toBe(before);
  });

  test('the error for an unknown name lists the known ones, in the terms of the console', async () => {
    for (const [text, said] of [
      [definition({ collection: 'ordrs' }), /No collection 'ordrs'. Near: orders. Known: .*customers, .*orders/],
      [
        onRecord({ type: 'read-record', fields: ['notee'] }),
        /no field 'notee'. Near: note. It has: id, number, .*note/,
      ],
      [onRecord({ type: 'load-related-record', relation: 'x' }), /no relation 'x'. It has: .*customer/],
      [onRecord({ type: 'trigger-action', action: 'x' }), /no action 'x'. .*It has: nothing./],
    ] as const) {
      const page = read(await edit('olga', '/workflows/new/json', JSON.stringify(text))).replace(/&#39;/g, "'");
      expect(page).toMatch(said);
      expect(page).not.toContain('describeCollection');
    }
  });

  test('a filter of the old form, with two meanings, is not saved, and the error has the form of each', async () => {
    const before = (await testServer.store.workflows.list({})).length;
    const old = { field: 'order_items:quantity', operator: 'NotEqual', value: 1 };
    const option = { id: 'yes', when: old };
    const ofCustomer = { field: 'orders:order_items:quantity', operator: 'NotEqual', value: 1 };
    for (const step of [
      { type: 'condition', options: [option, { id: 'no' }] },
      { type: 'load-related-record', relation: 'customer', filter: ofCustomer },
    ]) {
      const page = await edit('olga', '/workflows/new/json', JSON.stringify(onRecord(step)));
      expect([page.status, read(page).includes('leads to many records')]).toEqual([400, true]);
      expect(read(page)).toContain('If one record is enough');
    }
    expect((await testServer.store.workflows.list({})).length).toBe(before);
  });

  test('check draws the diagram and saves nothing', async () => {
    const before = (await testServer.store.workflows.list({})).length;
    const page = await edit('olga', '/workflows/new/json', JSON.stringify(definition({ name: 'Drawn' })), 'check');
    expect([page.status, page.html.includes('Diagram of Drawn')]).toEqual([200, true]);
    expect((await testServer.store.workflows.list({})).length).toBe(before);
  });

  test('of two edits of one version, the later shows both, and can be saved deliberately', async () => {
    const id = await publish();
    const page = `/workflows/${id}/edit/json`;
    const mine = await visit('olga', page);
    await edit('oli', page, JSON.stringify(definition({ name: 'Theirs' })));
    const late = await mine.browser.press(mine.page, 'save', {
      definition: JSON.stringify(definition({ name: 'Mine' })),
    });
    expect(late.status).toBe(409);
    expect(read(late)).toContain('Version 2, saved in the meantime');
    expect(late.html).toContain('Theirs');
    const saved = await mine.browser.press(late, 'save', { definition: JSON.stringify(definition({ name: 'Mine' })) });
    expect(read(saved)).toContain('Mine');
    expect(await testServer.store.workflows.find(id)).toMatchObject({ name: 'Mine', version: 3 });
    const old = await visit('omar', `/workflows/${id}/versions/2`);
    expect(read(old.page)).toContain('Theirs, version 2'.replace('Theirs', 'Mine'));
    expect((await visit('omar', `/workflows/${id}/versions/9`)).page.status).toBe(404);
  });

  test('a user without the level and a user of another team change nothing', async () => {
    const id = await publish();
    const { page: seen } = await visit('omar', `/workflows/${id}/edit/json`);
    expect([seen.status, seen.html.includes('<textarea')]).toEqual([200, false]);
    expect((await visit('omar', '/workflows/new')).page.status).toBe(403);
    for (const name of ['nora', 'ole']) expect((await visit(name, `/workflows/${id}`)).page.status).toBe(404);
    // A form of a user who may edit, sent by one who may not.
    const { browser, page } = await visit('omar', `/workflows/${id}`);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)![1]!;
    for (const [to, form] of [
      [`/workflows/${id}`, { action: 'pause' }],
      [`/workflows/${id}/edit/json`, { action: 'save', since: '1', definition: JSON.stringify(definition()) }],
    ] as const) {
      expect((await browser.open(testServer.at(to), posted({ csrf, ...form }))).status).toBe(403);
    }
    expect(await testServer.store.workflows.find(id)).toMatchObject({ version: 1, isActive: true });
  });

  test('a workflow in code is shown and cannot be changed', async () => {
    const code = { name: 'In code', collection: 'orders', concurrency: null };
    const text = JSON.stringify({ ...definition(), name: 'In code' });
    await testServer.store.workflows.publishCode([{ ...code, definition: text, teams: ['Operations'] }]);
    const { id } = (await testServer.store.workflows.list({})).find(({ name }) => name === 'In code')!;
    const { page } = await visit('olga', `/workflows/${id}/edit/json`);
    expect([page.html.includes('<textarea'), read(page).includes('Change it there')]).toEqual([false, true]);
    expect((await visit('olga', `/workflows/${id}`)).page.html).not.toContain('value="pause"');
  });

  test('pausing removes the start button, and resuming restores it', async () => {
    const id = await publish();
    const { browser, page } = await visit('olga', `/workflows/${id}`);
    const paused = await browser.press(page, 'pause');
    expect([read(paused).includes('Paused'), paused.html.includes('value="start"')]).toEqual([true, false]);
    const resumed = await browser.press(paused, 'resume');
    expect(resumed.html).toContain('value="start"');
  });

  test('saving a paused workflow makes it active', async () => {
    const id = await publish();
    const { browser, page } = await visit('olga', `/workflows/${id}`);
    expect(read(await browser.press(page, 'pause'))).toContain('Paused');
    await edit('olga', `/workflows/${id}/edit/json`, JSON.stringify(definition({ name: 'Saved while paused' })));
    expect(await testServer.store.workflows.find(id)).toMatchObject({ isActive: true, version: 2 });
    const saved = (await visit('olga', `/workflows/${id}`)).page;
    expect([read(saved).includes('Paused'), saved.html.includes('value="start"')]).toEqual([false, true]);
  });
});

describe('the webhook', () => {
  const addressIn = ({ html }: Page): string | undefined => /curl -X POST &#39;([^&]+)&#39;/.exec(html)?.[1];

  test('is enabled, called, regenerated, and disabled; its secret is shown once on request', async () => {
    const id = await publish();
    const { browser, page } = await visit('olga', `/workflows/${id}`);
    const on = await browser.press(page, 'enable');
    const address = addressIn(on)!;
    const { id: userId } = await testServer.userOf(people.omar!);
    const { secret } = await testServer.store.tokens.create({ userId, name: 'ci', scopes: ['workflows:trigger'] });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const trigger = async (to: string, record: string) =>
      (await fetch(to, { method: 'POST', headers, body: JSON.stringify({ record_id: record }) })).status;
    expect(await trigger(address, '5')).toBe(202);
    const again = await browser.press(on, 'regenerate');
    const next = addressIn(again)!;
    expect([next === address, await trigger(address, '6'), await trigger(next, '6')]).toEqual([false, 400, 202]);
    const shown = await browser.press(again, 'secret');
    const reloaded = (await visit('olga', `/workflows/${id}`)).page;
    expect([shown.html.includes('whsec_'), reloaded.html.includes('whsec_')]).toEqual([true, false]);
    const wrong = await browser.press(reloaded, 'trigger-settings', { callback: 'http://example.com/x' });
    expect([wrong.status, wrong.html.includes('http://example.com/x')]).toEqual([400, true]);
    const inside = await browser.press(reloaded, 'trigger-settings', { callback: 'https://10.0.0.5/x' });
    expect([inside.status, inside.html.includes('10.0.0.5 is not a public host.')]).toEqual([400, true]);
    await browser.press(wrong, 'trigger-settings', { callback: 'https://example.com/x', signed: 'yes' });
    expect((await testServer.store.workflows.find(id))?.trigger).toMatchObject({
      callbackUrl: 'https://example.com/x',
      needsSignature: true,
    });
    await browser.press((await visit('olga', `/workflows/${id}`)).page, 'disable');
    expect(await trigger(next, '7')).toBe(404);
  });

  test('a run continues after the token that started it is revoked; the token starts no more', async () => {
    const id = await publish({
      steps: [steps[0], steps[2]].map((step) => ({ ...step, next: step === steps[0] ? 'note' : null })),
    });
    const { browser, page } = await visit('olga', `/workflows/${id}`);
    const address = addressIn(await browser.press(page, 'enable'))!;
    const { id: userId } = await testServer.userOf(people.omar!);
    const { secret, token } = await testServer.store.tokens.create({
      userId,
      name: 'of a day',
      scopes: ['workflows:trigger'],
    });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const trigger = (record: string) =>
      fetch(address, { method: 'POST', headers, body: JSON.stringify({ record_id: record }) });
    const { runId } = (await (await trigger('9')).json()) as { runId: string };
    await until(runId, 'awaiting-input');
    await testServer.store.tokens.revoke(token.id);
    expect((await trigger('10')).status).toBe(401);
    const asked = await visit('omar', `/runs/${runId}`);
    await asked.browser.press(asked.page, 'done');
    for (let i = 0; i < 400 && (await testServer.store.runs.find(runId))?.reason !== 'confirmation'; i++) {
      await systemClock.sleep(25);
    }
    const confirm = await visit('omar', `/runs/${runId}`);
    await confirm.browser.press(confirm.page, 'confirm');
    await until(runId, 'succeeded');
  });

  test('is not shown to a user without the level, and not changed by them', async () => {
    const id = await publish();
    const { browser, page } = await visit('omar', `/workflows/${id}`);
    expect(page.html).not.toContain('Webhook');
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.html)![1]!;
    for (const action of ['enable', 'disable', 'regenerate', 'secret', 'trigger-settings']) {
      expect((await browser.open(testServer.at(`/workflows/${id}`), posted({ csrf, action }))).status).toBe(403);
    }
    expect((await testServer.store.workflows.find(id))?.trigger).toMatchObject({ isEnabled: false, version: 0 });
  });
});

describe('a run', () => {
  /** A run of Omar's that this process is executing. */
  const hold = async () => {
    const workflow = (await testServer.store.workflows.find(await publish()))!;
    const { id: userId } = await testServer.userOf(people.omar!);
    const run = { workflow, userId, recordId: '11', origin: 'console', originName: 'Console' } as const;
    const created = await testServer.store.runs.create(run);
    if (created.state !== 'created') return expect.fail(created.state);
    const { runId } = created;
    const [claim] = await testServer.store.runs.claim({ owner: 'test', leaseMs: 60_000, limit: 1, ids: [runId] });
    return { runId, claim: claim ?? expect.fail('not claimed') };
  };

  test('is started, answered by users step by step, and ends; the page names who answered', async () => {
    const id = await publish();
    const { browser, page } = await visit('omar', `/workflows/${id}`);
    const started = await browser.press(page, 'start', { record: '1' });
    const runId = /\/runs\/([\w-]{36})/.exec(started.url)![1]!;
    await until(runId, 'awaiting-input');
    const first = (await visit('omar', `/runs/${runId}`)).page;
    expect(read(first)).toContain('Call 1.');
    expect(first.html).toContain(`data-live="/console/runs/${runId}/live?asked=1"`);
    // Another user answers first, and the late answer gets an error.
    const olga = await visit('olga', `/runs/${runId}`);
    await olga.browser.press(olga.page, 'done');
    const late = await browser.press(first, 'done');
    expect(read(late)).toMatch(/Another person answered first/);
    for (let i = 0; i < 400; i++) {
      const run = await testServer.store.runs.find(runId);
      if (run?.state === 'awaiting-input' && run.stepId === 'decide') break;
      await systemClock.sleep(25);
    }
    const second = (await visit('omar', `/runs/${runId}`)).page;
    expect(read(second)).toContain('Is it right?');
    const wrong = await browser.press(second, 'choose', { 'value.option': '' });
    expect([wrong.status, read(wrong).includes('a value is required')]).toEqual([400, true]);
    await browser.press(second, 'choose', { 'value.option': 'yes' });
    for (let i = 0; i < 400; i++) {
      const run = await testServer.store.runs.find(runId);
      if (run?.state === 'awaiting-input' && run.stepId === 'note') break;
      await systemClock.sleep(25);
    }
    const third = (await visit('omar', `/runs/${runId}`)).page;
    expect(read(third)).toMatch(/Field Now After note .* checked/);
    await browser.press(third, 'confirm');
    await until(runId, 'succeeded');
    const over = (await visit('omar', `/runs/${runId}`)).page;
    expect(read(over)).toContain('Completed.');
    expect(over.html).toContain('data-live-end');
    expect(read(over)).toMatch(/Ask the customer done .* olga/);
    expect(over.html).not.toContain('name="position"');
  });

  test('a second start on the same record leads to the first run, which can be cancelled', async () => {
    const id = await publish();
    const { browser, page } = await visit('omar', `/workflows/${id}`);
    const started = await browser.press(page, 'start', { record: '2' });
    const runId = /\/runs\/([\w-]{36})/.exec(started.url)![1]!;
    const second = await browser.press(page, 'start', { record: '2' });
    expect(second.url).toContain(runId);
    expect(read(second)).toContain('This is that run');
    await until(runId, 'awaiting-input');
    const ended = await browser.press((await visit('omar', `/runs/${runId}`)).page, 'cancel');
    expect(read(ended)).toContain('Cancelled');
    expect((await testServer.store.runs.find(runId))?.state).toBe('cancelled');
    // No step waits any more.
    expect(read(ended)).toContain('no answer');
    expect(ended.html).not.toMatch(/class="step waiting"|>waiting</);
  });

  test('that ended during a change says that its outcome is unknown', async () => {
    const { runId, claim } = await hold();
    await testServer.store.runs.begin(claim, 'look');
    await visit('omar', `/runs/${runId}`).then(({ browser, page }) => browser.press(page, 'cancel'));
    await testServer.store.runs.endCancelled(claim);
    const { page } = await visit('omar', `/runs/${runId}`);
    expect(read(page)).toContain('The outcome of its last step is unknown. Check the record.');
    expect(page.html).toMatch(/class="step unknown"/);
    expect(read(page)).toContain('unknown');
    expect(read(page)).not.toContain('under way');
  });

  test('without scripts the page refreshes while the run is active, for a while, and not during an answer', async () => {
    const asking = await publish({ steps: [{ ...steps[0], next: null }] });
    const { browser, page } = await visit('omar', `/workflows/${asking}`);
    const started = await browser.press(page, 'start', { record: '4' });
    const waiting = /\/runs\/([\w-]{36})/.exec(started.url)![1]!;
    await until(waiting, 'awaiting-input');
    const { runId, claim } = await hold();
    const renewal = async (run: string, query = '') => {
      const { html, headers } = (await visit('omar', `/runs/${run}${query}`)).page;
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      return /<noscript><meta http-equiv="refresh" content="([^"]+)"><\/noscript>\s*<\/head>/.exec(html)?.[1];
    };
    const at = (count: number) => `10; url=/console/runs/${runId}?renewed=${count}`;
    expect([
      await renewal(waiting),
      await renewal(runId),
      await renewal(runId, '?done=answered&renewed=7'),
      await renewal(runId, '?renewed=120'),
      await renewal(runId, '?renewed=x'),
    ]).toEqual([undefined, at(1), at(8), undefined, at(1)]);
    await testServer.store.runs.finish(claim, { stepId: 'look', state: 'done', outcome: {}, next: null });
    expect(await renewal(runId)).toBeUndefined();
    expect(read((await visit('omar', `/runs/${runId}`)).page)).toContain('Completed.');
  });

  test('that was cancelled during its last step succeeds, and says why', async () => {
    const { runId, claim } = await hold();
    const { browser, page } = await visit('omar', `/runs/${runId}`);
    const asked = await browser.press(page, 'cancel');
    expect(read(asked)).toContain('Cancelling before the next step.');
    await testServer.store.runs.finish(claim, { stepId: 'look', state: 'done', outcome: {}, next: null });
    const over = read((await visit('omar', `/runs/${runId}`)).page);
    expect(over).toContain('Succeeded');
    expect(over).toContain('The cancellation came too late');
  });

  test('is visible to its user and to editors of the team only', async () => {
    const id = await publish();
    const { browser, page } = await visit('olga', `/workflows/${id}`);
    const started = await browser.press(page, 'start', { record: '3' });
    const runId = /\/runs\/([\w-]{36})/.exec(started.url)![1]!;
    const statuses = [];
    for (const name of ['olga', 'oli', 'omar', 'ole', 'nora']) {
      const { page: one } = await visit(name, `/runs/${runId}`);
      const { page: live } = await visit(name, `/runs/${runId}/live`);
      const { page: list } = await visit(name, '/runs');
      statuses.push([name, one.status, live.status, list.html.includes(runId)]);
    }
    expect(statuses).toEqual([
      ['olga', 200, 200, true],
      ['oli', 200, 200, true],
      ['omar', 404, 404, false],
      ['ole', 404, 404, false],
      ['nora', 404, 404, false],
    ]);
    const narrowed = await visit('oli', `/runs?workflow=${id}&record=3`);
    const other = await visit('oli', `/runs?workflow=${id}&record=4`);
    expect([narrowed.page.html.includes(runId), read(other.page).includes('No results')]).toEqual([true, true]);
  });
});

test('the line of a JSON path is found', () => {
  const text = '{\n "a": [1,\n  {"b\\"c": "}",\n   "d": {}}\n ],\n "e": null\n}';
  expect(
    [[], ['a'], ['a', '1'], ['a', '1', 'b"c'], ['a', '1', 'd'], ['e'], ['a', '9'], ['gone']].map((path) =>
      findLine(text, path),
    ),
  ).toEqual([1, 2, 3, 3, 4, 6, 2, 1]);
});

test('the output of a failed remote tool is shown only to the user of the run', async () => {
  const remote = await openRemote();
  remote.said = 'no such card 4242 <b>\u202e';
  const olga = await testServer.userOf(people.olga!);
  await testServer.store.remotes.add({ name: 'till', url: remote.url, signIn: 'none', addedBy: olga.id });
  const call = { id: 'call', type: 'mcp', server: 'till', tool: 'fail', mode: 'automatic', allowChanges: true };
  const id = await publish({
    steps: [
      { ...call, onError: 'again' },
      { ...call, id: 'again' },
    ],
  });
  expect(read((await visit('olga', `/workflows/${id}`)).page)).toContain('error: again');
  const workflow = (await testServer.store.workflows.find(id))!;
  const wish = { workflow, recordId: '1', userId: olga.id, origin: 'webhook', originName: 'ci' } as const;
  const created = await testServer.store.runs.create(wish);
  const runId = created.state === 'created' ? created.runId : '';
  await until(runId, 'failed');
  const { page } = await visit('olga', `/runs/${runId}`);
  expect(page.html).toContain('Output of the tool:</p><p class="said">no such card 4242 &lt;b&gt;</p>');
  const { page: his } = await visit('oli', `/runs/${runId}`);
  expect([read(his).includes('REMOTE_TOOL_FAILED'), his.html.includes('card 4242')]).toEqual([true, false]);
  await remote.stop();
});

test('an editor deletes a workflow of the console with its runs, and others cannot', async () => {
  const id = await publish();
  const { browser: others, page: theirs } = await visit('omar', `/workflows/${id}`);
  expect(theirs.html).not.toContain('value="delete"');
  const csrf = /name="csrf" value="([^"]+)"/.exec(theirs.html)?.[1] ?? '';
  const refused = await others.open(testServer.at(`/workflows/${id}`), posted({ csrf, action: 'delete' }));
  expect([refused.status >= 400, await testServer.store.workflows.find(id)]).toEqual([
    true,
    expect.objectContaining({ id }),
  ]);
  const { browser, page } = await visit('olga', `/workflows/${id}`);
  const done = await browser.press(page, 'delete');
  expect([done.url, read(done), await testServer.store.workflows.find(id)]).toEqual([
    expect.stringContaining('/workflows?done=deleted'),
    expect.stringContaining('Deleted. What its runs did stays'),
    undefined,
  ]);
});
