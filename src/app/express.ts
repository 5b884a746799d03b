// What we know of an Express application: that it takes handlers, and where it keeps its layers (4: `_router`, 5: `router`).
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Next } from './doors.ts';

/** What `express()` makes, of version 4 or 5. */
export interface ExpressHost {
  use(handler: (req: IncomingMessage, res: ServerResponse, next: Next) => void): unknown;
}

interface Layer {
  readonly route?: { readonly path?: unknown };
}

/** Before everything else that the application has or will have: what is ours never reaches it (spec 4.4 and 7). */
export function mountFirst(app: ExpressHost, handler: Parameters<ExpressHost['use']>[0]): void {
  app.use(handler);
  const stack = stackOf(app);
  if (stack.length > 1) stack.unshift(stack.pop()!);
}

/** The paths of the application's own routes that `isOurs` takes from it. */
export function findHiddenRoutes(app: ExpressHost, isOurs: (path: string) => boolean): string[] {
  const paths = stackOf(app).flatMap(({ route }) => [route?.path].flat());
  return [...new Set(paths.filter((path) => typeof path === 'string'))].filter(isOurs);
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
