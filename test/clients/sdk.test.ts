// The SDK's own clients, with only the URL of /mcp: discovery, registration or metadata document, PKCE sign-in on the
// real pages, and a list of real records.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { UnauthorizedError as FormerUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openShop, type Shop } from '../app/shop.ts';
import { createPerson, notebook, offered } from './person.ts';

let shop: Shop;
let expected: unknown;
beforeAll(async () => {
  shop = await openShop();
  shop.documents.set('/notebook.json', { client_id: documentUrl, ...notebook });
  const rows = await shop.ask('SELECT number, total FROM orders ORDER BY id LIMIT 3');
  expected = rows.map(({ number, total }) => [number, total]);
});
afterAll(() => shop.stop());

const documentUrl = 'https://notebook.example/notebook.json';
const call = {
  name: 'list',
  arguments: {
    collectionName: 'orders',
    fields: ['number', 'total'],
    sort: { field: 'id', ascending: true },
    pagination: { size: 3 },
  },
};
const rowsOf = (result: unknown): unknown => {
  const { content, isError } = result as { content: [{ text: string }]; isError?: boolean };
  return isError ? content : JSON.parse(content[0].text).rows;
};

const modes = [
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
] as const;
const ways = ['registration', 'document'] as const;

test.each(modes.flatMap(([mode, version]) => ways.map((way) => [mode, way, version] as const)))(
  'the client of the SDK, mode %o, by %s: signs in and lists',
  async (mode, way, version) => {
    const person = createPerson(way === 'document' ? documentUrl : undefined);
    const open = () => new StreamableHTTPClientTransport(new URL(shop.mcpUrl), { authProvider: person.provider });
    const make = () => new Client({ name: 'notebook', version: '1' }, { versionNegotiation: { mode } });
    const refused = open();
    await expect(make().connect(refused)).rejects.toThrow(UnauthorizedError);
    await refused.finishAuth(await person.signIn(shop.account));
    const client = make();
    await client.connect(open());
    const { tools } = await client.listTools();
    const result = await client.callTool(call);
    const known = person.clientId() === documentUrl ? 'document' : 'registration';
    const answered = [
      client.getNegotiatedProtocolVersion(),
      known,
      tools.map((tool) => tool.name).sort(),
      rowsOf(result),
    ];
    await client.close();
    expect(answered).toEqual([version, way, offered, expected]);
  },
);

test.each(ways)('the client of the previous SDK, by %s: signs in and lists', async (way) => {
  const person = createPerson(way === 'document' ? documentUrl : undefined);
  const open = () => new FormerTransport(new URL(shop.mcpUrl), { authProvider: person.provider as never });
  const make = () => new FormerClient({ name: 'notebook', version: '1' });
  const refused = open();
  await expect(make().connect(refused as never)).rejects.toThrow(FormerUnauthorizedError);
  await refused.finishAuth(`${(await person.signIn(shop.account)).get('code')}`);
  const client = make();
  await client.connect(open() as never);
  const { tools } = await client.listTools();
  const result = await client.callTool(call);
  const known = person.clientId() === documentUrl ? 'document' : 'registration';
  const answered = [known, tools.map((tool) => tool.name).sort(), rowsOf(result)];
  await client.close();
  expect(answered).toEqual([way, offered, expected]);
});
