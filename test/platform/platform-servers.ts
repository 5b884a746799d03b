// A platform and an agent that uses it, both complete, on two ports; optionally
// with a proxy between them that can read, change and replay requests.
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { servers, type TestDatabase } from '../databases.ts';
import type { Account } from '../oauth/flow.ts';
import { startServer, type TestServer } from '../server.ts';
import { runSql } from '../sql/schemas.ts';

export const envSecret = 'the secret of an environment of the tests';

export const platformSettings = { SERVICE_PLATFORM_DOOR: 'true', SERVICE_ENV_SECRET: envSecret };

export interface Data {
  readonly url: string;
  drop(): Promise<void>;
}

/** Two notes in SQLite, as the served database of the agents. */
export async function createNotes(): Promise<TestDatabase> {
  const database = await servers[0]!.create();
  await runSql(database, [
    'CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)',
    "INSERT INTO notes VALUES (1, 'first'), (2, 'second')",
  ]);
  return database;
}

/** `storage`: a database server's URL, or a SQLite file in a folder of its own. */
export function startPlatform(
  database: string,
  env: Readonly<Record<string, string>> = {},
  account?: Account,
): Promise<TestServer> {
  return startServer({ database, env: { ...platformSettings, ...env }, ...(account && { account }) });
}

export function startAgent(
  database: string,
  { address, account }: Pick<TestServer, 'address' | 'account'>,
  env: Readonly<Record<string, string>> = {},
): Promise<TestServer> {
  return startServer({
    database,
    account,
    env: { SERVICE_SERVER_URL: address, SERVICE_ENV_SECRET: envSecret, ...env },
  });
}

export interface ProxiedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ProxiedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A proxy between an agent and its platform. */
export interface PlatformProxy {
  readonly address: string;
  readonly passed: ProxiedRequest[];
  /** Functions that change requests and responses; unchanged if absent. `hold`: forwards nothing. */
  change: {
    request?: (one: ProxiedRequest) => ProxiedRequest;
    answer?: (one: ProxiedResponse, to: ProxiedRequest) => ProxiedResponse;
    hold?: boolean;
  };
  close(): Promise<void>;
}

export async function openPlatformProxy(target: string): Promise<PlatformProxy> {
  const passed: ProxiedRequest[] = [];
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { 'content-length': _, 'transfer-encoding': __, host: ___, ...headers } = req.headers;
    const came: ProxiedRequest = {
      path: `${req.url}`,
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    passed.push(came);
    if (proxy.change.hold) return;
    try {
      const answer = await send(target, proxy.change.request?.(came) ?? came);
      const { status, headers: given, body } = proxy.change.answer?.(answer, came) ?? answer;
      const { 'content-length': ____, connection: _____, 'keep-alive': ______, ...rest } = given;
      res.writeHead(status, { ...rest, 'content-length': Buffer.byteLength(body) }).end(body);
    } catch {
      res.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: PlatformProxy = {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    change: {},
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

export function send(target: string, { path, headers, body }: ProxiedRequest): Promise<ProxiedResponse> {
  return new Promise((resolve, reject) => {
    const onward = request(new URL(path, target), { method: 'POST', headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode!,
          headers: answer.headers as Record<string, string>,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    onward.on('error', reject);
    onward.end(body);
  });
}
