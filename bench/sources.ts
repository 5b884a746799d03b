// The cost of a warm read of the SQL source compared with SQLite itself, in this process and in a child process.
// Run: npx tsx bench/sources.ts. Rounds of both sides alternate, and the output is the minimum of each, because
// the machine is never idle.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Filter } from '../src/agent/plan/types.ts';
import { createSqlSource } from '../src/agent/sources/sql/source.ts';
import type { Select } from '../src/agent/sources/statement.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';
import { readTables } from '../test/sql/collections.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
const file = join(folder, 'data.sqlite');
const { driver: Database } = loadSqliteDriver('native');
const raw = new Database(file);
raw.pragma('journal_mode = wal');
raw.exec(
  'create table orders (id integer not null primary key, status varchar(20), total decimal(10, 2), paid boolean, placed_at datetime, note text)',
);
raw.exec('create table big (id integer not null primary key, n integer, s text, d datetime, b boolean, t text)');
const fill = (table: string, count: number) => {
  const insert = raw.prepare(`insert into ${table} values (?, ?, ?, ?, ?, ?)`);
  raw.transaction(() => {
    for (let at = 0; at < count; at++)
      insert.run(
        at,
        table === 'orders' ? ['new', 'paid', 'sent'][at % 3] : at % 97,
        at / 4,
        at % 2,
        '2024-02-29T12:00:00.500Z',
        `note ${at}`,
      );
  })();
};
fill('orders', 5000);
fill('big', 200_000);

const source = createSqlSource(`sqlite:${file}`, { observe: () => undefined, clock: systemClock });
const tables = readTables(source, await source.describe());

function select(table: string, columns: readonly string[], where: Filter, limit: number): Select {
  return {
    table,
    columns: columns.map((name) => tables.path(table, name)),
    joins: [],
    where,
    order: [{ path: tables.path(table, 'id'), ascending: true }],
    limit,
  };
}

async function least(rounds: number, calls: number, sides: Record<string, () => unknown>): Promise<void> {
  const best: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(sides)) {
      const began = performance.now();
      for (let call = 0; call < calls; call++) await run();
      const micros = ((performance.now() - began) * 1000) / calls;
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, micros);
    }
  }
  for (const [name, micros] of Object.entries(best)) console.log(`${name.padEnd(44)} ${micros.toFixed(1)} µs`);
}

const names = ['id', 'status', 'total', 'paid', 'placed_at', 'note'];
for (const limit of [15, 1000]) {
  const bare = raw
    .prepare(
      `select id, status, total, paid, placed_at, note from orders where status = ? order by id asc limit ${limit}`,
    )
    .raw();
  await least(12, limit === 15 ? 2000 : 60, {
    [`SQLite alone, ${limit} rows`]: () => bare.all('paid'),
    [`source, ${limit} rows, in the process`]: () =>
      source.read(select('orders', names, tables.test('orders', 'status', 'Equal', 'paid'), limit), {
        timeoutMs: 30_000,
      }),
  });
}
for (const limit of [15, 1000]) {
  const bare = raw.prepare(`select id, n, s, d, b, t from big where n >= ? order by id asc limit ${limit}`).raw();
  await least(5, limit === 15 ? 500 : 60, {
    [`SQLite alone, ${limit} rows of a large table`]: () => bare.all(5),
    [`source, ${limit} rows, in a child`]: () =>
      source.read(
        select('big', ['id', 'n', 's', 'd', 'b', 't'], tables.test('big', 'n', 'GreaterThanOrEqual', 5), limit),
        {
          timeoutMs: 30_000,
        },
      ),
  });
}
await source.close();
raw.close();
rmSync(folder, { recursive: true });
