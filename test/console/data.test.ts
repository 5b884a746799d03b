// Pages of records over HTTP: they show what the viewer's own assistant would get, and change records as it would.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { createBrowser } from '../oauth/flow.ts';
import { runSql } from '../sql/schemas.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

let server: ConsoleTestServer;
let clerk: Account;
beforeAll(async () => {
  server = await openConsoleServer({
    app: {
      customize: (agent) => {
        customizeDemo(agent);
        agent.customizeCollection('products', (products) => products.displayField('sku'));
        agent.customizeCollection('orders', (orders) =>
          orders
            .describe({ synonyms: ['purchases'] })
            .describeField('number', { description: 'Printed on the invoice' })
            .describeField('status', { values: { paid: 'The money arrived' }, hiddenByDefault: true })
            .describeField('total', { description: 'With tax', unit: 'EUR', examples: [19.9], synonyms: ['amount'] }),
        );
        agent.addMetric('revenue', {
          collection: 'orders',
          measure: { sum: 'total' },
          description: 'Of all orders',
        });
      },
    },
  });
  await server.store.permissions.setRole('Clerk', {
    orders: { ...all, add: false, delete: false, fields: { number: 'hidden', total: 'read' } },
    customers: { ...all, approval: { edit: 'ask-person' } },
    reviews: { ...all, browse: false },
  });
  clerk = await server.addUser({ email: 'kim@example.com', firstName: 'Kim', role: 'Clerk', team: 'North' });
  await server.store.permissions.setScope('North', 'orders', { field: 'id', operator: 'LessThan', value: 100 });
});
afterAll(() => server.stop());

const visit = async (page: string, account = server.account) => (await server.browse(account, page)).page;
const run = (sql: string) => runSql({ dialect: 'sqlite', url: server.database, drop: async () => {} }, [sql]);
const one = async (sql: string) => (await server.ask(sql))[0]!;
const post = (browser: Browser, page: string, body: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(server.at(page), {
    method: 'POST',
    body: new URLSearchParams(body),
    headers: { cookie: browser.cookieHeader(new URL(server.at(page))), 'sec-fetch-site': 'same-origin', ...headers },
    redirect: 'manual',
  });
const edit = async (page: string, typed: Record<string, string>, account = server.account) => {
  const { browser, page: form } = await server.browse(account, page);
  return { browser, form, preview: await browser.press(form, 'review', typed) };
};

describe('which data a user sees', () => {
  const pages = [
    '/data',
    '/data/orders',
    '/data/orders/17',
    '/data/orders/17/edit',
    '/create/orders',
    '/act/orders/Cancel',
  ];

  test('the list describes the fields and metrics that the user may see', async () => {
    const shown = read(await visit('/data/orders'));
    for (const text of [
      'Also called purchases.',
      'total Number, in EUR With tax Such as 19.9 Also called amount',
      'status String only if named paid : The money arrived',
      'revenue Of all orders',
      'Printed on the invoice',
    ])
      expect(shown).toContain(text);
    const narrowed = read(await visit('/data/orders', clerk));
    expect(narrowed).toContain('With tax');
    expect(narrowed).not.toContain('Printed on the invoice');
  });

  test.each(pages)('%s is not shown without a session', async (page) => {
    const { html, url } = await createBrowser().open(server.at(page));
    expect(url).toContain('/sign-in');
    expect(html).not.toContain('ORD-10017');
  });

  test('a user sees only the collections that their role may browse', async () => {
    const page = read(await visit('/data', clerk));
    expect(page).toContain('orders');
    expect(page).not.toContain('reviews');
    expect((await visit('/data/reviews', clerk)).status).toBe(404);
    expect((await visit('/data/reviews/1', clerk)).status).toBe(404);
    expect((await visit('/data/nothing', clerk)).status).toBe(404);
  });

  test('where the operator enables no list, there are no pages of records; without a tool that writes, none that change them', async () => {
    const statusesWith = async (tools: string) => {
      const own = await openConsoleServer({
        env: { SERVICE_MCP_ENABLED_TOOLS: tools },
        app: { customize: customizeDemo },
      });
      try {
        const statuses: number[] = [];
        for (const page of pages.slice(1)) statuses.push((await own.browse(own.account, page)).page.status);
        return statuses;
      } finally {
        await own.stop();
      }
    };
    expect([
      await statusesWith('describeCollection,create,update,delete,executeAction,getActionForm'),
      await statusesWith('describeCollection,list'),
    ]).toEqual([Array(5).fill(404), [200, 200, 404, 404, 404]]);
  });

  test('a hidden field is not shown, is no column, and is not used as a name', async () => {
    const { number } = await one('SELECT number FROM orders WHERE id = 17');
    for (const page of ['/data/orders?col=number', '/data/orders/17', '/data/orders/17/edit']) {
      const { html, status } = await visit(page, clerk);
      expect(status).toBe(200);
      expect(html).not.toContain(String(number));
      expect(html).not.toMatch(/value="number"|value\.number|>number</);
    }
    const filter = JSON.stringify({ field: 'number', operator: 'Equal', value: String(number) });
    const filtered = await visit(`/data/orders?${new URLSearchParams({ filter })}`, clerk);
    expect(filtered.status).toBe(400);
    expect(filtered.html).not.toContain('/data/orders/17"');
    expect((await visit('/data/orders?sort=number', clerk)).status).toBe(400);
  });

  test('a record outside the row scope has the same 404 as a missing one', async () => {
    const outside = await visit('/data/orders/200', clerk);
    const missing = await visit('/data/orders/999999', clerk);
    expect(outside.status).toBe(404);
    expect(read(outside).replaceAll('200', '')).toBe(read(missing).replaceAll('999999', ''));
    expect((await visit('/data/orders/x', clerk)).status).toBe(404);
    const last = await visit('/data/orders?sort=-id', clerk);
    expect(/<tbody><tr><td class="pick">.*?<th scope="row"><a [^>]*>([^<]+)</.exec(last.html)?.[1]).toBe('99');
  });

  test('a relation that does not lead to the collection lists no records', async () => {
    const related = await visit('/data/orders?of=customers&record=120&relation=orders');
    expect(related.status).toBe(200);
    expect((await visit('/data/products?of=customers&record=120&relation=orders')).status).toBe(404);
    expect((await visit('/data/reviews?of=customers&record=120&relation=reviews', clerk)).status).toBe(404);
  });

  test('pages that change records return 404 without the right', async () => {
    const { browser, page } = await server.browse(clerk, '/data/orders/17');
    expect(page.html).not.toContain('/data/orders/17/delete');
    expect((await browser.open(server.at('/create/orders'))).status).toBe(404);
    const body = { csrf: csrfOf(page), action: 'confirm', seen: 'x' };
    expect((await post(browser, '/data/orders/17/delete', body)).status).toBe(404);
    expect((await post(browser, '/create/orders', body)).status).toBe(404);
    expect((await post(browser, '/act/products/Print%20price%20list', body)).status).toBe(404);
    expect(await one('SELECT count(*) AS n FROM orders WHERE id = 17')).toEqual({ n: 1 });
  });

  test.each(['/data/orders/17/edit', '/data/orders/17/delete', '/create/orders', '/act/orders/Cancel'])(
    'a form from another site is refused by %s',
    async (page) => {
      const { browser, page: shown } = await server.browse(server.account, '/data/orders/17');
      const body = { csrf: csrfOf(shown), action: 'review', 'value.note': 'Forged' };
      expect((await post(browser, page, body, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await post(browser, page, { ...body, csrf: 'x' })).status).toBe(403);
    },
  );
});

describe('the list', () => {
  test('moves forward and back by cursor, and sorts by a column', async () => {
    const { browser, page } = await server.browse(server.account, '/data/orders?sort=-total');
    const top = await server.ask('SELECT number FROM orders ORDER BY total DESC, id LIMIT 51');
    const firstOf = ({ html }: Page) =>
      /<tbody><tr><td class="pick">.*?<th scope="row"><a [^>]*>([^<]+)</.exec(html)?.[1];
    const linkOf = ({ html }: Page, rel: string) =>
      new URL(new RegExp(`href="([^"]+)" rel="${rel}"`).exec(html)![1]!.replaceAll('&amp;', '&'), server.at('')).href;
    const second = await browser.open(linkOf(page, 'next'));
    const third = await browser.open(linkOf(second, 'next'));
    const back = await browser.open(linkOf(third, 'prev'));
    const start = await browser.open(linkOf(back, 'prev'));
    expect([page, second, third, back, start].map(firstOf)).toEqual([0, 25, 50, 25, 0].map((at) => top[at]!.number));
  });

  test('filters by a condition that every related record must meet', async () => {
    const where = { field: 'quantity', operator: 'Equal', value: 1 };
    const filter = JSON.stringify({ every: 'order_items', where });
    const { browser, page } = await server.browse(server.account, `/data/orders?${new URLSearchParams({ filter })}`);
    expect(page.html).not.toContain('The rows cannot show this filter');
    const group = { match: 'And', kind: 'every:order_items' };
    const row = { group: '0', field: 'quantity', operator: 'Equal', value: '1' };
    const typed = Object.entries(row).map(([name, value]): [string, string] => [`c.0.${name}`, value]);
    const built = new URLSearchParams([...Object.entries(group), ...typed]);
    const again = await browser.open(server.at(`/data/orders?${built}`));
    const numbers = async (condition: string) =>
      (await server.ask(`SELECT number FROM orders WHERE ${condition} ORDER BY id LIMIT 25`)).map(
        ({ number }) => number,
      );
    const shown = ({ html }: Page) => [...html.matchAll(/<th scope="row"><a [^>]*>([^<]+)</g)].map(([, name]) => name);
    const known = await numbers('id NOT IN (SELECT order_id FROM order_items WHERE quantity <> 1)');
    for (const each of [page, again]) {
      expect(each.html).toContain('All its order_items (or it has none) match all of');
      expect(shown(each)).toEqual(known);
    }
    // Without a condition, the group is not finished and filters nothing.
    const open = await browser.open(server.at(`/data/orders?${new URLSearchParams(group)}`));
    expect(shown(open)).toEqual(await numbers('true'));
  });

  test('shows a filter that its rows cannot show as JSON', async () => {
    const filter = JSON.stringify({
      aggregator: 'Not',
      conditions: [{ field: 'status', operator: 'Equal', value: 'paid' }],
    });
    const page = await visit(`/data/orders?${new URLSearchParams({ filter })}`);
    expect(page.status).toBe(200);
    expect(page.html).toContain('The rows cannot show this filter');
    expect(page.html).toContain('&quot;aggregator&quot;: &quot;Not&quot;');
    expect(page.html).not.toMatch(/<td[^>]*>paid</);
  });

  test.each([
    '{oops',
    '[]',
    '{"field":"nothing","operator":"Equal","value":1}',
    '{"field":"id","operator":"Equal","value":"x"}',
  ])('shows the error of the filter %s', async (filter) => {
    const page = await visit(`/data/orders?${new URLSearchParams({ filter })}`);
    expect(page.status).toBe(400);
    expect(page.html).toMatch(/role="alert"/);
  });

  test('logs a read of records with the collection, and the page of a record with its id', async () => {
    await visit('/data/suppliers');
    await visit('/data/suppliers/7');
    await server.store.activity.flush();
    const entries = await server.store.activity.search({ collection: 'suppliers', limit: 5 });
    expect(entries.map(({ action, clientName, recordIds }) => [action, clientName, recordIds])).toEqual([
      ['openRecord', 'Console', ['7']],
      ['list', 'Console', undefined],
    ]);
  });

  test('is at most 150 kB', async () => {
    for (const page of ['/data', '/data/customers', '/data/orders', '/data/orders/17', '/data/orders/17/edit'])
      expect(Buffer.byteLength((await visit(page)).html), page).toBeLessThan(150_000);
  });
});

describe('names of records', () => {
  test('are the values of the field that code names, otherwise of a usual one', async () => {
    const { sku, name } = await one('SELECT sku, name FROM products WHERE id = 3');
    const product = await visit('/data/products/3');
    expect(product.html).toContain(`<h1>${sku}</h1>`);
    expect(product.html).toContain(String(name));
    const { number } = await one('SELECT number FROM orders WHERE id = 17');
    expect((await visit('/data/orders/17')).html).toContain(`<h1>${number}</h1>`);
  });

  test('are shown in approvals, as links to the record', async () => {
    const { id } = await server.file({
      collection: 'orders',
      recordIds: ['18'],
      given: { collectionName: 'orders', recordIds: ['18'], attributes: { note: 'By phone' } },
    });
    const page = await visit(`/approvals/${id}`);
    expect(page.html).toContain('<h1>Change ORD-10018 of orders?</h1>');
    expect(page.html).toContain('/data/orders/18">ORD-10018</a>');
  });
});

describe('a change', () => {
  test('is shown as a dry run, and saved only after the second step', async () => {
    const { browser, preview } = await edit('/data/orders/31/edit', { 'value.note': 'Ring twice' });
    expect(read(preview)).toMatch(/Save these changes to ORD-10031\?.*note.*Ring twice/);
    expect((await one('SELECT note FROM orders WHERE id = 31')).note).not.toBe('Ring twice');
    const saved = await browser.press(preview, 'confirm');
    expect(read(saved)).toContain('Saved.');
    expect((await one('SELECT note FROM orders WHERE id = 31')).note).toBe('Ring twice');
  });

  test('is refused if another user changed the record in the meantime, and both values are shown', async () => {
    const { browser, page: form } = await server.browse(server.account, '/data/orders/32/edit');
    await run("UPDATE orders SET note = 'Theirs' WHERE id = 32");
    const refused = await browser.press(form, 'review', { 'value.note': 'Mine' });
    expect(refused.status).toBe(409);
    expect(read(refused)).toMatch(/note Theirs Mine/);
    expect((await one('SELECT note FROM orders WHERE id = 32')).note).toBe('Theirs');
  });

  test('is also refused between the preview and the confirmation', async () => {
    const { browser, preview } = await edit('/data/orders/33/edit', { 'value.note': 'Mine' });
    await run('UPDATE orders SET total = total + 1 WHERE id = 33');
    const refused = await browser.press(preview, 'confirm');
    expect(refused.status).toBe(409);
    expect((await one('SELECT note FROM orders WHERE id = 33')).note).not.toBe('Mine');
  });

  test('with an invalid value keeps the form and says what to enter', async () => {
    const { preview } = await edit('/data/orders/34/edit', { 'value.shipping_fee': 'much', 'value.note': 'Kept' });
    expect(preview.status).toBe(400);
    expect(preview.html).toContain('Kept');
    expect(preview.html).toMatch(/id="value-\d+-problem"/);
  });

  test('that needs approval waits for it, and the same change can be made again later', async () => {
    const change = async (city: string) => {
      const { browser, preview } = await edit('/data/customers/5/edit', { 'value.city': city }, clerk);
      const waiting = await browser.press(preview, 'confirm');
      expect(read(waiting)).toContain('Waiting for approval');
      const address = /href="([^"]+\/approvals\/[\w-]+)"/.exec(waiting.html)![1]!;
      const request = await browser.open(new URL(address, server.at('')));
      await browser.press(request, 'approve');
      await expect.poll(async () => (await one('SELECT city FROM customers WHERE id = 5')).city).toBe(city);
    };
    await change('Bergen');
    await run("UPDATE customers SET city = 'Oslo' WHERE id = 5");
    await change('Bergen');
  });

  test('creates and deletes a record', async () => {
    const typed = { 'value.name': 'Tern & Co', 'value.email': 'hi@tern.example', 'value.city': 'Oslo' };
    const rest = { 'value.country': 'NO', 'value.lead_time_days': '3', 'value.contracted_on': '2026-01-31' };
    const { browser, preview } = await edit('/create/suppliers', { ...typed, ...rest });
    expect(await one("SELECT count(*) AS n FROM suppliers WHERE name = 'Tern & Co'")).toEqual({ n: 0 });
    const created = await browser.press(preview, 'confirm');
    expect(created.html).toContain('<h1>Tern &amp; Co</h1>');
    const asked = await browser.press(created, 'review');
    expect(read(asked)).toContain('Delete Tern & Co of suppliers?'.replace('&', '&amp;'));
    await browser.press(asked, 'confirm');
    expect(await one("SELECT count(*) AS n FROM suppliers WHERE name = 'Tern & Co'")).toEqual({ n: 0 });
  });

  test('by an action shows its form, asks for confirmation, and runs once', async () => {
    const { id } = await one("SELECT id FROM orders WHERE status = 'pending' LIMIT 1");
    const { browser, page } = await server.browse(server.account, `/act/orders/Cancel?record=${id}`);
    expect(page.status).toBe(200);
    const typed = Object.fromEntries(
      [...page.html.matchAll(/<select id="[^"]+" name="(value\.[^"]+)".*?<option value="([^"]+)"/gs)].map(
        ([, name, value]) => [name!, value!],
      ),
    );
    const areas = Object.fromEntries(
      [...page.html.matchAll(/<textarea id="[^"]+" name="(value\.[^"]+)"/g)].map(([, name]) => [name!, 'By phone']),
    );
    const asked = await browser.press(page, 'review', { ...typed, ...areas });
    expect(read(asked)).toContain('Run Cancel?');
    const done = await browser.press(asked, 'confirm');
    expect(read(done)).toContain('Done');
    expect((await one(`SELECT status FROM orders WHERE id = ${id}`)).status).toBe('cancelled');
  });
});
