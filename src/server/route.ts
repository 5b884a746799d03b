// Routes each request by its path, before any router. Other paths go to the host application, if there is one. A
// standalone server answers them with its two health checks or 404.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createApiPaths } from '../api/paths.ts';
import type { Console } from '../console/endpoint.ts';
import { createConsolePaths } from '../console/paths.ts';
import type { Config } from '../core/config.ts';
import type { Next } from '../frameworks/host.ts';
import { sendJson } from '../http/reply.ts';
import type { AddressCheck } from '../oauth/server/allow-list.ts';
import { createPaths } from '../oauth/server/paths.ts';
import { createDoorPaths } from '../remote-store/paths.ts';
import { createRestPaths } from '../rest/paths.ts';
import type { OpenedStore } from '../store/open.ts';
import { admit } from './admit.ts';
import type { Apis } from './apis.ts';
import { refuse } from './http-server.ts';
import type { McpRooms } from './mcp.ts';
import type { DoorHandle } from './remote-store.ts';

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

export interface RoutedRooms {
  readonly checkAddress: AddressCheck;
  readonly store: OpenedStore;
  readonly console: Console;
  readonly apis: Apis;
  readonly mcp: McpRooms | undefined;
  /** Undefined if this server accepts no agents of other processes. */
  readonly platformDoor: DoorHandle | undefined;
}

export function createRoute(
  config: ClaimConfig,
  { checkAddress, store, console, apis, mcp, platformDoor }: RoutedRooms,
  isStopping: () => boolean,
): Route {
  const claim = createClaim(config);
  return (req, res, next) => {
    const path = pathOf(req);
    const claimed = claim(path);
    // Paths of the host application and health checks skip the address check, because they return no data.
    if (!claimed && next) return next();
    if (path === '/healthz') return sendJson(res, 200, { status: 'ok' });
    if (path === '/readyz') return answerReadiness(res, store, isStopping());
    const dispatch = () => {
      if (mcp && claimed === 'endpoint') mcp.front.handle(req, res);
      else if (mcp && claimed === 'file') mcp.fileFront.handle(req, res);
      else if (platformDoor?.(req, res)) return;
      else if (console.handle(req, res)) return;
      else if (mcp?.authorization.handle(req, res)) return;
      else if (apis.cloud?.handle(req, res)) return;
      else if (apis.webhook.handle(req, res)) return;
      else if (apis.api.handle(req, res)) return;
      else if (apis.rest.handle(req, res)) return;
      else refuse(res, 'NOT_FOUND', { path });
    };
    admit(checkAddress, req, res, dispatch);
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

/**
 * Returns a function that classifies a path of the origin (spec 4.4): the MCP endpoint, its file URLs, or `ours` for
 * all other paths of Portico.
 */
export function createClaim({ publicUrl: known, servesMcp, basePath, ...rest }: ClaimConfig) {
  const { consolePath, prefix, apiPath, platformDoor, platformPath } = rest;
  const publicUrl = known ?? 'http://localhost';
  const located = [
    ...(servesMcp ? [createPaths(publicUrl, basePath)] : []),
    createConsolePaths(publicUrl, consolePath),
    createApiPaths(publicUrl, apiPath),
    createRestPaths(publicUrl, prefix),
    ...(platformDoor ? [createDoorPaths(publicUrl, platformPath)] : []),
  ];
  // A proxy that adds the path of the public URL may strip it or pass it on.
  const publicPath = new URL(publicUrl).pathname.replace(/\/+$/, '');
  const roots = servesMcp ? [...new Set([basePath, publicPath + basePath])].map((root) => `${root}/mcp`) : [];
  return (path: string): 'endpoint' | 'file' | 'ours' | undefined => {
    for (const root of roots) {
      if (path === root || path === `${root}/`) return 'endpoint';
      if (path.startsWith(`${root}/uploads/`) || path.startsWith(`${root}/downloads/`)) return 'file';
      if (path.startsWith(`${root}/`)) return 'ours';
    }
    return located.some((one) => one.locate(path) !== undefined) ? 'ours' : undefined;
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
