// Copies the example, starts it as its README says, signs in as its users do, calls a tool, and stops it.
import { expect, test } from 'vitest';
import { callAs, copyExample, isUp, startCommand } from './example.ts';

const password = 'seven green chairs';

test('standalone: the config file sets the options of the database', async () => {
  const example = await copyExample('standalone');
  const place = await startCommand(example, example.commands[0]!, /mcpServers/, (port) => ({
    MCP_SERVER_PORT: `${port}`,
    SERVICE_ADMIN_PASSWORD: password,
  }));
  const issuer = /MCP address\s+(\S+)\/mcp/.exec(place.printed)?.[1] ?? '';
  const account = { email: 'you@example.com', password };
  const listed = await callAs(account, issuer, 'list', {
    collectionName: 'suppliers',
    segment: 'Without contract',
    fields: ['under_contract', 'delivers'],
    sort: { field: 'id' },
    pagination: { size: 2 },
  });
  const chart = await callAs(account, issuer, 'getChart', { chartName: 'Suppliers by country' });
  expect([listed, chart]).toMatchObject([
    {
      json: {
        columns: ['under_contract', 'delivers'],
        rows: [
          [false, 'slowly'],
          [false, 'slowly'],
        ],
      },
    },
    { json: { columns: ['key', 'value'], rows: expect.arrayContaining([['FR', 10]]) } },
  ]);
  await place.stop();
  expect(await isUp(place.origin)).toBe(false);
}, 240_000);
