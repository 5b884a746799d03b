// Asks a started server one question, as a client that knows its address and a person who knows the password: register,
// sign in on the real pages, list. `tsx test/smoke.ts <mcp address> <e-mail>`, the password on standard input.
import { text } from 'node:stream/consumers';
import { connect, register } from './oauth/client.ts';

const [mcpUrl, email] = process.argv.slice(2);
if (!mcpUrl || !email) throw new Error('usage: smoke.ts <mcp address> <e-mail>, the password on standard input');
const password = (await text(process.stdin)).trim();

const startedAt = performance.now();
const redirectUri = 'http://127.0.0.1:49152/callback';
const registered = await register(new URL(mcpUrl).origin, {
  client_name: 'Smoke test',
  redirect_uris: [redirectUri],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});
const { tokens } = await connect(registered, { email, password }, { redirectUri, resource: mcpUrl });

const response = await fetch(mcpUrl, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${tokens.access_token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'list',
      arguments: { collectionName: 'orders', fields: ['number', 'total', 'customer:last_name'], enableCount: true },
    },
  }),
});
const answer = (await response.json()) as { result?: { isError?: boolean; content: { text: string }[] } };
const list = answer.result?.isError ? undefined : JSON.parse(answer.result?.content[0]?.text ?? 'null');
if (response.status !== 200 || !Array.isArray(list?.rows) || list.rows.length === 0) {
  throw new Error(`list was not answered: ${response.status} ${JSON.stringify(answer)}`);
}
const milliseconds = Math.round(performance.now() - startedAt);
console.log(`signed in and listed ${list.rows.length} of ${list.totalCount} orders in ${milliseconds} ms`);
