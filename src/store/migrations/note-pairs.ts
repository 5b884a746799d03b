// The twenty-first migration: indexes for combined filters. With single-column indexes, two filters without a common
// note would scan all notes of one of them. A generated column holds whether a note is archived: before `created_at`,
// an index can use an equality but no range.
import type { Knex } from 'knex';
import type { Database, StoreDialect } from '../database/database.ts';
import { addColumns, dropIndex, ensureIndex } from './indexes.ts';

const isArchived: Readonly<Record<StoreDialect, string>> = {
  sqlite: 'integer generated always as (archived_at is not null) virtual',
  mysql: 'tinyint generated always as (archived_at is not null) stored',
  postgres: 'smallint generated always as (case when archived_at is null then 0 else 1 end) stored',
};

/** Pairs without the record: a record has few notes, which its own index finds. */
const pairs: readonly (readonly string[])[] = [
  ['user_id', 'team_id'],
  ['user_id', 'collection'],
  ['team_id', 'collection'],
  ['is_archived'],
  ['user_id', 'is_archived'],
  ['team_id', 'is_archived'],
  ['collection', 'is_archived'],
];

/** Includes the columns of all other filters: the search reads only the index. */
const ranges = ['updated_at', 'archived_at'];
const includedColumns = ['created_at', 'is_archived', 'user_id', 'team_id', 'collection'];

export async function addNotePairs({ dialect }: Database, on: Knex): Promise<void> {
  await addColumns(on, dialect, 'notes', {
    is_archived: (table) => table.specificType('is_archived', isArchived[dialect]),
  });
  for (const pair of pairs) {
    const columns = ['environment_id', ...pair, 'created_at', ...(pair.includes('is_archived') ? ['archived_at'] : [])];
    await ensureIndex(on, dialect, 'notes', { name: `notes_${pair.join('_')}_index`, columns });
  }
  for (const range of ranges) {
    const columns = ['environment_id', range, ...includedColumns, ...ranges.filter((other) => other !== range)];
    await ensureIndex(on, dialect, 'notes', { name: `notes_${range}_index`, columns });
    await dropIndex(on, dialect, 'notes', `notes_environment_id_${range}_created_at_index`);
  }
}
