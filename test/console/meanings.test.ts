// Administrators say in the console what the data means, and assistants read it at once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedIn } from '../app/shop.ts';
import { connectClient } from '../mcp/client.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const none = { browse: false, read: false, edit: false, add: false, delete: false, export: false };
const reading = { ...none, browse: true, read: true };

let server: ConsoleTestServer;
let kim: Account;
let browser: Browser;
const tokens = new Map<Account, string>();
beforeAll(async () => {
  server = await openConsoleServer({
    app: {
      customize: (agent) => {
        agent
          .addMetric('coded', { collection: 'orders', measure: { count: true }, description: 'Of code' })
          .customizeCollection('orders', (orders) =>
            orders
              .addSegment('of code', { field: 'id', operator: 'Present' })
              .describeField('total', { description: 'With tax', examples: [12.5] })
              .addField('size', {
                columnType: 'Enum',
                enumValues: ['small', 'large'],
                dependencies: ['number'],
                getValues: (records) => records.map(() => 'small'),
              }),
          );
      },
    },
  });
  await server.store.permissions.setRole('Clerk', {
    orders: { ...reading, fields: { total: 'hidden' } },
    customers: reading,
  });
  kim = await server.addUser({ email: 'kim@example.com', role: 'Clerk' });
  for (const account of [server.account, kim]) tokens.set(account, (await signedIn(server, account)).token);
  browser = (await server.browse(server.account)).browser;
});
afterAll(() => server.stop());

const open = (page: string) => browser.open(server.at(page));
/** Fills the form of the page, and sends it. */
const send = async (page: string, typed: Record<string, string | readonly string[]>, button = 'save') =>
  browser.press(await open(page), button, typed);
const call = async (name: string, args: Record<string, unknown>, account = server.account) => {
  const client = await connectClient('sdk 1.x', server.mcpUrl, tokens.get(account)!);
  const { content } = await client.callTool({ name, arguments: args });
  await client.close();
  return content[0]!.text;
};
const described = async (collectionName: string, account = server.account) =>
  JSON.parse(await call('describeCollection', { collectionName, detail: 'full' }, account));
/** What a control has on the page. */
const shownIn = ({ html }: Page, id: string) =>
  new RegExp(`<textarea id="${id}"[^>]*>\\n([^<]*)</textarea>|id="${id}"[^>]* value="([^"]*)"`)
    .exec(html)
    ?.slice(1)
    .find((text) => text !== undefined);
const notesOf = ({ html }: Page) => [...html.matchAll(/role="alert">([^<]*)</g)].map(([, text]) => text);

describe('a collection', () => {
  test('has a description and synonyms, which describeCollection shows', async () => {
    const saved = await send('/meanings/customers', {
      description: 'People who\r\n buy',
      synonyms: 'buyers\n\nclients ',
    });
    expect(read(saved)).toMatch(/Saved\. Assistants use it from their next call\..*People who buy/);
    expect(await described('customers')).toMatchObject({
      description: 'People who buy',
      synonyms: ['buyers', 'clients'],
    });
    expect(read(await open('/data/customers'))).toMatch(/Also called buyers, clients/);
    await send('/meanings/customers', { description: '', synonyms: '' });
    expect(await described('customers')).not.toHaveProperty('description');
  });

  test('a long text is refused with the limit, and stays in the form', async () => {
    const long = 'a'.repeat(501);
    const page = await send('/meanings/customers', { description: long, synonyms: `buyers\n${'b'.repeat(61)}` });
    expect(page.status).toBe(400);
    expect(notesOf(page)).toEqual([
      'At most 500 characters. This text has 501.',
      `At most 60 characters on a line. &#39;${'b'.repeat(60)}…&#39; is longer.`,
    ]);
    expect(shownIn(page, 'description')).toBe(long);
    expect(shownIn(page, 'synonyms')).toContain('buyers');
  });

  test('an unknown one does not exist', async () => {
    expect((await open('/meanings/nothing')).status).toBe(404);
    expect((await open('/meanings/orders/fields/nothing')).status).toBe(404);
    expect((await open('/meanings/orders/metrics/nothing')).status).toBe(404);
    expect((await open('/meanings/orders/segments/nothing')).status).toBe(404);
  });
});

describe('a field', () => {
  test('has meanings of its values, one for each value of an enum', async () => {
    const page = await open('/meanings/orders/fields/size');
    const values = [...page.html.matchAll(/name="(v\.\d+)\.of" value="([^"]*)"/g)].map(([, , value]) => value);
    expect(values).toEqual(['small', 'large']);
    await browser.press(page, 'save', { description: 'Of the box', 'v.1': 'More than 20 EUR' });
    await send('/meanings/orders/fields/status', { values: 'paid = The money arrived\nsent=a = b' });
    const { descriptions } = await described('orders');
    expect(descriptions).toMatchObject({
      size: 'Of the box; large: More than 20 EUR',
      status: 'paid: The money arrived; sent: a = b',
    });
  });

  test('what code says is shown, not editable, and stays', async () => {
    const page = await open('/meanings/orders/fields/total');
    expect(read(page)).toMatch(/Description With tax Set in code.*Examples 12\.5 Set in code/);
    expect(page.html).not.toMatch(/name="(description|examples)"/);
    await browser.press(page, 'save', { unit: 'EUR', description: 'Without tax' });
    expect((await described('orders')).descriptions.total).toBe('With tax; in EUR; such as 12.5');
  });

  test('texts of a hidden field are not shown to those who may not see it', async () => {
    const seen = JSON.stringify(await described('orders', kim));
    expect(seen).not.toMatch(/total|tax|12\.5/);
    expect(seen).toMatch(/The money arrived/);
  });

  test('is left out of lists if it is read only if named', async () => {
    await send('/meanings/orders/fields/note', { hiddenByDefault: 'yes' });
    const { columns } = JSON.parse(await call('list', { collectionName: 'orders', limit: 1 }));
    expect(columns).not.toContain('note');
    expect((await described('orders')).fields.note).toMatch(/named only/);
    await send('/meanings/orders/fields/note', { hiddenByDefault: [] });
    expect(JSON.parse(await call('list', { collectionName: 'orders', limit: 1 })).columns).toContain('note');
    expect((await open('/meanings/orders/fields/id')).html).not.toContain('name="hiddenByDefault"');
  });

  test.each<[string, string, Record<string, string>, RegExp, string]>([
    ['many examples', 'id', { examples: '1\n2\n3\n4\n5\n6' }, /At most 5 examples\. You entered 6\./, 'examples'],
    ['an example that is no number', 'id', { examples: '1\ntwo' }, /Enter numbers/, 'examples'],
    ['a long unit', 'id', { unit: 'u'.repeat(31) }, /At most 30 characters\. This text has 31\./, 'unit'],
    ['a value without a meaning', 'note', { values: 'A1 = By air\nB2' }, /equals sign.*&#39;B2&#39;/, 'values'],
    ['a value twice', 'note', { values: 'A1 = By air\nA1 = By sea' }, /&#39;A1&#39; is listed twice/, 'values'],
  ])('%s: refused, and the text stays', async (_, field, typed, problem, control) => {
    const page = await send(`/meanings/orders/fields/${field}`, { description: 'Kept', ...typed });
    expect([page.status, notesOf(page)]).toEqual([400, [expect.stringMatching(problem)]]);
    expect([shownIn(page, 'description'), shownIn(page, control)]).toEqual(['Kept', typed[control]]);
  });

  test('a change by somebody else meanwhile is not overwritten', async () => {
    const mine = await open('/meanings/customers/fields/email');
    await send('/meanings/customers/fields/email', { description: 'Of the other' });
    const page = await browser.press(mine, 'save', { description: 'Mine' });
    expect([page.status, notesOf(page)]).toEqual([400, [expect.stringContaining('Somebody else has changed this')]]);
    expect(shownIn(page, 'description')).toBe('Mine');
    expect((await described('customers')).descriptions.email).toBe('Of the other');
  });
});

describe('a metric', () => {
  const paid = { 'c.0.group': '', 'c.0.field': 'status', 'c.0.operator': 'Equal', 'c.0.value': 'paid' };
  const figure = async (metric: string, account = server.account) =>
    call('aggregate', { collectionName: 'orders', measures: { figure: { metric } } }, account);
  const sql = async (text: string) => Number(Object.values((await server.ask(text))[0]!)[0]);

  test('is made by the builder, and is a measure of aggregate', async () => {
    const form = await open('/meanings/orders/new-metric');
    const withRow = await browser.press(form, 'add', {
      name: 'paid orders',
      description: 'Money is here',
      add: 'status',
    });
    expect([withRow.status, shownIn(withRow, 'name')]).toEqual([200, 'paid orders']);
    const saved = await browser.press(withRow, 'save', { 'c.0.value': 'paid' });
    expect(read(saved)).toMatch(/paid orders Money is here/);
    expect((await described('orders')).metrics).toEqual({ coded: 'Of code', 'paid orders': 'Money is here' });
    const { rows } = JSON.parse(await figure('paid orders'));
    expect(rows).toEqual([[await sql("SELECT count(*) FROM orders WHERE status = 'paid'")]]);
  });

  test('the number that match, divided by all, is a share', async () => {
    const form = await open('/meanings/orders/new-metric');
    await browser.press(form, 'save', { name: 'paid share', divisor: 'count', ...paid });
    const page = await open('/meanings/orders/metrics/paid%20share');
    expect(page.html).toMatch(/name="c\.0\.field" value="status"/);
    const { rows } = JSON.parse(await figure('paid share'));
    const share = await sql("SELECT avg(status = 'paid') FROM orders");
    expect(rows[0][0]).toBeCloseTo(share, 5);
  });

  test('with a hidden field does not exist for others', async () => {
    await send('/meanings/orders/new-metric', { name: 'revenue', figure: 'sum', 'figure-of': 'total' });
    expect((await described('orders', kim)).metrics).toEqual({
      coded: 'Of code',
      'paid orders': 'Money is here',
      'paid share': '',
    });
    expect(await figure('revenue', kim)).toMatch(/'orders' has no metric 'revenue'/);
    expect(JSON.parse(await figure('revenue')).rows[0][0]).toBeGreaterThan(0);
  });

  test('that somebody else changed meanwhile is saved when it is sent again', async () => {
    const page = '/meanings/orders/metrics/paid%20share';
    const mine = await open(page);
    await send(page, { description: 'Of the other' });
    const told = await browser.press(mine, 'save', { description: 'Mine' });
    expect([told.status, notesOf(told)]).toEqual([400, [expect.stringContaining('Somebody else has changed this')]]);
    expect(shownIn(told, 'description')).toBe('Mine');
    await browser.press(told, 'save', {});
    expect((await described('orders')).metrics['paid share']).toBe('Mine');
  });

  test('says that a stored condition on a field that is gone is not in the form', async () => {
    const filter = { field: 'gone', operator: 'Equal', value: 1 };
    const subject = { kind: 'metric', collection: 'orders', name: 'old' } as const;
    const metric = { measure: { count: true }, filter } as const;
    await server.store.meanings.set(subject, metric, { before: null });
    const page = await open('/meanings/orders/metrics/old');
    expect(notesOf(page)).toEqual([expect.stringContaining('This form cannot show the stored conditions')]);
    expect(notesOf(await open('/meanings/orders/metrics/paid%20share'))).toEqual([]);
    await server.store.meanings.set(subject, null, { before: metric });
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['without a name', {}, /Enter a name\./],
    ['with the name of another', { name: 'paid orders' }, /exists already/],
    ['with the name of one of code', { name: 'coded' }, /exists already/],
    ['with a colon', { name: 'a:b' }, /without colons/],
    ['without a field', { name: 'n', figure: 'sum' }, /Choose the field\./],
    ['of a text', { name: 'n', figure: 'sum', 'figure-of': 'note' }, /cannot be computed\..*note/],
    ['of an unknown field', { name: 'n', figure: 'sum', 'figure-of': 'totall' }, /totall.*Near: total/],
    ['with an empty condition', { name: 'n', ...paid, 'c.0.value': '' }, /A condition has no value/],
    ['with a long description', { name: 'n', description: 'd'.repeat(501) }, /At most 500 characters/],
  ])('%s: refused, and nothing is lost', async (_, typed, problem) => {
    const page = await send('/meanings/orders/new-metric', { description: 'Kept', ...typed });
    expect([page.status, notesOf(page)]).toEqual([400, [expect.stringMatching(problem)]]);
    expect(shownIn(page, 'description')).toBe(typed.description ?? 'Kept');
    expect((await described('orders')).metrics).not.toHaveProperty('n');
  });

  test('is deleted', async () => {
    await send('/meanings/orders/metrics/paid%20orders', {}, 'delete');
    expect((await described('orders')).metrics).not.toHaveProperty('paid orders');
  });
});

describe('a segment', () => {
  const condition = (field: string, operator: string, value: string) => ({
    ...{ 'c.0.group': '', 'c.0.field': field, 'c.0.operator': operator, 'c.0.value': value },
  });
  const paid = condition('status', 'Equal', 'paid');
  const count = async (where: string) =>
    Number((await server.ask(`SELECT count(*) AS n FROM orders WHERE ${where}`))[0]!.n);
  const listed = (segment: string, account = server.account) =>
    call(
      'list',
      { collectionName: 'orders', segment, fields: ['id'], pagination: { size: 1 }, enableCount: true },
      account,
    );

  test('is made by the builder after a count, and tools, the HTTP API and the data pages have it', async () => {
    const form = await open('/meanings/orders/new-segment');
    const withRow = await browser.press(form, 'add', { name: 'paid', description: 'Money is here', add: 'status' });
    expect([withRow.status, shownIn(withRow, 'name')]).toEqual([200, 'paid']);
    const counted = await browser.press(withRow, 'try', { 'c.0.operator': 'Equal', 'c.0.value': 'paid' });
    const [matching, all] = [await count("status = 'paid'"), await count('1 = 1')];
    const figures = new Intl.NumberFormat('en');
    expect(read(counted)).toContain(
      `${figures.format(matching)} of the ${figures.format(all)} orders that you see match`,
    );
    expect((await described('orders')).segments).toEqual(['of code']);

    const saved = await browser.press(counted, 'save', {});
    expect(read(saved)).toMatch(/of code Set in code paid Money is here/);
    expect((await described('orders')).segments).toEqual({ 'of code': '', paid: 'Money is here' });
    expect(JSON.parse(await listed('paid'))).toMatchObject({ totalCount: matching });
    const page = await open('/data/orders?segment=paid');
    expect(page.html).toContain('<option value="paid" selected>paid</option>');
    expect(read(page)).toContain(`${figures.format(matching)} records`);
    expect(read(page)).toMatch(/Segment Meaning paid Money is here/);
  });

  test('begins with the filter of a list', async () => {
    const filter = JSON.stringify({ field: 'note', operator: 'Present' });
    const list = await open(`/data/orders?${new URLSearchParams({ filter })}`);
    const link = /href="([^"]*)">Save as segment</.exec(list.html)![1]!.replaceAll('&amp;', '&');
    const page = await browser.open(new URL(link, list.url).href);
    expect(page.html).toMatch(/name="c\.0\.field" value="note"/);
    expect((await server.browse(kim, `/data/orders?${new URLSearchParams({ filter })}`)).page.html).not.toMatch(
      /Save as segment/,
    );
    expect((await open('/meanings/orders/new-segment?filter=%5B')).status).toBe(200);
  });

  test('with a hidden field does not exist for others', async () => {
    await send('/meanings/orders/new-segment', { name: 'large', ...condition('total', 'GreaterThan', '50') });
    expect(JSON.parse(await listed('large')).totalCount).toBe(await count('total > 50'));
    expect((await described('orders', kim)).segments).toEqual({ 'of code': '', paid: 'Money is here' });
    expect(await listed('large', kim)).toMatch(/'orders' has no segment 'large'/);
    expect(await listed('larg', kim)).not.toMatch(/large/);
    const { page } = await server.browse(kim, '/data/orders?segment=large');
    expect([page.status, read(page)]).toEqual([400, expect.stringMatching(/orders\S* has no segment \S*large/)]);
    expect(page.html).not.toContain('<option value="large"');
  });

  test('is changed, shows its conditions, and is deleted', async () => {
    const page = await open('/meanings/orders/segments/large');
    expect(page.html).toMatch(/name="c\.0\.field" value="total"/);
    await browser.press(page, 'save', { 'c.0.value': '100' });
    expect(JSON.parse(await listed('large')).totalCount).toBe(await count('total > 100'));
    await send('/meanings/orders/segments/large', {}, 'delete');
    expect(await listed('large')).toMatch(/has no segment/);
  });

  test('that somebody else changed meanwhile is not overwritten', async () => {
    const page = '/meanings/orders/segments/paid';
    const mine = await open(page);
    await send(page, { description: 'Of the other' });
    const told = await browser.press(mine, 'save', { description: 'Mine' });
    expect([told.status, notesOf(told)]).toEqual([400, [expect.stringContaining('Somebody else has changed this')]]);
    expect((await described('orders')).segments.paid).toBe('Of the other');
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['without a name', { ...paid }, /Enter a name\./],
    ['with the name of another', { name: 'paid', ...paid }, /exists already/],
    ['with the name of one of code', { name: 'of code', ...paid }, /exists already/],
    ['without a condition', { name: 'n' }, /Add a condition\./],
    ['with an empty condition', { name: 'n', ...paid, 'c.0.value': '' }, /A condition has no value/],
    ['with a wrong value', { name: 'n', ...condition('total', 'GreaterThan', 'much') }, /total.*much/],
    ['with a long description', { name: 'n', ...paid, description: 'd'.repeat(501) }, /At most 500 characters/],
  ])('%s: refused, and nothing is lost', async (_, typed, problem) => {
    const page = await send('/meanings/orders/new-segment', { description: 'Kept', ...typed });
    expect([page.status, notesOf(page)]).toEqual([400, [expect.stringMatching(problem)]]);
    expect(shownIn(page, 'description')).toBe(typed.description ?? 'Kept');
    expect((await described('orders')).segments).not.toHaveProperty('n');
  });
});

describe('the introduction', () => {
  const instructions = async (mode: 'client 2.x, pinned to 2026-07-28' | 'sdk 1.x' | 'client 2.x, legacy') => {
    const client = await connectClient(mode, server.mcpUrl, tokens.get(kim)!);
    const text = (client as unknown as { getInstructions(): string }).getInstructions();
    await client.close();
    return text;
  };

  test.each(['client 2.x, pinned to 2026-07-28', 'sdk 1.x', 'client 2.x, legacy'] as const)(
    'is read by clients that connect: %s',
    async (mode) => {
      await send('/meanings', { introduction: 'A shop that sells tea.\r\nAmounts are in EUR.' });
      expect(await instructions(mode)).toMatch(
        /^Portico serves [\s\S]*\n\nAbout this application:\nA shop that sells tea\.\nAmounts are in EUR\.$/,
      );
      expect(read(await open('/playground'))).toContain('A shop that sells tea.');
      await send('/meanings', { introduction: '' });
      expect(await instructions(mode)).not.toMatch(/About this application/);
    },
  );

  test('a long one is refused with the limit, and stays in the form', async () => {
    const page = await send('/meanings', { introduction: 'a'.repeat(2001) });
    expect([page.status, notesOf(page)]).toEqual([400, ['At most 2000 characters. This text has 2001.']]);
    expect(shownIn(page, 'introduction')).toBe('a'.repeat(2001));
  });
});

test('only administrators open the pages and change meanings', async () => {
  const { browser: kims } = await server.browse(kim);
  const pages = [
    '',
    '/orders',
    '/orders/fields/status',
    '/orders/new-metric',
    '/orders/metrics/revenue',
    '/orders/new-segment',
    '/orders/segments/paid',
  ];
  for (const page of pages) expect((await kims.open(server.at(`/meanings${page}`))).status).toBe(404);
  const page = await open('/meanings/orders');
  const sent = await kims.open(page.url, {
    method: 'POST',
    body: new URLSearchParams({
      ...{ action: 'save', description: 'Of Kim', csrf: csrfOf(await kims.open(server.at('/account'))) },
      base: /name="base" value="([^"]+)"/.exec(page.html)![1]!,
    }),
    headers: { 'sec-fetch-site': 'same-origin', origin: 'null' },
  });
  expect(sent.status).toBe(404);
  expect(read(await kims.open(server.at('/data/orders')))).not.toMatch(/Edit the meanings/);
  expect(read(await open('/data/orders'))).toMatch(/Edit the meanings/);
});

test('changes are in the admin log', async () => {
  const log = read(await open('/admin-log?resource=meaning'));
  expect(log).toMatch(/meaning/);
  expect(log).toMatch(/orders\.status/);
  expect(log).toMatch(/orders\.paid/);
});

test('what is stored about a field that does not exist any more is shown, and can be deleted', async () => {
  const { meanings } = server.store;
  await meanings.set({ kind: 'field', collection: 'orders', name: 'gone' }, { unit: 'EUR' }, { before: null });
  await meanings.set({ kind: 'collection', collection: 'lost' }, { description: 'Gone' }, { before: null });
  expect(read(await open('/meanings'))).toMatch(/lost No longer in the model/);
  expect(read(await open('/meanings/orders'))).toMatch(/No longer in the model.*gone/);
  expect(read(await send('/meanings/orders', {}, 'delete'))).toMatch(/Deleted\./);
  expect(read(await send('/meanings/lost', {}, 'delete'))).toMatch(/Deleted\./);
  const left = (await meanings.list()).map(({ collection, name }) => `${collection}.${name}`);
  expect(left).not.toContain('orders.gone');
  expect(left).not.toContain('lost.');
});
