// Creates sandbox, agent and clients in one call, for tests of customizations.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnySchema } from '../agent/customize/typed-schema.ts';
import { randomToken } from '../core/secret.ts';
import { type Agent, createAgent } from '../server/agent/create-agent.ts';
import type { AgentOptions, McpOptions } from '../server/agent/options.ts';
import { createAgentTestClient } from './agent-client.ts';
import { createMcpTestClient, type McpTestClient } from './mcp-client.ts';
import type { TestClientOptions } from './options.ts';
import { createForestServerSandbox, type Sandbox } from './sandbox.ts';
import type { AgentTestClient } from './typed-client.ts';

/** Options of `createTestableAgent`. */
export interface TestableAgentOptions {
  /** More options for createAgent. Default: only errors are logged. */
  readonly agent?: Partial<Omit<AgentOptions, 'authSecret' | 'envSecret' | 'schemaPath' | 'serverUrl'>>;
  /** Options for mountAiMcpServer. Default: all tools, at the root. */
  readonly mcp?: McpOptions;
  /** IANA name of the user's timezone. Default `UTC`. */
  readonly timezone?: string;
}

/** A started agent, its sandbox and its clients. */
export interface TestableAgent<S extends object = AnySchema> {
  /** The agent, already started. */
  readonly agent: Agent<S>;
  /** Calls the agent as a front end does. */
  readonly client: AgentTestClient<S>;
  /** Calls the agent as an assistant does. */
  readonly mcp: McpTestClient;
  /** The platform with the user of the test. */
  readonly sandbox: Sandbox;
  /** Options of the clients, to create more of them. */
  readonly options: TestClientOptions;
  /** Option `mcpPath` for createMcpTestClient. */
  readonly mcpPath: string;
  /** Stops everything and deletes its files. */
  close(): Promise<void>;
}

/**
 * `customize` adds the data sources and the customizations.
 *
 * @example
 * import { createTestableAgent } from 'portico/testing';
 *
 * const { client, close } = await createTestableAgent((shop) => void shop.addDataSource(createSqlDataSource('sqlite:shop.db')));
 * await client.collection('orders').list({ fields: ['id'] });
 * await close();
 */
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
    const clientOptions: TestClientOptions = {
      agentServiceAuthSecret: authSecret,
      agentServiceEnvSecret: envSecret,
      agentUrl: server!.apiUrl,
      serverUrl: sandbox.url,
      agentSchemaPath: schemaPath,
      timezone,
    };
    const client = await createAgentTestClient<S>(clientOptions);
    closers.push(() => client.close());
    const mcpPath = new URL(server!.mcpUrl).pathname;
    const mcp = await createMcpTestClient({ ...clientOptions, mcpPath });
    closers.push(() => mcp.close());
    return { agent, client, mcp, sandbox, options: clientOptions, mcpPath, close };
  } catch (error) {
    await close();
    throw error;
  }
}
