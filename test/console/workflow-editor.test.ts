// The forms of workflows over HTTP: what they can produce, how they say what is wrong, who may use them, and how steps
// are moved and deleted.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { definitionJsonSchema, parseDefinition } from '../../src/workflows/definition/definition.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read as readHtml } from './console-server.ts';

let server: ConsoleTestServer;
let ada: Browser;
const people: Record<string, Account> = {};
beforeAll(async () => {
  server = await openConsoleServer({ app: { customize: customizeDemo } });
  await server.store.remotes.add({
    name: 'tickets',
    url: 'https://t.example/mcp',
    signIn: 'none',
    addedBy: server.ada.id,
  });
  ({ browser: ada } = await server.browse(server.account));
  const { team, role } = server.ada;
  people.omar = await server.addUser({ email: 'omar@example.com', team, role, level: 'user' });
  people.nora = await server.addUser({ email: 'nora@example.com', team: 'North', role, level: 'editor' });
});
afterAll(() => server.stop());

const read = (page: Page): string => readHtml(page).replaceAll('&#39;', "'").replaceAll('&quot;', '"');
let made = 0;
async function publish(steps: readonly object[], more: object = {}): Promise<string> {
  const { renderingId } = (await server.store.permissions.accessOf(server.ada.id))!.caller;
  const definition = { name: `Flow ${++made}`, collection: 'orders', steps, ...more };
  const wish = { renderingId, name: definition.name, collection: 'orders', concurrency: null, by: server.ada.id };
  return (await server.store.workflows.publish({ ...wish, definition: JSON.stringify(definition) })).id;
}
async function stored(id: string) {
  const { version } = (await server.store.workflows.find(id))!;
  return parseDefinition(JSON.parse((await server.store.workflows.definition(id, version))!));
}
/** Posts a form as it is, on the session of a page. */
async function post(page: string, form: Record<string, string | readonly string[]>, browser = ada): Promise<Page> {
  const csrf = csrfOf(await browser.open(server.at('/account')));
  const body = new URLSearchParams({ csrf });
  for (const [name, value] of Object.entries(form)) for (const each of [value].flat()) body.append(name, each);
  return browser.open(server.at(page), { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } });
}

const look = { id: 'look', type: 'read-record', title: 'Look', fields: ['total'], next: 'late' };
const late = {
  ...{ id: 'late', type: 'condition', title: 'Late?' },
  options: [
    { id: 'big', when: { field: 'total', operator: 'GreaterThan', value: 9 }, next: 'ask' },
    { id: 'small', next: 'refund' },
  ],
};
const ask = { id: 'ask', type: 'guidance', title: 'Ask', text: 'Ask.', next: 'call' };
const call = { id: 'call', type: 'guidance', title: 'Call', text: 'Call.', next: 'refund' };
const refund = { id: 'refund', type: 'update-record', title: 'Refund', values: { status: 'returned' } };
const all = [look, late, ask, call, refund];

describe('each type of step', () => {
  const buyer = { id: 'buyer', type: 'load-related-record', title: 'Buyer', relation: 'customer', next: 'it' };
  const common = { 'text-title': 'It', 'to-next': 'end', 'of-record': 'buyer', 'wait-count': '2', 'wait-unit': '3600' };
  const waiting = { title: 'It', next: 'end', waitSeconds: 7200 };
  const cases: readonly (readonly [step: object, form: Record<string, string | readonly string[]>, made: object])[] = [
    [
      { type: 'read-record', fields: ['id'] },
      { ...common, field: ['email', 'city'] },
      { title: 'It', next: 'end', record: 'buyer', fields: ['email', 'city'] },
    ],
    [
      { type: 'update-record', values: {} },
      {
        ...{ ...common, mode: 'automatic', 'value-row': ['city', 'country', 'email', 'phone'] },
        ...{ 'value.city': 'Oslo', 'value-from.country': 'null', 'value-from.email': 'user.email' },
        'value.phone': 'of {{run.id}}',
      },
      {
        ...{ ...waiting, record: 'buyer', mode: 'automatic' },
        values: { city: 'Oslo', country: null, email: '{{user.email}}', phone: 'of {{run.id}}' },
      },
    ],
    [
      { type: 'trigger-action', action: 'Cancel' },
      {
        ...{ ...common, 'of-record': '', mode: 'manual', 'choice-action': 'Ship' },
        ...{ 'value-row': 'carrier', 'value.carrier': 'Northern Post' },
      },
      { ...waiting, mode: 'manual', action: 'Ship', values: { carrier: 'Northern Post' } },
    ],
    [
      { type: 'condition', options: [{ id: 'a' }, { id: 'b' }] },
      {
        ...{ ...common, mode: 'confirm', 'text-question': 'Which?' },
        ...{ 'o.0.mark': '0', 'o.0.label': 'Of Oslo', 'o.0.next': 'end', 'o.0.w.match': 'And' },
        ...{
          'o.0.w.c.0.group': '',
          'o.0.w.c.0.field': 'city',
          'o.0.w.c.0.operator': 'Equal',
          'o.0.w.c.0.value': 'Oslo',
        },
        ...{ 'o.1.mark': '', 'o.1.label': 'The rest', 'o.1.next': '', 'o.1.w.match': 'And' },
      },
      {
        ...{ ...waiting, record: 'buyer', mode: 'confirm', question: 'Which?' },
        options: [
          { id: 'a', label: 'Of Oslo', when: { field: 'city', operator: 'Equal', value: 'Oslo' }, next: 'end' },
          { id: 'the-rest', label: 'The rest', next: null },
        ],
      },
    ],
    [
      { type: 'load-related-record', relation: 'customer' },
      {
        ...{ ...common, mode: 'manual', relation: 'orders', 'to-otherwise': '' },
        ...{ 'filter.match': 'And', 'filter.c.0.group': '', 'filter.c.0.field': 'status' },
        ...{
          'filter.c.0.operator': 'Equal',
          'filter.c.0.value': 'paid',
          'sort.0.field': 'total',
          'sort.0.way': 'down',
        },
      },
      {
        ...{ ...waiting, record: 'buyer', mode: 'manual', relation: 'orders', otherwise: null },
        ...{
          filter: { field: 'status', operator: 'Equal', value: 'paid' },
          sort: [{ field: 'total', ascending: false }],
        },
      },
    ],
    [
      { type: 'guidance', text: 'Do.' },
      {
        ...{ ...common, 'text-text': 'Pack it.', 'i.0.mark': '', 'i.0.label': 'How heavy?', 'i.0.a-type': 'number' },
        ...{ 'i.0.a-min': '1', 'i.1.mark': '', 'i.1.label': 'Box', 'i.1.a-type': 'enum', 'i.1.required': 'yes' },
        'i.1.a-choices': 'small\r\nlarge',
      },
      {
        ...{ ...waiting, text: 'Pack it.' },
        inputs: [
          { name: 'how-heavy', label: 'How heavy?', required: false, answer: { type: 'number', min: 1 } },
          { name: 'box', label: 'Box', answer: { type: 'enum', options: ['small', 'large'] } },
        ],
      },
    ],
    [
      { type: 'ai', prompt: '?', answer: { type: 'text' } },
      {
        ...{ ...common, mode: 'confirm', 'text-prompt': 'Angry?', 'answer-type': 'boolean' },
        ...{ 'without-model': 'value', 'without-model-value': 'no' },
      },
      { ...waiting, mode: 'confirm', prompt: 'Angry?', answer: { type: 'boolean' }, otherwise: false },
    ],
    [
      { type: 'mcp', server: 'x', tool: 'x' },
      {
        ...{ ...common, mode: 'automatic', 'choice-server': 'tickets', 'text-tool': 'open', 'to-onError': 'end' },
        ...{
          'allow-changes': 'yes',
          'a.0.mark': '',
          'a.0.name': 'title',
          'a.0.kind': 'text',
          'a.0.text': '{{record.number}}',
        },
        ...{ 'a.1.mark': '', 'a.1.name': 'level', 'a.1.kind': 'number', 'a.1.text': '2' },
      },
      {
        ...{ ...waiting, mode: 'automatic', server: 'tickets', tool: 'open', onError: 'end', allowChanges: true },
        arguments: { title: '{{record.number}}', level: 2 },
      },
    ],
  ];
  const schema = definitionJsonSchema() as {
    properties: { steps: { items: { oneOf: { properties: { type: { const: string } } }[] } } };
  };
  const keysOf = (type: string): readonly string[] =>
    Object.keys(
      schema.properties.steps.items.oneOf.find(({ properties }) => properties.type.const === type)!.properties,
    );

  test('has a case here', () => {
    const types = schema.properties.steps.items.oneOf.map(({ properties }) => properties.type.const);
    expect(cases.map(([{ type }]: readonly [{ type?: string }, ...unknown[]]) => type).sort()).toEqual(types.sort());
  });

  test.each(cases)('%o: its form produces each key of the schema', async (step, form, expected) => {
    const type = (step as { type: string }).type;
    const end = { id: 'end', type: 'guidance', title: 'End', text: 'End.' };
    // Nothing may be unreachable in the stored definition.
    const id = await publish([buyer, { id: 'it', ...step, next: 'end' }, end]);
    const page = await post(`/workflows/${id}/steps/it`, { action: 'save', since: '1', ...form });
    expect(read(page)).toContain('Published.');
    const now = (await stored(id)).steps.find((each) => each.id === 'it')!;
    expect(now).toEqual({ id: 'it', type, ...expected });
    // The record of an action is that of the run, because a buyer has no actions.
    const missing = keysOf(type).filter((key) => !(key in now));
    expect(missing).toEqual(type === 'trigger-action' ? ['record'] : []);
  });
});

describe('an error', () => {
  test('stands at its field, and nothing typed is lost', async () => {
    const id = await publish(all);
    const page = await post(`/workflows/${id}/steps/refund`, {
      ...{ action: 'save', since: '1', 'text-title': 'Refund all', 'value-row': ['status', 'shipping_fee'] },
      ...{
        'value.status': 'returned',
        'value.shipping_fee': 'much',
        mode: 'confirm',
        'wait-count': '99',
        'wait-unit': '86400',
      },
    });
    expect(page.status).toBe(400);
    expect(page.html).toContain('value="Refund all"');
    expect(page.html).toContain('value="much"');
    expect(read(page)).toContain('Enter a time from 1 minute to 30 days.');
    expect(page.html).toMatch(/id="value-1"[^>]*aria-invalid="true"/);
    expect((await server.store.workflows.find(id))!.version).toBe(1);
  });

  test('of the model stands at its key', async () => {
    const id = await publish(all);
    const page = await post(`/workflows/${id}/steps/look`, {
      action: 'save',
      since: '1',
      'text-title': 'Look',
      field: ['total', 'gone'],
      'to-next': 'late',
    });
    expect(page.status).toBe(400);
    expect(read(page)).toContain("'orders' has no field 'gone'");
    expect(page.html).toMatch(/Fields to read.*?class="note" role="alert".*?has no field/s);
  });

  test('in a condition without a value is told', async () => {
    const id = await publish(all);
    const form = await ada.open(server.at(`/workflows/${id}/steps/late`));
    const added = await ada.press(form, 'o.1.w.add', { 'o.1.w.add': 'note' });
    expect(added.html).toContain('Option 2: note: how to compare');
    const page = await ada.press(added, 'save');
    expect(page.status).toBe(400);
    expect(read(page)).toContain('A condition has no value.');
  });
});

test('of two who edit one step, the later is told, and can save with open eyes', async () => {
  const id = await publish(all);
  const mine = await ada.open(server.at(`/workflows/${id}/steps/ask`));
  await post(`/workflows/${id}/steps/ask`, {
    action: 'save',
    since: '1',
    'text-title': 'Theirs',
    'text-text': 'Ask.',
    'to-next': 'call',
  });
  const lateOne = await ada.press(mine, 'save', { 'text-title': 'Mine' });
  expect(lateOne.status).toBe(409);
  expect(read(lateOne)).toContain('Version 2 was saved in the meantime. It changes this step, too.');
  expect(lateOne.html).toContain('value="Mine"');
  expect(read(await ada.press(lateOne, 'save'))).toContain('Published.');
  expect((await stored(id)).steps[2]).toMatchObject({ id: 'ask', title: 'Mine' });
});

describe('the order of the steps', () => {
  test('a step is moved up and down, with its connections', async () => {
    const id = await publish(all);
    const page = await ada.open(server.at(`/workflows/${id}/edit`));
    const form = { since: '1', step: 'call', action: 'up' };
    expect(read(await post(`/workflows/${id}/edit`, form))).toContain('Moved.');
    const { steps } = await stored(id);
    expect(steps.map((step) => [step.id, step.next])).toEqual([
      ['look', 'late'],
      ['late', undefined],
      ['call', 'ask'],
      ['ask', 'refund'],
      ['refund', undefined],
    ]);
    expect(steps[1]).toMatchObject({ options: [{ next: 'call' }, { next: 'refund' }] });
    await post(`/workflows/${id}/edit`, { since: '2', step: 'call', action: 'down' });
    expect((await stored(id)).steps).toEqual(all);
    expect(page.html).toContain('aria-label="Move up: Call"');
    expect(page.html).not.toContain('aria-label="Move up: Refund"');
    expect((await post(`/workflows/${id}/edit`, { since: '3', step: 'refund', action: 'up' })).status).toBe(400);
  });

  test('the first step can change', async () => {
    const id = await publish([
      { ...ask, next: 'call' },
      { ...call, next: null },
    ]);
    await post(`/workflows/${id}/edit`, { since: '1', step: 'call', action: 'up' });
    expect((await stored(id)).steps.map((step) => [step.id, step.next])).toEqual([
      ['call', 'ask'],
      ['ask', undefined],
    ]);
    const start = await ada.open(server.at(`/workflows/${id}/add?type=guidance&place=`));
    expect(read(start)).toContain('It is added at the start, before Call.');
    await ada.press(start, 'save', { 'text-title': 'Ask', 'text-text': 'Again.' });
    const { steps } = await stored(id);
    expect(steps[0]).toEqual({ id: 'ask-2', type: 'guidance', title: 'Ask', text: 'Again.', next: 'call' });
  });

  test('a deleted step is bypassed, and the page says so', async () => {
    const id = await publish(all);
    const page = await ada.open(server.at(`/workflows/${id}/steps/ask`));
    expect(read(page)).toContain('What leads to it (Late?) then leads to Call.');
    const deleted = await ada.press(page, 'delete');
    expect(read(deleted)).toContain('Step deleted. Late? now leads to Call.');
    const { steps } = await stored(id);
    expect(steps.map((step) => step.id)).toEqual(['look', 'late', 'call', 'refund']);
    expect(steps[1]).toMatchObject({ options: [{ next: 'call' }, { next: 'refund' }] });
  });

  test('with a choice go the steps that nothing leads to any more', async () => {
    const id = await publish(all);
    const page = await ada.open(server.at(`/workflows/${id}/steps/late`));
    const deleted = await ada.press(page, 'delete', { to: 'refund' });
    expect(read(deleted)).toContain('Look now leads to Refund. 2 more steps that nothing leads to were deleted.');
    expect((await stored(id)).steps.map((step) => step.id)).toEqual(['look', 'refund']);
  });

  test('a step whose values another one uses stays', async () => {
    const id = await publish([
      { ...look, next: 'ask' },
      { ...ask, text: '{{steps.look.total}}', next: null },
    ]);
    const page = await ada.press(await ada.open(server.at(`/workflows/${id}/steps/look`)), 'delete');
    expect(page.status).toBe(400);
    expect(read(page)).toContain("Not deleted. Ask: unknown step 'look'.");
    expect((await stored(id)).steps).toHaveLength(2);
  });
});

test('name, start and limits are changed without JSON, and other keys stay', async () => {
  const id = await publish(all, { description: 'Old' });
  const page = await ada.open(server.at(`/workflows/${id}/edit`));
  const bad = await ada.press(page, 'settings', { name: '', concurrency: 'many' });
  expect([bad.status, read(bad).includes('Enter a name.'), bad.html.includes('value="many"')]).toEqual([
    400,
    true,
    true,
  ]);
  await ada.press(page, 'settings', { name: 'Renamed', description: '', concurrency: '3' });
  expect(await stored(id)).toEqual({ name: 'Renamed', collection: 'orders', concurrency: 3, steps: all });
  expect(await server.store.workflows.find(id)).toMatchObject({ name: 'Renamed', version: 2 });
});

test('users, other teams and code change nothing through the forms', async () => {
  const id = await publish(all);
  const { browser: omar } = await server.browse(people.omar!);
  const { browser: nora } = await server.browse(people.nora!);
  const pages = ['edit', 'add', 'steps/ask', 'try'].map((page) => `/workflows/${id}/${page}`);
  const statuses = async (browser: Browser) =>
    Promise.all(pages.map(async (page) => (await browser.open(server.at(page))).status));
  expect(await statuses(omar)).toEqual([200, 403, 403, 200]);
  expect(await statuses(nora)).toEqual([404, 404, 404, 404]);
  const shown = await omar.open(server.at(`/workflows/${id}/edit`));
  expect([read(shown).includes('Only editors'), shown.html.includes('name="action" value="up"')]).toEqual([
    true,
    false,
  ]);
  const forms = [
    [`/workflows/${id}/edit`, { action: 'up', step: 'call', since: '1' }],
    [`/workflows/${id}/edit`, { action: 'settings', name: 'x', since: '1' }],
    [`/workflows/${id}/steps/ask`, { action: 'save', 'text-title': 'x', 'text-text': 'x', since: '1' }],
    [`/workflows/${id}/steps/ask`, { action: 'delete', to: 'call', since: '1' }],
    [`/workflows/${id}/add`, { action: 'save', type: 'guidance', place: '', 'text-title': 'x', 'text-text': 'x' }],
    ['/workflows/new', { action: 'save', name: 'x', collection: 'orders', type: 'guidance', 'text-text': 'x' }],
  ] as const;
  for (const [page, form] of forms) {
    expect([page, (await post(page, form, omar)).status]).toEqual([page, 403]);
    if (page !== '/workflows/new') expect([page, (await post(page, form, nora)).status]).toEqual([page, 404]);
  }
  const [code] = (await server.store.workflows.list({})).filter(({ source }) => source === 'code');
  expect(
    (await ada.open(server.at(`/workflows/${code!.id}/steps/${(await stored(code!.id)).steps[0]!.id}`))).status,
  ).toBe(403);
  expect(read(await ada.open(server.at(`/workflows/${code!.id}/edit`)))).toContain('defined in code');
  expect(await stored(id)).toMatchObject({ steps: all });
});
