// RFC 9700 section 4.5.3 and OAuth 2.1 section 4.1.3: a code that arrives with a wrong verifier, redirect URI or client
// may be stolen. This middleware deletes it. The package itself would allow another attempt.
import type { KoaContextWithOIDC } from 'oidc-provider';
import { hashToken } from '../../core/secret.ts';
import type { OAuthRows } from '../../store/oauth/types.ts';

export function createCodeInvalidation(rows: Pick<OAuthRows, 'consume' | 'destroy'>) {
  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    await next();
    const params = ctx.oidc?.params;
    if (params?.grant_type !== 'authorization_code' || typeof params.code !== 'string') return;
    if ((ctx.body as { readonly error?: unknown } | undefined)?.error !== 'invalid_grant') return;
    const id = hashToken(params.code);
    // A redeemed code stays in the store: using it again must revoke its tokens (RFC 6749 section 4.1.2).
    if (await rows.consume('AuthorizationCode', id, 0)) await rows.destroy('AuthorizationCode', id);
  };
}
