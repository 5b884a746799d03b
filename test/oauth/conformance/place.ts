// Where the suite runs: the whole application, listening at the root, listening under a basePath, and inside an Express
// application that parses bodies before us. A case sees nothing of it but addresses, an account, a clock that can be put
// forward, and a web on which clients publish documents.
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

export interface Place {
  readonly origin: string;
  /** Of every path but the metadata documents; '' at the root. */
  readonly prefix: string;
  readonly issuer: string;
  /** The address of /mcp. */
  readonly resource: string;
  readonly account: Account;
  /** One that stays signed in from case to case. */
  readonly browser: Browser;
  /** What is answered at an https address of the web, to the server alone: a document, or a whole response. */
  publish(url: string, document: unknown | (() => Response)): void;
  /** Addresses that the server fetched. */
  readonly fetched: readonly string[];
  /** Puts the server's clock forward until the end of the case. */
  wait(seconds: number): void;
  /** Kept from case to case, such as a client that any of them may use. */
  once<T>(name: string, make: () => Promise<T>): Promise<T>;
  /** Ends a case. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const account: Account = { email: 'ada@example.com', password: 'correct horse battery' };

export interface Mount {
  readonly basePath: string;
  /** Of an Express application. */
  readonly inside: boolean;
}

export async function openPlace({ basePath, inside }: Mount): Promise<Place> {
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
      // The cases together publish more documents in a minute than one address may have fetched.
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
