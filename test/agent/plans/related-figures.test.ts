// A list that is sorted by a figure of related records: SQLite searches the figures instead of scanning them for each record.
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../../src/agent/engine.ts';
import { createSqlSource } from '../../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { loadSqliteDriver } from '../../../src/core/sqlite.ts';
import { servers } from '../../databases.ts';
import { runSql } from '../../sql/schemas.ts';
import { accessOf } from '../shop.ts';

const sqlite = servers.find(({ dialect }) => dialect === 'sqlite')!;

test('the figures of related records are searched', async () => {
  const database = await sqlite.create();
  await runSql(database, [
    'create table customers (id integer primary key, name text)',
    'create table orders (id integer primary key, customer_id integer references customers(id), total decimal(10, 2))',
    'create index by_customer on orders (customer_id)',
  ]);
  const source = createSqlSource(database.url, { observe: () => {}, clock: systemClock });
  const texts: string[] = [];
  const watched = {
    ...source,
    aggregate: (...given: Parameters<NonNullable<typeof source.aggregate>>) => {
      texts.push(source.explain(given[0]));
      return source.aggregate!(...given);
    },
  };
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  const engine = await createEngine({ sources: [watched], observe: () => {}, clock: systemClock, limits });
  const direct = new (loadSqliteDriver().driver)(database.url.slice('sqlite:'.length));
  onTestFinished(async () => {
    direct.close();
    await engine.close();
    await database.drop();
  });
  await engine.list(accessOf(), {
    collection: 'customers',
    fields: ['id', { name: 'n', count: 'orders' }, { name: 'spent', avg: 'orders:total' }],
    sort: [{ field: 'n', ascending: false }],
    limit: 5,
  });
  expect(texts).toHaveLength(1);
  const plan = direct.prepare(`explain query plan ${texts[0]}`).all() as { readonly detail: string }[];
  const ofFigures = plan.map(({ detail }) => detail).filter((detail) => /\bm\d+\b.*LEFT-JOIN/.test(detail));
  expect(ofFigures).toHaveLength(1);
  for (const detail of ofFigures) expect(detail).toMatch(/^SEARCH/);
});
