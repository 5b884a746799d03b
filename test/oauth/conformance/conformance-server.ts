// The application under test: at the root, under a basePath, or in an Express application that parses bodies first. A
// case has access only to URLs, an account, an adjustable clock, and a fake web for metadata documents.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { systemClock } from '../../../src/core/clock.ts';
import { loadConfig } from '../../../src/core/config.ts';
import { documentFetch } from '../../../src/oauth/clients/documents.ts';
import { createApp } from '../../../src/server/create-server.ts';
import { copyDemo } from '../../demo.ts';
import { prepareStorage } from '../../storage.ts';
import { addUser } from '../../users.ts';
import { type Account, type Browser, createBrowser } from '../flow.ts';

export interface ConformanceServer {
  readonly origin: string;
  /** The prefix of all paths except those of metadata documents; '' at the root. */
  readonly prefix: string;
  readonly issuer: string;
  /** The URL of /mcp. */
  readonly resource: string;
  readonly account: Account;
  /** A browser that stays signed in across cases. */
  readonly browser: Browser;
  /** Serves a document or a whole response at an https URL, only to the server. */
  publish(url: string, document: unknown | (() => Response)): void;
  /** URLs that the server fetched. */
  readonly fetched: readonly string[];
  /** Advances the server's clock until the end of the case. */
  wait(seconds: number): void;
  /** A value shared by cases, such as a client. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** Ends a case. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const account: Account = { email: 'ada@example.com', password: 'correct horse battery' };

export interface Mount {
  readonly basePath: string;
  /** Whether the server runs in an Express application. */
  readonly inside: boolean;
}

export async function openConformanceServer({ basePath, inside }: Mount): Promise<ConformanceServer> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-conformance-'));
  const database = join(folder, 'shop.sqlite');
  copyDemo(database);
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const web = new Map<string, () => Response>();
  const fetched: string[] = [];

  const host = express().use(express.json(), express.urlencoded({ extended: true }));
  const server = createServer(host);
  if (inside) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = loadConfig({
    env: {
      SERVICE_DATA_DIR: folder,
      SERVICE_DATABASE_URL: `sqlite:${database}`,
      SERVICE_MCP_BASE_PATH: basePath,
      SERVICE_LOG_LEVEL: 'Error',
      SERVICE_DCR_PER_HOUR: '100000',
      ...(inside && { SERVICE_PUBLIC_URL: `http://localhost:${(server.address() as AddressInfo).port}` }),
      MCP_SERVER_PORT: '0',
    },
  });
  const app = createApp(config, {
    version: '0.0.0-test',
    clock,
    listens: !inside,
    async [documentFetch](url) {
      fetched.push(`${url}`);
      return web.get(`${url}`)?.() ?? new Response('', { status: 404 });
    },
  });
  host.use((req, res, next) => app.handle(req, res, next));
  await prepareStorage(config);
  const { mcpUrl, store } = await app.start();
  await addUser(store, config, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });

  const { origin } = new URL(mcpUrl);
  const kept = new Map<string, Promise<unknown>>();
  return {
    origin,
    prefix: basePath,
    issuer: origin + basePath,
    resource: mcpUrl,
    account,
    browser: createBrowser(),
    publish(url, document) {
      web.set(url, typeof document === 'function' ? (document as () => Response) : () => Response.json(document));
    },
    fetched,
    wait(seconds) {
      ahead += seconds * 1000;
    },
    once<T>(name: string, make: () => Promise<T>) {
      if (!kept.has(name)) kept.set(name, make());
      return kept.get(name) as Promise<T>;
    },
    async reset() {
      ahead = 0;
      // The cases together fetch more documents a minute than the limit for one IP address.
      await Promise.all(['127.0.0.1', '::1'].map((address) => store.windows.clear(`oauth-document ${address}`)));
    },
    async stop() {
      await app.stop('end of the test');
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
