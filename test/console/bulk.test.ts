// Several records at once: one value for a field of all, deleting, and an action. It is the call of the tool, with its
// rights, dry run and approvals.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { runSql } from '../sql/schemas.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

let server: ConsoleTestServer;
let clerk: Account;
let reader: Account;
let asker: Account;
beforeAll(async () => {
  server = await openConsoleServer({
    app: {
      customize: (agent) => {
        customizeDemo(agent);
        agent.customizeCollection('orders', (orders) =>
          orders.addFieldValidation('note', 'NotContains', 'forbidden').addAction('Number of records', {
            scope: 'Bulk',
            execute: async (context, { success }) =>
              success(`Ran on ${(await context.getRecordIds()).length} records.`),
          }),
        );
      },
    },
  });
  const { permissions } = server.store;
  await permissions.setRole('Clerk', { orders: { ...all, delete: false, fields: { total: 'read' } } });
  await permissions.setRole('Reader', { orders: { ...all, edit: false, add: false, delete: false } });
  await permissions.setRole('Asker', { orders: { ...all, approval: { edit: 'ask-person' } } });
  clerk = await server.addUser({ email: 'kim@example.com', role: 'Clerk', team: 'North' });
  reader = await server.addUser({ email: 'rita@example.com', role: 'Reader', team: 'North' });
  asker = await server.addUser({ email: 'asa@example.com', role: 'Asker', team: 'South' });
  await permissions.setScope('North', 'orders', { field: 'id', operator: 'LessThan', value: 100 });
});
afterAll(() => server.stop());

const run = (sql: string) => runSql({ dialect: 'sqlite', url: server.database, drop: async () => {} }, [sql]);
const one = async (sql: string) => (await server.ask(sql))[0]!;
const notes = async (ids: string) =>
  (await server.ask(`SELECT note FROM orders WHERE id IN (${ids}) ORDER BY id`)).map(({ note }) => note);
const listOf = (filter: object) => `/data/orders?${new URLSearchParams({ filter: JSON.stringify(filter) })}`;
const between = (from: number, to: number) =>
  listOf({
    aggregator: 'And',
    conditions: [
      { field: 'id', operator: 'GreaterThanOrEqual', value: from },
      { field: 'id', operator: 'LessThanOrEqual', value: to },
    ],
  });
/** Opens the list and asks for one value for the field of all. */
const ask = async (
  list: string,
  which: Record<string, string | readonly string[]>,
  account = server.account,
  field = 'note',
) => {
  const { browser, page } = await server.browse(account, list);
  return { browser, list: page, form: await browser.press(page, 'change', { ...which, field }) };
};
const post = (browser: Browser, from: Page, body: [string, string][]) =>
  fetch(server.at('/bulk/orders'), {
    method: 'POST',
    body: new URLSearchParams([['csrf', csrfOf(from)], ...body]),
    headers: { cookie: browser.cookieHeader(new URL(server.at('/bulk'))), 'sec-fetch-site': 'same-origin' },
    redirect: 'manual',
  });

describe('a value for several records', () => {
  test('is written to the selected ones after a preview, in one call', async () => {
    await run("UPDATE orders SET note = 'Old' WHERE id IN (11, 12)");
    await run("UPDATE orders SET note = 'New' WHERE id = 13");
    const { browser, form } = await ask(between(10, 15), { record: ['11', '12', '13'] });
    expect(read(form)).toMatch(/Change note of 3 records.*ORD-10011 , ORD-10012 , ORD-10013/);
    const preview = await browser.press(form, 'review', { 'value.note': 'New' });
    expect(read(preview)).toMatch(/Change note of 3 records\?.*2 records change. 1 record already has this value/);
    expect(read(preview)).toMatch(/ORD-10011 Old New ORD-10012 Old New/);
    expect(await notes('11, 12, 13')).toEqual(['Old', 'Old', 'New']);
    const done = await browser.press(preview, 'confirm');
    expect(read(done)).toContain('3 records changed.');
    expect(done.url).toContain('filter=');
    expect(await notes('11, 12, 13')).toEqual(['New', 'New', 'New']);
    const [entry] = await server.store.activity.search({ collection: 'orders', type: 'write', limit: 1 });
    expect(entry).toMatchObject({ action: 'update', clientId: 'console', recordIds: ['11', '12', '13'] });
  });

  test('is written to all that the filter matches, with their exact number', async () => {
    const { browser, form, list } = await ask(between(201, 260), { which: 'all' });
    // Without the number if counting takes too long for the list. The next page has it always.
    expect(list.html).toMatch(/<option value="all">all (60 )?that match<\/option>/);
    expect(read(form)).toContain('Change note of 60 records');
    const preview = await browser.press(form, 'review', { 'value.note': 'Of all' });
    expect(read(preview)).toMatch(/Change note of 60 records\?.*60 records change.*Shown: 25 of 60 records/);
    await browser.press(preview, 'confirm');
    expect(await one("SELECT count(*) AS n FROM orders WHERE note = 'Of all'")).toEqual({ n: 60 });
  });

  test('is written to all of the page, and an empty value is none', async () => {
    const { browser, form } = await ask(between(301, 360), { which: 'page' });
    const preview = await browser.press(form, 'review');
    await browser.press(preview, 'confirm');
    const ids = Array.from({ length: 25 }, (_, at) => 301 + at).join();
    expect(new Set(await notes(ids))).toEqual(new Set([null]));
  });

  test('is refused as a whole if one record refuses it', async () => {
    const { browser, form } = await ask(between(10, 15), { record: ['10', '14'] });
    const refused = await browser.press(form, 'review', { 'value.note': 'forbidden' });
    expect(refused.status).toBe(400);
    expect(read(refused)).toContain('forbidden');
    expect(await notes('10, 14')).not.toContain('forbidden');
  });

  test('waits for an approval that the role needs', async () => {
    const { browser, form } = await ask(between(120, 125), { record: ['120', '121'] }, asker);
    const preview = await browser.press(form, 'review', { 'value.note': 'Approved' });
    const waiting = await browser.press(preview, 'confirm');
    expect(read(waiting)).toContain('Waiting for approval');
    expect(await notes('120, 121')).not.toContain('Approved');
    const address = /href="([^"]+\/approvals\/[\w-]+)"/.exec(waiting.html)![1]!;
    await browser.press(await browser.open(new URL(address, server.at(''))), 'approve');
    await expect.poll(() => notes('120, 121')).toEqual(['Approved', 'Approved']);
  });
});

describe('a change of the data before the confirmation', () => {
  test('of a record that the preview does not show is found, and both are asked again', async () => {
    const { browser, form } = await ask(between(401, 440), { which: 'all' });
    const preview = await browser.press(form, 'review', { 'value.note': 'Mine' });
    await run("UPDATE orders SET note = 'Theirs' WHERE id = 440");
    const again = await browser.press(preview, 'confirm');
    expect(again.status).toBe(409);
    expect(read(again)).toContain('The data has changed since the last preview');
    expect((await notes('440'))[0]).toBe('Theirs');
    await browser.press(again, 'confirm');
    expect((await notes('440'))[0]).toBe('Mine');
  });

  test('of the records that match is found', async () => {
    await run("UPDATE orders SET note = 'Group' WHERE id IN (21, 22)");
    const { browser, form } = await ask(listOf({ field: 'note', operator: 'Equal', value: 'Group' }), { which: 'all' });
    const preview = await browser.press(form, 'review', { 'value.note': 'Mine' });
    await run("UPDATE orders SET note = 'Group' WHERE id = 23");
    const again = await browser.press(preview, 'confirm');
    expect(again.status).toBe(409);
    expect(read(again)).toContain('Change note of 3 records?');
    expect(await notes('21, 22, 23')).toEqual(['Group', 'Group', 'Group']);
  });

  test('that takes a selected record out of the list leaves the record out', async () => {
    await run("UPDATE orders SET note = 'Ours' WHERE id IN (24, 25)");
    const { browser, page } = await server.browse(
      server.account,
      listOf({ field: 'note', operator: 'Equal', value: 'Ours' }),
    );
    await run("UPDATE orders SET note = 'Theirs' WHERE id = 25");
    const form = await browser.press(page, 'change', { record: ['24', '25'], field: 'note' });
    expect(read(form)).toMatch(/Change note of 1 record .*1 record that you selected is left out/);
    expect(read(form)).not.toContain('ORD-10025');
  });
});

describe('deleting', () => {
  test('shows the records and what else goes, and deletes them after the confirmation', async () => {
    for (const name of ['Tern', 'Gull', 'Skua'])
      await run(`INSERT INTO suppliers (name, contact_email, city, country, lead_time_days, contracted_on)
        VALUES ('${name}', '${name}@bird.example', 'Oslo', 'NO', 3, '2026-01-31')`);
    const ids = (await server.ask("SELECT id FROM suppliers WHERE name IN ('Tern', 'Gull') ORDER BY id")).map(
      ({ id }) => `${id}`,
    );
    const { browser, page } = await server.browse(server.account, '/data/suppliers?sort=-id');
    const preview = await browser.press(page, 'delete', { record: ids });
    expect(read(preview)).toMatch(/Delete 2 records of suppliers\?.*Tern , Gull/);
    const count = "SELECT count(*) AS n FROM suppliers WHERE contact_email LIKE '%@bird.example'";
    expect(await one(count)).toEqual({ n: 3 });
    const done = await browser.press(preview, 'confirm');
    expect(read(done)).toContain('2 records deleted.');
    expect(await one(count)).toEqual({ n: 1 });
  });
});

test('a bulk action gets the selected records', async () => {
  const { browser, page } = await server.browse(server.account, between(10, 15));
  const form = await browser.press(page, 'run:Number of records', { record: ['11', '12'] });
  expect(read(form)).toMatch(/On ORD-10011 , ORD-10012/);
  const done = await browser.press(await browser.press(form, 'review'), 'confirm');
  expect(read(done)).toContain('Ran on 2 records.');
});

test('the related records of one record are a list as well', async () => {
  const { customer_id: customer } = await one(
    'SELECT customer_id FROM orders GROUP BY 1 HAVING count(*) BETWEEN 2 AND 20 LIMIT 1',
  );
  const list = `/data/orders?of=customers&record=${customer}&relation=orders`;
  const { browser, form } = await ask(list, { which: 'page' });
  const preview = await browser.press(form, 'review', { 'value.note': 'Of one' });
  await browser.press(preview, 'confirm');
  expect(await server.ask(`SELECT DISTINCT note FROM orders WHERE customer_id = ${customer}`)).toEqual([
    { note: 'Of one' },
  ]);
});

describe('rights and limits', () => {
  test('without a right to change there is nothing to select, and a forged form is refused', async () => {
    const { browser, page } = await server.browse(reader, '/data/orders');
    expect(page.html).not.toMatch(/name="record"|\/bulk\//);
    for (const action of ['change', 'delete', 'run:Number of records'])
      expect(
        (
          await post(browser, page, [
            ['action', action],
            ['record', '11'],
            ['field', 'note'],
          ])
        ).status,
        action,
      ).toBe(404);
    const confirmed = { action: 'confirm', deed: 'change', field: 'note', 'value.note': 'Forged', record: '11' };
    expect((await post(browser, page, Object.entries(confirmed))).status).toBe(404);
    expect((await notes('11'))[0]).not.toBe('Forged');
  });

  test('only fields that the role may write are offered and accepted, and deleting only with its right', async () => {
    const { browser, page } = await server.browse(clerk, between(10, 15));
    const offered = /<select name="field".*?<\/select>/s.exec(page.html)?.[0];
    expect(offered).toContain('<option value="note">');
    expect(offered).not.toContain('<option value="total">');
    expect(page.html).not.toContain('name="action" value="delete"');
    const total = { action: 'confirm', deed: 'change', field: 'total', 'value.total': '1', record: '11' };
    expect((await post(browser, page, Object.entries(total))).status).toBe(404);
    expect(
      (
        await post(browser, page, [
          ['action', 'delete'],
          ['record', '11'],
        ])
      ).status,
    ).toBe(404);
    expect(
      (
        await post(browser, page, [
          ['action', 'change'],
          ['record', '11'],
          ['field', 'id'],
        ])
      ).status,
    ).toBe(404);
  });

  test('an id outside the row scope is left out, as one that does not exist', async () => {
    const { browser, page } = await server.browse(clerk, '/data/orders');
    const texts = [];
    for (const id of ['200', '999999']) {
      const answer = await post(browser, page, [
        ['action', 'change'],
        ['record', id],
        ['field', 'note'],
      ]);
      expect(answer.status).toBe(404);
      texts.push(/<main.*<\/main>/s.exec(await answer.text())![0].replaceAll(id, ''));
    }
    expect(texts[0]).toBe(texts[1]);
    const confirmed: [string, string][] = [
      ['action', 'confirm'],
      ['deed', 'change'],
      ['field', 'note'],
    ];
    const mixed = await post(browser, page, [
      ...confirmed,
      ['value.note', 'Forged'],
      ['record', '11'],
      ['record', '200'],
    ]);
    expect(mixed.status).toBe(409);
    expect(await notes('11, 200')).not.toContain('Forged');
    const all = await browser.press(page, 'change', { which: 'all', field: 'note' });
    expect(read(all)).toContain('Change note of 99 records');
  });

  test('nothing selected, too many records and a form of another site are refused', async () => {
    const { browser, page } = await server.browse(server.account, '/data/orders');
    expect(page.html).not.toContain('value="all"');
    expect(read(await browser.press(page, 'delete'))).toContain('Select at least one record.');
    const tooMany = await post(browser, page, [
      ['action', 'delete'],
      ['which', 'all'],
    ]);
    expect(tooMany.status).toBe(400);
    expect(await tooMany.text()).toContain('5,600 records match. At most 500 can be changed at once');
    const ids = Array.from({ length: 501 }, (_, at): [string, string] => ['record', `${at + 1}`]);
    expect((await post(browser, page, [['action', 'delete'], ...ids])).status).toBe(400);
    const answer = await fetch(server.at('/bulk/orders'), {
      method: 'POST',
      body: new URLSearchParams({ csrf: csrfOf(page), action: 'delete', record: '11' }),
      headers: { cookie: browser.cookieHeader(new URL(server.at('/bulk'))), 'sec-fetch-site': 'cross-site' },
    });
    expect(answer.status).toBe(403);
  });
});

test('a form with more fields than a list sends is refused before they are read, also without a sign-in', async () => {
  const send = (fields: number) =>
    fetch(server.at('/bulk/orders'), {
      method: 'POST',
      body: 'a&'.repeat(fields),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      redirect: 'manual',
    });
  expect((await send(4000)).status).toBe(303);
  const refused = await send(250_000);
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('it has more than 5000 fields.');
});
