// Authentication in section 5: the secrets of an agent, the token of /mcp, how a client that
// knows only the URL discovers the authorization server, and the key of an AI provider.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createAgent, createAiProvider } from '../../src/index.ts';
import { KEY, openAiServer, saying } from '../agent/ai-server.ts';
import { messageOf, secrets, shopAgent } from '../app/agent.ts';
import { ask } from '../app/call.ts';
import { mounts, redirectUri, tokenOf } from '../app/mounts.ts';
import { register } from '../oauth/client.ts';

test.each(['authSecret', 'envSecret'] as const)('%s: createAgent requires it', async (name) => {
  const { [name]: _, ...rest } = secrets;
  expect([await messageOf(() => createAgent(secrets)), await messageOf(() => createAgent(rest as never))]).toEqual([
    'it worked',
    expect.stringMatching(new RegExp(`^createAgent needs '${name}'`)),
  ]);
  for (const value of ['', null, 5, undefined])
    expect(await messageOf(() => createAgent({ ...secrets, [name]: value } as never))).toMatch(name);
});

test('authSecret, envSecret: neither is in the schema file, the log or a response', async () => {
  const { agent, schemaPath, logged } = shopAgent();
  agent.mountAiMcpServer().mountOnStandaloneServer(0);
  const { server } = await agent.start();
  const { status, text } = await ask(server!.mcpUrl, secrets.authSecret, 'tools/list', {});
  const everywhere = [readFileSync(schemaPath, 'utf8'), JSON.stringify(logged), text].join();
  expect([status, Object.values(secrets).filter((secret) => everywhere.includes(secret))]).toEqual([401, []]);
});

test.each(mounts)(
  'Bearer: the MCP endpoint requires a token of the authorization and token endpoints, %s',
  async (_place, open) => {
    const mounted = await open();
    const token = await tokenOf(mounted);
    const asked = async (given: string | undefined) => (await ask(mounted.mcpUrl, given, 'tools/list', {})).status;
    expect([
      await asked(token),
      await asked(undefined),
      await asked(`${token}x`),
      await asked(token.slice(0, -1)),
      await asked('x'.repeat(43)),
      await asked(''),
    ]).toEqual([200, 401, 401, 401, 401, 401]);
    // Only the Authorization header with the Bearer scheme is accepted.
    const sent = async (headers: Record<string, string>, query = '') =>
      (await ask(mounted.mcpUrl + query, undefined, 'tools/list', {}, { headers })).status;
    expect([
      await sent({ authorization: `bearer ${token}` }),
      await sent({ authorization: `BEARER   ${token}` }),
      await sent({ authorization: `Basic ${btoa(`${token}:`)}` }),
      await sent({ authorization: token }),
      await sent({ cookie: `token=${token}` }),
      await sent({}, `?access_token=${token}`),
      await sent({ authorization: `Bearer${token}` }),
      await sent({ authorization: `Bearer ${token} ${token}` }),
      await sent({ authorization: `Bearer "${token}"` }),
    ]).toEqual([200, 200, 401, 401, 401, 401, 401, 401, 401]);
    // Another client cannot revoke this token.
    const { origin, prefix } = mounted;
    const { client } = await register(`${origin}${prefix}`, { client_name: 'Other', redirect_uris: [redirectUri] });
    const body = new URLSearchParams({ token, client_id: client.client_id });
    await fetch(`${origin}${prefix}/oauth/revoke`, { method: 'POST', body });
    expect(await asked(token)).toBe(200);
  },
);

test.each(mounts)(
  'discovery: the challenge leads to metadata of RFC 9728, and that to RFC 8414, %s',
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
    // Both endpoints exist, and report the missing parameters.
    expect([exchange.status, authorize.status]).toEqual([400, 400]);
  },
);

test('apiKey: an AI provider sends it, and cannot be created without it', async () => {
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
  for (const apiKey of ['', null, 5, ' ', `${KEY}\n`, `${KEY} x`, 'ключ'])
    expect(await messageOf(() => createAiProvider({ ...given, apiKey } as never))).toMatch(/apiKey/);
});

test('apiKey: the other provider sends it too', async () => {
  const { baseUrl, asked } = await openAiServer('anthropic', saying('anthropic', 'Yes.'));
  const ai = createAiProvider({ name: 'house', provider: 'anthropic', model: 'model-1', baseUrl, apiKey: KEY });
  await ai.ask({ messages: [{ role: 'user', content: 'Is it so?' }] });
  expect([asked[0]!.headers.authorization, asked.length]).toEqual([`Bearer ${KEY}`, 1]);
});

test.each(['\n', '\r\n', '\t', ' ', '\0', '\x7f', '\u00a0', 'é', '\u2028'])('apiKey: %j at its begin, its end or within is refused, and the error does not show the key', async (character) => {
  const given = { name: 'house', provider: 'openai', model: 'model-1' } as const;
  for (const apiKey of [character, `${character}${KEY}`, `${KEY}${character}`, KEY.replace(/^../, `a${character}b`)]) {
    const message = await messageOf(() => createAiProvider({ ...given, apiKey }));
    expect(message).toMatch(/^createAiProvider: 'apiKey' must be a string of visible ASCII characters, without spaces\./);
    expect(message).not.toContain(KEY.slice(3));
  }
}); // biome-ignore format: short

test.each(['openai', 'anthropic'] as const)('apiKey: every visible ASCII character is kept in the header of %s, and another key is sent for another provider', async (provider) => {
  const visible = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('');
  const seen: (string | undefined)[] = [];
  // A server that refuses every request: only the header matters.
  const server = createServer((req, res) => {
    seen.push(req.headers.authorization);
    res.writeHead(400, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const apiKey of [visible, '!', '~']) {
    const ai = createAiProvider({ name: 'house', provider, model: 'model-1', baseUrl, apiKey });
    await ai.ask({ messages: [{ role: 'user', content: 'Is it so?' }] }).catch(() => undefined);
  }
  expect(seen).toEqual([`Bearer ${visible}`, 'Bearer !', 'Bearer ~']);
}); // biome-ignore format: short

test.each(['openai', 'anthropic'] as const)('apiKey: %s repeats it several times, as sent and within JSON: the error, its cause and the log do not contain it', async (provider) => {
  const quoted = JSON.stringify(KEY);
  const error = { type: 'some_error', message: `${KEY} is not ${KEY}: ${quoted}, ${quoted}, ${KEY}` };
  const body = provider === 'openai' ? { error } : { type: 'error', error };
  const { baseUrl } = await openAiServer(provider, { status: 401, body });
  const ai = createAiProvider({ name: 'house', provider, model: 'model-1', baseUrl, apiKey: KEY });
  const thrown = await ai.ask({ messages: [{ role: 'user', content: 'Is it so?' }] }).catch((each: unknown) => each);
  const shown = inspect(thrown, { depth: 9 }) + String((thrown as Error).cause);
  expect(shown).toContain('*** is not ***');
  for (const secret of [KEY, quoted.slice(1, -1)]) expect(shown).not.toContain(secret);
}); // biome-ignore format: short
