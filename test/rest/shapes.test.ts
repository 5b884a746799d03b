// Whole documents of the agent's HTTP API, with our prefix, compared with recordings of another system (its Appendix
// A); and the errors where that system fails.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRestServer, type RestTestServer } from './rest-server.ts';
import { openStores } from './stores.ts';

let server: RestTestServer;
beforeAll(async () => {
  const engine = await openStores((agent) =>
    agent
      .customizeCollection('stores', (stores) =>
        stores.addSegment('Open', async () => ({ field: 'status', operator: 'Equal', value: 'open' })),
      )
      .customizeCollection('visits', (visits) => visits.disableCount().disableSearch()),
  );
  server = await openRestServer({ engine });
});
afterAll(() => server?.close());

const json = async (path: string, init?: RequestInit): Promise<unknown> => (await server.ask(path, init)).json();
const answer = async (path: string, init?: RequestInit) => {
  const response = await server.ask(path, init);
  return [response.status, await response.json()];
};
const idsOf = async (query: string): Promise<unknown> => {
  const found = await answer(`/stores?fields[stores]=id${query}`);
  const { data } = found[1] as { data?: { id: string }[] };
  return data?.map(({ id }) => id) ?? found;
};
const filters = (tree: unknown) => `&filters=${encodeURIComponent(JSON.stringify(tree))}`;

const links = (collection: string, id: string, relation: string) => ({
  links: { related: { href: `/service/${collection}/${id}/relationships/${relation}` } },
});
const store1 = {
  type: 'stores',
  id: '1',
  attributes: {
    id: 1,
    name: 'Store 1',
    owner_id: 2,
    status: 'closed',
    opened_at: '2026-11-20T11:11:52.442Z',
    revenue: 1.5,
  },
  relationships: { owner: { data: { type: 'owners', id: '2' } }, tags: links('stores', '1', 'tags') },
};
const owner2 = {
  type: 'owners',
  id: '2',
  attributes: { id: 2, first_name: 'First2', email: 'u2@x.io', meta: { a: { b_c: 2 }, inner_key: 2 } },
  relationships: { stores: links('owners', '2', 'stores') },
};
const jsonapi = { version: '1.0' };

test('computed columns are attributes, and can be sorted, filtered and counted by', async () => {
  const ask = (columns: unknown, more = '') =>
    answer(`/owners?fields[owners]=id&columns=${encodeURIComponent(JSON.stringify(columns))}${more}`);
  const attributes = ([, body]: unknown[]) =>
    (body as { data: { attributes: Record<string, number> }[] }).data.map((each) => each.attributes);
  const [, own] = await answer('/owners?fields[owners]=id');
  const counts: Record<string, number>[] = [];
  for (const { id } of (own as { data: { id: string }[] }).data) {
    const [, body] = await answer(`/owners/${id}/relationships/stores/count`);
    counts.push({ id: Number(id), stores_count: (body as { count: number }).count });
  }
  const column = { name: 'stores_count', count: 'stores' };
  expect(attributes(await ask([column]))).toEqual(counts);
  const sorted = [...counts].sort((a, b) => b.stores_count! - a.stores_count! || b.id! - a.id!);
  expect(attributes(await ask([column], '&sort=-stores_count'))).toEqual(sorted);
  const most = counts.map((each) => each.stores_count!).sort((a, b) => b - a)[0]!;
  const having = filters({ field: 'stores_count', operator: 'Equal', value: most });
  const found = counts.filter((each) => each.stores_count === most);
  expect(attributes(await ask([column], having))).toEqual(found);
  const columns = encodeURIComponent(JSON.stringify([column]));
  expect(await answer(`/owners/count?columns=${columns}${having}`)).toEqual([200, { count: found.length }]);
  const detail = async (columns: unknown) =>
    ((await ask(columns))[1] as { errors: { detail: string }[] }).errors[0]!.detail;
  expect(await detail({ name: 'x' })).toMatch('expected the JSON of a list');
  expect(await detail([{ name: 'x', count: 'shops' }])).toMatch("'owners' has no field 'shops'");
  expect((await answer('/owners?columns=[')) as unknown[]).toMatchObject([
    400,
    { errors: [{ code: 'INVALID_ARGUMENT' }] },
  ]);
  const exported = await server.ask(`/owners.csv?columns=${encodeURIComponent(JSON.stringify([column]))}`);
  expect(exported.status).toBe(400);
});

test('filters on related records work, and are refused if they are ambiguous', async () => {
  const owners = async (tree: unknown) => {
    const [status, body] = await answer(`/owners?fields[owners]=id${filters(tree)}`);
    const { data, errors } = body as { data?: { id: string }[]; errors?: { code: string; detail: string }[] };
    return data?.map(({ id }) => id) ?? [status, errors![0]!.code, errors![0]!.detail];
  };
  const open = { field: 'status', operator: 'equal', value: 'open' };
  const stores = { none: 'stores', where: open };
  const all = await owners({ aggregator: 'and', conditions: [] });
  const some = await owners({ some: 'stores', where: open });
  const none = await owners(stores);
  expect([...(some as string[]), ...(none as string[])].sort()).toEqual([...(all as string[])].sort());
  expect([some.length > 0, await owners({ aggregator: 'not', conditions: [stores] })]).toEqual([true, some]);
  expect(await owners({ every: 'stores' })).toMatchObject([
    400,
    'INVALID_ARGUMENT',
    expect.stringContaining('required with every'),
  ]);
  expect(await owners({ field: 'stores:status', operator: 'not_equal', value: 'open' })).toMatchObject([
    400,
    'AMBIGUOUS_FILTER',
    expect.stringContaining('{"none":"stores","where":{"field":"status","operator":"Equal","value":"open"}}'),
  ]);
});

describe('documents', () => {
  test('a list: records, to-one relations included once, to-many as links', async () => {
    expect([
      await json('/stores?timezone=Europe/Paris&page[size]=1'),
      await json('/stores?page[size]=2&fields[stores]=name,owner&fields[owner]=email'),
    ]).toEqual([
      { jsonapi, data: [store1], included: [owner2] },
      {
        jsonapi,
        data: [
          { ...store1, attributes: { id: 1, name: 'Store 1' } },
          {
            ...store1,
            id: '2',
            attributes: { id: 2, name: 'Store 2' },
            relationships: { owner: { data: { type: 'owners', id: '2' } }, tags: links('stores', '2', 'tags') },
          },
        ],
        included: [{ ...owner2, attributes: { id: 2, email: 'u2@x.io' } }],
      },
    ]);
  });

  test('one record, and the projection header, two relations deep', async () => {
    const projection = { headers: { 'service-projection': 'weight,store:name,store:owner:email' } };
    expect([
      await json('/stores/1'),
      await json('/stores/3?fields[stores]=name,owner'),
      await json('/tags/1%7Ca%5C%7Cb', projection),
    ]).toEqual([
      { jsonapi, data: store1, included: [owner2] },
      {
        jsonapi,
        data: {
          type: 'stores',
          id: '3',
          attributes: { id: 3, name: '"Store" 3' },
          relationships: { owner: { data: null }, tags: links('stores', '3', 'tags') },
        },
      },
      {
        jsonapi,
        data: {
          type: 'tags',
          id: '1|a\\|b',
          attributes: { store_id: 1, label: 'a|b', weight: 5 },
          relationships: { store: { data: { type: 'stores', id: '1' } } },
        },
        included: [
          { ...owner2, attributes: { id: 2, email: 'u2@x.io' } },
          { ...store1, attributes: { id: 1, name: 'Store 1' } },
        ],
      },
    ]);
  });

  test('a search returns the matched fields, by position of the record', async () => {
    const records = ['2', '3'].map((id) => ({
      type: 'stores',
      id,
      attributes: { id: Number(id), status: 'open' },
      relationships: { tags: links('stores', id, 'tags') },
    }));
    const meta = { decorators: { 0: { id: '2', search: ['status'] }, 1: { id: '3', search: ['status'] } } };
    expect([
      await json('/stores?search=OPEN&fields[stores]=status'),
      await json('/stores?search=u2&searchExtended=1&page[size]=1'),
    ]).toEqual([
      { jsonapi, data: records, meta },
      { jsonapi, data: [store1], included: [owner2] },
    ]);
  });

  test('a record of several relations is included once, with the fields of each', async () => {
    const shown =
      '/people?fields[people]=id,boss,deputy&fields[boss]=name&fields[deputy]=boss_id&page[size]=1&page[number]=3';
    const { data, included } = (await json(shown)) as Record<'data' | 'included', { id: string; attributes: object }[]>;
    const all = (await json('/people')) as Record<'data' | 'included', { id: string }[]>;
    expect([
      data.map(({ id, attributes }) => [id, attributes]),
      included.map(({ id, attributes }) => [id, attributes]),
      [all.data.map(({ id }) => id), all.included],
    ]).toEqual([[['3', { id: 3 }]], [['1', { id: 1, name: 'Ada', boss_id: null }]], [['1', '2', '3'], undefined]]);
  });

  test('records without a key have no id, and no route of their own', async () => {
    expect([await json('/visits'), await answer('/visits/1')]).toEqual([
      { jsonapi, data: [{ type: 'visits', id: null, attributes: { page: '/', count: 9 } }] },
      [400, { errors: [expect.objectContaining({ code: 'INVALID_ARGUMENT' })] }],
    ]);
  });

  test('a count, and a disabled count', async () => {
    expect([
      await json('/stores/count'),
      await json('/stores/count?segment=Open&search=store 2&timezone=UTC&page[size]=1&sort=id'),
      await json('/visits/count'),
    ]).toEqual([{ count: 3 }, { count: 1 }, { meta: { count: 'deactivated' } }]);
  });

  test.each(['/stores/%E0%A4%A', '/stores/%', '/%FF/1'])(
    'the path %s, which is no UTF-8, is a bad request',
    async (path) => {
      const [status, body] = (await answer(path)) as [number, { errors: { status: number; detail: string }[] }];
      expect([status, body.errors.map((error) => error.status)]).toEqual([400, [400]]);
    },
  );

  test('errors name the record, parameter, field or operator, and near names', async () => {
    const detail = async (path: string) => {
      const [status, body] = (await answer(path)) as [number, { errors: { detail: string; status: number }[] }];
      return [status, ...body.errors.map((error) => `${error.status} ${error.detail}`)];
    };
    expect([
      await answer('/stores/999'),
      await answer('/stroes'),
      await detail('/stores?fields[stores]=nam'),
      await detail('/stores?fields[stors]=name'),
      await detail('/stores?page[siz]=1'),
      await detail('/stores?page[size]=1001'),
      await detail('/stores?page[size]=-1'),
      await detail('/stores?page[number]=0'),
      await detail('/stores?sort=id&sort=name'),
      await detail('/stores?sort=-nam'),
      await detail('/stores?sort=a,,b'),
      await detail('/stores?sort=tags.label'),
      await detail('/stores?timezone=Mars'),
      await detail('/stores?segment=Opn'),
      await detail('/stores?filters={'),
      await detail(`/stores?${filters({ field: 'id', operator: 'equals', value: 1 })}`),
      await detail(`/stores?${filters({ field: 'id', operator: 'contains', value: 1 })}`),
      await detail(`/stores?${filters({ aggregator: 'nor', conditions: [] })}`),
      await detail('/stores?segmentQuery=select 1'),
      await detail('/visits?search=a'),
      await detail('/stores/one'),
      await detail('/tags/1'),
    ]).toEqual([
      [
        404,
        {
          errors: [
            {
              name: 'NotFoundError',
              detail: "No record '999' in 'stores', or you may not see it.",
              status: 404,
              code: 'RECORD_NOT_FOUND',
            },
          ],
        },
      ],
      [
        404,
        {
          errors: [
            {
              name: 'NotFoundError',
              detail: "No collection 'stroes'. Near: stores. POST to /_internal/capabilities for the list.",
              status: 404,
              code: 'UNKNOWN_COLLECTION',
            },
          ],
        },
      ],
      [400, "400 'stores' has no field 'nam'. Near: name. POST to /_internal/capabilities for all fields."],
      [400, "400 fields[stors]: 'stors' is neither 'stores' nor one of its relations. Near: stores."],
      [400, '400 page[siz]: unknown. Near: page[size].'],
      [400, '400 page[size]: at most 1000; continue with page[number].'],
      [400, '400 page[size]: expected a whole number, 1 or more.'],
      [400, '400 page[number]: expected a whole number, 1 or more.'],
      [400, '400 sort: sent twice; send it once.'],
      [400, "400 'stores' has no field 'nam'. Near: name. POST to /_internal/capabilities for all fields."],
      [400, "400 sort: expected fields separated by commas, such as '-placed_at,customer.name'."],
      [400, expect.stringMatching(/^400 'tags' of 'stores' leads to many records/)],
      [400, "400 timezone: expected an IANA name such as 'Europe/Paris'."],
      [400, "400 'stores' has no segment 'Opn'. Near: Open. Leave it out for all records."],
      [400, expect.stringMatching(/^400 filters: not valid JSON: expected \{"field"/)],
      [400, "400 No operator 'equals'. Near: Equal."],
      [400, expect.stringMatching(/^400 'Contains' cannot be used on 'id' of 'stores'\. Allowed: /)],
      [400, expect.stringMatching(/^400 filters: expected \{"field".* at filters\.$/)],
      [400, expect.stringMatching(/^400 segmentQuery: segments written in SQL are not supported/)],
      [400, "400 search: 'visits' cannot be searched; filter it."],
      [400, '400 id: expected a number, got "one".'],
      [400, '400 id: expected an id of 2 parts, store_id|label, got "1".'],
    ]);
  });
});

describe('which records', () => {
  const leaf = (field: string, operator: string, value?: unknown) => ({ field, operator, value });
  test.each<[string, unknown]>([
    ['&sort=-id', ['3', '2', '1']],
    ['&sort=owner.email,-id', ['3', '2', '1']],
    ['&sort=owner:email,id', ['3', '1', '2']],
    ['&sort=-status,revenue', ['3', '2', '1']],
    ['&page[size]=2&page[number]=2', ['3']],
    ['&page[number]=9', []],
    ['&segment=Open', ['2', '3']],
    ['&search=u2@x.io', []],
    ['&search=u2@x.io&searchExtended=1', ['1', '2']],
    ['&search=u2@x.io&searchExtended=0', []],
    ['&search=u2@x.io&searchExtended=false', []],
    ['&search=', ['1', '2', '3']],
    [filters(null), ['1', '2', '3']],
    [filters(leaf('id', 'in', '1, 3')), ['1', '3']],
    [filters(leaf('id', 'In', [1, '3'])), ['1', '3']],
    [filters(leaf('id', 'not_in', '1,3')), ['2']],
    [filters(leaf('revenue', 'less_than', '0')), ['3']],
    [filters(leaf('owner:email', 'i_starts_with', 'U2')), ['1', '2']],
    [filters(leaf('owner_id', 'blank')), ['3']],
    [
      filters({ aggregator: 'or', conditions: [leaf('id', 'equal', 1), leaf('name', 'NotContains', 'Store 1')] }),
      ['1', '2', '3'],
    ],
    [
      filters({ aggregator: 'And', conditions: [leaf('id', 'greater_than', 1), leaf('status', 'EQUAL', 'open')] }),
      ['2', '3'],
    ],
    [`${filters(leaf('opened_at', 'after', '2026-11-21'))}&timezone=Asia/Tokyo`, ['2', '3']],
  ])('%s', async (query, expected) => {
    expect(await idsOf(query)).toEqual(expected);
  });
});

test('HEAD is GET without a body; a front end may send its projection; every answer has a content type', async () => {
  const head = await server.ask('/stores?page[size]=1', { method: 'HEAD' });
  const get = await server.ask('/stores?page[size]=1');
  const preflight = await fetch(`${server.api}/stores`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://admin.example.com',
      'access-control-request-headers': 'authorization, service-projection',
    },
  });
  const told = ({ status, headers }: Response) => [status, headers.get('content-type'), headers.get('content-length')];
  expect([
    told(head),
    await head.text(),
    preflight.status,
    preflight.headers.get('access-control-allow-headers'),
  ]).toEqual([told(get), '', 204, 'authorization, service-projection']);
});
