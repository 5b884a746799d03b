// Which request is whose: by its path, before any router. What is not ours goes to the host application where there is one;
// on a server of our own it is the two health checks, and 404.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createApiPaths } from '../api/paths.ts';
import type { Console } from '../console/console.ts';
import { createConsolePaths } from '../console/paths.ts';
import type { Config } from '../core/config.ts';
import type { Next } from '../hosts/host.ts';
import type { AddressCheck } from '../oauth/allow-list.ts';
import { createPaths } from '../oauth/paths.ts';
import { sendJson } from '../oauth/reply.ts';
import { createDoorPaths } from '../platform/paths.ts';
import { createRestPaths } from '../rest/paths.ts';
import type { OpenedStore } from '../store/open.ts';
import { admit } from './admit.ts';
import type { Apis } from './apis.ts';
import { refuse } from './doors.ts';
import type { McpRooms } from './mcp.ts';
import type { DoorHandle } from './platform.ts';

/** `next` is absent on a server of our own. It is called at once or never. */
export type Route = (req: IncomingMessage, res: ServerResponse, next?: Next) => void;

export interface ClaimConfig
  extends Pick<
    Config,
    'publicUrl' | 'basePath' | 'consolePath' | 'prefix' | 'apiPath' | 'platformDoor' | 'platformPath'
  > {
  /** False: the paths of MCP and of its authorization server are somebody else's. */
  readonly servesMcp: boolean;
}

export interface RoutedRooms {
  readonly checkAddress: AddressCheck;
  readonly store: OpenedStore;
  readonly console: Console;
  readonly apis: Apis;
  readonly mcp: McpRooms | undefined;
  /** Undefined where no agent of another process is let in. */
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
    // What the host application has, and what says that we live, is not about data.
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

/** Before the start and after the end our paths are not the host's either. */
export function routeBeforeStart(config: ClaimConfig): Route {
  const claim = createClaim(config);
  return (req, res, next) => {
    if (next && !claim(pathOf(req))) next();
    else if (!next && req.url === '/healthz') sendJson(res, 200, { status: 'ok' });
    else refuse(res.setHeader('Retry-After', '1'), 'NOT_READY', {});
  };
}

/**
 * What is ours of the paths of an origin (spec 4.4): the endpoint of MCP, those of files below it, and `ours` for the rest of
 * our namespaces.
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
