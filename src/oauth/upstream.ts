// The OpenID provider that people sign in with, as openid-client speaks to it. The package is loaded and the provider's
// metadata fetched by the first sign-in, so that neither can hold up the start; what failed is tried anew by the next one.
//
// What the answer of the provider must be, on top of what the package checks by itself (state, RFC 9207 iss, PKCE, and of the
// ID token iss, aud, exp, iat, nonce): its signature, also where TLS would do, and `azp`.
import type { Configuration } from 'openid-client';
import type { Config } from '../core/config.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import type { Claims } from './claims.ts';

/** What belongs to one sign-in; known to nobody but us and the browser that it was begun in. */
export interface Proofs {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636: 43 to 128 characters. */
  readonly verifier: string;
}

export interface Upstream {
  /** Where the browser is sent. SSO_UNAVAILABLE when the provider cannot be found out about. */
  authorize(request: AuthorizeRequest): Promise<URL>;
  /**
   * Who came back, by the address that they came back to (our own, with the query of the request). SSO_UNAVAILABLE when the
   * provider cannot be asked; SSO_REFUSED when it signed nobody in, or the answer is not of this sign-in.
   */
  redeem(returned: URL, proofs: Proofs): Promise<Claims>;
}

export interface AuthorizeRequest extends Proofs {
  readonly redirectUri: string;
  readonly loginHint?: string | undefined;
  /** Who is signed in there is asked again. */
  readonly again?: boolean;
}

type Package = typeof import('openid-client');
type SsoConfig = Pick<Config, 'ssoIssuer' | 'ssoClientId' | 'ssoClientSecret' | 'ssoScopes'>;

const TIMEOUT_SECONDS = 10;
/** Errors of the package that say that the provider did not answer as one does, and nothing of the person. */
const broken: ReadonlySet<unknown> = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
  'OAUTH_MISSING_SERVER_METADATA',
  'OAUTH_INVALID_SERVER_METADATA',
  'OAUTH_UNSUPPORTED_OPERATION',
]);
/** RFC 6749 sections 4.1.2.1 and 5.2: what is wrong with us, or with the provider. */
const faults: ReadonlySet<unknown> = new Set([
  'server_error',
  'temporarily_unavailable',
  'invalid_client',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_response_type',
]);

export function createUpstream(config: SsoConfig, name: string, observe: Observe): Upstream {
  const issuer = new URL(`${config.ssoIssuer}`);
  const clientId = `${config.ssoClientId}`;
  let found: Promise<{ readonly client: Package; readonly provider: Configuration }> | undefined;

  const discover = async () => {
    const client = await import('openid-client');
    const provider = await client.discovery(issuer, clientId, undefined, authenticate(client, config.ssoClientSecret), {
      timeout: TIMEOUT_SECONDS,
      // OpenID Connect Core section 3.1.3.7: the signature is checked whichever way the token came.
      execute: [
        client.enableNonRepudiationChecks,
        // The configuration takes http for addresses of this machine alone.
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    });
    provider.timeout = TIMEOUT_SECONDS;
    return { client, provider };
  };

  const find = () => {
    found ??= discover().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };

  const unavailable = (cause: unknown): never => {
    // The package's own message says too little without the code, and the cause too much for a client.
    observe({ type: 'warning', message: `The OpenID provider ${issuer.href} could not be used`, cause });
    throw new AppError('SSO_UNAVAILABLE', { name }, cause);
  };

  return {
    async authorize({ redirectUri, state, nonce, verifier, loginHint, again }) {
      try {
        const { client, provider } = await find();
        return client.buildAuthorizationUrl(provider, {
          redirect_uri: redirectUri,
          scope: config.ssoScopes.join(' '),
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(loginHint && { login_hint: loginHint }),
          ...(again && { prompt: 'login' }),
        });
      } catch (error) {
        return unavailable(error);
      }
    },

    async redeem(returned, { state, nonce, verifier }) {
      try {
        const { client, provider } = await find();
        const tokens = await client.authorizationCodeGrant(provider, returned, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        // OpenID Connect Core section 3.1.3.7 item 5: a token for another party is not ours, though we are in its audience.
        if (claims.azp !== undefined && claims.azp !== clientId) refuse(name, 'azp names another client');
        // A provider of many tenants (a template for an issuer) would let every one of them in.
        if (new URL(claims.iss).href !== issuer.href) refuse(name, `iss is '${claims.iss}'`);
        if (provider.serverMetadata().userinfo_endpoint === undefined) return claims;
        // OpenID Connect Core section 5.3.2: it is about the same subject, which the package checks.
        const info = await client.fetchUserInfo(provider, tokens.access_token, claims.sub);
        return { ...info, ...claims };
      } catch (error) {
        if (isAppError(error)) throw error;
        const { code, error: said } = error as { code?: unknown; error?: unknown };
        // Metadata may have changed since: the next sign-in asks anew.
        if (error instanceof TypeError || broken.has(code) || faults.has(said)) {
          found = undefined;
          return unavailable(error);
        }
        if (said === 'access_denied')
          return refuse(name, 'access_denied', `${name} did not sign you in. Try again.`, error);
        return refuse(name, [code, said].filter(Boolean).join(': '), undefined, error);
      }
    },
  };
}

/** Why, for the log: names of what is wrong, never what the provider sent. */
export function whyRefused(error: AppError<'SSO_REFUSED'>): string {
  return error.details.why ?? '';
}

function refuse(name: string, why: string, problem?: string, cause?: unknown): never {
  const usual = `What came back from ${name} does not belong to this sign-in, or came too late. Nothing was done. Try again.`;
  return fail('SSO_REFUSED', { problem: problem ?? usual, why }, cause);
}

/** RFC 6749 section 2.3.1 prefers the header; providers say what they take, and the header where they say nothing. */
function authenticate(client: Package, secret: string | null): ReturnType<Package['None']> {
  if (secret === null) return client.None();
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (as, metadata, body, headers) => {
    const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = !methods.includes('client_secret_basic') && methods.includes('client_secret_post') ? post : basic;
    return chosen(as, metadata, body, headers);
  };
}
