// Single sign-on, and the sign-in of a host application.
import type { Page } from 'playwright-core';
import { openShop } from '../app/shop.ts';
import { authorizationUrl, byDocument } from '../oauth/client.ts';
import { type OAuthTestServer, startServer } from '../oauth/oauth-server.ts';
import { openUpstream } from '../oauth/upstream.ts';
import type { Camera, Shoot } from './camera.ts';

export async function takeSso(camera: Camera): Promise<void> {
  const upstream = await openUpstream();
  const server = await startServer({ env: upstream.env });
  const down = await startServer({ env: { ...upstream.env, SERVICE_SSO_ISSUER: 'http://127.0.0.1:9' } });
  const withPasswords = await startServer({ env: { ...upstream.env, SERVICE_SSO_PASSWORDS: 'true' } });
  const shop = await openShop({ env: upstream.env });
  const hosted = await startServer({
    hostSignIn: { authenticate: () => null, signInUrl: 'https://shop.example.com/login', passwords: false },
  });
  for (const one of [server, down, withPasswords, hosted]) {
    one.documents.set('https://claude.ai/oauth/client', {
      client_id: 'https://claude.ai/oauth/client',
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
    });
  }
  upstream.start([server.paths.ssoCallback('')]);
  upstream.people.set('otto', { email: 'otto@example.com', email_verified: false });
  try {
    await camera.open(['desktop', 'light'], take);
  } finally {
    await Promise.all([server, down, withPasswords, hosted, shop, upstream].map((one) => one.stop()));
  }

  async function take(page: Page, shoot: Shoot): Promise<void> {
    const button = page.getByRole('button', { name: 'Sign in with Example ID' });
    await page.goto(await addressAt(server));
    await shoot('sso-sign-in');
    await button.click();
    await page.getByLabel('Name').fill('otto');
    await page.getByRole('button', { name: 'Enter' }).click();
    await page.getByText('You are not signed in').first().waitFor();
    await shoot('sso-refused');
    await page.goto(await addressAt(down));
    await button.click();
    await page.getByRole('alert').waitFor();
    await shoot('sso-down');
    await page.goto(await addressAt(withPasswords));
    await shoot('sso-passwords');
    await page.goto(await addressAt(hosted));
    await shoot('host-sign-in');
    await page.goto(shop.consoleUrl);
    await shoot('sso-console');
  }
}

async function addressAt({ paths }: OAuthTestServer): Promise<string> {
  const claude = await byDocument(paths.issuer, 'https://claude.ai/oauth/client');
  const asking = { redirectUri: 'https://claude.ai/api/mcp/auth_callback', scope: 'mcp:read mcp:write' };
  return (await authorizationUrl(claude, asking)).url.href;
}
