// The composition root: it takes a frozen Config and returns a Node request listener with start and stop. modules.ts
// connects the parts. The path decides which part handles a request (route.ts). The HTTP APIs and the console
// always exist; MCP and its authorization server (mcp.ts) are optional.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import { createConsolePaths } from '../console/paths.ts';
import { systemClock } from '../core/clock.ts';
import { databasesOf } from '../core/config/databases.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import { createMetrics } from '../core/observe/metrics.ts';
import { createStatementWatch } from '../core/observe/statements.ts';
import { createTelemetryListener } from '../core/observe/telemetry.ts';
import { createLogListener, createObserver } from '../core/observe.ts';
import type { Next } from '../frameworks/host.ts';
import { type Brand, setBrand } from '../http/brand.ts';
import type { OpenedStore } from '../store/open.ts';
import { refuseUnscopedQueries } from './agent/query-scopes.ts';
import { openBrand } from './brand.ts';
import { openData } from './data.ts';
import { createHttpServer, createInFlight } from './http-server.ts';
import { createMetricsServer } from './metrics-server.ts';
import { closeModules, createModules, endpointOf, loadModules, type Modules } from './modules.ts';
import type { AppOptions } from './options.ts';
import { createClaim, createRoute, type Route, routeBeforeStart } from './route.ts';

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
      clock.after(LOAD_AFTER_MS, () => void loadModules(opened, observe, () => stopping !== undefined));
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

function failWithoutAddress(): never {
  return fail('CONFIGURATION', {
    problem:
      'The public URL of the host application is unknown: set SERVICE_PUBLIC_URL (or settings.publicUrl) to the URL that clients use.',
  });
}
