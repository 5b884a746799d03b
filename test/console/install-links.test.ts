// The links that add this server to a client, as the clients read them.
import { expect, test } from 'vitest';
import { clientInstructions } from '../../src/console/clients.ts';

test('the links of VS Code and Cursor contain the URL, whatever characters it has', () => {
  const url = 'https://data.example.com/a+b/mcp?collections=orders,customers&readonly=true';
  const links = clientInstructions.flatMap(({ id, link }) => (link ? [[id, new URL(link(url))] as const] : []));
  expect(links.map(([id]) => id)).toEqual(['vs-code', 'cursor']);
  const [[, code], [, cursor]] = links as [(typeof links)[0], (typeof links)[0]];
  expect([code.protocol, JSON.parse(decodeURIComponent(code.search.slice(1)))]).toEqual([
    'vscode:',
    { name: 'portico', type: 'http', url },
  ]);
  const given = cursor.searchParams;
  expect([cursor.protocol, given.get('name'), JSON.parse(atob(given.get('config')!))]).toEqual([
    'cursor:',
    'portico',
    { url },
  ]);
});
