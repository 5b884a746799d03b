// The playground compared with the MCP endpoint: the same user and the same call give the same result or the same
// error. The tests get the expected result from `/mcp`, with a token of that user.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { systemClock } from '../../src/core/clock.ts';
import { selectTools, toolNames } from '../../src/mcp/tools.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import { ask, callTool } from '../app/call.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const all: CollectionPermission = { browse: true, read: true, edit: true, add: true, delete: true, export: true };
const looks: CollectionPermission = { ...all, edit: false, add: false, delete: false, actions: {} };
const places: ConsoleTestServer[] = [];

let server: ConsoleTestServer;
/** A developer with all rights; an editor who may read customers and change orders; a user whose role has no rights. */
let people: Record<'admin' | 'developer' | 'clerk' | 'nobody', Account>;
beforeAll(async () => {
  server = await open({ SERVICE_CALL_SECONDS: '4' });
  const { renderingId } = (await server.store.permissions.caller(server.ada.id))!;
  const flow = { name: 'Check', collection: 'orders', steps: [{ id: 'look', type: 'guidance', text: 'Look.' }] };
  const wish = { renderingId, ...flow, definition: JSON.stringify(flow), concurrency: null, by: server.ada.id };
  await server.store.workflows.publish(wish);
  people = {
    admin: server.account,
    developer: await addMember(server, 'dora', 'developer', { '*': all }),
    clerk: await addMember(server, 'clerk', 'editor', {
      customers: { ...looks, fields: { email: 'hidden' } },
      orders: { ...all, delete: false },
    }),
    nobody: await addMember(server, 'nobody', 'user', {}),
  };
});
afterAll(() => Promise.all(places.map((one) => one.stop())));

async function open(env: Record<string, string>, app: object = {}): Promise<ConsoleTestServer> {
  const opened = await openConsoleServer({
    env,
    app: {
      customize: (agent) => {
        customizeDemo(agent);
        agent.customizeCollection('suppliers', (suppliers) =>
          suppliers.addHook('Before', 'List', () => systemClock.sleep(20_000)),
        );
      },
      ...app,
    },
  });
  places.push(opened);
  return opened;
}

async function addMember(
  { addUser, store }: ConsoleTestServer,
  name: string,
  level: 'developer' | 'editor' | 'user',
  role: Record<string, CollectionPermission>,
): Promise<Account> {
  const account = await addUser({ email: `${name}@example.com`, firstName: 'Sam', lastName: name, role: name, level });
  await store.permissions.setRole(name, role);
  return account;
}

const tokens = new Map<Account, string>();
/** A token for an assistant of that user. */
async function tokenOf(account: Account): Promise<string> {
  const { id: userId } = await server.userOf(account);
  const scopes = ['mcp:read', 'mcp:write', 'mcp:action'];
  const token = tokens.get(account) ?? (await server.store.tokens.create({ userId, name: 'assistant', scopes })).secret;
  tokens.set(account, token);
  return token;
}

const entities: Readonly<Record<string, string>> = { quot: '"', lt: '<', gt: '>', amp: '&' };
const plain = (text: string): string =>
  text.replace(/&(?:#(\d+)|(\w+));/g, (_, code, name) => (code ? String.fromCodePoint(Number(code)) : entities[name]!));
const labelled = (page: Page, label: string): string | undefined => {
  const found = new RegExp(`<pre[^>]* aria-label="${label}">(.*?)</pre>`, 's').exec(page.html)?.[1];
  return found === undefined ? undefined : plain(found);
};
/** The result for the model, as the page shows it. */
const given = (page: Page): string | undefined => labelled(page, 'Text of the answer');
const mainOf = (page: Page): string => plain(read({ ...page, html: page.html.replace(/^.*<main/s, '<main') }));
const shownIn = (page: Page, control: string): string | undefined => {
  const found = new RegExp(`<textarea[^>]*name="${control}"[^>]*>\\n?(.*?)</textarea>`, 's').exec(page.html)?.[1];
  return found === undefined ? undefined : plain(found);
};
const headline = (page: Page): string =>
  plain(/class="state[^"]*" role="status"><div><b>(.*?)<\/b>/.exec(page.html)?.[1] ?? '');

/** Arguments as form fields. */
const typed = (args: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      `arg.${name}`,
      value === false
        ? ''
        : typeof value === 'string' || typeof value === 'boolean'
          ? `${value}`
          : JSON.stringify(value),
    ]),
  );

interface Sat {
  readonly browser: Browser;
  /** Opens the page of the tool. */
  readonly look: (tool: string, query?: string) => Promise<Page>;
  /** Fills in the arguments and presses the button. */
  readonly call: (tool: string, args: Readonly<Record<string, unknown>>, button?: string) => Promise<Page>;
}

const sat = new Map<Account, Sat>();
async function sit(account: Account, at: ConsoleTestServer = server): Promise<Sat> {
  const known = sat.get(account);
  if (known) return known;
  const { browser } = await at.browse(account, '/playground');
  const look: Sat['look'] = (tool, query = '') => browser.open(at.at(`/playground/${tool}${query}`));
  const made: Sat = {
    browser,
    look,
    call: async (tool, args, button = 'run') => browser.press(await look(tool), button, typed(args)),
  };
  sat.set(account, made);
  return made;
}

/** Log entries of the playground, newest first. */
async function logged(at: ConsoleTestServer = server) {
  await at.store.activity.flush();
  return (await at.store.activity.list({ limit: 20 })).filter(({ clientId }) => clientId === 'playground');
}

describe('which tools are listed', () => {
  test.each(['admin', 'developer', 'clerk', 'nobody'] as const)('%s sees the tools of tools/list', async (who) => {
    const { browser } = await sit(people[who]);
    const page = await browser.open(server.at('/playground'));
    const shown = [...page.html.matchAll(/href="[^"]*\/playground\/(\w+)"/g)].map(([, name]) => name);
    const { text } = await ask(server.mcpUrl, await tokenOf(people[who]), 'tools/list', {});
    const listed: string[] = JSON.parse(text).result.tools.map(({ name }: { name: string }) => name);
    expect(shown.sort()).toEqual(listed.sort());
    const all = [...toolNames].sort();
    const without = all.filter((name) => name !== 'delete');
    expect(listed).toEqual({ admin: all, developer: all, clerk: without, nobody: ['getChart'] }[who]);
  });

  test('a hidden tool also returns 404 by its URL, and is not called', async () => {
    const { browser, look } = await sit(people.clerk);
    const offered = await look('list');
    const before = (await logged()).length;
    for (const name of ['delete', 'nothing', 'toString', 'list%00']) {
      const address = server.at(`/playground/${name}`);
      const body = new URLSearchParams({
        csrf: csrfOf(offered),
        action: 'run',
        mode: 'form',
        'arg.collectionName': 'orders',
        'arg.recordIds': '1',
      });
      const posted = await browser.open(address, {
        method: 'POST',
        body,
        headers: { 'sec-fetch-site': 'same-origin' },
      });
      expect([name, (await browser.open(address)).status, posted.status]).toEqual([name, 404, 404]);
    }
    expect(await logged()).toHaveLength(before);
  });

  test('a tool revoked while its page was open is not called, and the typed input is shown', async () => {
    const eve = await addMember(server, 'eve', 'editor', { orders: all });
    const { browser, look } = await sit(eve);
    const page = await look('delete');
    await server.store.permissions.setRole('eve', { orders: looks });
    const answer = await browser.press(page, 'run', { 'arg.collectionName': 'orders', 'arg.recordIds': '17' });
    expect(answer.status).toBe(404);
    expect(mainOf(answer)).toContain('Tool not available');
    expect(labelled(answer, 'Your input')).toContain('recordIds: 17');
    expect(await server.ask('SELECT id FROM orders WHERE id = 17')).toHaveLength(1);
  });

  test('only the enabled tools are listed, and none without MCP', async () => {
    const [few, none] = await Promise.all([
      open({ SERVICE_MCP_ENABLED_TOOLS: 'list,describeCollection' }),
      open({}, { servesMcp: false }),
    ]);
    const { browser, page } = await few.browse(few.account, '/playground');
    expect([...page.html.matchAll(/href="[^"]*\/playground\/(\w+)"/g)].map(([, name]) => name)).toEqual([
      'describeCollection',
      'list',
    ]);
    expect((await browser.open(few.at('/playground/aggregate'))).status).toBe(404);
    const { browser: other, page: start } = await none.browse(none.account);
    expect(start.html).not.toContain('/playground');
    for (const path of ['/playground', '/playground/list']) expect((await other.open(none.at(path))).status).toBe(404);
  });

  test('a visitor without a session sees and calls nothing', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await fetch(server.at('/playground/list'), { method, redirect: 'manual' });
      expect([method, answer.status, answer.headers.get('location')]).toEqual([
        method,
        303,
        expect.stringContaining('/sign-in'),
      ]);
    }
    const { browser } = await sit(people.admin);
    const body = new URLSearchParams({ csrf: 'forged', action: 'run', 'arg.collectionName': 'orders' });
    const forged = await browser.open(server.at('/playground/list'), {
      method: 'POST',
      body,
      headers: { 'sec-fetch-site': 'same-origin' },
    });
    expect(forged.status).toBe(403);
  });
});

/** For each tool a call that changes nothing, and one that fails. */
const samples: Readonly<Record<string, readonly [right: Record<string, unknown>, wrong: Record<string, unknown>]>> = {
  describeCollection: [{ collectionName: 'orders', detail: 'full' }, { collectionName: 'ordres' }],
  list: [
    {
      collectionName: 'orders',
      filters: { field: 'status', operator: 'Equal', value: 'paid' },
      sort: [{ field: 'id', ascending: false }],
      pagination: { size: 3 },
      enableCount: true,
    },
    { collectionName: 'orders', filters: { field: 'state', operator: 'Equal', value: 1 } },
  ],
  listRelated: [
    { collectionName: 'customers', relationName: 'orders', parentRecordId: '1' },
    { collectionName: 'customers', relationName: 'ordres', parentRecordId: '1' },
  ],
  create: [
    { collectionName: 'categories', attributes: { name: 'Maps', slug: 'maps', position: 9 }, dryRun: true },
    { collectionName: 'orders', attributes: { states: 'paid' }, dryRun: true },
  ],
  update: [
    { collectionName: 'orders', recordId: '17', attributes: { status: 'cancelled' }, dryRun: true },
    { collectionName: 'orders', recordId: '17000000', attributes: { status: 'cancelled' }, dryRun: true },
  ],
  delete: [
    { collectionName: 'reviews', recordIds: ['3'], dryRun: true },
    { collectionName: 'reviews', recordIds: [], dryRun: true },
  ],
  associate: [
    { collectionName: 'customers', relationName: 'orders', parentRecordId: '1', targetRecordId: '900', dryRun: true },
    { collectionName: 'customers', relationName: 'orders', parentRecordId: '1', dryRun: true },
  ],
  dissociate: [
    {
      collectionName: 'customers',
      relationName: 'customers',
      parentRecordId: '3',
      targetRecordIds: ['301'],
      dryRun: true,
    },
    { collectionName: 'customers', relationName: 'orderz', parentRecordId: '1', targetRecordIds: ['1'], dryRun: true },
  ],
  getActionForm: [
    { collectionName: 'orders', actionName: 'Cancel', recordIds: ['21'] },
    { collectionName: 'orders', actionName: 'Cancels' },
  ],
  executeAction: [
    {
      collectionName: 'orders',
      actionName: 'Cancel',
      recordIds: ['21'],
      values: { reason: 'Out of stock' },
      dryRun: true,
    },
    { collectionName: 'orders', actionName: 'Cancel', recordIds: ['21'], values: {}, dryRun: true },
  ],
  // It has no dry run; another test makes a real call.
  requestActionFileUpload: [{}, { filename: 'a.pdf', mimeType: 'no type' }],
  aggregate: [
    { collectionName: 'orders', operation: 'Count', groups: ['status'], limit: 3 },
    { collectionName: 'orders', operation: 'Sum' },
  ],
  getChart: [{ chartName: 'Orders by status' }, { chartName: 'Sale' }],
  listWorkflows: [{ collectionName: 'orders' }, { collectionName: 'ordres' }],
  // Calls here are made twice, but a run can start only once.
  triggerWorkflow: [{}, { recordId: '1' }],
  getWorkflowRun: [{}, { runId: 'none' }],
};

describe('a call', () => {
  test('every tool has a sample in this test', () => {
    expect(toolNames.filter((name) => !samples[name])).toEqual([]);
  });

  test.each(toolNames.flatMap((name) => [0, 1].map((at) => [name, at] as const)))(
    '%s returns the same as for an assistant (%i)',
    async (name, at) => {
      const args = samples[name]![at]!;
      const { look, browser } = await sit(people.admin);
      const page = await look(name);
      const { inputSchema } = selectTools(null, () => undefined).find((tool) => tool.name === name)!;
      const properties = Object.keys(inputSchema.properties as object);
      expect(properties.filter((property) => !page.html.includes(`name="arg.${property}"`))).toEqual([]);
      const lines = (value: unknown) =>
        Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.join('\n') : value;
      const asTyped = Object.fromEntries(
        Object.entries(args).map(([key, value]) => [key, key === 'groups' ? value : lines(value)]),
      );
      const answer = await browser.press(page, 'run', typed(asTyped));
      const known = await callTool(server.mcpUrl, await tokenOf(people.admin), name, args);
      const text = given(answer);
      const expected = 'error' in known ? { error: text } : { json: JSON.parse(text ?? 'null') };
      expect(known).toEqual(expected);
      const isWrong = at === 1 || ['requestActionFileUpload', 'triggerWorkflow', 'getWorkflowRun'].includes(name);
      expect(known).toHaveProperty(isWrong ? 'error' : 'json');
      const [entry] = await logged();
      expect(entry).toMatchObject({
        action: name,
        clientName: 'Playground',
        userId: server.ada.id,
        outcome: 'error' in known ? expect.stringMatching(/failed|denied/) : 'completed',
      });
      if ('error' in known) expect(headline(answer)).toContain(entry!.code);
      expect(mainOf(answer)).toContain(`Entry ${entry!.id} `);
    },
  );

  test('shows its size, duration, its records as a table, and how to continue', async () => {
    const { browser, call } = await sit(people.clerk);
    const page = await call('list', { collectionName: 'orders', fields: 'id\nstatus', pagination: { size: 2 } });
    const text = given(page)!;
    const { rows } = JSON.parse(text) as { rows: unknown[][] };
    expect(mainOf(page)).toMatch(
      new RegExp(`^List records list Read-only Answered Size about \\d+ tokens an estimate; ${text.length} characters`),
    );
    expect(mainOf(page)).toMatch(/Took \d+ ms 1 database statement/);
    expect(mainOf(page)).toContain(`id status ${rows.flat().join(' ')} hasMore true`);
    const next = await browser.press(page, 'next');
    expect((JSON.parse(given(next)!) as { rows: unknown[][] }).rows.map(([id]) => id)).toEqual([3, 4]);
    // The form keeps its input and can be sent again.
    expect(shownIn(next, 'arg.fields')).toBe('id\nstatus');
  });

  test('can be linked: the URL fills in the form and calls nothing', async () => {
    const { browser, look } = await sit(people.admin);
    const before = (await logged())[0]?.id;
    const query = `?${new URLSearchParams({ 'arg.collectionName': 'orders', 'arg.pagination': '{"size": 1}' })}`;
    const page = await look('list', query);
    expect((await logged())[0]?.id).toBe(before);
    const answer = await browser.press(page, 'run', { 'arg.pagination': shownIn(page, 'arg.pagination')! });
    const link = plain(/href="([^"]*)">Link to this call/.exec(answer.html)![1]!);
    const again = await browser.open(new URL(link, server.at('')));
    expect(shownIn(again, 'arg.pagination')).toBe('{\n  "size": 1\n}');
    const raw = await look('list', `?json=${encodeURIComponent('{"collectionName":"orders","more":1}')}`);
    expect(shownIn(raw, 'json')).toBe('{"collectionName":"orders","more":1}');
  });

  test('as JSON equals the form, in both directions, and stays JSON if the form cannot show it', async () => {
    const { browser, look } = await sit(people.admin);
    const page = await look('list');
    const json = await browser.press(page, 'json', typed({ collectionName: 'orders', pagination: { size: 1 } }));
    const text = shownIn(json, 'json')!;
    expect(JSON.parse(text)).toEqual({ collectionName: 'orders', pagination: { size: 1 } });
    const answer = await browser.press(json, 'run', { json: text });
    expect(JSON.parse(given(answer)!)).toMatchObject({ hasMore: true });
    const back = await browser.press(json, 'form', { json: text });
    expect(shownIn(back, 'arg.pagination')).toBe('{\n  "size": 1\n}');
    const odd = '{"collectionName": "orders", "more": [1]}';
    const kept = await browser.press(json, 'form', { json: odd });
    expect([kept.status, shownIn(kept, 'json')]).toEqual([400, odd]);
    const called = await browser.press(kept, 'run', { json: odd });
    expect(given(called)).toMatch(/^INVALID_ARGUMENT: more: /);
  });
});

describe('a write', () => {
  const status = async (id: number) => (await server.ask(`SELECT status FROM orders WHERE id = ${id}`))[0]?.status;

  test('is a dry run unless chosen otherwise', async () => {
    const { call } = await sit(people.developer);
    const before = await status(30);
    const page = await call('update', { collectionName: 'orders', recordId: '30', attributes: { status: 'returned' } });
    expect(headline(page)).toBe('Dry run');
    expect(mainOf(page)).toContain(`Field Now After status ${before} returned`);
    expect(await status(30)).toBe(before);
  });

  test('is shown before and after, runs once after confirmation, and is logged with its record', async () => {
    const { browser, call } = await sit(people.clerk);
    const before = await status(30);
    const args = { collectionName: 'orders', recordId: '30', attributes: { status: 'returned' }, dryRun: false };
    const page = await call('update', args);
    expect(headline(page)).toBe('Run this call?');
    expect(mainOf(page)).toContain(`update on orders , record 30 Field Now After status ${before} returned`);
    expect(await status(30)).toBe(before);
    const edited = await browser.press(page, 'edit');
    expect([shownIn(edited, 'arg.attributes'), edited.html.includes('name="arg.dryRun" value="true" checked')]).toEqual(
      ['{\n  "status": "returned"\n}', false],
    );
    const done = await browser.press(page, 'confirm');
    expect(headline(done)).toBe('Done');
    expect(await status(30)).toBe('returned');
    expect((await logged())[0]).toMatchObject({
      action: 'update',
      type: 'write',
      outcome: 'completed',
      collection: 'orders',
      recordIds: ['30'],
    });
    expect(mainOf(done)).toMatch(/Action update \(write\) Collection orders Records 30 Outcome completed/);
  });

  test('does not run if its effect has changed since it was shown', async () => {
    const { browser, call } = await sit(people.developer);
    const args = { collectionName: 'orders', recordId: '32', attributes: { note: 'mine' }, dryRun: false };
    const page = await call('update', args);
    await call('update', { ...args, attributes: { note: 'another' } }).then((other) => browser.press(other, 'confirm'));
    const late = await browser.press(page, 'confirm');
    expect(headline(late)).toBe('The preview has changed');
    expect((await server.ask('SELECT note FROM orders WHERE id = 32'))[0]?.note).toBe('another');
    expect(headline(await browser.press(late, 'confirm'))).toBe('Done');
    expect((await server.ask('SELECT note FROM orders WHERE id = 32'))[0]?.note).toBe('mine');
  });

  test('that is sent twice, as by a reload, runs once', async () => {
    const { browser, call } = await sit(people.developer);
    const count = async () => (await server.ask("SELECT COUNT(*) AS n FROM reviews WHERE title = 'Twice'"))[0]?.n;
    const attributes = { product_id: 1, customer_id: 1, rating: 5, title: 'Twice', created_at: '2026-01-05' };
    const page = await call('create', { collectionName: 'reviews', attributes, dryRun: false });
    const [one, two] = await Promise.all([browser.press(page, 'confirm'), browser.press(page, 'confirm')]);
    expect([headline(one), headline(two)]).toContain('Done');
    expect(await count()).toBe(1);
    // The dry run finds the existing record.
    expect(mainOf(await browser.press(page, 'confirm'))).toContain('If the form was sent before');
    expect(await count()).toBe(1);
  });

  test('that would fail shows the same error, before the confirmation', async () => {
    const { call } = await sit(people.clerk);
    const page = await call('update', {
      collectionName: 'customers',
      recordId: '1',
      attributes: { city: 'Bergen' },
      dryRun: false,
    });
    expect(headline(page)).toBe('Refused: FORBIDDEN');
    const known = await callTool(server.mcpUrl, await tokenOf(people.clerk), 'update', {
      collectionName: 'customers',
      recordId: '1',
      attributes: { city: 'Bergen' },
    });
    expect({ error: given(page) }).toEqual(known);
  });

  test('that needs approval shows a link, runs when it is approved, and a repeat gets the result', async () => {
    const asker = await addMember(server, 'asker', 'editor', {
      orders: { ...all, approval: { edit: 'ask-person' } },
    });
    const { browser, call } = await sit(asker);
    const args = { collectionName: 'orders', recordId: '33', attributes: { status: 'returned' }, dryRun: false };
    const before = await status(33);
    const waits = await browser.press(await call('update', args), 'confirm');
    expect(headline(waits)).toBe('Approval pending');
    expect(await status(33)).toBe(before);
    expect((await logged())[0]).toMatchObject({ outcome: 'denied', code: 'APPROVAL_PENDING' });
    const link = /href="([^"]*)">this request/.exec(waits.html)![1]!;
    const request = await browser.open(new URL(link, server.at('')));
    expect(mainOf(request)).toContain('Through Playground');
    expect(mainOf(await browser.press(request, 'approve'))).toContain('completed by the server');
    const done = await browser.press(await call('update', args), 'confirm');
    expect([headline(done), await status(33)]).toEqual(['Answered', 'returned']);
  });

  test('without a dry run is confirmed too, and says if its effect cannot be previewed', async () => {
    const { browser, call } = await sit(people.admin);
    const page = await call('requestActionFileUpload', { filename: 'a.pdf', mimeType: 'application/pdf' });
    expect(mainOf(page)).toContain('The effect is not known in advance.');
    const done = await browser.press(page, 'confirm');
    expect(JSON.parse(given(done)!)).toMatchObject({ method: 'PUT' });
    const action = await call('executeAction', {
      collectionName: 'orders',
      actionName: 'Cancel',
      recordIds: '21',
      values: { reason: 'Out of stock' },
      dryRun: false,
    });
    expect(mainOf(action)).toContain('executeAction of Cancel on orders , record 21 It would run on 1 record.');
  });
});

describe('the SQL', () => {
  const args = { collectionName: 'customers', filters: { field: 'city', operator: 'Equal', value: 'Zanzibar' } };
  const statements = (page: Page): string[] =>
    [...page.html.matchAll(/<pre class="sql"[^>]*>(.*?)<\/pre>/gs)].map(([, text]) => plain(text!));

  test('is shown to administrators and developers, with placeholders and without values', async () => {
    for (const who of ['admin', 'developer'] as const) {
      const page = await (await sit(people[who])).call('list', { ...args, enableCount: true });
      const shown = statements(page);
      expect(shown).toHaveLength(2);
      expect(shown.join()).toMatch(/where .*city.* = \?/);
      expect(shown.join()).not.toContain('Zanzibar');
      expect(mainOf(page)).toContain('SQL (2 statements)');
    }
  });

  test('is not shown to other users', async () => {
    const page = await (await sit(people.clerk)).call('list', args);
    expect(statements(page)).toEqual([]);
    expect(page.html).not.toMatch(/select `|email`|SQL/);
  });

  test('is only that of this call, whatever runs concurrently', async () => {
    const { call } = await sit(people.admin);
    const token = await tokenOf(people.developer);
    const beside = Array.from({ length: 20 }, (_, at) =>
      callTool(server.mcpUrl, token, 'list', { collectionName: at % 2 ? 'products' : 'reviews' }),
    );
    const [orders, categories] = await Promise.all([
      call('list', { collectionName: 'orders' }),
      call('aggregate', { collectionName: 'categories', operation: 'Count' }),
    ]);
    await Promise.all(beside);
    expect(statements(orders)).toEqual([expect.stringContaining('from `orders`')]);
    expect(statements(categories)).toEqual([expect.stringContaining('from `categories`')]);
  });
});

describe('invalid calls', () => {
  test('invalid JSON is reported at its field, calls nothing, and keeps what was typed', async () => {
    const { browser, look } = await sit(people.admin);
    const before = (await logged())[0]?.id;
    const family = 'id\nnote 👨‍👩‍👧 \u202e &lt;b> "\'`';
    const page = await browser.press(await look('list'), 'run', {
      'arg.collectionName': 'orders',
      'arg.filters': '{"field": oops}',
      'arg.fields': family,
    });
    expect(page.status).toBe(400);
    expect(mainOf(page)).toContain('Invalid JSON');
    expect(page.html).toMatch(/name="arg\.filters"[^>]*aria-invalid="true"/);
    expect([shownIn(page, 'arg.filters'), shownIn(page, 'arg.fields')]).toEqual(['{"field": oops}', family]);
    expect((await logged())[0]?.id).toBe(before);
    for (const json of ['[]', '"x"', '7', '{', '['.repeat(5_000)]) {
      const answer = await browser.press(await look('list', '?mode=json'), 'run', { json });
      expect([json.slice(0, 9), answer.status, shownIn(answer, 'json')]).toEqual([json.slice(0, 9), 400, json]);
    }
  });

  test('an argument of the wrong type shows the error that an assistant gets, at its field', async () => {
    const { call } = await sit(people.admin);
    const page = await call('aggregate', { collectionName: 'orders', operation: 'Count', limit: 'many' });
    expect(given(page)).toMatch(/^INVALID_ARGUMENT: limit: /);
    expect(page.html).toMatch(/name="arg\.limit"[^>]*aria-invalid="true" value="many"/);
  });

  test('a number that would be rounded is sent as it was typed', async () => {
    const { call } = await sit(people.admin);
    const page = await call('aggregate', { collectionName: 'orders', operation: 'Count', limit: '9007199254740993' });
    expect(given(page)).toMatch(/^INVALID_ARGUMENT: limit: /);
    expect(page.html).toMatch(/name="arg\.limit"[^>]*aria-invalid="true" value="9007199254740993"/);
  });

  test('too large arguments are refused', async () => {
    const { browser, look } = await sit(people.admin);
    const page = await look('create', '?mode=json');
    const json = JSON.stringify({ collectionName: 'reviews', attributes: { body: 'x'.repeat(100_000) } });
    expect((await browser.press(page, 'run', { json })).status).toBe(413);
  });

  test('a call over the time limit is aborted, as over MCP', async () => {
    const { call } = await sit(people.developer);
    const page = await call('list', { collectionName: 'suppliers' });
    expect(headline(page)).toBe('Failed: CALL_TIMED_OUT');
    expect((await logged())[0]).toMatchObject({ action: 'list', collection: 'suppliers', code: 'CALL_TIMED_OUT' });
  });

  test('a call is cancelled when the user leaves the page, and is logged', async () => {
    const { browser, look } = await sit(people.developer);
    const page = await look('list');
    const stop = new AbortController();
    const body = new URLSearchParams({
      csrf: csrfOf(page),
      mode: 'form',
      action: 'run',
      'arg.collectionName': 'suppliers',
    });
    const called = fetch(server.at('/playground/list'), {
      method: 'POST',
      body,
      signal: stop.signal,
      headers: { cookie: browser.cookieHeader(new URL(server.at(''))), 'sec-fetch-site': 'same-origin' },
    });
    const began = () => server.observed.filter(({ type }) => type === 'tool.began').length;
    const before = began();
    await expect.poll(began).toBe(before + 1);
    stop.abort();
    await expect(called).rejects.toThrow();
    await expect.poll(async () => (await logged())[0]).toMatchObject({ collection: 'suppliers', outcome: 'failed' });
  });

  test("calls count towards the rate limit of the user's assistants, and a call over it is not made", async () => {
    const slow = await open({ SERVICE_MCP_REQUESTS_PER_MINUTE: '2' });
    const { id: userId } = await slow.userOf(slow.account);
    const { secret } = await slow.store.tokens.create({ userId, name: 'busy', scopes: ['mcp:read'] });
    await callTool(slow.mcpUrl, secret, 'describeCollection', {});
    const { browser, page } = await slow.browse(slow.account, '/playground/list');
    await browser.press(page, 'run', { 'arg.collectionName': 'orders' });
    const third = await browser.press(page, 'run', { 'arg.collectionName': 'orders', 'arg.filters': '{}' });
    expect([third.status, shownIn(third, 'arg.filters')]).toEqual([429, '{}']);
    expect(await logged(slow)).toHaveLength(1);
  });
});
