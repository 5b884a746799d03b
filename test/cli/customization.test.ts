import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { writeDemo } from '../../examples/demo-shop/shop.ts';
import { loadConfigFile, loadCustomization } from '../../src/cli/customization.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { createEngineAgent } from '../../src/entries/engine.ts';
import { createMemoryDataSource, createSqlDataSource } from '../../src/index.ts';
import { accessOf } from '../agent/shop.ts';

const parts = { observe: () => {}, clock: systemClock, limits: { pageSizeLimit: 20, queryTimeoutMs: 5000 } };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portico-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

test.each([
  ['portico.config.mjs', 'export default'],
  ['portico.config.mjs', 'export const customize ='],
])('%s with `%s` customizes the served data', async (name, head) => {
  write(name, `${head} (agent) => agent.customizeCollection('things', (things) => things.renameField('a', 'b'));`);
  const table = { name: 'things', columns: [{ name: 'a', type: 'Number' }], primaryKey: ['a'], rows: [[7]] } as const;
  const agent = createEngineAgent().addDataSource(createMemoryDataSource('memory', [{ ...table, rows: [[7]] }]));
  (await loadCustomization(folder))!(agent);
  const engine = await agent.createEngine(parts);
  expect((await engine.list(accessOf(), { collection: 'things', limit: 1 })).records()).toEqual([{ b: 7 }]);
});

test('a folder without a configuration file customizes nothing', async () => {
  expect(await loadCustomization(folder)).toBeUndefined();
});

test.each([
  ['a file that exports no function', { 'portico.config.mjs': 'export default 1;' }, /must export a function/],
  ['a file that throws', { 'portico.config.mjs': 'throw new Error("oh");' }, /cannot be loaded: oh/],
  ['two files', { 'portico.config.mjs': '', 'portico.config.js': '' }, /keep one of them/],
])('%s is reported as a configuration error', async (_what, files, problem) => {
  for (const [name, text] of Object.entries(files)) write(name, text);
  await expect(loadCustomization(folder)).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringMatching(problem),
  });
});

async function openDemo() {
  const path = join(folder, 'demo.sqlite');
  writeDemo(path, { driver: loadSqliteDriver('auto').driver, clock: systemClock });
  const agent = createEngineAgent().addDataSource(createSqlDataSource(`sqlite:${path}`));
  customizeDemo(agent);
  return agent.createEngine(parts);
}

test('the demo shop shows added, imported and renamed fields, and segments', async () => {
  const engine = await openDemo();
  const customers = await engine.list(accessOf(), {
    collection: 'customers',
    fields: ['first_name', 'last_name', 'full_name'],
    sort: [{ field: 'full_name' }],
    limit: 20,
  });
  const paid = await engine.list(accessOf(), {
    collection: 'orders',
    fields: ['status', 'customer_email'],
    segment: 'to ship',
    limit: 20,
  });
  const found = await engine.list(accessOf(), {
    collection: 'customers',
    fields: ['full_name'],
    search: `"${customers.rows[3]![2]}"`,
    limit: 20,
  });
  expect([
    customers.rows.every(([first, last, full]) => full === `${first} ${last}`),
    new Set(paid.rows.map(([status]) => status)),
    paid.rows.every(([, email]) => String(email).includes('@')),
    found.rows.flat().includes(customers.rows[3]![2]),
    engine.describe(accessOf(), 'suppliers').fields.some((field) => field.name === 'email'),
  ]).toEqual([true, new Set(['paid']), true, true, true]);
  await engine.close();
});

test('the actions of the demo shop check the state of an order first', async () => {
  const { actions, list, charts, close } = await openDemo();
  const one = async (status: string) => {
    const filter = { field: 'status', operator: 'Equal', value: status } as const;
    const { rows } = await list(accessOf(), { collection: 'orders', fields: ['id'], filter, limit: 1 });
    return rows[0]![0] as number;
  };
  const noteOf = async (id: number) => {
    const filter = { field: 'id', operator: 'Equal', value: id } as const;
    return (await list(accessOf(), { collection: 'orders', fields: ['note'], filter, limit: 1 })).rows[0]![0];
  };
  const run = async (action: string, id: number, values: Record<string, unknown>) => {
    const result = await actions.execute(accessOf(), { collection: 'orders', action, recordIds: [id], values });
    const filter = { field: 'id', operator: 'Equal', value: id } as const;
    const { rows } = await list(accessOf(), { collection: 'orders', fields: ['status'], filter, limit: 1 });
    return [result.type, rows[0]![0]];
  };
  const collected = { carrier: 'Collected in the shop' };
  expect([
    await run('Ship', await one('paid'), collected),
    await run('Ship', await one('pending'), collected),
    await run('Cancel', await one('pending'), { reason: 'Customer asked' }),
    await run('Cancel', await one('delivered'), { reason: 'Customer asked' }),
  ]).toEqual([
    ['success', 'shipped'],
    ['error', 'pending'],
    ['success', 'cancelled'],
    ['error', 'delivered'],
  ]);
  const next = await one('paid');
  const noted = await noteOf(next);
  await run('Ship', next, { carrier: 'Northern Post', tracking_number: 'NP-1' });
  expect(await noteOf(next)).toBe([noted, 'Northern Post, NP-1'].filter(Boolean).join(', '));
  const untold = run('Ship', await one('paid'), { carrier: 'Northern Post' });
  await expect(untold).rejects.toMatchObject({ code: 'INVALID_FORM' });
  const printed = await actions.execute(accessOf(), { collection: 'products', action: 'Print price list' });
  expect(printed).toMatchObject({ type: 'file', filename: 'price-list.csv', mimeType: 'text/csv' });
  const [byStatus, spent] = [
    await charts.render(accessOf(), { chart: 'Orders by status' }),
    await charts.render(accessOf(), { chart: 'Spent', collection: 'customers', id: 1 }),
  ];
  expect(byStatus).toContainEqual({ key: 'delivered', value: expect.any(Number) });
  expect(spent).toMatchObject({ countCurrent: expect.any(Number) });
  await close();
});

test('settings from the file override defaults, and the environment overrides the file', async () => {
  write(
    'portico.config.mjs',
    "export const options = { pageSize: 7, pageSizeLimit: '70', enabledTools: ['list'], querySeconds: 8 };",
  );
  const { options, customize } = await loadConfigFile(folder);
  const config = loadConfig({
    file: options,
    env: { SERVICE_PAGE_SIZE_LIMIT: '71', SERVICE_MCP_ENABLED_TOOLS: 'list,create' },
  });
  const { pageSize, pageSizeLimit, enabledTools, querySeconds, origins } = config;
  expect({ customize, pageSize, pageSizeLimit, enabledTools, querySeconds }).toEqual({
    ...{ customize: undefined, pageSize: 7, pageSizeLimit: 71, enabledTools: ['list', 'create'], querySeconds: 8 },
  });
  expect([origins.pageSize, origins.pageSizeLimit]).toEqual(['file', 'environment']);
});

test.each([
  ['a misspelt setting', '{ pageSise: 7 }', /Unknown setting 'pageSise'. Near: pageSize/],
  ['a wrong value', '{ pageSize: 0 }', /'pageSize': expected a whole number/],
  ['a list instead of an object', '[]', /options must be an object/],
])('%s in the settings of the file is reported', async (_what, options, problem) => {
  write('portico.config.mjs', `export const options = ${options};`);
  await expect(loadConfigFile(folder)).rejects.toThrow(problem);
});
