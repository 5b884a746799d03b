// Which index a page of the activity log is read along on MySQL and MariaDB. Their planners weigh an index by how soon it would have
// filled a page if all filters were independent of one another, and take one that ends in millions of entries without a match.
// What is asked tells the right one: the most that an index holds of it. PostgreSQL and SQLite find it by themselves.
import type { ActivityFilter } from './log-types.ts';

type Asked = Readonly<
  Record<'user' | 'team' | 'collection' | 'action' | 'client' | 'type' | 'outcome' | 'bad', boolean>
>;

/** The first of which all is asked; `team` is one rendering, `bad` another outcome than `completed`. */
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

/** Its name, and the column that it begins with. */
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
