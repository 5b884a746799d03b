// Sessions of front ends of the agent's HTTP API, and the sign-ins that create them. Every secret (the state of a
// sign-in, its code, the id of a session) is stored as a hash. A session ends at a fixed time. Ending it earlier raises
// the version that every call compares, which takes effect at once in every process.
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { hashToken, randomToken } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';
import type { VersionRows } from '../versions.ts';
import type { AgentSessions, AgentSignIn } from './types.ts';

export const agentSessionTables: Tables = {
  agent_sessions(table) {
    table.string('id_hash', 43).primary();
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.string('origin', 255).notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('expires_at').notNullable();
    table.index(['user_id']);
    table.index(['expires_at']);
  },
  agent_sign_ins(table) {
    table.string('state_hash', 43).primary();
    table.string('origin', 255).notNullable();
    table.string('code_challenge', 43);
    table.integer('rendering_id').unsigned();
    table.integer('user_id').unsigned().references('users.id');
    table.string('code_hash', 43);
    table.string('session_hash', 43);
    table.bigInteger('expires_at').notNullable();
    table.index(['expires_at']);
  },
};

interface StoredSignIn {
  readonly origin: string;
  readonly code_challenge: string | null;
  readonly rendering_id: number | null;
  readonly user_id: number | null;
  readonly session_hash: string | null;
}

interface StoredSession {
  readonly user_id: number;
  readonly origin: string;
  readonly created_at: number | string;
  readonly expires_at: number | string;
}

const SWEEP_MS = 600_000;

type AgentSessionConfig = Pick<Config, 'agentSessionSeconds' | 'interactionSeconds' | 'authorizationCodeSeconds'>;

export function createAgentSessions(
  database: Database,
  versions: VersionRows,
  clock: Clock,
  config: AgentSessionConfig,
): AgentSessions {
  const { knex } = database;
  const signIns = (state: string) =>
    knex('agent_sign_ins')
      .where({ state_hash: hashToken(state) })
      .where('expires_at', '>', clock.now());
  let sweepAt = 0;

  /** At most every ten minutes. Expired rows count as absent before they are swept. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    for (const table of ['agent_sign_ins', 'agent_sessions'])
      await database.retry(() => knex(table).where('expires_at', '<=', now).delete());
  }

  return {
    async beginSignIn({ origin, codeChallenge, renderingId }) {
      const now = clock.now();
      await sweep(now);
      const state = randomToken();
      await database.retry(() =>
        knex('agent_sign_ins').insert({
          state_hash: hashToken(state),
          origin,
          code_challenge: codeChallenge ?? null,
          rendering_id: renderingId ?? null,
          user_id: null,
          code_hash: null,
          session_hash: null,
          expires_at: now + config.interactionSeconds * 1000,
        }),
      );
      return state;
    },
    async findSignIn(state) {
      const row = await signIns(state).whereNull('code_hash').first<StoredSignIn | undefined>();
      return row && toSignIn(row);
    },
    async allowSignIn(state, userId) {
      const code = randomToken();
      const answer = {
        user_id: userId,
        code_hash: hashToken(code),
        expires_at: clock.now() + config.authorizationCodeSeconds * 1000,
      };
      // Of two simultaneous answers, in any processes, one is accepted.
      const answered = await database.retry(() => signIns(state).whereNull('code_hash').update(answer));
      return answered > 0 ? code : undefined;
    },
    async dropSignIn(state) {
      const dropped = await database.retry(() => signIns(state).whereNull('code_hash').delete());
      return dropped > 0;
    },
    async findAnswer(state, code) {
      const row = await signIns(state)
        .where({ code_hash: hashToken(code) })
        .first<StoredSignIn | undefined>();
      return row && row.user_id !== null ? { ...toSignIn(row), userId: row.user_id } : undefined;
    },
    async redeem(state, code) {
      const now = clock.now();
      const id = randomToken();
      const session = { id_hash: hashToken(id), created_at: now, expires_at: now + config.agentSessionSeconds * 1000 };
      const codeRow = { code_hash: hashToken(code) };
      const created = await database.write(async (trx) => {
        const taken = await signIns(state)
          .transacting(trx)
          .where(codeRow)
          .whereNull('session_hash')
          .update({ session_hash: session.id_hash });
        if (taken === 0) return false;
        const row = await signIns(state).transacting(trx).where(codeRow).first<StoredSignIn>();
        await trx('agent_sessions').insert({ ...session, user_id: row.user_id, origin: row.origin });
        return true;
      });
      if (created) return { id, expiresAt: session.expires_at };
      // RFC 6749 section 4.1.2: a code used twice may be stolen, and the session that it created ends.
      const used = await signIns(state).where(codeRow).first<StoredSignIn | undefined>();
      if (used?.session_hash) await endByHash(used.session_hash);
      return undefined;
    },
    async find(id) {
      const row = await knex('agent_sessions')
        .where({ id_hash: hashToken(id) })
        .where('expires_at', '>', clock.now())
        .first<StoredSession | undefined>();
      if (!row) return undefined;
      const { user_id: userId, origin } = row;
      return { userId, origin, createdAt: Number(row.created_at), expiresAt: Number(row.expires_at) };
    },
    end: (id) => endByHash(hashToken(id)),
  };

  function endByHash(id_hash: string): Promise<boolean> {
    return versions.change('grants', async (trx) => (await trx('agent_sessions').where({ id_hash }).delete()) > 0);
  }
}

function toSignIn(row: StoredSignIn): AgentSignIn {
  return {
    origin: row.origin,
    ...(row.code_challenge !== null && { codeChallenge: row.code_challenge }),
    ...(row.rendering_id !== null && { renderingId: row.rendering_id }),
  };
}
