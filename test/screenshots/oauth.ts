// Sign-in, consent and the device page, as the users of assistants see them.
import type { Page } from 'playwright-core';
import { authorizationUrl, byDocument, register } from '../oauth/client.ts';
import { type OAuthTestServer, startServer } from '../oauth/oauth-server.ts';
import type { Camera, Shoot } from './camera.ts';

const collections = [
  ...['addresses', 'categories', 'customers', 'employees', 'invoices', 'order_lines', 'orders', 'payments', 'products'],
  ...['refunds', 'returns', 'reviews', 'shipments', 'stock', 'stores', 'suppliers', 'taxes', 'warehouses'],
];
export async function takeSignIn(camera: Camera): Promise<void> {
  const server = await startServer({
    cloud: true,
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
  try {
    await camera.open(['desktop', 'light'], (page, shoot) => take(server, page, shoot));
    await camera.open(['desktop', 'dark'], (page, shoot) => takeFirst(server, page, shoot));
    await camera.open(['phone', 'light'], (page, shoot) => takeFirst(server, page, shoot));
  } finally {
    await server.stop();
  }
}

const asking = {
  redirectUri: 'https://claude.ai/api/mcp/auth_callback',
  scope: 'mcp:read mcp:write mcp:action',
};

/** Until the consent page. */
async function takeFirst({ paths, account }: OAuthTestServer, page: Page, shoot: Shoot): Promise<void> {
  const claude = await byDocument(paths.issuer, 'https://claude.ai/oauth/client');
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
}

async function take(started: OAuthTestServer, page: Page, shoot: Shoot): Promise<void> {
  const { paths, account, store } = started;
  await takeFirst(started, page, shoot);
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
  const scopes = asking.scope.split(' ');
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

  await page.goto(paths.url('device'));
  await shoot('device');
  await page.goto(`${paths.issuer}/oauth/interaction/gone`);
  await shoot('expired');
}
