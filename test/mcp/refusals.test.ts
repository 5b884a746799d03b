import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { answerOf, legacy, type McpTestServer, modern, openMcpServer, post } from './mcp-server.ts';

let server: McpTestServer;
beforeAll(async () => {
  server = await openMcpServer({
    settings: { allowedOrigins: ['https://app.example.test'], allowedHosts: ['data.example.test'] },
  });
});
afterAll(() => server.close());

interface Raw {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
}

/** fetch does not allow a custom Host or Origin. */
function raw(method: string, headers: Record<string, string>, path = '/mcp', body = ''): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port: server.port, method, path, headers, agent: false }, (res) => {
      let text = '';
      res.on('data', (chunk) => (text += chunk));
      res.on('end', () =>
        resolve({ status: res.statusCode!, headers: res.headers, body: text ? JSON.parse(text) : undefined }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const bearer = { ...json, authorization: 'Bearer user-2' };
const list = JSON.stringify(legacy('tools/list'));
const refusal = (code: string, message: string, rpcCode = -32000) => ({
  jsonrpc: '2.0',
  error: { code: rpcCode, message, data: { code } },
  id: null,
});

describe('Host and Origin', () => {
  test('an unknown Host gets 403 before the token is checked', async () => {
    const before = server.asked.length;
    const answer = await raw('POST', { ...bearer, host: 'evil.example' }, '/mcp', list);
    expect([server.asked.length - before, server.observations.at(-1)]).toEqual([
      0,
      { type: 'security', event: 'mcp.refused', address: '127.0.0.1', detail: 'HOST_NOT_ALLOWED' },
    ]);
    expect([answer.status, answer.body]).toEqual([
      403,
      refusal('HOST_NOT_ALLOWED', 'This Host is not allowed. Set SERVICE_ALLOWED_HOSTS to add it.'),
    ]);
  });

  test.each([
    'localhost:1',
    '127.0.0.1',
    '[::1]:80',
    'data.example.test',
    'DATA.example.test:443',
    'data.example.test.',
  ])('Host %s is served', async (host) => {
    expect((await raw('POST', { ...bearer, host }, '/mcp', list)).status).toBe(200);
  });

  test.each(['evil.example', 'localhost.evil.example', 'localhost@evil.example', '127.0.0.1.evil.example:80'])(
    'Host %j is refused',
    async (host) => {
      expect((await raw('POST', { ...bearer, host }, '/mcp', list)).status).toBe(403);
    },
  );

  test.each(['https://evil.example', 'null', 'https://app.example.test.evil.example', 'http://app.example.test'])(
    'Origin %s gets 403 and no CORS header',
    async (origin) => {
      const answer = await raw('POST', { ...bearer, origin }, '/mcp', list);
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    },
  );

  test('an allowed Origin is named in the CORS header, without credentials, and can read the challenge', async () => {
    const answer = await raw('POST', { ...bearer, origin: 'https://app.example.test' }, '/mcp', list);
    expect([
      answer.status,
      answer.headers['access-control-allow-origin'],
      answer.headers['access-control-allow-credentials'],
      answer.headers['access-control-expose-headers'],
      answer.headers.vary,
    ]).toEqual([200, 'https://app.example.test', undefined, 'WWW-Authenticate, Mcp-Session-Id, Retry-After', 'Origin']);
  });

  test('a preflight of an allowed Origin allows POST with the headers of MCP and no others', async () => {
    const answer = await raw('OPTIONS', {
      origin: 'https://app.example.test',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, dpop, mcp-method, mcp-param-x, x-evil',
    });
    expect([
      answer.status,
      answer.headers['access-control-allow-methods'],
      answer.headers['access-control-allow-headers'],
    ]).toEqual([204, 'POST, OPTIONS', 'authorization, dpop, mcp-method, mcp-param-x']);
  });
});

// CWE-525, CWE-430: a response holds one caller's data, and no browser may cache it or interpret it as anything but
// JSON.
test.each([
  ['a call', legacy('tools/call', { name: 'describeCollection', arguments: {} })],
  ['a list', legacy('tools/list')],
  ['a request of the official handler', legacy('ping')],
])('the answer to %s forbids caching and MIME sniffing', async (_, body) => {
  const call = { method: 'POST', headers: bearer, body: JSON.stringify(body) };
  const { headers } = await fetch(`http://127.0.0.1:${server.port}/mcp`, call);
  expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
});

describe('method and URL', () => {
  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'HEAD'])('%s returns 405 with the allowed methods', async (method) => {
    const answer = await raw(method, bearer);
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  });

  test.each(['access_token=user-2', 'token=user-2', 'Access_Token=x'])(
    'a token in the query (%s) returns 401 with a challenge, even with a valid header, and is not looked up',
    async (query) => {
      const before = server.asked.length;
      const answer = await raw('POST', bearer, `/mcp?${query}`, list);
      const challenged = String(answer.headers['www-authenticate']).startsWith('Bearer ');
      expect([answer.status, challenged, server.asked.length - before]).toEqual([401, true, 0]);
    },
  );

  test('an unknown query parameter returns 400 with its name', async () => {
    const answer = await raw('POST', bearer, '/mcp?verbose=1', list);
    expect([answer.status, answer.body]).toEqual([
      400,
      refusal('INVALID_ARGUMENT', 'verbose: unknown query parameter; remove it.'),
    ]);
  });
});

describe('token and OAuth scope', () => {
  test('a call without a token gets 401 with a challenge without an error, as RFC 6750 section 3 requires', async () => {
    const answer = await raw('POST', json, '/mcp', list);
    expect([answer.status, answer.headers['www-authenticate'], answer.body]).toEqual([
      401,
      'Bearer scope="mcp:read", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource/mcp"',
      { error: 'invalid_token', error_description: 'There is no usable token.' },
    ]);
  });

  test.each(['Bearer nobody', 'Basic dXNlci0y', 'Bearer', 'bearer  user-2'])(
    'an invalid token (%s) gets 401 invalid_token',
    async (authorization) => {
      const answer = await raw('POST', { ...json, authorization }, '/mcp', list);
      expect([answer.status, String(answer.headers['www-authenticate']).slice(0, 28)]).toEqual([
        401,
        'Bearer error="invalid_token"',
      ]);
    },
  );

  test('a token without the scope of the tool gets 403 with the required scopes, and the attempt is logged', async () => {
    const call = modern('tools/call', { name: 'list', arguments: { collectionName: 'notes' } });
    const answer = await post(server, call.body, { ...call.headers, authorization: 'Bearer writer-9' });
    expect([answer.status, answer.headers.get('www-authenticate'), answer.body]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="mcp:read mcp:write"',
      {
        error: 'insufficient_scope',
        error_description: "'list' needs the OAuth scope mcp:read. Sign in again and allow it.",
      },
    ]);
    const { startedAt: _, ...entry } = server.activity.at(-1)!;
    expect(entry).toEqual({
      userId: 9,
      renderingId: 1,
      clientId: 'client-9',
      clientName: 'Test client',
      action: 'list',
      type: 'read',
      outcome: 'denied',
      code: 'INSUFFICIENT_SCOPE',
      durationMs: 0,
    });
  });

  test('one call without the scope refuses a whole batch', async () => {
    const batch = [legacy('ping'), legacy('tools/call', { name: 'list', arguments: { collectionName: 'notes' } }, 2)];
    expect((await post(server, batch, { authorization: 'Bearer writer-9' })).status).toBe(403);
  });

  test('a token without the scope does not see the tools that need it', async () => {
    const answer = await post(server, legacy('tools/list'), { authorization: 'Bearer writer-9' });
    const { tools } = (answer.body as { result: { tools: { annotations: { readOnlyHint: boolean } }[] } }).result;
    expect(tools.filter((tool) => tool.annotations.readOnlyHint)).toEqual([]);
  });
});

describe('body', () => {
  test.each(['text/plain', 'application/x-www-form-urlencoded', undefined])(
    'Content-Type %s returns 415',
    async (type) => {
      const { 'content-type': _, ...rest } = bearer;
      const answer = await raw('POST', type ? { ...rest, 'content-type': type } : rest, '/mcp', list);
      expect([answer.status, answer.body]).toEqual([
        415,
        refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json.'),
      ]);
    },
  );

  test('application/json with a charset is accepted', async () => {
    const headers = { ...bearer, 'content-type': 'application/json; charset=utf-8' };
    expect((await raw('POST', headers, '/mcp', list)).status).toBe(200);
  });

  test.each([
    ['nothing', '', 'it is empty.'],
    ['a truncated body', '{"jsonrpc":"2.0",', 'it does not parse.'],
    ['not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'it is not UTF-8.'],
    ['10,000 levels of lists', '['.repeat(10_000) + ']'.repeat(10_000), 'it is nested deeper than 64 levels.'],
    ['10,000 levels unclosed', '{"a":'.repeat(10_000), 'it is nested deeper than 64 levels.'],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'it is nested deeper than 64 levels.'],
  ])('%s returns 400', async (_name, body, problem) => {
    const answer = await post(server, body);
    expect([answer.status, answer.body]).toEqual([
      400,
      refusal('MALFORMED_JSON', `The request body is not usable JSON: ${problem}`, -32700),
    ]);
  });

  test('brackets within strings do not count as depth', async () => {
    const search = `"\\"${'[{'.repeat(500)}`;
    const call = legacy('tools/call', { name: 'list', arguments: { collectionName: 'notes', search } });
    expect((await post(server, call)).status).toBe(200);
  });

  test('arguments as a JSON string have the depth limit of the body', async () => {
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const whole = await post(server, legacy('tools/call', { name: 'list', arguments: deep }));
    const one = await post(
      server,
      legacy('tools/call', { name: 'list', arguments: { collectionName: 'notes', filters: '['.repeat(50_000) } }),
    );
    expect([whole.status, one.status, String(answerOf(one.body)).slice(0, 25)]).toEqual([
      200,
      200,
      'INVALID_ARGUMENT: filters',
    ]);
    expect(String(whole.body)).toContain('"code":-32602');
  });

  test('5 MB get 413, with or without a length, the client receives the answer, and the server continues', async () => {
    const big = Buffer.alloc(5_000_000, 'a');
    const announced = await post(server, big);
    const chunked = await fetch(server.url, {
      method: 'POST',
      headers: bearer,
      body: new Blob([big]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect([announced.status, chunked.status, (await post(server, legacy('ping'))).status]).toEqual([413, 413, 200]);
  });

  test('after a refusal the connection serves the next call', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const once = (authorization: string): Promise<[number, Socket]> =>
      new Promise((resolve, reject) => {
        const headers = { ...json, authorization };
        const outgoing = request({
          host: '127.0.0.1',
          port: server.port,
          method: 'POST',
          path: '/mcp',
          headers,
          agent,
        });
        outgoing.on('error', reject).on('response', (res) => {
          const { socket } = res;
          res.resume().on('end', () => resolve([res.statusCode!, socket]));
        });
        outgoing.end(list);
      });
    const [refused, first] = await once('Bearer nobody');
    const [served, second] = await once('Bearer user-2');
    agent.destroy();
    expect([refused, served, first === second]).toEqual([401, 200, true]);
  });

  test('5 MB without a token get 401', async () => {
    expect((await post(server, Buffer.alloc(5_000_000, 'a'), { authorization: undefined })).status).toBe(401);
  });

  test('a client that disconnects during its body causes no failure', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, '127.0.0.1', () => {
        const head = Object.entries({ host: '127.0.0.1', ...bearer, 'content-length': '1000' });
        socket.write(`POST /mcp HTTP/1.1\r\n${head.map(([k, v]) => `${k}: ${v}`).join('\r\n')}\r\n\r\n{"jsonrpc"`, () =>
          socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
    const failures = server.observations.filter((observation) => observation.type === 'failure');
    expect([(await post(server, legacy('ping'))).status, failures]).toEqual([200, []]);
  });
});

describe('protocol', () => {
  test('an unknown tool is an invalid params error with near names, in both eras', async () => {
    const params = { name: 'describeColection', arguments: {} };
    const { body, headers } = modern('tools/call', params, 'x');
    const error = { code: -32602, message: "No tool 'describeColection'. Near: describeCollection." };
    const answers = [await post(server, body, headers), await post(server, legacy('tools/call', params, 'x'))];
    expect(answers.map((answer) => answer.body)).toEqual([
      { jsonrpc: '2.0', id: 'x', error },
      { jsonrpc: '2.0', id: 'x', error },
    ]);
  });

  test('a session id that is left over has no effect on a call of the current revision; an earlier one gets 404', async () => {
    const lasting = await openMcpServer({ legacySessions: 'auto' });
    onTestFinished(() => lasting.close());
    const params = { name: 'list', arguments: { collectionName: 'notes' } };
    const session = { 'mcp-session-id': 'of-an-earlier-connection' };
    const { body, headers } = modern('tools/call', params, 'x');
    const list = modern('tools/list', {}, 'x');
    const statuses = [
      await post(lasting, body, { ...headers, ...session }),
      await post(lasting, list.body, { ...list.headers, ...session }),
      await post(lasting, legacy('tools/call', params, 'x'), session),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 404]);
  });

  test.each([
    ['a header that names another tool', { 'mcp-name': 'describeCollection' }, 400, -32020],
    ['no Mcp-Method', { 'mcp-method': undefined }, 400, -32020],
    ['an unknown revision', { 'mcp-protocol-version': '2099-01-01' }, 400, -32020],
  ])('%s is refused by the SDK', async (_name, headers, status, code) => {
    const call = modern('tools/call', { name: 'list', arguments: { collectionName: 'notes' } });
    const answer = await post(server, call.body, { ...call.headers, ...headers });
    expect([answer.status, (answer.body as { error: { code: number } }).error.code]).toEqual([status, code]);
  });

  test.each([
    ['a name of another type', { name: 5, version: '1' }],
    ['no version', { name: 'test' }],
    ['a text', 'test'],
  ])('client information with %s is refused by the SDK', async (_what, info) => {
    const call = modern('tools/call', {
      ...{ name: 'list', arguments: { collectionName: 'notes' } },
      _meta: { 'io.modelcontextprotocol/clientInfo': info },
    });
    const { status, body } = await post(server, call.body, call.headers);
    expect([status, (body as { error?: { code: number } }).error?.code]).toEqual([400, -32602]);
  });

  test('an unknown protocol version is refused, also for a request of the earlier form', async () => {
    const call = { name: 'list', arguments: { collectionName: 'notes' } };
    const statuses = [];
    for (const version of ['2025-06-18', '2025-03-26', '2024-13-01', '1.0', 'latest'])
      statuses.push(
        (await post(server, legacy('tools/call', call), { ...bearer, 'mcp-protocol-version': version })).status,
      );
    expect(statuses).toEqual([200, 200, 400, 400, 400]);
  });

  test.each([[undefined], ['*/*'], ['application/json, text/event-stream']])(
    'Accept %s is served to clients of earlier revisions',
    async (accept) => {
      const headers = accept === undefined ? bearer : { ...bearer, accept };
      if (accept === undefined) Reflect.deleteProperty(headers, 'accept');
      expect((await raw('POST', { ...headers }, '/mcp', list)).status).toBe(200);
    },
  );

  test('Accept of only JSON returns 406 there, as the revision requires', async () => {
    expect((await raw('POST', { ...bearer, accept: 'application/json' }, '/mcp', list)).status).toBe(406);
  });
});
