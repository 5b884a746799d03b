// Sign-in through an OpenID provider, from the button on our page to the returning user.
//
// A sign-in is bound to the browser that started it (CVE-2026-27124; RFC 9700 section 4.7.1). For each door (the pages
// of the authorization server, the console), only that browser holds a secret. The storage has the hash of the state
// and the hash of the secret. Nonce and PKCE verifier are derived from the secret and the state. A redirect URL opened
// in another browser, or an attempt read from the storage, is therefore useless.
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { type AppError, fail, isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken, randomToken, sameText, sign } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { ExternalIdentity, User } from '../../store/users/types.ts';
import { applyMapping, type ClaimMapping, type Claims, readMapping } from './claims.ts';
import { createUpstream, type Proofs, whyRefused } from './provider.ts';

/** The pages with a sign-in: authorization server or console. */
export type Door = 'oauth' | 'console';

interface Place {
  readonly door: Door;
  /** Secret that only this browser holds; at least 256 random bits. */
  readonly binding: string;
  /** Redirect URI of ours, registered at the provider. */
  readonly redirectUri: string;
  /** Client address, as the HTTP handler read it; for the log. */
  readonly address: string;
}

export interface Beginning extends Place {
  /** Purpose of the sign-in: the interaction, or the page of the console. Never a URL. */
  readonly about: string;
  readonly loginHint?: string | undefined;
  readonly again?: boolean;
}

export type Returned =
  | { readonly state: 'ok'; readonly about: string; readonly user: User }
  /** Started in another browser, already answered, or expired. */
  | { readonly state: 'lost' }
  /** SSO_UNAVAILABLE or SSO_REFUSED, to show with a link to start again. */
  | { readonly state: 'failed'; readonly about: string; readonly error: AppError };

export interface Sso {
  readonly issuer: string;
  /** Display name of the provider. */
  readonly name: string;
  /** Mapping of claims to rights; applied at every sign-in. */
  readonly mapping: ClaimMapping;
  /** Returns the URL for the browser. SSO_UNAVAILABLE if the provider does not respond. */
  begin(beginning: Beginning): Promise<URL>;
  /** Handles the redirect back from the provider. */
  finish(place: Place & { readonly query: URLSearchParams }): Promise<Returned>;
}

export interface SsoOptions {
  readonly store: Pick<Store, 'oauth' | 'identities'>;
  readonly config: Config;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

const MODEL = 'SsoAttempt';

/** Undefined if SSO is not configured. CONFIGURATION for an invalid mapping. */
export function createSso({ store, config, clock, observe }: SsoOptions): Sso | undefined {
  const { ssoIssuer: issuer } = config;
  if (issuer === null) return undefined;
  const name = config.ssoName ?? new URL(issuer).host;
  const mapping = checkMapping(config.ssoMapping);
  const upstream = createUpstream(config, name, observe);
  const link = config.linkUsers;

  const note = (
    event: string,
    { door, address }: Place,
    more: { readonly userId?: number; readonly detail?: string } = {},
  ) => observe({ type: 'security', event: `${door === 'console' ? 'console.' : ''}sso.${event}`, address, ...more });

  const admit = async (claims: Claims): Promise<User> => {
    const identity = readIdentity(claims, { ...config, issuer, name }, mapping);
    const admission = await store.identities.admit(identity, { link });
    if (admission.state === 'ok') return admission.user;
    // The message does not reveal which users or roles exist; the reason is only logged.
    const problem = `Your account at ${name} cannot be used here. Ask an administrator to let you in.`;
    return fail('SSO_REFUSED', { problem, why: `${admission.why} (subject ${identity.subject})` });
  };

  return {
    issuer,
    name,
    mapping,
    async begin({ door, binding, about, ...request }) {
      const state = randomToken();
      const url = await upstream.authorize({ ...request, ...proofsOf(binding, state) });
      await store.oauth.upsert({
        model: MODEL,
        id: hashToken(state),
        payload: { door, about, binding: hashToken(binding) },
        expiresAt: clock.now() + config.interactionSeconds * 1000,
      });
      return url;
    },
    async finish({ query, ...place }) {
      const { binding, redirectUri } = place;
      const state = query.get('state') ?? '';
      const id = hashToken(state);
      const attempt = await store.oauth.find(MODEL, id);
      // OpenID Connect Core section 3.1.2.1: the state was created for this browser and this door.
      const ours = attempt?.payload.door === place.door && sameText(`${attempt.payload.binding}`, hashToken(binding));
      if (!attempt || !ours) {
        note(attempt ? 'forged' : 'lost', place);
        return { state: 'lost' };
      }
      // RFC 9700 section 4.7.1: a state is accepted once, over all processes.
      if (!(await store.oauth.consume(MODEL, id, Math.floor(clock.now() / 1000)))) {
        note('replayed', place);
        return { state: 'lost' };
      }
      const about = `${attempt.payload.about}`;
      try {
        const url = new URL(redirectUri);
        url.search = `${query}`;
        const user = await admit(await upstream.redeem(url, proofsOf(binding, state)));
        note('ok', place, { userId: user.id });
        return { state: 'ok', about, user };
      } catch (error) {
        if (isAppError(error, 'SSO_REFUSED')) note('refused', place, { detail: whyRefused(error) });
        else if (!isAppError(error, 'SSO_UNAVAILABLE')) throw error;
        return { state: 'failed', about, error };
      }
    },
  };
}

/** RFC 7636 section 4.1, OpenID Connect Core section 15.5.2: both values need the secret of the browser. */
function proofsOf(binding: string, state: string): Proofs {
  return { state, nonce: sign(`nonce ${state}`, binding), verifier: sign(`verifier ${state}`, binding) };
}

function checkMapping(text: string | null): ClaimMapping {
  try {
    return readMapping(text);
  } catch (error) {
    return fail('CONFIGURATION', { problem: `SERVICE_SSO_MAPPING: ${(error as Error).message}.` });
  }
}

type Terms = Pick<Config, 'ssoEmailClaim' | 'ssoVerifiedEmail' | 'ssoDomains'> & Pick<Sso, 'issuer' | 'name'>;

/**
 * SSO_REFUSED for an account that is refused regardless of the user: no e-mail address, an unverified one, or a domain
 * that is not allowed.
 */
function readIdentity(claims: Claims, terms: Terms, mapping: ClaimMapping): ExternalIdentity {
  const { name, issuer } = terms;
  const text = (claim: string): string | undefined => {
    const value = claims[claim];
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 191) : undefined;
  };
  const refuse = (problem: string, why: string): never =>
    fail('SSO_REFUSED', { problem, why: `${why} (subject ${claims.sub})` });

  const given = claims[terms.ssoEmailClaim];
  const email = typeof given === 'string' ? given.trim() : '';
  if (email.length > 254 || !/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email)) {
    return refuse(
      `${name} did not say your e-mail address. Without it you cannot be known here; tell the operator.`,
      `the claim '${terms.ssoEmailClaim}' is no address`,
    );
  }
  // Some providers send a string. Any other value means unverified.
  const emailVerified = claims.email_verified === true || claims.email_verified === 'true';
  if (terms.ssoVerifiedEmail && !emailVerified) {
    return refuse(
      `${name} does not call your e-mail address verified. Verify it there, then sign in again.`,
      'the address is not verified',
    );
  }
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (terms.ssoDomains && !terms.ssoDomains.includes(domain)) {
    return refuse(
      `People with an e-mail address at ${domain} cannot sign in here. Use an account of another domain.`,
      'the domain of the address is not among SERVICE_SSO_DOMAINS',
    );
  }
  return {
    issuer,
    subject: `${claims.sub}`,
    email,
    emailVerified,
    firstName: text('given_name') ?? (text('family_name') === undefined ? text('name') : undefined),
    lastName: text('family_name'),
    timezone: text('zoneinfo'),
    rights: applyMapping(mapping, claims),
  };
}
