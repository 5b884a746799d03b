// The demo shop is complete, plausible, and the same for the same seed.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeDemo } from '../../examples/demo-shop/shop.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver, type SqliteConnection } from '../../src/core/sqlite.ts';
import { makePlace, type Place, sqliteKinds } from './command.ts';

const at = (iso: string): Clock => ({ ...systemClock, now: () => Date.parse(iso) });
const noon = at('2026-03-18T12:00:00.000Z');
const tables = ['suppliers', 'categories', 'products', 'customers', 'orders', 'order_items', 'reviews'];

const count = (database: SqliteConnection, sql: string): number => database.prepare(sql).pluck().get() as number;

describe.each(sqliteKinds)('the demo shop, on the %s driver', (kind) => {
  const { driver } = loadSqliteDriver(kind);
  let place: Place;
  let database: SqliteConnection;
  let left: string[];

  beforeAll(() => {
    place = makePlace();
    writeDemo(join(place.folder, 'demo.sqlite'), { driver, clock: noon });
    left = readdirSync(place.folder);
    database = new driver(join(place.folder, 'demo.sqlite'));
  });
  afterAll(() => {
    database.close();
    place.remove();
  });

  test('is one file that only its owner can read', () => {
    expect(left).toEqual(['demo.sqlite']);
    expect(statSync(join(place.folder, 'demo.sqlite')).mode & 0o777).toBe(0o600);
  });

  test('has about 20,000 rows and valid foreign keys', () => {
    const rows = tables.map((table) => count(database, `SELECT COUNT(*) FROM ${table}`));
    const sum = rows.reduce((a, b) => a + b);
    expect(Math.min(...rows)).toBeGreaterThan(30);
    expect(sum).toBeGreaterThan(18_000);
    expect(sum).toBeLessThan(22_000);
    expect(database.pragma('foreign_key_check')).toEqual([]);
    expect(database.pragma('integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  test('has consistent totals, dates and states', () => {
    const wrong = {
      totals: `SELECT COUNT(*) FROM orders o WHERE coupon IS NOT 'WELCOME10' AND ABS(total - shipping_fee -
        (SELECT SUM(quantity * unit_price) FROM order_items WHERE order_id = o.id)) > 0.001`,
      empty: 'SELECT COUNT(*) FROM orders WHERE id NOT IN (SELECT order_id FROM order_items)',
      stages: `SELECT COUNT(*) FROM orders WHERE (delivered_at IS NULL) = (status IN ('delivered', 'returned'))
        OR (shipped_at IS NULL) = (status IN ('shipped', 'delivered', 'returned'))
        OR shipped_at < placed_at OR delivered_at < shipped_at`,
      early: `SELECT COUNT(*) FROM orders JOIN customers ON customers.id = customer_id WHERE placed_at < customers.created_at`,
      unborn: `SELECT COUNT(*) FROM order_items i JOIN orders o ON o.id = order_id JOIN products p ON p.id = product_id
        WHERE o.placed_at < p.created_at OR o.placed_at >= p.discontinued_at`,
      unbought: `SELECT COUNT(*) FROM reviews r WHERE NOT EXISTS (SELECT 1 FROM orders o JOIN order_items i ON i.order_id = o.id
        WHERE o.customer_id = r.customer_id AND i.product_id = r.product_id AND o.delivered_at < r.created_at)`,
      future: `SELECT COUNT(*) FROM orders WHERE MAX(placed_at, COALESCE(shipped_at, ''), COALESCE(delivered_at, ''))
        > '2026-03-18T12:00:00.000Z'`,
      futureReviews: `SELECT COUNT(*) FROM reviews
        WHERE MAX(created_at, COALESCE(answered_at, '')) > '2026-03-18T12:00:00.000Z'`,
    };
    const found = Object.entries(wrong).map(([what, sql]) => [what, count(database, sql)]);
    expect(found).toEqual(Object.keys(wrong).map((what) => [what, 0]));
  });

  test('has orders today and last week, missing values, and a tree of categories', () => {
    const between = (from: string, to: string) =>
      count(database, `SELECT COUNT(*) FROM orders WHERE placed_at >= '${from}' AND placed_at < '${to}'`);
    expect(between('2026-03-18', '2026-03-19')).toBeGreaterThan(10);
    expect(between('2026-03-09', '2026-03-16')).toBeGreaterThan(30);
    expect(count(database, 'SELECT COUNT(*) FROM categories WHERE parent_id IS NULL')).toBe(8);
    expect(count(database, 'SELECT COUNT(*) FROM customers WHERE phone IS NULL')).toBeGreaterThan(100);
    expect(count(database, 'SELECT COUNT(*) FROM customer_totals WHERE spent > 0')).toBeGreaterThan(500);
  });
});

test('the same seed and time give the same shop, and another seed gives a different one', () => {
  const { driver } = loadSqliteDriver();
  const place = makePlace();
  const dump = (name: string, seed: number, clock = noon) => {
    const path = join(place.folder, name);
    writeDemo(path, { driver, clock }, seed);
    const database = new driver(path, { readonly: true });
    const rows = tables.map((table) => database.prepare(`SELECT * FROM ${table}`).raw().all());
    database.close();
    return JSON.stringify(rows);
  };
  const first = dump('a', 1);
  expect(dump('b', 1) === first).toBe(true);
  expect(dump('c', 2) === first).toBe(false);
  place.remove();
});

test('a shop created a second after midnight already has orders of that day', () => {
  const { driver } = loadSqliteDriver();
  const place = makePlace();
  const path = join(place.folder, 'demo.sqlite');
  writeDemo(path, { driver, clock: at('2026-03-18T00:00:01.000Z') });
  const database = new driver(path, { readonly: true });
  const today = count(database, "SELECT COUNT(*) FROM orders WHERE placed_at >= '2026-03-18'");
  database.close();
  place.remove();
  expect(today).toBeGreaterThan(10);
});

test('an existing demo file is not changed', () => {
  const { driver } = loadSqliteDriver();
  const place = makePlace();
  const path = join(place.folder, 'demo.sqlite');
  writeDemo(path, { driver, clock: noon }, 1);
  const before = statSync(path).mtimeMs;
  writeDemo(path, { driver, clock: noon }, 2);
  expect([readdirSync(place.folder), statSync(path).mtimeMs]).toEqual([['demo.sqlite'], before]);
  place.remove();
});
