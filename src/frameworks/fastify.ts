// Mounts the agent on Fastify 4 or 5. Fastify runs hooks in registration order, and its router before them. The agent
// therefore handles requests at the Node server, ahead of the application. It also adds an `onRequest` hook, for
// `inject` and for the second server that Fastify opens when `localhost` has two addresses.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HostKind, HostProblem, hasFunctions, type NodeHandler } from './host.ts';

/** An instance that `fastify()` returns, version 4 or 5. */
export interface FastifyHost {
  readonly server: object;
  addHook(...parameters: never[]): unknown;
}

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

interface FastifyApplication {
  readonly server: {
    listeners(event: 'request'): Listener[];
    removeAllListeners(event: 'request'): unknown;
    on(event: 'request', listener: Listener): unknown;
  };
  printRoutes?(options: { readonly commonPrefix: false }): string;
  readonly initialConfig?: { readonly http2?: unknown };
  addHook(name: 'onRoute', hook: (route: { readonly url: string }) => void): unknown;
  addHook(
    name: 'onRequest',
    hook: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): unknown }, done: Done) => void,
  ): unknown;
}

type Done = (error?: Error) => void;

export const fastifyKind: HostKind = {
  call: 'mountOnFastify',
  takes: 'the application from fastify()',
  is: (host) => hasFunctions(host, 'addHook', 'decorate', 'inject') && hasFunctions((host as FastifyHost).server, 'on'),
  mount(host: FastifyHost, handle) {
    const app = host as unknown as FastifyApplication;
    if (app.initialConfig?.http2)
      throw new HostProblem('it serves HTTP/2, which is not supported: remove its option http2');
    const routes: string[] = [];
    try {
      app.addHook('onRequest', (request, reply, done) => {
        let isPassed = false;
        handle(request.raw, reply.raw, (error) => {
          isPassed = true;
          done(error as Error | undefined);
        });
        if (!isPassed) reply.hijack();
      });
      app.addHook('onRoute', ({ url }) => void routes.push(url));
    } catch {
      throw new HostProblem('it is ready and accepts no more hooks: mount before ready(), inject() and listen()');
    }
    listenFirst(app.server, handle);
    return { routes: () => [...readRoutes(app.printRoutes?.({ commonPrefix: false }) ?? ''), ...routes] };
  },
};

/**
 * Parses the route tree that Fastify prints. The tree includes routes registered before `onRoute`. A child is indented
 * by four columns: `└── /b (GET)` below `├── /a (GET)` is `/a/b`.
 */
function readRoutes(tree: string): string[] {
  const above: string[] = [];
  const found: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent, text, methods] = /^((?:[│ ] {3})*)[├└]── (.*?)(?: \(([A-Z, -]+)\))?$/.exec(line) ?? [];
    if (indent === undefined || text === undefined) continue;
    const depth = indent.length / 4;
    const path = (depth === 0 ? '' : (above[depth - 1] ?? '')) + text;
    above[depth] = path;
    if (methods !== undefined) found.push(path);
  }
  return found;
}

/**
 * Replaces the request listeners of the server. The previous listeners receive the requests that `handle` passes on.
 */
function listenFirst(server: FastifyApplication['server'], handle: NodeHandler): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (req, res) => {
    handle(req, res, () => {
      for (const listener of listeners) listener.call(server, req, res);
    });
  });
}
