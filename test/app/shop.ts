// The whole application over its own demo shop, with a local web server for the metadata documents of clients. A
// request for `https://<any public name>/<path>` gets `<path>` of that server.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { documentFetch } from '../../src/oauth/clients/documents.ts';
import { copyDemo } from '../demo.ts';
import { connect, register } from '../oauth/client.ts';
import type { Account } from '../oauth/flow.ts';
import { startServer, type TestServer, type TestServerOptions } from '../server.ts';
import { askSql } from '../sql/schemas.ts';

export interface Shop extends TestServer {
  /** As `portico start --database` takes it. */
  readonly database: string;
  /** Published client documents, by path. */
  readonly documents: Map<string, object>;
  /** Queries the shop's database through the driver itself. */
  ask(sql: string): Promise<Record<string, unknown>[]>;
}

export async function openShop(options: Omit<TestServerOptions, 'database'> = {}): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-shop-'));
  const path = join(folder, 'shop.sqlite');
  copyDemo(path);
  const database = `sqlite:${path}`;
  const documents = new Map<string, object>();
  const publisher = createServer((req, res) => {
    const document = documents.get(req.url ?? '');
    res.writeHead(document ? 200 : 404, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => publisher.listen(0, '127.0.0.1', resolve));
  const { port } = publisher.address() as AddressInfo;
  const server = await startServer({
    database,
    ...options,
    app: {
      ...options.app,
      // Drops the dispatcher of the request, which refuses local addresses.
      [documentFetch]: (url, init) =>
        fetch(`http://127.0.0.1:${port}${new URL(url).pathname}`, { headers: init?.headers ?? {} }),
    },
  });
  return {
    ...server,
    database,
    documents,
    ask: (sql) => askSql({ dialect: 'sqlite', url: database, drop: async () => {} }, sql),
    async stop() {
      await server.stop();
      publisher.closeAllConnections();
      await new Promise((resolve) => publisher.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const redirectUri = 'http://127.0.0.1:49152/callback';

export interface Signed {
  readonly token: string;
  readonly refreshToken: string;
}

/**
 * Registers a client and signs in through the real pages, with the OAuth scopes of the challenge or those in `scope`.
 */
export async function signedIn(server: TestServer, account: Account = server.account, scope?: string): Promise<Signed> {
  const registered = await register(issuerOf(server), { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const { tokens } = await connect(registered, account, {
    redirectUri,
    resource: server.mcpUrl,
    ...(scope !== undefined && { scope }),
  });
  return { token: tokens.access_token, refreshToken: `${tokens.refresh_token}` };
}

export function issuerOf(server: Pick<TestServer, 'mcpUrl'>): string {
  return server.mcpUrl.replace(/\/mcp$/, '');
}
