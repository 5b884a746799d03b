// Where MCP is served, in the three mounts, and the SDK's own clients through the whole way of each.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { UnauthorizedError as FormerUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { ask, callTool } from '../app/call.ts';
import { account, hosted, type Mounted, mounts, tokenOf } from '../app/mounts.ts';
import { createPerson } from '../clients/person.ts';
import { register } from '../oauth/client.ts';

const at = (place: string) => mounts.find(([name]) => name === place)![1];

async function seen(method: string, url: string, init: RequestInit = {}): Promise<unknown[]> {
  const response = await fetch(url, { method, redirect: 'manual', ...init });
  return [method, response.status, response.headers.get('content-type')?.split(';')[0]];
}

/** Where an authorization request of a client is sent on to: its path. */
async function authorize({ origin, prefix }: Mounted, method: 'GET' | 'POST'): Promise<unknown[]> {
  const { client } = await register(`${origin}${prefix}`, {
    client_name: 'Notebook',
    redirect_uris: ['http://127.0.0.1:49152/callback'],
  });
  const form = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: 'http://127.0.0.1:49152/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    resource: `${origin}${prefix}/mcp`,
  });
  const url = `${origin}${prefix}/oauth/authorize`;
  const init = { method, redirect: 'manual' } as const;
  const response = await (method === 'GET' ? fetch(`${url}?${form}`, init) : fetch(url, { ...init, body: form }));
  const location = new URL(`${response.headers.get('location')}`, url);
  return [response.status, location.pathname.replace(/[^/]{20,}$/, '...'), location.searchParams.get('client_id')];
}

const metadata = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;

describe.each([
  ['4.4 at host root', '', 'at the root'],
  ['4.4 with basePath', '<prefix>', 'under a basePath'],
])('%s', (_section, shown, place) => {
  test(`${shown}/mcp | POST | MCP protocol endpoint; Bearer token required`, async () => {
    const mounted = await at(place)();
    const url = `${mounted.origin}${mounted.prefix}/mcp`;
    const without = await fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    const { status } = await ask(url, await tokenOf(mounted), 'tools/list', {});
    expect([
      mounted.mcpUrl,
      without.status,
      without.headers.get('www-authenticate'),
      status,
      await seen('GET', url),
    ]).toEqual([url, 401, expect.stringMatching(/^Bearer resource_metadata="/), 200, ['GET', 405, 'application/json']]);
  });

  test(`${shown}/oauth/authorize | GET and POST | OAuth authorization`, async () => {
    const mounted = await at(place)();
    // The one is sent on to the page, the other to the one.
    expect([await authorize(mounted, 'GET'), await authorize(mounted, 'POST')]).toEqual([
      [303, `${mounted.prefix}/oauth/interaction/...`, null],
      [303, `${mounted.prefix}/oauth/authorize`, expect.any(String)],
    ]);
  });

  test(`${shown}/oauth/token | POST | token exchange`, async () => {
    const mounted = await at(place)();
    const url = `${mounted.origin}${mounted.prefix}/oauth/token`;
    const answers = [await seen('POST', url, { body: new URLSearchParams({}) }), await seen('GET', url)];
    const token = await tokenOf(mounted);
    expect([answers, token]).toEqual([
      [
        ['POST', 400, 'application/json'],
        ['GET', 405, 'application/json'],
      ],
      expect.stringMatching(/^[\w-]{20,}$/),
    ]);
  });

  test(`/.well-known/oauth-authorization-server${shown} | GET | authorization server metadata`, async () => {
    const { origin, prefix } = await at(place)();
    expect(await metadata(`${origin}/.well-known/oauth-authorization-server${prefix}`)).toMatchObject({
      issuer: `${origin}${prefix}`,
      authorization_endpoint: `${origin}${prefix}/oauth/authorize`,
      token_endpoint: `${origin}${prefix}/oauth/token`,
    });
  });

  test(`/.well-known/oauth-protected-resource${shown}/mcp | GET | protected resource metadata`, async () => {
    const { origin, prefix, mcpUrl } = await at(place)();
    expect(await metadata(`${origin}/.well-known/oauth-protected-resource${prefix}/mcp`)).toMatchObject({
      resource: mcpUrl,
      authorization_servers: [`${origin}${prefix}`],
    });
  });
});

const call = { name: 'list', arguments: { collectionName: 'orders', fields: ['id'], pagination: { size: 1 } } };

type Conversation = {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: typeof call): Promise<unknown>;
  close(): Promise<void>;
};

/** Signs in on the pages when the SDK says so, and connects again. */
async function connectNew(url: string): Promise<Conversation> {
  const person = createPerson();
  const open = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: person.provider });
  const make = () =>
    new Client({ name: 'notebook', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  const refused = open();
  await expect(make().connect(refused)).rejects.toThrow(UnauthorizedError);
  await refused.finishAuth(await person.signIn(account));
  const client = make();
  await client.connect(open());
  return client;
}

async function connectFormer(url: string): Promise<Conversation> {
  const person = createPerson();
  const open = () => new FormerTransport(new URL(url), { authProvider: person.provider as never });
  const make = () => new FormerClient({ name: 'notebook', version: '1' });
  const refused = open();
  await expect(make().connect(refused as never)).rejects.toThrow(FormerUnauthorizedError);
  await refused.finishAuth(`${(await person.signIn(account)).get('code')}`);
  const client = make();
  await client.connect(open() as never);
  return client as unknown as Conversation;
}

describe('4.4 rules', () => {
  describe.each(mounts)('%s', (_place, open) => {
    test.each([
      ['of the SDK', connectNew],
      ['of the former SDK', connectFormer],
    ])(
      'discovery: clients discover endpoints from the metadata, sign in and call: the client %s',
      async (_which, connectTo) => {
        const { mcpUrl } = await open({ mcp: { enabledTools: ['describeCollection', 'list'] } });
        const client = await connectTo(`${mcpUrl}`);
        const { tools } = await client.listTools();
        const { content } = (await client.callTool(call)) as { content: [{ text: string }] };
        await client.close();
        expect([tools.map(({ name }) => name), JSON.parse(content[0].text)]).toEqual([
          ['describeCollection', 'list'],
          expect.objectContaining({ columns: ['id'], hasMore: true }),
        ]);
      },
    );

    test.each([
      ['of the SDK', connectNew],
      ['of the former SDK', connectFormer],
    ])('an address that narrows takes the same sign-in: the client %s', async (_which, connectTo) => {
      const { mcpUrl } = await open();
      const client = await connectTo(`${mcpUrl}?collections=customers&readonly=true`);
      const { tools } = await client.listTools();
      const answer = (await client.callTool(call)) as { isError?: boolean; content: [{ text: string }] };
      await client.close();
      expect([tools.map(({ name }) => name), answer.isError, answer.content[0].text]).toEqual([
        ['describeCollection', 'list', 'aggregate'],
        true,
        expect.stringMatching(/orders/),
      ]);
    });
  });

  test('prefix: it applies to all routes, so a prefix of /mcp gives /mcp/mcp', async () => {
    const mounted = await hosted('/mcp');
    expect([
      mounted.mcpUrl,
      await callTool(mounted.mcpUrl, await tokenOf(mounted), call.name, call.arguments),
      (await seen('POST', `${mounted.origin}/mcp`))[1],
    ]).toEqual([`${mounted.origin}/mcp/mcp`, { json: expect.objectContaining({ columns: ['id'] }) }, 404]);
  });

  test('capture: without basePath the whole /oauth/* and /.well-known/* namespaces and /mcp are ours, with it the host has its own', async () => {
    const paths = [
      '/oauth/token',
      '/oauth/callback',
      '/.well-known/oauth-authorization-server',
      '/.well-known/security.txt',
    ];
    const visit = async (prefix: string) => {
      const { origin, reached } = await hosted(prefix);
      const init = { body: '{"total":12}', headers: { 'content-type': 'application/json' } };
      const posted = await fetch(`${origin}/oauth/callback`, { method: 'POST', ...init });
      const statuses = [];
      for (const path of paths) statuses.push((await seen('GET', `${origin}${path}`))[1]);
      return { statuses, posted: [posted.status, await posted.json()], reached };
    };
    expect([await visit(''), await visit('/data')]).toEqual([
      { statuses: [405, 404, 200, 404], posted: [404, expect.objectContaining({ error: 'not_found' })], reached: [] },
      {
        statuses: [200, 200, 200, 200],
        posted: [200, { of: 'the host', got: { total: 12 } }],
        reached: ['POST /oauth/callback', ...paths.map((path) => `GET ${path}`)],
      },
    ]);
  });

  test('enabledTools: the list is exact, and a tool that is not on it cannot be called', async () => {
    const mounted = await at('at the root')({ mcp: { enabledTools: ['list', 'describeCollection'] } });
    const token = await tokenOf(mounted);
    const { text } = await ask(mounted.mcpUrl, token, 'tools/list', {});
    expect([
      JSON.parse(text).result.tools.map(({ name }: { name: string }) => name),
      await callTool(mounted.mcpUrl, token, 'listRelated', {}),
    ]).toEqual([['describeCollection', 'list'], { error: expect.stringMatching(/-32602 .*listRelated/) }]);
  });
});
