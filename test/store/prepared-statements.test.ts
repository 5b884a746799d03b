// Groups of statements that concurrent callers write: each is written whole or not at all, and on servers they share
// commits.
import { expect, test } from 'vitest';
import type { Database } from '../../src/store/database/database.ts';
import { createPreparedStatements, type Statement } from '../../src/store/database/prepared-statements.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const insert = (key: string, value: string | null = 'x'): Statement => ({
  sql: 'insert into settings select ?, ? where 1 = 1',
  values: [key, value],
});
const nothing: Statement = { sql: 'update settings set value = ? where value = ?', values: ['y', 'absent'] };

/** Counts the transactions on a server. */
function counting(database: Database): { readonly database: Database; count(): number } {
  const { direct } = database;
  let transactions = 0;
  if (!direct) return { database, count: () => 0 };
  const counted: NonNullable<Database['direct']> = {
    execute: direct.execute,
    transaction(run) {
      transactions++;
      return direct.transaction(run);
    },
  };
  return { database: { ...database, direct: counted }, count: () => transactions };
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
