// Sandbox, agent and clients in one call, for tests that are about the customizations alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnySchema } from '../agent/customize/typed-schema.ts';
import { type Agent, createAgent } from '../app/agent.ts';
import type { AgentOptions, McpOptions } from '../app/options.ts';
import { randomToken } from '../core/secret.ts';
import { createAgentTestClient } from './agent-client.ts';
import { createMcpTestClient, type McpTestClient } from './mcp-client.ts';
import type { TestClientOptions } from './options.ts';
import { createForestServerSandbox, type Sandbox } from './sandbox.ts';
import type { AgentTestClient } from './typed-client.ts';

/** Of `createTestableAgent`. */
export interface TestableAgentOptions {
  /** Further options of createAgent. Default: errors alone are logged. */
  readonly agent?: Partial<Omit<AgentOptions, 'authSecret' | 'envSecret' | 'schemaPath' | 'serverUrl'>>;
  /** As mountAiMcpServer takes them. */
  readonly mcp?: McpOptions;
  /** IANA name of the zone that the user is in. Default `UTC`. */
  readonly timezone?: string;
}

/** A started agent with a sandbox behind it, and clients that ask it. */
export interface TestableAgent<S extends object = AnySchema> {
  readonly agent: Agent<S>;
  readonly client: AgentTestClient<S>;
  readonly mcp: McpTestClient;
  readonly sandbox: Sandbox;
  /** What the clients were made with, for further ones. */
  readonly options: TestClientOptions;
  /** As createMcpTestClient takes it. */
  readonly mcpPath: string;
  /** Ends all of it, and takes its files away. */
  close(): Promise<void>;
}

/** `customize` adds the data sources and says what is to be said of them. */
export async function createTestableAgent<S extends object = AnySchema>(
  customize: (agent: Agent<S>) => void,
  options: TestableAgentOptions = {},
): Promise<TestableAgent<S>> {
  const { agent: more = {}, mcp: mcpOptions = {}, timezone = 'UTC' } = options;
  const closers: (() => unknown)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closers.splice(0).reverse()) await one();
  };
  try {
    const folder = mkdtempSync(join(tmpdir(), 'portico-testing-'));
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const sandbox = await createForestServerSandbox(0);
    closers.push(() => sandbox.close());
    const [authSecret, envSecret] = [randomToken(), randomToken()];
    const schemaPath = join(folder, 'schema.json');
    const agent = createAgent<S>({
      loggerLevel: 'Error',
      ...more,
      settings: { dataDir: folder, ...more.settings },
      ...{ authSecret, envSecret, schemaPath, serverUrl: sandbox.url },
    });
    customize(agent);
    agent.mountAiMcpServer(mcpOptions).mountOnStandaloneServer(0);
    const { server } = await agent.start();
    closers.push(() => agent.stop());
    const { origin } = new URL(server!.address);
    const place: TestClientOptions = {
      agentServiceAuthSecret: authSecret,
      agentServiceEnvSecret: envSecret,
      agentUrl: origin + (more.prefix ?? ''),
      serverUrl: sandbox.url,
      agentSchemaPath: schemaPath,
      timezone,
    };
    const client = await createAgentTestClient<S>(place);
    closers.push(() => client.close());
    const mcpPath = new URL(server!.mcpUrl).pathname;
    const mcp = await createMcpTestClient({ ...place, mcpPath });
    closers.push(() => mcp.close());
    return { agent, client, mcp, sandbox, options: place, mcpPath, close };
  } catch (error) {
    await close();
    throw error;
  }
}
