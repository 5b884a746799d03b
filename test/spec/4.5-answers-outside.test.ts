// The answers of the data routes (behaviour 4.5): statuses, headers, notations of filters, and files.
import { describe, expect, test } from 'vitest';
import { frontOrigin } from '../rest/front-end.ts';
import { serveOutside } from './outside.ts';

const tables = [
  'CREATE TABLE shops (id INTEGER PRIMARY KEY, label VARCHAR(40) NOT NULL, stock INTEGER, open BOOLEAN)',
  `INSERT INTO shops VALUES (1, 'Boots', 10, 1), (2, 'Hats, "big"', NULL, 0), (3, '=Sum', 0, NULL), (4, 'two
lines', -5, 1)`,
  'CREATE TABLE shelves (id INTEGER PRIMARY KEY, shop_id INTEGER REFERENCES shops(id), place VARCHAR(9))',
  "INSERT INTO shelves VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, NULL)",
];
const place = serveOutside(tables);

const ids = async (filters: unknown) => {
  const text = typeof filters === 'string' ? filters : JSON.stringify(filters);
  const { status, body } = await place.get(`/shops?fields[shops]=id&sort=id&filters=${encodeURIComponent(text)}`);
  return status === 200 ? body.data.map(({ id }: { id: string }) => Number(id)) : [status, body.errors[0].detail];
};

describe('collections', () => {
  test.each([
    ['/shops', 200],
    ['/shops/1', 200],
    ['/shops/count', 200],
    ['/shops/1/relationships/shelves', 200],
    ['/shops/1/relationships/shelves/count', 200],
    ['/shops/99', 404],
    ['/nowhere', 404],
    ['/shops?page[size]=0', 400],
    ['/shops/1/nowhere', 404],
  ])('collections: GET and HEAD %s return %i in JSON, not stored and not sniffed, each with its own id', async (path, status) => {
    const headers = { authorization: place.session };
    const [got, again, head] = [await place.send(path, { headers }), await place.send(path, { headers }), await place.send(path, { headers, method: 'HEAD' })]; // biome-ignore format: short
    for (const answer of [got, again, head]) {
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control'), answer.headers.get('x-content-type-options')]).toEqual([status, 'application/json', 'no-store', 'nosniff']); // biome-ignore format: short
      expect(answer.headers.get('x-service-correlation-id')).toMatch(/^[\w-]{16,}$/);
      expect(answer.headers.get('access-control-allow-origin')).toBe(null);
    }
    expect(new Set([got, again, head].map(({ headers }) => headers.get('x-service-correlation-id'))).size).toBe(3);
    expect(Number(head.headers.get('content-length'))).toBe(Number(got.headers.get('content-length')));
    if (status >= 400)
      expect(got.body.errors).toEqual([
        { name: status === 404 ? 'NotFoundError' : 'BadRequestError', detail: expect.any(String), status, code: expect.stringMatching(/^[A-Z_]+$/), ...(got.body.errors[0].data && { data: expect.anything() }) },
      ]); // biome-ignore format: short
  }); // biome-ignore format: short

  test.each([
    ['PUT', '/shops', 'GET, HEAD, POST, DELETE'],
    ['PATCH', '/shops', 'GET, HEAD, POST, DELETE'],
    ['POST', '/shops/1', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['POST', '/shops/count', 'GET, HEAD'],
    ['GET', '/_internal/capabilities', 'POST'],
    ['POST', '/shops/1/relationships/shelves/count', 'GET, HEAD'],
  ])('collections: %s %s returns 405 with the allowed methods', async (method, path, allow) => {
    const { status, headers, body } = await place.post(path, method === 'GET' ? undefined : {}, method);
    const allowed = `${headers.get('allow')}`.split(', ').sort();
    expect([status, body.errors[0].name, body.errors[0].code]).toEqual([405, 'MethodNotAllowedError', 'METHOD_NOT_ALLOWED']);
    expect(allowed.filter((one) => allow.split(', ').includes(one))).toEqual(allow.split(', ').sort());
    expect(allowed).not.toContain(method);
  }); // biome-ignore format: short

  test('collections: without a session 401 with a challenge, for every path and method; with a wrong one the challenge has an error', async () => {
    for (const path of ['/shops', '/nowhere', '/shops/1/nowhere', '/_internal/capabilities'])
      for (const method of ['GET', 'POST', 'DELETE', 'PUT'])
        for (const authorization of [undefined, 'Bearer x', 'Basic eDp5', place.session.replace('Bearer ', ''), `${place.session}x`]) {
          const { status, headers, body } = await place.send(path, { method, headers: authorization === undefined ? {} : { authorization } });
          expect([path, method, status, body.errors[0].name]).toEqual([path, method, 401, 'UnauthorizedError']);
          expect(headers.get('www-authenticate')).toMatch(authorization === undefined ? /^Bearer realm="[^"]+"$/ : /^Bearer realm="[^"]+", error="invalid_token"/);
        }
    expect((await place.send('/shops', { headers: { authorization: place.session.replace('Bearer', 'bearer') } })).status).toBe(200);
  }); // biome-ignore format: short

  test('collections: scripts of the front end may read answers and send its headers, those of another origin nothing', async () => {
    const headers = { authorization: place.session, origin: frontOrigin };
    const got = await place.send('/shops', { headers });
    const refused = await place.send('/shops?page[size]=0', { headers });
    for (const { headers } of [got, refused])
      expect([headers.get('access-control-allow-origin'), headers.get('access-control-allow-credentials'), headers.get('vary'), headers.get('access-control-expose-headers')]).toEqual([
        frontOrigin, 'true', 'Origin', 'X-Service-Correlation-Id, WWW-Authenticate, Retry-After, Content-Disposition',
      ]);
    const preflight = await place.send('/shops', {
      method: 'OPTIONS',
      headers: { origin: frontOrigin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'Authorization, content-type,Service-Projection, x-other', 'access-control-request-private-network': 'true' },
    });
    expect([preflight.status, ...['methods', 'headers', 'private-network'].map((name) => preflight.headers.get(`access-control-allow-${name}`)), preflight.headers.get('access-control-max-age')]).toEqual([
      204, 'GET, POST, PUT, PATCH, DELETE', 'authorization, content-type, service-projection', 'true', '86400',
    ]);
    const other = await place.send('/shops', { headers: { ...headers, origin: 'https://stranger.example' } });
    expect([other.status, other.body.errors[0].name, other.headers.get('access-control-allow-origin')]).toEqual([403, 'ForbiddenError', null]);
  }); // biome-ignore format: short

  const leaf = (operator: string, value?: unknown, field = 'stock') => ({
    field,
    operator,
    ...(value !== undefined && { value }),
  });
  const filters: readonly (readonly [filter: unknown, found: unknown])[] = [
    ...['greater_than', 'GreaterThan', 'greater than', 'greater-than', 'GREATER_THAN', 'greaterthan'].map((operator) => [leaf(operator, -1), [1, 3]] as const),
    ...['and', 'And', 'AND'].map((aggregator) => [{ aggregator, conditions: [leaf('present'), leaf('less_than', 1)] }, [3, 4]] as const),
    ...['or', 'Or'].map((aggregator) => [{ aggregator, conditions: [leaf('equal', 10), leaf('blank')] }, [1, 2]] as const),
    [{ aggregator: 'and', conditions: [] }, [1, 2, 3, 4]],
    ['null', [1, 2, 3, 4]],
    [leaf('in', '10, 0'), [1, 3]],
    [leaf('in', [10, 0]), [1, 3]],
    [leaf('not_in', '10,0'), [2, 4]],
    [leaf('equal', '10'), [1]],
    [leaf('equal', 0), [3]],
    [leaf('equal', null), [2]],
    [leaf('not_equal', 10), [2, 3, 4]],
    ...['yes', 'YES', true, 'true', 1].map((value) => [leaf('equal', value, 'open'), [1, 4]] as const),
    ...['no', 'No', false].map((value) => [leaf('equal', value, 'open'), [2]] as const),
    [leaf('in', ['yes', 'no'], 'open'), [1, 2, 4]],
    [leaf('equal', 'yes', 'label'), []],
    [leaf('contains', 'HATS', 'label'), []],
    [leaf('i_contains', 'HATS', 'label'), [2]],
    [leaf('starts_with', '=', 'label'), [3]],
    [{ some: 'shelves', where: leaf('equal', 'a', 'place') }, [1]],
    [{ some: 'shelves' }, [1, 2]],
    [{ none: 'shelves' }, [3, 4]],
    [{ every: 'shelves', where: leaf('present', undefined, 'place') }, [1, 3, 4]],
    ...['{', '[]', '"x"', '5', '{}', '{"field":"stock"}', '{"operator":"equal"}', '{"aggregator":"xor","conditions":[]}', '{"aggregator":"and"}', '{"every":"shelves"}', '{"some":5}'].map((text) => [text, [400, expect.any(String)]] as const),
    [leaf('equals', 10), [400, expect.stringContaining('Equal')]],
    ['{"field":"stock","operator":"equal","value":12345678901234567890}', [400, expect.any(String)]],
  ]; // biome-ignore format: a table
  test.each(filters.map(([filter, found]) => [typeof filter === 'string' ? filter : JSON.stringify(filter), found] as const))('collections: the filter %s', async (filter, found) => {
    expect(await ids(filter)).toEqual(found);
  }); // biome-ignore format: short

  const files: readonly (readonly [query: string, lines: readonly string[], name: string])[] = [
    ['fields[shops]=id,label', ['id,label', '1,Boots', '2,"Hats, ""big"""', "3,'=Sum", '4,"two\nlines"'], 'shops.csv'],
    ['fields[shops]=stock,id&filename=a/b"c\\d', ['stock,id', '10,1', ',2', '0,3', '-5,4'], 'a_b_c_d.csv'],
    ['fields[shops]=id&header=["N,o"]&filename=x.csv', ['"N,o"', '1', '2', '3', '4'], 'x.csv'],
    ['fields[shops]=id&header=&filename=', ['id', '1', '2', '3', '4'], 'shops.csv'],
    ['fields[shops]=id&header= No &sort=-id&page[size]=1', ['No', '4', '3', '2', '1'], 'shops.csv'],
    ['fields[shops]=id&segment=&search=boots', ['id', '1'], 'shops.csv'],
  ]; // biome-ignore format: a table
  test.each(files)('collections: the file of %s', async (query, lines, name) => {
    const { status, headers, body } = await place.get(`/shops.csv?${query}`);
    expect([status, headers.get('content-type'), headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual([200, 'text/csv; charset=utf-8; header=present', 'no-store', 'nosniff']);
    expect(body.replace(/^\uFEFF/, '').split('\r\n')).toEqual([...lines, '']);
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${name}"; filename*=UTF-8''${encodeURIComponent(name)}`);
  }); // biome-ignore format: short

  test.each(['header=a,b', 'header=["a"', 'header=[1]', 'columns=[{"name":"n","count":"shelves"}]', 'filenam=x', 'filename=a&filename=b'])('collections: no file for %s', async (query) => {
    const { status, body } = await place.get(`/shops.csv?fields[shops]=id&${query}`);
    expect([status, body.errors[0].name]).toEqual([400, 'BadRequestError']);
  }); // biome-ignore format: short

  test('collections: capabilities of the named collections, of all by default, and none for an empty list', async () => {
    const names = async (body: unknown) => {
      const answer = await place.post('/_internal/capabilities', body);
      return answer.status === 200 ? answer.body.collections.map(({ name }: { name: string }) => name) : answer.status;
    };
    expect([await names({}), await names({ collectionNames: [] }), await names({ collectionNames: ['shelves'] }), await names({ collectionNames: ['nowhere', 'shops'] }), await names({ collectionNames: 'shops' }), await names({ collectionNames: [1] }), await names({ collectionNames: null })]).toEqual([
      ['shelves', 'shops'], [], ['shelves'], ['shops'], 400, 400, 400,
    ]);
    const invalidate = async (renderingId: unknown) => (await place.post('/scope-cache-invalidation', { renderingId })).status;
    expect([await invalidate(1), await invalidate('1'), await invalidate('x'), await invalidate(undefined), await invalidate(-1)]).toEqual([204, 204, 400, 400, 400]);
  }); // biome-ignore format: short
});
