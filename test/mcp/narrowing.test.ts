// /mcp?readonly=true&collections=... : the same token with fewer rights, over every protocol version.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import { restrictAccess } from '../../src/core/caller/restrictions.ts';
import { type Access, fullAccess, verbs } from '../../src/core/caller.ts';
import { readRestrictions } from '../../src/mcp/transport/narrowing.ts';
import { answerOf, legacy, type McpTestServer, modern, openMcpServer, post } from './mcp-server.ts';

const table = (name: string, columns: MemoryTable['columns'], rows: MemoryTable['rows']): MemoryTable => ({
  name,
  columns,
  primaryKey: ['id'],
  rows,
});
const id = { name: 'id', type: 'Number' } as const;
const tables = [
  table('customers', [id, { name: 'surname', type: 'String' }], [[1, 'Sandvik']]),
  table('orders', [id, { name: 'customerId', type: 'Number' }, { name: 'label', type: 'String' }], [[7, 1, 'boots']]),
  table('lines', [id, { name: 'orderId', type: 'Number' }], [[3, 7]]),
];

function customize(agent: HeadlessAgent): void {
  agent.addChart('turnover', (_context, resultBuilder) => resultBuilder.value(1));
  agent.customizeCollection('orders', (orders) => {
    orders
      .addManyToOneRelation('customer', 'customers', { foreignKey: 'customerId' })
      .addOneToManyRelation('lines', 'lines', { originKey: 'orderId' })
      .importField('customerSurname', { path: 'customer:surname' })
      .addAction('Cancel', { scope: 'Single', execute: (_context, resultBuilder) => resultBuilder.success() });
  });
}

const ways = ['modern', 'legacy', 'the SDK handler', 'a session'] as const;
let houses: Readonly<Record<(typeof ways)[number], McpTestServer>>;
beforeAll(async () => {
  const open = (serving: 'shared' | 'sdk') =>
    openMcpServer({ source: createMemorySource('memory', tables), customize, serving, legacySessions: 'auto' });
  const [shared, sdk] = await Promise.all([open('shared'), open('sdk')]);
  houses = { modern: shared, legacy: shared, 'the SDK handler': sdk, 'a session': shared };
});
afterAll(async () => {
  await houses.legacy.close();
  await houses['the SDK handler'].close();
});

type Result = Readonly<Record<string, unknown>> & { readonly tools?: readonly { name: string }[] };

async function send(way: (typeof ways)[number], query: string, method: string, params = {}): Promise<Result> {
  const server = { url: `${houses[way].url}${query}` };
  if (way === 'modern' || way === 'the SDK handler') {
    const request = modern(method, params);
    return resultOf((await post(server, request.body, request.headers)).body);
  }
  if (way === 'legacy') return resultOf((await post(server, legacy(method, params))).body);
  const opened = await post(
    server,
    legacy('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: { elicitation: {} },
      clientInfo: { name: 'test', version: '1' },
    }),
  );
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id')!, 'mcp-protocol-version': '2025-11-25' };
  return resultOf((await post(server, legacy(method, params), session)).body);
}

/** A session responds with an event stream. */
function resultOf(body: unknown): Result {
  const message = typeof body === 'string' ? JSON.parse(/^data: (\{.*)$/m.exec(body)![1]!) : body;
  return message.result ?? message;
}

const call = async (way: (typeof ways)[number], query: string, name: string, args: object): Promise<unknown> =>
  answerOf({ result: await send(way, query, 'tools/call', { name, arguments: args }) });

const shown = async (way: (typeof ways)[number], query: string) =>
  (await send(way, query, 'tools/list')).tools!.map((tool) => tool.name);

describe.each(ways)('through %s', (way) => {
  test('readonly=true lists only the tools that read', async () => {
    const all = (await send(way, '', 'tools/list')).tools as readonly {
      name: string;
      annotations: { readOnlyHint: boolean };
    }[];
    const about = new Set(['getActionForm', 'requestActionFileUpload']);
    expect(await shown(way, '?readonly=true')).toEqual(
      all.filter((tool) => tool.annotations.readOnlyHint && !about.has(tool.name)).map((tool) => tool.name),
    );
  });

  test('collections=orders shows only that collection', async () => {
    const query = '?collections=orders';
    expect([
      await call(way, query, 'describeCollection', {}),
      await call(way, query, 'describeCollection', { collectionName: 'orders' }),
      await call(way, query, 'list', { collectionName: 'customers' }),
    ]).toEqual([
      { collections: { orders: expect.not.stringMatching(/customer|lines/) } },
      expect.not.objectContaining({ relations: expect.anything() }),
      expect.stringMatching(/customers/),
    ]);
  });
});

const wide = (name: string, args: object) => call('modern', '', name, args);
const narrow = (name: string, args: object) => call('modern', '?collections=orders,lines', name, args);

describe('excluded data', () => {
  const paths = { collectionName: 'orders', fields: ['customer:surname'] };

  test('is visible without the restriction, as the other tests of this file assume', async () => {
    expect([
      await wide('list', paths),
      await wide('list', { collectionName: 'orders', search: 'Sandvik', shouldSearchInRelation: true, fields: ['id'] }),
      await wide('list', { collectionName: 'orders', fields: ['customerSurname'] }),
    ]).toEqual([
      expect.objectContaining({ rows: [['Sandvik']] }),
      expect.objectContaining({ rows: [[7]] }),
      expect.objectContaining({ rows: [['Sandvik']] }),
    ]);
  });

  test.each<[string, string, object]>([
    ['a path', 'list', paths],
    ['an imported field', 'list', { collectionName: 'orders', fields: ['customerSurname'] }],
    ['a similar field name', 'list', { collectionName: 'orders', fields: ['customers'] }],
    ['a filter', 'list', { collectionName: 'orders', filters: { field: 'customer:surname', operator: 'Present' } }],
    ['a sort', 'list', { collectionName: 'orders', sort: [{ field: 'customer:surname', ascending: true }] }],
    ['a group', 'aggregate', { collectionName: 'orders', operation: 'count', groups: ['customer:surname'] }],
    ['a similar collection name', 'list', { collectionName: 'customer' }],
    ['the collection itself', 'describeCollection', { collectionName: 'customers' }],
  ])('%s: the error names nothing excluded', async (_what, name, args) => {
    const answer = String(await narrow(name, args));
    const sent = JSON.stringify(args);
    // The error may repeat names from the call, but no others.
    const told = ['surname', 'customers', 'customerSurname', 'customer:'].filter((word) => !sent.includes(word));
    expect([answer, told.filter((word) => answer.includes(word))]).toEqual([expect.stringMatching(/[Nn]o /), []]);
  });

  test('a search through relations does not find it', async () => {
    const args = { collectionName: 'orders', search: 'Sandvik', shouldSearchInRelation: true, fields: ['id'] };
    expect(await narrow('list', args)).toMatchObject({ rows: [] });
  });

  test('charts of the whole agent are excluded, since they can show any collection', async () => {
    const chart = { chartName: 'turnover' };
    expect([
      await wide('getChart', chart),
      JSON.stringify(await wide('describeCollection', {})).includes('turnover'),
      await call('modern', '?readonly=true', 'getChart', chart),
      await narrow('getChart', chart),
      await narrow('getChart', { chartName: 'turnove' }),
      JSON.stringify(await narrow('describeCollection', {})).includes('turnover'),
    ]).toEqual([
      { value: 1 },
      true,
      { value: 1 },
      expect.stringMatching(/^UNKNOWN_CHART/),
      expect.not.stringMatching(/turnover/),
      false,
    ]);
  });

  test('relations between the remaining collections are kept', async () => {
    const filters = { field: 'lines:id', operator: 'Equal', value: 3 };
    expect(await narrow('list', { collectionName: 'orders', filters, fields: ['id'] })).toMatchObject({ rows: [[7]] });
  });
});

test('an unknown name has the same effect as a name that the caller may not see', async () => {
  const answers = async (query: string) => [
    await call('modern', query, 'describeCollection', {}),
    await shown('modern', query),
    await call('modern', query, 'list', { collectionName: 'lines' }),
  ];
  const [withIt, without] = [await answers('?collections=orders,nothing'), await answers('?collections=orders')];
  expect([withIt, await shown('modern', '?collections=nothing')]).toEqual([without, []]);
});

test('a token that is checked again during a call is restricted again', async () => {
  const { holds, renewed } = houses.modern;
  holds.push(false);
  const answer = await call('modern', '?collections=orders', 'list', { collectionName: 'lines' });
  expect([answer, renewed.splice(0)]).toEqual([expect.stringContaining('lines'), ['user-2']]);
});

test('concurrent calls of one token at several URLs: each has its own restriction', async () => {
  const queries = ['', '?collections=orders', '?collections=lines', '?readonly=true&collections=lines,orders'];
  const expected = [['customers', 'lines', 'orders'], ['orders'], ['lines'], ['lines', 'orders']];
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, at) => {
      const index = (await call('modern', queries[at % 4]!, 'describeCollection', {})) as { collections: object };
      return Object.keys(index.collections).sort();
    }),
  );
  expect(answers).toEqual(answers.map((_, at) => expected[at % 4]));
});

describe('the parameters', () => {
  test.each([
    ['?readonly=true', { readOnly: true, collections: null }],
    ['?collections=a,%20b,a', { readOnly: false, collections: new Set(['a', 'b']) }],
    ['?collections=b%2Ca&readonly=true', { readOnly: true, collections: new Set(['a', 'b']) }],
  ])('%s', (query, expected) => {
    expect(readRestrictions(`/mcp${query}`)).toMatchObject(expected);
  });

  test('equal restrictions have one key, in any spelling', () => {
    const keys = ['?collections=a,b&readonly=true', '?readonly=true&collections=b,a,b'].map(
      (query) => readRestrictions(`/mcp${query}`)?.key,
    );
    expect([keys[0], readRestrictions('/mcp'), readRestrictions('/mcp?')]).toEqual([keys[1], undefined, undefined]);
  });

  test.each([
    ['readonly=false', 'readonly: send readonly=true, or leave it out.'],
    ['readonly=', 'readonly: send readonly=true, or leave it out.'],
    ['readonly=true&readonly=true', 'readonly: sent twice; send readonly=true, or leave it out.'],
    ['collections=', 'collections: send names separated by commas'],
    ['collections=a,,b', 'collections: send names separated by commas'],
    ['collections=a&collections=b', 'collections: sent twice; send names separated by commas'],
    ['Readonly=true', 'Readonly: unknown query parameter; remove it.'],
    ['__proto__=1', '__proto__: unknown query parameter; remove it.'],
  ])('%s returns 400 and says what to send', async (query, message) => {
    const server = { url: `${houses.legacy.url}?${query}` };
    const { status, body } = await post(server, legacy('tools/list'), { authorization: undefined });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ message: expect.stringContaining(message) }) }),
    ]);
  });
});

test('a hidden tool is not suggested either', async () => {
  const near = async (query: string) => JSON.stringify(await send('modern', query, 'tools/call', { name: 'creat' }));
  expect([await near(''), await near('?readonly=true')]).toEqual([
    expect.stringContaining('create'),
    expect.not.stringContaining('create'),
  ]);
});

test('an excluded collection has no rights, actions or fields', () => {
  const narrowed = restrictAccess(fullAccess({} as Access['caller']), readRestrictions('?collections=orders')!);
  const left = (collection: string) => [
    verbs.filter((verb) => narrowed.can(verb, collection)),
    narrowed.canTrigger(collection, 'Cancel'),
    narrowed.field(collection, 'id'),
  ];
  expect([left('orders'), left('lines')]).toEqual([
    [verbs, true, 'write'],
    [[], false, 'hidden'],
  ]);
});

test('a restriction never extends the rights of any caller', () => {
  const collections = ['a', 'b'];
  const rights = collections.flatMap((collection) => verbs.map((verb) => `${verb} ${collection}`));
  const widened: string[] = [];
  for (let bits = 0; bits < 2 ** rights.length; bits++) {
    const has = new Set(rights.filter((_, at) => bits & (1 << at)));
    const access: Access = {
      ...fullAccess({} as Access['caller']),
      can: (verb, collection) => has.has(`${verb} ${collection}`),
      canTrigger: (collection) => has.has(`edit ${collection}`),
      field: (collection) => (has.has(`edit ${collection}`) ? 'write' : 'hidden'),
      collections: bits % 2 === 0 ? null : ['b'],
      startsWorkflows: bits % 3 === 0,
    };
    for (const query of ['?readonly=true', '?collections=a', '?collections=a,c&readonly=true']) {
      const narrowed = restrictAccess(access, readRestrictions(query)!);
      for (const collection of collections) {
        for (const verb of verbs) {
          if (narrowed.can(verb, collection) && !access.can(verb, collection)) widened.push(`${query} ${verb}`);
        }
        if (narrowed.canTrigger(collection, 'x') && !access.canTrigger(collection, 'x')) widened.push(query);
        if (narrowed.field(collection, 'x') !== 'hidden' && access.field(collection, 'x') === 'hidden') {
          widened.push(query);
        }
      }
      if (access.collections && narrowed.collections?.every((name) => access.collections?.includes(name)) !== true)
        widened.push(query);
      if (narrowed.startsWorkflows && !access.startsWorkflows) widened.push(query);
    }
  }
  expect(widened).toEqual([]);
});
