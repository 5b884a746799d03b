// oidc-provider, configured as the authorization server of one MCP resource. The package is loaded when it is first
// needed (it takes a quarter of a second), and everything else in the room imports its types only.
import type Provider from 'oidc-provider';
import type {
  Account,
  ClientMetadata,
  Configuration,
  JWK,
  KoaContextWithOIDC,
  errors as oidcErrors,
} from 'oidc-provider';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { isAppError } from '../core/errors.ts';
import { createSharedLimiter } from '../core/limit.ts';
import type { Observe } from '../core/observe.ts';
import { hashToken, makeSigningKey, randomId, randomToken, sameText, sign } from '../core/secret.ts';
import type { Store } from '../store/store.ts';
import { createAdapterFactory } from './adapter.ts';
import { commandLine, createClientNormaliser, isDocumentClient, normaliserProperty } from './clients.ts';
import { connectionProperty, readLimits, secondsLeft } from './connection.ts';
import { rememberConsent } from './consent.ts';
import { describeDeviceFlow } from './device-flow.ts';
import { pollSeconds } from './device-front.ts';
import { createDocumentFetch, type FetchDocument, findAddressProblem } from './documents.ts';
import type { DomainPolicy } from './domains.ts';
import { assertionAlgorithms, clientAuthMethods, dpopAlgorithms } from './metadata.ts';
import type { Paths } from './paths.ts';
import { cloudScope, offlineAccess, resourceScopes } from './scopes.ts';
import type { SignInWays } from './sign-in-ways.ts';

export interface ProviderOptions {
  readonly store: Store;
  readonly config: Config;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly observe: Observe;
  /** The client's address of the request under way, as the front read it. */
  readonly addressOf: (req: object) => string;
  readonly renderError: (
    ctx: KoaContextWithOIDC,
    error: { error: string; error_description?: string | undefined },
  ) => void;
  readonly fetchDocument?: FetchDocument;
  readonly ways: SignInWays;
  /** Resource of the command line; absent where it may not sign in. */
  readonly cloud?: string | undefined;
}

export interface LoadedProvider {
  readonly provider: Provider;
  /** Newest first: the first signs, all verify. */
  readonly cookieKeys: readonly string[];
}

type Errors = typeof oidcErrors;

/** As the provider keeps it for the time of a request. */
interface KnownAccount extends Account {
  /** Milliseconds since the epoch. */
  readonly sessionsFrom: number;
}

/** Metadata documents fetched for one client address in a minute: each costs an outgoing request. */
const documentsPerMinute = 30;
/** As the page for people looks for it. */
export const blockedText = 'the client is blocked here';
const oneYear = 365 * 86_400;
const publicClient = { token_endpoint_auth_method: 'none' } as const;
/** How far ahead of time the package takes a proof, which is then good for twice as long as it counts. */
const proofWindowSeconds = 300;
/** As the package says it. */
const replayedProof = 'DPoP proof JWT Replay detected';

export async function createProvider(options: ProviderOptions): Promise<LoadedProvider> {
  const { store, config, paths, clock, observe } = options;
  const [{ Provider, errors, interactionPolicy }, signing, cookies] = await Promise.all([
    loadPackage(),
    store.keys.of('oauth-signing', makeSigningKey),
    store.keys.of('oauth-cookies', () => randomToken()),
  ]);
  const cookieKeys = cookies.map(({ value }) => value);

  const policy = interactionPolicy.base();
  // A session of someone who was disabled or removed is no session.
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('account_gone', 'the account is disabled or gone', (ctx) => {
      return ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined;
    }),
  );
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('other_way', 'the session was not made by a way in that is open', ({ oidc }) => {
      const { session, result } = oidc;
      // Made just now, within this authorization.
      if (session?.accountId === undefined || result?.login) return false;
      // Who is signed in to the host application is asked anew each time: it may be somebody else by now.
      return options.ways.host !== undefined || !options.ways.accepts(session.acr ?? null);
    }),
  );

  // A session from before its user was signed out everywhere is none, though a request under way wrote it down once more.
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('signed_out', 'the account was signed out everywhere', (ctx) => {
      const { session, account } = ctx.oidc;
      const from = Math.floor(((account as KnownAccount | undefined)?.sessionsFrom ?? 0) / 1000);
      return session?.accountId !== undefined && (session.loginTs ?? 0) < from;
    }),
  );
  // No token outlives what the person allowed.
  const withinLimits = (seconds: number) => (ctx: KoaContextWithOIDC | undefined) =>
    Math.min(seconds, secondsLeft(readLimits(ctx?.oidc.entities.Grant ?? {}), clock.now()));

  const normalise = createClientNormaliser(errors, {
    allowed: config.redirectDomains,
    denied: config.redirectDeniedDomains,
  });
  const configuration: Configuration = {
    adapter: createAdapterFactory({
      rows: store.oauth,
      clock,
      refreshGraceSeconds: config.refreshGraceSeconds,
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
    clients: options.cloud === undefined ? [] : [commandLine],
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
    // OAuth 2.1 section 7.5.2: every client proves that it began the flow; S256 is the only method the package knows.
    pkce: { required: () => true },
    // RFC 6750 section 5.3: never a token in an address.
    acceptQueryParamAccessTokens: false,
    interactions: { policy, url: (_ctx, interaction) => paths.interaction(interaction.uid) },
    features: describeFeatures(options, errors),
    fetch: createDocumentFetch(documentDomains(config), options.fetchDocument) as NonNullable<Configuration['fetch']>,
    extraClientMetadata: {
      properties: [normaliserProperty],
      validator: (_ctx, _key, _value, metadata) => normalise(metadata),
    },
    clientBasedCORS: () => true,
    expiresWithSession: async () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    // RFC 7009 section 2.1: revoking any token of an authorization ends the authorization.
    revokeGrantPolicy: () => true,
    loadExistingGrant: (ctx) => rememberConsent(ctx, { store, clock }),
    async findAccount(ctx, id) {
      // From memory while the permissions stand still: nobody who is disabled has any.
      if (!(await store.permissions.accessOf(Number(id)))) return undefined;
      // Only of a browser session is it asked since when it may be.
      const user = ctx.oidc.session === undefined ? undefined : await store.identity.findUser(Number(id));
      const known: KnownAccount = {
        accountId: id,
        claims: async () => ({ sub: id }),
        sessionsFrom: user?.sessionsFrom ?? 0,
      };
      return known;
    },
    // The gate tells the activity log the client by its name.
    extraTokenClaims: async (ctx) => {
      const name = ctx.oidc.client?.clientName;
      return name === undefined ? undefined : { client_name: name };
    },
    ttl: {
      AccessToken: withinLimits(config.accessTokenSeconds),
      AuthorizationCode: config.authorizationCodeSeconds,
      DeviceCode: config.deviceCodeSeconds,
      // Refresh tokens live since their last use; after a year in all, the user is asked again.
      Grant: Math.max(oneYear, config.refreshTokenSeconds),
      IdToken: config.accessTokenSeconds,
      Interaction: config.interactionSeconds,
      RefreshToken: withinLimits(config.refreshTokenSeconds),
      Session: config.sessionSeconds,
    },
    renderError: async (ctx, out) => options.renderError(ctx, out),
  };

  const provider = new Provider(paths.issuer, configuration);
  // A blocked client signs nobody in and gets no token. The error is not invalid_client, to which clients answer by
  // registering anew (RFC 6749 section 5.2).
  const find = provider.Client.find.bind(provider.Client);
  provider.Client.find = async (id: string) => {
    if (await store.connections.isBlocked(`${id}`)) throw new errors.UnauthorizedClient(blockedText);
    return find(id);
  };
  // The package keeps of a grant only what it knows.
  const known = provider.Grant.IN_PAYLOAD;
  Object.defineProperty(provider.Grant, 'IN_PAYLOAD', { get: () => [...known, connectionProperty] });
  // The front writes Host and X-Forwarded-* itself, from the configuration.
  provider.proxy = true;
  // Kept as a hash: see the adapter.
  provider.Client.prototype.compareClientSecret = function compareClientSecret(given: string): boolean {
    return this.clientSecret !== undefined && sameText(hashToken(given), this.clientSecret);
  };
  // RFC 7591 section 3.2.1: who names no method is registered as a public client; the package would make a secret for it.
  const model = provider.Client as unknown as { needsSecret(metadata: ClientMetadata): boolean };
  const { needsSecret } = model;
  model.needsSecret = (metadata) => {
    const { token_endpoint_auth_method: named, token_endpoint_auth_methods_supported: choices } = metadata;
    return needsSecret(named === undefined && choices === undefined ? { ...metadata, ...publicClient } : metadata);
  };
  // RFC 7523 section 3, RFC 9449 section 11.1: a jti is taken once, also by two processes at the same moment, and is
  // remembered for as long as what carries it can be presented. The package would read first and write after.
  provider.ReplayDetection.unique = (iss, jti, exp) =>
    store.oauth.insertOnce({
      model: 'ReplayDetection',
      id: hashToken(`${iss} ${jti}`),
      payload: {},
      expiresAt: Math.ceil((exp + proofWindowSeconds) * 1000),
    });
  listen(provider, options);
  return { provider, cookieKeys };
}

function documentDomains(config: Config): DomainPolicy {
  return { allowed: config.clientMetadataDomains, denied: config.clientMetadataDeniedDomains };
}

/**
 * The first key signs, all verify. What an older one signed is left as it is: the package would write the new signature as
 * another cookie, of the whole host and without the attributes of ours.
 */
function createKeyring([newest = '', ...older]: readonly string[]) {
  const verify = (data: string, signature: string) =>
    [newest, ...older].some((key) => sameText(signature, sign(data, key)));
  return {
    sign: (data: string) => sign(data, newest),
    verify,
    index: (data: string, signature: string) => (verify(data, signature) ? 0 : -1),
  };
}

function describeCookies(paths: Paths, keys: readonly string[]): NonNullable<Configuration['cookies']> {
  // `__Host-` would need Path=/, which would show our cookies to the host application.
  const start = paths.secure ? '__Secure-' : '';
  const { port } = new URL(paths.origin);
  const name = (what: string) => `${start}portico_${what}${port ? `_${port}` : ''}`;
  const shared = { signed: true, httpOnly: true, sameSite: 'lax', secure: paths.secure } as const;
  return {
    // The types of the package know lists alone, though it hands the ring on to Koa.
    keys: createKeyring(keys) as unknown as string[],
    names: { session: name('session'), interaction: name('interaction'), resume: name('resume') },
    long: { ...shared, path: `${paths.prefix}/oauth` },
    short: { ...shared },
  };
}

function describeFeatures(options: ProviderOptions, errors: Errors): NonNullable<Configuration['features']> {
  const { store, config, paths, clock } = options;
  const fetches = createSharedLimiter(
    'oauth-document',
    { points: documentsPerMinute, seconds: 60 },
    { windows: store.windows, clock },
  );
  const tried = new WeakSet<object>();
  const resourceOf = ({ clientId }: { readonly clientId: string }): string =>
    (clientId === commandLine.client_id ? options.cloud : undefined) ?? paths.resource;
  return {
    devInteractions: { enabled: false },
    userinfo: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    rpMetadataChoices: { enabled: true },
    dPoP: { enabled: true },
    pushedAuthorizationRequests: { enabled: true },
    deviceFlow: options.cloud === undefined ? { enabled: false } : describeDeviceFlow(options),
    revocation: {
      enabled: true,
      // RFC 7009 section 2.1: only the client that a token was issued to.
      allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
    },
    introspection: {
      enabled: true,
      // RFC 7662 section 2.1: a client asks about its own tokens; about others only one that proves who it is.
      allowedPolicy: async (_ctx, client, token) =>
        token.clientId === client.clientId || client.clientAuthMethod !== 'none',
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
      // Long enough that one sign-in fetches once.
      cacheDuration: { min: Math.min(config.interactionSeconds, 600), max: 86_400 },
      async allowFetch(ctx: KoaContextWithOIDC | undefined, id: string) {
        const problem = findAddressProblem(id, documentDomains(config));
        if (problem) throw new errors.InvalidClient(`client_id cannot be fetched: ${problem}`);
        // The provider's error page looks for the client once more; a request causes one fetch all the same.
        if (ctx && tried.has(ctx.req)) return false;
        if (ctx) tried.add(ctx.req);
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
      defaultResource: async (_ctx, client, oneOf) => oneOf ?? resourceOf(client),
      useGrantedResource: async () => true,
      async getResourceServerInfo(_ctx, resource, client) {
        // RFC 8707 section 2: each client has one resource; the front has made every spelling of it the same.
        const own = resourceOf(client);
        if (resource !== own) throw new errors.InvalidTarget(`the resource here is ${own}`);
        return {
          scope: own === paths.resource ? resourceScopes.join(' ') : cloudScope,
          audience: own,
          accessTokenTTL: config.accessTokenSeconds,
          accessTokenFormat: 'opaque',
        };
      },
    },
  } as NonNullable<Configuration['features']>;
}

function listen(provider: Provider, { store, clock, observe, addressOf }: ProviderOptions): void {
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
    // RFC 8628 section 3.5: nothing is wrong, the person has not answered yet.
    if (error.error === 'authorization_pending') return;
    const detail = error.error_detail ?? error.error_description ?? error.message;
    // RFC 9449 section 5: what cannot be used is the proof. The package blames the grant, on which clients sign out.
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
  // Koa writes to the console where nobody listens.
  const listener = { on: provider.on.bind(provider) as (event: 'error', run: (cause: unknown) => void) => unknown };
  listener.on('error', (cause) => observe({ type: 'failure', where: 'oauth', requestId: randomId(), cause }));
}

const runtimeWarning = 'Unsupported runtime';

/** Loads the package without its one remark about Node 20, with which it works (the test suite runs there). */
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
