// Remote MCP servers and the users' grants there. Many servers accept a refresh token once, and some revoke all tokens
// when it is used twice. A refresh is therefore claimed first, by one conditional update on the generation of the
// credentials. Its result is stored under the same condition. If the process dies in between, the claim expires. The
// state of the refresh token is then unknown, and the user must connect again.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { decrypt, encrypt, hashToken, randomId, sign } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { isDuplicate } from '../database/duplicates.ts';
import type { Tables } from '../migrations/first-tables.ts';
import { addColumns } from '../migrations/indexes.ts';
import { createEnvironmentReader, type EnvironmentInfoReader, logChange } from '../permissions/roles.ts';
import type {
  RemoteAccountState,
  RemoteGrant,
  RemoteKey,
  RemoteServer,
  RemoteSignIn,
  Remotes,
  RemoteTools,
} from './types.ts';

/** The nineteenth migration. */
export const remoteTables: Tables = {
  remote_servers(table) {
    table.string('id', 36).primary();
    table.integer('environment_id').notNullable();
    table.string('name', 191).notNullable();
    table.text('url').notNullable();
    table.string('sign_in', 10).notNullable();
    table.text('sealed', 'mediumtext');
    table.integer('added_by').notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('updated_at').notNullable();
    table.unique(['environment_id', 'name']);
  },
  remote_credentials(table) {
    table.string('server_id', 36).notNullable();
    table.integer('user_id').notNullable();
    table.string('state', 10).notNullable();
    table.integer('generation').notNullable();
    table.text('sealed', 'mediumtext').notNullable();
    table.bigInteger('expires_at');
    // Lease of the current refresh; null when there is no refresh.
    table.bigInteger('refreshing_until');
    table.bigInteger('used_at');
    table.bigInteger('created_at').notNullable();
    table.bigInteger('updated_at').notNullable();
    table.primary(['server_id', 'user_id']);
    table.index(['user_id']);
  },
  remote_sign_ins(table) {
    table.string('state_hash', 43).primary();
    table.string('server_id', 36).notNullable();
    table.integer('user_id').notNullable();
    table.string('session_hash', 43).notNullable();
    table.text('sealed', 'mediumtext').notNullable();
    table.bigInteger('expires_at').notNullable();
    table.index(['expires_at']);
    table.index(['server_id']);
  },
};

/** The twentieth migration: settings that administrators make after adding a server. */
export const addRemoteSettings = ({ dialect }: Database, on: Knex): Promise<void> =>
  addColumns(on, dialect, 'remote_servers', {
    client_id: (table) => table.text('client_id'),
    issuer: (table) => table.text('issuer'),
    tools: (table) => table.text('tools'),
  });

/** Minimum time between stored uses; the console shows minutes. */
const USE_MS = 60_000;

type Time = number | string;

interface StoredServer {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly sign_in: RemoteSignIn;
  readonly sealed: string | null;
  readonly client_id: string | null;
  readonly issuer: string | null;
  /** JSON. */
  readonly tools: string | null;
  readonly added_by: number;
  readonly created_at: Time;
}

interface StoredAccount {
  readonly server_id: string;
  readonly user_id: number;
  readonly state: RemoteAccountState;
  readonly generation: number;
  readonly sealed: string;
  readonly expires_at: Time | null;
  readonly refreshing_until: Time | null;
  readonly used_at: Time | null;
  readonly created_at: Time;
}

interface StoredSignIn {
  readonly server_id: string;
  readonly sealed: string;
}

export function createRemotes(
  database: Database,
  getEnvironment: EnvironmentInfoReader,
  clock: Clock,
  getSecret: () => string,
): Remotes {
  const { knex } = database;
  const secret = () => sign('remote servers', getSecret());
  const seal = (value: unknown): string => encrypt(JSON.stringify(value), secret());
  const open = (sealed: string): unknown => JSON.parse(decrypt(sealed, secret()));
  const environment = createEnvironmentReader(knex, getEnvironment);
  const servers = async () => knex('remote_servers').where({ environment_id: await environment() });
  const findServer = async (where: Readonly<Record<string, string>>): Promise<StoredServer | undefined> =>
    knex('remote_servers')
      .where({ ...where, environment_id: await environment() })
      .first<StoredServer | undefined>();
  const account = (on: Knex, { serverId, userId }: RemoteKey) =>
    on('remote_credentials').where({ server_id: serverId, user_id: userId });
  const nameOf = async (trx: Knex, { serverId, userId }: RemoteKey): Promise<string | undefined> => {
    const row = await trx('remote_servers').where({ id: serverId }).first<{ name: string } | undefined>('name');
    const user = await trx('users').where({ id: userId }).first<{ email: string } | undefined>('email');
    return row && user && `${user.email}: ${row.name}`;
  };

  const change = async (
    id: string,
    where: Readonly<Record<string, unknown>>,
    values: Readonly<Record<string, unknown>>,
    { by, detail }: { readonly by: number; readonly detail: object },
  ): Promise<boolean> => {
    const row = await findServer({ id });
    if (!row) return false;
    return database.write(async (trx) => {
      const at = clock.now();
      const changed = await trx('remote_servers')
        .where({ ...where, id })
        .update({ ...values, updated_at: at });
      if (changed > 0) await logChange(trx, { at, by, action: 'remote-server.change', subject: row.name, detail });
      return changed > 0;
    });
  };

  return {
    async add({ name, url, signIn, addedBy, secret: bearer }) {
      const now = clock.now();
      const row = { id: randomId(), name, url, sign_in: signIn, added_by: addedBy, created_at: now };
      const none = { client_id: null, issuer: null, tools: null };
      const sealed = bearer === undefined ? null : seal(bearer);
      const environmentId = await environment();
      try {
        await database.write(async (trx) => {
          await trx('remote_servers').insert({ ...row, sealed, environment_id: environmentId, updated_at: now });
          const detail = { url: addressOf(url), signIn };
          await logChange(trx, { at: now, by: addedBy, action: 'remote-server.add', subject: name, detail });
        });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        fail('INVALID_ARGUMENT', { argument: 'name', problem: `the server '${name}' already exists.` }, error);
      }
      return toServer({ ...row, ...none, sealed });
    },
    async remove(id, by) {
      const row = await findServer({ id });
      if (!row) return false;
      return database.write(async (trx) => {
        const deleted = await trx('remote_servers').where({ id }).delete();
        await trx('remote_credentials').where({ server_id: id }).delete();
        await trx('remote_sign_ins').where({ server_id: id }).delete();
        if (deleted > 0) {
          await logChange(trx, { at: clock.now(), by, action: 'remote-server.remove', subject: row.name });
        }
        return deleted > 0;
      });
    },
    async list() {
      const rows: StoredServer[] = await servers();
      return rows.map(toServer).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    async find(id) {
      const row = await findServer({ id });
      return row && toServer(row);
    },
    async findByName(name) {
      const row = await findServer({ name });
      return row && toServer(row);
    },
    async secretOf(id) {
      const row = await findServer({ id });
      return row?.sealed ? `${open(row.sealed)}` : undefined;
    },
    setClient(id, client, by) {
      const sealed = client?.secret === undefined ? null : seal(client.secret);
      const values = { client_id: client?.id ?? null, issuer: client?.issuer ?? null, sealed };
      const detail = client ? { client: client.id, issuer: client.issuer } : { client: null };
      return change(id, { sign_in: 'oauth' }, values, { by, detail });
    },
    setTools: (id, tools, by) => change(id, {}, { tools: tools && JSON.stringify(tools) }, { by, detail: { tools } }),

    async beginSignIn({ serverId, userId, state, sessionId, held: payload, expiresAt }) {
      await database.retry(() => knex('remote_sign_ins').where('expires_at', '<=', clock.now()).delete());
      await knex('remote_sign_ins').insert({
        state_hash: hashToken(state),
        server_id: serverId,
        user_id: userId,
        session_hash: hashToken(sessionId),
        sealed: seal(payload),
        expires_at: expiresAt,
      });
    },
    takeSignIn({ state, userId, sessionId }) {
      // RFC 6749 section 10.12: the response is valid once, for the same user and the same browser session.
      const where = { state_hash: hashToken(state), user_id: userId, session_hash: hashToken(sessionId) };
      return database.write(async (trx) => {
        const row = await trx('remote_sign_ins')
          .where(where)
          .where('expires_at', '>', clock.now())
          .first<StoredSignIn | undefined>('server_id', 'sealed');
        const taken = row ? await trx('remote_sign_ins').where(where).delete() : 0;
        return row && taken > 0 ? { serverId: row.server_id, held: open(row.sealed) } : undefined;
      });
    },

    connect({ serverId, userId, held: payload, expiresAt }) {
      const now = clock.now();
      return database.write(async (trx) => {
        const subject = await nameOf(trx, { serverId, userId });
        if (subject === undefined) return false;
        const values = {
          state: 'connected',
          sealed: seal(payload),
          expires_at: expiresAt,
          refreshing_until: null,
          updated_at: now,
        };
        const row = { ...values, server_id: serverId, user_id: userId, generation: 1, created_at: now };
        // Of two simultaneous connections, the later one replaces the other.
        await trx('remote_credentials')
          .insert(row)
          .onConflict(['server_id', 'user_id'])
          .merge({ ...values, generation: trx.raw('remote_credentials.generation + 1'), created_at: now });
        await logChange(trx, { at: now, by: userId, action: 'remote-account.link', subject });
        return true;
      });
    },
    disconnect: (key, by) =>
      database.write(async (trx) => {
        const subject = await nameOf(trx, key);
        const deleted = await account(trx, key).delete();
        if (deleted > 0 && subject !== undefined) {
          await logChange(trx, { at: clock.now(), by, action: 'remote-account.revoke', subject });
        }
        return deleted > 0;
      }),
    async accountsOf(userId) {
      const rows = await knex('remote_credentials').where({ user_id: userId }).select<StoredAccount[]>();
      return rows.map(toAccount);
    },
    async grantOf(key) {
      const row = await account(knex, key).first<StoredAccount | undefined>();
      return row && toGrant(row, open);
    },
    async noteUse(key) {
      const now = clock.now();
      await database.retry(() =>
        account(knex, key)
          .where((either) => either.whereNull('used_at').orWhere('used_at', '<=', now - USE_MS))
          .update({ used_at: now }),
      );
    },

    async claimRefresh(key, generation, leaseMs) {
      const now = clock.now();
      const connected = { generation, state: 'connected' };
      const claimed = await database.retry(() =>
        account(knex, key)
          .where(connected)
          .whereNull('refreshing_until')
          .update({ refreshing_until: now + leaseMs }),
      );
      if (claimed > 0) return 'claimed';
      const expired = await database.retry(() =>
        account(knex, key)
          .where(connected)
          .where('refreshing_until', '<=', now)
          .update({ state: 'reconnect', refreshing_until: null, updated_at: now }),
      );
      if (expired > 0) return 'lost';
      return (await account(knex, key).where(connected).first('user_id')) ? 'busy' : 'stale';
    },
    async settleRefresh(key, generation, fresh) {
      const values = fresh && {
        sealed: seal(fresh.held),
        expires_at: fresh.expiresAt,
        generation: generation + 1,
        updated_at: clock.now(),
      };
      const updated = await database.retry(() =>
        account(knex, key)
          .where({ generation, state: 'connected' })
          .whereNotNull('refreshing_until')
          .update({ ...values, refreshing_until: null }),
      );
      return updated > 0;
    },
    async markReconnect(key, generation) {
      await database.retry(() =>
        account(knex, key)
          .where({ generation })
          .update({ state: 'reconnect', refreshing_until: null, updated_at: clock.now() }),
      );
    },
  };
}

/** Without the query, which may contain a secret. */
const addressOf = (url: string): string => `${new URL(url).origin}${new URL(url).pathname}`;

const timeOf = (time: Time | null): number | null => (time === null ? null : Number(time));

const toServer = (row: StoredServer): RemoteServer => ({
  id: row.id,
  name: row.name,
  url: row.url,
  signIn: row.sign_in,
  client: row.client_id === null || row.issuer === null ? null : { id: row.client_id, issuer: row.issuer },
  tools: row.tools === null ? null : (JSON.parse(row.tools) as RemoteTools),
  addedBy: row.added_by,
  createdAt: Number(row.created_at),
});

const toAccount = (row: StoredAccount) => ({
  serverId: row.server_id,
  userId: row.user_id,
  state: row.state,
  connectedAt: Number(row.created_at),
  usedAt: timeOf(row.used_at),
});

const toGrant = (row: StoredAccount, open: (sealed: string) => unknown): RemoteGrant => ({
  ...toAccount(row),
  generation: row.generation,
  expiresAt: timeOf(row.expires_at),
  held: open(row.sealed),
});

/** Runs within a transaction that deletes the environment. */
export async function removeRemotes(trx: Knex.Transaction, environmentId: number): Promise<void> {
  const ids = trx('remote_servers').where({ environment_id: environmentId }).select('id');
  await trx('remote_credentials').whereIn('server_id', ids.clone()).delete();
  await trx('remote_sign_ins').whereIn('server_id', ids.clone()).delete();
  await trx('remote_servers').where({ environment_id: environmentId }).delete();
}
