// Routes each request by its path, before any router, after a check of the client address. Other paths go to the host
// application, if there is one. A standalone server answers them with its two health checks or 404.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createApiPaths } from '../api/paths.ts';
import type { Console } from '../console/endpoint.ts';
import { createConsolePaths } from '../console/paths.ts';
import type { Config } from '../core/config.ts';
import { AppError, isAppError } from '../core/errors.ts';
import type { Next } from '../frameworks/host.ts';
import { messagePage, sendPage } from '../http/page.ts';
import { sendJson } from '../http/reply.ts';
import type { AddressCheck } from '../oauth/server/allow-list.ts';
import { createPaths } from '../oauth/server/paths.ts';
import { createRpcPaths } from '../remote-store/paths.ts';
import { createRestPaths } from '../rest/paths.ts';
import type { OpenedStore } from '../store/open.ts';
import type { Apis } from './apis.ts';
import { refuse, sendRefusal } from './http-server.ts';
import type { McpModules } from './mcp.ts';
import type { RpcHandler } from './remote-store.ts';

/** `next` is absent on a standalone server. It is called synchronously or not at all. */
export type Route = (req: IncomingMessage, res: ServerResponse, next?: Next) => void;

export interface ClaimConfig
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
  readonly console: Console;
  readonly apis: Apis;
  readonly mcp: McpModules | undefined;
  /** Undefined if this server accepts no agents of other processes. */
  readonly rpcHandler: RpcHandler | undefined;
}

export function createRoute(
  config: ClaimConfig,
  { checkAddress, store, console, apis, mcp, rpcHandler }: RoutedModules,
  isStopping: () => boolean,
): Route {
  const claim = createClaim(config);
  /** They return false for paths that they do not know. */
  const handlers: Readonly<Record<Exclude<Owner, 'endpoint' | 'file'>, Handle>> = {
    mcp: () => false,
    platform: (req, res) => rpcHandler?.(req, res),
    console: (req, res) => console.handle(req, res),
    oauth: (req, res) => mcp?.authorization.handle(req, res),
    api: (req, res) => apis.webhook.handle(req, res) || apis.cloud?.handle(req, res) || apis.api.handle(req, res),
    rest: (req, res) => apis.rest.handle(req, res),
  };
  return (req, res, next) => {
    const path = pathOf(req);
    const claimed = claim(path);
    // Paths of the host application and health checks skip the address check, because they return no data.
    if (!claimed && next) return next();
    if (path === '/healthz') return sendJson(res, 200, { status: 'ok' });
    if (path === '/readyz') return answerReadiness(res, store, isStopping());
    const dispatch = () => {
      if (claimed === 'endpoint') mcp?.endpoint.handle(req, res);
      else if (claimed === 'file') mcp?.fileEndpoint.handle(req, res);
      else if (claimed && handlers[claimed](req, res)) return;
      else refuse(res, 'NOT_FOUND', { path });
    };
    requireAllowedAddress(checkAddress, req, res, dispatch);
  };
}

/** Before the start and after the stop, the host still does not get the paths of Portico. */
export function routeBeforeStart(config: ClaimConfig): Route {
  const claim = createClaim(config);
  return (req, res, next) => {
    if (next && !claim(pathOf(req))) next();
    else if (!next && req.url === '/healthz') sendJson(res, 200, { status: 'ok' });
    else refuse(res.setHeader('Retry-After', '1'), 'NOT_READY', {});
  };
}

type Handle = (req: IncomingMessage, res: ServerResponse) => boolean | undefined;

/** The part of Portico that answers a path: the MCP endpoint, its file URLs, other paths below it, and so on. */
type Owner = 'endpoint' | 'file' | 'mcp' | 'platform' | 'console' | 'oauth' | 'api' | 'rest';

/** Returns a function that finds the owner of a path of the origin (behaviour 4.4). Paths may overlap: the first one counts. */
export function createClaim({ publicUrl: configuredUrl, servesMcp, basePath, ...rest }: ClaimConfig) {
  const { consolePath, prefix, apiPath, platformDoor, platformPath } = rest;
  const publicUrl = configuredUrl ?? 'http://localhost';
  const owners: readonly (readonly [Owner, { locate(path: string): unknown }])[] = [
    ...(platformDoor ? [['platform', createRpcPaths(publicUrl, platformPath)] as const] : []),
    ['api', createApiPaths(publicUrl, apiPath)],
    ['console', createConsolePaths(publicUrl, consolePath)],
    ...(servesMcp ? [['oauth', createPaths(publicUrl, basePath)] as const] : []),
    ['rest', createRestPaths(publicUrl, prefix)],
  ];
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const publicPath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  const roots = servesMcp ? [...new Set([basePath, publicPath + basePath])].map((root) => `${root}/mcp`) : [];
  return (path: string): Owner | undefined => {
    for (const root of roots) {
      if (path === root || path === `${root}/`) return 'endpoint';
      if (path.startsWith(`${root}/uploads/`) || path.startsWith(`${root}/downloads/`)) return 'file';
      if (path.startsWith(`${root}/`)) return 'mcp';
    }
    return owners.find(([, { locate }]) => locate(path) !== undefined)?.[0];
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
