// Application tokens: users create them for programs that cannot sign in through a browser. A token is random, shown
// once, and stored as a hash. It never exceeds the rights of its user. It is valid for one entrance only: /mcp, the
// agent's HTTP API or the public API. Revocation deletes the row and raises the version that every call compares, which takes effect at
// once in every process. The time of the last use is written in the background.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { hashToken, randomToken } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { createLastUsed } from '../database/last-used.ts';
import type { Tables } from '../migrations/first-tables.ts';
import { getProjectId, logChange } from '../permissions/roles.ts';
import type { Versions } from '../version-types.ts';
import { sameRights, type VersionRows } from '../versions.ts';
import type { ApplicationToken, ApplicationTokens, NewToken, TokenEntrance } from './token-types.ts';

export const tokenTables: Tables = {
  application_tokens(table) {
    table.increments('id');
    table.string('token_hash', 43).notNullable().unique();
    table.integer('project_id').unsigned().notNullable().references('projects.id');
    table.integer('user_id').unsigned().notNullable().references('users.id');
    table.string('name', 100).notNullable();
    table.string('scopes', 400).notNullable();
    table.bigInteger('created_at').notNullable();
    table.bigInteger('expires_at');
    table.bigInteger('last_used_at');
    table.unique(['user_id', 'name']);
  },
};

const PREFIX = 'svc_';
const MAX_NAME_LENGTH = 100;

/** The scopes of each entrance. The scopes of the public API are from behaviour api 5. */
export const tokenScopes: Readonly<Record<TokenEntrance, readonly string[]>> = {
  mcp: ['mcp:read', 'mcp:write', 'mcp:action'],
  agent: ['records:read', 'records:write', 'records:action'],
  api: ['activity_logs:read', 'admin_logs:read', 'notes:read', 'notes:write', 'workflows:trigger', 'all'],
};

/** Names of the entrances in error messages. */
export const entrancePlaces: Readonly<Record<TokenEntrance, string>> = {
  mcp: '/mcp',
  agent: "the agent's HTTP API",
  api: 'the public API',
};

/**
 * Whether a text has the form of an application token. The form determines the kind of a token; each lookup searches
 * one kind only.
 */
export function isApplicationToken(text: string): boolean {
  return /^svc_[A-Za-z0-9_-]{43}$/.test(text);
}

/**
 * Reports tokens that are invalid under single sign-on (`sso`): only tokens created in a single sign-on session are
 * accepted (behaviour api 7.3). Every endpoint checks it.
 */
export function findSsoProblem(token: Pick<ApplicationToken, 'sso'>, sso: boolean): string | undefined {
  if (!sso || token.sso) return undefined;
  return 'Single sign-on is required, and this token was created without it. Sign in through it and create another token.';
}

interface StoredToken {
  readonly id: number;
  readonly user_id: number;
  readonly email: string;
  readonly name: string;
  readonly scopes: string;
  readonly created_at: number | string;
  readonly expires_at: number | string | null;
  readonly last_used_at: number | string | null;
  readonly sso: number;
}

/** With the method to call before the storage is closed. */
interface TokenRows extends ApplicationTokens {
  flush(): Promise<void>;
}

/** The last use is accurate to a few seconds, and raises no version. */
const CACHE_MS = 5000;

interface CachedToken {
  readonly versions: Versions;
  readonly readAt: number;
  readonly token: ApplicationToken;
}

export function createTokens(database: Database, versions: VersionRows, clock: Clock): TokenRows {
  const { knex } = database;
  /** Valid tokens by hash. A revocation raises the `grants` version, which every process compares. */
  const cache = new LRUCache<string, CachedToken>({ max: 10_000 });
  const select = () =>
    knex('application_tokens')
      .join('users', 'users.id', 'application_tokens.user_id')
      .select<StoredToken[]>('application_tokens.*', 'users.email');

  const lastUsed = createLastUsed(clock, (id: number, at) =>
    database.retry(() =>
      knex('application_tokens')
        .where({ id })
        .where((either) => either.whereNull('last_used_at').orWhere('last_used_at', '<', at))
        .update({ last_used_at: at }),
    ),
  );

  return {
    async create(input, by) {
      const token = check(input, clock.now());
      const secret = PREFIX + randomToken();
      const projectId = await getProjectId(knex);
      const id = await database.write(async (trx) => {
        const user = await trx('users').where({ id: token.userId }).first<{ email: string } | undefined>('email');
        if (!user) fail('INVALID_ARGUMENT', { argument: 'userId', problem: `there is no user ${token.userId}.` });
        const named = { user_id: token.userId, name: token.name };
        if (await trx('application_tokens').where(named).first('id')) {
          const problem = `${user.email} has a token '${token.name}'. Revoke it first, or choose another name.`;
          fail('INVALID_ARGUMENT', { argument: 'name', problem });
        }
        await logChange(trx, {
          at: clock.now(),
          by,
          action: 'token.create',
          subject: `${user.email}: ${token.name}`,
          detail: { scopes: token.scopes, expiresAt: token.expiresAt },
        });
        return database.insert(trx, 'application_tokens', {
          ...named,
          token_hash: hashToken(secret),
          project_id: projectId,
          scopes: token.scopes.join(' '),
          created_at: clock.now(),
          expires_at: token.expiresAt,
          last_used_at: null,
          sso: token.sso ? 1 : 0,
        });
      });
      const [row] = await select().where('application_tokens.id', id);
      return { token: toToken(row!), secret };
    },
    async find(hash, current) {
      // Read before the row: after a revocation in between, the next call reads the token again.
      const now = current ?? (await versions.current());
      const found = cache.get(hash);
      const at = clock.monotonic();
      if (found && sameRights(found.versions, now) && at - found.readAt < CACHE_MS) return found.token;
      const projectId = await getProjectId(knex);
      const [row] = await select().where({ token_hash: hash, project_id: projectId });
      if (!row) return undefined;
      const token = Object.freeze(toToken(row));
      cache.set(hash, { versions: now, readAt: at, token });
      return token;
    },
    async get(id) {
      const [row] = await select().where('application_tokens.id', id);
      return row && toToken(row);
    },
    async list() {
      return (await select().orderBy('application_tokens.id')).map(toToken);
    },
    async revoke(id, by) {
      const [row] = await select().where('application_tokens.id', id);
      if (!row) return undefined;
      const revoked = await versions.change('grants', async (trx) => {
        const rows = await trx('application_tokens').where({ id }).delete();
        const subject = `${row.email}: ${row.name}`;
        if (rows > 0) await logChange(trx, { at: clock.now(), by, action: 'token.revoke', subject });
        return rows;
      });
      return revoked > 0 ? toToken(row) : undefined;
    },
    noteUse: lastUsed.touch,
    flush: lastUsed.flush,
  };
}

function toToken(row: StoredToken): ApplicationToken {
  const scopes = row.scopes.split(' ');
  return {
    id: row.id,
    userId: row.user_id,
    email: row.email,
    name: row.name,
    scopes,
    entrance: entranceOf(scopes)!,
    createdAt: Number(row.created_at),
    expiresAt: row.expires_at === null ? null : Number(row.expires_at),
    lastUsedAt: row.last_used_at === null ? null : Number(row.last_used_at),
    sso: Number(row.sso) === 1,
  };
}

const entrances = Object.keys(tokenScopes) as readonly TokenEntrance[];

function entranceOf(scopes: readonly string[]): TokenEntrance | undefined {
  return entrances.find((one) => scopes.length > 0 && scopes.every((scope) => tokenScopes[one].includes(scope)));
}

function check(input: NewToken, now: number): Required<NewToken> {
  const name = input.name.trim();
  if (name === '' || name.length > MAX_NAME_LENGTH || /\p{C}/u.test(name)) {
    fail('INVALID_ARGUMENT', { argument: 'name', problem: `expected 1 to ${MAX_NAME_LENGTH} printable characters.` });
  }
  const scopes = [...new Set(input.scopes)];
  if (!entranceOf(scopes)) {
    const places = entrances.map((one) => `some of ${tokenScopes[one].join(', ')} for ${entrancePlaces[one]}`);
    const problem = `expected ${places.join(', or ')}; a token has scopes of only one of these.`;
    fail('INVALID_ARGUMENT', { argument: 'scopes', problem });
  }
  const expiresAt = input.expiresAt ?? null;
  if (expiresAt !== null && !(expiresAt > now)) {
    fail('INVALID_ARGUMENT', { argument: 'expiresAt', problem: 'expected a time in the future.' });
  }
  return { userId: input.userId, name, scopes, expiresAt, sso: input.sso ?? false };
}
