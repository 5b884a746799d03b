// What is shown of authentication in section 5: the secrets of an agent, the token of /mcp and how a client that knows the
// address alone comes to one, and the key of an AI provider.
import { expect, test } from 'vitest';
import { createAgent, createAiProvider } from '../../src/index.ts';
import { KEY, openAiServer, saying } from '../agent/ai-server.ts';
import { messageOf, secrets, shopAgent } from '../app/agent.ts';
import { ask } from '../app/call.ts';
import { mounts, tokenOf } from '../app/mounts.ts';

test.each(['authSecret', 'envSecret'] as const)('%s: an agent is created with it, and not without', async (name) => {
  const { [name]: _, ...rest } = secrets;
  expect([await messageOf(() => createAgent(secrets)), await messageOf(() => createAgent(rest as never))]).toEqual([
    'it worked',
    expect.stringMatching(new RegExp(`^createAgent needs '${name}'`)),
  ]);
});

test.each(mounts)(
  'Bearer: the MCP endpoint requires a token of the authorization and token endpoints, %s',
  async (_place, open) => {
    const mounted = await open();
    const token = await tokenOf(mounted);
    const asked = async (given: string | undefined) => (await ask(mounted.mcpUrl, given, 'tools/list', {})).status;
    expect([await asked(token), await asked(undefined), await asked(`${token}x`), await asked('x'.repeat(43))]).toEqual(
      [200, 401, 401, 401],
    );
  },
);

test.each(mounts)(
  'discovery: the challenge leads to metadata of RFC 9728 and that to RFC 8414, %s',
  async (_place, open) => {
    const { mcpUrl } = await open();
    const refused = await fetch(mcpUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    const [, address] = /resource_metadata="([^"]+)"/.exec(`${refused.headers.get('www-authenticate')}`) ?? [];
    const json = async (url: string) => (await (await fetch(url)).json()) as Record<string, string[] & string>;
    const resource = await json(`${address}`);
    const issuer = new URL(resource.authorization_servers![0]!);
    // RFC 8414 section 3.1: the well-known part goes before the path of the issuer.
    const path = issuer.pathname === '/' ? '' : issuer.pathname;
    const server = await json(`${issuer.origin}/.well-known/oauth-authorization-server${path}`);
    expect([refused.status, resource.resource, server.issuer]).toEqual([
      401,
      mcpUrl,
      resource.authorization_servers![0],
    ]);
    const exchange = await fetch(`${server.token_endpoint}`, { method: 'POST', body: new URLSearchParams() });
    const authorize = await fetch(`${server.authorization_endpoint}`, { redirect: 'manual' });
    // Both are there, and ask for what is missing.
    expect([exchange.status, authorize.status]).toEqual([400, 400]);
  },
);

test('apiKey: an AI provider is asked with it, and is not made without', async () => {
  const { baseUrl, asked } = await openAiServer('openai', saying('openai', 'Yes.'));
  const given = { name: 'house', provider: 'openai', model: 'model-1', baseUrl } as const;
  const ai = createAiProvider({ ...given, apiKey: KEY });
  await ai.ask({ messages: [{ role: 'user', content: 'Is it so?' }] });
  expect([
    asked[0]!.headers.authorization,
    JSON.stringify(ai).includes(KEY),
    await messageOf(() => createAiProvider(given as never)),
    shopAgent().agent.addAi(ai) !== undefined,
  ]).toEqual([`Bearer ${KEY}`, false, expect.stringMatching(/^createAiProvider needs 'apiKey'/), true]);
});
