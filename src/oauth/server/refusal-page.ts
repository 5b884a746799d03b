// Shows errors of the authorization endpoint on our own page first. Any client can register any redirect URI.
// Redirecting errors without a click would make this server an open redirector.
import type { KoaContextWithOIDC } from 'oidc-provider';
import { messagePage, preparePage } from '../../http/page.ts';
import type { Store } from '../../store/store.ts';
import { describeRedirect } from '../clients/normalize.ts';

export function createErrorPage({ connections }: Pick<Store, 'connections'>) {
  /** Whether the signed-in user has already decided about this client, and therefore knows it. */
  const isDecided = async ({ oidc }: KoaContextWithOIDC): Promise<boolean> => {
    const { session, client } = oidc;
    if (session?.accountId === undefined || !client) return false;
    return (await connections.decisionOf(Number(session.accountId), client.clientId)) !== undefined;
  };

  return async (ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> => {
    await next();
    if (ctx.oidc?.route !== 'authorization') return;
    const location = ctx.response.get('location');
    if (!URL.canParse(location)) return;
    const { searchParams, hash } = new URL(location);
    // Errors of implicit requests are in the fragment (RFC 6749 section 4.2.2.1).
    const parameters = searchParams.has('error') ? searchParams : new URLSearchParams(hash.slice(1));
    if (!parameters.has('error')) return;
    // RFC 9700 section 4.11.2: no automatic redirect before the user has decided; the page has a link instead.
    if (await isDecided(ctx)) return;
    const page = messagePage({
      title: 'This request cannot be served',
      text: 'An app sent you here with a request that is not allowed. Go back to it only if you trust the link.',
      detail: [parameters.get('error'), parameters.get('error_description')].filter(Boolean).join(': '),
      link: { href: location, text: `Go back to ${describeRedirect(location).name}` },
    });
    ctx.remove('location');
    ctx.status = 400;
    const text = preparePage(ctx.res, page);
    ctx.type = 'html';
    ctx.body = text;
  };
}
