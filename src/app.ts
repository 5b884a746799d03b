// The composition root: a frozen Config in, one Node request listener with start and stop out. It is the only place where
// all rooms meet. Which request is whose is decided by its path (app/route.ts). The HTTP APIs and the console are there
// always; MCP and its authorization server (app/mcp.ts) where they are wanted.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from './agent/engine.ts';
import { cloudResourceOf } from './api/cloud.ts';
import { createApiPaths } from './api/paths.ts';
import { openApis } from './app/apis.ts';
import { type LazyConsole, openConsole } from './app/console.ts';
import { type DataOptions, openData } from './app/data.ts';
import { createHostDoor, createServerDoor } from './app/doors.ts';
import { openEnvironment } from './app/environment.ts';
import { openMcp } from './app/mcp.ts';
import { createMetricsDoor } from './app/metrics-door.ts';
import { openPlatformDoor } from './app/platform.ts';
import { openRemotes } from './app/remotes.ts';
import { createClaim, createRoute, type Route, type RoutedRooms, routeBeforeStart } from './app/route.ts';
import { openTriggers, type TriggerRooms } from './app/triggers.ts';
import { openWorkflows, type WorkflowRooms } from './app/workflows.ts';
import { createConsolePaths } from './console/paths.ts';
import { type Clock, systemClock } from './core/clock.ts';
import type { Config } from './core/config.ts';
import { fail } from './core/errors.ts';
import { createMeterListener } from './core/observe/meters.ts';
import { createMetrics } from './core/observe/metrics.ts';
import { createStatementWatch } from './core/observe/statements.ts';
import { createTraceListener } from './core/observe/traces.ts';
import { createLogListener, createObserver, type Observe } from './core/observe.ts';
import type { Next } from './hosts/host.ts';
import { createFiles } from './mcp/files/files.ts';
import type { McpFrontParts } from './mcp/front.ts';
import { selectTools } from './mcp/tools.ts';
import { createWebhookSender } from './mcp/webhook.ts';
import { createAddressCheck } from './oauth/allow-list.ts';
import { documentFetch, type FetchDocument } from './oauth/documents.ts';
import type { HostSignInOptions } from './oauth/host-sign-in.ts';
import { createSignIn } from './oauth/sign-in.ts';
import { createSignInWays } from './oauth/sign-in-ways.ts';
import type { OpenedStore } from './store/open.ts';
import { tellingOfEnds } from './workflow/ends.ts';

/** What the rooms of a server are put together with, beside the configuration. */
export interface AppOptions extends DataOptions {
  /** Of this package; told to clients. */
  readonly version: string;
  readonly clock?: Clock;
  /** A listener beside the log. */
  readonly observe?: Observe;
  /** In place of the log on standard error. */
  readonly log?: Observe;
  /** Signs the session tokens of the agent's HTTP API; a key of the installation does where there is none. */
  readonly authSecret?: string;
  readonly mcp?: Pick<McpFrontParts, 'extension' | 'legacySessions' | 'serving'>;
  /** False: neither /mcp nor the authorization server is there, and their paths are not ours. Default true. */
  readonly servesMcp?: boolean;
  /** False when requests come from a host application alone, through `handle`. Default true. */
  readonly listens?: boolean;
  /** How the host application signs people in. */
  readonly hostSignIn?: HostSignInOptions | undefined;
  /** For tests only: how client metadata documents are fetched. */
  readonly [documentFetch]?: FetchDocument;
}

/** Where a server answers, and what it was put together of. */
export interface Started {
  /** Where it listens, such as `http://127.0.0.1:3931`; the public URL when it listens nowhere itself. */
  readonly address: string;
  /** What clients are given: the address of the MCP endpoint; '' where none is served. */
  readonly mcpUrl: string;
  /** The address of the agent's HTTP API, without a slash at its end. */
  readonly apiUrl: string;
  /** The address of the console. */
  readonly consoleUrl: string;
  /** Where /metrics is, where it is served. */
  readonly metricsUrl?: string;
  readonly store: OpenedStore;
  readonly engine: Engine;
}

/** One server of ours, put together of all rooms. It listens, or is called by a host application. */
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

/** The authorization server, the MCP SDK and the console are loaded this long after the start, when nothing asked for them before. */
const LOAD_AFTER_MS = 1000;

interface Rooms extends RoutedRooms {
  readonly console: LazyConsole;
  readonly engine: Engine;
  readonly workflows: WorkflowRooms;
  readonly triggers: TriggerRooms;
}

/** `config.database` must be set, or `openEngine` given: which database is served by default is the caller's business. */
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
    // Whoever ends a run, in whichever room.
    const store = { ...opened, runs: tellingOfEnds(opened.runs, () => triggers.callbacks.nudge()) };
    const environment = openEnvironment(store, options.envSecret ?? config.envSecret ?? undefined);
    // At another platform it is the secret itself that lets us in.
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
    // It signs in at the authorization server, which is there with MCP alone.
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
        tools: selectTools(null, observe),
        callAs: (access, signal) => ({ access, engine, config, signal, sendWebhook, files }),
        playground: mcp?.playground ?? null,
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

  const load = async ({ mcp, console }: Rooms): Promise<void> => {
    const loads = [
      ['authorization server', () => mcp?.authorization.load()],
      ['MCP SDK', () => mcp?.front.load()],
      ['console', () => console.load()],
    ] as const;
    // One after the other: calls that come meanwhile are not held up for long.
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
        // Not ready any more, but still answering: balancers take it out before it is gone.
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
