// Connections: the apps that users have allowed. A connection is a grant of the authorization server (a row of
// `oauth_store`), which holds the scopes. This file implements the operations of users and administrators. It also
// stores a user's last decision about an app, which avoids asking again. Ending a connection deletes that decision: the
// app must ask again. The time of the last use is written in the background.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { hashToken } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { createLastUsed } from '../database/last-used.ts';
import type { Tables } from '../migrations/first-tables.ts';
import { logChange } from '../permissions/roles.ts';
import type { VersionRows } from '../versions.ts';
import type { BlockedClient, ConnectionRow, Connections, Decision } from './types.ts';

export const connectionTables: Tables = {
  consents(table) {
    table.integer('user_id').unsigned().notNullable().references('users.id');
    // SHA-256 of the client id, which can be a long URL.
    table.string('client_hash', 43).notNullable();
    table.text('client_id').notNullable();
    table.string('asked', 400).notNullable();
    table.string('scopes', 400).notNullable();
    table.text('choice', 'mediumtext').notNullable();
    table.bigInteger('decided_at').notNullable();
    table.bigInteger('ends_at');
    table.primary(['user_id', 'client_hash']);
  },
  blocked_clients(table) {
    table.string('client_hash', 43).primary();
    table.text('client_id').notNullable();
    table.integer('user_id');
    table.bigInteger('created_at').notNullable();
  },
};

/** In the payload of a grant, beside what the authorization server keeps there. It saves a grant only once. */
const nameProperty = 'connectionName';

interface StoredConsent {
  readonly asked: string;
  readonly scopes: string;
  readonly choice: string;
  readonly decided_at: number | string;
  readonly ends_at: number | string | null;
}

interface StoredGrant {
  readonly id: string;
  readonly payload: string;
  readonly account_id: string;
  readonly client_id: string;
  readonly created_at: number | string;
  readonly expires_at: number | string | null;
  readonly used_at: number | string | null;
}

/** With the method to call before the storage is closed. */
interface OpenedConnections extends Connections {
  flush(): Promise<void>;
}

export function createConnections(database: Database, versions: VersionRows, clock: Clock): OpenedConnections {
  const { knex } = database;
  const columns = ['id', 'payload', 'account_id', 'client_id', 'created_at', 'expires_at', 'used_at'];
  const grants = (on: Knex = knex) => on('oauth_store').where({ model: 'Grant' });
  const alive = () =>
    grants()
      .where((either) => either.whereNull('expires_at').orWhere('expires_at', '>', clock.now()))
      .select<StoredGrant[]>(columns);
  const clientKey = (clientId: string) => ({ client_hash: hashToken(clientId) });

  const lastUsed = createLastUsed(clock, (id: string, at) =>
    database.retry(() =>
      grants()
        .where({ id_hash: hashToken(id) })
        .where((either) => either.whereNull('used_at').orWhere('used_at', '<', at))
        .update({ used_at: at }),
    ),
  );

  return {
    async decide({ userId, clientId, clientName, asked: requestedScopes, scopes, choice, endsAt, told: logDetail }) {
      const row = {
        client_id: clientId,
        asked: requestedScopes.join(' '),
        scopes: scopes.join(' '),
        choice: JSON.stringify(choice),
        decided_at: clock.now(),
        ends_at: endsAt,
      };
      await database.write(async (trx) => {
        await trx('consents')
          .insert({ user_id: userId, ...clientKey(clientId), ...row })
          .onConflict(['user_id', 'client_hash'])
          .merge(Object.keys(row));
        const subject = `${await emailOf(trx, userId)}: ${clientName}`.slice(0, 400);
        await logChange(trx, { at: clock.now(), by: userId, action: 'app.allow', subject, detail: logDetail });
      });
    },
    async decisionOf(userId, clientId) {
      const row = await knex('consents')
        .where({ user_id: userId, ...clientKey(clientId) })
        .first<StoredConsent | undefined>();
      return row && toDecision(row);
    },
    async list({ userId, after, limit }) {
      const rows = alive().orderBy('created_at', 'desc').orderBy('id_hash').limit(limit);
      if (userId !== undefined) rows.where({ account_id: `${userId}` });
      const [, at, hash] = /^(\d{1,15})-([\w-]{43})$/.exec(after ?? '') ?? [];
      if (at && hash) {
        const ties = { created_at: Number(at) };
        rows.where((older) =>
          older.where('created_at', '<', Number(at)).orWhere((tie) => tie.where(ties).where('id_hash', '>', hash)),
        );
      }
      return (await rows).map(toConnection);
    },
    async find(id) {
      const [row] = await alive().where({ id_hash: hashToken(id) });
      return row && toConnection(row);
    },
    end({ id, by, clientName }) {
      return versions.change('grants', async (trx) => {
        const row = await grants(trx)
          .where({ id_hash: hashToken(id) })
          .first<StoredGrant | undefined>(columns);
        if (!row) return false;
        await endGrant(trx, id);
        const subject = `${await emailOf(trx, Number(row.account_id))}: ${clientName}`.slice(0, 400);
        await logChange(trx, { at: clock.now(), by, action: 'app.revoke', subject });
        return true;
      });
    },
    name({ id, userId, name }) {
      const own = { id_hash: hashToken(id), account_id: `${userId}` };
      return database.write(async (trx) => {
        const row = await grants(trx).where(own).forUpdate().first<StoredGrant | undefined>('payload');
        if (!row) return false;
        const payload = { ...(JSON.parse(row.payload) as object), [nameProperty]: name };
        await grants(trx)
          .where(own)
          .update({ payload: JSON.stringify(payload) });
        return true;
      });
    },
    noteUse: lastUsed.touch,
    block({ clientId, by }) {
      return versions.change('grants', async (trx) => {
        const key = clientKey(clientId);
        if (await trx('blocked_clients').where(key).first('client_hash')) return undefined;
        await trx('blocked_clients').insert({
          ...key,
          client_id: clientId,
          user_id: by ?? null,
          created_at: clock.now(),
        });
        const ended = await trx('oauth_store').where({ model: 'Grant', client_id: clientId }).pluck('id');
        for (const id of ended) await endGrant(trx, id);
        await trx('oauth_store').where({ client_id: clientId }).whereNot({ model: 'Client' }).delete();
        await trx('consents').where(key).delete();
        const detail = { connections: ended.length };
        await logChange(trx, { at: clock.now(), by, action: 'app.block', subject: clientId.slice(0, 400), detail });
        return ended.length;
      });
    },
    unblock({ clientId, by }) {
      return versions.change('grants', async (trx) => {
        const deleted = await trx('blocked_clients').where(clientKey(clientId)).delete();
        if (deleted > 0)
          await logChange(trx, { at: clock.now(), by, action: 'app.unblock', subject: clientId.slice(0, 400) });
        return deleted > 0;
      });
    },
    async isBlocked(clientId) {
      return (await knex('blocked_clients').where(clientKey(clientId)).first('client_hash')) !== undefined;
    },
    async listBlocked() {
      const rows = await knex('blocked_clients').orderBy('created_at').select('client_id', 'created_at');
      return rows.map((row): BlockedClient => ({ clientId: row.client_id, since: Number(row.created_at) }));
    },
    flush: lastUsed.flush,
  };
}

/** Runs in a transaction that raises `versions().grants`. Deletes all rows of the grant and the decision behind it. */
export async function endGrant(trx: Knex.Transaction, grantId: string): Promise<void> {
  const grant = { model: 'Grant', id_hash: hashToken(grantId) };
  const row = await trx('oauth_store').where(grant).first('account_id', 'client_id');
  await trx('oauth_store').where({ grant_id: grantId }).delete();
  await trx('oauth_store').where(grant).delete();
  if (!row?.client_id || !/^\d+$/.test(row.account_id ?? '')) return;
  await trx('consents')
    .where({ user_id: Number(row.account_id), client_hash: hashToken(row.client_id) })
    .delete();
}

async function emailOf(on: Knex, userId: number): Promise<string> {
  const user = await on('users').where({ id: userId }).first<{ email: string } | undefined>('email');
  return user?.email ?? `user ${userId}`;
}

function toDecision(row: StoredConsent): Decision {
  return {
    asked: row.asked.split(' '),
    scopes: row.scopes.split(' '),
    choice: JSON.parse(row.choice) as unknown,
    decidedAt: Number(row.decided_at),
    endsAt: row.ends_at === null ? null : Number(row.ends_at),
  };
}

function toConnection(row: StoredGrant): ConnectionRow {
  const payload = JSON.parse(row.payload) as Record<string, unknown>;
  return {
    id: row.id,
    cursor: `${Number(row.created_at)}-${hashToken(row.id)}`,
    userId: Number(row.account_id),
    clientId: row.client_id,
    name: `${payload[nameProperty] ?? ''}`,
    payload,
    createdAt: Number(row.created_at),
    expiresAt: row.expires_at === null ? null : Number(row.expires_at),
    lastUsedAt: row.used_at === null ? null : Number(row.used_at),
  };
}
