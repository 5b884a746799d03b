// The twenty-second migration: indexes of the activity log for combined filters. Without them, two filters without a
// common entry would scan all entries of one of them. Common combinations have an index of both columns. A user has few
// entries, and that index covers all other filters; so does the index of unsuccessful outcomes. Each index adds a cost
// to every call, which limits their number.
import type { Knex } from 'knex';
import type { Database } from '../database/database.ts';
import { dropIndex, ensureIndex } from './indexes.ts';

interface Pair {
  readonly by: readonly string[];
  /** Columns after the sort order, which the filter can check without reading the entry. */
  readonly included?: readonly string[];
  readonly where?: string;
  /** The index that it replaces. */
  readonly instead?: string;
}

const includedColumns = ['collection', 'action', 'type', 'rendering_id', 'client_key'];

const pairs: readonly Pair[] = [
  { by: ['environment_id', 'user_id'], included: [...includedColumns, 'outcome'], instead: 'environment_id_user_id' },
  {
    by: ['environment_id', 'outcome'],
    included: [...includedColumns, 'user_id'],
    where: "outcome <> 'completed'",
    instead: 'environment_id_outcome',
  },
  { by: ['environment_id', 'collection', 'action'] },
  { by: ['environment_id', 'collection', 'type'], where: "type <> 'read'" },
  { by: ['rendering_id', 'collection'] },
  { by: ['rendering_id', 'action'] },
  { by: ['environment_id', 'client_key', 'collection'] },
  { by: ['environment_id', 'client_key', 'action'] },
];

export async function addLogPairs({ dialect }: Database, on: Knex): Promise<void> {
  const usual = dialect === 'postgres' ? ['started_at', 'id'] : ['started_at'];
  for (const { by, included = [], where, instead } of pairs) {
    const name = `activity_logs_${by.filter((column) => column !== 'environment_id').join('_')}_index`;
    // Without further columns, the indexes of the other databases already end with the id.
    const columns = included.length > 0 ? [...by, 'started_at', 'id', ...included] : [...by, ...usual];
    await ensureIndex(on, dialect, 'activity_logs', { name, columns, ...(where !== undefined && { where }) });
    if (instead === undefined) continue;
    await dropIndex(on, dialect, 'activity_logs', `activity_logs_${instead}_${usual.join('_')}_index`);
  }
}
