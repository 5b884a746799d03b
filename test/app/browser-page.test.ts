// A browser at the address of the endpoint or of the server gets a page; programs get the usual answer.
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { openShop } from './shop.ts';

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

function ask(url: string, headers: Record<string, string>): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const req = request(url, { headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      res.once('end', () => resolve({ status: res.statusCode!, type: res.headers['content-type'] ?? '', text }));
    });
    req.on('error', reject).end();
  });
}

test('a browser gets a page with the MCP URL and a link to the console at /mcp and /', async () => {
  const shop = await openShop();
  const origin = new URL(shop.mcpUrl).origin;
  for (const url of [shop.mcpUrl, `${origin}/`]) {
    const { status, type, text } = await ask(url, { accept: browser });
    expect([status, type]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(`claude mcp add --transport http portico ${shop.mcpUrl}`);
    expect(text).toContain(`href="${origin}/console"`);
    expect(text).not.toContain('<script');
  }
  await shop.stop();
});

test('programs, requests with another Host, and other paths get no page', async () => {
  const shop = await openShop();
  const { origin } = new URL(shop.mcpUrl);
  const answers = await Promise.all(
    (
      [
        [shop.mcpUrl, { accept: '*/*' }],
        [shop.mcpUrl, { accept: 'application/json, text/event-stream' }],
        [shop.mcpUrl, { accept: 'text/html', authorization: 'Bearer x' }],
        [`${origin}/`, { accept: 'application/json' }],
        [`${origin}/other`, { accept: browser }],
        [shop.mcpUrl, { accept: browser, host: 'evil.example' }],
        [`${origin}/`, { accept: browser, host: 'evil.example' }],
      ] as const
    ).map(([url, headers]) => ask(url, headers)),
  );
  expect(answers.filter(({ type }) => type.includes('html'))).toEqual([]);
  expect(answers.map(({ status }) => status).slice(3)).toEqual([404, 404, 403, 404]);
  await shop.stop();
});
