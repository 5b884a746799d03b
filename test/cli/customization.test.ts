import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadCustomization } from '../../src/cli/customization.ts';
import { writeDemo } from '../../src/cli/demo.ts';
import { customizeDemo } from '../../src/cli/demo-customization.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { createEngineAgent, createMemoryDataSource, createSqlDataSource } from '../../src/index.ts';
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
])('%s with `%s` customizes what is served', async (name, head) => {
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
])('%s is an error that names it', async (_what, files, problem) => {
  for (const [name, text] of Object.entries(files)) write(name, text);
  await expect(loadCustomization(folder)).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringMatching(problem),
  });
});

test('the demo shop shows added, imported and renamed fields, and segments', async () => {
  const path = join(folder, 'demo.sqlite');
  writeDemo(path, { driver: loadSqliteDriver('auto').driver, clock: systemClock });
  const agent = createEngineAgent().addDataSource(createSqlDataSource(`sqlite:${path}`));
  customizeDemo(agent);
  const engine = await agent.createEngine(parts);
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
