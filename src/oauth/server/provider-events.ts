// Turns the provider's events into our observations.
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import type { Observe } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import { isDocumentClient } from '../clients/normalize.ts';
import { pollSeconds } from '../device/endpoint.ts';

interface ProviderEventParts {
  readonly store: Pick<Store, 'oauth'>;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly addressOf: (req: object) => string;
}

/** The package's error text. */
const replayedProof = 'DPoP proof JWT Replay detected';

export function observeProvider(provider: Provider, { store, clock, observe, addressOf }: ProviderEventParts): void {
  const touchedAt = new Map<string, number>();
  const contextOf = (ctx: KoaContextWithOIDC) => ({
    ...(ctx.oidc?.client ? { clientId: ctx.oidc.client.clientId } : {}),
    ...(ctx.oidc?.account ? { userId: Number(ctx.oidc.account.accountId) } : {}),
    address: addressOf(ctx.req),
  });
  const reportFailureAt = (where: string) => (ctx: KoaContextWithOIDC, cause: Error) =>
    observe({ type: 'failure', where, requestId: `${ctx.state?.requestId ?? randomId()}`, cause });

  provider.on('grant.success', (ctx) => {
    const isRefresh = ctx.oidc.params?.grant_type === 'refresh_token';
    observe({ type: 'security', event: isRefresh ? 'token.refreshed' : 'token.issued', ...contextOf(ctx) });
    const id = ctx.oidc.client?.clientId;
    if (id === undefined || isDocumentClient(id) || clock.now() - (touchedAt.get(id) ?? 0) < 3_600_000) return;
    if (touchedAt.size > 10_000) touchedAt.clear();
    touchedAt.set(id, clock.now());
    store.oauth.touchClient(id, clock.now()).catch((cause: unknown) => {
      observe({ type: 'warning', message: 'Failed to record the last use of a client.', cause });
    });
  });
  provider.on('grant.error', (ctx, error) => {
    // RFC 8628 section 3.5: not an error, the user has not answered yet.
    if (error.error === 'authorization_pending') return;
    const detail = error.error_detail ?? error.error_description ?? error.message;
    // RFC 9449 section 5: the proof is invalid, not the grant. The package returns `invalid_grant`, and clients sign
    // out on that.
    if (detail === replayedProof) {
      ctx.body = {
        error: 'invalid_dpop_proof',
        error_description: 'The DPoP proof was already used. Create a new one.',
      };
    }
    const isReused = /already (?:used|consumed)/.test(detail);
    observe({ type: 'security', event: isReused ? 'token.reused' : 'token.refused', ...contextOf(ctx), detail });
  });
  provider.on('device_authorization.success', (ctx) => {
    // RFC 8628 section 3.2.
    Object.assign(ctx.body as object, { interval: pollSeconds });
  });
  provider.on('authorization.error', (ctx, error) => {
    observe({ type: 'security', event: 'authorization.refused', ...contextOf(ctx), detail: error.message });
  });
  provider.on('registration_create.success', (ctx) => {
    observe({ type: 'security', event: 'client.registered', ...contextOf(ctx) });
  });
  provider.on('registration_create.error', (ctx, error) => {
    const detail = error.error_description ?? error.message;
    observe({ type: 'security', event: 'client.refused', address: addressOf(ctx.req), detail });
  });
  provider.on('server_error', reportFailureAt('oauth'));
  // Without a listener, Koa writes errors to the console.
  const listener = { on: provider.on.bind(provider) as (event: 'error', run: (cause: unknown) => void) => unknown };
  listener.on('error', (cause) => observe({ type: 'failure', where: 'oauth', requestId: randomId(), cause }));
}
