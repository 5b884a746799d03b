// Mounts the agent on Koa 2 or 3. Koa copies its middleware when it starts listening, and sets status 404 before the
// first one. The agent therefore wraps `handleRequest`, which has the context but no status yet. Koa never sees the
// agent's requests, so `ctx.respond = false` is not needed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HostKind, hasFunctions } from './host.ts';

/** An application that `new Koa()` returns, version 2 or 3. */
export interface KoaHost {
  readonly middleware: readonly unknown[];
  callback(): unknown;
}

interface Context {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  onerror(error: unknown): void;
}

interface KoaApplication extends KoaHost {
  handleRequest(ctx: Context, middleware: unknown): Promise<unknown>;
}

/** The property that @koa/router and koa-router set on their middleware. */
interface Routed {
  readonly router?: { readonly stack?: readonly { readonly path?: unknown }[] };
}

export const koaKind: HostKind = {
  call: 'mountOnKoa',
  takes: 'the application from new Koa()',
  is: (host) => hasFunctions(host, 'callback', 'handleRequest') && Array.isArray((host as KoaHost).middleware),
  mount(host: KoaHost, handle) {
    const app = host as KoaApplication;
    const { handleRequest } = app;
    app.handleRequest = (ctx, middleware) =>
      new Promise((resolve, reject) => {
        ctx.res.once('close', resolve);
        handle(ctx.req, ctx.res, (error) => {
          ctx.res.off('close', resolve);
          if (error !== undefined) ctx.onerror(error);
          else handleRequest.call(app, ctx, middleware).then(resolve, reject);
        });
      });
    return { routes: () => findRoutes(app.middleware) };
  },
};

function findRoutes(middleware: readonly unknown[]): string[] {
  const stacks = middleware.map((one) => (one as Routed).router?.stack);
  const paths = stacks.flatMap((stack) => (Array.isArray(stack) ? stack.map(({ path }) => path) : []));
  return paths.filter((path) => typeof path === 'string');
}
