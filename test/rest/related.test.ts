// Related records of one record, and the routes where front ends query the agent's capabilities.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/core/caller.ts';
import { everything, openRestServer, type RestTestServer } from './rest-server.ts';
import { openStores } from './stores.ts';

let server: RestTestServer;
let access: Access = everything;
beforeAll(async () => {
  const engine = await openStores((agent) =>
    agent.customizeCollection('stores', (stores) =>
      stores
        .addExternalRelation('hours', {
          schema: { day: 'String', open: 'Number' },
          listRecords: () => [
            { day: 'Mon', open: 9 },
            { day: 'Tue', open: 10 },
          ],
        })
        .disableSearch(),
    ),
  );
  server = await openRestServer({ engine, access: () => access });
});
afterAll(() => server?.close());

const json = async (path: string, init?: RequestInit): Promise<unknown> => (await server.ask(path, init)).json();
const told = async (path: string) => {
  const response = await server.ask(path);
  const { errors } = (await response.json()) as { errors: { code: string; detail: string }[] };
  return [response.status, errors[0]!.code, errors[0]!.detail];
};
const jsonapi = { version: '1.0' };
const post = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

describe('external relations', () => {
  const hours = [
    { day: 'Mon', open: 9 },
    { day: 'Tue', open: 10 },
  ];
  test.each([
    ['a fields parameter', '?fields[stores]=name,hours', {}],
    ['a projection header', '', { 'service-projection': 'name,hours' }],
  ])('are an attribute if %s names them', async (_, query, headers) => {
    const one = (await json(`/stores/1${query}`, { headers })) as { data: { attributes: Record<string, unknown> } };
    const many = (await json(`/stores${query}`, { headers })) as { data: { attributes: Record<string, unknown> }[] };
    expect([one.data.attributes.hours, many.data.map(({ attributes }) => attributes.hours)]).toEqual([
      hours,
      many.data.map(() => hours),
    ]);
  });

  test('are a column of a CSV file', async () => {
    const response = await server.ask('/stores.csv?fields[stores]=id,hours&header=["id","hours"]&filename=x');
    const [header, first] = (await response.text()).replace('\ufeff', '').split('\r\n');
    expect([header, first]).toEqual(['id,hours', `1,"${JSON.stringify(hours).replaceAll('"', '""')}"`]);
  });

  test('have no projection of their own fields, and the error says what to send', async () => {
    expect(await told('/stores?fields[stores]=hours:day')).toEqual([
      400,
      'INVALID_ARGUMENT',
      "fields: 'hours:day': records computed by code are always complete; send 'hours'.",
    ]);
  });
});

describe('related records', () => {
  test('to many: a list of the foreign collection, its count, and all list parameters', async () => {
    const tag = (label: string, weight: number) => ({
      type: 'tags',
      id: `1|${label.replace('|', '\\|')}`,
      attributes: { store_id: 1, label, weight },
    });
    expect([
      await json('/stores/1/relationships/tags?fields[tags]=label,weight'),
      await json('/stores/1/relationships/tags?fields[tags]=weight&sort=-weight&page[size]=1'),
      await json('/stores/3/relationships/tags'),
      await json('/stores/1/relationships/tags/count'),
      await json('/stores/1/relationships/tags/count?search=new'),
    ]).toEqual([
      { jsonapi, data: [tag('a|b', 5), tag('new', 6)] },
      { jsonapi, data: [tag('new', 6)] },
      { jsonapi, data: [] },
      { count: 2 },
      { count: 1 },
    ]);
  });

  test('to one: the record, or null', async () => {
    expect([
      await json('/stores/1/relationships/owner?fields[owners]=email'),
      await json('/stores/3/relationships/owner'),
      await told('/stores/1/relationships/owner/count'),
    ]).toEqual([
      {
        jsonapi,
        data: {
          type: 'owners',
          id: '2',
          attributes: { id: 2, email: 'u2@x.io' },
          relationships: { stores: { links: { related: { href: '/service/owners/2/relationships/stores' } } } },
        },
      },
      { jsonapi, data: null },
      [400, 'INVALID_ARGUMENT', "relation: 'owner' leads to one record: get it at /relationships/owner."],
    ]);
  });

  test('records of an external relation have no id', async () => {
    expect([
      await json('/stores/1/relationships/hours'),
      await json('/stores/1/relationships/hours?sort=-open&fields[hours]=day&page[size]=1'),
      await json('/stores/1/relationships/hours/count'),
      await (await server.ask('/stores/1/relationships/hours.csv')).text(),
    ]).toEqual([
      {
        jsonapi,
        data: [
          { type: 'hours', id: null, attributes: { day: 'Mon', open: 9 } },
          { type: 'hours', id: null, attributes: { day: 'Tue', open: 10 } },
        ],
      },
      { jsonapi, data: [{ type: 'hours', id: null, attributes: { day: 'Tue' } }] },
      { count: 2 },
      'day,open\r\nMon,9\r\nTue,10\r\n',
    ]);
  });

  test('a record that is missing or not visible has no related records', async () => {
    const missing = [
      await told('/stores/9/relationships/tags'),
      await told('/stores/9/relationships/tags/count'),
      await told('/stores/9/relationships/tags.csv'),
      await told('/stores/9/relationships/owner'),
    ];
    access = {
      ...everything,
      scope: (name) => (name === 'stores' ? { field: 'id', operator: 'Equal', value: 2 } : null),
    };
    const withheld = [
      await told('/stores/1/relationships/tags'),
      await told('/stores/1/relationships/tags/count'),
      await told('/stores/1/relationships/tags.csv'),
      await told('/stores/1/relationships/owner'),
      await told('/stores/1'),
    ];
    access = everything;
    const not = (id: number) => [404, 'RECORD_NOT_FOUND', `No record '${id}' in 'stores', or you may not see it.`];
    expect([missing, withheld, await told('/stores/1/relationships/tag')]).toEqual([
      [not(9), not(9), not(9), not(9)],
      [not(1), not(1), not(1), not(1), not(1)],
      [404, 'UNKNOWN_RELATION', "'stores' has no relation 'tag'. Near: tags."],
    ]);
  });
});

describe('information for front ends', () => {
  test('capabilities: types, operators and to-one relations of everything the caller may see', async () => {
    const asked = async (body: unknown) =>
      (await json('/_internal/capabilities', post(body))) as {
        collections: { name: string; fields: { name: string }[] }[];
      };
    const tags = await asked({ collectionNames: ['tags', 'nothing'] });
    const all = (await asked({})).collections.map(({ name }) => name);
    access = {
      ...everything,
      can: (_verb, collection) => collection !== 'stores',
      field: (_collection, field) => (field === 'weight' ? 'hidden' : 'write'),
    };
    const less = await asked({});
    access = everything;
    const equality = ['present', 'blank', 'missing', 'equal', 'not_equal', 'in', 'not_in'];
    const order = [...equality, 'less_than', 'greater_than', 'less_than_or_equal', 'greater_than_or_equal'];
    expect([tags, all, less.collections.map(({ name, fields }) => [name, fields.map((field) => field.name)])]).toEqual([
      {
        nativeQueryConnections: [],
        agentCapabilities: {
          canUseProjectionOnGetOne: true,
          canUseProjectionViaHeader: true,
          canUseProjectionViaHeaderOnList: true,
          canUseMultipleFieldsProjectionOnRelation: true,
          canUseAuditTrail: false,
        },
        collections: [
          {
            name: 'tags',
            fields: [
              { name: 'store_id', type: 'Number', operators: order, isGroupable: true },
              {
                name: 'label',
                type: 'String',
                operators: expect.arrayContaining([
                  ...order,
                  'i_contains',
                  'not_i_contains',
                  'starts_with',
                  'i_like',
                  'longer_than',
                ]),
                isGroupable: true,
              },
              { name: 'weight', type: 'Number', operators: order, isGroupable: true },
              { name: 'store', type: 'ManyToOne', isGroupable: false },
            ],
            aggregationCapabilities: {
              supportGroups: true,
              supportedDateOperations: ['Year', 'Quarter', 'Month', 'Week', 'Day'],
            },
          },
        ],
      },
      ['owners', 'people', 'stores', 'tags', 'visits'],
      [
        ['owners', ['id', 'first_name', 'email', 'meta']],
        ['people', ['id', 'name', 'boss_id', 'deputy_id', 'boss', 'deputy']],
        ['tags', ['store_id', 'label']],
        ['visits', ['page', 'count']],
      ],
    ]);
  });

  test('scope-cache-invalidation is accepted and does nothing', async () => {
    const statuses = await Promise.all(
      [{ renderingId: 1 }, { renderingId: '1' }, {}, { renderingId: 'x' }].map(
        async (body) => (await server.ask('/scope-cache-invalidation', post(body))).status,
      ),
    );
    expect([statuses, (await server.ask('/_internal/capabilities', post({ collectionNames: 'tags' }))).status]).toEqual(
      [[204, 204, 400, 400], 400],
    );
  });
});
