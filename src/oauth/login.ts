// The end of the step of signing in, whichever way it went: the interaction gets its answer, and the browser goes on.
import type Provider from 'oidc-provider';
import type { Clock } from '../core/clock.ts';

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

export interface SignedIn {
  readonly userId: number;
  /** Through whom; null: by a password. The session keeps it, as `acr`. */
  readonly issuer: string | null;
  /** When he began to prove who he is: a session that is ended meanwhile is none. Default now. */
  readonly since?: number;
}

/** Answers where the browser goes on. */
export async function completeSignIn(
  { provider, clock }: { readonly provider: Provider; readonly clock: Pick<Clock, 'now'> },
  details: Details,
  { userId, issuer, since = clock.now() }: SignedIn,
): Promise<string> {
  const accountId = `${userId}`;
  if (details.session && details.session.accountId !== accountId) {
    // The session of the other account ends here; the interaction goes on without one.
    await forgetSession(provider, details);
    Object.assign(details, { session: undefined });
  }
  const mark = issuer === null ? {} : { acr: issuer };
  Object.assign(details, { result: { login: { accountId, ts: Math.floor(since / 1000), ...mark } } });
  await details.save(details.exp - Math.floor(clock.now() / 1000));
  return details.returnTo;
}

export async function forgetSession(provider: Provider, details: Details): Promise<void> {
  const uid = details.session?.uid;
  const session = uid === undefined ? undefined : await provider.Session.findByUid(uid);
  await session?.destroy();
}
