// The whole application in this process, on a free port, over a database of the test, for
// all tests of more than one module. Tests sign in through the real pages (oauth/flow.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigInput, loadConfig } from '../src/core/config.ts';
import type { Observation } from '../src/core/observe.ts';
import { createApp, type Started } from '../src/server/create-server.ts';
import type { AppOptions } from '../src/server/options.ts';
import type { NewUser } from '../src/store/users/types.ts';
import type { Account } from './oauth/flow.ts';
import { prepareStorage } from './storage.ts';
import { addUser as addUserTo } from './users.ts';

export interface TestServer extends Started {
  readonly account: Account;
  readonly observed: readonly Observation[];
  addUser(user: Partial<NewUser> & { readonly email: string }): Promise<Account>;
  stop(): Promise<void>;
}

export interface TestServerOptions {
  /** The URL of the served database. */
  readonly database: string;
  readonly env?: ConfigInput['env'];
  readonly app?: Partial<AppOptions>;
  /** An account that already exists in the storage; by default a first user is added. */
  readonly account?: Account;
}

const password = 'correct horse battery';

export async function startServer({ database, env, app: options, account }: TestServerOptions): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portico-app-'));
  const config = loadConfig({
    env: {
      SERVICE_DATA_DIR: dataDir,
      SERVICE_DATABASE_URL: database,
      MCP_SERVER_PORT: '0',
      SERVICE_LOG_LEVEL: 'Error',
      SERVICE_SHUTDOWN_SECONDS: '5',
      ...env,
    },
  });
  // An agent with a remote platform has no storage.
  if (config.serverUrl === null) await prepareStorage(config);
  const observed: Observation[] = [];
  const app = createApp(config, { version: '0.0.0-test', observe: (one) => observed.push(one), ...options });
  const started = await app.start();
  const addUser: TestServer['addUser'] = async (user) => {
    await addUserTo(started.store, config, { password, ...user });
    return { email: user.email, password: user.password ?? password };
  };
  return {
    ...started,
    observed,
    addUser,
    account:
      account ?? (await addUser({ email: 'ada@example.com', firstName: 'Ada', lastName: 'Byron', level: 'admin' })),
    async stop() {
      await app.stop('end of the test');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
