// How an identity passes through the SDK's own HTTP handlers: as the `authInfo` of one request, put there by the front
// and by nothing else. The bearer token itself stays outside.
import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import type { Identity } from '../call.ts';

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
