// Sessions of people in the console. Of an id only its hash is kept, so that who reads the storage can be nobody. A session
// ends by itself when it was not used for a while, and after a longer while in any case; `expires_at` is whichever is first.
import type { Knex } from 'knex';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { hashToken, randomToken } from '../core/secret.ts';
import type { Database } from './database.ts';
import type { Tables } from './schema-tables.ts';
import type { Sessions } from './store.ts';

export const sessionTables: Tables = {
  console_sessions(table) {
    table.string('id_hash', 43).primary();
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.string('browser', 200).notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('seen_at').notNullable();
    table.bigInteger('expires_at').notNullable();
    table.index(['user_id']);
    table.index(['expires_at']);
  },
};

interface StoredSession {
  readonly id_hash: string;
  readonly user_id: number;
  readonly browser: string;
  readonly issuer: string | null;
  readonly created_at: number | string;
  readonly seen_at: number | string;
  readonly expires_at: number | string;
}

/** Use is written down this often at most: a page is a read, and most of them stay one. */
const SEEN_MS = 60_000;
const SWEEP_MS = 600_000;
const BROWSER_MOST = 200;

export function createSessions(
  database: Database,
  clock: Clock,
  config: Pick<Config, 'consoleIdleSeconds' | 'consoleSessionSeconds'>,
): Sessions {
  const { knex } = database;
  const table = () => knex('console_sessions');
  const idleMs = config.consoleIdleSeconds * 1000;
  const lifeMs = config.consoleSessionSeconds * 1000;
  let sweepAt = 0;

  const expiryOf = (createdAt: number, seenAt: number): number => Math.min(createdAt + lifeMs, seenAt + idleMs);

  /** At most every ten minutes. Expired rows count as absent before they are swept. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    await database.retry(() => table().where('expires_at', '<=', now).delete());
  }

  return {
    async begin({ userId, browser, issuer = null }) {
      const now = clock.now();
      await sweep(now);
      const id = randomToken();
      const row: StoredSession = {
        id_hash: hashToken(id),
        user_id: userId,
        browser: browser.replace(/[\p{C}]/gu, '').slice(0, BROWSER_MOST),
        issuer,
        created_at: now,
        seen_at: now,
        expires_at: expiryOf(now, now),
      };
      await database.retry(() => table().insert(row));
      return id;
    },
    async find(id) {
      const now = clock.now();
      const mine = () => table().where({ id_hash: hashToken(id) });
      const row = await mine().where('expires_at', '>', now).first<StoredSession | undefined>();
      if (!row) return undefined;
      const createdAt = Number(row.created_at);
      // Both limits are asked here too: a setting that was made shorter holds for sessions of before.
      if (expiryOf(createdAt, Number(row.seen_at)) <= now) return undefined;
      if (now - Number(row.seen_at) >= SEEN_MS) {
        await database.retry(() => mine().update({ seen_at: now, expires_at: expiryOf(createdAt, now) }));
      }
      const { user_id: userId, browser, issuer } = row;
      return { userId, browser, issuer, createdAt, seenAt: Number(row.seen_at) };
    },
    async end(id) {
      await database.retry(() =>
        table()
          .where({ id_hash: hashToken(id) })
          .delete(),
      );
    },
  };
}

/** Of the console and of front ends, within the transaction of whatever takes the sessions of a user away. */
export async function endSessionsOf(trx: Knex.Transaction, userId: number): Promise<void> {
  await trx('console_sessions').where({ user_id: userId }).delete();
  await trx('agent_sessions').where({ user_id: userId }).delete();
}
