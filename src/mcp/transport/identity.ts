// Passes the identity through the SDK's own HTTP handlers, as the `authInfo` of one request. Only the endpoint sets
// it. The bearer token itself is not included.
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import type { Identity } from '../tool-call.ts';

export function authInfoOf(identity: Identity): AuthInfo {
  return {
    token: '',
    clientId: identity.auth.clientId,
    scopes: [...identity.auth.scopes],
    extra: { identity },
  };
}

export function identityOfHttp(ctx: ServerContext): Identity | undefined {
  return ctx.http?.authInfo?.extra?.identity as Identity | undefined;
}
