// The agent's HTTP API in a real HTTP server over a real engine and a real store. The gate accepts the token `user`,
// and a test sets that user's access.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Engine } from '../../src/agent/engine.ts';
import { type Access, fullAccess } from '../../src/core/caller.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Config, type ConfigInput, loadConfig } from '../../src/core/config.ts';
import { fail } from '../../src/core/errors.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createMountRouter } from '../../src/http/router.ts';
import type { SessionAuthenticator, SignedIn } from '../../src/oauth/tokens/session-gate.ts';
import { createSessionTokens } from '../../src/oauth/tokens/session-token.ts';
import { createRestPaths } from '../../src/rest/paths.ts';
import { createRestRouter } from '../../src/rest/router.ts';
import { createSignIn } from '../../src/rest/sign-in.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import { openStore } from '../../src/store/open.ts';

export interface RestTestServer {
  /** The URL with the prefix. */
  readonly api: string;
  readonly origin: string;
  readonly config: Config;
  readonly activity: ActivityEntry[];
  readonly observations: Observation[];
  /** Sends the token `user`. */
  ask(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export interface RestTestServerOptions {
  readonly engine: Engine;
  /** Called for each request; full access if absent. */
  readonly access?: () => Access;
  readonly settings?: ConfigInput['file'];
}

export const everything: Access = fullAccess({
  id: 2,
  email: 'user2@example.test',
  firstName: 'User',
  lastName: 'Two',
  team: 'Operations',
  role: 'Member',
  tags: {},
  timezone: 'UTC',
  permissionLevel: 'user',
  renderingId: 1,
});

export const frontEnd = 'https://admin.example.com';

export async function openRestServer({
  engine,
  access = () => everything,
  settings = {},
}: RestTestServerOptions): Promise<RestTestServer> {
  const config = loadConfig({ file: { agentOrigins: [frontEnd], ...settings } });
  const store = await openStore({
    config: loadConfig({ env: { SERVICE_STORAGE_URL: 'sqlite::memory:' } }),
    observe: () => undefined,
    clock: systemClock,
  });
  const activity: ActivityEntry[] = [];
  const observations: Observation[] = [];
  const observe = (one: Observation) => void observations.push(one);
  const server = createServer((req, res) => router(req, res, () => void res.writeHead(404).end('not ours')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paths = createRestPaths(origin, config.prefix);
  const tokens = createSessionTokens({
    secrets: async () => ['of the test'],
    address: paths.address,
    clock: systemClock,
  });
  const rest = createRestRouter({
    config,
    paths,
    authenticator: gateOf(access),
    engine,
    windows: store.windows,
    activity: { ...store.activity, record: (entry) => void activity.push(entry) },
    signIn: createSignIn({
      store,
      tokens,
      origins: config.agentOrigins,
      pageOf: (state) => `${origin}/console/front-end/${state}`,
      clock: systemClock,
      observe,
    }),
    observe,
    clock: systemClock,
  });
  const router = createMountRouter([{ prefixes: paths.prefixes, router: rest }]);
  const api = paths.address;
  return {
    api,
    origin,
    config,
    activity,
    observations,
    ask: (path, init = {}) =>
      fetch(`${api}${path}`, { ...init, headers: { authorization: 'Bearer user', ...init.headers } }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await engine.close();
      await store.close();
    },
  };
}

function gateOf(access: () => Access): SessionAuthenticator {
  return {
    async check(authorization) {
      if (authorization !== 'Bearer user') fail('UNAUTHENTICATED', { problem: 'There is no usable token.' });
      const signedIn: SignedIn = {
        access: access(),
        userId: 2,
        sessionId: 'session',
        clientId: 'agent-api',
        clientName: frontEnd,
        expiresAt: Number.MAX_SAFE_INTEGER,
        versions: { permissions: 1, grants: 1, keys: 1 } as SignedIn['versions'],
      };
      return signedIn;
    },
    isCurrent: async () => true,
    challenge: () => 'Bearer realm="agent"',
  };
}
