// One-time links. Only the hash of a token is stored. A link is open until it expires, is used, or is replaced by a
// newer link of the same user. Used links are stored for a while: a second use gets a clear error and is noticed.
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { hashPassword, hashToken, randomToken } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { logChange } from '../permissions/roles.ts';
import type { FoundLink, LinkPurpose, Links, UsedLink } from '../sessions/types.ts';
import type { VersionRows } from '../versions.ts';
import { findUserBy } from './identity.ts';
import { checkPassword, writePassword } from './passwords.ts';

interface LinkRow {
  readonly user_id: number;
  readonly purpose: LinkPurpose;
  readonly expires_at: number | string;
  readonly used_at: number | string | null;
}

/** How long an expired link is distinguished from an unknown one. */
const EXPIRED_LINK_MS = 30 * 86_400_000;

export function createLinks(
  database: Database,
  versions: VersionRows,
  clock: Clock,
  config: Pick<Config, 'invitationSeconds' | 'resetSeconds'>,
): Links {
  const { knex } = database;
  const lifeMs: Record<LinkPurpose, number> = {
    invite: config.invitationSeconds * 1000,
    reset: config.resetSeconds * 1000,
  };

  async function find(token: string): Promise<FoundLink> {
    const row = await knex('one_time_links')
      .where({ token_hash: hashToken(token) })
      .first<LinkRow | undefined>();
    const user = row && (await findUserBy(knex, { 'users.id': row.user_id }));
    if (!row || !user || user.disabled) return { state: 'unknown' };
    const { user_id: userId, purpose } = row;
    if (row.used_at !== null) return { state: 'used', userId };
    const expiresAt = Number(row.expires_at);
    return expiresAt > clock.now() ? { state: 'open', purpose, user, expiresAt } : { state: 'expired', userId };
  }

  return {
    async make(userId, purpose, by) {
      const now = clock.now();
      const token = randomToken();
      const expiresAt = now + lifeMs[purpose];
      await database.write(async (trx) => {
        const user = await findUserBy(trx, { 'users.id': userId });
        if (!user) fail('INVALID_ARGUMENT', { argument: 'userId', problem: `there is no user ${userId}.` });
        if (user.disabled) {
          fail('INVALID_ARGUMENT', { argument: 'email', problem: `${user.email} is disabled. Enable the user first.` });
        }
        const old = trx('one_time_links').where('expires_at', '<=', now - EXPIRED_LINK_MS);
        await old.orWhere((ofUser) => ofUser.where({ user_id: userId }).whereNull('used_at')).delete();
        await trx('one_time_links').insert({
          token_hash: hashToken(token),
          user_id: userId,
          purpose,
          created_at: now,
          expires_at: expiresAt,
          used_at: null,
        });
        await logChange(trx, {
          at: now,
          by,
          action: `user.${purpose}`,
          subject: user.email,
          detail: { expiresAt },
        });
      });
      return { token, expiresAt };
    },
    find,
    async use(token, password): Promise<UsedLink> {
      const found = await find(token);
      if (found.state !== 'open') return found;
      checkPassword(password, found.user.email);
      const password_hash = await hashPassword(password);
      const { id } = found.user;
      const isUsed = await versions.change('permissions', async (trx) => {
        const now = clock.now();
        // OWASP forgot-password: a link works once. The conditional update admits one of two simultaneous calls.
        const used = await trx('one_time_links')
          .where({ token_hash: hashToken(token) })
          .whereNull('used_at')
          .where('expires_at', '>', now)
          .update({ used_at: now });
        if (used !== 1) return false;
        await writePassword(trx, clock, found.user, { password_hash, by: id });
        return true;
      });
      if (isUsed) return { state: 'used-now', user: found.user };
      const now = await find(token);
      return now.state === 'open' ? { state: 'unknown' } : now;
    },
  };
}
