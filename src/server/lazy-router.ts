// Loads the routers on the first request that needs them, or shortly after the start.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Router } from 'express';
import { AppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import { refuse, sendRefusal } from './http-server.ts';

export interface LazyRouter {
  /** Loads the routers, unless an earlier request has. */
  load(): Promise<unknown>;
  /** Answers the request; NOT_FOUND if no router has the path. */
  handle(req: IncomingMessage, res: ServerResponse, path: string): void;
}

export function createLazyRouter(open: () => Promise<Router>, observe: Observe): LazyRouter {
  let loaded: Router | undefined;
  let loading: Promise<Router> | undefined;
  const load = (): Promise<Router> => {
    loading ??= open().then(
      (router) => {
        loaded = router;
        return router;
      },
      (error: unknown) => {
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
  return {
    load,
    handle(req, res, path) {
      const failed = (cause: unknown): void => {
        const requestId = randomId();
        observe({ type: 'failure', where: 'router', requestId, cause });
        if (res.headersSent) res.destroy();
        else sendRefusal(res, new AppError('INTERNAL', { requestId }, cause));
      };
      const route = (router: Router): void => {
        router(req as never, res as never, (error?: unknown) =>
          error === undefined ? refuse(res, 'NOT_FOUND', { path }) : failed(error),
        );
      };
      if (loaded) route(loaded);
      else load().then(route, failed);
    },
  };
}
