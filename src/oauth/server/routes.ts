// The HTTP side of the authorization server: a plain Node handler for every path in its namespaces. It checks, in this
// order: our path, our Host (403), known path (404), preflight (204), method (405), rate limit (429), body size (413).
// Then the endpoint runs. Discovery documents are prebuilt bytes; serving them does not load the provider.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { retryAfterOf } from '../../core/errors/retry-after.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import { createAddressLimiter } from '../../core/limit/addresses.ts';
import { sharedLimiters } from '../../core/limit.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';
import { hashToken, randomId } from '../../core/secret.ts';
import { createAddressReader, createHostCheck } from '../../http/address.ts';
import { messagePage, sendPage, setPageHeaders } from '../../http/page.ts';
import { sendJson } from '../../http/reply.ts';
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
import type { Endpoint, Located, Paths } from './paths.ts';
import { blockedText, createProvider } from './provider.ts';
import { addressOf, canonicaliseResources, composeRequest, isForm, readBody } from './request.ts';
import { cloudScope, offlineAccess } from './scopes.ts';

export interface AuthorizationServerOptions {
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
  /**
   * Handles the request and returns true if the path is in our namespaces. Otherwise does no work and returns false.
   */
  handle(req: IncomingMessage, res: ServerResponse): boolean;
  /**
   * Loads the sign-in code (about a quarter of a second). Without this call, the first request that needs it loads it.
   */
  load(): Promise<void>;
  close(): void;
}

type Callback = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

const methods: Readonly<Record<Endpoint, readonly string[]>> = {
  authorize: ['GET', 'POST'],
  resume: ['GET'],
  interaction: ['GET', 'POST'],
  sso: ['GET'],
  token: ['POST'],
  register: ['POST'],
  revoke: ['POST'],
  introspect: ['POST'],
  par: ['POST'],
  'device-authorization': ['POST'],
  device: ['GET', 'POST'],
  'device-resume': ['GET'],
  jwks: ['GET', 'HEAD'],
  'authorization-server': ['GET', 'HEAD'],
  'protected-resource': ['GET', 'HEAD'],
};
/** Pages are for users on our own origin. Scripts of any origin may call the other endpoints, without credentials. */
const pages: ReadonlySet<Endpoint> = new Set(['authorize', 'resume', 'interaction', 'sso', 'device', 'device-resume']);
/** Endpoints for the command line (device authorization). */
const deviceEndpoints: ReadonlySet<Endpoint> = new Set(['device-authorization', 'device', 'device-resume']);
const SWEEP_MS = 600_000;
/** Retry-After when the client table is full. The sweep may have freed space by then. */
const CLIENTS_FULL_RETRY_SECONDS = 3600;

export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { store, config, paths, clock, observe, signIn, loginMethods = passwordsOnly } = options;
  const metadata = buildMetadata(paths, config, options.resourceName ?? 'Portico', options.cloud);
  const readAddress = createAddressReader(config.trustedProxies);
  const isOurHost = createHostCheck(paths.host, config);
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
    const [, query = ''] = splitUrl(req);
    // RFC 7591 section 5: registration is open, so it is rate limited.
    if (endpoint === 'register') await limitRegistration(address);
    if (endpoint === 'device-authorization') await deviceLimits.countRequest(address);
    const body = req.method === 'POST' ? await readBody(req) : undefined;

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
      located,
      paths,
      address,
      query:
        endpoint === 'authorize'
          ? `${authorizationRequest(new URLSearchParams(query))}`
          : endpoint === 'device'
            ? ''
            : query,
      body: form ? Buffer.from(`${await completeForm(endpoint, form)}`) : body,
      accept: pages.has(endpoint) ? (req.headers.accept ?? 'text/html') : 'application/json',
    });
    const { callback, interaction } = await load();
    const callProvider = () => withinProvider(() => callback(composed, res));
    if (form && !pages.has(endpoint)) {
      return secretThrottle.run({ req, form, address }, callProvider, () => res.statusCode === 401);
    }
    if (endpoint === 'device') return enterCode(req, composed, address, new URLSearchParams(query), callProvider);
    if (endpoint === 'sso') return interaction.finishSso(composed, res, new URLSearchParams(query));
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

  const sendFailure = (req: IncomingMessage, res: ServerResponse, located: Located, thrown: unknown): void => {
    const _requestId = randomId();
    const error = reportFailure(observe, `oauth ${located.endpoint}`, thrown);
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const retryAfter = retryAfterOf(error);
    if (retryAfter !== undefined) res.setHeader('Retry-After', `${retryAfter}`);
    if (isAppError(error, 'RATE_LIMITED')) {
      observe({ type: 'security', event: `${located.endpoint}.throttled`, address: readAddress(req) });
    }
    if (isAppError(error, 'BODY_TOO_LARGE')) {
      res.setHeader('Connection', 'close');
      req.resume();
    }
    if (pages.has(located.endpoint)) {
      sendPage(res, error.status, messagePage({ title: 'Something went wrong', text: error.message }));
    } else {
      sendJsonError(res, error);
    }
  };

  return {
    handle(req, res) {
      const [path] = splitUrl(req);
      const located = paths.locate(path);
      if (located === undefined) return false;
      const method = req.method ?? 'GET';
      res.setHeader('X-Content-Type-Options', 'nosniff');
      res.setHeader('Referrer-Policy', 'no-referrer');

      // DNS rebinding (MCP "Security Warning" of the HTTP transport; RFC 9110 section 7.4): accept only our own host
      // names.
      if (!isOurHost(req.headers.host)) return refuse(res, new AppError('HOST_NOT_ALLOWED', {}));
      if (located === 'unknown') return refuse(res, new AppError('NOT_FOUND', { path }));
      const { endpoint } = located;
      if (endpoint === 'register' && !config.dynamicRegistration)
        return refuse(res, new AppError('NOT_FOUND', { path }));
      if (deviceEndpoints.has(endpoint) && options.cloud === undefined)
        return refuse(res, new AppError('NOT_FOUND', { path }));
      if (endpoint === 'sso' && !loginMethods.sso) return refuse(res, new AppError('NOT_FOUND', { path }));
      const allow = methods[endpoint];
      if (!pages.has(endpoint)) {
        res.setHeader('Access-Control-Allow-Origin', '*');
        res.setHeader('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
        if (method === 'OPTIONS') return answerPreflight(res, allow);
      }
      if (!allow.includes(method)) {
        res.setHeader('Allow', allow.join(', '));
        return refuse(res, new AppError('METHOD_NOT_ALLOWED', { method, allow }));
      }
      if (endpoint === 'authorization-server') return sendDocument(req, res, metadata.authorizationServer);
      if (endpoint === 'protected-resource') return sendDocument(req, res, metadata.protectedResource);

      res.setHeader('Cache-Control', 'no-store');
      serve(req, res, located).catch((error: unknown) => sendFailure(req, res, located, error));
      return true;
    },
    load: async () => void (await load()),
    close() {
      isClosed = true;
      cancelSweep();
    },
  };
}

function splitUrl(req: IncomingMessage): [path: string, query?: string] {
  const url = req.url ?? '/';
  const queryStart = url.indexOf('?');
  return queryStart === -1 ? [url] : [url.slice(0, queryStart), url.slice(queryStart + 1)];
}

function sendDocument(req: IncomingMessage, res: ServerResponse, bytes: Buffer): true {
  res.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': bytes.length,
    'Cache-Control': 'public, max-age=300',
  });
  res.end(req.method === 'HEAD' ? undefined : bytes);
  return true;
}

function answerPreflight(res: ServerResponse, allow: readonly string[]): true {
  res.writeHead(204, {
    'Access-Control-Allow-Methods': allow.join(', '),
    'Access-Control-Allow-Headers': 'Authorization, Content-Type, DPoP, MCP-Protocol-Version',
    'Access-Control-Max-Age': '3600',
  });
  res.end();
  return true;
}

function refuse(res: ServerResponse, error: AppError): true {
  sendJsonError(res, error);
  return true;
}

/** JSON error body of RFC 6749 section 5.2 and RFC 7591 section 3.2.2. */
function sendJsonError(res: ServerResponse, error: AppError): void {
  sendJson(res, error.status, { error: error.code.toLowerCase(), error_description: error.message });
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
  setPageHeaders(ctx.res, page);
  ctx.type = 'html';
  ctx.body = page.text;
}
