// Turns the provider's events into our observations.
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import { isDocumentClient } from '../clients/normalize.ts';
import { pollSeconds } from '../device/endpoint.ts';

export interface ListeningParts {
  readonly store: Pick<Store, 'oauth'>;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly addressOf: (req: object) => string;
}

/** The package's error text. */
const replayedProof = 'DPoP proof JWT Replay detected';

export function listen(provider: Provider, { store, clock, observe, addressOf }: ListeningParts): void {
  const touched = new Map<string, number>();
  const about = (ctx: KoaContextWithOIDC) => ({
    ...(ctx.oidc?.client ? { clientId: ctx.oidc.client.clientId } : {}),
    ...(ctx.oidc?.account ? { userId: Number(ctx.oidc.account.accountId) } : {}),
    address: addressOf(ctx.req),
  });
  const failed = (where: string) => (ctx: KoaContextWithOIDC, cause: Error) =>
    observe({ type: 'failure', where, requestId: `${ctx.state?.requestId ?? randomId()}`, cause });

  provider.on('grant.success', (ctx) => {
    const refreshed = ctx.oidc.params?.grant_type === 'refresh_token';
    observe({ type: 'security', event: refreshed ? 'token.refreshed' : 'token.issued', ...about(ctx) });
    const id = ctx.oidc.client?.clientId;
    if (id === undefined || isDocumentClient(id) || clock.now() - (touched.get(id) ?? 0) < 3_600_000) return;
    if (touched.size > 10_000) touched.clear();
    touched.set(id, clock.now());
    store.oauth.touchClient(id, clock.now()).catch((cause: unknown) => {
      observe({ type: 'warning', message: 'the last use of a client could not be noted', cause });
    });
  });
  provider.on('grant.error', (ctx, error) => {
    // RFC 8628 section 3.5: not an error, the user has not answered yet.
    if (error.error === 'authorization_pending') return;
    const detail = error.error_detail ?? error.error_description ?? error.message;
    // RFC 9449 section 5: the proof is invalid, not the grant. The package returns `invalid_grant`, and clients sign
    // out on that.
    if (detail === replayedProof) {
      ctx.body = { error: 'invalid_dpop_proof', error_description: 'The DPoP proof was used before. Make a new one.' };
    }
    const reused = /already (?:used|consumed)/.test(detail);
    observe({ type: 'security', event: reused ? 'token.reused' : 'token.refused', ...about(ctx), detail });
  });
  provider.on('device_authorization.success', (ctx) => {
    // RFC 8628 section 3.2.
    Object.assign(ctx.body as object, { interval: pollSeconds });
  });
  provider.on('authorization.error', (ctx, error) => {
    observe({ type: 'security', event: 'authorization.refused', ...about(ctx), detail: error.message });
  });
  provider.on('registration_create.success', (ctx) => {
    observe({ type: 'security', event: 'client.registered', ...about(ctx) });
  });
  provider.on('registration_create.error', (ctx, error) => {
    const detail = error.error_description ?? error.message;
    observe({ type: 'security', event: 'client.refused', address: addressOf(ctx.req), detail });
  });
  provider.on('server_error', failed('oauth'));
  // Without a listener, Koa writes errors to the console.
  const listener = { on: provider.on.bind(provider) as (event: 'error', run: (cause: unknown) => void) => unknown };
  listener.on('error', (cause) => observe({ type: 'failure', where: 'oauth', requestId: randomId(), cause }));
}
