// The form of an analysis without a browser: what it offers and refuses, and that only submitting it makes a call.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import type { Account, Browser, Page } from '../oauth/flow.ts';
import { type ConsoleTestServer, csrfOf, openConsoleServer, read } from './console-server.ts';

const looks: CollectionPermission = { browse: true, read: true, edit: false, add: false, delete: false, export: false };
const FORM = '/playground/aggregate/form';

let server: ConsoleTestServer;
let clerk: Browser;
beforeAll(async () => {
  server = await openConsoleServer({
    app: {
      customize: (agent) => {
        customizeDemo(agent);
        agent.addMetric('units', { collection: 'order_items', measure: { sum: 'quantity' } });
      },
    },
  });
  clerk = (await server.browse(await addMember('clerk', { customers: { ...looks, fields: { email: 'hidden' } } })))
    .browser;
});
afterAll(() => server.stop());

async function addMember(name: string, role: Record<string, CollectionPermission>): Promise<Account> {
  const account = await server.addUser({ email: `${name}@example.com`, firstName: name, role: name });
  await server.store.permissions.setRole(name, role);
  return account;
}

const textOf = (page: Page): string => read(page).replaceAll('&#39;', "'");
const optionsOf = (page: Page, name: string): string[] => {
  const [, options = ''] = new RegExp(`<select name="${name}"[^>]*>(.*?)</select>`, 's').exec(page.html) ?? [];
  return [...options.matchAll(/value="([^"]*)"/g)].map(([, value]) => value!);
};
const send = async (browser: Browser, fields: Record<string, string>): Promise<Page> => {
  const csrf = csrfOf(await browser.open(server.at(FORM)));
  const body = new URLSearchParams({ csrf, was: fields.collection!, ...fields });
  return browser.open(server.at(FORM), { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } });
};
const calls = async () => {
  await server.store.activity.flush();
  return (await server.store.activity.list({ limit: 50 })).filter(({ action }) => action === 'aggregate');
};
const count = { 'm.0.is': '1', 'm.0.kind': 'count' };

test('only collections and fields that the user may see are offered', async () => {
  const page = await clerk.open(server.at(`${FORM}?collection=customers`));
  expect(optionsOf(page, 'collection')).toEqual(['customers']);
  expect(optionsOf(page, 'new.g')).toContain('city');
  expect(optionsOf(page, 'new.g')).not.toContain('email');
  const other = await clerk.open(server.at(`${FORM}?collection=order_items`));
  expect(read(other)).not.toMatch(/Measures|order_items/);
});

test('a hidden collection or field in the form is refused as if it did not exist', async () => {
  const before = (await calls()).length;
  const page = await send(clerk, { collection: 'order_items', ...count, do: 'run' });
  expect(read(page)).not.toMatch(/order_items|Answered/);
  expect(await calls()).toHaveLength(before);
  const [hidden, missing] = await Promise.all(
    ['email', 'nothing'].map((field) =>
      send(clerk, { collection: 'customers', ...count, 'g.0.is': '1', 'g.0.field': field, do: 'run' }),
    ),
  );
  expect(textOf(hidden!)).toContain("UNKNOWN_FIELD: 'customers' has no field 'email'.");
  expect(textOf(missing!)).toContain("UNKNOWN_FIELD: 'customers' has no field 'nothing'.");
});

test('a user without aggregate gets 404 for the form', async () => {
  const { browser } = await server.browse(await addMember('nobody', {}));
  expect((await browser.open(server.at(FORM))).status).toBe(404);
});

test('opening the form and changing its rows make no call', async () => {
  const { browser } = await server.browse(server.account);
  const before = (await calls()).length;
  const opened = await browser.open(server.at(`${FORM}?collection=order_items`));
  expect(optionsOf(opened, 'new.m')).toContain('metric:units');
  const added = await send(browser, { collection: 'order_items', ...count, 'new.m': 'metric:units', do: 'add.m' });
  expect(read(added)).toContain('&quot;metric&quot;: &quot;units&quot;');
  expect(await calls()).toHaveLength(before);
  const run = await send(browser, {
    collection: 'order_items',
    'm.0.is': '1',
    'm.0.kind': 'metric',
    'm.0.of': 'units',
    do: 'run',
  });
  expect(read(run)).toContain('Answered');
  expect(await calls()).toHaveLength(before + 1);
});

test.each([
  ['a measure without a field', { 'm.0.is': '1', 'm.0.kind': 'field', 'm.0.operation': 'sum' }, 'Choose a field.'],
  ['no measure', {}, 'Add a measure.'],
  [
    'two measures with one name',
    { ...count, 'm.0.name': 'x', 'm.1.is': '2', 'm.1.kind': 'count', 'm.1.name': 'x' },
    'Two measures are named',
  ],
  [
    'a condition without a value',
    { ...count, 'f.match': 'And', 'f.c.0.field': 'city', 'f.c.0.operator': 'Equal', 'f.c.0.value': '' },
    'A condition has no value.',
  ],
])('%s makes no call, and the page names what is missing', async (_, fields, problem) => {
  const before = (await calls()).length;
  const page = await send(clerk, { collection: 'customers', ...fields, do: 'run' });
  expect([page.status, read(page).includes(problem)]).toEqual([400, true]);
  expect(await calls()).toHaveLength(before);
});
