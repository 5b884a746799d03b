// The routes of the public API, as a table: what each needs, what it answers, and what the OpenAPI document says of it. Each
// right is asked at the call: the scopes of the token, and what its user is now.
import { fail } from '../core/errors.ts';
import type { ApplicationToken, Store } from '../store/store.ts';
import type { Holder } from './gate.ts';

export interface RouteParts {
  readonly store: Pick<Store, 'identity' | 'tokens'>;
}

/** One request with a token that counts. */
export interface Visit extends Holder {
  /** What stands in the path for `{name}`. */
  readonly path: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  /** Absent: no body. */
  readonly body?: object;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `{name}` stands for one segment. */
  readonly path: string;
  readonly summary: string;
  /** One of them is needed, or `all`; null: any token will do. */
  readonly scopes: readonly string[] | null;
  /** Spec public-http-api 5, 2: the user has the Admin role, at the call. */
  readonly admin: boolean;
  readonly status: number;
  /** JSON Schema of the body of that status; absent when there is none. */
  readonly answers?: object;
  readonly handle: (visit: Visit, parts: RouteParts) => Promise<Answer>;
}

const text = { type: 'string' } as const;
const time = { type: 'string', format: 'date-time' } as const;
const tokenSchema = {
  type: 'object',
  required: ['object', 'id', 'name', 'level', 'scopes', 'createdAt', 'user'],
  properties: {
    object: { const: 'token' },
    id: { type: 'integer' },
    name: text,
    level: { enum: ['read-only', 'read-write'] },
    scopes: { type: 'array', items: text },
    createdAt: time,
    expiresAt: { ...time, description: 'Absent: never' },
    lastUsedAt: { ...time, description: 'To within some seconds; absent: not yet' },
    user: {
      type: 'object',
      required: ['object', 'id', 'email'],
      properties: { object: { const: 'user' }, id: { type: 'integer' }, email: text },
    },
  },
} as const;

const writing: ReadonlySet<string> = new Set(['notes:write', 'workflows:trigger', 'all']);

/** Spec public-http-api 5, 5: the level is what the scopes come to. */
export function levelOf({ scopes }: Pick<ApplicationToken, 'scopes'>): 'read-only' | 'read-write' {
  return scopes.some((scope) => writing.has(scope)) ? 'read-write' : 'read-only';
}

function show(token: ApplicationToken) {
  const { id, name, scopes, userId, email } = token;
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    object: 'token',
    id,
    name,
    level: levelOf(token),
    scopes,
    createdAt: at(token.createdAt),
    ...(token.expiresAt !== null && { expiresAt: at(token.expiresAt) }),
    ...(token.lastUsedAt !== null && { lastUsedAt: at(token.lastUsedAt) }),
    user: { object: 'user', id: userId, email },
  };
}

/** Spec public-http-api 4.1: names are case sensitive, and a token belongs to one project. */
async function checkProject({ path }: Visit, { store }: RouteParts): Promise<void> {
  const { project } = await store.identity.place();
  if (path.projectName !== project) fail('NOT_FOUND', { path: `project '${path.projectName}'` });
}

export const routes: readonly Route[] = [
  {
    method: 'GET',
    path: '/v1/token',
    summary: 'What the token of this call is, and until when',
    scopes: null,
    admin: false,
    status: 200,
    answers: tokenSchema,
    handle: async ({ token }) => ({ status: 200, body: show(token) }),
  },
  {
    method: 'GET',
    path: '/v1/project/{projectName}/tokens',
    summary: 'The application tokens of the project',
    scopes: ['all'],
    admin: true,
    status: 200,
    answers: {
      type: 'object',
      required: ['data'],
      properties: { data: { type: 'array', items: tokenSchema } },
    },
    async handle(visit, parts) {
      await checkProject(visit, parts);
      return { status: 200, body: { data: (await parts.store.tokens.list()).map(show) } };
    },
  },
  {
    method: 'DELETE',
    path: '/v1/project/{projectName}/tokens/{tokenId}',
    summary: 'Revokes an application token, at once and for good',
    scopes: ['all'],
    admin: true,
    status: 204,
    async handle(visit, parts) {
      await checkProject(visit, parts);
      const { tokenId = '' } = visit.path;
      if (!/^[1-9]\d{0,9}$/.test(tokenId)) {
        fail('INVALID_ARGUMENT', { argument: 'tokenId', problem: 'expected the id of a token, a whole number.' });
      }
      const gone = Number(tokenId) <= 2_147_483_647 && (await parts.store.tokens.revoke(Number(tokenId)));
      if (!gone) fail('NOT_FOUND', { path: `token ${tokenId}` });
      return { status: 204 };
    },
  },
];

export interface Found {
  /** Of the path, one for each method. */
  readonly routes: readonly Route[];
  readonly path: Readonly<Record<string, string>>;
}

/** Of a path as `ApiPaths.locate` gives it. INVALID_ARGUMENT for a segment that cannot be decoded. */
export function findRoutes(path: string): Found | undefined {
  const asked = path.split('/');
  for (const { path: pattern } of routes) {
    const parts = pattern.split('/');
    if (parts.length !== asked.length) continue;
    if (!parts.every((part, at) => part === asked[at] || (part.startsWith('{') && asked[at] !== ''))) continue;
    const named = parts.flatMap((part, at): [string, string][] =>
      part.startsWith('{') ? [[part.slice(1, -1), decode(asked[at]!, part)]] : [],
    );
    return { routes: routes.filter((route) => route.path === pattern), path: Object.fromEntries(named) };
  }
  return undefined;
}

function decode(segment: string, part: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return fail('INVALID_ARGUMENT', { argument: part.slice(1, -1), problem: 'it is not URL-encoded.' });
  }
}
