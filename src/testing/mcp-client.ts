// The MCP client for tests of an agent: the real endpoint and protocol, as the user of a sandbox.

import { callSite } from '../agent/customize/call-site.ts';
import { refuseOption } from '../agent/customize/option-checks.ts';
import { type Clock, systemClock } from '../core/clock.ts';
import { connectToSandbox } from './connected.ts';
import { AgentHttpError } from './failures.ts';
import { readMcpAnswer, writeMcpRequest } from './mcp-wire.ts';
import type { TestClientOptions } from './options.ts';
import type { PermissionOverrides } from './rights.ts';

/** A tool as `tools/list` returns it. */
export interface McpTool {
  /** The name to call the tool by. */
  readonly name: string;
  /** The name that users see. */
  readonly title?: string;
  /** The text that the assistant reads. */
  readonly description?: string;
  /** The JSON schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Hints such as `readOnlyHint`. */
  readonly annotations?: Readonly<Record<string, unknown>>;
}

/** A tool returned an error result. */
export class McpToolError extends Error {
  /** The name of the class. */
  override readonly name = 'McpToolError';
  /** The name of the tool. */
  readonly tool: string;
  /** The text that the assistant receives. */
  readonly text: string;

  constructor(tool: string, text: string) {
    super(`The tool '${tool}': ${text}`);
    this.tool = tool;
    this.text = text;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is the test's to know
type ToolAnswer = any;

/** Calls an agent as an assistant does, as the user of a sandbox. Created by `createMcpTestClient`. */
export interface McpTestClient {
  /** The tools visible to the user. */
  listTools(): Promise<readonly McpTool[]>;
  /** Returns the parsed result. Throws McpToolError for an error result, AgentHttpError for any other error. */
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<ToolAnswer>;
  /** Calls describeCollection: for one collection, or for the list of collections. */
  describe(collection?: string): Promise<ToolAnswer>;
  /** As in the agent test client: everything not listed is allowed. */
  overridePermissions(overrides: PermissionOverrides): Promise<void>;
  /** Disconnects from the sandbox. */
  close(): Promise<void>;
}

/** Options of `createMcpTestClient`. */
export interface McpTestClientOptions extends TestClientOptions {
  /** Path of the endpoint, if the agent has a basePath. Default `/mcp` at the root of agentUrl. */
  readonly mcpPath?: string;
  /** Scopes of its token. Default all: `mcp:read`, `mcp:write`, `mcp:action`. */
  readonly scopes?: readonly string[];
}

const allScopes = ['mcp:read', 'mcp:write', 'mcp:action'];

/**
 * Connects as the user of the sandbox. Start the agent with the sandbox as its serverUrl and with MCP first.
 *
 * @example
 * import { createMcpTestClient, createTestableAgent } from 'portico/testing';
 *
 * const { options, mcpPath } = await createTestableAgent(() => undefined);
 * const mcp = await createMcpTestClient({ ...options, mcpPath, scopes: ['mcp:read'] });
 * await mcp.listTools();
 */
export async function createMcpTestClient(clientOptions: McpTestClientOptions): Promise<McpTestClient> {
  const { mcpPath = '/mcp', scopes = allScopes, ...options } = clientOptions;
  const at = callSite(createMcpTestClient);
  if (typeof mcpPath !== 'string' || !mcpPath.startsWith('/'))
    refuseOption("createMcpTestClient: 'mcpPath' must be a path such as '/data/mcp'", at);
  if (!Array.isArray(scopes) || scopes.length === 0 || !scopes.every((scope) => allScopes.includes(scope)))
    refuseOption(`createMcpTestClient: 'scopes' must be a list of ${allScopes.join(', ')}`, at);
  const { sandbox, options: checked, overridePermissions } = await connectToSandbox('createMcpTestClient', options, at);
  const { origin } = new URL(checked.agentUrl);
  const token = await sandbox.makeMcpToken(scopes);
  const { timeoutSeconds } = checked;
  const client = connectMcp({ mcpUrl: origin + mcpPath, token, timeoutSeconds });
  return { ...client, overridePermissions, close: () => sandbox.close() };
}

interface McpConnectionOptions {
  /** URL of the endpoint, such as `http://127.0.0.1:3931/mcp`. */
  readonly mcpUrl: string;
  /** Token of the user. */
  readonly token: string;
  readonly timeoutSeconds: number;
  readonly clock?: Pick<Clock, 'after'>;
}

type Assistant = Pick<McpTestClient, 'listTools' | 'call' | 'describe'>;

function connectMcp({ mcpUrl, token, timeoutSeconds, clock = systemClock }: McpConnectionOptions): Assistant {
  let lastId = 0;
  const sendRequest = async <Result>(method: string, params: Readonly<Record<string, unknown>>): Promise<Result> => {
    const id = ++lastId;
    const { headers, body } = writeMcpRequest(id, method, params);
    const controller = new AbortController();
    const disarm = clock.after(timeoutSeconds * 1000, () => controller.abort());
    try {
      const authorization = `Bearer ${token}`;
      const init = { method: 'POST', headers: { ...headers, authorization }, body, signal: controller.signal };
      const response = await fetch(mcpUrl, init);
      const type = response.headers.get('content-type') ?? '';
      return readMcpAnswer(id, response.status, type, await response.text()) as Result;
    } catch (cause) {
      if (cause instanceof AgentHttpError) throw cause;
      const problem = controller.signal.aborted
        ? `has not answered within ${timeoutSeconds} seconds`
        : 'cannot be reached: has the agent been started, with mountAiMcpServer, at this address?';
      throw new AgentHttpError(`MCP: ${mcpUrl} ${problem}`, {}, cause);
    } finally {
      disarm();
    }
  };
  const call: McpTestClient['call'] = async (tool, args = {}) => {
    const result = await sendRequest<ToolResult>('tools/call', { name: tool, arguments: args });
    const text = result.content.find((block) => block.type === 'text')?.text ?? '';
    if (result.isError === true) throw new McpToolError(tool, text);
    return JSON.parse(text);
  };
  return {
    async listTools() {
      const { tools } = await sendRequest<{ readonly tools: readonly McpTool[] }>('tools/list', {});
      return tools;
    },
    call,
    describe: (collection) =>
      call('describeCollection', collection === undefined ? {} : { collectionName: collection }),
  };
}

interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
}
