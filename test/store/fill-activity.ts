// Fills the activity log with millions of entries in one statement on the server. The indexes
// are dropped before and recreated from the server's own definitions afterwards. Otherwise
// each insert would update every index, and most index pages would be on disk by then.
import { clientKeyOf, RECORDS, TABLE } from '../../src/store/audit/activity-row.ts';
import type { Database } from '../../src/store/database/database.ts';

/** Time of the first entry; each next one is 10 ms later. */
export const FROM = 1_700_000_000_000;
export const timeOf = (n: number): number => FROM + n * 10;

/** One entry in 20,000 is rare in every column, and has a record. */
const rare = 'n % 20000 = 7';

/** The columns of entry n. Remainders make the combinations predictable: user 3 never updates, and never reads c7. */
const valuesWith = (renderings: readonly number[]): Readonly<Record<string, string>> => ({
  environment_id: '1',
  user_id: `case when ${rare} then 9999 else n % 500 end`,
  rendering_id: `case when ${rare} then ${renderings.at(-1)} ${renderings
    .slice(0, -1)
    .map((id, at, { length }) => `when n % ${length} = ${at} then ${id}`)
    .join(' ')} end`,
  client_id: `'c'`,
  client_name: `case when ${rare} then 'Rare app' when n % 8 = 5 then 'Codex' else 'Claude' end`,
  client_key: `case when ${rare} then ${clientKeyOf('Rare app')} when n % 8 = 5 then ${clientKeyOf('Codex')}
    else ${clientKeyOf('Claude')} end`,
  action: `case when ${rare} then 'export' when n % 10 = 0 then 'update' when n % 10 < 4 then 'describe' else 'list' end`,
  type: `case when n % 10 = 0 then 'write' else 'read' end`,
  collection: `case when ${rare} then 'rare' else concat('c', n % 40) end`,
  record_ids: `case when ${rare} then '["42"]' when n % 10 = 0 then concat('["', n, '"]') end`,
  outcome: `case when ${rare} then 'denied' when n % 100 = 50 then 'failed' else 'completed' end`,
  code: 'null',
  started_at: `${FROM} + n * 10`,
  duration_ms: '1.5',
});

/** `renderings`: rare entries use the last one, and the others alternate between the rest. */
export async function fillActivity(database: Database, rows: number, renderings: readonly number[]): Promise<void> {
  const values = valuesWith(renderings);
  const { knex, dialect } = database;
  const isMysql = dialect === 'mysql';
  const numbers = isMysql
    ? `(select seq as n from seq_0_to_${rows - 1}) as s`
    : `generate_series(0::bigint, ${rows - 1}) as n`;
  const ofRecords = isMysql ? `json_unquote(json_extract(record_ids, '$[0]'))` : `cast(record_ids as json) ->> 0`;
  await withoutIndexes(database, TABLE, async () => {
    await knex.raw(
      `insert into ${TABLE} (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')} from ${numbers}`,
    );
  });
  await knex.raw(`insert into ${RECORDS} (environment_id, record_key, started_at, log_id)
    select environment_id, ${ofRecords}, started_at, id from ${TABLE} where record_ids is not null order by 2`);
  for (const table of [TABLE, RECORDS]) await knex.raw(isMysql ? `analyze table ${table}` : `analyze ${table}`);
}

/** Drops all indexes except the primary key, and recreates them from the server's definitions. */
async function withoutIndexes({ knex, dialect }: Database, table: string, fill: () => Promise<void>): Promise<void> {
  if (dialect === 'mysql') {
    const [[row]] = await knex.raw(`show create table ${table}`);
    const keys = [...(row['Create Table'] as string).matchAll(/^ {2}(KEY `(\w+)` .*?),?$/gm)];
    if (keys.length > 0)
      await knex.raw(`alter table ${table} ${keys.map(([, , name]) => `drop key ${name}`).join(', ')}`);
    await fill();
    if (keys.length > 0) await knex.raw(`alter table ${table} ${keys.map(([, key]) => `add ${key}`).join(', ')}`);
    return;
  }
  const { rows } = await knex.raw(
    `select indexname as name, indexdef as text from pg_indexes
    where schemaname = current_schema() and tablename = ? and indexname <> ?`,
    [table, `${table}_pkey`],
  );
  for (const { name } of rows) await knex.raw(`drop index ${name}`);
  await fill();
  for (const { text } of rows) await knex.raw(text);
}
