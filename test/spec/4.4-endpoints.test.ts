// The MCP endpoints in the three mounts, and the whole flow of each with the SDK's own clients.
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { UnauthorizedError as FormerUnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, test } from 'vitest';
import { messageOf, shopAgent } from '../app/agent.ts';
import { ask, callTool } from '../app/call.ts';
import { account, hosted, type Mounted, mounts, redirectUri, tokenOf } from '../app/mounts.ts';
import { createPerson } from '../clients/person.ts';
import { connect, register } from '../oauth/client.ts';

const at = (place: string) => mounts.find(([name]) => name === place)![1];

async function seen(method: string, url: string, init: RequestInit = {}): Promise<unknown[]> {
  const response = await fetch(url, { method, redirect: 'manual', ...init });
  return [method, response.status, response.headers.get('content-type')?.split(';')[0]];
}

/** Status and path of the redirect of an authorization request. `other` replaces or omits parameters. */
async function authorize(
  { origin, prefix }: Mounted,
  method: 'GET' | 'POST',
  other: Readonly<Record<string, string | undefined>> = {},
): Promise<unknown[]> {
  const { client } = await register(`${origin}${prefix}`, {
    client_name: 'Notebook',
    redirect_uris: ['http://127.0.0.1:49152/callback'],
  });
  const fields: Record<string, string | undefined> = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: 'http://127.0.0.1:49152/callback',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    resource: `${origin}${prefix}/mcp`,
    ...other,
  };
  const sent = Object.entries(fields).filter((each): each is [string, string] => each[1] !== undefined);
  const form = new URLSearchParams(sent);
  const url = `${origin}${prefix}/oauth/authorize`;
  const init = { method, redirect: 'manual' } as const;
  const response = await (method === 'GET' ? fetch(`${url}?${form}`, init) : fetch(url, { ...init, body: form }));
  const location = new URL(`${response.headers.get('location')}`, url);
  if (location.searchParams.has('error'))
    return [response.status, location.pathname, location.searchParams.get('error')];
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
    const token = await tokenOf(mounted);
    const { status } = await ask(url, token, 'tools/list', {});
    const wrong = [
      (await ask(url, `${token}x`, 'tools/list', {})).status,
      (
        await fetch(url, {
          method: 'POST',
          body: '{',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        })
      ).status,
      (await seen('DELETE', url))[1],
      (await ask(url, token, 'tools/call', { name: 'list', arguments: { collectionName: 'orders' } })).status,
    ];
    expect(wrong).toEqual([401, 400, 405, 200]);
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
    // GET redirects to the interaction page. POST redirects to GET.
    expect([await authorize(mounted, 'GET'), await authorize(mounted, 'POST')]).toEqual([
      [303, `${mounted.prefix}/oauth/interaction/...`, null],
      [303, `${mounted.prefix}/oauth/authorize`, expect.any(String)],
    ]);
    // RFC 9700 section 4.11.2: before the user has signed in and decided, show errors here instead of redirecting.
    const wrong: readonly Readonly<Record<string, string | undefined>>[] = [
      { code_challenge_method: 'plain' },
      { code_challenge: undefined },
      { response_type: 'token' },
      { resource: 'https://other.example/mcp' },
      { redirect_uri: 'https://evil.example/callback' },
      { client_id: 'nobody' },
    ];
    const answers = [];
    for (const fields of wrong) answers.push((await authorize(mounted, 'GET', fields))[0]);
    expect([answers, (await seen('DELETE', `${mounted.origin}${mounted.prefix}/oauth/authorize`))[1]]).toEqual([
      wrong.map(() => 400),
      405,
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
    const issuer = `${mounted.origin}${mounted.prefix}`;
    const registered = await register(issuer, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const session = await connect(registered, account, { redirectUri, resource: mounted.mcpUrl });
    const exchange = async (given: Record<string, string>) => {
      const body = new URLSearchParams({ client_id: registered.client.client_id, ...given });
      const response = await fetch(url, { method: 'POST', body });
      return [response.status, ((await response.json()) as { error?: string }).error];
    };
    const { token_type, expires_in, refresh_token } = session.tokens;
    expect([token_type.toLowerCase(), expires_in, typeof refresh_token]).toEqual(['bearer', 900, 'string']);
    expect([
      await exchange({ grant_type: 'refresh_token', refresh_token: `${refresh_token}` }),
      await exchange({ grant_type: 'refresh_token', refresh_token: 'none' }),
      await exchange({ grant_type: 'password', username: account.email, password: account.password }),
      // A code can be used once. A second use revokes its tokens.
      await exchange({
        grant_type: 'authorization_code',
        code: `${session.code.parameters.get('code')}`,
        redirect_uri: redirectUri,
        code_verifier: session.code.verifier,
      }),
      [(await ask(mounted.mcpUrl, session.tokens.access_token, 'tools/list', {})).status],
    ]).toEqual([
      [200, undefined],
      [400, 'invalid_grant'],
      [400, 'unsupported_grant_type'],
      [400, 'invalid_grant'],
      [401],
    ]);
  });

  test(`/.well-known/oauth-authorization-server${shown} | GET | authorization server metadata`, async () => {
    const { origin, prefix } = await at(place)();
    expect(await metadata(`${origin}/.well-known/oauth-authorization-server${prefix}`)).toMatchObject({
      issuer: `${origin}${prefix}`,
      authorization_endpoint: `${origin}${prefix}/oauth/authorize`,
      token_endpoint: `${origin}${prefix}/oauth/token`,
      registration_endpoint: `${origin}${prefix}/oauth/register`,
      revocation_endpoint: `${origin}${prefix}/oauth/revoke`,
      response_types_supported: ['code'],
      grant_types_supported: expect.arrayContaining(['authorization_code', 'refresh_token']),
      code_challenge_methods_supported: ['S256'],
      scopes_supported: expect.arrayContaining(['mcp:read', 'mcp:write', 'mcp:action', 'offline_access']),
      authorization_response_iss_parameter_supported: true,
    });
    expect((await seen('GET', `${origin}/.well-known/oauth-authorization-server${prefix || '/other'}/more`))[1]).toBe(
      404,
    );
  });

  test(`/.well-known/oauth-protected-resource${shown}/mcp | GET | protected resource metadata`, async () => {
    const { origin, prefix, mcpUrl } = await at(place)();
    expect(await metadata(`${origin}/.well-known/oauth-protected-resource${prefix}/mcp`)).toMatchObject({
      resource: mcpUrl,
      authorization_servers: [`${origin}${prefix}`],
      scopes_supported: ['mcp:read', 'mcp:write', 'mcp:action'],
      bearer_methods_supported: ['header'],
    });
  });
});

const call = { name: 'list', arguments: { collectionName: 'orders', fields: ['id'], pagination: { size: 1 } } };

type Conversation = {
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: typeof call): Promise<unknown>;
  close(): Promise<void>;
};

/** Signs in on the pages when the SDK asks for it, and connects again. */
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
      ['of the previous SDK', connectFormer],
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
      ['of the previous SDK', connectFormer],
    ])('a URL with restrictions uses the same sign-in: the client %s', async (_which, connectTo) => {
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
      (await seen('GET', `${mounted.origin}/mcp/oauth/token`))[1],
      (await metadata(`${mounted.origin}/.well-known/oauth-authorization-server/mcp`)).issuer,
      (await metadata(`${mounted.origin}/.well-known/oauth-protected-resource/mcp/mcp`)).resource,
    ]).toEqual([
      `${mounted.origin}/mcp/mcp`,
      { json: expect.objectContaining({ columns: ['id'] }) },
      ...[404, 405, `${mounted.origin}/mcp`, `${mounted.origin}/mcp/mcp`],
    ]);
  });

  test('capture: without basePath all of /oauth/*, /.well-known/* and /mcp belong to Portico, with it the host keeps its own', async () => {
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

  test('prefix: a basePath may lack slashes at its ends or have several, and has letters, digits, - and _', async () => {
    const begin = async (basePath: string) => {
      const { agent } = shopAgent();
      const started = () => agent.mountAiMcpServer({ basePath }).mountOnStandaloneServer(0).start();
      let path = '';
      const message = await messageOf(async () => {
        path = new URL((await started()).server!.mcpUrl).pathname;
      });
      return path || message.replace(/ \(.*/, '');
    };
    const refused = (basePath: string) =>
      `basePath: expected segments of letters, digits, '-' and '_', got '${basePath}'.`;
    const seen = [];
    for (const basePath of ['/ai', 'ai', 'ai/', '//a//b-1_/', '/mcp', '/a b', '/a.b', '/é', '/a?b'])
      seen.push(await begin(basePath));
    expect(seen).toEqual([
      ...['/ai/mcp', '/ai/mcp', '/ai/mcp', '/a/b-1_/mcp', '/mcp/mcp'],
      ...['/a b', '/a.b', '/é', '/a?b'].map(refused),
    ]);
  });

  test('enabledTools: the list is exact, and other tools cannot be called', async () => {
    const mounted = await at('at the root')({ mcp: { enabledTools: ['list', 'describeCollection'] } });
    const token = await tokenOf(mounted);
    const { text } = await ask(mounted.mcpUrl, token, 'tools/list', {});
    expect([
      JSON.parse(text).result.tools.map(({ name }: { name: string }) => name),
      await callTool(mounted.mcpUrl, token, 'listRelated', {}),
    ]).toEqual([['describeCollection', 'list'], { error: expect.stringMatching(/-32602 .*listRelated/) }]);
  });

  test('enabledTools: an unknown name ends the start with near names, and so does an empty list', async () => {
    const begin = (enabledTools: unknown) =>
      messageOf(() => {
        const { agent } = shopAgent();
        return agent
          .mountAiMcpServer({ enabledTools } as never)
          .mountOnStandaloneServer(0)
          .start();
      });
    expect([await begin(['lst', 'list']), await begin([]), await begin('list')]).toEqual([
      expect.stringMatching(/no tool 'lst'.*list/),
      expect.stringMatching(/enabledTools/),
      expect.stringMatching(/enabledTools/),
    ]);
  });
});
