// Loads the routers on the first request that needs them, or shortly after the start.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';
import { randomId } from '../core/secret.ts';
import type { NodeHandler } from '../http/router.ts';
import { refuse, sendRefusal } from './http-server.ts';

export interface LazyRouter {
  /** Loads the routers, unless an earlier request has. */
  load(): Promise<unknown>;
  /** Answers the request; NOT_FOUND if no router has the path. */
  handle(req: IncomingMessage, res: ServerResponse, path: string): void;
}

export function createLazyRouter(open: () => Promise<NodeHandler>, observe: Observe): LazyRouter {
  let loaded: NodeHandler | undefined;
  let loading: Promise<NodeHandler> | undefined;
  const load = (): Promise<NodeHandler> => {
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
      const route = (router: NodeHandler): void =>
        router(req, res, (error) => (error === undefined ? refuse(res, 'NOT_FOUND', { path }) : failed(error)));
      if (loaded) route(loaded);
      else load().then(route, failed);
    },
  };
}
