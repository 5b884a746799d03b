// Fills a storage with notes by batch inserts straight into the tables. Times grow with the ids, as in the store. Fixed
// rules assign users, teams and collections, so each filter finds the same notes in every run.
import type { Knex } from 'knex';

export interface FillWish {
  readonly notes: number;
  readonly environmentId: number;
  readonly userIds: readonly number[];
  readonly teams: readonly { readonly id: number; readonly name: string }[];
  /** The time of the first note; each note is a minute after the one before. */
  readonly from: number;
  readonly everyMs?: number;
  /** Rows of a statement; default 2,000. */
  readonly batch?: number;
}

const minute = 60_000;

/** Collections of very different sizes: half of the notes are about the first, few about the last. */
export const collectionOf = (at: number): string => {
  if (at % 2 === 0) return 'orders';
  if (at % 10 === 1) return 'customers';
  return at % 5000 === 3 ? 'stores' : 'products';
};

export async function fillNotes(knex: Knex, wish: FillWish): Promise<void> {
  const { notes, environmentId, userIds, teams, from, everyMs = minute, batch = 2000 } = wish;
  const first = Number((await knex('notes').max({ id: 'id' }))[0]?.id ?? 0) + 1;
  for (let done = 0; done < notes; done += batch) {
    const rows = Array.from({ length: Math.min(batch, notes - done) }, (_, index) => {
      const at = done + index;
      const createdAt = from + at * everyMs;
      const team = teams[at % teams.length]!;
      // One in seven is updated days later, one in four archived weeks later.
      const updatedAt = createdAt + (at % 7 === 0 ? (at % 9) * 1440 * minute : 0);
      const archivedAt = at % 4 === 3 ? updatedAt + (at % 21) * 1440 * minute : null;
      return {
        id: first + at,
        environment_id: environmentId,
        team_id: team.id,
        team_name: team.name,
        user_id: userIds[at % userIds.length]!,
        collection: at % 1000 === 999 ? null : collectionOf(at),
        record_id: `${(at * 7919) % 20_000}`,
        title: `Note ${at}`,
        message_count: 2,
        characters: 22,
        created_at: createdAt,
        updated_at: archivedAt ?? updatedAt,
        archived_at: archivedAt,
      };
    });
    await knex.transaction(async (trx) => {
      await trx('notes').insert(rows);
      const messages = rows.flatMap(({ id, user_id, created_at }) =>
        [1, 2].map(() => ({ note_id: id, user_id, content: '<p>A text.</p>', created_at, edited_at: null })),
      );
      await trx('note_messages').insert(messages);
    });
  }
  if (knex.client.config.client === 'pg') {
    await knex.raw("SELECT setval(pg_get_serial_sequence('notes', 'id'), (SELECT max(id) FROM notes))");
  }
}
