// The composition root: a frozen Config in, one Node request listener with start and stop out. It is the only place where
// all rooms meet. A request goes by its path, before any router: /mcp to the MCP front, the OAuth namespaces to the
// authorization server (whose heavy part is loaded once calls are being answered). What else there is goes to the host
// application where there is one; on a server of our own it is the two health checks, and 404.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from './agent/engine.ts';
import { createApiPaths } from './api/paths.ts';
import { admit } from './app/admit.ts';
import { type Apis, openApis } from './app/apis.ts';
import { openApprovalDoor } from './app/approval.ts';
import { type DataOptions, openData } from './app/data.ts';
import { createHostDoor, createServerDoor, type Next, refuse, sendJson } from './app/doors.ts';
import { createMetricsDoor } from './app/metrics-door.ts';
import { type Console, createConsole } from './console/console.ts';
import { createConsolePaths } from './console/paths.ts';
import { type Clock, systemClock } from './core/clock.ts';
import type { Config } from './core/config.ts';
import { fail } from './core/errors.ts';
import { createMeterListener } from './core/observe/meters.ts';
import { createMetrics } from './core/observe/metrics.ts';
import { createTraceListener } from './core/observe/traces.ts';
import { createLogListener, createObserver, type Observe } from './core/observe.ts';
import { sameText, sign } from './core/secret.ts';
import { createFileFront, type FileFront } from './mcp/file-front.ts';
import { createFiles } from './mcp/files.ts';
import { createMcpFront, type McpFront, type McpFrontParts } from './mcp/front.ts';
import { selectTools } from './mcp/tools.ts';
import { createWebhookSender } from './mcp/webhook.ts';
import { type AddressCheck, createAddressCheck } from './oauth/allow-list.ts';
import { createGate } from './oauth/bearer.ts';
import { documentFetch, type FetchDocument } from './oauth/documents.ts';
import type { HostSignInOptions } from './oauth/host-sign-in.ts';
import { createPaths } from './oauth/paths.ts';
import { type AuthorizationServer, createAuthorizationServer } from './oauth/routes.ts';
import { defaultScopes } from './oauth/scopes.ts';
import { createSignIn } from './oauth/sign-in.ts';
import { createSignInWays } from './oauth/sign-in-ways.ts';
import { createRestPaths } from './rest/paths.ts';
import type { OpenedStore } from './store/open.ts';

export interface AppOptions extends DataOptions {
  /** Of this package; told to clients. */
  readonly version: string;
  readonly clock?: Clock;
  /** A listener beside the log. */
  readonly observe?: Observe;
  /** In place of the log on standard error. */
  readonly log?: Observe;
  /** Of the environment that is served: a storage belongs to the first that uses it. */
  readonly envSecret?: string;
  /** Signs the session tokens of the agent's HTTP API; a key of the installation does where there is none. */
  readonly authSecret?: string;
  readonly mcp?: Pick<McpFrontParts, 'extension' | 'legacySessions' | 'serving'>;
  /** False when requests come from a host application alone, through `handle`. Default true. */
  readonly listens?: boolean;
  /** How the host application signs people in. */
  readonly hostSignIn?: HostSignInOptions | undefined;
  /** For tests only: how client metadata documents are fetched. */
  readonly [documentFetch]?: FetchDocument;
}

export interface Started {
  /** Where it listens, such as `http://127.0.0.1:3931`; the public URL when it listens nowhere itself. */
  readonly address: string;
  /** What clients are given: the address of the MCP endpoint. */
  readonly mcpUrl: string;
  /** The address of the console. */
  readonly consoleUrl: string;
  /** Where /metrics is, where it is served. */
  readonly metricsUrl?: string;
  readonly store: OpenedStore;
  readonly engine: Engine;
}

export interface App {
  /** SOURCE_UNAVAILABLE or CONFIGURATION, with everything closed again, when it cannot start. */
  start(): Promise<Started>;
  /** A request that a host application passes on; `next` is called for one that is not ours. */
  handle(req: IncomingMessage, res: ServerResponse, next: Next): void;
  /** Whether a path is ours, and never reaches the host application. */
  claims(path: string): boolean;
  /** Tells clients that listen that what is served may have changed. */
  tellOfChange(): void;
  /** Takes no new calls, lets those under way end within the configured time, writes what is batched, and closes. */
  stop(reason: string): Promise<void>;
}

/** The authorization server is loaded this long after the start, when nothing asked for it before. */
const LOAD_AFTER_MS = 1000;
interface Rooms {
  readonly checkAddress: AddressCheck;
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly front: McpFront;
  readonly fileFront: FileFront;
  readonly authorization: AuthorizationServer;
  readonly console: Console;
  readonly apis: Apis;
}

/** `config.database` must be set, or `openEngine` given: which database is served by default is the caller's business. */
export function createApp(configured: Config, options: AppOptions): App {
  const clock = options.clock ?? systemClock;
  const observer = createObserver();
  observer.listen(options.log ?? createLogListener(configured.logLevel));
  if (options.observe) observer.listen(options.observe);
  observer.listen(createTraceListener(clock));
  observer.listen(createMeterListener());
  const metrics = configured.metricsPort === null ? undefined : createMetrics({ version: options.version, clock });
  if (metrics) observer.listen(metrics.listen);
  const metricsDoor = metrics && createMetricsDoor(configured, metrics.text);
  const { observe } = observer;

  let rooms: Rooms | undefined;
  let stopping: Promise<void> | undefined;
  let route: Route = routeBeforeStart(configured);
  const server =
    options.listens === false ? undefined : createServerDoor(configured, clock, (req, res) => route(req, res));
  const host = createHostDoor(clock);

  const open = async (config: Config & { readonly publicUrl: string }): Promise<Rooms> => {
    const { store, engine } = await openData(config, observe, clock, options);
    try {
      return await openFronts(config, store, engine);
    } catch (error) {
      await engine.close();
      await store.close();
      throw error;
    }
  };

  const openFronts = async (
    config: Config & { readonly publicUrl: string },
    store: OpenedStore,
    engine: Engine,
  ): Promise<Rooms> => {
    if (options.envSecret !== undefined) await claimEnvironment(store, options.envSecret);
    const paths = createPaths(config.publicUrl, config.basePath);
    const scopes = defaultScopes(selectTools(config.enabledTools, () => undefined).map((tool) => tool.scope));
    const gate = createGate({ store, paths, clock, defaultScopes: scopes, sso: config.ssoIssuer !== null });
    const fetchDocument = options[documentFetch];
    const ways = createSignInWays({ store, config, clock, observe, hostSignIn: options.hostSignIn });
    const signIn = createSignIn({ store, config, clock, isOpen: ways.passwords });
    const mcpUrl = `${config.publicUrl}${config.basePath}/mcp`;
    const sendWebhook = createWebhookSender({ config, clock, observe });
    const files = createFiles({
      rows: store.files,
      config,
      clock,
      endpoint: () => `${config.publicUrl}${config.basePath}/mcp`,
      isActive: async (userId) => (await store.permissions.accessOf(userId)) !== undefined,
    });
    const approval = openApprovalDoor(store, config, clock);
    const consolePaths = createConsolePaths(config.publicUrl, config.consolePath);
    return {
      store,
      engine,
      checkAddress: createAddressCheck({ store, config, observe }),
      fileFront: createFileFront({ config, files, gate, observe, clock }),
      front: createMcpFront({
        config,
        engine,
        gate,
        files,
        activity: store.activity,
        idempotency: store.idempotency,
        approval,
        observe,
        clock,
        version: options.version,
        // A storage of its own is one process's; where several share one, no session would be found again.
        legacySessions: store.sqliteKind === undefined ? 'off' : 'approvals',
        ...options.mcp,
      }),
      authorization: createAuthorizationServer({
        store,
        config,
        paths,
        clock,
        observe,
        signIn,
        ways,
        defaultScopes: scopes,
        listCollections: (access) =>
          engine
            .index(access)
            .map(({ name }) => name)
            .sort(),
        ...(fetchDocument ? { [documentFetch]: fetchDocument } : {}),
      }),
      console: createConsole({
        store,
        config,
        paths: consolePaths,
        signIn,
        ways,
        clock,
        observe,
        mcpUrl,
        tools: selectTools(null, observe),
        callAs: (access, signal) => ({ access, engine, config, signal, sendWebhook, files }),
      }),
      apis: openApis({
        config,
        store,
        consolePaths,
        authSecret: options.authSecret,
        clock,
        observe,
        version: options.version,
      }),
    };
  };

  const closeRooms = async (): Promise<void> => {
    rooms?.authorization.close();
    await rooms?.front.close();
    await rooms?.engine.close();
    await rooms?.store.close();
  };

  return {
    async start() {
      const from = clock.monotonic();
      // Where the public address is what we listen at, that comes first. Otherwise nothing listens before it can be answered:
      // a balancer then goes to another process.
      let listening = configured.publicUrl === null ? await server?.open() : undefined;
      const publicUrl = configured.publicUrl ?? listening?.address ?? failWithoutAddress();
      const config = { ...configured, ...(listening && { port: listening.port }), publicUrl };
      let metricsUrl: string | undefined;
      try {
        metricsUrl = await metricsDoor?.open();
        rooms = await open(config);
        route = createRoute(config, rooms, () => stopping !== undefined);
        listening ??= await server?.open();
      } catch (error) {
        metrics?.close();
        await Promise.all([server?.close(0), metricsDoor?.close()]);
        await closeRooms();
        throw error;
      }
      const address = listening?.address ?? publicUrl;
      const { authorization, store, engine } = rooms;
      clock.after(LOAD_AFTER_MS, () => {
        authorization.load().catch((cause: unknown) => {
          observe({ type: 'warning', message: 'The authorization server could not be loaded', cause });
        });
      });
      observe({ type: 'server.started', address, milliseconds: Math.round(clock.monotonic() - from) });
      const mcpUrl = `${config.publicUrl}${config.basePath}/mcp`;
      const consoleUrl = createConsolePaths(config.publicUrl, config.consolePath).url('');
      return { address, mcpUrl, consoleUrl, ...(metricsUrl !== undefined && { metricsUrl }), store, engine };
    },

    handle(req, res, next) {
      const release = host.watch(res);
      route(req, res, (error) => {
        release();
        next(error);
      });
    },

    tellOfChange() {
      rooms?.front.tellOfChange();
    },

    claims(path) {
      return createClaim(configured)(path) !== undefined;
    },

    stop(reason) {
      stopping ??= (async () => {
        observe({ type: 'server.stopping', reason });
        // Not ready any more, but still answering: balancers take it out before it is gone.
        if (server && rooms) await clock.sleep(configured.drainSeconds * 1000);
        rooms?.front.stopListening();
        const limitMs = configured.shutdownSeconds * 1000;
        await Promise.all([server?.close(limitMs), host.close(limitMs)]);
        route = routeBeforeStart(configured);
        await closeRooms();
        metrics?.close();
        await metricsDoor?.close();
        observe({ type: 'server.stopped' });
      })();
      return stopping;
    },
  };
}

const ENVIRONMENT = 'environment';

/** Each environment of the storage belongs to the first that serves it. CONFIGURATION when it is another's. */
async function claimEnvironment({ settings, identity }: OpenedStore, envSecret: string): Promise<void> {
  const { environmentId } = await identity.place();
  const key = environmentId === 1 ? ENVIRONMENT : `${ENVIRONMENT}/${environmentId}`;
  const mark = sign(ENVIRONMENT, envSecret);
  const known = await settings.get(key);
  if (known === undefined) await settings.set(key, mark);
  else if (!sameText(known, mark))
    fail('CONFIGURATION', {
      problem:
        'envSecret: the storage belongs to an environment with another secret. Give the secret of that environment, or another SERVICE_DATA_DIR or SERVICE_STORAGE_URL.',
    });
}

/** `next` is absent on a server of our own. */
export type Route = (req: IncomingMessage, res: ServerResponse, next?: Next) => void;

function createRoute(config: Config & { readonly publicUrl: string }, rooms: Rooms, isStopping: () => boolean): Route {
  const claim = createClaim(config);
  return (req, res, next) => {
    const path = pathOf(req);
    const claimed = claim(path);
    // What the host application has, and what says that we live, is not about data.
    if (!claimed && next) return next();
    if (path === '/healthz') return sendJson(res, 200, { status: 'ok' });
    if (path === '/readyz') return answerReadiness(res, rooms.store, isStopping());
    const dispatch = () => {
      if (claimed === 'endpoint') rooms.front.handle(req, res);
      else if (claimed === 'file') rooms.fileFront.handle(req, res);
      else if (rooms.console.handle(req, res)) return;
      else if (rooms.authorization.handle(req, res)) return;
      else if (rooms.apis.api.handle(req, res)) return;
      else if (rooms.apis.rest.handle(req, res)) return;
      else refuse(res, 'NOT_FOUND', { path });
    };
    admit(rooms.checkAddress, req, res, dispatch);
  };
}

/** Before the start and after the end our paths are not the host's either. */
export function routeBeforeStart(config: ClaimConfig): Route {
  const claim = createClaim(config);
  return (req, res, next) => {
    if (next && !claim(pathOf(req))) next();
    else if (!next && req.url === '/healthz') sendJson(res, 200, { status: 'ok' });
    else refuse(res.setHeader('Retry-After', '1'), 'NOT_READY', {});
  };
}

type ClaimConfig = Pick<Config, 'publicUrl' | 'basePath' | 'consolePath' | 'prefix' | 'apiPath'>;

/**
 * What is ours of the paths of an origin (spec 4.4): the endpoint of MCP, those of files below it, and `ours` for the rest of
 * our namespaces.
 */
function createClaim({ publicUrl: known, basePath, consolePath, prefix, apiPath }: ClaimConfig) {
  const publicUrl = known ?? 'http://localhost';
  const consolePaths = createConsolePaths(publicUrl, consolePath);
  const paths = createPaths(publicUrl, basePath);
  const others = [consolePaths, createApiPaths(publicUrl, apiPath), createRestPaths(publicUrl, prefix)];
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const publicPath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  const roots = [...new Set([basePath, publicPath + basePath])].map((prefix) => `${prefix}/mcp`);
  return (path: string): 'endpoint' | 'file' | 'ours' | undefined => {
    for (const root of roots) {
      if (path === root || path === `${root}/`) return 'endpoint';
      if (path.startsWith(`${root}/uploads/`) || path.startsWith(`${root}/downloads/`)) return 'file';
      if (path.startsWith(`${root}/`)) return 'ours';
    }
    return [paths, ...others].some((one) => one.locate(path) !== undefined) ? 'ours' : undefined;
  };
}

function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function answerReadiness(res: ServerResponse, store: OpenedStore, stopping: boolean): void {
  const unready = () => sendJson(res, 503, { status: 'unavailable' });
  if (stopping) unready();
  else store.ready().then(() => sendJson(res, 200, { status: 'ready' }), unready);
}

function failWithoutAddress(): never {
  return fail('CONFIGURATION', {
    problem:
      'The host application listens where only you know: set SERVICE_PUBLIC_URL (or settings.publicUrl) to the address at which clients reach it.',
  });
}
