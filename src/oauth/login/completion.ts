// The last step of every sign-in: saves the result in the interaction and redirects the browser.
import type { ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

interface SignedIn {
  readonly userId: number;
  /** Issuer of the sign-in; null for a password. The session stores it as `acr`. */
  readonly issuer: string | null;
  /** Start of the sign-in, in milliseconds; default now. A session ended after this time does not count. */
  readonly since?: number;
}

/** Returns the URL that the browser goes to next. */
export async function completeSignIn(
  { provider, clock }: { readonly provider: Provider; readonly clock: Pick<Clock, 'now'> },
  details: Details,
  { userId, issuer, since = clock.now() }: SignedIn,
): Promise<string> {
  const accountId = `${userId}`;
  if (details.session && details.session.accountId !== accountId) {
    // End the session of the other account. The interaction continues without a session.
    await forgetSession(provider, details);
    Object.assign(details, { session: undefined });
  }
  const acrPart = issuer === null ? {} : { acr: issuer };
  Object.assign(details, { result: { login: { accountId, ts: Math.floor(since / 1000), ...acrPart } } });
  await details.save(details.exp - Math.floor(clock.now() / 1000));
  return details.returnTo;
}

/** RFC 9700 section 4.12: 303, because the browser must not repeat the form with the password. */
export function redirect(res: ServerResponse, location: string): void {
  res.writeHead(303, { Location: location, 'Content-Length': '0' }).end();
}

export async function forgetSession(provider: Provider, details: Details): Promise<void> {
  const uid = details.session?.uid;
  const session = uid === undefined ? undefined : await provider.Session.findByUid(uid);
  await session?.destroy();
}

/**
 * Handles two users who sign in at the same time in two tabs of one browser: the second sign-in finds the session of
 * the first. The package would send a page with a script that signs the first user out at an endpoint that we do not
 * serve. This middleware destroys the session and redirects back to the interaction.
 */
export async function restartSignIn(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next();
  const session = ctx.oidc?.session as unknown as EndingSession | undefined;
  const returnUrl = session?.state?.postLogoutRedirectUri;
  if (session === undefined || returnUrl === undefined) return;
  await session.destroy();
  ctx.body = '';
  // RFC 9700 section 4.12: 303. The interaction still exists and now has no session.
  ctx.status = 303;
  ctx.redirect(returnUrl);
}

/** State that the package saves in a session that is about to end. */
interface EndingSession {
  readonly state?: { readonly postLogoutRedirectUri?: string };
  destroy(): Promise<void>;
}
