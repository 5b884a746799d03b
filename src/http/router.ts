// Express routers for every endpoint except /mcp. The middlewares at the head of a router are its checks, in order. Then
// come its routes, `notFound` and an error reply (error-reply.ts).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RequestHandler, type Response, Router } from 'express';
import { AppError } from '../core/errors.ts';
import { pathOf } from './request-target.ts';

/** Paths are compared exactly: upper case and a trailing slash make another path. */
export const createRouter = (): Router => Router({ caseSensitive: true, strict: true });

/** Answers a request, or calls `next`, with an error or without one. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** A router at one or more path prefixes, such as `/service`. An empty prefix stands for every path. */
export interface Mount {
  readonly prefixes: readonly string[];
  readonly router: RequestHandler;
  /** Whether the paths are those of the routes themselves, not prefixes. The router then sees them whole. */
  readonly isExact?: boolean;
}

/**
 * The first mount of a path answers. Without one, `next` is called. This is a router and not an application, so the
 * requests of a host application keep their prototype.
 */
export function createMountRouter(mounts: readonly Mount[]): NodeHandler {
  const router = createRouter();
  for (const { prefixes, router: mounted, isExact } of mounts) {
    for (const prefix of prefixes) {
      if (isExact) router.all(toPattern(prefix), mounted);
      else router.use(toPattern(prefix), mounted);
    }
  }
  // Routers use only members that Node's requests and responses have.
  return router as unknown as NodeHandler;
}

/** Escapes the characters that have a meaning in a path pattern. */
const toPattern = (path: string): string => path.replace(/[\\{}()[\]+?!:*]/g, '\\$&') || '/';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `:name` in the path matches one segment, and is decoded. */
export interface RoutePath {
  readonly method: Method;
  readonly path: string;
  /** For GET: whether HEAD is refused. By default Express answers it with the route for GET. */
  readonly refusesHead?: boolean;
}

/**
 * Adds the routes. The most literal path comes first: `/:id/count` before `/:id/:relation`. For a path without a route
 * for the method, fails with METHOD_NOT_ALLOWED and the methods of all routes with that path.
 */
export function addRoutes<R extends RoutePath>(
  router: Router,
  routes: readonly R[],
  handlerOf: (route: R) => RequestHandler,
): void {
  const sorted = routes.toSorted((a, b) => rankOf(a.path).localeCompare(rankOf(b.path)));
  for (const route of sorted) {
    const handler = handlerOf(route);
    router[methodNames[route.method]](route.path, (req, res, next) =>
      route.refusesHead && req.method === 'HEAD' ? next() : handler(req, res, next),
    );
  }
  const allowed = new WeakMap<Response, string[]>();
  for (const { method, path, refusesHead } of sorted) {
    const methods = method === 'GET' && !refusesHead ? ['GET', 'HEAD'] : [method];
    router.all(path, (_req, res, next) => {
      allowed.set(res, [...(allowed.get(res) ?? []), ...methods]);
      next();
    });
  }
  router.use((req, res, next) => {
    const allow = allowed.get(res);
    next(allow && new AppError('METHOD_NOT_ALLOWED', { method: req.method, allow: [...new Set(allow)] }));
  });
}

const methodNames = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

/** Per segment: 0 for a literal, 1 for a parameter with a literal suffix, 2 for a parameter. */
const rankOf = (path: string): string =>
  path
    .split('/')
    .map((segment) => (!segment.startsWith(':') ? 0 : /^:\w+$/.test(segment) ? 2 : 1))
    .join('');

/** Fails with METHOD_NOT_ALLOWED for other methods. */
export const allowMethods =
  (...allow: readonly string[]): RequestHandler =>
  ({ method }, _res, next) =>
    next(allow.includes(method) ? undefined : new AppError('METHOD_NOT_ALLOWED', { method, allow }));

/** Fails with NOT_FOUND. */
export const notFound: RequestHandler = (req, _res, next) =>
  next(new AppError('NOT_FOUND', { path: pathOf(req.originalUrl) }));
