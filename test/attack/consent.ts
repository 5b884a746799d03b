// Grants consent on the real pages, with limits.
import { validateAuthResponse } from 'oauth4webapi';
import { redirectUri } from '../app/shop.ts';
import { authorizationUrl, redeem, register } from '../oauth/client.ts';
import { createBrowser } from '../oauth/flow.ts';
import type { Person, Target } from './target.ts';

/** Returns the access token. `choice` holds the form fields sent with the button. */
export async function consented(
  { origin, mcpUrl }: Target,
  { email, password }: Person,
  choice: Readonly<Record<string, string | readonly string[]>> = {},
): Promise<string> {
  const registered = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const scope = 'mcp:read mcp:write mcp:action';
  const { url, verifier } = await authorizationUrl(registered, { redirectUri, resource: mcpUrl, scope });
  const browser = createBrowser();
  const page = await browser.press(await browser.open(url), 'sign-in', { email, password });
  const { leftTo } = await browser.press(page, 'allow', choice);
  const parameters = validateAuthResponse(registered.server, registered.client, leftTo!, 'the-state');
  return (await redeem(registered, { parameters, verifier, redirectUri })).access_token;
}
