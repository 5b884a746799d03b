// The OpenID provider that users sign in with, through openid-client. The first sign-in loads the package and fetches
// the provider's metadata, so neither delays the start. After a failure, the next sign-in tries again.
//
// The package checks state, iss (RFC 9207), PKCE, and iss, aud, exp, iat and nonce of the ID token. We also require a
// valid signature, even where TLS would be enough, and check `azp`.
import type { Configuration } from 'openid-client';
import type { SsoProvider } from '../../core/config/sso.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import type { Claims } from './claims.ts';

/** Secrets of one sign-in, known only to us and to the browser that started it. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636: 43 to 128 characters. */
  readonly verifier: string;
}

interface OpenIdProvider {
  /** Returns the URL for the browser. SSO_UNAVAILABLE if the provider's metadata cannot be fetched. */
  authorize(request: AuthorizeRequest): Promise<URL>;
  /**
   * Returns the claims of the user. `returned` is our redirect URL with the query of the request. SSO_UNAVAILABLE if
   * the provider cannot be reached. SSO_REFUSED if it signed no user in, or if the response does not belong to this
   * sign-in.
   */
  redeem(callbackUrl: URL, proofs: SignInSecrets): Promise<Claims>;
}

interface AuthorizeRequest extends SignInSecrets {
  readonly redirectUri: string;
  readonly loginHint?: string | undefined;
  /** Whether the provider must ask for a sign-in even if the user is already signed in. */
  readonly forceLogin?: boolean;
}

type Package = typeof import('openid-client');

const TIMEOUT_SECONDS = 10;
/** Error codes of the package that mean a faulty provider, independent of the user. */
const providerErrorCodes: ReadonlySet<unknown> = new Set([
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
/** RFC 6749 sections 4.1.2.1 and 5.2: errors in our configuration, or at the provider. */
const configurationErrors: ReadonlySet<unknown> = new Set([
  'server_error',
  'temporarily_unavailable',
  'invalid_client',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_response_type',
]);

export function createOpenIdProvider(settings: SsoProvider, observe: Observe): OpenIdProvider {
  const { clientId, name } = settings;
  const issuer = new URL(settings.issuer);
  let discovered: Promise<{ readonly client: Package; readonly provider: Configuration }> | undefined;

  const discover = async () => {
    const client = await import('openid-client');
    const provider = await client.discovery(issuer, clientId, undefined, authenticate(client, settings.clientSecret), {
      timeout: TIMEOUT_SECONDS,
      // OpenID Connect Core section 3.1.3.7: the signature is always checked, however the token arrived.
      execute: [
        client.enableNonRepudiationChecks,
        // The configuration allows http only for addresses of this machine.
        ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    });
    provider.timeout = TIMEOUT_SECONDS;
    return { client, provider };
  };

  const find = () => {
    discovered ??= discover().catch((error: unknown) => {
      discovered = undefined;
      throw error;
    });
    return discovered;
  };

  const unavailable = (cause: unknown): never => {
    // The package's message lacks the error code, and the cause has too much detail for a client.
    observe({ type: 'warning', message: `A request to the OpenID provider ${issuer.href} failed.`, cause });
    throw new AppError('SSO_UNAVAILABLE', { name }, cause);
  };

  return {
    async authorize({ redirectUri, state, nonce, verifier, loginHint, forceLogin }) {
      try {
        const { client, provider } = await find();
        return client.buildAuthorizationUrl(provider, {
          redirect_uri: redirectUri,
          scope: settings.scopes.join(' '),
          state,
          nonce,
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
          ...(loginHint && { login_hint: loginHint }),
          ...(forceLogin && { prompt: 'login' }),
        });
      } catch (error) {
        return unavailable(error);
      }
    },

    async redeem(callbackUrl, { state, nonce, verifier }) {
      try {
        const { client, provider } = await find();
        const tokens = await client.authorizationCodeGrant(provider, callbackUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        // OpenID Connect Core section 3.1.3.7 item 5: a token for another party is rejected, even if we are in its
        // audience.
        if (claims.azp !== undefined && claims.azp !== clientId) refuse(name, 'azp names another client');
        // With a multi-tenant provider (a template as issuer), every tenant could otherwise sign in.
        if (new URL(claims.iss).href !== issuer.href) refuse(name, `iss is '${claims.iss}'`);
        if (provider.serverMetadata().userinfo_endpoint === undefined) return claims;
        // OpenID Connect Core section 5.3.2: the subject must be the same; the package checks this.
        const info = await client.fetchUserInfo(provider, tokens.access_token, claims.sub);
        return { ...info, ...claims };
      } catch (error) {
        if (isAppError(error)) throw error;
        const { code, error: oauthError } = error as { code?: unknown; error?: unknown };
        // The metadata may have changed, so the next sign-in fetches it again.
        if (error instanceof TypeError || providerErrorCodes.has(code) || configurationErrors.has(oauthError)) {
          discovered = undefined;
          return unavailable(error);
        }
        if (oauthError === 'access_denied')
          return refuse(name, 'access_denied', `${name} did not sign you in. Try again.`, error);
        return refuse(name, [code, oauthError].filter(Boolean).join(': '), undefined, error);
      }
    },
  };
}

/** Reason for the log: names of errors, never data from the provider. */
export function refusalReason(error: AppError<'SSO_REFUSED'>): string {
  return error.details.why ?? '';
}

function refuse(name: string, reason: string, problem?: string, cause?: unknown): never {
  const defaultProblem = `The response from ${name} does not belong to this sign-in, or came too late. Try again.`;
  return fail('SSO_REFUSED', { problem: problem ?? defaultProblem, why: reason }, cause);
}

/**
 * RFC 6749 section 2.3.1 prefers the Authorization header. It is used unless the provider supports only the request
 * body.
 */
function authenticate(client: Package, secret: string | null): ReturnType<Package['None']> {
  if (secret === null) return client.None();
  const [basic, post] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  return (as, metadata, body, headers) => {
    const methods = as.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const chosen = !methods.includes('client_secret_basic') && methods.includes('client_secret_post') ? post : basic;
    return chosen(as, metadata, body, headers);
  };
}
