// Statements that run without knex on database servers.
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database/database.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const onServers = variants.filter(({ server }) => server.dialect !== 'sqlite');
const one = { sql: 'select name, number from versions where name = ?', values: ['grants'] };

test.each(onServers)('$name: rows by position, a generated id, and a rolled back transaction', async (variant) => {
  const place = await createPlace(variant);
  const { direct, knex } = place.tables();
  const insert = { sql: 'insert into settings values (?, ?)', values: ['direct', 'x'] };

  const read = await direct!.execute(one);
  const failing = direct!.transaction(async (execute) => {
    await execute(insert);
    await execute({ ...insert, values: ['direct', null] });
  });

  await expect(failing).rejects.toThrow();
  expect([read.rows, await knex('settings').where({ key: 'direct' })]).toEqual([[['grants', 1]], []]);
  await direct!.transaction((execute) => execute(insert));
  expect(await knex('settings').where({ key: 'direct' })).toHaveLength(1);
});

test.each(onServers)('$name: a lost connection is replaced, and the outage is reported once', async (variant) => {
  const place = await createPlace(variant);
  const store = await place.open();
  await store.versions();
  const { knex } = place.tables();
  const others = {
    mariadb: async () => {
      const [rows] = await knex.raw(
        'select id from information_schema.processlist where db = database() and id <> connection_id()',
      );
      for (const { id } of rows) await knex.raw(`kill ${id}`);
    },
    postgres: () =>
      knex.raw(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      ),
    sqlite: async () => undefined,
  };
  await others[variant.server.dialect]();

  const looks: unknown[] = [];
  for (let n = 0; n < 3; n++) looks.push(await Promise.resolve(store.versions()).catch(() => 'lost'));

  expect(looks.at(-1)).toMatchObject({ grants: 1 });
});

test.each(onServers.filter(({ name }) => name === 'postgres'))(
  'postgres: a pooler that changes sessions is detected, and no statement stays prepared',
  async (variant) => {
    const { url, dataDir } = await createPlace(variant);
    const database = openDatabase({ url: `${url}?connection_limit=1`, dataDir, sqlite: 'auto' });
    const prepared = async () => (await database.knex.raw('select name from pg_prepared_statements')).rows.length;
    const run = async () => (await database.direct!.execute(one)).rows;

    const before = [await run(), await prepared()];
    await database.knex.raw('deallocate all');
    const after = [await run(), await run(), await prepared()];
    await database.close();

    const rows = [['grants', 1]];
    expect([before, after]).toEqual([
      [rows, 1],
      [rows, rows, 0],
    ]);
  },
);

// A file must contain a test.
if (onServers.length === 0) test.skip('skipped: needs a database server', () => {});
