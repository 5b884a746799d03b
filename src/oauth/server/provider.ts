// Configures oidc-provider as the authorization server of one MCP resource. Loading the package takes a quarter of a
// second, so it is loaded on first use. The other modules import only its types.
import type Provider from 'oidc-provider';
import type {
  Account,
  ClientMetadata,
  Configuration,
  JWK,
  KoaContextWithOIDC,
  errors as oidcErrors,
} from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken, makeSigningKey, randomToken, sign, timingSafeEqualText } from '../../core/secret.ts';
import { visibleName } from '../../core/suggestions/visible-text.ts';
import type { Store } from '../../store/store.ts';
import { createDocumentFetch, type FetchDocument, findAddressProblem } from '../clients/documents.ts';
import type { DomainPolicy } from '../clients/domains.ts';
import {
  commandLineClient,
  createClientNormaliser,
  findMemberProblem,
  normaliserProperty,
} from '../clients/normalize.ts';
import { createFetchLimiter, createOutgoingFetch, MAX_DOCUMENT_BYTES } from '../clients/outgoing-requests.ts';
import { connectionProperty, readLimits, secondsLeft } from '../consent/connection.ts';
import { type OfferedScopes, reuseConsent } from '../consent/consent.ts';
import { persistFirstSite } from '../consent/first-site.ts';
import { createDeviceFlow } from '../device/flow.ts';
import { createUserCodes } from '../device/user-codes.ts';
import { restartSignIn } from '../login/completion.ts';
import type { LoginMethods } from '../login/login-methods.ts';
import { createAdapterFactory } from './adapter.ts';
import { createCodeInvalidation } from './code-burning.ts';
import { assertionAlgorithms, clientAuthMethods, dpopAlgorithms } from './metadata.ts';
import type { Paths } from './paths.ts';
import { observeProvider } from './provider-events.ts';
import { createErrorPage } from './refusal-page.ts';
import { cloudScope, offlineAccess, resourceScopes } from './scopes.ts';

interface ProviderOptions {
  readonly store: Store;
  readonly config: Config;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Client address of the current request, as the HTTP handler read it. */
  readonly addressOf: (req: object) => string;
  readonly renderError: (
    ctx: KoaContextWithOIDC,
    error: { error: string; error_description?: string | undefined },
  ) => void;
  readonly fetchDocument?: FetchDocument;
  readonly loginMethods: LoginMethods;
  readonly offeredScopes: OfferedScopes;
  /** Resource of the command line; absent when command-line sign-in is off. */
  readonly cloud?: string | undefined;
}

interface LoadedProvider {
  readonly provider: Provider;
  /** Newest first. The first key signs; every key verifies. */
  readonly cookieKeys: readonly string[];
}

type Errors = typeof oidcErrors;

/** Account as the provider holds it during a request. */
interface SessionAccount extends Account {
  /** Milliseconds since the epoch. */
  readonly sessionsFrom: number;
}

/** Error description of a blocked client. The error page recognizes it by this text. */
export const blockedText = 'the client is blocked here';
const oneYear = 365 * 86_400;
const publicClient = { token_endpoint_auth_method: 'none' } as const;
/**
 * Seconds into the future that the package accepts for the `iat` of a proof. Such a proof stays usable for twice that
 * time.
 */
const proofWindowSeconds = 300;

export async function createProvider(options: ProviderOptions): Promise<LoadedProvider> {
  const { store, config, paths, clock, observe } = options;
  const [{ Provider, errors, interactionPolicy }, signing, cookies] = await Promise.all([
    loadPackage(),
    store.keys.of('oauth-signing', makeSigningKey),
    store.keys.of('oauth-cookies', () => randomToken()),
  ]);
  const cookieKeys = cookies.map(({ value }) => value);

  const policy = interactionPolicy.base();
  // Sessions of disabled or removed users do not count.
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('account_gone', 'the account is disabled or gone', (ctx) => {
      return ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined;
    }),
  );
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('other_way', 'the sign-in method of the session is not enabled', ({ oidc }) => {
      const { session, result } = oidc;
      // The session was made just now, in this authorization.
      if (session?.accountId === undefined || result?.login) return false;
      // With host sign-in, ask the host every time: another user may be signed in to it by now.
      return options.loginMethods.host !== undefined || !options.loginMethods.accepts(session.acr ?? null);
    }),
  );

  // A session from before "sign out everywhere" does not count, even if a concurrent request saved it again.
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('signed_out', 'the account was signed out everywhere', (ctx) => {
      const { session, account } = ctx.oidc;
      const from = Math.floor(((account as SessionAccount | undefined)?.sessionsFrom ?? 0) / 1000);
      return session?.accountId !== undefined && (session.loginTs ?? 0) < from;
    }),
  );
  // Tokens expire no later than the limit that the user chose.
  const withinLimits = (seconds: number) => (ctx: KoaContextWithOIDC | undefined) =>
    Math.min(seconds, secondsLeft(readLimits(ctx?.oidc.entities.Grant ?? {}), clock.now()));

  const normalise = createClientNormaliser(errors, {
    allowed: config.redirectDomains,
    denied: config.redirectDeniedDomains,
  });
  const fetches = createFetchLimiter({ windows: store.windows, clock });
  const addressOfCaller = (ctx: KoaContextWithOIDC | undefined) => (ctx ? options.addressOf(ctx.req) : 'none');
  const configuration: Configuration = {
    adapter: createAdapterFactory({
      rows: store.oauth,
      clock,
      refreshGraceSeconds: config.refreshGraceSeconds,
      userCodes: createUserCodes(cookieKeys),
      errors,
      onRevoke: (grantId) => observe({ type: 'security', event: 'grant.revoked', detail: grantId }),
    }),
    jwks: {
      keys: signing.map(({ id, value }) => ({ ...(JSON.parse(value) as JWK), kid: id, alg: 'ES256', use: 'sig' })),
    },
    cookies: describeCookies(paths, cookieKeys),
    routes: {
      authorization: '/oauth/authorize',
      token: '/oauth/token',
      registration: '/oauth/register',
      revocation: '/oauth/revoke',
      introspection: '/oauth/introspect',
      jwks: '/oauth/jwks',
      pushed_authorization_request: '/oauth/par',
      device_authorization: '/oauth/device_authorization',
      code_verification: '/oauth/device',
    },
    clients: options.cloud === undefined ? [] : [commandLineClient],
    scopes: [offlineAccess, ...resourceScopes],
    responseTypes: ['code'],
    clientAuthMethods: [...clientAuthMethods],
    enabledJWA: {
      clientAuthSigningAlgValues: [...assertionAlgorithms],
      dPoPSigningAlgValues: [...dpopAlgorithms],
      idTokenSigningAlgValues: ['ES256'],
    },
    clientDefaults: {
      ...publicClient,
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
    // OAuth 2.1 section 7.5.2: every client must use PKCE. S256 is the only method that the package supports.
    pkce: { required: () => true },
    // RFC 6750 section 5.3: access tokens in the query string are not accepted.
    acceptQueryParamAccessTokens: false,
    interactions: { policy, url: (_ctx, interaction) => paths.interaction(interaction.uid) },
    features: describeFeatures(options, errors, fetches),
    fetch: createOutgoingFetch(createDocumentFetch(documentDomains(config), options.fetchDocument), () =>
      fetches.consume(addressOfCaller(Provider.ctx)),
    ) as NonNullable<Configuration['fetch']>,
    fetchResponseBodyLimits: { 'client_id metadata document': MAX_DOCUMENT_BYTES },
    extraClientMetadata: {
      properties: [normaliserProperty],
      validator: (_ctx, _key, _value, metadata) => normalise(metadata),
    },
    clientBasedCORS: () => true,
    expiresWithSession: async () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    // RFC 7009 section 2.1: revoking any token of an authorization revokes the whole authorization.
    revokeGrantPolicy: () => true,
    loadExistingGrant: (ctx) => reuseConsent(ctx, { store, clock, offeredScopes: options.offeredScopes }),
    async findAccount(ctx, id) {
      // Served from memory while the permissions version is unchanged. Disabled users have no permissions.
      if (!(await store.permissions.accessOf(Number(id)))) return undefined;
      // `sessionsFrom` matters only for browser sessions.
      const user = ctx.oidc.session === undefined ? undefined : await store.identity.findUser(Number(id));
      const account: SessionAccount = {
        accountId: id,
        claims: async () => ({ sub: id }),
        sessionsFrom: user?.sessionsFrom ?? 0,
      };
      return account;
    },
    // The token check passes the client's name to the activity log.
    extraTokenClaims: async (ctx) => {
      const name = visibleName(ctx.oidc.client?.clientName ?? '');
      return name === '' ? undefined : { client_name: name };
    },
    ttl: {
      AccessToken: withinLimits(config.accessTokenSeconds),
      AuthorizationCode: config.authorizationCodeSeconds,
      DeviceCode: config.deviceCodeSeconds,
      // The lifetime of a refresh token restarts with each use. After a year in total, the user must sign in again.
      Grant: Math.max(oneYear, config.refreshTokenSeconds),
      IdToken: config.accessTokenSeconds,
      Interaction: config.interactionSeconds,
      RefreshToken: withinLimits(config.refreshTokenSeconds),
      Session: config.sessionSeconds,
    },
    renderError: async (ctx, out) => options.renderError(ctx, out),
  };

  const provider = new Provider(paths.issuer, configuration);
  // A blocked client cannot sign users in or get tokens. The error is `unauthorized_client`, because clients answer
  // `invalid_client` by registering again (RFC 6749 section 5.2).
  const find = provider.Client.find.bind(provider.Client);
  provider.Client.find = async (id: string) => {
    if (await store.connections.isBlocked(`${id}`)) throw new errors.UnauthorizedClient(blockedText);
    return find(id);
  };
  // The package saves only the grant properties that it knows, so this adds ours.
  const payloadNames = provider.Grant.IN_PAYLOAD;
  Object.defineProperty(provider.Grant, 'IN_PAYLOAD', { get: () => [...payloadNames, connectionProperty] });
  // Safe: `composeRequest` sets Host and X-Forwarded-* from the configuration.
  provider.proxy = true;
  // The store holds only a hash of the secret; see adapter.ts.
  provider.Client.prototype.compareClientSecret = function compareClientSecret(secret: string): boolean {
    return this.clientSecret !== undefined && timingSafeEqualText(hashToken(secret), this.clientSecret);
  };
  // RFC 7591 section 3.2.1: a client that names no authentication method is registered as a public client. By default
  // the package would issue it a secret.
  const model = provider.Client as unknown as { needsSecret(metadata: ClientMetadata): boolean };
  const { needsSecret } = model;
  model.needsSecret = (metadata) => {
    const problem = findMemberProblem(metadata);
    if (problem) throw new errors.InvalidClientMetadata(problem);
    const { token_endpoint_auth_method: authMethod, token_endpoint_auth_methods_supported: supportedMethods } =
      metadata;
    return needsSecret(
      authMethod === undefined && supportedMethods === undefined ? { ...metadata, ...publicClient } : metadata,
    );
  };
  // RFC 7523 section 3, RFC 9449 section 11.1: each jti is accepted once, even when two processes receive it at the
  // same time. It is stored as long as its token can be presented. The package itself reads first and writes later,
  // which is a race.
  provider.ReplayDetection.unique = (iss, jti, exp) =>
    store.oauth.insertOnce({
      model: 'ReplayDetection',
      id: hashToken(`${iss} ${jti}`),
      payload: {},
      expiresAt: Math.ceil((exp + proofWindowSeconds) * 1000),
    });
  persistFirstSite(provider, () => Provider.ctx);
  provider.use(restartSignIn);
  provider.use(createErrorPage(store));
  provider.use(createCodeInvalidation(store.oauth));
  observeProvider(provider, options);
  return { provider, cookieKeys };
}

function documentDomains(config: Config): DomainPolicy {
  return { allowed: config.clientMetadataDomains, denied: config.clientMetadataDeniedDomains };
}

/**
 * The first key signs; every key verifies. Cookies signed with an older key keep their signature. Otherwise the package
 * would set the new signature as a second cookie for the whole host, without our attributes.
 */
function createKeyring([newest = '', ...older]: readonly string[]) {
  const verify = (data: string, signature: string) =>
    [newest, ...older].some((key) => timingSafeEqualText(signature, sign(data, key)));
  return {
    sign: (data: string) => sign(data, newest),
    verify,
    index: (data: string, signature: string) => (verify(data, signature) ? 0 : -1),
  };
}

function describeCookies(paths: Paths, keys: readonly string[]): NonNullable<Configuration['cookies']> {
  // `__Host-` requires Path=/, which would expose our cookies to the host application.
  const start = paths.secure ? '__Secure-' : '';
  const { port } = new URL(paths.origin);
  const name = (cookieKind: string) => `${start}portico_${cookieKind}${port ? `_${port}` : ''}`;
  const shared = { signed: true, httpOnly: true, sameSite: 'lax', secure: paths.secure } as const;
  return {
    // The package's types allow only a list, but it passes the key ring on to Koa.
    keys: createKeyring(keys) as unknown as string[],
    names: { session: name('session'), interaction: name('interaction'), resume: name('resume') },
    long: { ...shared, path: `${paths.prefix}/oauth` },
    short: { ...shared },
  };
}

function describeFeatures(
  options: ProviderOptions,
  errors: Errors,
  fetches: ReturnType<typeof createFetchLimiter>,
): NonNullable<Configuration['features']> {
  const { config, paths } = options;
  const fetchedFor = new WeakSet<object>();
  const resourceOf = ({ clientId }: { readonly clientId: string }): string =>
    (clientId === commandLineClient.client_id ? options.cloud : undefined) ?? paths.resource;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    rpMetadataChoices: { enabled: true },
    dPoP: { enabled: true },
    pushedAuthorizationRequests: { enabled: true },
    deviceFlow: options.cloud === undefined ? { enabled: false } : createDeviceFlow(options),
    revocation: {
      enabled: true,
      // RFC 7009 section 2.1: only the client that received a token may revoke it.
      allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
    },
    introspection: {
      enabled: true,
      // RFC 7662 section 4: registration is open to any client, so a client may introspect only its own tokens.
      allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
    },
    registration: {
      enabled: config.dynamicRegistration,
      issueRegistrationAccessToken: false,
      idFactory: () => randomToken(192),
      secretFactory: () => randomToken(),
    },
    clientIdMetadataDocument: {
      enabled: config.clientMetadataDocuments,
      ack: 'draft-02',
      // Long enough for one sign-in to fetch the document only once.
      cacheDuration: { min: Math.min(config.interactionSeconds, 600), max: 86_400 },
      async allowFetch(ctx: KoaContextWithOIDC | undefined, id: string) {
        const problem = findAddressProblem(id, documentDomains(config));
        if (problem) throw new errors.InvalidClient(`client_id cannot be fetched: ${problem}`);
        // The provider's error page looks the client up again; a request still causes only one fetch.
        if (ctx && fetchedFor.has(ctx.req)) return false;
        if (ctx) fetchedFor.add(ctx.req);
        try {
          await fetches.consume(ctx ? options.addressOf(ctx.req) : 'none');
          return true;
        } catch (error) {
          if (!isAppError(error, 'RATE_LIMITED')) throw error;
          throw new errors.TemporarilyUnavailable('too many client metadata documents; try again in a minute');
        }
      },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_ctx, client, requested) => requested ?? resourceOf(client),
      useGrantedResource: async () => true,
      async getResourceServerInfo(_ctx, resource, client) {
        // RFC 8707 section 2: each client has one resource. `canonicaliseResources` has already normalized its
        // spelling.
        const ownResource = resourceOf(client);
        if (resource !== ownResource) throw new errors.InvalidTarget(`the resource of this server is ${ownResource}`);
        return {
          scope: ownResource === paths.resource ? resourceScopes.join(' ') : cloudScope,
          audience: ownResource,
          accessTokenTTL: config.accessTokenSeconds,
          accessTokenFormat: 'opaque',
        };
      },
    },
  } as NonNullable<Configuration['features']>;
}

const runtimeWarning = 'Unsupported runtime';

/**
 * Loads the package and suppresses its warning about Node 20. The package works there: the test suite runs on Node 20.
 */
async function loadPackage() {
  const target: Pick<Console, 'warn'> = globalThis.console;
  const warn = target.warn;
  target.warn = (...words: unknown[]) => {
    if (!`${words[0]}`.includes(runtimeWarning)) warn.apply(target, words);
  };
  try {
    return await import('oidc-provider');
  } finally {
    target.warn = warn;
  }
}
