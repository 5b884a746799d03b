// Endpoints for application tokens: the token of the call and, for administrators, all tokens.
import { z } from 'zod';
import { fail } from '../core/errors.ts';
import type { ApplicationToken } from '../store/oauth/token-types.ts';
import { defineRoute } from './route.ts';
import { showTime, timeSchema } from './schemas.ts';

const tokenSchema = z
  .strictObject({
    object: z.literal('token'),
    id: z.int(),
    name: z.string(),
    level: z.enum(['read-only', 'read-write']),
    scopes: z.array(z.string()),
    createdAt: timeSchema,
    expiresAt: timeSchema.optional().describe('Absent if the token does not expire'),
    lastUsedAt: timeSchema.optional().describe('Accurate to a few seconds; absent if the token was never used'),
    user: z.strictObject({ object: z.literal('user'), id: z.int(), email: z.string() }),
  })
  .meta({ id: 'Token' });

const writeScopes: ReadonlySet<string> = new Set([
  'notes:write',
  'workflows:trigger',
  'all',
  'mcp:write',
  'mcp:action',
  'records:write',
  'records:action',
]);

/** Behaviour api 5, 5: the scopes determine the level. */
export function levelOf({ scopes }: Pick<ApplicationToken, 'scopes'>): 'read-only' | 'read-write' {
  return scopes.some((scope) => writeScopes.has(scope)) ? 'read-write' : 'read-only';
}

function toTokenBody(token: ApplicationToken): z.infer<typeof tokenSchema> {
  const { id, name, scopes, userId, email } = token;
  return {
    object: 'token',
    id,
    name,
    level: levelOf(token),
    scopes: [...scopes],
    createdAt: showTime(token.createdAt),
    ...(token.expiresAt !== null && { expiresAt: showTime(token.expiresAt) }),
    ...(token.lastUsedAt !== null && { lastUsedAt: showTime(token.lastUsedAt) }),
    user: { object: 'user', id: userId, email },
  };
}

export const tokenRoutes = [
  defineRoute({
    method: 'GET',
    path: '/v1/token',
    id: 'getToken',
    summary: 'The token of this call, with its scopes and expiry',
    scopes: null,
    admin: false,
    status: 200,
    answers: tokenSchema,
    handle: async ({ token }) => ({ status: 200, body: toTokenBody(token) }),
  }),
  defineRoute({
    method: 'GET',
    path: '/v1/project/{projectName}/tokens',
    id: 'listTokens',
    summary: 'The application tokens of the project',
    scopes: ['all'],
    admin: true,
    status: 200,
    answers: z.strictObject({ data: z.array(tokenSchema) }),
    handle: async (_, { store }) => ({ status: 200, body: { data: (await store.tokens.list()).map(toTokenBody) } }),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/v1/project/{projectName}/tokens/{tokenId}',
    id: 'revokeToken',
    summary: 'Revokes an application token, immediately and permanently',
    scopes: ['all'],
    admin: true,
    status: 204,
    async handle({ path: { tokenId = '' }, access }, { store }) {
      if (!/^[1-9]\d{0,9}$/.test(tokenId)) {
        fail('INVALID_ARGUMENT', { argument: 'tokenId', problem: 'expected a token id, a whole number.' });
      }
      const isRevoked =
        Number(tokenId) <= 2_147_483_647 && (await store.tokens.revoke(Number(tokenId), access.caller.id));
      if (!isRevoked) fail('NOT_FOUND', { path: `token ${tokenId}` });
      return { status: 204 };
    },
  }),
];
