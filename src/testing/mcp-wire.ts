// A minimal client for the stateless protocol of MCP 2026-07-28: each request is a self-contained POST. It does not use
// the SDK's client, which would become a runtime dependency of every Portico server.
import { AgentHttpError } from './failures.ts';

const protocolVersion = '2026-07-28';

/** The `_meta` of every request. */
const about = {
  'io.modelcontextprotocol/protocolVersion': protocolVersion,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'portico-testing', version: '1' },
};

interface McpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `id`: the JSON-RPC id of the request. Headers repeat the method and the name (Streamable HTTP, 2026-07-28). */
export function writeMcpRequest(id: number, method: string, params: Readonly<Record<string, unknown>>): McpRequest {
  return {
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: about } }),
  };
}

interface McpMessage {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The result of request `id`. The response is one JSON message or an event stream. */
export function readMcpAnswer(id: number, status: number, type: string, text: string): unknown {
  const messages = type.startsWith('text/event-stream') ? readEvents(text) : [parse(text)];
  const message = messages.find((one) => one?.id === id) ?? messages.find((one) => one?.error);
  if (message?.error) {
    const { code, message: problem } = message.error;
    throw new AgentHttpError(`MCP: ${problem} (${code})`, { status, body: message, responseText: text });
  }
  if (message?.result !== undefined) return message.result;
  const errorDescription = (parse(text) as { readonly error_description?: string } | undefined)?.error_description;
  throw new AgentHttpError(`MCP: ${status} ${errorDescription ?? text.slice(0, 200)}`, {
    status,
    body: parse(text),
    responseText: text,
  });
}

/** The data of each event, including progress and other notifications. */
function readEvents(text: string): (McpMessage | undefined)[] {
  return text.split(/\r?\n\r?\n/).map((event) =>
    parse(
      event
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trimStart())
        .join('\n'),
    ),
  );
}

function parse(text: string): McpMessage | undefined {
  try {
    return JSON.parse(text) as McpMessage;
  } catch {
    return undefined;
  }
}
