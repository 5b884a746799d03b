// Rows of the authorization server. The oauth folder interprets them; this file implements the atomic operations.
import type { Clock } from '../../core/clock.ts';
import { hashToken } from '../../core/secret.ts';
import type { SqliteConnection } from '../../core/sqlite.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/duplicates.ts';
import { raiseVersion, type VersionRows } from '../versions.ts';
import { endGrant } from './connections.ts';
import type { OAuthRow, OAuthRows } from './types.ts';

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

type Statements = Readonly<
  Record<'find' | 'consume' | 'upsert' | 'upsertConsumed', ReturnType<SqliteConnection['prepare']>>
>;

const columns = [
  'id',
  'payload',
  'grant_id',
  'uid',
  'account_id',
  'client_id',
  'rotations',
  'consumed_at',
  'expires_at',
] as const satisfies readonly (keyof ReturnType<typeof toStored>)[];

function prepare(connection: SqliteConnection): Statements {
  const all = ['model', 'id_hash', ...columns, 'created_at'];
  const upsert = (merged: readonly string[]) =>
    connection.prepare(
      `INSERT INTO oauth_store (${all.join(', ')}) VALUES (${all.map((name) => `@${name}`).join(', ')})
       ON CONFLICT (model, id_hash) DO UPDATE SET ${merged.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    );
  return {
    find: connection.prepare(
      `SELECT model, ${columns.join(', ')} FROM oauth_store
       WHERE model = @model AND id_hash = @id_hash AND (expires_at IS NULL OR expires_at > @now)`,
    ),
    consume: connection.prepare(
      'UPDATE oauth_store SET consumed_at = @at WHERE model = @model AND id_hash = @id_hash AND consumed_at IS NULL',
    ),
    upsert: upsert(columns.filter((name) => name !== 'consumed_at')),
    upsertConsumed: upsert(columns),
  };
}

const SWEEP_BATCH = 1000;
/** Models with an immediate effect when deleted: a client may still hold the token. */
const revocable: ReadonlySet<string> = new Set(['AccessToken', 'RefreshToken', 'Grant', 'Client']);

export function createOAuthRows(database: Database, versions: VersionRows, clock: Clock): OAuthRows {
  const { knex } = database;
  const key = (model: string, id: string) => ({ model, id_hash: hashToken(id) });
  const statements = new WeakMap<SqliteConnection, Statements>();
  /** On SQLite the four statements of a sign-in are prepared once, because preparing costs more than running them. */
  const runPrepared = <T>(run: (ready: Statements) => T) =>
    database.sqlite?.runSync((connection) => {
      const prepared = statements.get(connection) ?? prepare(connection);
      statements.set(connection, prepared);
      return run(prepared);
    });
  const alive = (query: ReturnType<typeof knex>) =>
    query.where((either) => either.whereNull('expires_at').orWhere('expires_at', '>', clock.now()));

  return {
    async upsert(row) {
      const stored = toStored(row);
      const done = runPrepared((ready) => {
        const statement = row.consumedAt === undefined ? ready.upsert : ready.upsertConsumed;
        statement.run({ ...key(row.model, row.id), ...stored, created_at: clock.now() });
      });
      if (done) return;
      // The mark of consumption is permanent: only `consume` and a row with `consumedAt` set it, and no update clears
      // it.
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
        // The primary key (model, id_hash) admits one insert.
        if (isDuplicate(error)) return false;
        throw error;
      }
    },
    async find(model, id) {
      const done = runPrepared(
        (ready) => ready.find.get({ ...key(model, id), now: clock.now() }) as StoredRow | undefined,
      );
      const row = done
        ? done.answer
        : await alive(knex('oauth_store').where(key(model, id))).first<StoredRow | undefined>();
      return row && fromStored(row);
    },
    async findByUid(model, uid) {
      const row = await alive(knex('oauth_store').where({ model, uid })).first<StoredRow | undefined>();
      return row && fromStored(row);
    },
    async consume(model, id, at) {
      const done = runPrepared((ready) => ready.consume.run({ ...key(model, id), at }).changes === 1);
      if (done) return done.answer;
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
    async hasConsumedSibling(grantId, rotations, id) {
      const row = await knex('oauth_store')
        .where({ grant_id: grantId, model: 'RefreshToken', rotations })
        .whereNot('id_hash', hashToken(id))
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
        const deleted = await trx('oauth_store').where(key(model, id)).delete();
        if (deleted > 0) await raiseVersion(trx, 'grants');
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
    async countClients() {
      const [row] = await knex('oauth_store').where({ model: 'Client' }).count({ count: '*' });
      return Number(row?.count);
    },
    async forgetUnused(maxClients) {
      const unused = () => knex('oauth_store').where({ model: 'Client' }).whereNull('used_at');
      const hashes: string[] = await unused().orderBy('created_at').limit(maxClients).pluck('id_hash');
      if (hashes.length === 0) return 0;
      // The DELETE repeats the condition: a client may have been used in between.
      return Number(await database.retry(() => unused().whereIn('id_hash', hashes).delete()));
    },
    async sweep(now, unusedSince, idleSince) {
      const expired = () => knex('oauth_store').where('expires_at', '<=', now);
      const unused = () =>
        knex('oauth_store').where({ model: 'Client' }).whereNull('used_at').where('created_at', '<', unusedSince);
      return (await sweepAll(expired)) + (await sweepAll(unused)) + (await sweepIdleClients(idleSince));
    },
  };

  async function sweepIdleClients(idleSince: number): Promise<number> {
    const idle = () => knex('oauth_store').where({ model: 'Client' }).where('used_at', '<', idleSince);
    for (let total = 0, last = ''; ; ) {
      const clients: { id: string; id_hash: string }[] = await idle()
        .where('id_hash', '>', last)
        .orderBy('id_hash')
        .limit(SWEEP_BATCH)
        .select('id', 'id_hash');
      // Two statements: MySQL cannot delete from a table that a subquery reads.
      const connected = await alive(knex('oauth_store').where({ model: 'Grant' }))
        .whereIn(
          'client_id',
          clients.map(({ id }) => id),
        )
        .distinct()
        .pluck('client_id');
      const disconnected = clients.filter(({ id }) => !connected.includes(id)).map(({ id_hash }) => id_hash);
      if (disconnected.length > 0)
        total += Number(await database.retry(() => idle().whereIn('id_hash', disconnected).delete()));
      if (clients.length < SWEEP_BATCH) return total;
      last = clients.at(-1)!.id_hash;
    }
  }

  /** The DELETE repeats the condition: a row may have been renewed or used in between. */
  async function sweepAll(matching: () => ReturnType<typeof knex>): Promise<number> {
    for (let total = 0; ; ) {
      const hashes: string[] = await matching().limit(SWEEP_BATCH).pluck('id_hash');
      if (hashes.length === 0) return total;
      const deleted = Number(await database.retry(() => matching().whereIn('id_hash', hashes).delete()));
      total += deleted;
      if (deleted === 0 || hashes.length < SWEEP_BATCH) return total;
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
