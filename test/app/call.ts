// A raw tool call over HTTP, in either era of the protocol.

export type Era = 'legacy' | 'modern';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

let lastId = 0;

/** Headers and body of a request. A modern request repeats method and name in its headers. */
export function requestOf(method: string, params: Record<string, unknown>, era: Era = 'legacy') {
  const modern = era === 'modern';
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': modern ? '2026-07-28' : '2025-11-25',
    ...(modern && { 'mcp-method': method }),
    ...(modern && typeof params.name === 'string' && { 'mcp-name': params.name }),
  };
  const body = { jsonrpc: '2.0', id: ++lastId, method, params: modern ? { ...params, _meta: envelope } : params };
  return { headers, body: JSON.stringify(body) };
}

export interface Asking {
  readonly era?: Era;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function ask(
  url: string,
  token: string | undefined,
  method: string,
  params: Record<string, unknown>,
  { era = 'legacy', headers = {} }: Asking = {},
): Promise<Answer> {
  const request = requestOf(method, params, era);
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...request.headers, ...authorization, ...headers },
    body: request.body,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

export type ToolAnswer = { readonly json: unknown } | { readonly error: string } | { readonly status: number };

/** The JSON of the single text block, or its error. Otherwise the HTTP status. */
export async function callTool(
  url: string,
  token: string | undefined,
  name: string,
  args: Record<string, unknown>,
  asking: Asking = {},
): Promise<ToolAnswer> {
  const { status, text } = await ask(url, token, 'tools/call', { name, arguments: args }, asking);
  if (status !== 200) return { status };
  const { result, error } = JSON.parse(text);
  if (error) return { error: `${error.code} ${error.message}` };
  const block: string = result.content[0].text;
  return result.isError ? { error: block } : { json: JSON.parse(block) };
}
