// Two server processes on one storage, as in production: the built command, each with its own data folder, behind a
// balancer. The balancer spreads the requests of each sign-in over both, skips a process that is not ready, and retries
// at the other when a connection is refused.
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { type OpenedStore, openStore } from '../../src/store/open.ts';
import type { NewUser, User } from '../../src/store/users/types.ts';
import { makePlace, type StartedServer, startServer } from '../cli/command.ts';
import type { TestServer } from '../databases.ts';
import { takePort } from '../ports.ts';
import { frontOrigin } from '../rest/front-end.ts';
import { createStorage } from '../store/spares.ts';
import { addUser } from '../users.ts';

export interface Cluster {
  /** The URL of the balancer, which is the public URL. */
  readonly origin: string;
  /** The URL of each process. */
  readonly direct: readonly string[];
  /** The storage as a third process (this one) opens it. */
  readonly store: OpenedStore;
  addUser(user: NewUser): Promise<User>;
  /** For each process, the number of requests by kind, such as `POST interaction`. */
  readonly served: readonly ReadonlyMap<string, number>[];
  /** How often the balancer was refused by one process and retried at the other. */
  readonly retried: () => number;
  /** Sends SIGTERM, waits for the end, and starts a new process on the same port. */
  restart(which: number): Promise<void>;
  stop(): Promise<void>;
}

/** The interval of the /readyz checks of the balancer. */
const LOOK_MS = 100;
const secret = 'the secret that both processes share';

/** The step of a sign-in that a request belongs to, such as `POST interaction`. */
function kindOf({ method, url = '/' }: IncomingMessage): string {
  const [, room = '', what = '', more] = url.split(/[/?]/);
  return `${method} ${room === 'oauth' ? what : room}${what === 'authorize' && more && !url.includes('?') ? ' resume' : ''}`;
}

export async function openCluster(server: TestServer): Promise<Cluster> {
  const storage = await createStorage(server);
  const taken = await Promise.all([takePort(), takePort()]);
  const ports = taken.map(({ port }) => port);
  await Promise.all(taken.map(({ free }) => free()));
  const places = [makePlace(), makePlace()];
  const served = [new Map<string, number>(), new Map<string, number>()];
  const isReady = [true, true];
  let turn = 0;
  let retries = 0;

  const pass = (req: IncomingMessage, res: ServerResponse, body: Buffer, to: number, isRetry = false): void => {
    const { 'transfer-encoding': _, ...headers } = req.headers;
    const onward = request(
      {
        port: ports[to],
        host: '127.0.0.1',
        method: req.method,
        path: req.url,
        headers: { ...headers, 'content-length': body.length, connection: 'close' },
        agent: false,
      },
      (answer) => {
        res.writeHead(answer.statusCode!, answer.rawHeaders);
        answer.pipe(res);
        const kind = kindOf(req);
        served[to]!.set(kind, (served[to]!.get(kind) ?? 0) + 1);
      },
    );
    onward.on('error', (error: NodeJS.ErrnoException) => {
      // Only requests that never arrived are retried: a code that arrives twice is used twice.
      if (error.code === 'ECONNREFUSED' && !isRetry) {
        retries++;
        pass(req, res, body, 1 - to, true);
      } else if (!res.headersSent) {
        res.writeHead(502).end(`${error.code}`);
      } else res.destroy();
    });
    onward.end(body);
  };
  const balancer = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const uid = /\/oauth\/(?:interaction|authorize)\/([\w-]+)/.exec(req.url ?? '')?.[1];
    // Pages of a sign-in come from one process, and their forms go to the other.
    const to = uid ? (uid.charCodeAt(0) + (req.method === 'POST' ? 1 : 0)) % 2 : turn++ % 2;
    pass(req, res, Buffer.concat(chunks), isReady[to] ? to : 1 - to);
  });
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  const look = setInterval(() => {
    for (const [which, port] of ports.entries()) {
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => {
          isReady[which] = ok;
        },
        () => {
          isReady[which] = false;
        },
      );
    }
  }, LOOK_MS);
  const origin = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;

  const env = {
    SERVICE_STORAGE_URL: storage.url,
    SERVICE_SECRET: secret,
    SERVICE_PUBLIC_URL: origin,
    SERVICE_AGENT_ORIGINS: frontOrigin,
    SERVICE_LOG_LEVEL: 'Error',
    // Ten readiness checks of the balancer.
    SERVICE_DRAIN_SECONDS: '1',
    // All sign-ins come from one address, concurrently.
    SERVICE_SIGN_IN_ATTEMPTS: '1000',
    SERVICE_DCR_PER_HOUR: '10000',
    SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
    SERVICE_API_PER_MINUTE: '1000000',
    SERVICE_API_PER_HOUR: '1000000',
    SERVICE_API_PER_DAY: '1000000',
  };
  const start = (which: number): Promise<StartedServer> =>
    startServer(['--port', `${ports[which]}`], { folder: places[which]!.folder, env });
  const processes = await Promise.all([start(0), start(1)]);
  const config = loadConfig({ env: { ...env, SERVICE_DATA_DIR: places[0]!.folder } });
  const store = await openStore({ config, observe: () => undefined, clock: systemClock });
  const end = async (which: number): Promise<void> => {
    processes[which]!.signal('SIGTERM');
    const { code, stderr } = await processes[which]!.ended;
    if (code !== 0) throw new Error(`a process ended with ${code}: ${stderr}`);
  };
  return {
    origin,
    direct: ports.map((port) => `http://127.0.0.1:${port}`),
    store,
    addUser: (user) => addUser(store, config, user),
    served,
    retried: () => retries,
    async restart(which) {
      await end(which);
      processes[which] = await start(which);
    },
    async stop() {
      await Promise.all([end(0), end(1)]);
      await store.close();
      clearInterval(look);
      balancer.closeAllConnections();
      balancer.close();
      for (const place of places) place.remove();
      await storage.drop();
    },
  };
}
