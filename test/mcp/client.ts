// The official client libraries in each supported mode, one row for each protocol era and library version.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export const clientNames = ['client 2.x, legacy', 'client 2.x, pinned to 2026-07-28', 'sdk 1.x'] as const;
export type ClientName = (typeof clientNames)[number];

const info = { name: 'client-test', version: '1.0.0' };

/** The methods that both library versions share; the types are those of the first version. */
export type AnyClient = Pick<
  Client,
  | 'listTools'
  | 'listResources'
  | 'listResourceTemplates'
  | 'readResource'
  | 'listPrompts'
  | 'getPrompt'
  | 'complete'
  | 'close'
> & {
  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    options?: {
      readonly signal?: AbortSignal;
      readonly timeout?: number;
      readonly resetTimeoutOnProgress?: boolean;
      readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
    },
  ): Promise<{ isError?: boolean; content: { type: string; text: string }[] }>;
};

export async function connectClient(name: ClientName, url: string, token: string): Promise<AnyClient> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  if (name === 'sdk 1.x') {
    const client = new FirstClient(info);
    // The SDK's own types do not satisfy exactOptionalPropertyTypes.
    await client.connect(new FirstTransport(new URL(url), { requestInit }) as Parameters<FirstClient['connect']>[0]);
    const callTool: AnyClient['callTool'] = (params, options) =>
      client.callTool(params, undefined, options as never) as ReturnType<AnyClient['callTool']>;
    return new Proxy(client, {
      get: (target, key) => {
        if (key === 'callTool') return callTool;
        const value = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }) as unknown as AnyClient;
  }
  const mode = name === 'client 2.x, legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  return client as unknown as AnyClient;
}
