// The composition root: a frozen Config in, one Node request listener with start and stop out. It is the only place where
// all rooms meet. A request goes by its path, before any router: /mcp to the MCP front, the OAuth namespaces to the
// authorization server (whose heavy part is loaded once calls are being answered), the two health checks, and 404.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createEngine, type Engine } from './agent/engine.ts';
import { createSqlSource } from './agent/sources/sql/source.ts';
import { type Clock, systemClock } from './core/clock.ts';
import type { Config } from './core/config.ts';
import { AppError, type ErrorCode, type ErrorDetails, fail } from './core/errors.ts';
import { createLogListener, createObserver, type Observe } from './core/observe.ts';
import { createMcpFront, type McpFront, type McpFrontParts } from './mcp/front.ts';
import { selectTools } from './mcp/tools.ts';
import { createGate } from './oauth/bearer.ts';
import { documentFetch, type FetchDocument } from './oauth/documents.ts';
import { createPaths } from './oauth/paths.ts';
import { type AuthorizationServer, createAuthorizationServer } from './oauth/routes.ts';
import { defaultScopes } from './oauth/scopes.ts';
import { type OpenedStore, openStore } from './store/open.ts';

export interface AppOptions {
  /** Of this package; told to clients. */
  readonly version: string;
  readonly clock?: Clock;
  /** A listener beside the log on standard error. */
  readonly observe?: Observe;
  readonly mcp?: Pick<McpFrontParts, 'extension' | 'legacySessions' | 'serving'>;
  /** For tests only: how client metadata documents are fetched. */
  readonly [documentFetch]?: FetchDocument;
}

export interface Started {
  /** Where it listens, such as `http://127.0.0.1:3931`. */
  readonly address: string;
  /** What clients are given: the address of the MCP endpoint. */
  readonly mcpUrl: string;
  readonly store: OpenedStore;
  readonly engine: Engine;
}

export interface App {
  /** SOURCE_UNAVAILABLE or CONFIGURATION, with everything closed again, when it cannot start. */
  start(): Promise<Started>;
  /** Takes no new calls, lets those under way end within the configured time, writes what is batched, and closes. */
  stop(reason: string): Promise<void>;
}

/** The authorization server is loaded this long after the start, when nothing asked for it before. */
const LOAD_AFTER_MS = 1000;
const DRAIN_STEP_MS = 25;
/** How often connections are looked at for requests that take too long to arrive. */
const STALL_STEP_MS = 1000;

interface Rooms {
  readonly store: OpenedStore;
  readonly engine: Engine;
  readonly front: McpFront;
  readonly authorization: AuthorizationServer;
}

/** `config.database` must be set: which database is served by default is the caller's business. */
export function createApp(configured: Config, options: AppOptions): App {
  const clock = options.clock ?? systemClock;
  const observer = createObserver();
  observer.listen(createLogListener(configured.logLevel));
  if (options.observe) observer.listen(options.observe);
  const { observe } = observer;

  let rooms: Rooms | undefined;
  let stopping: Promise<void> | undefined;
  let route: (req: IncomingMessage, res: ServerResponse) => void = answerNotReady;
  const arrival = configured.requestSeconds * 1000;
  const limits = { requestTimeout: arrival, headersTimeout: arrival, connectionsCheckingInterval: STALL_STEP_MS };
  const server = createServer(limits, (req, res) => {
    // A connection kept alive would outlast the drain.
    if (stopping) res.setHeader('Connection', 'close');
    takeTarget(req);
    route(req, res);
  });

  const open = async (config: Config & { readonly publicUrl: string }): Promise<Rooms> => {
    const { store, engine } = await openData(config, observe, clock);
    const paths = createPaths(config.publicUrl, config.basePath);
    const scopes = defaultScopes(selectTools(config.enabledTools, () => undefined).map((tool) => tool.scope));
    const gate = createGate({ store, paths, clock, defaultScopes: scopes });
    const fetchDocument = options[documentFetch];
    return {
      store,
      engine,
      front: createMcpFront({
        config,
        engine,
        gate,
        activity: store.activity,
        observe,
        clock,
        version: options.version,
        ...options.mcp,
      }),
      authorization: createAuthorizationServer({
        store,
        config,
        paths,
        clock,
        observe,
        defaultScopes: scopes,
        ...(fetchDocument ? { [documentFetch]: fetchDocument } : {}),
      }),
    };
  };

  return {
    async start() {
      const from = clock.monotonic();
      await listen(server, configured);
      const { port } = server.address() as AddressInfo;
      const address = `http://${isWildcard(configured.host) ? '127.0.0.1' : bracketed(configured.host)}:${port}`;
      const config = { ...configured, port, publicUrl: configured.publicUrl ?? address };
      try {
        rooms = await open(config);
      } catch (error) {
        await close(server);
        throw error;
      }
      route = createRoute(config, rooms, () => stopping !== undefined);
      const { authorization, store, engine } = rooms;
      clock.after(LOAD_AFTER_MS, () => {
        authorization.load().catch((cause: unknown) => {
          observe({ type: 'warning', message: 'The authorization server could not be loaded', cause });
        });
      });
      observe({ type: 'server.started', address, milliseconds: Math.round(clock.monotonic() - from) });
      return { address, mcpUrl: `${config.publicUrl}${config.basePath}/mcp`, store, engine };
    },

    stop(reason) {
      stopping ??= (async () => {
        observe({ type: 'server.stopping', reason });
        await drain(server, clock, configured.shutdownSeconds * 1000);
        rooms?.authorization.close();
        await rooms?.front.close();
        await rooms?.engine.close();
        await rooms?.store.close();
        observe({ type: 'server.stopped' });
      })();
      return stopping;
    },
  };
}

/** The storage and the served database are opened beside each other; when one fails, the other is closed again. */
async function openData(config: Config, observe: Observe, clock: Clock) {
  if (config.database === null) fail('CONFIGURATION', { problem: 'No database is named: set SERVICE_DATABASE_URL.' });
  const limits = { pageSizeLimit: config.pageSizeLimit, queryTimeoutMs: config.querySeconds * 1000 };
  const openEngine = async (url: string) =>
    createEngine({
      sources: [createSqlSource(url, { observe, clock, sqlite: config.sqlite })],
      observe,
      clock,
      limits,
    });
  const [store, engine] = await Promise.allSettled([
    openStore({ config, observe, clock }),
    openEngine(config.database),
  ]);
  if (store.status === 'fulfilled' && engine.status === 'fulfilled')
    return { store: store.value, engine: engine.value };
  if (store.status === 'fulfilled') await store.value.close();
  if (engine.status === 'fulfilled') await engine.value.close();
  throw store.status === 'rejected' ? store.reason : (engine as PromiseRejectedResult).reason;
}

function createRoute(config: Config & { readonly publicUrl: string }, rooms: Rooms, isStopping: () => boolean) {
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const publicPath = new URL(config.publicUrl).pathname.replace(/\/+$/, '');
  const prefixes = [...new Set([config.basePath, publicPath + config.basePath])];
  const mcpPaths = prefixes.flatMap((prefix) => [`${prefix}/mcp`, `${prefix}/mcp/`]);
  return (req: IncomingMessage, res: ServerResponse): void => {
    const url = req.url ?? '/';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (mcpPaths.includes(path)) rooms.front.handle(req, res);
    else if (rooms.authorization.handle(req, res)) return;
    else if (path === '/healthz') answer(res, 200, { status: 'ok' });
    else if (path === '/readyz') answerReadiness(res, rooms.store, isStopping());
    else refuse(res, 'NOT_FOUND', { path });
  };
}

/** RFC 9112 section 3.2.2: a whole URL as the target is served, and its host stands in place of the Host header. */
function takeTarget(req: IncomingMessage): void {
  const target = req.url ?? '/';
  if (target.startsWith('/') || !/^https?:\/\//i.test(target) || !URL.canParse(target)) return;
  const { host, pathname, search } = new URL(target);
  req.url = pathname + search;
  req.headers.host = host;
}

function answerReadiness(res: ServerResponse, store: OpenedStore, stopping: boolean): void {
  const unready = () => answer(res, 503, { status: 'unavailable' });
  if (stopping) unready();
  else store.ready().then(() => answer(res, 200, { status: 'ready' }), unready);
}

function answerNotReady(req: IncomingMessage, res: ServerResponse): void {
  if (req.url === '/healthz') answer(res, 200, { status: 'ok' });
  else refuse(res.setHeader('Retry-After', '1'), 'NOT_READY', {});
}

function refuse<C extends ErrorCode>(res: ServerResponse, code: C, details: ErrorDetails<C>): void {
  const error = new AppError(code, details);
  answer(res, error.status, { error: code.toLowerCase(), error_description: error.message });
}

function answer(res: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  res.end(text);
}

function listen(server: Server, config: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const problem =
        cause.code === 'EADDRINUSE'
          ? `Port ${config.port} is taken. Stop what listens there, or set MCP_SERVER_PORT to another.`
          : `Cannot listen on ${config.host}, port ${config.port}: ${cause.code}. Set SERVICE_HOST and MCP_SERVER_PORT.`;
      reject(new AppError('CONFIGURATION', { problem }, cause));
    });
    server.listen(config.port, config.host, resolve);
  });
}

async function drain(server: Server, clock: Clock, limitMs: number): Promise<void> {
  if (!server.listening) return;
  let closed = false;
  const closing = close(server).then(() => {
    closed = true;
  });
  const until = clock.monotonic() + limitMs;
  while (!closed && clock.monotonic() < until) {
    server.closeIdleConnections();
    await Promise.race([closing, clock.sleep(DRAIN_STEP_MS)]);
  }
  server.closeAllConnections();
  await closing;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
