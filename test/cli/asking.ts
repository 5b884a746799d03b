// Signs in to a server that runs as a process, and calls it.
import { connect, register } from '../oauth/client.ts';
import type { StartedServer } from './command.ts';

/** The value next to a label in the welcome. */
export const printed = (server: StartedServer, label: string) =>
  new RegExp(`^ {2}${label} +(\\S+)`, 'm').exec(server.stdout)?.[1] ?? '';

export async function getToken(server: StartedServer, password: string): Promise<string> {
  const redirectUri = 'http://127.0.0.1:49152/callback';
  const registered = await register(server.origin, {
    client_name: 'Start test',
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: 'none',
  });
  const account = { email: printed(server, 'E-mail'), password };
  const { tokens } = await connect(registered, account, { redirectUri, resource: server.mcpUrl });
  return tokens.access_token;
}

export async function list(mcpUrl: string, token: string, args: object): Promise<unknown> {
  const response = await fetch(mcpUrl, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list', arguments: args } }),
  });
  const { result } = (await response.json()) as { result: { content: [{ text: string }] } };
  return JSON.parse(result.content[0].text);
}
