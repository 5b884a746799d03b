// Tools over MCP, with a token of each kind.
import * as oauth from 'oauth4webapi';
import { callTool } from '../../app/call.ts';
import { issuerOf, redirectUri } from '../../app/shop.ts';
import { authorizationUrl, redeem, register } from '../../oauth/client.ts';
import { createBrowser } from '../../oauth/flow.ts';
import type { Credential } from '../oracle.ts';
import type { World } from '../world.ts';
import { type Ending, type Entry, endOfCode } from './entry.ts';
import { type Args, callOf, endOfText, toolOperations } from './tools.ts';

const everyScope = ['mcp:read', 'mcp:write', 'mcp:action'];

export interface Assistant extends Entry {
  call(tool: string, args: Args): Promise<Ending>;
}

export async function openAssistant(world: World, credential?: Credential): Promise<Assistant> {
  const { token, query } = await present(world, credential);
  const call: Assistant['call'] = async (tool, args) => {
    const answer = await callTool(world.mcpUrl + query, token, tool, args);
    if ('status' in answer) return { end: endOfStatus(answer.status), text: '' };
    const text = 'error' in answer ? answer.error : JSON.stringify(answer.json);
    const approve = 'json' in answer ? (answer.json as { readonly approve?: string }).approve : undefined;
    return { end: endOfText(text, endOfCode), text, ...(approve !== undefined && { approve }) };
  };
  return {
    operations: toolOperations,
    call,
    async act(operation) {
      const [tool, args] = callOf(operation, world);
      if (operation !== 'attach') return call(tool, args);
      const asked = await call('requestActionFileUpload', { filename: 'a.txt', mimeType: 'text/plain' });
      // Callers without any action cannot upload a file for one either.
      if (asked.end !== 'done') return { ...asked, end: asked.end === 'DENIED' ? 'absent' : asked.end };
      const { uploadUrl, fileHandle } = JSON.parse(asked.text) as { uploadUrl: string; fileHandle: string };
      await fetch(uploadUrl, { method: 'PUT', headers: { 'content-type': 'text/plain' }, body: 'proof' });
      return call(tool, { ...args, values: { proof: fileHandle } });
    },
  };
}

const endOfStatus = (status: number): string =>
  ({ 401: 'signed out', 403: 'no consent', 429: 'limited' })[status] ?? String(status);

async function present(world: World, credential: Credential | undefined): Promise<{ token: string; query: string }> {
  if (typeof credential === 'object' && 'consent' in credential)
    return { token: await consent(world, credential.consent), query: '' };
  const scopes = (typeof credential === 'object' && 'scopes' in credential && credential.scopes) || everyScope;
  const token = await (credential === 'expired' ? world.expiredTokenOf(scopes) : world.tokenOf(scopes));
  if (credential === 'revoked') await world.revoke(token);
  return { token, query: typeof credential === 'object' && 'query' in credential ? credential.query : '' };
}

/** Gives consent with these choices on the page, and returns the access token. */
async function consent(world: World, choice: Readonly<Record<string, string | readonly string[]>>): Promise<string> {
  const registered = await register(issuerOf(world), { client_name: 'Notebook', redirect_uris: [redirectUri] });
  const scope = everyScope.join(' ');
  const { url, verifier } = await authorizationUrl(registered, { redirectUri, resource: world.mcpUrl, scope });
  const browser = createBrowser();
  const page = await browser.press(await browser.open(url), 'sign-in', { ...world.clerk });
  const { leftTo } = await browser.press(page, 'allow', choice);
  const parameters = oauth.validateAuthResponse(registered.server, registered.client, leftTo!, 'the-state');
  return (await redeem(registered, { parameters, verifier, redirectUri })).access_token;
}
