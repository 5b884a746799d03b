// A listening application of the table with an agent in it, and requests to both.
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Agent, createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';
import { emptyAgent, type Logged, makeFolder } from '../app/agent.ts';
import { freePort } from '../ports.ts';
import { frontOrigin } from '../rest/front-end.ts';
import { addUserIn } from '../users.ts';
import type { HostRow } from './hosts.ts';

export const account = { email: 'ada@example.com', password: 'correct horse battery' };

export interface MountedAgent {
  readonly agent: Agent;
  readonly origin: string;
  readonly logged: readonly Logged[];
}

export interface MountedAgentOptions {
  /** Mounts before or after the application's own routes. */
  readonly order?: 'before' | 'after';
  /** Null disables MCP. */
  readonly basePath?: string | null;
}

const addAda = (dataDir: string) =>
  addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });

/** Listening, with a mounted agent that is not started. */
export async function openMountedAgent(
  row: HostRow,
  { order = 'after', basePath = '/data' }: MountedAgentOptions = {},
): Promise<MountedAgent> {
  const [port, host] = [await freePort(), await row.open()];
  onTestFinished(async () => void (await host.close()));
  const origin = `http://127.0.0.1:${port}`;
  const dataDir = join(makeFolder(), 'data');
  await addAda(dataDir);
  const settings = { dataDir, publicUrl: origin, agentOrigins: [frontOrigin] };
  const { agent, logged } = emptyAgent({ settings });
  agent.addDataSource(createMemoryDataSource('shop', shopTables));
  if (basePath !== null) agent.mountAiMcpServer({ basePath });
  if (order === 'before') host.mount(agent);
  await host.furnish();
  if (order === 'after') host.mount(agent);
  await host.listen(port);
  return { agent, origin, logged };
}

/** The same application without an agent. */
export async function openBare(row: HostRow): Promise<string> {
  const [port, host] = [await freePort(), await row.open()];
  onTestFinished(async () => void (await host.close()));
  await host.furnish();
  await host.listen(port);
  return `http://127.0.0.1:${port}`;
}

export const json = (body: string, method = 'POST') => ({
  method,
  headers: { 'content-type': 'application/json' },
  body,
});

/** Whether the application's helmet or compression changed the answer. */
const isTouched = ({ headers }: Response) =>
  headers.has('x-dns-prefetch-control') || headers.has('origin-agent-cluster') || headers.has('content-encoding');

export async function ask(origin: string, path: string, init: RequestInit = {}) {
  const response = await fetch(origin + path, { redirect: 'manual', ...init });
  const body = response.headers.get('content-type')?.includes('json')
    ? ((await response.json()) as { error?: unknown; errors?: { code: string }[] })
    : {};
  return [response.status, body.error ?? body.errors?.[0]?.code, isTouched(response)];
}
