// Takes screenshots of the sign-in pages; docs/screenshots keeps those that the docs show: `npx tsx
// test/oauth/screenshots.ts [folder]`.
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openChromium } from '../chromium.ts';
import { authorizationUrl, byDocument, register } from './client.ts';
import { type OAuthTestServer, startServer } from './oauth-server.ts';

const folder = process.argv[2] ?? join(tmpdir(), 'portico-screenshots');
mkdirSync(folder, { recursive: true });
const sizes = { phone: { width: 375, height: 812 }, desktop: { width: 1280, height: 800 } };

const collections = [
  ...['addresses', 'categories', 'customers', 'employees', 'invoices', 'order_lines', 'orders', 'payments', 'products'],
  ...['refunds', 'returns', 'reviews', 'shipments', 'stock', 'stores', 'suppliers', 'taxes', 'warehouses'],
];
const server = await startServer({
  env: { SERVICE_SIGN_IN_ATTEMPTS: '100', SERVICE_DCR_PER_HOUR: '1000' },
  listCollections: () => collections,
});
server.documents.set('https://claude.ai/oauth/client', {
  client_id: 'https://claude.ai/oauth/client',
  client_name: 'Claude',
  redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
});
server.documents.set('https://editor.example/client', {
  client_id: 'https://editor.example/client',
  client_name: 'Editor',
  redirect_uris: ['https://editor.example/callback'],
});
const browser = await openChromium();
try {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ viewport, colorScheme, deviceScaleFactor: size === 'phone' ? 2 : 1 });
      const page = await context.newPage();
      await take(server, page, (name) =>
        page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`), fullPage: true }),
      );
      await context.close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
}

async function take(
  { paths, account, store }: OAuthTestServer,
  page: Page,
  shoot: (name: string) => Promise<unknown>,
): Promise<void> {
  const claude = await byDocument(paths.issuer, 'https://claude.ai/oauth/client');
  const scopes = ['mcp:read', 'mcp:write', 'mcp:action'];
  const asking = { redirectUri: 'https://claude.ai/api/mcp/auth_callback', scope: scopes.join(' ') };
  await page.goto((await authorizationUrl(claude, asking)).url.href);
  await shoot('sign-in');
  await page.getByLabel('E-mail').fill(account.email);
  await page.getByLabel('Password').fill('not this one');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByText('Wrong e-mail or password.').waitFor();
  await shoot('sign-in-error');
  await page.getByLabel('Password').fill(account.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  await shoot('consent');
  await page.locator('summary').click();
  await page.getByLabel('Read only').check();
  await page.getByLabel('Selected collections').check();
  await page.getByLabel('Find a collection').fill('or');
  await page.getByRole('button', { name: 'Find' }).click();
  await page.getByText('in the name').waitFor();
  await page.getByLabel('orders', { exact: true }).check();
  await page.getByLabel('Connected').selectOption('day');
  await shoot('consent-limits');

  const { id } = (await store.identity.findUserByEmail(account.email))!;
  const editor = await byDocument(paths.issuer, 'https://editor.example/client');
  await store.connections.decide({
    userId: id,
    clientId: editor.client.client_id,
    clientName: 'Editor',
    asked: scopes,
    scopes,
    choice: { ticked: scopes, readOnly: false, collections: null, lasts: null },
    endsAt: null,
    told: {},
  });
  // A link from another site, so the page is shown again.
  const href = (
    await authorizationUrl(editor, { ...asking, redirectUri: 'https://editor.example/callback' })
  ).url.href.replaceAll('&', '&amp;');
  await page.goto(`data:text/html,${encodeURIComponent(`<a href="${href}">go</a>`)}`);
  await page.getByRole('link').click();
  await page.getByRole('button', { name: 'Continue' }).waitFor();
  await shoot('consent-again');

  const redirectUri = 'http://localhost:33418/callback';
  const local = await register(paths.issuer, { client_name: 'Claude Code', redirect_uris: [redirectUri] });
  await page.goto((await authorizationUrl(local, { redirectUri })).url.href);
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  await shoot('consent-device');

  const notebook = 'https://notebook.example/callback';
  const web = await register(paths.issuer, { client_name: 'Notebook', redirect_uris: [notebook] });
  await store.connections.decide({
    userId: id,
    clientId: web.client.client_id,
    clientName: 'Notebook',
    asked: ['mcp:read'],
    scopes: ['mcp:read'],
    choice: { ticked: ['mcp:read'], readOnly: false, collections: ['customers', 'orders'], lasts: 'month' },
    endsAt: null,
    told: {},
  });
  const more = { redirectUri: notebook, scope: 'mcp:read mcp:write' };
  await page.goto((await authorizationUrl(web, more)).url.href);
  await page.getByText('Allow notebook.example more?').waitFor();
  await shoot('consent-more');
  await store.connections.block({ clientId: web.client.client_id });
  await page.goto((await authorizationUrl(web, more)).url.href);
  await shoot('blocked');

  await page.goto(`${paths.issuer}/oauth/interaction/gone`);
  await shoot('expired');
}
