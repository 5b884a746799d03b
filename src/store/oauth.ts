// Rows of the authorization server. What they mean is the oauth room's business; here is what must be atomic.
import type { Clock } from '../core/clock.ts';
import { hashToken } from '../core/secret.ts';
import { endGrant } from './connections.ts';
import type { Database } from './database.ts';
import type { OAuthRow, OAuthRows } from './store.ts';
import { raiseVersion, type VersionRows } from './versions.ts';

interface StoredRow {
  readonly model: string;
  readonly id: string;
  readonly payload: string;
  readonly grant_id: string | null;
  readonly uid: string | null;
  readonly account_id: string | null;
  readonly client_id: string | null;
  readonly consumed_at: number | null;
  readonly expires_at: number | null;
}

const SWEEP_BATCH = 1000;
/** What the databases call a second row under the same key. */
const duplicates: ReadonlySet<unknown> = new Set([
  'ER_DUP_ENTRY',
  '23505',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_UNIQUE',
]);
/** Models whose disappearance must be felt at once: someone may hold what they stood for. */
const revocable: ReadonlySet<string> = new Set(['AccessToken', 'RefreshToken', 'Grant', 'Client']);

export function createOAuthRows(database: Database, versions: VersionRows, clock: Clock): OAuthRows {
  const { knex } = database;
  const key = (model: string, id: string) => ({ model, id_hash: hashToken(id) });
  const alive = (query: ReturnType<typeof knex>) =>
    query.where((either) => either.whereNull('expires_at').orWhere('expires_at', '>', clock.now()));

  return {
    async upsert(row) {
      const stored = toStored(row);
      // What was consumed stays so: only `consume` and a row that says it may set the mark, and nothing takes it back.
      const merged = Object.keys(stored).filter((column) => column !== 'consumed_at' || row.consumedAt !== undefined);
      await database.retry(() =>
        knex('oauth_store')
          .insert({ ...key(row.model, row.id), ...stored, created_at: clock.now() })
          .onConflict(['model', 'id_hash'])
          .merge(merged),
      );
    },
    async insertOnce(row) {
      try {
        await database.retry(() =>
          knex('oauth_store').insert({ ...key(row.model, row.id), ...toStored(row), created_at: clock.now() }),
        );
        return true;
      } catch (error) {
        // The primary key (model, id_hash) lets one in.
        if (duplicates.has((error as { code?: unknown }).code)) return false;
        throw error;
      }
    },
    async find(model, id) {
      const row = await alive(knex('oauth_store').where(key(model, id))).first<StoredRow | undefined>();
      return row && fromStored(row);
    },
    async findByUid(model, uid) {
      const row = await alive(knex('oauth_store').where({ model, uid })).first<StoredRow | undefined>();
      return row && fromStored(row);
    },
    async consume(model, id, at) {
      const touched = await database.retry(() =>
        knex('oauth_store').where(key(model, id)).whereNull('consumed_at').update({ consumed_at: at }),
      );
      return touched === 1;
    },
    async hasConsumedSuccessor(grantId, rotations) {
      const row = await knex('oauth_store')
        .where({ grant_id: grantId, model: 'RefreshToken' })
        .where('rotations', '>', rotations)
        .whereNotNull('consumed_at')
        .first('model');
      return row !== undefined;
    },
    async destroy(model, id) {
      if (!revocable.has(model)) {
        await database.retry(() => knex('oauth_store').where(key(model, id)).delete());
        return;
      }
      await database.write(async (trx) => {
        const gone = await trx('oauth_store').where(key(model, id)).delete();
        if (gone > 0) await raiseVersion(trx, 'grants');
      });
    },
    revokeGrant(grantId) {
      return versions.change('grants', (trx) => endGrant(trx, grantId));
    },
    async listByAccount(model, accountId) {
      const rows: StoredRow[] = await alive(knex('oauth_store').where({ model, account_id: accountId })).orderBy(
        'created_at',
        'desc',
      );
      return rows.map(fromStored);
    },
    async touchClient(clientId, at) {
      await knex('oauth_store').where(key('Client', clientId)).update({ used_at: at });
    },
    async sweep(now, unusedSince) {
      const expired = () => knex('oauth_store').where('expires_at', '<=', now);
      const unused = () =>
        knex('oauth_store').where({ model: 'Client' }).whereNull('used_at').where('created_at', '<', unusedSince);
      return (await sweepAll(expired)) + (await sweepAll(unused));
    },
  };

  /** The condition is asked again by the DELETE: a row may have been renewed or used in between. */
  async function sweepAll(matching: () => ReturnType<typeof knex>): Promise<number> {
    for (let total = 0; ; ) {
      const hashes: string[] = await matching().limit(SWEEP_BATCH).pluck('id_hash');
      if (hashes.length === 0) return total;
      const gone = Number(await database.retry(() => matching().whereIn('id_hash', hashes).delete()));
      total += gone;
      if (gone === 0 || hashes.length < SWEEP_BATCH) return total;
    }
  }
}

function toStored(row: OAuthRow) {
  const { rotations } = row.payload;
  return {
    id: row.id,
    payload: JSON.stringify(row.payload),
    grant_id: row.grantId ?? null,
    uid: row.uid ?? null,
    account_id: row.accountId ?? null,
    client_id: row.clientId ?? null,
    rotations: row.model === 'RefreshToken' ? (typeof rotations === 'number' ? rotations : 0) : null,
    consumed_at: row.consumedAt ?? null,
    expires_at: row.expiresAt ?? null,
  };
}

function fromStored(row: StoredRow): OAuthRow {
  return {
    model: row.model,
    id: row.id,
    payload: JSON.parse(row.payload) as Record<string, unknown>,
    ...(row.grant_id === null ? {} : { grantId: row.grant_id }),
    ...(row.uid === null ? {} : { uid: row.uid }),
    ...(row.account_id === null ? {} : { accountId: row.account_id }),
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    ...(row.consumed_at === null ? {} : { consumedAt: row.consumed_at }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
  };
}
