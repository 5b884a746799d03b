// Uses a started server like a client that knows its URL and a user with a password:
// registers, signs in on the real pages, lists, writes, and runs an action of the
// demo shop. `tsx test/smoke.ts <MCP URL> <e-mail>`, the password on standard input.
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
const scope = 'mcp:read mcp:write mcp:action';
const { tokens } = await connect(registered, { email, password }, { redirectUri, resource: mcpUrl, scope });

let calls = 0;

/** The result of a tool; throws with the text of an error. */
async function ask<Answer>(name: string, given: Record<string, unknown>): Promise<Answer> {
  const response = await fetch(`${mcpUrl}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${tokens.access_token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++calls, method: 'tools/call', params: { name, arguments: given } }),
  });
  const answer = (await response.json()) as { result?: { isError?: boolean; content: { text: string }[] } };
  const said = answer.result?.content[0]?.text;
  if (response.status !== 200 || answer.result?.isError || said === undefined)
    throw new Error(`${name} was not answered: ${response.status} ${JSON.stringify(answer)}`);
  return JSON.parse(said) as Answer;
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`This does not hold: ${what}`);
}

interface Rows {
  readonly rows: readonly (readonly unknown[])[];
  readonly totalCount?: number;
}

const fields = ['number', 'total', 'customer:last_name'];
const list = await ask<Rows>('list', { collectionName: 'orders', fields, enableCount: true });
check(list.rows.length > 0, 'orders are listed');

const attributes = { name: 'Smoke and mirrors', slug: `smoke-${Date.now()}`, position: 99 };
const preview = await ask<{ count: number }>('create', { collectionName: 'categories', attributes, dryRun: true });
const slugs = { collectionName: 'categories', filters: { field: 'slug', operator: 'Equal', value: attributes.slug } };
check(preview.count === 1 && (await ask<Rows>('list', slugs)).rows.length === 0, 'a dry run writes nothing');
const { ids } = await ask<{ ids: unknown[] }>('create', { collectionName: 'categories', attributes });
const change = { collectionName: 'categories', recordId: ids[0], attributes: { position: 7 } };
check((await ask<{ count: number }>('update', change)).count === 1, 'a record is updated');
const [row] = (await ask<Rows>('list', { ...slugs, fields: ['position'] })).rows;
check(row?.[0] === 7, 'what was written is read');
await ask('delete', { collectionName: 'categories', recordIds: ids });
check((await ask<Rows>('list', slugs)).rows.length === 0, 'what was deleted is gone');

const paid = await ask<Rows>('list', {
  collectionName: 'orders',
  segment: 'to ship',
  fields: ['id'],
  pagination: { size: 1 },
});
const action = { collectionName: 'orders', actionName: 'Ship', recordIds: [paid.rows[0]?.[0]] };
await ask('executeAction', { ...action, values: { carrier: 'Collected in the shop' } });
const shipped = { field: 'id', operator: 'Equal', value: paid.rows[0]?.[0] };
const after = await ask<Rows>('list', { collectionName: 'orders', filters: shipped, fields: ['status'] });
check(after.rows[0]?.[0] === 'shipped', 'an action does its work');
check((await ask<Rows>('getChart', { chartName: 'Orders by status' })).rows.length > 2, 'a chart has its figures');

const milliseconds = Math.round(performance.now() - startedAt);
console.log(
  `signed in, listed ${list.rows.length} of ${list.totalCount} orders, wrote, and shipped one: ${calls} calls in ${milliseconds} ms`,
);
