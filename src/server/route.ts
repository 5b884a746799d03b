// Routes each request by its path, after a check of the client address: /mcp to its endpoint, other paths of Portico to
// the routers (mounts.ts). All other paths go to the host application, if there is one. A standalone server answers them
// with its two health checks or 404.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Engine } from '../agent/engine.ts';
import { createApiPaths } from '../api/paths.ts';
import { createConsolePaths, logoPage } from '../console/paths.ts';
import type { Config } from '../core/config.ts';
import { AppError, isAppError } from '../core/errors.ts';
import type { Next } from '../frameworks/host.ts';
import { brandOf, sendLogo } from '../http/brand.ts';
import { createHostCheck } from '../http/host-check.ts';
import { messagePage, sendPage } from '../http/page.ts';
import { isBelow, prefixesOf } from '../http/prefixes.ts';
import { sendJson } from '../http/reply.ts';
import { pathOf } from '../http/request-target.ts';
import type { McpEndpoint } from '../mcp/endpoint.ts';
import type { AddressCheck } from '../oauth/server/allow-list.ts';
import { createPaths } from '../oauth/server/paths.ts';
import { createRestPaths } from '../rest/paths.ts';
import type { OpenedStore } from '../store/open.ts';
import { isBrowserVisit, sendBrowserPage } from './browser-page.ts';
import { refuse, sendRefusal } from './http-server.ts';
import type { LazyRouter } from './lazy-router.ts';

/** `next` is absent on a standalone server. It is called synchronously or not at all. */
export type Route = (req: IncomingMessage, res: ServerResponse, next?: Next) => void;

interface ClaimConfig
  extends Pick<
    Config,
    'publicUrl' | 'basePath' | 'consolePath' | 'prefix' | 'apiPath' | 'platformDoor' | 'platformPath'
  > {
  /** If false, the paths of MCP and its authorization server are not claimed. */
  readonly servesMcp: boolean;
}

export interface RoutedModules {
  readonly checkAddress: AddressCheck;
  readonly store: OpenedStore;
  readonly engine: Pick<Engine, 'health'>;
  readonly mcp: { readonly endpoint: McpEndpoint } | undefined;
  readonly router: LazyRouter;
}

export function createRoute(
  config: ClaimConfig & Pick<Config, 'allowedHosts' | 'host'>,
  { checkAddress, store, engine, mcp, router }: RoutedModules,
  isStopping: () => boolean,
): Route {
  const claim = createClaim(config);
  const { servesMcp, publicUrl, basePath, consolePath } = config;
  const isOurHost = createHostCheck(publicUrl === null ? undefined : new URL(publicUrl).host, config);
  const { prefixes: consolePrefixes, url: consoleUrl } = createConsolePaths(
    publicUrl ?? 'http://localhost',
    consolePath,
  );
  const logoPaths = new Set(consolePrefixes.map((prefix) => prefix + logoPage));
  const addresses = {
    mcpUrl: servesMcp ? `${publicUrl}${basePath}/mcp` : undefined,
    consoleUrl: consoleUrl(''),
  };
  return (req, res, next) => {
    const path = pathOf(req.url);
    const owner = claim(path);
    // Paths of the host application and health checks skip the address check, because they return no data.
    if (!owner && next) return next();
    if (path === '/healthz') return sendJson(res, 200, { status: 'ok' });
    if (path === '/readyz') return answerReadiness(res, { store, engine }, isStopping());
    requireAllowedAddress(checkAddress, req, res, () => {
      const isLogo = owner === 'router' && logoPaths.has(path) && /^(GET|HEAD)$/.test(req.method ?? '');
      const logo = isLogo ? brandOf(res)?.logo : undefined;
      if (logo) return sendLogo(res, logo);
      const isForPeople = owner === 'mcp' || (!next && path === '/');
      if (isForPeople && isBrowserVisit(req) && isOurHost(req.headers.host)) sendBrowserPage(res, addresses);
      else if (owner === 'mcp') mcp?.endpoint.handle(req, res);
      else if (owner === 'router') router.handle(req, res, path);
      else refuse(res, 'NOT_FOUND', { path });
    });
  };
}

/** Before the start and after the stop, the host still does not get the paths of Portico. */
export function routeBeforeStart(config: ClaimConfig): Route {
  const claim = createClaim(config);
  return (req, res, next) => {
    if (next && !claim(pathOf(req.url))) next();
    else if (!next && req.url === '/healthz') sendJson(res, 200, { status: 'ok' });
    else refuse(res.setHeader('Retry-After', '1'), 'NOT_READY', {});
  };
}

/** Returns a function that finds who answers a path of the origin (behaviour 4.4): undefined is the host application. */
export function createClaim(config: ClaimConfig): (path: string) => 'mcp' | 'router' | undefined {
  const { servesMcp, basePath, consolePath, prefix, apiPath, platformDoor, platformPath } = config;
  const publicUrl = config.publicUrl ?? 'http://localhost';
  const at = (path: string) => prefixesOf(publicUrl, path).prefixes;
  const endpoints = servesMcp ? at(`${basePath}/mcp`) : [];
  const oauth = createPaths(publicUrl, basePath);
  const prefixes = [
    ...endpoints,
    ...(platformDoor ? at(platformPath) : []),
    ...createApiPaths(publicUrl, apiPath).prefixes,
    ...createConsolePaths(publicUrl, consolePath).prefixes,
    ...(servesMcp ? [...oauth.prefixes, ...oauth.wellKnown] : []),
    ...createRestPaths(publicUrl, prefix).prefixes,
  ];
  return (path) => {
    if (endpoints.some((endpoint) => path === endpoint || path === `${endpoint}/`)) return 'mcp';
    return isBelow(path, prefixes) || (servesMcp && oauth.documents.has(path)) ? 'router' : undefined;
  };
}

/** One database of several that is down does not make the process unready: the others still answer. */
function answerReadiness(
  res: ServerResponse,
  { store, engine }: Pick<RoutedModules, 'store' | 'engine'>,
  stopping: boolean,
): void {
  const unready = () => sendJson(res, 503, { status: 'unavailable' });
  if (stopping) {
    unready();
    return;
  }
  Promise.all([store.ready(), engine.health()]).then(([, sources]) => {
    const states = sources.map(({ label, isAvailable }) => [label, isAvailable ? 'ready' : 'unavailable']);
    sendJson(res, 200, { status: 'ready', ...(states.length > 1 && { databases: Object.fromEntries(states) }) });
  }, unready);
}

/** Guards every path of Portico; no request bypasses it. */
function requireAllowedAddress(
  checkAddress: AddressCheck,
  req: IncomingMessage,
  res: ServerResponse,
  dispatch: () => void,
): void {
  const proceed = (refusal: AppError | undefined): void => {
    if (res.destroyed) return;
    if (refusal) refuseAddress(req, res, refusal);
    else dispatch();
  };
  // Fails closed: if the list cannot be read, the request is refused.
  const onFailure = (cause: unknown) =>
    proceed(isAppError(cause, 'PLATFORM_UNAVAILABLE') ? cause : new AppError('SOURCE_UNAVAILABLE', {}, cause));
  let decision: ReturnType<AddressCheck>;
  try {
    decision = checkAddress(req);
  } catch (cause) {
    onFailure(cause);
    return;
  }
  if (decision instanceof Promise) void decision.then(proceed, onFailure);
  else proceed(decision);
}

function refuseAddress(req: IncomingMessage, res: ServerResponse, error: AppError): void {
  // The rest of the request is not read.
  res.setHeader('Connection', 'close');
  const isBrowser = /\btext\/html\b/.test(req.headers.accept ?? '');
  if (isBrowser) sendPage(res, error.status, messagePage({ title: 'Address not allowed', text: error.message }));
  else sendRefusal(res, error);
}
