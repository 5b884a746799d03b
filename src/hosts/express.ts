// What we know of an Express application: that it takes handlers, and where it keeps its layers (4: `_router`, 5: `router`).
import { type HostKind, hasFunctions, type NodeHandler } from './host.ts';

/** What `express()` makes, of version 4 or 5. */
export interface ExpressHost {
  use(handler: NodeHandler): unknown;
}

interface Layer {
  readonly route?: { readonly path?: unknown };
}

export const expressKind: HostKind = {
  call: 'mountOnExpress',
  takes: 'the application that express() made',
  is: (host) => typeof host === 'function' && hasFunctions(host, 'use', 'set', 'handle'),
  mount(app: ExpressHost, handle) {
    mountFirst(app, handle);
    return { routes: () => findRoutes(app) };
  },
};

/** Before everything else that the application has or will have: what is ours never reaches it (spec 4.4 and 7). */
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
  // Express 4 throws at `router`, and Express 5 has no `_router`.
  const holder = app as {
    readonly _router?: { readonly stack?: unknown };
    readonly router?: { readonly stack?: unknown };
  };
  const stack = (holder._router ?? holder.router)?.stack;
  return Array.isArray(stack) ? stack : [];
}
