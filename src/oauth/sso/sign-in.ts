// Sign-in through an OpenID provider, from the button on our page to the returning user.
//
// A sign-in is bound to the browser that started it (CVE-2026-27124; RFC 9700 section 4.7.1). For each origin (the pages
// of the authorization server, the console), only that browser holds a secret. The storage has the hash of the state
// and the hash of the secret. Nonce and PKCE verifier are derived from the secret and the state. A redirect URL opened
// in another browser, or an attempt read from the storage, is therefore useless.
import type { Clock } from '../../core/clock.ts';
import { type SsoProvider, ssoProvidersOf } from '../../core/config/sso.ts';
import type { Config } from '../../core/config.ts';
import { type AppError, fail, isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken, randomToken, sign, timingSafeEqualText } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { ExternalIdentity, User } from '../../store/users/types.ts';
import { applyMapping, type ClaimMapping, type Claims, parseMapping } from './claims.ts';
import { createOpenIdProvider, refusalReason, type SignInSecrets } from './provider.ts';

/** The pages with a sign-in: authorization server or console. */
type SsoOrigin = 'oauth' | 'console';

interface SsoContext {
  readonly door: SsoOrigin;
  /** Secret that only this browser holds; at least 256 random bits. */
  readonly binding: string;
  /** Redirect URI of ours, registered at the provider. */
  readonly redirectUri: string;
  /** Client address, as the HTTP handler read it; for the log. */
  readonly address: string;
}

interface SsoStartRequest extends SsoContext {
  /** Purpose of the sign-in: the interaction, or the page of the console. Never a URL. */
  readonly about: string;
  readonly loginHint?: string | undefined;
  readonly forceLogin?: boolean;
}

type SsoOutcome =
  | { readonly state: 'ok'; readonly about: string; readonly user: User }
  /** Started in another browser, already answered, or expired. */
  | { readonly state: 'lost' }
  /** SSO_UNAVAILABLE or SSO_REFUSED, to show with a link to start again. */
  | { readonly state: 'failed'; readonly about: string; readonly error: AppError };

export interface Sso {
  /** The last segment of its redirect URIs; '' for the provider whose URIs have none. */
  readonly id: string;
  readonly issuer: string;
  /** Display name of the provider. */
  readonly name: string;
  /** Mapping of claims to rights; applied at every sign-in. */
  readonly mapping: ClaimMapping;
  /** Returns the URL for the browser. SSO_UNAVAILABLE if the provider does not respond. */
  begin(request: SsoStartRequest): Promise<URL>;
  /** Handles the redirect back from the provider. */
  finish(context: SsoContext & { readonly query: URLSearchParams }): Promise<SsoOutcome>;
}

export interface SsoOptions {
  readonly store: Pick<Store, 'oauth' | 'identities'>;
  readonly config: Config;
  readonly clock: Pick<Clock, 'now'>;
  readonly observe: Observe;
}

const MODEL = 'SsoAttempt';

/** One for each provider; empty if SSO is not configured. CONFIGURATION for an invalid mapping. */
export function createSsoProviders(options: SsoOptions): readonly Sso[] {
  const all = ssoProvidersOf(options.config);
  return all.map((settings) => {
    const otherIssuers = all.flatMap(({ issuer }) => (issuer === settings.issuer ? [] : [issuer]));
    return createSso(settings, otherIssuers, options);
  });
}

function createSso(
  settings: SsoProvider,
  otherIssuers: readonly string[],
  { store, config, clock, observe }: SsoOptions,
): Sso {
  const { id: provider, issuer, name, linkUsers: link } = settings;
  const mapping = checkMapping(settings);
  const openIdProvider = createOpenIdProvider(settings, observe);

  const logEvent = (
    event: string,
    { door, address }: SsoContext,
    extra: { readonly userId?: number; readonly detail?: string } = {},
  ) => observe({ type: 'security', event: `${door === 'console' ? 'console.' : ''}sso.${event}`, address, ...extra });

  const admitUser = async (claims: Claims): Promise<User> => {
    const identity = readIdentity(claims, settings, mapping);
    const admission = await store.identities.admit(identity, {
      link,
      ...(otherIssuers.length > 0 && { otherIssuers }),
    });
    if (admission.state === 'ok') return admission.user;
    // The message does not reveal which users or roles exist; the reason is only logged.
    const problem = `Your ${name} account has no access here. Ask an administrator for access.`;
    return fail('SSO_REFUSED', { problem, why: `${admission.why} (subject ${identity.subject})` });
  };

  return {
    id: provider,
    issuer,
    name,
    mapping,
    async begin({ door, binding, about, ...request }) {
      const state = randomToken();
      const url = await openIdProvider.authorize({ ...request, ...deriveSecrets(binding, state) });
      await store.oauth.upsert({
        model: MODEL,
        id: hashToken(state),
        payload: { door, about, binding: hashToken(binding), ...(provider !== '' && { provider }) },
        expiresAt: clock.now() + config.interactionSeconds * 1000,
      });
      return url;
    },
    async finish({ query, ...context }) {
      const { binding, redirectUri } = context;
      const state = query.get('state') ?? '';
      const id = hashToken(state);
      const attempt = await store.oauth.find(MODEL, id);
      // OpenID Connect Core section 3.1.2.1: the state was created for this browser and this origin.
      const isOwn =
        attempt?.payload.door === context.door && timingSafeEqualText(`${attempt.payload.binding}`, hashToken(binding));
      if (!attempt || !isOwn) {
        logEvent(attempt ? 'forged' : 'lost', context);
        return { state: 'lost' };
      }
      // RFC 9700 section 4.4.2.2, RFC 9207 section 4: a response counts only at the redirect URI of the provider that was
      // asked. The `iss` of the response is checked too, but not every provider sends it.
      if ((attempt.payload.provider ?? '') !== provider) {
        logEvent('mixed-up', context, {
          detail: `begun with '${attempt.payload.provider ?? ''}', returned by '${provider}'`,
        });
        return { state: 'lost' };
      }
      // RFC 9700 section 4.7.1: a state is accepted once, over all processes.
      if (!(await store.oauth.consume(MODEL, id, Math.floor(clock.now() / 1000)))) {
        logEvent('replayed', context);
        return { state: 'lost' };
      }
      const about = `${attempt.payload.about}`;
      try {
        const url = new URL(redirectUri);
        url.search = `${query}`;
        const user = await admitUser(await openIdProvider.redeem(url, deriveSecrets(binding, state)));
        logEvent('ok', context, { userId: user.id });
        return { state: 'ok', about, user };
      } catch (error) {
        if (isAppError(error, 'SSO_REFUSED')) logEvent('refused', context, { detail: refusalReason(error) });
        else if (!isAppError(error, 'SSO_UNAVAILABLE')) throw error;
        return { state: 'failed', about, error };
      }
    },
  };
}

/** RFC 7636 section 4.1, OpenID Connect Core section 15.5.2: both values need the secret of the browser. */
function deriveSecrets(binding: string, state: string): SignInSecrets {
  return { state, nonce: sign(`nonce ${state}`, binding), verifier: sign(`verifier ${state}`, binding) };
}

function checkMapping({ id, mapping, setting }: SsoProvider): ClaimMapping {
  try {
    return parseMapping(mapping);
  } catch (error) {
    const where = id === '' ? 'SERVICE_SSO_MAPPING' : `${setting}: mapping`;
    return fail('CONFIGURATION', { problem: `${where}: ${(error as Error).message}.` });
  }
}

/**
 * SSO_REFUSED for an account that is refused regardless of the user: no e-mail address, an unverified one, or a domain
 * that is not allowed.
 */
function readIdentity(claims: Claims, rules: SsoProvider, mapping: ClaimMapping): ExternalIdentity {
  const { name, issuer } = rules;
  const readText = (claim: string): string | undefined => {
    const value = claims[claim];
    return typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 191) : undefined;
  };
  const refuse = (problem: string, why: string): never =>
    fail('SSO_REFUSED', { problem, why: `${why} (subject ${claims.sub})` });

  const emailClaim = claims[rules.emailClaim];
  const email = typeof emailClaim === 'string' ? emailClaim.trim() : '';
  if (email.length > 254 || !/^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email)) {
    return refuse(
      `${name} did not send your e-mail address, which is required to sign in. Contact the operator.`,
      `the claim '${rules.emailClaim}' is not an e-mail address`,
    );
  }
  // Some providers send a string. Any other value means unverified.
  const emailVerified = claims.email_verified === true || claims.email_verified === 'true';
  if (rules.verifiedEmail && !emailVerified) {
    return refuse(
      `${name} has not verified your e-mail address. Verify it there, then sign in again.`,
      'the address is not verified',
    );
  }
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (rules.domains && !rules.domains.includes(domain)) {
    return refuse(
      `People with an e-mail address at ${domain} cannot sign in here. Use an account of another domain.`,
      rules.id === ''
        ? 'the domain of the address is not in SERVICE_SSO_DOMAINS'
        : `the domain of the address is not in the domains of ${rules.setting}`,
    );
  }
  return {
    issuer,
    subject: `${claims.sub}`,
    email,
    emailVerified,
    firstName: readText('given_name') ?? (readText('family_name') === undefined ? readText('name') : undefined),
    lastName: readText('family_name'),
    timezone: readText('zoneinfo'),
    rights: applyMapping(mapping, claims),
  };
}
