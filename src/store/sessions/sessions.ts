// Console sessions. Only the hash of an id is stored: readers of the database cannot use it. A session ends after an
// idle timeout, and after a maximum lifetime in any case. `expires_at` is the earlier of the two.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { hashToken, randomToken } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';
import { logChange } from '../permissions/roles.ts';
import type { VersionRows } from '../versions.ts';
import type { Sessions } from './types.ts';

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
  readonly address: string | null;
  readonly created_at: number | string;
  readonly seen_at: number | string;
  readonly expires_at: number | string;
}

/** Uses are stored at most this often, because most page views should remain reads. */
const TOUCH_MS = 60_000;
const SWEEP_MS = 600_000;
const MAX_BROWSER_LENGTH = 200;
const MAX_ADDRESS_LENGTH = 64;

export function createSessions(
  database: Database,
  versions: VersionRows,
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
    async begin({ userId, browser, issuer = null, address, since = clock.now() }) {
      const now = clock.now();
      await sweep(now);
      const id = randomToken();
      const row: StoredSession = {
        id_hash: hashToken(id),
        user_id: userId,
        browser: browser.replace(/[\p{C}]/gu, '').slice(0, MAX_BROWSER_LENGTH),
        issuer,
        address: address?.slice(0, MAX_ADDRESS_LENGTH) ?? null,
        created_at: since,
        seen_at: now,
        expires_at: expiryOf(now, now),
      };
      await database.retry(() => table().insert(row));
      return id;
    },
    async find(id) {
      const now = clock.now();
      const sessionRow = () => table().where({ id_hash: hashToken(id) });
      const row = await alive(now)
        .where({ id_hash: hashToken(id) })
        .first<StoredSession | undefined>();
      if (!row) return undefined;
      const createdAt = Number(row.created_at);
      // Checks both limits again: a shorter setting also applies to existing sessions.
      if (expiryOf(createdAt, Number(row.seen_at)) <= now) return undefined;
      if (now - Number(row.seen_at) >= TOUCH_MS) {
        await database.retry(() => sessionRow().update({ seen_at: now, expires_at: expiryOf(createdAt, now) }));
      }
      const { user_id: userId, browser, issuer } = row;
      return { userId, browser, issuer, createdAt, seenAt: Number(row.seen_at) };
    },
    async list(userId, current) {
      const now = clock.now();
      const rows: StoredSession[] = await alive(now).where({ user_id: userId }).orderBy('seen_at', 'desc');
      const currentHash = current === undefined ? undefined : hashToken(current);
      return rows
        .map((row) => ({
          // A hash of 256 random bits; it does not reveal the id.
          name: row.id_hash,
          browser: row.browser,
          issuer: row.issuer,
          address: row.address,
          createdAt: Number(row.created_at),
          seenAt: Number(row.seen_at),
          current: row.id_hash === currentHash,
        }))
        .filter(({ createdAt, seenAt }) => expiryOf(createdAt, seenAt) > now);
    },
    async end(id) {
      await database.retry(() =>
        table()
          .where({ id_hash: hashToken(id) })
          .delete(),
      );
    },
    endListed: (userId, name, by) =>
      database.write(async (trx) => {
        const deleted = await trx('console_sessions').where({ id_hash: name, user_id: userId }).delete();
        if (deleted > 0) await logSessionChange(trx, userId, 'user.end-session', by);
        return deleted > 0;
      }),
    endAll: (userId, { grants, by }) =>
      versions.change('grants', async (trx) => {
        await endSessionsOf(trx, userId, clock.now());
        if (grants)
          await trx('oauth_store')
            .where({ account_id: `${userId}` })
            .delete();
        await logSessionChange(trx, userId, 'user.sign-out', by, { assistants: grants });
      }),
  };

  /** Ignores sessions that began before all sessions of the user were ended, even if a late write restored one. */
  function alive(now: number) {
    return table()
      .join('users', 'users.id', 'console_sessions.user_id')
      .where('console_sessions.expires_at', '>', now)
      .where((either) =>
        either.whereNull('users.sessions_from').orWhereRaw('users.sessions_from <= console_sessions.created_at'),
      )
      .select('console_sessions.*');
  }

  async function logSessionChange(
    trx: Knex.Transaction,
    userId: number,
    action: string,
    by?: number,
    detail?: unknown,
  ) {
    const { email } = await trx('users').where({ id: userId }).first<{ email: string }>('email');
    await logChange(trx, { at: clock.now(), by, action, subject: email, detail });
  }
}

/**
 * Runs within the transaction that ends the sessions of a user. Deletes the sessions of the console and of front ends,
 * and the browser sessions that connected assistants. A request in progress may restore a browser session. The time is
 * therefore stored too, and sessions that began before it are invalid (oauth/server/provider.ts).
 */
export async function endSessionsOf(trx: Knex.Transaction, userId: number, now: number): Promise<void> {
  await trx('console_sessions').where({ user_id: userId }).delete();
  await trx('agent_sessions').where({ user_id: userId }).delete();
  await trx('oauth_store')
    .where({ model: 'Session', account_id: `${userId}` })
    .delete();
  await trx('users').where({ id: userId }).update({ sessions_from: now });
}
