// HTTP on a raw socket, as curl sees it: HEAD requests, preflights, chunked bodies, and clients that stall or hang up.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callTool, requestOf } from './call.ts';
import { openShop, type Shop, signedIn } from './shop.ts';
import { headerLines, openLine, parseAnswer, sendRaw } from './socket.ts';

let shop: Shop;
let token: string;
let host: string;
beforeAll(async () => {
  shop = await openShop({
    env: { SERVICE_ALLOWED_ORIGINS: 'https://assistant.example', SERVICE_REQUEST_SECONDS: '2' },
  });
  ({ token } = await signedIn(shop));
  ({ host } = new URL(shop.mcpUrl));
});
afterAll(() => shop.stop());

const question = { collectionName: 'categories', fields: ['id'], pagination: { size: 2 } };
const call = () => requestOf('tools/call', { name: 'list', arguments: question });
const answered = [200, [[1], [2]]];
const headersFor = (extra: Readonly<Record<string, string>> = {}) => ({
  Host: host,
  Authorization: `Bearer ${token}`,
  ...call().headers,
  Connection: 'close',
  ...extra,
});
const rowsIn = (body: string) => JSON.parse(JSON.parse(body).result.content[0].text).rows;
const goodCall = async () => callTool(shop.mcpUrl, token, 'list', question);

describe('response headers', () => {
  test('have the content type and the cache lifetime for every kind of response', async () => {
    const { origin } = new URL(shop.mcpUrl);
    const { body, headers } = call();
    const authorization = `Bearer ${token}`;
    const look = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(origin + path, init);
      await response.arrayBuffer();
      const names = ['content-type', 'cache-control', 'x-powered-by', 'server'];
      return [path, response.status, ...names.map((name) => response.headers.get(name))];
    };
    expect([
      await look('/mcp', { method: 'POST', body, headers: { ...headers, authorization } }),
      await look('/mcp', { method: 'POST' }),
      await look('/healthz'),
      await look('/readyz'),
      await look('/nothing'),
      await look('/.well-known/oauth-protected-resource/mcp'),
      await look('/oauth/jwks'),
      await look('/oauth/authorize', { headers: { accept: 'text/html' } }),
    ]).toEqual([
      ['/mcp', 200, 'application/json', 'no-store', null, null],
      ['/mcp', 401, 'application/json', 'no-store', null, null],
      ['/healthz', 200, 'application/json', 'no-store', null, null],
      ['/readyz', 200, 'application/json', 'no-store', null, null],
      ['/nothing', 404, 'application/json', 'no-store', null, null],
      ['/.well-known/oauth-protected-resource/mcp', 200, 'application/json', 'public, max-age=300', null, null],
      ['/oauth/jwks', 200, 'application/jwk-set+json; charset=utf-8', 'no-store', null, null],
      ['/oauth/authorize', 400, 'text/html; charset=utf-8', 'no-store', null, null],
    ]);
  });

  test('of HEAD are those of GET, and it has no body', async () => {
    const { origin } = new URL(shop.mcpUrl);
    const head = async (path: string) => {
      const answer = await sendRaw(origin, `HEAD ${path}`, {});
      return [answer.status, answer.headers['content-type'], Number(answer.headers['content-length']) > 0, answer.body];
    };
    expect([
      await head('/.well-known/oauth-authorization-server'),
      await head('/healthz'),
      await head('/mcp'),
      await head('/nothing'),
    ]).toEqual([
      [200, 'application/json', true, ''],
      [200, 'application/json', true, ''],
      [405, 'application/json', true, ''],
      [404, 'application/json', true, ''],
    ]);
  });
});

describe('a browser', () => {
  const preflight = (path: string, origin: string, method = 'POST') =>
    sendRaw(shop.mcpUrl, `OPTIONS ${path}`, {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization,content-type,mcp-protocol-version,mcp-method,x-evil',
    });
  const cors = (headers: Readonly<Record<string, string>>) =>
    ['access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-headers', 'vary'].map(
      (name) => headers[name],
    );

  test('may call /mcp from an allowed Origin, with the headers of the protocol only', async () => {
    const allowed = await preflight('/mcp', 'https://assistant.example');
    const refused = await preflight('/mcp', 'https://evil.example');
    const { body } = call();
    const posted = await sendRaw(
      shop.mcpUrl,
      'POST /mcp',
      headersFor({ Origin: 'https://assistant.example', 'Content-Length': `${body.length}` }),
      body,
    );
    expect([
      [allowed.status, ...cors(allowed.headers), allowed.headers['access-control-allow-credentials']],
      [refused.status, ...cors(refused.headers)],
      [posted.status, posted.headers['access-control-allow-origin'], posted.headers['access-control-expose-headers']],
    ]).toEqual([
      [
        204,
        'https://assistant.example',
        'POST, GET, DELETE, OPTIONS',
        'authorization, content-type, mcp-protocol-version, mcp-method',
        'Origin',
        undefined,
      ],
      [403, undefined, undefined, undefined, 'Origin'],
      [200, 'https://assistant.example', 'WWW-Authenticate, Mcp-Session-Id, Retry-After'],
    ]);
  });

  test('may read metadata and request tokens from any Origin, without credentials', async () => {
    const look = async (path: string) => {
      const { status, headers } = await preflight(path, 'https://any.example');
      return [status, headers['access-control-allow-origin'], headers['access-control-allow-credentials']];
    };
    expect([
      await look('/.well-known/oauth-protected-resource/mcp'),
      await look('/oauth/token'),
      await look('/oauth/register'),
    ]).toEqual(Array(3).fill([204, '*', undefined]));
  });
});

describe('a request', () => {
  test('in chunks that split a character is read as one request', async () => {
    const body = Buffer.from(call().body.replace('"categories"', '"categories","search":"ü"'));
    const cut = body.indexOf(0xbc);
    const line = openLine(shop.mcpUrl);
    line.send(`POST /mcp HTTP/1.1\r\n${headerLines(headersFor({ 'Transfer-Encoding': 'chunked' }))}\r\n`);
    for (const part of [body.subarray(0, cut), body.subarray(cut)]) {
      line.socket.write(`${part.length.toString(16)}\r\n`);
      line.socket.write(part);
      line.socket.write('\r\n');
      await sleep(20);
    }
    line.send('0\r\n\r\n');
    const { status, body: text } = parseAnswer(await line.heard);
    const expected = await shop.ask("SELECT id FROM categories WHERE name LIKE '%ü%' ORDER BY id LIMIT 2");
    expect([status, rowsIn(text)]).toEqual([200, expected.map(({ id }) => [id])]);
  });

  test('with Expect: 100-continue gets 100 before it sends its body', async () => {
    const { body } = call();
    const line = openLine(shop.mcpUrl);
    const headers = headersFor({ Expect: '100-continue', 'Content-Length': `${body.length}` });
    const first = new Promise<string>((resolve) => line.socket.once('data', (text) => resolve(String(text))));
    line.send(`POST /mcp HTTP/1.1\r\n${headerLines(headers)}\r\n`);
    const interim = await first;
    line.send(body);
    const { status, body: text } = parseAnswer(await line.heard);
    expect([interim, status, rowsIn(text)]).toEqual(['HTTP/1.1 100 Continue\r\n\r\n', ...answered]);
  });

  test('with an invalid token is refused before its body is requested', async () => {
    const headers = headersFor({ Expect: '100-continue', 'Content-Length': '900000', Authorization: 'Bearer no' });
    const line = openLine(shop.mcpUrl);
    line.send(`POST /mcp HTTP/1.1\r\n${headerLines(headers)}\r\n`);
    const answer = parseAnswer(await line.heard);
    expect([answer.status, JSON.parse(answer.body).error]).toEqual([401, 'invalid_token']);
  });

  test('with an absolute URL as target, as through a proxy, is served by its path', async () => {
    const { body } = call();
    const headers = headersFor({ 'Content-Length': `${body.length}` });
    const health = await sendRaw(shop.mcpUrl, `GET http://${host}/healthz`, {});
    const posted = await sendRaw(shop.mcpUrl, `POST ${shop.mcpUrl}`, headers, body);
    const document = await sendRaw(shop.mcpUrl, `GET http://${host}/.well-known/oauth-authorization-server`, {});
    const elsewhere = await sendRaw(shop.mcpUrl, 'POST http://evil.example/mcp', headers, body);
    expect([health.status, posted.status, document.status, elsewhere.status]).toEqual([200, 200, 200, 403]);
  });

  test('with a very long URL or very long headers is refused', async () => {
    const long = await sendRaw(shop.mcpUrl, `GET /${'x'.repeat(10_000)}`, {});
    const longer = await sendRaw(shop.mcpUrl, `GET /${'x'.repeat(60_000)}`, {});
    const header = await sendRaw(shop.mcpUrl, 'GET /mcp', { 'X-Long': 'x'.repeat(60_000) });
    expect([long.status, JSON.parse(long.body).error_description.length < 300, longer.status, header.status]).toEqual([
      404,
      true,
      431,
      431,
    ]);
  });

  test('that is not HTTP is refused and the connection closed', async () => {
    const line = openLine(shop.mcpUrl);
    line.send('hello\r\n\r\n');
    expect(parseAnswer(await line.heard).status).toBe(400);
  });

  test.each(['two lengths', 'a length and chunks'])('with %s, as in request smuggling, is refused', async (what) => {
    const line = openLine(shop.mcpUrl);
    const doubled =
      what === 'two lengths'
        ? 'Content-Length: 2\r\nContent-Length: 40'
        : 'Content-Length: 2\r\nTransfer-Encoding: chunked';
    line.send(`POST /mcp HTTP/1.1\r\nHost: ${host}\r\n${doubled}\r\n\r\n{}`);
    expect(parseAnswer(await line.heard).status).toBe(400);
  });
});

describe('a client', () => {
  test('that stalls halfway is disconnected after a time limit, and others are served meanwhile', async () => {
    const lines = Array.from({ length: 20 }, () => {
      const line = openLine(shop.mcpUrl);
      line.send(`POST /mcp HTTP/1.1\r\n${headerLines(headersFor({ 'Content-Length': '500' }))}\r\n{"jsonrpc"`);
      return line;
    });
    let hungUp = 0;
    for (const { heard } of lines) void heard.then(() => hungUp++);
    await sleep(50);
    const meanwhile = await goodCall();
    const before = hungUp;
    const ended = await Promise.all(lines.map(async ({ heard }) => parseAnswer(await heard).status));
    expect([meanwhile, before, ended]).toEqual([
      { json: { columns: ['id'], rows: [[1], [2]], hasMore: true, nextCursor: expect.any(String) } },
      0,
      Array(20).fill(408),
    ]);
  });

  test('that disconnects during its request or the answer causes no failure', async () => {
    const { body } = call();
    for (let i = 0; i < 20; i++) {
      const half = openLine(shop.mcpUrl);
      half.send(`POST /mcp HTTP/1.1\r\n${headerLines(headersFor({ 'Content-Length': '500' }))}\r\n{"json`);
      const whole = openLine(shop.mcpUrl);
      whole.send(`POST /mcp HTTP/1.1\r\n${headerLines(headersFor({ 'Content-Length': `${body.length}` }))}\r\n${body}`);
      await sleep(2);
      half.socket.destroy();
      whole.socket.resetAndDestroy();
    }
    const after = await goodCall();
    const failures = shop.observed.filter(({ type }) => type === 'failure');
    expect(['json' in after, failures]).toEqual([true, []]);
  });
});
