// Groups of statements that concurrent callers write: each is written whole or not at all, and on servers they share
// commits.
import { expect, test } from 'vitest';
import { createActivityRows } from '../../src/store/audit/activity-rows.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import type { Database } from '../../src/store/database/database.ts';
import { createPreparedStatements } from '../../src/store/database/prepared-statements.ts';
import type { Statement } from '../../src/store/database/statement-groups.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const insert = (key: string, value: string | null = 'x'): Statement => ({
  sql: 'insert into settings select ?, ? where 1 = 1',
  values: [key, value],
});
const entry: ActivityEntry = {
  ...{ userId: 1, renderingId: 1, clientId: 'client', clientName: 'A client', action: 'update', type: 'write' },
  ...{ outcome: 'unknown', startedAt: 1_800_000_000_000, durationMs: 0 },
};
const nothing: Statement = { sql: 'update settings set value = ? where value = ?', values: ['y', 'absent'] };

/** Counts the transactions on a server, and collects the texts of their statements. */
function counting(database: Database): { readonly database: Database; count(): number; readonly texts: string[] } {
  const { direct } = database;
  let transactions = 0;
  const texts: string[] = [];
  if (!direct) return { database, count: () => 0, texts };
  const counted: NonNullable<Database['direct']> = {
    execute: direct.execute,
    transaction(run) {
      transactions++;
      return direct.transaction((execute) =>
        run((statement) => {
          texts.push(statement.sql);
          return execute(statement);
        }),
      );
    },
  };
  return { database: { ...database, direct: counted }, count: () => transactions, texts };
}

test.each(variants)('$name: of concurrent groups only the one that fails is not written', async (variant) => {
  const place = await createPlace(variant);
  const database = place.tables();
  const { run, runAll } = createPreparedStatements(database);
  const pairs = Array.from({ length: 20 }, (_, at) => run(insert(`a${at}`), insert(`b${at}`)));

  // The second statement of the failing group violates a constraint.
  const answers = await Promise.allSettled([
    ...pairs.slice(0, 10),
    run(insert('lost'), insert('lost 2', null)),
    run(nothing, insert('not reached')),
    runAll([insert('c'), nothing]),
    ...pairs.slice(10),
  ]);

  const [failed, unchanged, all] = answers.slice(10, 13);
  expect(failed).toMatchObject({ status: 'rejected' });
  expect(unchanged).toEqual({ status: 'fulfilled', value: false });
  expect(all).toEqual({ status: 'fulfilled', value: [1, 0] });
  expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  const keys: string[] = await database.knex('settings').whereIn('value', ['x']).pluck('key');
  const expected = Array.from({ length: 20 }, (_, at) => [`a${at}`, `b${at}`]).flat();
  expect(keys.sort()).toEqual([...expected, 'c'].sort());
});

test.each(variants)('$name: concurrent groups that succeed share commits', async (variant) => {
  const place = await createPlace(variant);
  const { database, count } = counting(place.tables());
  const { run } = createPreparedStatements(database);

  await Promise.all(Array.from({ length: 20 }, (_, at) => run(insert(`a${at}`), insert(`b${at}`))));

  expect(await database.knex('settings').where({ value: 'x' })).toHaveLength(40);
  expect(count()).toBeLessThanOrEqual(2);
});

test.each(variants)('$name: entries of the log share the commits of other writes', async (variant) => {
  const place = await createPlace(variant);
  const { database, count, texts } = counting(place.tables());
  const { run } = createPreparedStatements(database);
  const { insert: mark, complete, insertAll } = createActivityRows(database, async () => ({ environmentId: 1 }));
  const { id: first } = await mark({ ...entry, recordIds: ['0'] });
  const before = count();
  texts.length = 0;

  const marks = await Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      const [{ id }] = await Promise.all([
        mark({ ...entry, recordIds: [`${at}`], workflow: { name: 'flow', runId: `run ${at}` } }),
        run(insert(`a${at}`), insert(`b${at}`)),
        complete(first, { outcome: 'completed', durationMs: at }),
        insertAll([{ ...entry, type: 'read', outcome: 'completed', ...(at % 2 && { recordIds: ['0'] }) }]),
      ]);
      return id;
    }),
  );

  const { knex } = database;
  const states = await knex('activity_logs').orderBy('id').select('type', 'outcome');
  expect([new Set(marks).size, (await knex('settings').where({ value: 'x' })).length]).toEqual([10, 20]);
  expect(states.filter(({ type }) => type === 'read')).toHaveLength(10);
  expect(states.filter(({ outcome }) => outcome === 'unknown')).toHaveLength(10);
  expect((await knex('activity_workflows').orderBy('log_id')).map(({ log_id }) => Number(log_id))).toEqual(
    marks.toSorted((a, b) => a - b),
  );
  expect(count() - before).toBeLessThanOrEqual(2);
  // Batches without records have a statement of their own.
  const inserts = texts.filter((text) => /(insert|with marked as).* activity_logs/s.test(text));
  expect(inserts.length).toBeLessThanOrEqual(2);
  expect(inserts.length > 0).toBe(database.direct !== undefined);
});

const add = (key: string): Statement => ({
  sql: 'INSERT INTO attempt_windows (key_hash, count, ends_at) VALUES (?, 1, ?)',
  values: [key, 5],
  merge: 'rows',
});
const raise = (key: string, by: number): Statement => ({
  sql: 'UPDATE attempt_windows SET count = count + ?, ends_at = ? WHERE key_hash = ? AND ends_at = ?',
  values: [by, 7, key, 5],
  merge: { by: 'key_hash' },
});

test.each(variants)('$name: similar statements run as one, unless one of them has no row', async (variant) => {
  const place = await createPlace(variant);
  const { database, texts } = counting(place.tables());
  const { run, runAll } = createPreparedStatements(database);
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const rows = async () => {
    const found = await database.knex('attempt_windows').orderBy('key_hash');
    return found.map(({ key_hash, count, ends_at }) => [key_hash, Number(count), Number(ends_at)].join(' '));
  };

  expect(await Promise.all(keys.map((key) => run(add(key))))).toEqual(keys.map(() => true));
  const pairs = keys.map((key, at) => run(raise(key, at), add(`${key}+`)));
  expect(await Promise.all(pairs)).toEqual(keys.map(() => true));
  if (variant.name === 'mariadb') expect(texts).toHaveLength(3);
  expect(await rows()).toEqual(keys.flatMap((key, at) => [`${key} ${1 + at} 7`, `${key}+ 1 5`]).sort());

  const some = [raise('a+', 1), raise('a', 1), raise('b+', 1)];
  expect(await Promise.all(some.map((one) => run(one)))).toEqual([true, false, true]);
  expect(await runAll([raise('c+', 2), raise('a', 1), raise('d+', 2)])).toEqual([1, 0, 1]);
  expect(await runAll([raise('e+', 3), raise('f+', 3)])).toEqual([1, 1]);
  const added = await Promise.allSettled([run(add('g')), run(add('a')), run(add('h'))]);
  expect(added.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect((await rows()).filter((row) => /^[gh]|\+/.test(row))).toEqual([
    'a+ 2 7',
    'b+ 2 7',
    'c+ 3 7',
    'd+ 3 7',
    'e+ 4 7',
    'f+ 4 7',
    'g 1 5',
    'h 1 5',
  ]);
});

test.each(variants)('$name: statements that together exceed a packet run one by one', async (variant) => {
  const place = await createPlace(variant);
  const { database, texts } = counting(place.tables());
  const { run } = createPreparedStatements(database);
  const long = (key: string): Statement => ({
    sql: 'INSERT INTO settings (`key`, value) VALUES (?, ?)'.replaceAll('`', variant.name === 'mariadb' ? '`' : '"'),
    values: [key, 'é'.repeat(30_000)],
    merge: 'rows',
  });

  const keys = Array.from({ length: 10 }, (_, at) => `long ${at}`);
  expect(await Promise.all(keys.map((key) => run(long(key))))).toEqual(keys.map(() => true));
  expect(await database.knex('settings').whereIn('key', keys)).toHaveLength(10);
  if (variant.name === 'mariadb') expect(texts).toHaveLength(10);
});
