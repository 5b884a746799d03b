// The cost of a warm `engine.list` without the statement: 15 rows by a simple filter, over arrays and over
// SQLite. Measures CPU time of this process, so a busy machine has little influence. Run: npx tsx bench/engine.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createEngine } from '../src/agent/engine.ts';
import type { ListRequest } from '../src/agent/requests.ts';
import { createMemorySource } from '../src/agent/sources/memory/source.ts';
import type { Source } from '../src/agent/sources/source.ts';
import { createSqlSource } from '../src/agent/sources/sql/source.ts';
import type { Select } from '../src/agent/sources/statement.ts';
import { type Access, fullAccess } from '../src/core/caller.ts';
import { systemClock } from '../src/core/clock.ts';

const ROUNDS = 30;
const CALLS = 500;

const access: Access = fullAccess({
  id: 1,
  email: 'bench@example.com',
  firstName: 'B',
  lastName: 'B',
  team: 'Operations',
  role: 'Member',
  tags: {},
  timezone: 'Europe/Paris',
  permissionLevel: 'user',
  renderingId: 1,
});
const request: ListRequest = {
  collection: 'orders',
  fields: ['id', 'customer_id', 'total', 'status', 'customer:name'],
  filter: { field: 'status', operator: 'Equal', value: 'paid' },
  sort: [{ field: 'id', ascending: false }],
  limit: 15,
};

async function measure(name: string, source: Source): Promise<void> {
  let last: Select | undefined;
  const watched: Source = {
    ...source,
    read(select, options) {
      last = select;
      return source.read(select, options);
    },
  };
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
  const engine = await createEngine({ sources: [watched], observe: () => {}, clock: systemClock, limits });
  const list = () => engine.list(access, request);
  const cursor = async () => (await engine.list(access, request)).cursorAfter(14);
  for (let call = 0; call < 2000; call++) await list();
  const select = last!;
  const read = () => source.read(select, { timeoutMs: 10_000 });
  const figures: Record<string, number[]> = { list: [], cursor: [], read: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const [label, run] of Object.entries({ list, cursor, read })) {
      const began = process.cpuUsage();
      for (let call = 0; call < CALLS; call++) await run();
      const { user, system } = process.cpuUsage(began);
      figures[label]!.push((user + system) / CALLS);
    }
  const median = (label: string) => figures[label]!.sort((a, b) => a - b)[ROUNDS / 2]!;
  const [listed, withCursor, bare] = [median('list'), median('cursor'), median('read')];
  console.log(
    `${name.padEnd(8)} list ${listed.toFixed(1)} us, with its cursor ${withCursor.toFixed(1)} us, ` +
      `source.read alone ${bare.toFixed(1)} us: the engine itself ${(listed - bare).toFixed(1)} us ` +
      `(fastest round ${(figures.list![0]! - figures.read![0]!).toFixed(1)} us)`,
  );
  await engine.close();
}

const customers = Array.from({ length: 20 }, (_, index) => [index + 1, `Customer ${index + 1}`]);
const orders = Array.from({ length: 40 }, (_, index) => [
  index + 1,
  (index % 20) + 1,
  (index * 7) % 100,
  index % 2 ? 'paid' : 'open',
]);

await measure(
  'memory',
  createMemorySource('memory', [
    {
      name: 'customers',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'name', type: 'String' },
      ],
      primaryKey: ['id'],
      rows: customers,
    },
    {
      name: 'orders',
      columns: [
        { name: 'id', type: 'Number' },
        { name: 'customer_id', type: 'Number' },
        { name: 'total', type: 'Number' },
        { name: 'status', type: 'String' },
      ],
      primaryKey: ['id'],
      foreignKeys: [{ columns: ['customer_id'], table: 'customers', targetColumns: ['id'] }],
      rows: orders,
    },
  ]),
);

const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
const file = join(folder, 'data.sqlite');
const database = new Database(file);
database.exec(
  'create table customers (id integer primary key, name text not null);' +
    'create table orders (id integer primary key, customer_id integer not null references customers (id), ' +
    'total integer not null, status text not null);',
);
for (const row of customers) database.prepare('insert into customers values (?, ?)').run(...row);
for (const row of orders) database.prepare('insert into orders values (?, ?, ?, ?)').run(...row);
database.close();
await measure('sqlite', createSqlSource(`sqlite:${file}`, { observe: () => {}, clock: systemClock }));
rmSync(folder, { recursive: true, force: true });
