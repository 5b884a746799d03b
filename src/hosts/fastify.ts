// Fastify, 4 or 5. Its own way in front of everything is a hook, but hooks run in the order in which they were added, and
// its router before them. So we stand at its server, where nothing of the application is before us, and have the hook as
// well: for `inject`, and for the second server that Fastify opens where `localhost` has two addresses.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type HostKind, HostProblem, hasFunctions, type NodeHandler } from './host.ts';

/** What `fastify()` makes, of version 4 or 5. */
export interface FastifyHost {
  readonly server: object;
  addHook(...parameters: never[]): unknown;
}

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

interface Known {
  readonly server: {
    listeners(event: 'request'): Listener[];
    removeAllListeners(event: 'request'): unknown;
    on(event: 'request', listener: Listener): unknown;
  };
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
  takes: 'the application that fastify() made',
  is: (host) => hasFunctions(host, 'addHook', 'decorate', 'inject') && hasFunctions((host as FastifyHost).server, 'on'),
  mount(host: FastifyHost, handle) {
    const app = host as unknown as Known;
    if (app.initialConfig?.http2)
      throw new HostProblem('it serves HTTP/2, which is not served here: leave its option http2 out');
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
      throw new HostProblem('it is ready and takes no hooks any more: mount before ready(), inject() and listen()');
    }
    standFirst(app.server, handle);
    return { routes: () => routes };
  },
};

/** Whoever listens to the server so far is told of what is not ours, as if nobody stood before. */
function standFirst(server: Known['server'], handle: NodeHandler): void {
  const listeners = server.listeners('request');
  server.removeAllListeners('request');
  server.on('request', (req, res) => {
    handle(req, res, () => {
      for (const listener of listeners) listener.call(server, req, res);
    });
  });
}
