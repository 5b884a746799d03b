// Which of some routes Express gives a request, without a server.
import { addRoutes, createRouter, type RoutePath } from '../../src/http/router.ts';

export interface MatchedRoute<R> {
  readonly route: R;
  readonly params: Readonly<Record<string, string>>;
}

/** `path` includes neither the prefix nor a query. Undefined without a route; an error without one for the method. */
export function matchRoute<R extends RoutePath>(
  routes: readonly R[],
  method: string,
  path: string,
): Promise<MatchedRoute<R> | Error | undefined> {
  return new Promise((resolve) => {
    const router = createRouter();
    addRoutes(router, routes, (route) => (req) => resolve({ route, params: { ...(req.params as object) } }));
    router({ method, url: path } as never, {} as never, (error?: unknown) => resolve(error as Error | undefined));
  });
}
