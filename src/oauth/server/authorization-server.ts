// Runs the endpoints of the authorization server: it limits requests, completes their parameters and passes them to
// oidc-provider or to the pages of the sign-in. Its router (router.ts) has the checks that come before. The provider is
// loaded on first use.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import { createAddressLimiter } from '../../core/limit/addresses.ts';
import { sharedLimiters } from '../../core/limit.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken } from '../../core/secret.ts';
import { isForm, readBody } from '../../http/body.ts';
import { createAddressReader } from '../../http/client-address.ts';
import { messagePage, preparePage } from '../../http/page.ts';
import { sendJson } from '../../http/reply.ts';
import { queryOf, queryTextOf } from '../../http/request-target.ts';
import type { Store } from '../../store/store.ts';
import { createClientSecretThrottle } from '../clients/client-secret-throttle.ts';
import { documentFetch, type FetchDocument } from '../clients/documents.ts';
import type { ListCollections, OfferedScopes } from '../consent/consent.ts';
import { createDeviceLimits } from '../device/endpoint.ts';
import { attachCode, hasWrongCode } from '../device/flow.ts';
import { blockedPage, createInteraction, expiredPage, type Interaction } from '../login/interaction.ts';
import { type LoginMethods, passwordsOnly } from '../login/login-methods.ts';
import type { SignIn } from '../login/sign-in.ts';
import { withinProvider } from './async-context.ts';
import { completeAuthorization, completeRefresh } from './authorization-request.ts';
import { buildMetadata } from './metadata.ts';
import { type Endpoint, endpointPaths, type MetadataDocument, type Paths } from './paths.ts';
import { blockedText, createProvider } from './provider.ts';
import { addressOf, canonicaliseResources, composeRequest } from './request.ts';
import { cloudScope, offlineAccess } from './scopes.ts';

interface AuthorizationServerOptions {
  readonly store: Store;
  readonly config: Config;
  readonly paths: Paths;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly signIn: SignIn;
  /** Default: passwords only. */
  readonly loginMethods?: LoginMethods;
  /** Scopes for a request that names no scope: `defaultScopes` of the served tools. */
  readonly defaultScopes: readonly string[];
  /** Collections that a user can choose from when limiting an app to some of them. */
  readonly listCollections: ListCollections;
  /** Scopes that are useful to a user, given the user's rights. */
  readonly offeredScopes: OfferedScopes;
  /** Name that clients display; default `Portico`. */
  readonly resourceName?: string;
  /** Resource of the command line (`portico cloud`); absent when command-line sign-in is off. */
  readonly cloud?: string | undefined;
  /** For tests only: fetches client metadata documents. */
  readonly [documentFetch]?: FetchDocument;
}

export interface AuthorizationServer {
  readonly options: Pick<AuthorizationServerOptions, 'config' | 'paths' | 'observe'>;
  /** The endpoints that are enabled. */
  readonly endpoints: readonly Endpoint[];
  /** Prebuilt JSON; reading it does not load the provider. */
  readonly metadata: Readonly<Record<MetadataDocument, Buffer | undefined>>;
  /** Runs an endpoint. Throws RATE_LIMITED, BODY_TOO_LARGE, ORIGIN_NOT_ALLOWED. */
  serve(req: IncomingMessage, res: ServerResponse, located: Located): Promise<void>;
  /**
   * Loads the sign-in code (about a quarter of a second). Without this call, the first request that needs it loads it.
   */
  load(): Promise<void>;
  close(): void;
}

interface Located {
  readonly endpoint: Endpoint;
  /** Path without any prefix, such as `/oauth/token`. */
  readonly path: string;
  /** Interaction id, for the page of an interaction and the redirect back from it. */
  readonly uid?: string | undefined;
}

type Callback = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Pages are for users on our own origin. Scripts of any origin may call the other endpoints, without credentials. */
export const pages: ReadonlySet<Endpoint> = new Set([
  ...(['authorize', 'resume', 'interaction', 'sso', 'device', 'device-resume'] as const),
]);
/** Endpoints for the command line (device authorization). */
const deviceEndpoints: ReadonlySet<Endpoint> = new Set(['device-authorization', 'device', 'device-resume']);
/** Requests are small. The provider has the same limit. */
const MAX_BODY_BYTES = 56 * 1024;
const SWEEP_MS = 600_000;
/** Retry-After when the client table is full. The sweep may have freed space by then. */
const CLIENTS_FULL_RETRY_SECONDS = 3600;

export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { store, config, paths, clock, observe, signIn, loginMethods = passwordsOnly } = options;
  const metadata = buildMetadata(paths, config, options.resourceName ?? 'Portico', options.cloud);
  const readAddress = createAddressReader(config.trustedProxies);
  const shared = sharedLimiters({ windows: store.windows, clock });
  const perHour = { points: config.registrationsPerHour, seconds: 3600 };
  const registrations = createAddressLimiter(shared, 'oauth-register', perHour);

  const secretThrottle = createClientSecretThrottle({ windows: store.windows, clock });
  const deviceLimits = createDeviceLimits({ store, config, clock });

  interface Loaded {
    /** Version of the keys in use when this was created, or a later one. */
    readonly keys: number;
    readonly parts: Promise<{ readonly callback: Callback; readonly interaction: Interaction }>;
  }
  let loaded: Loaded | undefined;
  // The package reads its keys only on creation. When the keys change, the next request gets a new provider. Requests
  // already running finish on the old one.
  const load = async () => {
    const { keys } = await store.versions();
    if (!loaded || loaded.keys < keys) {
      const created: Loaded = { keys, parts: start() };
      loaded = created;
      created.parts.catch(() => {
        if (loaded === created) loaded = undefined;
      });
    }
    return loaded.parts;
  };
  const start = async () => {
    const fetchDocument = options[documentFetch];
    const { provider, cookieKeys } = await createProvider({
      store,
      config,
      paths,
      clock,
      observe,
      addressOf,
      renderError,
      loginMethods,
      offeredScopes: options.offeredScopes,
      cloud: options.cloud,
      ...(fetchDocument ? { fetchDocument } : {}),
    });
    const interaction = createInteraction({
      provider,
      cookieKeys,
      store,
      signIn,
      paths,
      clock,
      observe,
      addressOf,
      listCollections: options.listCollections,
      offeredScopes: options.offeredScopes,
      loginMethods,
      cloud: options.cloud,
    });
    return { callback: provider.callback() as Callback, interaction };
  };

  let isClosed = false;
  let cancelSweep = clock.after(SWEEP_MS, sweep);
  function sweep(): void {
    const now = clock.now();
    store.oauth
      .sweep(now, now - config.unusedClientSeconds * 1000, now - config.idleClientSeconds * 1000)
      .then(
        (rows) => rows > 0 && observe({ type: 'store.swept', rows }),
        (cause: unknown) => observe({ type: 'warning', message: 'Failed to delete expired sign-in data.', cause }),
      )
      .finally(() => {
        if (!isClosed) cancelSweep = clock.after(SWEEP_MS, sweep);
      });
  }

  const serve = async (req: IncomingMessage, res: ServerResponse, located: Located): Promise<void> => {
    const { endpoint } = located;
    const address = readAddress(req);
    const query = queryOf(req.url);
    // RFC 7591 section 5: registration is open, so it is rate limited.
    if (endpoint === 'register') await limitRegistration(address);
    if (endpoint === 'device-authorization') await deviceLimits.countRequest(address);
    const body = req.method === 'POST' ? await readBody(req, MAX_BODY_BYTES) : undefined;

    if (endpoint === 'authorize' && body) {
      // RFC 6749 section 3.1 also allows POST. Redirecting to GET makes the browser send its SameSite=Lax cookies.
      const form = authorizationRequest(new URLSearchParams(body.toString('utf8')));
      res.writeHead(303, { Location: `${paths.url('authorize')}?${form}` }).end();
      return;
    }

    const form = body && isForm(req) ? new URLSearchParams(body.toString('utf8')) : undefined;
    const pollError = form && endpoint === 'token' ? await deviceLimits.findPollError(form) : undefined;
    if (pollError) return sendJson(res, 400, pollError);
    const composed = composeRequest(req, {
      path: located.path,
      paths,
      address,
      query:
        endpoint === 'authorize' ? `${authorizationRequest(query)}` : endpoint === 'device' ? '' : queryTextOf(req.url),
      body: form ? Buffer.from(`${await completeForm(endpoint, form)}`) : body,
      accept: pages.has(endpoint) ? (req.headers.accept ?? 'text/html') : 'application/json',
    });
    const { callback, interaction } = await load();
    const callProvider = () => withinProvider(() => callback(composed, res));
    if (form && !pages.has(endpoint)) {
      return secretThrottle.run({ req, form, address }, callProvider, () => res.statusCode === 401);
    }
    if (endpoint === 'device') return enterCode(req, composed, address, query, callProvider);
    if (endpoint === 'sso') {
      const sso = loginMethods.providers.find(({ id }) => id === (located.uid ?? ''));
      return sso ? interaction.finishSso(composed, res, sso, query) : fail('NOT_FOUND', { path: located.path });
    }
    if (endpoint !== 'interaction') return callProvider();
    const uid = located.uid ?? '';
    if (!body) return interaction.show(composed, res, uid);
    await interaction.answer(composed, res, uid, new URLSearchParams(body.toString('utf8')));
  };

  const enterCode = async (
    req: IncomingMessage,
    composed: IncomingMessage,
    address: string,
    query: URLSearchParams,
    callProvider: () => Promise<void>,
  ): Promise<void> => {
    if (req.method === 'GET') {
      // RFC 8628 section 3.3.1: a code in the URL is shown for comparison and never accepted without confirmation.
      attachCode(composed, query.get('user_code') ?? '');
      return callProvider();
    }
    // Fetch Metadata: if the browser reports the origin of the form, it must be ours.
    const site = req.headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin') fail('ORIGIN_NOT_ALLOWED', { setting: 'SERVICE_PUBLIC_URL' });
    return deviceLimits.limitGuesses(address, callProvider, () => hasWrongCode(composed));
  };

  const limitRegistration = async (address: string): Promise<void> => {
    await registrations.consume(address);
    const excess = (await store.oauth.countClients()) - config.clientsMost + 1;
    if (excess > 0) {
      observe({ type: 'security', event: 'clients.full', address });
      // Filling the table with unused clients does not lock out others: those clients are deleted first.
      if ((await store.oauth.forgetUnused(excess)) < excess)
        fail('RATE_LIMITED', { retryAfterSeconds: CLIENTS_FULL_RETRY_SECONDS });
    }
  };

  const defaults = { resource: paths.resource, defaultScopes: options.defaultScopes };
  const authorizationRequest = (parameters: URLSearchParams) => completeAuthorization(parameters, defaults);

  const completeForm = async (endpoint: Endpoint, form: URLSearchParams): Promise<URLSearchParams> => {
    if (endpoint === 'par') return authorizationRequest(form);
    // RFC 6749 section 3.3: a terminal can use only one resource, so scopes of other resources are ignored.
    if (endpoint === 'device-authorization') form.set('scope', `${cloudScope} ${offlineAccess}`);
    if (endpoint === 'token' && form.get('grant_type') === 'refresh_token') completeRefresh(form);
    // OAuth 2.1 section 10.2: a token request no longer needs a redirect URI; the PKCE verifier proves that the code
    // belongs to the client. If the request names one, the provider compares it.
    if (endpoint === 'token' && form.get('grant_type') === 'authorization_code' && !form.get('redirect_uri')) {
      const code = await store.oauth.find('AuthorizationCode', hashToken(form.get('code') ?? ''));
      if (typeof code?.payload.redirectUri === 'string') form.set('redirect_uri', code.payload.redirectUri);
    }
    return canonicaliseResources(form, paths.resource);
  };

  return {
    options,
    metadata,
    endpoints: Object.values(endpointPaths).filter(
      (endpoint) =>
        (endpoint !== 'register' || config.dynamicRegistration) &&
        (!deviceEndpoints.has(endpoint) || options.cloud !== undefined) &&
        (endpoint !== 'sso' || loginMethods.providers.length > 0),
    ),
    serve,
    load: async () => void (await load()),
    close() {
      isClosed = true;
      cancelSweep();
    },
  };
}

const explanations: Readonly<Record<string, string>> = {
  invalid_client:
    'This server does not know the app that sent you. Remove the connection in your assistant and add it again.',
  invalid_redirect_uri: 'The app requested a redirect address that it did not register, so no answer was sent.',
};

/** Shows errors that the provider cannot send to the client, because the redirect URI is unverified. */
function renderError(ctx: KoaContextWithOIDC, out: { error: string; error_description?: string | undefined }): void {
  const isLost = ctx.oidc?.route === 'resume' || /session|interaction/.test(out.error_description ?? '');
  const page = out.error_description?.includes(blockedText)
    ? blockedPage
    : isLost
      ? expiredPage
      : messagePage({
          title: 'This request cannot be served',
          text: explanations[out.error] ?? 'Go back to your assistant and connect again.',
          detail: [out.error, out.error_description].filter(Boolean).join(': '),
        });
  const text = preparePage(ctx.res, page);
  ctx.type = 'html';
  ctx.body = text;
}
