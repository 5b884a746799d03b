// Copies the example, starts it as its README says, signs in as its users do, calls a tool, and stops it.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { callTool } from '../app/call.ts';
import { authorizationUrl, connect, register } from '../oauth/client.ts';
import { createBrowser } from '../oauth/flow.ts';
import { app, copyExample, isUp, redirectUri, startCommand } from './example.ts';

test('every example has a README, and a package that is not to be published', () => {
  for (const name of readdirSync('examples')) {
    expect(readFileSync(`examples/${name}/README.md`, 'utf8')).toMatch(/^# /);
    expect(JSON.parse(readFileSync(`examples/${name}/package.json`, 'utf8'))).toMatchObject({ private: true });
  }
});

test('express-shop: staff connect an assistant with the login of the shop', async () => {
  const example = await copyExample('express-shop');
  const shop = await startCommand(example, example.commands[0]!, /For assistants: /);
  const issuer = `${shop.origin}/portico`;
  const browser = createBrowser();
  const resource = `${issuer}/mcp`;
  const registered = await register(issuer, app);
  const begun = await browser.open((await authorizationUrl(registered, { redirectUri, resource })).url);
  // Portico links to the shop's sign-in, which redirects back.
  const href = /href="([^"]*\/login[^"]*)"/.exec(begun.html)?.[1]?.replaceAll('&amp;', '&');
  const form = href === undefined ? begun : await browser.open(new URL(href, shop.origin));
  const wrong = await browser.press(form, 'sign-in', { name: 'mara', password: 'x' });
  const consent = await browser.press(wrong, 'sign-in', { name: 'mara', password: 'lighthouse' });
  const { tokens } = await connect(
    registered,
    { email: '', password: '' },
    {
      ...{ redirectUri, resource, browser },
      scope: 'mcp:read mcp:action',
    },
  );
  const token = tokens.access_token;
  const listed = await callTool(`${issuer}/mcp`, token, 'list', {
    collectionName: 'books',
    segment: 'Sold out',
    fields: ['title', 'author:name'],
  });
  const ordered = await callTool(`${issuer}/mcp`, token, 'executeAction', {
    collectionName: 'books',
    actionName: 'Order from publisher',
    recordIds: [2],
    values: { Copies: 3 },
  });
  const home = await browser.open(shop.origin);
  const elsewhere = await browser.open(`${shop.origin}/login?next=https://evil.example/`);
  expect([
    wrong.status,
    consent.html.includes('value="allow"') && consent.html.includes('mara@tidewater.example'),
    listed,
    JSON.stringify(ordered).match(/3 copies of .*? are on their way/)?.[0],
    home.html.includes('Good morning, mara'),
    elsewhere.html.includes('evil'),
    (await fetch(`${shop.origin}/oauth/token`, { method: 'POST' })).status,
  ]).toEqual([
    401,
    true,
    { json: { columns: ['title', 'author:name'], rows: [['Harbour Lights', 'Ines Calder']], hasMore: false } },
    '3 copies of Harbour Lights are on their way',
    true,
    false,
    404,
  ]);
  await shop.stop();
  expect(await isUp(shop.origin)).toBe(false);
}, 240_000);
