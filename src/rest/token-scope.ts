// What a program with an application token may call: the OAuth scopes of the token limit it, besides the rights of its
// user.
import { fail } from '../core/errors.ts';
import type { SignedIn } from '../oauth/tokens/session-gate.ts';
import type { DataRoute } from './route.ts';

const problem = 'Application tokens cannot make this call, only users who are signed in to a front end.';

/**
 * Throws INSUFFICIENT_SCOPE or DENIED. Every token of this API has at least one of its scopes, and each includes
 * `records:read`: the answer of a write shows the record.
 */
export function checkScope(route: Pick<DataRoute, 'action' | 'writes' | 'scope'>, { token }: SignedIn): void {
  const { action, writes, scope = writes ? 'records:write' : 'records:read' } = route;
  if (!token || scope === 'records:read') return;
  if (scope === null) fail('DENIED', { problem });
  // RFC 6750 section 3.1: insufficient_scope.
  if (!token.scopes.includes(scope))
    fail('INSUFFICIENT_SCOPE', { tool: action, scope, scopes: [...token.scopes, scope] });
}

/** Throws DENIED for a program. */
export function requireSession({ token }: SignedIn): void {
  if (token) fail('DENIED', { problem });
}
