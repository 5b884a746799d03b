// Application tokens: what a person makes for a program that cannot sign in through a browser. A token is random, is shown
// once and kept as its hash, belongs to a user whose rights it never exceeds, and opens either /mcp or the public API,
// never both. Revoking deletes the row and raises the version that every call compares, so that it is felt at once in
// every process. When a token was last used is written beside the calls, not by them.
import { LRUCache } from 'lru-cache';
import type { Clock } from '../core/clock.ts';
import { fail } from '../core/errors.ts';
import { hashToken, randomToken } from '../core/secret.ts';
import type { Database } from './database.ts';
import { getProjectId, logChange } from './roles.ts';
import type { Tables } from './schema-tables.ts';
import type { Versions } from './store.ts';
import type { ApplicationToken, ApplicationTokens, NewToken, TokenEntrance } from './token-types.ts';
import { createUses } from './uses.ts';
import { sameRights, type VersionRows } from './versions.ts';

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
const NAME_MOST = 100;

/** Which scopes open which entrance. Those of the public API are of spec public-http-api 5. */
export const tokenScopes: Readonly<Record<TokenEntrance, readonly string[]>> = {
  mcp: ['mcp:read', 'mcp:write', 'mcp:action'],
  api: ['activity_logs:read', 'admin_logs:read', 'notes:read', 'notes:write', 'workflows:trigger', 'all'],
};

/**
 * Whether a text is written as an application token is: which kind of token somebody shows is decided by its form, so that
 * no kind is ever looked up among the others.
 */
export function isApplicationToken(text: string): boolean {
  return /^svc_[A-Za-z0-9_-]{43}$/.test(text);
}

/**
 * What is wrong with a token where people sign in through an OpenID provider (`sso`): there one is made by somebody who came
 * through it (spec public-http-api 7.3). Asked at every entrance.
 */
export function findSsoProblem(token: Pick<ApplicationToken, 'sso'>, sso: boolean): string | undefined {
  if (!sso || token.sso) return undefined;
  return 'Single sign-on is on here, and this token was made without it. Sign in through it and make another token.';
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

/** With what must be called before the storage is closed. */
export interface TokenRows extends ApplicationTokens {
  flush(): Promise<void>;
}

/** When a token was last used is told to within some seconds, and raises no version. */
const KNOWN_MS = 5000;

interface KnownToken {
  readonly versions: Versions;
  readonly readAt: number;
  readonly token: ApplicationToken;
}

export function createTokens(database: Database, versions: VersionRows, clock: Clock): TokenRows {
  const { knex } = database;
  /** By the hash, of those that count: revoking one raises the version of the grants, which every process compares. */
  const known = new LRUCache<string, KnownToken>({ max: 10_000 });
  const select = () =>
    knex('application_tokens')
      .join('users', 'users.id', 'application_tokens.user_id')
      .select<StoredToken[]>('application_tokens.*', 'users.email');

  const uses = createUses(clock, (id: number, at) =>
    database.retry(() =>
      knex('application_tokens')
        .where({ id })
        .where((either) => either.whereNull('last_used_at').orWhere('last_used_at', '<', at))
        .update({ last_used_at: at }),
    ),
  );

  return {
    async create(given, by) {
      const token = check(given, clock.now());
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
    async find(hash) {
      // Read before the row: a token that is revoked meanwhile is looked for anew by the next call.
      const now = await versions.current();
      const found = known.get(hash);
      const at = clock.monotonic();
      if (found && sameRights(found.versions, now) && at - found.readAt < KNOWN_MS) return found.token;
      const projectId = await getProjectId(knex);
      const [row] = await select().where({ token_hash: hash, project_id: projectId });
      if (!row) return undefined;
      const token = Object.freeze(toToken(row));
      known.set(hash, { versions: now, readAt: at, token });
      return token;
    },
    async list() {
      return (await select().orderBy('application_tokens.id')).map(toToken);
    },
    async revoke(id, by) {
      const [row] = await select().where('application_tokens.id', id);
      if (!row) return undefined;
      const gone = await versions.change('grants', async (trx) => {
        const rows = await trx('application_tokens').where({ id }).delete();
        const subject = `${row.email}: ${row.name}`;
        if (rows > 0) await logChange(trx, { at: clock.now(), by, action: 'token.revoke', subject });
        return rows;
      });
      return gone > 0 ? toToken(row) : undefined;
    },
    noteUse: uses.note,
    flush: uses.flush,
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

function entranceOf(scopes: readonly string[]): TokenEntrance | undefined {
  const entrances = Object.entries(tokenScopes) as [TokenEntrance, readonly string[]][];
  return entrances.find(([, known]) => scopes.length > 0 && scopes.every((scope) => known.includes(scope)))?.[0];
}

function check(given: NewToken, now: number): Required<NewToken> {
  const name = given.name.trim();
  if (name === '' || name.length > NAME_MOST || /\p{C}/u.test(name)) {
    fail('INVALID_ARGUMENT', { argument: 'name', problem: `expected 1 to ${NAME_MOST} printable characters.` });
  }
  const scopes = [...new Set(given.scopes)];
  if (!entranceOf(scopes)) {
    const problem = `expected some of ${tokenScopes.mcp.join(', ')} for /mcp, or some of ${tokenScopes.api.join(', ')} for the public API; a token has never both.`;
    fail('INVALID_ARGUMENT', { argument: 'scopes', problem });
  }
  const expiresAt = given.expiresAt ?? null;
  if (expiresAt !== null && !(expiresAt > now)) {
    fail('INVALID_ARGUMENT', { argument: 'expiresAt', problem: 'expected a time that is still to come.' });
  }
  return { userId: given.userId, name, scopes, expiresAt, sso: given.sso ?? false };
}
