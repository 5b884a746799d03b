// A step where a user selects the record for a run, by its name, or by its id if there are many.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { Account } from '../oauth/flow.ts';
import { type ConsoleTestServer, openConsoleServer, read } from './console-server.ts';

let server: ConsoleTestServer;
let olga: Account;
const all = { browse: true, read: true, edit: true, add: true, delete: true, export: true };

beforeAll(async () => {
  server = await openConsoleServer();
  olga = await server.addUser({ email: 'olga@example.com', team: 'Operations', role: 'Clerk', level: 'editor' });
  await server.store.permissions.setRole('Clerk', { '*': all });
});
afterAll(() => server?.stop());

/** A run that waits at this step, and its page as Olga sees it. */
async function ask(collection: string, recordId: string, step: object) {
  const { id: by } = await server.userOf(olga);
  const { renderingId } = (await server.store.permissions.caller(by))!;
  const name = `Choose ${crypto.randomUUID()}`;
  const steps = [
    { id: 'one', type: 'load-related-record', mode: 'manual', next: 'then', ...step },
    { id: 'then', type: 'read-record', record: 'one', fields: ['id'] },
  ];
  const definition = JSON.stringify({ name, collection, steps });
  const wish = { renderingId, name, collection, concurrency: null, by };
  const { id } = await server.store.workflows.publish({ ...wish, definition });
  const { browser, page } = await server.browse(olga, `/workflows/${id}`);
  const started = await browser.press(page, 'start', { record: recordId });
  const runId = /\/runs\/([\w-]{36})/.exec(started.url)![1]!;
  const state = async () => (await server.store.runs.find(runId))!;
  await until(async () => (await state()).state === 'awaiting-input');
  const open = () => browser.open(server.at(`/runs/${runId}`));
  return {
    browser,
    open,
    page: await open(),
    state,
    taken: async () => (await server.store.runs.steps(runId))[0]?.data,
  };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 400 && !(await holds()); i++) await systemClock.sleep(25);
  expect(await holds()).toBe(true);
}

const options = (html: string): string[][] =>
  [...html.matchAll(/<option value="([^"]+)"[^>]*>([^<]*)</g)].map(([, id, label]) => [id!, label!]);

test('records are listed by their names, in that order, with the id', async () => {
  const [category] = await server.ask(
    'SELECT category_id AS id FROM products GROUP BY 1 ORDER BY count(*) DESC LIMIT 1',
  );
  const rows = await server.ask(`SELECT id, name FROM products WHERE category_id = ${category!.id} ORDER BY name, id`);
  const { browser, page, taken } = await ask('categories', `${category!.id}`, { relation: 'products' });
  const offered = options(page.html);
  expect(rows.length).toBeGreaterThan(1);
  expect(offered).toEqual(rows.map(({ id, name }) => [`${id}`, `${name} (${id})`]));
  expect(page.html).not.toContain('value.other');
  const last = offered.at(-1)![0]!;
  await browser.press(page, 'choose', { 'value.record': last });
  await until(async () => ((await taken()) as { id?: string }).id === last);
});

test('a title that is hidden from the user is not shown to them', async () => {
  await server.store.permissions.setRole('Clerk', { '*': all, products: { ...all, fields: { name: 'hidden' } } });
  const { page } = await ask('categories', '2', { relation: 'products' });
  const offered = options(page.html);
  await server.store.permissions.setRole('Clerk', { '*': all });
  const [{ name }] = (await server.ask('SELECT name FROM products WHERE category_id = 2')) as [{ name: string }];
  expect([offered.length > 0, page.html.includes(name)]).toEqual([true, false]);
});

test('the first 50 records are listed, and any other related record is accepted by its id', async () => {
  const [customer] = await server.ask('SELECT id FROM customers ORDER BY id LIMIT 1');
  const access = (await server.store.permissions.accessOf(server.ada.id))!;
  const person = {
    city: 'Bergen',
    country: 'NO',
    newsletter: false,
    loyalty_points: 0,
    created_at: '2027-01-01T00:00:00Z',
  };
  const records = Array.from({ length: 60 }, (_, at) => ({
    ...person,
    ...{
      first_name: 'Zoe',
      last_name: `Zz${at + 10}`,
      email: `zoe${at}@example.com`,
      referred_by_id: customer!.id as number,
    },
  }));
  await server.engine.create(access, { collection: 'customers', records });
  const { relations } = server.engine.describe(access, 'customers');
  const relation = relations.find(({ kind, to }) => kind === 'many' && to === 'customers')!.name;
  const { browser, page, taken, state } = await ask('customers', `${customer!.id}`, { relation });
  const offered = options(page.html);
  expect([offered.length, offered.some(([, label]) => label!.startsWith('Zoe Zz10 ('))]).toEqual([50, true]);
  expect(read(page)).toContain('The list shows only the first 50');
  const [last] = await server.ask("SELECT id FROM customers WHERE last_name = 'Zz69'");
  const none = await browser.press(page, 'choose', {});
  expect([none.status, read(none).includes('choose a record, or enter its id')]).toEqual([400, true]);
  for (const wrong of [`${customer!.id}`, 'no number', '1|2']) {
    const refused = await browser.press(page, 'choose', { 'value.other': wrong });
    expect([refused.status, read(refused).includes('has no such record')]).toEqual([400, true]);
    expect(refused.html).toContain(`value="${wrong}"`);
  }
  expect((await state()).state).toBe('awaiting-input');
  await browser.press(page, 'choose', { 'value.record': offered[0]![0]!, 'value.other': ` ${last!.id} ` });
  await until(async () => ((await taken()) as { id?: string }).id === `${last!.id}`);
});
