// Chooses the index for a page of the activity log on MySQL and MariaDB. Their planners estimate how soon an index
// fills a page, assuming that filters are independent. They may choose an index that scans millions of entries without
// a match. This choice takes the index that covers most of the filter. PostgreSQL and SQLite choose well without help.
import type { ActivityFilter } from './activity-types.ts';

type Asked = Readonly<
  Record<'user' | 'team' | 'collection' | 'action' | 'client' | 'type' | 'outcome' | 'bad', boolean>
>;

/**
 * The first entry with all its `needs` in the filter applies. `team` is a single rendering; `bad` is any outcome except
 * `completed`.
 */
const indexes: readonly (readonly [needs: readonly (keyof Asked)[], index: string])[] = [
  [['user'], 'user_id'],
  [['bad'], 'outcome'],
  [['collection', 'action'], 'collection_action'],
  [['team', 'collection'], 'rendering_id_collection'],
  [['team', 'action'], 'rendering_id_action'],
  [['client', 'collection'], 'client_key_collection'],
  [['client', 'action'], 'client_key_action'],
  [['collection', 'type'], 'collection_type'],
  [['collection'], 'environment_id_collection_started_at'],
  [['action'], 'environment_id_action_started_at'],
  [['team'], 'rendering_id_started_at'],
  [['client'], 'environment_id_client_key_started_at'],
  [['type'], 'environment_id_type_started_at'],
  [['outcome'], 'outcome'],
  [[], 'environment_id_started_at'],
];

/** The name of the index and its first column. */
export function indexFor(
  wanted: ActivityFilter,
  renderings: readonly number[],
): { readonly name: string; readonly lead: 'environment_id' | 'rendering_id' } {
  const asked: Asked = {
    user: wanted.userId !== undefined,
    team: renderings.length === 1,
    collection: wanted.collection !== undefined,
    action: wanted.action !== undefined,
    client: wanted.clientName !== undefined,
    type: wanted.type !== undefined,
    outcome: wanted.outcome !== undefined,
    bad: wanted.outcome !== undefined && wanted.outcome !== 'completed',
  };
  const [, index] = indexes.find(([needs]) => needs.every((need) => asked[need]))!;
  const lead = index.startsWith('rendering_id') ? 'rendering_id' : 'environment_id';
  return { name: `activity_logs_${index}_index`, lead };
}
