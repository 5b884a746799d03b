// The JSON-RPC request of an operation, and the text of its answer.
import type { Request, ServerProcess } from './driver.ts';
import type { Operation } from './operations.ts';

const MODERN = '2026-07-28';
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': MODERN,
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
};

export type Era = 'legacy' | 'modern';

/** A request of a client of 2025-11-25, or of 2026-07-28 with revision and capabilities in every request. */
export function requestOf(
  operation: Operation,
  { address }: ServerProcess,
  era: Era,
  more: Request['headers'] = {},
): Request {
  const { name, tool, given, varies } = operation;
  const method = tool === undefined ? 'tools/list' : 'tools/call';
  const _meta = era === 'modern' ? { _meta: envelope } : {};
  const body = (turn: number) => {
    const params = tool === undefined ? _meta : { name: tool, arguments: given(turn), ..._meta };
    return JSON.stringify({ jsonrpc: '2.0', id: name, method, params });
  };
  const told = tool === undefined ? {} : { 'mcp-name': tool };
  const modern = era === 'modern' ? { 'mcp-protocol-version': MODERN, 'mcp-method': method, ...told } : {};
  return { url: `${address}/mcp`, headers: { ...headers, ...modern, ...more }, body: varies ? body : body(0) };
}

interface Message {
  readonly result: { readonly content: readonly [{ readonly text: string }] };
}

/** The SDK's default handler responds to clients of earlier revisions with one server-sent event. */
export const messageOf = (answer: string) => JSON.parse(/^data: (.*)$/m.exec(answer)?.[1] ?? answer) as Message;
export const textOf = (answer: string): string => messageOf(answer).result.content[0].text;
