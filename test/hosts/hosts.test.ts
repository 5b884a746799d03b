// One suite for every framework that the agent can be mounted in: its HTTP API, and sign-in and a call of a real MCP
// client.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { createPerson } from '../clients/person.ts';
import { sessionToken, whoAmI } from '../rest/front-end.ts';
import { hosts } from './hosts.ts';
import { account, ask, json, openMountedAgent } from './mounted-agent.ts';

describe.each(hosts)('$name', (row) => {
  test.each(['before', 'after'] as const)(
    'the HTTP API, and a client that signs in and calls: mounted %s the routes of the application',
    async (order) => {
      const { agent, origin } = await openMountedAgent(row, { order });
      const { server } = await agent.start();
      const api = `${origin}/service`;
      const token = await sessionToken(api, account);
      const records = await fetch(`${api}/customers?page[size]=1&fields[customers]=name`, {
        headers: { authorization: `Bearer ${token}` },
      });
      const person = createPerson();
      const open = () => new StreamableHTTPClientTransport(new URL(server!.mcpUrl), { authProvider: person.provider });
      const refused = open();
      await expect(new Client({ name: 'notebook', version: '1' }).connect(refused)).rejects.toThrow(UnauthorizedError);
      await refused.finishAuth(await person.signIn(account));
      const client = new Client({ name: 'notebook', version: '1' });
      await client.connect(open());
      const { content } = (await client.callTool({
        name: 'list',
        arguments: { collectionName: 'customers', fields: ['name'], pagination: { size: 1 } },
      })) as unknown as { content: [{ text: string }] };
      await client.close();
      expect([
        server!.mcpUrl,
        JSON.parse(content[0].text).rows,
        await (await fetch(`${api}/`)).json(),
        await records.json(),
        await ask(origin, '/service/customers'),
        (await whoAmI(api, token)).status,
        await ask(origin, '/data/mcp', json('{}')),
        await ask(origin, '/data/oauth/token', json('{"big":"body"}')),
        await ask(origin, '/data/oauth/nothing'),
        await ask(origin, '/.well-known/oauth-protected-resource/data/mcp'),
        await ask(origin, '/service/_console'),
        await ask(origin, '/service/_api/v1/token'),
      ]).toEqual([
        `${origin}/data/mcp`,
        [['Ada']],
        { error: null, message: 'Agent is running' },
        {
          data: [expect.objectContaining({ type: 'customers', id: '1', attributes: { id: 1, name: 'Ada' } })],
          jsonapi: { version: '1.0' },
        },
        [401, 'UNAUTHENTICATED', false],
        200,
        [401, 'invalid_token', false],
        [400, 'invalid_request', false],
        [404, 'not_found', false],
        [200, undefined, false],
        [303, undefined, false],
        [401, 'Unauthorized', false],
      ]);
    },
  );
});
