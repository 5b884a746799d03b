// The composition root: it takes a frozen Config and returns a Node request listener with start and stop. Only this
// file connects all parts. The path decides which part handles a request (route.ts). The HTTP APIs and the console
// always exist; MCP and its authorization server (mcp.ts) are optional.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import { cloudResourceOf } from '../api/cloud/endpoint.ts';
import { createApiPaths } from '../api/paths.ts';
import { createConsolePaths } from '../console/paths.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createMeterListener } from '../core/observe/meters.ts';
import { createMetrics } from '../core/observe/metrics.ts';
import { createStatementWatch } from '../core/observe/statements.ts';
import { createTraceListener } from '../core/observe/traces.ts';
import { createLogListener, createObserver, type Observe } from '../core/observe.ts';
import type { Next } from '../frameworks/host.ts';
import { dropUploads } from '../mcp/approvals/uploads.ts';
import type { McpFrontParts } from '../mcp/endpoint.ts';
import { selectTools } from '../mcp/tools.ts';
import { createFiles } from '../mcp/uploads/files.ts';
import { createWebhookSender } from '../mcp/webhook.ts';
import { documentFetch, type FetchDocument } from '../oauth/clients/documents.ts';
import type { HostSignInOptions } from '../oauth/login/host-sign-in.ts';
import { createSignInWays } from '../oauth/login/login-methods.ts';
import { createSignIn } from '../oauth/login/sign-in.ts';
import { createAddressCheck } from '../oauth/server/allow-list.ts';
import type { OpenedStore } from '../store/open.ts';
import { tellingOfEnds } from '../workflows/runs/completion.ts';
import { warnOfReadOnlyScopes } from './agent/read-only-scopes.ts';
import { openApis } from './apis.ts';
import { type LazyConsole, openConsole } from './console.ts';
import { type DataOptions, openData } from './data.ts';
import { openEnvironment } from './environment.ts';
import { createHostDoor, createServerDoor } from './http-server.ts';
import { openMcp } from './mcp.ts';
import { createMetricsDoor } from './metrics-server.ts';
import { openPlatformDoor } from './remote-store.ts';
import { openRemotes } from './remotes.ts';
import { createClaim, createRoute, type Route, type RoutedRooms, routeBeforeStart } from './route.ts';
import { openTriggers, type TriggerRooms } from './triggers.ts';
import { openWorkflows, type WorkflowRooms } from './workflows.ts';

/** The options of a server in addition to the configuration. */
export interface AppOptions extends DataOptions {
  /** Version of this package, reported to clients. */
  readonly version: string;
  readonly clock?: Clock;
  /** A listener in addition to the log. */
  readonly observe?: Observe;
  /** Replaces the log on standard error. */
  readonly log?: Observe;
  /** Signs the session tokens of the agent's HTTP API. Default: a key of the installation. */
  readonly authSecret?: string;
  readonly mcp?: Pick<McpFrontParts, 'extension' | 'legacySessions' | 'serving'>;
  /** If false, neither /mcp nor the authorization server exists, and their paths are not claimed. Default true. */
  readonly servesMcp?: boolean;
  /** False if requests only come from a host application, through `handle`. Default true. */
  readonly listens?: boolean;
  /** The sign-in of the host application. */
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
  readonly store: OpenedStore;
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
  tellOfChange(): void;
  /** Refuses new calls, waits up to the configured time for running calls, writes batched entries, and closes. */
  stop(reason: string): Promise<void>;
}

/**
 * The authorization server, the MCP SDK and the console are loaded this long after the start, unless a request needs
 * them earlier.
 */
const LOAD_AFTER_MS = 1000;

interface Rooms extends RoutedRooms {
  readonly console: LazyConsole;
  readonly engine: Engine;
  readonly workflows: WorkflowRooms;
  readonly triggers: TriggerRooms;
}

/** Requires `config.database` or `openEngine`. The caller chooses the default database. */
export function createApp(configured: Config, options: AppOptions): App {
  const clock = options.clock ?? systemClock;
  const observer = createObserver();
  observer.listen(options.log ?? createLogListener(configured.logLevel));
  if (options.observe) observer.listen(options.observe);
  observer.listen(createTraceListener(clock));
  observer.listen(createMeterListener());
  const statements = createStatementWatch();
  observer.listen(statements.listen);
  const metrics = configured.metricsPort === null ? undefined : createMetrics({ version: options.version, clock });
  if (metrics) observer.listen(metrics.listen);
  const metricsDoor = metrics && createMetricsDoor(configured, metrics.text);
  const { observe } = observer;

  let rooms: Rooms | undefined;
  let stopping: Promise<void> | undefined;
  const servesMcp = options.servesMcp !== false;
  const claimed = { ...configured, servesMcp };
  let route: Route = routeBeforeStart(claimed);
  const server =
    options.listens === false ? undefined : createServerDoor(configured, clock, (req, res) => route(req, res));
  const host = createHostDoor(clock);

  const open = async (config: Config & { readonly publicUrl: string }): Promise<Rooms> => {
    const { store, engine } = await openData(config, observe, clock, options);
    try {
      const fronts = await openFronts(config, store, engine);
      await fronts.workflows.start();
      return fronts;
    } catch (error) {
      await engine.close();
      await store.close();
      throw error;
    }
  };

  const openFronts = async (
    config: Config & { readonly publicUrl: string },
    opened: OpenedStore,
    engine: Engine,
  ): Promise<Rooms> => {
    // Any part may end a run, so callbacks hook into the store.
    const store = { ...opened, runs: tellingOfEnds(opened.runs, () => triggers.callbacks.nudge()) };
    const environment = openEnvironment(store, options.envSecret ?? config.envSecret ?? undefined);
    // With another platform, the secret itself authenticates the agent.
    if (config.serverUrl === null) await environment.claim();
    const ways = createSignInWays({ store, config, clock, observe, hostSignIn: options.hostSignIn });
    const signIn = createSignIn({ store, config, clock, isOpen: ways.passwords });
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
    const consolePaths = createConsolePaths(config.publicUrl, config.consolePath);
    const remotes = openRemotes({ config, store, consolePaths, clock, observe, version: options.version });
    const workflows = openWorkflows({
      remotes,
      config,
      store,
      engine,
      sendWebhook,
      clock,
      observe,
    });
    const apiPaths = createApiPaths(config.publicUrl, config.apiPath);
    const { version } = options;
    const triggers = openTriggers({ config, store, paths: apiPaths, sendWebhook, clock, observe });
    // The command line signs in at the authorization server, which exists only with MCP.
    const cloudResource = config.cloud && servesMcp ? cloudResourceOf(apiPaths) : undefined;
    const mcp = servesMcp
      ? openMcp({
          config,
          store,
          engine,
          signIn,
          ways,
          files,
          workflows: workflows.room,
          front: options.mcp,
          clock,
          observe,
          statements,
          version,
          fetchDocument: options[documentFetch],
          cloudResource,
        })
      : undefined;
    return {
      store,
      engine,
      workflows,
      triggers,
      platformDoor: openPlatformDoor({ config, envSecret: options.envSecret, store, version, clock, observe }),
      checkAddress: createAddressCheck({ store, config, observe }),
      mcp,
      console: openConsole({
        store,
        engine,
        workflows: workflows.room,
        triggers: triggers.triggers,
        config,
        remotes,
        paths: consolePaths,
        signIn,
        ways,
        clock,
        observe,
        mcpUrl: servesMcp ? endpoint : null,
        apiUrl: apiPaths.address,
        tools,
        dropUploads: (denied) => dropUploads({ tools, approvals: store.approvals, files }, denied),
        callAs: (access, signal) => ({
          ...{ access, engine, config, signal, sendWebhook, files },
          absentTools: () => new Set(),
        }),
        playground: mcp?.playground ?? null,
        execution: mcp?.execution ?? null,
      }),
      apis: openApis({
        config,
        store,
        engine,
        workflows: workflows.room,
        triggers,
        consolePaths,
        authSecret: options.authSecret,
        clock,
        observe,
        version: options.version,
        cloudResource,
        environmentSecrets: environment.secrets,
      }),
    };
  };

  const load = async ({ mcp, console, store, engine }: Rooms): Promise<void> => {
    const loads = [
      ['row scopes', () => warnOfReadOnlyScopes(store, engine, observe)],
      ['authorization server', () => mcp?.authorization.load()],
      ['MCP SDK', () => mcp?.front.load()],
      ['console', () => console.load()],
    ] as const;
    // Sequential, to keep the delay of concurrent calls short.
    for (const [name, run] of loads) {
      try {
        if (!stopping) await run();
      } catch (cause) {
        observe({ type: 'warning', message: `The ${name} could not be loaded`, cause });
      }
    }
  };

  const closeRooms = async (): Promise<void> => {
    await rooms?.workflows.stop(0);
    await rooms?.triggers.callbacks.stop();
    rooms?.mcp?.authorization.close();
    await rooms?.mcp?.front.close();
    await rooms?.mcp?.playground.settled();
    await rooms?.mcp?.execution?.settled();
    await rooms?.engine.close();
    await rooms?.store.close();
  };

  return {
    async start() {
      const from = clock.monotonic();
      // If the public URL is the listening address, the server listens first. Otherwise it listens only when it can
      // answer, and until then a load balancer uses another process.
      let listening = configured.publicUrl === null ? await server?.open() : undefined;
      const publicUrl = configured.publicUrl ?? listening?.address ?? failWithoutAddress();
      const config = { ...configured, ...(listening && { port: listening.port }), publicUrl };
      let metricsUrl: string | undefined;
      try {
        metricsUrl = await metricsDoor?.open();
        rooms = await open(config);
        if (config.workflows) rooms.triggers.callbacks.start();
        route = createRoute({ ...config, servesMcp }, rooms, () => stopping !== undefined);
        listening ??= await server?.open();
      } catch (error) {
        metrics?.close();
        await Promise.all([server?.close(0), metricsDoor?.close()]);
        await closeRooms();
        throw error;
      }
      const address = listening?.address ?? publicUrl;
      const { mcp, store, engine } = rooms;
      const opened = rooms;
      clock.after(LOAD_AFTER_MS, () => void load(opened));
      store.retention?.begin();
      observe({ type: 'server.started', address, milliseconds: Math.round(clock.monotonic() - from) });
      const mcpUrl = mcp ? endpointOf(config) : '';
      const apiUrl = `${config.publicUrl}${config.prefix}`;
      const consoleUrl = createConsolePaths(config.publicUrl, config.consolePath).url('');
      return { address, mcpUrl, apiUrl, consoleUrl, ...(metricsUrl !== undefined && { metricsUrl }), store, engine };
    },

    handle(req, res, next) {
      const release = host.watch(res);
      route(req, res, (error) => {
        release();
        next(error);
      });
    },

    tellOfChange() {
      rooms?.mcp?.front.tellOfChange();
    },

    claims(path) {
      return createClaim(claimed)(path) !== undefined;
    },

    stop(reason) {
      stopping ??= (async () => {
        observe({ type: 'server.stopping', reason });
        // Reports not ready but still answers, which lets load balancers remove the process first.
        if (server && rooms) await clock.sleep(configured.drainSeconds * 1000);
        rooms?.mcp?.front.stopListening();
        const limitMs = configured.shutdownSeconds * 1000;
        await Promise.all([server?.close(limitMs), host.close(limitMs), rooms?.workflows.stop(limitMs)]);
        route = routeBeforeStart(claimed);
        await closeRooms();
        metrics?.close();
        await metricsDoor?.close();
        observe({ type: 'server.stopped' });
      })();
      return stopping;
    },
  };
}

const endpointOf = ({ publicUrl, basePath }: { readonly publicUrl: string; readonly basePath: string }): string =>
  `${publicUrl}${basePath}/mcp`;

function failWithoutAddress(): never {
  return fail('CONFIGURATION', {
    problem:
      'The host application listens where only you know: set SERVICE_PUBLIC_URL (or settings.publicUrl) to the address at which clients reach it.',
  });
}
