// The three ways to serve MCP (behaviour 4.4), with a complete client flow through each: a standalone server at the
// root, the same under a basePath, and inside an Express application. That application parses bodies first, and has
// routes that Portico would use at the root.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import express from 'express';
import { onTestFinished } from 'vitest';
import { type Agent, createMemoryDataSource, type McpOptions } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { connect, register } from '../oauth/client.ts';
import { addUserIn } from '../users.ts';
import { emptyAgent, makeFolder } from './agent.ts';

export const account = { email: 'ada@example.com', password: 'correct horse battery' };
export const redirectUri = 'http://127.0.0.1:49152/callback';

export interface Mounted {
  readonly agent: Agent;
  readonly origin: string;
  /** The prefix of every path except the metadata documents; '' at the root. */
  readonly prefix: string;
  readonly mcpUrl: string;
  /** Paths of the requests that reached the host application's own routes. */
  readonly reached: readonly string[];
}

export interface MountOptions {
  readonly mcp?: McpOptions;
  readonly customize?: (agent: Agent) => void;
}

const addAda = (dataDir: string) =>
  addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });

async function openAgent(settings: { readonly publicUrl?: string }, { customize }: MountOptions): Promise<Agent> {
  const dataDir = join(makeFolder(), 'data');
  await addAda(dataDir);
  const { agent } = emptyAgent({ settings: { dataDir, ...settings } });
  agent.addDataSource(createMemoryDataSource('shop', shopTables));
  customize?.(agent);
  return agent;
}

async function standalone(prefix: string, options: MountOptions): Promise<Mounted> {
  const agent = await openAgent({}, options);
  agent.mountAiMcpServer({ ...options.mcp, ...(prefix && { basePath: prefix }) }).mountOnStandaloneServer(0);
  const { server } = await agent.start();
  return { agent, origin: server!.address, prefix, mcpUrl: server!.mcpUrl, reached: [] };
}

/** With the prefix '', Portico takes over the host's routes of the same names. */
export async function hosted(prefix: string, options: MountOptions = {}): Promise<Mounted> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = await openAgent({ publicUrl: origin }, options);
  const reached: string[] = [];
  app.use(express.json(), express.urlencoded({ extended: true }));
  app.use(agent.mountAiMcpServer({ ...options.mcp, ...(prefix && { basePath: prefix }) }).requestHandler);
  const answer: express.RequestHandler = (req, res) => {
    reached.push(`${req.method} ${req.path}`);
    res.json({ of: 'the host', got: req.body ?? null });
  };
  app.all('/oauth/token', answer);
  app.all('/oauth/callback', answer);
  app.get('/.well-known/oauth-authorization-server', answer);
  app.get('/.well-known/security.txt', answer);
  app.get('/', answer);
  const { server: started } = await agent.start();
  return { agent, origin, prefix, mcpUrl: started!.mcpUrl, reached };
}

export const mounts: readonly (readonly [place: string, open: (options?: MountOptions) => Promise<Mounted>])[] = [
  ['at the root', (options = {}) => standalone('', options)],
  ['under a basePath', (options = {}) => standalone('/data', options)],
  ['inside a host application', (options = {}) => hosted('/data', options)],
];

/** Gets an access token as a client that knows only the issuer. */
export async function tokenOf({ origin, prefix, mcpUrl }: Mounted, scope?: string): Promise<string> {
  const registered = await register(`${origin}${prefix}`, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const asked = { redirectUri, resource: mcpUrl, ...(scope !== undefined && { scope }) };
  return (await connect(registered, account, asked)).tokens.access_token;
}
