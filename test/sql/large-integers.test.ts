// Integers above 2^53 on SQLite. The driver reads them as numbers until a statement meets one, and then as bigints.
// Calls of the same statement may be under way at that moment.
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { type Caller, fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { servers } from '../databases.ts';
import { runSql } from './schemas.ts';

test.each<[string, PlainFilter]>([
  ['in the process', { field: 'label', operator: 'Equal', value: 'a' }],
  ['in a child process, with concurrent calls', { field: 'label', operator: 'Contains', value: 'a' }],
])('concurrent calls of a statement that returns its first large integer are all exact: %s', async (_, filter) => {
  const database = await servers.find(({ dialect }) => dialect === 'sqlite')!.create();
  onTestFinished(() => database.drop());
  await runSql(database, [
    'CREATE TABLE orders (id INTEGER PRIMARY KEY, label TEXT)',
    "INSERT INTO orders VALUES (9007199254740993, 'a'), (9223372036854775807, 'a')",
  ]);
  const source = createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 10_000 };
  const engine = await createEngine({ sources: [source], observe: () => undefined, clock: systemClock, limits });
  onTestFinished(() => engine.close());
  const access = fullAccess({ id: 1, timezone: 'UTC', tags: {} } as Caller);
  const list = () => engine.list(access, { collection: 'orders', fields: ['id'], filter, limit: 10 });
  const answers = await Promise.all(Array.from({ length: 12 }, list));
  const ids = answers.map(({ rows }) => rows.map(([id]) => id));
  expect(ids).toEqual(ids.map(() => ['9007199254740993', '9223372036854775807']));
});
