// Runs the filters of docs/filters.md on the demo shop, and compares the results with plain SQL.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createHeadlessAgent } from '../src/agent/agent.ts';
import { createSqlDataSource } from '../src/agent/data-sources.ts';
import { type Caller, fullAccess } from '../src/core/caller.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';
import { copyDemo } from './demo.ts';

const page = readFileSync('docs/filters.md', 'utf8');
const blocks = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, text]) => text!);
const table = [...page.matchAll(/^\| (.+) \| `(\{.+\})` \|$/gm)].map(
  ([, question, text]) => [question!, text!] as const,
);

const folder = mkdtempSync(join(tmpdir(), 'portico-filters-'));
const path = join(folder, 'demo.sqlite');
copyDemo(path);
const database = new (loadSqliteDriver().driver)(path);
const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
const engine = await createHeadlessAgent()
  .addDataSource(createSqlDataSource(`sqlite:${path}`))
  .createEngine({ observe: () => {}, clock: systemClock, limits });
afterAll(async () => {
  await engine.close();
  database.close();
  rmSync(folder, { recursive: true });
});

const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
const count = (collection: string, text: string) => engine.count(access, { collection, filter: JSON.parse(text) });
const countSql = (sql: string) => (database.prepare(`select count(*) as n from ${sql}`).get() as { n: number }).n;

test.each([
  [0, 'orders where total > 100'],
  [1, "orders o join customers c on c.id = o.customer_id where o.status = 'paid' and c.country <> 'FR'"],
])('block %i', async (block, sql) => {
  const found = await count('orders', blocks[block]!);
  expect(found).toBe(countSql(sql));
  expect(found).toBeGreaterThan(0);
});

const orders = 'select 1 from orders o where o.customer_id = c.id';
const lines = 'select 1 from order_items i join products p on p.id = i.product_id where i.order_id = o.id';
const truths: Readonly<Record<string, string>> = {
  'without orders': `customers c where not exists (${orders})`,
  'with an order over 100 that was delivered': `customers c where exists (${orders} and total > 100 and status = 'delivered')`,
  'whose orders were all delivered': `customers c where not exists (${orders} and status <> 'delivered')`,
  'who never bought tea': `customers c where not exists (${orders} and exists (${lines} and lower(p.name) like '%tea%'))`,
  'with an order in which every line is of at least two': `customers c where exists (${orders} and not exists (${lines} and quantity < 2))`,
  'products | with a margin under 10': 'products where price - cost < 10',
  'order_items | sold under the price of today':
    'order_items i join products p on p.id = i.product_id where i.unit_price < p.price',
  'orders | more than three days on the way': 'orders where julianday(delivered_at) - julianday(shipped_at) > 3',
  'orders | placed at weekends': "orders where strftime('%w', placed_at) in ('0', '6')",
  'customers | with an order placed before they were registered': `customers c where exists (${orders} and o.placed_at < c.created_at)`,
};

test.each(table)('%s', async (question, text) => {
  const [collection, ...rest] = question.split(' | ');
  const home = rest.length ? collection! : 'customers';
  const found = await count(home, text);
  expect(found).toBe(countSql(truths[question]!));
  if (!question.includes('before they were registered')) expect(found).toBeGreaterThan(0);
  expect(found).toBeLessThan(countSql(home));
});

test('the table is parsed', () => expect(table.map(([question]) => question)).toEqual(Object.keys(truths)));
