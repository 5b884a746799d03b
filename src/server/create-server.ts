// The composition root: it takes a frozen Config and returns a Node request listener with start and stop. Only this
// file connects all parts. The path decides which part handles a request (route.ts). The HTTP APIs and the console
// always exist; MCP and its authorization server (mcp.ts) are optional.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import { cloudResourceOf, createApiPaths } from '../api/paths.ts';
import type { ReviewParts } from '../console/pages/approvals/review.ts';
import { createConsolePaths, forgotPage } from '../console/paths.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { databasesOf } from '../core/config/databases.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createMetrics } from '../core/observe/metrics.ts';
import { createStatementWatch, type StatementWatch } from '../core/observe/statements.ts';
import { createTelemetryListener } from '../core/observe/telemetry.ts';
import { createLogListener, createObserver, type Observe } from '../core/observe.ts';
import type { Next } from '../frameworks/host.ts';
import { type Brand, setBrand } from '../http/brand.ts';
import { dropUploads } from '../mcp/approvals/uploads.ts';
import type { McpEndpointParts } from '../mcp/endpoint.ts';
import { selectTools } from '../mcp/tools.ts';
import { createFiles } from '../mcp/uploads/files.ts';
import { createWebhookSender } from '../mcp/webhook.ts';
import { createMailer, type Mailer } from '../notifications/mail.ts';
import { createWaitingHook } from '../notifications/waiting.ts';
import type { WaitingMail } from '../notifications/waiting-mail.ts';
import { createNotifyWebhook } from '../notifications/webhook.ts';
import { documentFetch, type FetchDocument } from '../oauth/clients/documents.ts';
import type { HostSignInOptions } from '../oauth/login/host-sign-in.ts';
import { createLoginMethods } from '../oauth/login/login-methods.ts';
import { createSignIn } from '../oauth/login/sign-in.ts';
import { createAddressCheck } from '../oauth/server/allow-list.ts';
import type { OpenedStore } from '../store/open.ts';
import { notifyOnEnd } from '../workflows/runs/completion.ts';
import { refuseUnscopedQueries } from './agent/query-scopes.ts';
import { warnAboutReadOnlyScopes } from './agent/read-only-scopes.ts';
import { openBrand, withBrandName } from './brand.ts';
import { type DataOptions, openData } from './data.ts';
import { openEnvironment } from './environment.ts';
import { createHttpServer, createInFlight } from './http-server.ts';
import { openWaitingMail } from './inbox.ts';
import { createLazyRouter } from './lazy-router.ts';
import { type McpModules, openMcp } from './mcp.ts';
import { createMetricsServer } from './metrics-server.ts';
import { openReloading } from './reload.ts';
import { readRpcParts } from './remote-store.ts';
import { openRemotes } from './remotes.ts';
import { createClaim, createRoute, type Route, type RoutedModules, routeBeforeStart } from './route.ts';
import { openTriggers, type TriggerModules } from './triggers.ts';
import { openWorkflows, type WorkflowModules } from './workflows.ts';

/** The options of a server in addition to the configuration. */
export interface AppOptions extends DataOptions {
  /** Version of this package, reported to clients. */
  readonly version: string;
  /** The time and the timers. Default: those of the system. */
  readonly clock?: Clock;
  /** A listener in addition to the log. Default: no listener. */
  readonly observe?: Observe;
  /** Replaces the log on standard error. Default: JSON lines at the level of the configuration. */
  readonly log?: Observe;
  /** Signs the session tokens of the agent's HTTP API. Default: a key of the installation. */
  readonly authSecret?: string;
  /** Extensions of the MCP endpoint. Default: no extensions. */
  readonly mcp?: Pick<McpEndpointParts, 'extension' | 'legacySessions' | 'serving'>;
  /** If false, neither /mcp nor the authorization server exists, and their paths are not claimed. Default true. */
  readonly servesMcp?: boolean;
  /** False if requests only come from a host application, through `handle`. Default true. */
  readonly listens?: boolean;
  /** The sign-in of the host application. Default: users sign in at Portico. */
  readonly hostSignIn?: HostSignInOptions | undefined;
  /** For tests only: fetches client metadata documents. */
  readonly [documentFetch]?: FetchDocument;
}

/** The URLs and parts of a running server. */
export interface Started {
  /** The URL of the listener, such as `http://127.0.0.1:3931`; the public URL without a listener. */
  readonly address: string;
  /** The URL of the MCP endpoint for clients; '' if MCP is not served. */
  readonly mcpUrl: string;
  /** The URL of the agent's HTTP API, without a trailing slash. */
  readonly apiUrl: string;
  /** The URL of the console. */
  readonly consoleUrl: string;
  /** The URL of /metrics, if it is served. */
  readonly metricsUrl?: string;
  /** The users, permissions and logs. */
  readonly store: OpenedStore;
  /** The engine over the served data. */
  readonly engine: Engine;
}

/** A complete server. It listens on a port, or a host application calls it. */
export interface App {
  /** On failure, closes everything and throws SOURCE_UNAVAILABLE or CONFIGURATION. */
  start(): Promise<Started>;
  /** Handles a request from a host application. Calls `next` if the path does not belong to Portico. */
  handle(req: IncomingMessage, res: ServerResponse, next: Next): void;
  /** Whether the path belongs to Portico and never reaches the host application. */
  claims(path: string): boolean;
  /** Notifies subscribed clients that the served data may have changed. */
  notifyChange(): void;
  /** Refuses new calls, waits up to the configured time for running calls, writes batched entries, and closes. */
  stop(reason: string): Promise<void>;
}

/**
 * The authorization server, the MCP SDK and the routers are loaded this long after the start, unless a request needs
 * them earlier.
 */
const LOAD_AFTER_MS = 1000;

interface Modules extends RoutedModules {
  readonly mcp: McpModules | undefined;
  readonly engine: Engine;
  readonly workflows: WorkflowModules;
  readonly triggers: TriggerModules;
  readonly reloading: ReturnType<typeof openReloading>;
  readonly mailer: Mailer | null;
  readonly waitingMail: WaitingMail | undefined;
}

/**
 * Requires `config.database` or `openEngine`. The caller chooses the default database.
 *
 * @example
 * const app = createApp(loadConfig({ flags: { database: 'sqlite:shop.db' } }), { version: '1.0.0' });
 * const { mcpUrl } = await app.start();
 */
export function createApp(configured: Config, options: AppOptions): App {
  const clock = options.clock ?? systemClock;
  const observer = createObserver();
  observer.listen(options.log ?? createLogListener(configured.logLevel));
  if (options.observe) observer.listen(options.observe);
  observer.listen(createTelemetryListener(clock));
  const statements = createStatementWatch(observer.listen);
  const metrics = configured.metricsPort === null ? undefined : createMetrics({ version: options.version, clock });
  if (metrics) observer.listen(metrics.listen);
  const metricsServer = metrics && createMetricsServer(configured, metrics.text);
  const { observe } = observer;

  let modules: Modules | undefined;
  let stopping: Promise<void> | undefined;
  const servesMcp = options.servesMcp !== false;
  const claimed = { ...configured, servesMcp };
  let route: Route = routeBeforeStart(claimed);
  let brand: Brand | undefined;
  const dispatch: Route = (req, res, next) => {
    if (brand) setBrand(res, brand);
    route(req, res, next);
  };
  const server = options.listens === false ? undefined : createHttpServer(configured, clock, dispatch);
  const inFlight = createInFlight(clock);

  const open = async (config: Config & { readonly publicUrl: string }): Promise<Modules> => {
    const { store, engine } = await openData(config, observe, clock, options);
    try {
      await refuseUnscopedQueries(store, engine, config);
      const openedModules = await createModules({
        config,
        opened: store,
        engine,
        options,
        clock,
        observe,
        statements,
        brand,
      });
      await openedModules.workflows.start();
      return openedModules;
    } catch (error) {
      await engine.close();
      await store.close();
      throw error;
    }
  };

  return {
    async start() {
      const from = clock.monotonic();
      brand = openBrand(configured, observe);
      // If the public URL is the listening address, the server listens first. Otherwise it listens only when it can
      // answer, and until then a load balancer uses another process.
      let listening = configured.publicUrl === null ? await server?.open() : undefined;
      const publicUrl = configured.publicUrl ?? listening?.address ?? failWithoutAddress();
      const config = { ...configured, ...(listening && { port: listening.port }), publicUrl };
      let metricsUrl: string | undefined;
      try {
        metricsUrl = await metricsServer?.open();
        modules = await open(config);
        if (config.workflows) modules.triggers.callbacks.start();
        modules.waitingMail?.start();
        route = createRoute({ ...config, servesMcp }, modules, () => stopping !== undefined);
        listening ??= await server?.open();
      } catch (error) {
        metrics?.close();
        await Promise.all([server?.close(0), metricsServer?.close()]);
        await closeModules(modules);
        throw error;
      }
      const address = listening?.address ?? publicUrl;
      const { mcp, store, engine } = modules;
      const opened = modules;
      engine.catalogue?.onReload(() => mcp?.endpoint.notifyChange());
      clock.after(LOAD_AFTER_MS, () => void load(opened, observe, () => stopping !== undefined));
      store.retention?.begin();
      const databases = options.openEngine || config.database === null ? [] : databasesOf(config.database);
      observe({
        ...{ type: 'server.started', address, milliseconds: Math.round(clock.monotonic() - from) },
        ...(databases.length > 1 && { databases: databases.map(({ name }) => name) }),
      });
      const mcpUrl = mcp ? endpointOf(config) : '';
      const apiUrl = `${config.publicUrl}${config.prefix}`;
      const consoleUrl = createConsolePaths(config.publicUrl, config.consolePath).url('');
      return { address, mcpUrl, apiUrl, consoleUrl, ...(metricsUrl !== undefined && { metricsUrl }), store, engine };
    },

    handle(req, res, next) {
      const release = inFlight.watch(res);
      dispatch(req, res, (error) => {
        release();
        next(error);
      });
    },

    notifyChange() {
      modules?.mcp?.endpoint.notifyChange();
    },

    claims(path) {
      return createClaim(claimed)(path) !== undefined;
    },

    stop(reason) {
      stopping ??= (async () => {
        observe({ type: 'server.stopping', reason });
        // Reports not ready but still answers, which lets load balancers remove the process first.
        if (server && modules) await clock.sleep(configured.drainSeconds * 1000);
        modules?.mcp?.endpoint.stopListening();
        const limitMs = configured.shutdownSeconds * 1000;
        await Promise.all([server?.close(limitMs), inFlight.close(limitMs), modules?.workflows.stop(limitMs)]);
        route = routeBeforeStart(claimed);
        await closeModules(modules);
        metrics?.close();
        await metricsServer?.close();
        observe({ type: 'server.stopped' });
      })();
      return stopping;
    },
  };
}

interface ModuleParts {
  readonly config: Config & { readonly publicUrl: string };
  readonly opened: OpenedStore;
  readonly engine: Engine;
  readonly options: AppOptions;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly statements: StatementWatch;
  readonly brand: Brand | undefined;
}

/** Connects the parts that answer requests. */
async function createModules({
  config,
  opened,
  engine,
  options,
  clock,
  observe,
  statements,
  brand,
}: ModuleParts): Promise<Modules> {
  // Any part may end a run, so callbacks hook into the store.
  const waiting = createWaitingHook({ observe });
  const runs = waiting.watchRuns(notifyOnEnd(opened.runs, () => triggers.callbacks.nudge()));
  const identity = withBrandName(opened.identity, brand);
  const store = { ...opened, identity, runs, approvals: waiting.watchApprovals(opened.approvals) };
  const environment = openEnvironment(store, options.envSecret ?? config.envSecret ?? undefined);
  // With another platform, the secret itself authenticates the agent.
  if (config.serverUrl === null) await environment.claim();
  const mailer = await createMailer({ config, observe });
  const consolePaths = createConsolePaths(config.publicUrl, config.consolePath);
  const forgotUrl = mailer ? consolePaths.url(forgotPage) : undefined;
  const loginMethods = createLoginMethods({ store, config, clock, observe, hostSignIn: options.hostSignIn, forgotUrl });
  const signIn = createSignIn({ store, config, clock, allowsPasswords: loginMethods.passwords });
  const endpoint = endpointOf(config);
  const sendWebhook = createWebhookSender({ config, clock, observe });
  const files = createFiles({
    rows: store.files,
    config,
    clock,
    endpoint: () => endpoint,
    isActive: async (userId) => (await store.permissions.accessOf(userId)) !== undefined,
  });
  const tools = selectTools(null, observe);
  const notify = createNotifyWebhook({ config, sendWebhook, urlOf: consolePaths.url, clock, observe });
  if (notify) waiting.listen(notify);
  const remotes = openRemotes({ config, store, consolePaths, clock, observe, version: options.version });
  const workflows = openWorkflows({ remotes, config, store, engine, sendWebhook, clock, observe });
  const apiPaths = createApiPaths(config.publicUrl, config.apiPath);
  const { version } = options;
  const servesMcp = options.servesMcp !== false;
  const triggers = openTriggers({ config, store, paths: apiPaths, sendWebhook, clock, observe });
  // The command line signs in at the authorization server, which exists only with MCP.
  const cloudResource = config.cloud && servesMcp ? cloudResourceOf(apiPaths) : undefined;
  const mcp = servesMcp
    ? openMcp({
        config,
        store,
        engine,
        signIn,
        loginMethods,
        files,
        workflows: workflows.service,
        watch: workflows.watch,
        endpoint: options.mcp,
        clock,
        observe,
        statements,
        brand,
        version,
        fetchDocument: options[documentFetch],
        cloudResource,
      })
    : undefined;
  const reloading = config.serverUrl === null ? openReloading(store, engine, clock) : undefined;
  const rpc = readRpcParts({ config, envSecret: options.envSecret, store, version, clock, observe });
  const callAs: ReviewParts['callAs'] = (access, signal) => ({
    ...{ access, engine, config, signal, sendWebhook, files },
    hiddenTools: () => new Set(),
  });
  const waitingMail = openWaitingMail({
    ...{ mailer, store, workflows: workflows.service, tools, callAs, urlOf: consolePaths.url, clock, observe },
  });
  if (waitingMail) waiting.listen(waitingMail.listener);
  const router = createLazyRouter(async () => {
    const { createRouter } = await import('./mounts.ts');
    return createRouter({
      ...{ config, store, engine, workflows: workflows.service, watch: workflows.watch, triggers, mcp, rpc },
      ...{ apiPaths, consolePaths },
      ...{ authSecret: options.authSecret, clock, observe, version, cloudResource },
      environmentSecrets: environment.secrets,
      console: {
        ...{ store, engine, workflows: workflows.service, triggers: triggers.triggers, config, remotes, signIn },
        automatic: workflows.automatic,
        ...{ paths: consolePaths, loginMethods, mailer, clock, observe, tools },
        mcpUrl: servesMcp ? endpoint : null,
        apiUrl: apiPaths.address,
        dropUploads: (denied) => dropUploads({ tools, approvals: store.approvals, files }, denied),
        callAs,
        playground: mcp?.playground ?? null,
        execution: mcp?.execution ?? null,
        reloadTables: reloading?.reload ?? engine.catalogue?.reload ?? null,
      },
    });
  }, observe);
  const checkAddress = createAddressCheck({ store, config, observe });
  return { store, engine, workflows, triggers, checkAddress, mcp, router, reloading, mailer, waitingMail };
}

/** Loads the parts that no request has needed yet. */
async function load(
  { mcp, router, store, engine }: Modules,
  observe: Observe,
  isStopping: () => boolean,
): Promise<void> {
  const loads = [
    ['row scopes', () => warnAboutReadOnlyScopes(store, engine, observe)],
    ['authorization server', () => mcp?.authorization.load()],
    ['MCP SDK', () => mcp?.endpoint.load()],
    ['routers', () => router.load()],
  ] as const;
  // Sequential, to keep the delay of concurrent calls short.
  for (const [name, run] of loads) {
    try {
      if (!isStopping()) await run();
    } catch (cause) {
      observe({ type: 'warning', message: `Failed to load: ${name}`, cause });
    }
  }
}

async function closeModules(modules: Modules | undefined): Promise<void> {
  modules?.reloading?.stop();
  await modules?.workflows.stop(0);
  await modules?.triggers.callbacks.stop();
  modules?.mcp?.authorization.close();
  await modules?.mcp?.endpoint.close();
  await modules?.mcp?.playground.whenIdle();
  await modules?.mcp?.execution?.whenIdle();
  await modules?.waitingMail?.stop();
  modules?.mailer?.close();
  await modules?.engine.close();
  await modules?.store.close();
}

const endpointOf = ({ publicUrl, basePath }: { readonly publicUrl: string; readonly basePath: string }): string =>
  `${publicUrl}${basePath}/mcp`;

function failWithoutAddress(): never {
  return fail('CONFIGURATION', {
    problem:
      'The public URL of the host application is unknown: set SERVICE_PUBLIC_URL (or settings.publicUrl) to the URL that clients use.',
  });
}
