// A server with only the OAuth module: the store on its own database, the routes, and a small /mcp behind the gate.

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { hasSso } from '../../src/core/config/sso.ts';
import { loadConfig } from '../../src/core/config.ts';
import { isAppError } from '../../src/core/errors.ts';
import type { Observation } from '../../src/core/observe.ts';
import { createMountRouter } from '../../src/http/router.ts';
import { documentFetch } from '../../src/oauth/clients/documents.ts';
import type { ListCollections, OfferedScopes } from '../../src/oauth/consent/consent.ts';
import type { HostSignInOptions } from '../../src/oauth/login/host-sign-in.ts';
import { createLoginMethods } from '../../src/oauth/login/login-methods.ts';
import { createSignIn } from '../../src/oauth/login/sign-in.ts';
import { createAuthorizationServer } from '../../src/oauth/server/authorization-server.ts';
import { createPaths, type Paths } from '../../src/oauth/server/paths.ts';
import { createOauthMounts } from '../../src/oauth/server/router.ts';
import { resourceScopes } from '../../src/oauth/server/scopes.ts';
import { createTokenAuthenticator, type TokenAuthenticator } from '../../src/oauth/tokens/bearer.ts';
import { openStore } from '../../src/store/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { NewUser, User } from '../../src/store/users/types.ts';
import { prepareStorage } from '../storage.ts';
import { addUser } from '../users.ts';
import type { Account } from './flow.ts';

export interface OAuthTestServer {
  /** The URL where it listens. */
  readonly local: string;
  readonly paths: Paths;
  readonly store: Store;
  readonly gate: TokenAuthenticator;
  readonly account: Account;
  addUser(user: NewUser): Promise<User>;
  readonly observed: Observation[];
  /** Documents at https URLs, which only the server can fetch; a function returns its own response. */
  readonly documents: Map<string, unknown>;
  /** URLs that the server fetched. */
  readonly fetched: string[];
  stop(): Promise<void>;
}

export interface OAuthTestServerOptions {
  readonly basePath?: string;
  /** Runs in an Express application that parses every body before it forwards the request. */
  readonly parsers?: boolean;
  /** Path of the public URL. */
  readonly publicPath?: string;
  readonly publicUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  readonly storageUrl?: string;
  readonly listCollections?: ListCollections;
  readonly offeredScopes?: OfferedScopes;
  readonly hostSignIn?: HostSignInOptions;
  /** Allows the command line to sign in (`portico cloud`). */
  readonly cloud?: boolean;
  /** Makes this a second process on that server's storage. */
  readonly beside?: OAuthTestServer;
}

export const account: Account = { email: 'ada@example.com', password: 'correct horse battery' };

export async function startServer(options: OAuthTestServerOptions = {}): Promise<OAuthTestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portico-oauth-'));
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const local = `http://localhost:${port}`;
  const config = loadConfig({
    env: {
      SERVICE_DATA_DIR: dataDir,
      SERVICE_SECRET: 'a secret of the tests, long enough',
      ...(options.storageUrl ? { SERVICE_STORAGE_URL: options.storageUrl } : {}),
      ...options.env,
    },
  });
  const clock = options.clock ?? systemClock;
  const observed: Observation[] = [];
  const observe = (observation: Observation) => void observed.push(observation);
  await prepareStorage(config);
  const store = await openStore({ config, observe, clock });
  const publicUrl = options.beside?.paths.origin ?? options.publicUrl ?? local + (options.publicPath ?? '');
  const paths = createPaths(publicUrl, options.basePath ?? '');
  const defaultScopes = ['mcp:read'];
  const documents = new Map<string, unknown>();
  const fetched: string[] = [];
  const methods = createLoginMethods({ store, config, clock, observe, hostSignIn: options.hostSignIn });
  const server = createAuthorizationServer({
    store,
    config,
    paths,
    clock,
    observe,
    signIn: createSignIn({ store, config, clock, allowsPasswords: methods.passwords }),
    loginMethods: methods,
    defaultScopes,
    listCollections: options.listCollections ?? (() => []),
    offeredScopes: options.offeredScopes ?? (async () => new Set(resourceScopes)),
    ...(options.cloud && { cloud: `${publicUrl}/v1/cloud` }),
    async [documentFetch](url, init) {
      fetched.push(`${url}`);
      const document = documents.get(`${url}`);
      if (typeof document === 'function') return document(init) as Response;
      return document === undefined ? new Response('', { status: 404 }) : Response.json(document);
    },
  });
  const gate = createTokenAuthenticator({ store, paths, clock, defaultScopes, sso: hasSso(config) });
  const add: OAuthTestServer['addUser'] = (user) => addUser(store, config, user);
  if (!options.beside) {
    const person = { ...account, firstName: 'Ada', lastName: 'Lovelace', team: 'Sales', role: 'Clerk' };
    await add({ ...person, ...(options.cloud && { level: 'developer' as const }) });
  }
  const router = createMountRouter(createOauthMounts(server));
  const host = express();
  if (options.parsers) host.use(express.json(), express.urlencoded({ extended: true }));
  host.use(router);
  http.on('request', (req, res) => {
    if (options.parsers) return host(req, res);
    router(req, res, () => {
      if (req.url?.split('?')[0] === `${options.basePath ?? ''}/mcp`) return void answerMcp(gate, req, res);
      res.writeHead(404, { 'Content-Type': 'text/plain' }).end('the host application');
    });
  });
  return {
    local,
    paths,
    store,
    gate,
    account,
    addUser: add,
    observed,
    documents,
    fetched,
    async stop() {
      server.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await store.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function answerMcp(gate: TokenAuthenticator, req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const auth = await gate.check(req);
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.end(
      JSON.stringify({ email: auth.access.caller.email, client: auth.clientName, scopes: [...auth.scopes].sort() }),
    );
  } catch (error) {
    const refused = isAppError(error, 'UNAUTHENTICATED');
    if (!refused && !isAppError(error, 'INVALID_DPOP_PROOF')) throw error;
    const challenge = gate.challenge(req, refused ? 'invalid_token' : 'invalid_dpop_proof');
    res.writeHead(401, { 'WWW-Authenticate': challenge });
    res.end(error.message);
  }
}
