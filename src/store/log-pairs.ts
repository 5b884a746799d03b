// The twenty-second migration: indexes of the activity log for filters that are asked together. Two that have no entry in common
// would otherwise be answered by looking at every entry of one of them. What people ask together has an index of both, and the
// one of a user, who has few entries, holds whatever else can be asked of them, and so does the one of what did not end well.
// Each costs every call a little, which is why there are no more.
import type { Knex } from 'knex';
import type { Database } from './database.ts';
import { dropIndex, ensureIndex } from './indexes.ts';

interface Pair {
  readonly by: readonly string[];
  /** After the order: what is looked at without the entry itself. */
  readonly beside?: readonly string[];
  readonly where?: string;
  /** The index in whose place it comes. */
  readonly instead?: string;
}

const beside = ['collection', 'action', 'type', 'rendering_id', 'client_key'];

const pairs: readonly Pair[] = [
  { by: ['environment_id', 'user_id'], beside: [...beside, 'outcome'], instead: 'environment_id_user_id' },
  {
    by: ['environment_id', 'outcome'],
    beside: [...beside, 'user_id'],
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
  for (const { by, beside = [], where, instead } of pairs) {
    const name = `activity_logs_${by.filter((column) => column !== 'environment_id').join('_')}_index`;
    // Where nothing follows, an index of the others ends with the id anyway.
    const columns = beside.length > 0 ? [...by, 'started_at', 'id', ...beside] : [...by, ...usual];
    await ensureIndex(on, dialect, 'activity_logs', { name, columns, ...(where !== undefined && { where }) });
    if (instead === undefined) continue;
    await dropIndex(on, dialect, 'activity_logs', `activity_logs_${instead}_${usual.join('_')}_index`);
  }
}
