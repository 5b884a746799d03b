// Chooses the index for a page of the activity log on MySQL and MariaDB. Their planners estimate how soon an index
// fills a page, assuming that filters are independent. They may choose an index that scans millions of entries without
// a match. This choice takes the index that covers most of the filter. PostgreSQL and SQLite choose well without help.
import type { ActivityFilter } from './activity-types.ts';

type FilterFields = Readonly<
  Record<'user' | 'team' | 'collection' | 'action' | 'client' | 'type' | 'outcome' | 'bad', boolean>
>;

/**
 * The first entry with all its `needs` in the filter applies. `team` is a single rendering; `bad` is any outcome except
 * `completed`.
 */
const indexes: readonly (readonly [needs: readonly (keyof FilterFields)[], index: string])[] = [
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
  filters: ActivityFilter,
  renderings: readonly number[],
): { readonly name: string; readonly lead: 'environment_id' | 'rendering_id' } {
  const present: FilterFields = {
    user: filters.userId !== undefined,
    team: renderings.length === 1,
    collection: filters.collection !== undefined,
    action: filters.action !== undefined,
    client: filters.clientName !== undefined,
    type: filters.type !== undefined,
    outcome: filters.outcome !== undefined,
    bad: filters.outcome !== undefined && filters.outcome !== 'completed',
  };
  const [, index] = indexes.find(([required]) => required.every((field) => present[field]))!;
  const lead = index.startsWith('rendering_id') ? 'rendering_id' : 'environment_id';
  return { name: `activity_logs_${index}_index`, lead };
}
