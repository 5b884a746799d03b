// The protocol endpoint (behaviour 4.4) at the root and under a basePath: each refusal and each answer with its headers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestOf } from '../app/call.ts';
import { openShop, type Shop, signedIn } from '../app/shop.ts';

const places: Record<string, { readonly shop: Shop; readonly token: string }> = {};
beforeAll(async () => {
  for (const [on, basePath] of [
    ['root', ''],
    ['base', '/data'],
  ] as const) {
    const shop = await openShop({ env: { SERVICE_MCP_BASE_PATH: basePath, SERVICE_ALLOWED_ORIGINS: 'https://front.example' } }); // biome-ignore format: short
    places[on] = { shop, token: (await signedIn(shop)).token };
  }
});
afterAll(async () => {
  for (const { shop } of Object.values(places)) await shop.stop();
});

type Sent = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string; readonly token?: string | null; readonly query?: string }; // biome-ignore format: short
const listed = requestOf('tools/list', {});
async function send(on: string, { method = 'POST', headers = {}, body = listed.body, token, query = '' }: Sent) {
  const place = places[on]!;
  const authorization = token === null ? {} : { authorization: `Bearer ${token ?? place.token}` };
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
  const response = await fetch(`${place.shop.mcpUrl}${query}`, { method, headers: { ...listed.headers, ...authorization, ...headers }, ...(hasBody && { body }) }); // biome-ignore format: short
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const type = (value: string): Sent => ({ headers: { 'content-type': value } });
const origin = (value: string): Sent => ({ headers: { origin: value } });
const call = (name: string, given: object) => requestOf('tools/call', { name, arguments: given });
const cases: readonly (readonly [about: string, sent: Sent, status: number])[] = [
  ['tools/list', {}, 200],
  ['a call', { body: call('list', { collectionName: 'orders', pagination: { size: 1 } }).body }, 200],
  ['a refused call', { body: call('list', { collectionName: 'nowhere' }).body }, 200],
  ['Application/JSON', type('Application/JSON'), 200],
  ['application/json ; charset=utf-8', type('application/json ; charset=utf-8'), 200],
  ['application/jsonx', type('application/jsonx'), 415],
  ['application/json-seq', type('application/json-seq'), 415],
  ['text/plain', type('text/plain'), 415],
  ['no token', { token: null }, 401],
  ['an empty token', { token: '' }, 401],
  ['a wrong token', { token: 'x'.repeat(43) }, 401],
  ['a token in the query', { query: '?access_token=x' }, 401],
  ['GET', { method: 'GET' }, 405],
  ['HEAD', { method: 'HEAD' }, 405],
  ['PUT', { method: 'PUT' }, 405],
  ['PATCH', { method: 'PATCH' }, 405],
  ['DELETE', { method: 'DELETE' }, 405],
  ['a listed origin', origin('https://front.example'), 200],
  ['another origin', origin('https://stranger.example'), 403],
  ['the origin null', origin('null'), 403],
  ['a listed origin in another scheme', origin('http://front.example'), 403],
  ['no JSON', { body: '{' }, 400],
  ['an empty body', { body: '' }, 400],
  ['a number', { body: '5' }, 400],
  ['readonly', { query: '?readonly=true' }, 200],
  ['readonly in words', { query: '?readonly=maybe' }, 400],
  ['collections', { query: '?collections=orders,customers' }, 200],
  ['an unknown parameter', { query: '?x=1' }, 400],
  ['a body over the limit', { body: `{"x":"${'x'.repeat(5_000_000)}"}` }, 413],
]; // biome-ignore format: a table

describe.each([
  ['4.4 at host root', '', 'root'],
  ['4.4 with basePath', '<prefix>', 'base'],
])('%s', (_section, shown, on) => {
  test.each(cases)(`${shown}/mcp: %s: with its headers, not stored, not sniffed`, async (_about, sent, status) => {
    const { headers, text, ...answer } = await send(on, sent);
    const { issuerOrigin, prefix } = { issuerOrigin: new URL(places[on]!.shop.mcpUrl).origin, prefix: on === 'base' ? '/data' : '' }; // biome-ignore format: short
    expect([answer.status, headers.get('cache-control'), headers.get('x-content-type-options'), headers.get('content-type')?.split(';')[0]]).toEqual([status, 'no-store', 'nosniff', 'application/json']); // biome-ignore format: short
    expect(headers.get('allow')).toBe(status === 405 ? 'POST' : null);
    const isListed = sent.headers?.origin === 'https://front.example';
    expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials')]).toEqual([isListed ? 'https://front.example' : null, null]); // biome-ignore format: short
    const challenge = headers.get('www-authenticate');
    if (status !== 401) expect(challenge).toBe(null);
    else {
      expect(challenge).toContain(
        `resource_metadata="${issuerOrigin}/.well-known/oauth-protected-resource${prefix}/mcp"`,
      );
      expect(challenge?.includes('error="invalid_token"')).toBe(sent.token !== null);
    }
    if (status >= 400 && sent.method !== 'HEAD') {
      const { error, jsonrpc } = JSON.parse(text);
      expect([jsonrpc, typeof error]).toEqual(status === 401 ? [undefined, 'string'] : ['2.0', 'object']);
    }
  });

  test(`${shown}/mcp: a preflight of a listed origin names POST and the headers of the protocol; of another none`, async () => {
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization, Content-Type,mcp-protocol-version,x-other',
    };
    const [listed, other, none] = [await send(on, { method: 'OPTIONS', token: null, headers: { ...asked, origin: 'https://front.example' } }), await send(on, { method: 'OPTIONS', token: null, headers: { ...asked, origin: 'https://stranger.example' } }), await send(on, { method: 'OPTIONS', token: null })]; // biome-ignore format: short
    expect([listed.status, other.status, none.status]).toEqual([204, 403, 204]);
    expect(listed.headers.get('access-control-allow-methods')?.split(', ')).toContain('POST');
    expect(listed.headers.get('access-control-allow-headers')?.toLowerCase().split(', ')).toEqual(['authorization', 'content-type', 'mcp-protocol-version']); // biome-ignore format: short
    expect([other.headers.get('access-control-allow-methods'), none.headers.get('access-control-allow-origin'), listed.headers.get('vary')]).toEqual([null, null, 'Origin']); // biome-ignore format: short
  });

  test(`${shown}/mcp: one slash after it is allowed; a path below it, beside it or in another case is not the endpoint`, async () => {
    const statuses = [];
    for (const end of ['mcp', 'mcp/', 'mcp?readonly=true', 'mcp/?readonly=true', 'mcp//', 'mcp/x', 'mcp/mcp', 'mcpx', 'MCP', 'Mcp/']) {
      const url = places[on]!.shop.mcpUrl.replace(/mcp$/, end);
      const headers = { ...listed.headers, authorization: `Bearer ${places[on]!.token}` };
      statuses.push([end, (await fetch(url, { method: 'POST', headers, body: listed.body })).status]);
    }
    expect(statuses.filter(([, status]) => status === 200).map(([end]) => end)).toEqual(['mcp', 'mcp/', 'mcp?readonly=true', 'mcp/?readonly=true']);
    expect(statuses.slice(4).map(([, status]) => status)).toEqual(Array(6).fill(404));
  }); // biome-ignore format: short
});
