// Mounts the agent on an Express application. Express 4 holds its layers in `_router`, Express 5 in `router`.
import { type HostKind, hasFunctions, type NodeHandler } from './host.ts';

/** An application that `express()` returns, version 4 or 5. */
export interface ExpressHost {
  use(handler: NodeHandler): unknown;
}

interface Layer {
  readonly route?: { readonly path?: unknown };
}

export const expressKind: HostKind = {
  call: 'mountOnExpress',
  takes: 'the application from express()',
  is: (host) => typeof host === 'function' && hasFunctions(host, 'use', 'set', 'handle'),
  mount(app: ExpressHost, handle) {
    mountFirst(app, handle);
    return { routes: () => findRoutes(app) };
  },
};

/**
 * Runs before every other handler, including those added later. The host never receives the agent's requests
 * (behaviour 4.4 and 7).
 */
function mountFirst(app: ExpressHost, handler: NodeHandler): void {
  app.use(handler);
  const stack = stackOf(app);
  if (stack.length > 1) stack.unshift(stack.pop()!);
}

function findRoutes(app: ExpressHost): string[] {
  const paths = stackOf(app).flatMap(({ route }) => [route?.path].flat());
  return paths.filter((path) => typeof path === 'string');
}

function stackOf(app: ExpressHost): Layer[] {
  // Express 4 throws on access to `router`, and Express 5 has no `_router`.
  const holder = app as {
    readonly _router?: { readonly stack?: unknown };
    readonly router?: { readonly stack?: unknown };
  };
  const stack = (holder._router ?? holder.router)?.stack;
  return Array.isArray(stack) ? stack : [];
}
