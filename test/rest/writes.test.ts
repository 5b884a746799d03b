// Writes over the HTTP API, on every database: records, relations, invalid requests, and permissions.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { CollectionPermission } from '../../src/store/permissions/types.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { all, openWorkshop, type Told, type Workshop } from './workshop.ts';

const codeOf = ({ body }: Told): unknown => (body as { errors?: { code: string }[] } | undefined)?.errors?.[0]?.code;

describe.each(servers)('on $dialect', (server) => {
  let place: Workshop;
  beforeEach(async () => {
    place = await openWorkshop({ server });
  });
  afterEach(() => place?.stop());

  const orders = () => place.rows('SELECT id, label, total, customer_id FROM orders ORDER BY id');
  const untouched = ['1 boots 10 1', '2 hats 20 1', '3 socks 30 2', '4 belts 40 '];

  test('a record is created, changed and deleted; each answer is the current document of the record', async () => {
    const created = await place.call('POST', '/orders', {
      data: {
        type: 'orders',
        attributes: { id: 9, label: 'gloves', total: 5 },
        relationships: {
          customer: { data: { type: 'customers', id: '2' } },
          items: { links: { related: { href: '/ignored' } } },
          tags: { data: [] },
        },
      },
    });
    const order = (label: string, customer: number) => ({
      jsonapi: { version: '1.0' },
      data: {
        type: 'orders',
        id: '9',
        attributes: { id: 9, label, total: 5, placed: null, customer_id: customer },
        relationships: {
          customer: { data: { type: 'customers', id: `${customer}` } },
          items: { links: { related: { href: '/service/orders/9/relationships/items' } } },
          taggings: { links: { related: { href: '/service/orders/9/relationships/taggings' } } },
          tags: { links: { related: { href: '/service/orders/9/relationships/tags' } } },
        },
      },
      included: [expect.objectContaining({ type: 'customers', id: `${customer}` })],
    });
    const changes = { data: { type: 'orders', id: '9', attributes: { label: 'mittens' } } };
    const put = await place.call('PUT', '/orders/9', changes);
    const moved = { data: { relationships: { customer: { data: { type: 'customers', id: '3' } } } } };
    const patched = await place.call('PATCH', '/orders/9?fields[orders]=label,customer&fields[customer]=name', moved);
    const after = (await orders()).at(-1);
    const gone = await place.call('DELETE', '/orders/9');
    expect([created.status, created.body, put.status, put.body]).toEqual([
      200,
      order('gloves', 2),
      200,
      order('mittens', 2),
    ]);
    expect([patched.status, patched.body, after]).toEqual([
      200,
      {
        jsonapi: { version: '1.0' },
        data: {
          ...{ type: 'orders', id: '9', attributes: { id: 9, label: 'mittens' } },
          relationships: {
            ...order('', 3).data.relationships,
            customer: { data: { type: 'customers', id: '3' } },
          },
        },
        included: [expect.objectContaining({ type: 'customers', id: '3', attributes: { id: 3, name: 'Cy' } })],
      },
      '9 mittens 5 3',
    ]);
    expect([gone.status, gone.text, await orders()]).toEqual([204, '', untouched]);
  });

  test('several records are deleted, all or none', async () => {
    const missing = await place.call('DELETE', '/orders', { data: { attributes: { ids: ['4', '77', '78'] } } });
    const kept = await orders();
    const one = await place.call('DELETE', '/orders', { data: { attributes: { ids: ['4', '4'] } } });
    const all = await place.call('DELETE', '/taggings', {
      data: { attributes: { all_records: true, all_records_ids_excluded: ['1|2'] } },
    });
    expect([missing.status, missing.body, kept]).toEqual([
      404,
      { errors: [expect.objectContaining({ code: 'RECORD_NOT_FOUND', data: { missing: ['77', '78'] } })] },
      untouched,
    ]);
    expect([one.status, await orders(), all.status]).toEqual([204, untouched.slice(0, 3), 204]);
    expect(await place.rows('SELECT order_id, tag_id FROM taggings')).toEqual(['1 2']);
  });

  test('a to-many relation: all records in the body are linked, whichever side has the key', async () => {
    const to = (type: string, ...ids: (string | number)[]) => ({ data: ids.map((id) => ({ type, id: `${id}` })) });
    const answers = [
      await place.call('POST', '/customers/3/relationships/orders', to('orders', 3, 4)),
      await place.call('POST', '/orders/4/relationships/tags', to('tags', 1, 3)),
      await place.call('POST', '/orders/4/relationships/tags', to('tags', 3)),
      await place.call('DELETE', '/customers/1/relationships/orders', to('orders', 2)),
      await place.call('DELETE', '/orders/1/relationships/tags?delete=false', {
        data: { attributes: { all_records: true, all_records_ids_excluded: ['2'] } },
      }),
    ];
    expect([answers.map(({ status }) => status), await orders()]).toEqual([
      [204, 204, 204, 204, 204],
      ['1 boots 10 1', '2 hats 20 ', '3 socks 30 3', '4 belts 40 3'],
    ]);
    expect(await place.rows('SELECT order_id, tag_id FROM taggings ORDER BY order_id, tag_id')).toEqual([
      ...['1 2', '2 2', '4 1', '4 3'],
    ]);
    expect(await place.rows('SELECT COUNT(*) FROM tags')).toEqual(['3']);
  });

  test('delete=false keeps the record, delete=true deletes a record that belongs to the parent, others are refused', async () => {
    const selected = { data: { attributes: { ids: ['1|1'] } } };
    const unlink = async (query: string, body: unknown = selected) => {
      const answer = await place.call('DELETE', `/orders/1/relationships/items${query}`, body);
      return [answer.status, codeOf(answer)];
    };
    const rows = () => place.rows('SELECT order_id, line FROM items ORDER BY order_id, line');
    // The foreign key of these lines is NOT NULL, so unlinking fails; it does not delete them instead.
    const refused = [
      await unlink('?delete=false'),
      await unlink(''),
      await unlink('?delete=1'),
      await unlink('?delete='),
      await unlink('?delete=false&delete=true'),
      await unlink('?delete=true', { data: { attributes: { ids: ['2|1'] } } }),
      await unlink('?delete=true', { data: { attributes: { ids: [] } } }),
      await unlink('?delete=true', { data: { attributes: {} } }),
      await unlink('?delete=true', { data: [{ type: 'orders', id: '1|1' }] }),
    ];
    const kept = await rows();
    const done = await unlink('?delete=true');
    expect([refused, kept, done, await rows()]).toEqual([
      [
        ...[
          [400, 'INVALID_RECORD'],
          [400, 'INVALID_RECORD'],
        ],
        ...[
          [400, 'INVALID_ARGUMENT'],
          [400, 'INVALID_ARGUMENT'],
          [400, 'INVALID_ARGUMENT'],
        ],
        ...[
          [404, 'RECORD_NOT_FOUND'],
          [400, 'INVALID_ARGUMENT'],
          [400, 'INVALID_ARGUMENT'],
        ],
        [400, 'INVALID_ARGUMENT'],
      ],
      ['1 1', '1 2', '2 1'],
      [204, undefined],
      ['1 2', '2 1'],
    ]);
  });

  test('a to-one relation is set and cleared from either side, and the previous record is released', async () => {
    const put = async (path: string, data: unknown) => (await place.call('PUT', path, { data })).status;
    const profiles = () => place.rows('SELECT id, customer_id FROM profiles ORDER BY id');
    const seen = [
      [await put('/orders/4/relationships/customer', { type: 'customers', id: '3' }), (await orders())[3]],
      [await put('/orders/4/relationships/customer', null), (await orders())[3]],
      // Customer 1 had profile 1. The response has a body because another record is written as well.
      [await put('/customers/1/relationships/profile', { type: 'profiles', id: '3' }), await profiles()],
      // Profile 2 belonged to customer 2.
      [await put('/customers/1/relationships/profile', { id: '2' }), await profiles()],
      [await put('/customers/1/relationships/profile', { id: '2' }), await profiles()],
      [await put('/customers/1/relationships/profile', null), await profiles()],
      [await put('/customers/1/relationships/profile', null), await profiles()],
    ];
    expect(seen).toEqual([
      [204, '4 belts 40 3'],
      [204, '4 belts 40 '],
      [200, ['1 ', '2 2', '3 1']],
      [200, ['1 ', '2 1', '3 ']],
      [204, ['1 ', '2 1', '3 ']],
      [204, ['1 ', '2 ', '3 ']],
      [204, ['1 ', '2 ', '3 ']],
    ]);
  });

  test('setting a relation is atomic: the previous record stays linked if the rest fails', async () => {
    const answer = await place.call('PUT', '/customers/1/relationships/profile', { data: { id: '99' } });
    expect([answer.status, await place.rows('SELECT id, customer_id FROM profiles ORDER BY id')]).toEqual([
      404,
      ['1 1', '2 2', '3 '],
    ]);
  });
});

describe('refusals', () => {
  let place: Workshop;
  beforeAll(async () => {
    place = await openWorkshop();
  });
  afterAll(() => place?.stop());
  const state = () =>
    place.rows(
      "SELECT 'o', id, label, total, customer_id FROM orders UNION ALL SELECT 'p', id, bio, customer_id, '' FROM profiles UNION ALL SELECT 't', order_id, tag_id, '', '' FROM taggings",
    );

  const write = { id: 8, label: 'x', total: 1 };
  const one = (more: object) => ({ data: { type: 'orders', attributes: write, ...more } });
  test.each<[what: string, method: string, path: string, body: unknown, status: number, told: string]>([
    ['no document', 'POST', '/orders', {}, 400, 'expected a document'],
    ['a list of documents', 'POST', '/orders', { data: [] }, 400, 'expected a document'],
    ['a record of another collection', 'POST', '/orders', one({ type: 'tags' }), 400, 'data.type'],
    ['invalid attributes', 'POST', '/orders', one({ attributes: [] }), 400, 'data.attributes'],
    ['an unknown field', 'POST', '/orders', one({ attributes: { ...write, labl: 'x' } }), 400, 'Near: label'],
    ['a wrong value', 'POST', '/orders', one({ attributes: { ...write, total: 'much' } }), 400, 'total'],
    ['a missing value', 'POST', '/orders', one({ attributes: { id: 8 } }), 400, 'label'],
    ['an unknown relation', 'POST', '/orders', one({ relationships: { custmer: { data: null } } }), 404, 'customer'],
    ['an invalid relation', 'POST', '/orders', one({ relationships: { customer: '1' } }), 400, 'customer'],
    [
      'several records for a to-one relation',
      'POST',
      '/orders',
      one({ relationships: { customer: { data: [{ id: '1' }] } } }),
      400,
      'one record',
    ],
    [
      'records for a to-many relation',
      'POST',
      '/orders',
      one({ relationships: { tags: { data: [{ id: '1' }] } } }),
      400,
      'relationships/tags',
    ],
    ['an unknown record', 'POST', '/orders', one({ relationships: { customer: { data: { id: '99' } } } }), 404, '99'],
    [
      'a record of another collection',
      ...([
        'POST',
        '/orders',
        one({ relationships: { customer: { data: { type: 'tags', id: '1' } } } }),
        400,
        'tags',
      ] as const),
    ],
    [
      'a key that the other side has',
      ...([
        'POST',
        '/customers',
        { data: { attributes: { id: 9, name: 'Di' }, relationships: { profile: { data: { id: '3' } } } } },
        400,
        'profiles',
      ] as const),
    ],
    [
      'a relation and an attribute that contradict',
      ...([
        'POST',
        '/orders',
        one({ attributes: { ...write, customer_id: 1 }, relationships: { customer: { data: { id: '2' } } } }),
        400,
        'customer_id',
      ] as const),
    ],
    ['an unknown field in fields', 'POST', '/orders?fields[orders]=nothing', one({}), 400, 'nothing'],
    ['an unknown parameter', 'POST', '/orders?tiemzone=UTC', one({}), 400, 'timezone'],
    ['an unknown collection', 'POST', '/nothing', { data: { attributes: {} } }, 404, 'nothing'],
    ['a change of an unknown record', 'PUT', '/orders/99', { data: { attributes: { label: 'x' } } }, 404, '99'],
    ['a change without fields', 'PUT', '/orders/1', { data: { attributes: {} } }, 400, 'at least one field'],
    ['a change with another id', 'PUT', '/orders/1', { data: { id: '2', attributes: { label: 'x' } } }, 400, 'data.id'],
    ['an invalid id', 'PUT', '/orders/one', { data: { attributes: { label: 'x' } } }, 400, 'a number'],
    ['an incomplete id', 'PUT', '/items/1', { data: { attributes: { article: 'x' } } }, 400, 'order_id|line'],
    [
      'a change that the database refuses',
      'PUT',
      '/orders/1',
      { data: { attributes: { customer_id: 99 } } },
      400,
      'customer_id',
    ],
    ['an unknown record to delete', 'DELETE', '/orders/99', undefined, 404, '99'],
    ['a record that others refer to', 'DELETE', '/orders/1', undefined, 409, 'other records reference'],
    [
      'an empty list to delete',
      'DELETE',
      '/orders',
      { data: { attributes: { ids: [] } } },
      400,
      'an empty list does not mean all records',
    ],
    ['no body', 'DELETE', '/orders', undefined, 400, 'expected a document'],
    ['an invalid flag', 'DELETE', '/orders', { data: { attributes: { all_records: 1 } } }, 400, 'all_records'],
    [
      'a link to an unknown record',
      'POST',
      '/orders/1/relationships/tags',
      { data: [{ id: '3' }, { id: '99' }] },
      404,
      '99',
    ],
    ['a link of an unknown record', 'POST', '/orders/99/relationships/tags', { data: [{ id: '3' }] }, 404, '99'],
    [
      'an empty list of links',
      'POST',
      '/orders/1/relationships/tags',
      { data: [] },
      400,
      'an empty list does not mean all records',
    ],
    ['an invalid link', 'POST', '/orders/1/relationships/tags', { data: ['3'] }, 400, 'data[0]'],
    [
      'a link to another collection',
      'POST',
      '/orders/1/relationships/tags',
      { data: [{ type: 'orders', id: '3' }] },
      400,
      'tags',
    ],
    ['a link in a to-one relation', 'POST', '/orders/1/relationships/customer', { data: [{ id: '3' }] }, 400, 'PUT'],
    [
      'a link in an unknown relation',
      'POST',
      '/orders/1/relationships/tag',
      { data: [{ id: '3' }] },
      404,
      'Near: tags',
    ],
    [
      'unlinking a record that is not linked',
      'DELETE',
      '/orders/1/relationships/tags',
      { data: [{ id: '3' }] },
      404,
      '3',
    ],
    ['one record for a to-many relation', 'PUT', '/orders/1/relationships/tags', { data: { id: '3' } }, 400, 'POST'],
    [
      'several records for a to-one relation',
      'PUT',
      '/orders/1/relationships/customer',
      { data: [{ id: '3' }] },
      400,
      'one record',
    ],
    ['no data', 'PUT', '/orders/1/relationships/customer', {}, 400, 'one record'],
    [
      'an unknown record for a to-one relation',
      'PUT',
      '/orders/1/relationships/customer',
      { data: { id: '99' } },
      404,
      '99',
    ],
    ['an unknown parent', 'PUT', '/customers/99/relationships/profile', { data: { id: '1' } }, 404, '99'],
    ['an unknown route', 'PUT', '/orders/1/relationships/tags/0', { data: { attributes: {} } }, 404, ''],
  ])('%s', async (_, method, path, body, status, told) => {
    const before = await state();
    const answer = await place.call(method, path, body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(told)]);
    expect(await state()).toEqual(before);
  });

  test('a deletion of more records than one call may delete is refused with their number', async () => {
    const many = Array.from({ length: 501 }, (_, at) => `(${at + 100}, 'w')`).join();
    await runSql(place.database, [`INSERT INTO tags VALUES ${many}`]);
    const answer = await place.call('DELETE', '/tags', {
      data: { attributes: { all_records: true, all_records_ids_excluded: ['1', '2'] } },
    });
    const most = await place.call('DELETE', '/tags', {
      data: { attributes: { all_records: true, all_records_ids_excluded: ['1', '2', '3', '100'] } },
    });
    expect([answer.status, answer.text, most.status, await place.rows('SELECT id FROM tags ORDER BY id')]).toEqual([
      400,
      expect.stringContaining("502 records of 'tags', and one call takes at most 500"),
      204,
      ['1', '2', '3', '100'],
    ]);
  });
});

describe('permissions', () => {
  let place: Workshop;
  beforeEach(async () => {
    place = await openWorkshop();
  });
  afterEach(() => place?.stop());
  const attributes = { label: 'x' };
  /** Calls that succeed with every permission. */
  const calls: readonly (readonly [method: string, path: string, body: unknown])[] = [
    ['POST', '/orders', { data: { attributes: { id: 8, label: 'x', total: 1 } } }],
    ['PUT', '/orders/2', { data: { attributes } }],
    ['PATCH', '/orders/2', { data: { attributes } }],
    ['PUT', '/orders/2/relationships/customer', { data: { id: '3' } }],
    ['POST', '/customers/3/relationships/orders', { data: [{ id: '2' }] }],
    ['DELETE', '/customers/3/relationships/orders', { data: [{ id: '2' }] }],
    ['PUT', '/customers/3/relationships/profile', { data: { id: '3' } }],
    ['POST', '/orders/2/relationships/tags', { data: [{ id: '3' }] }],
    ['DELETE', '/orders/2/relationships/tags', { data: [{ id: '3' }] }],
    ['DELETE', '/orders/2/relationships/items?delete=true', { data: { attributes: { ids: ['2|1'] } } }],
    ['DELETE', '/orders/4', undefined],
    ['DELETE', '/orders', { data: { attributes: { ids: ['8'] } } }],
  ];
  const outcomes = async () => {
    const told: string[] = [];
    for (const [method, path, body] of calls) {
      const answer = await place.call(method, path, body);
      told.push(`${answer.status} ${codeOf(answer) ?? ''}`.trim());
    }
    return told;
  };
  const whole = ['200', '200', '200', ...Array<string>(9).fill('204')];

  test('every policy on every write: an approval in the console cannot be given or bypassed here', async () => {
    const everywhere = (row: CollectionPermission) =>
      Object.fromEntries(
        ['orders', 'customers', 'profiles', 'items', 'tags', 'taggings'].map((name) => [name, { ...all, ...row }]),
      );
    const seen: Record<string, unknown> = {};
    for (const policy of ['ask-person', 'deny'] as const) {
      await place.permit(everywhere({ ...all, approval: { add: policy, edit: policy, delete: policy } }));
      seen[policy] = await outcomes();
    }
    await place.permit(everywhere({ ...all, approval: { edit: { policy: 'ask-person', secondPerson: true } } }));
    seen.second = await outcomes();
    expect(seen).toEqual({
      'ask-person': Array<string>(12).fill('403 NEEDS_APPROVAL'),
      deny: expect.arrayContaining(['403 FORBIDDEN']),
      second: ['200', ...Array<string>(8).fill('403 NEEDS_APPROVAL'), ...['204', '204', '204']],
    });
    expect((seen.deny as string[]).every((one) => one.startsWith('403'))).toBe(true);
  });

  test('the policy ask does not apply to this API', async () => {
    const approval = { add: 'ask', edit: 'ask', delete: 'ask' } as const;
    await place.permit({ '*': { ...all, approval } });
    expect(await outcomes()).toEqual(whole);
  });

  test('an approval for one side of a relation protects it against writes from the other side', async () => {
    await place.permit({ '*': all, profiles: { ...all, approval: { edit: 'ask-person' } } });
    const answer = await place.call('PUT', '/customers/3/relationships/profile', { data: { id: '3' } });
    const nested = await place.call('PUT', '/customers/1', { data: { attributes: { profile: { bio: 'new' } } } });
    expect([codeOf(answer), codeOf(nested), await place.rows('SELECT bio, customer_id FROM profiles')]).toEqual([
      ...['NEEDS_APPROVAL', 'NEEDS_APPROVAL'],
      ['curls 1', 'hats 2', 'free '],
    ]);
  });

  test('the row scope applies to both sides of a relation, before and after', async () => {
    const { permissions } = place.store;
    const { team } = (await permissions.accessOf(2))!.caller;
    await permissions.setScope(team, 'orders', { field: 'customer_id', operator: 'Equal', value: 1 });
    await permissions.setScope(team, 'profiles', { field: 'id', operator: 'NotEqual', value: 2 });
    await permissions.setScope(team, 'customers', { field: 'id', operator: 'LessThan', value: 3 });
    const ask = async (method: string, path: string, data: unknown) =>
      (await place.call(method, path, { data })).status;
    const seen = [
      // Hidden from this caller.
      await ask('PUT', '/orders/3', { attributes }),
      (await place.call('DELETE', '/orders/3')).status,
      await ask('POST', '/orders/3/relationships/tags', [{ id: '1' }]),
      await ask('POST', '/customers/1/relationships/orders', [{ id: '3' }]),
      await ask('PUT', '/orders/1/relationships/customer', { id: '3' }),
      await ask('PUT', '/customers/3/relationships/profile', { id: '3' }),
      await ask('PUT', '/customers/1/relationships/profile', { id: '2' }),
      // Would be hidden from the caller after the write.
      await ask('POST', '/orders', { attributes: { id: 8, label: 'x', total: 1, customer_id: 2 } }),
      await ask('PUT', '/orders/1/relationships/customer', { id: '2' }),
      await ask('DELETE', '/customers/1/relationships/orders', [{ id: '1' }]),
      // Would take a profile that the caller may not see from a customer.
      await ask('PUT', '/customers/2/relationships/profile', { id: '3' }),
    ];
    const everything = await place.call('DELETE', '/taggings', { data: { attributes: { all_records: true } } });
    expect(seen.map((status) => status === 404 || status === 403 || status === 422)).toEqual(seen.map(() => true));
    expect(everything.status).toBe(204);
    expect(await place.rows('SELECT id, label, customer_id FROM orders ORDER BY id')).toEqual([
      ...['1 boots 1', '2 hats 1', '3 socks 2', '4 belts '],
    ]);
    expect(await place.rows('SELECT id, customer_id FROM profiles ORDER BY id')).toEqual(['1 1', '2 2', '3 ']);
  });

  test('each write makes a log entry with the ids of its records', async () => {
    await outcomes();
    const entries = (await place.entries()).filter(({ type }) => type === 'write');
    expect(
      entries.map(({ action, collection, recordIds, outcome }) => [action, collection, recordIds, outcome]),
    ).toEqual([
      ['create', 'orders', ['8'], 'completed'],
      ['update', 'orders', ['2'], 'completed'],
      ['update', 'orders', ['2'], 'completed'],
      ['update', 'orders', ['2'], 'completed'],
      ['associate', 'customers', ['3'], 'completed'],
      ['dissociate', 'customers', ['3'], 'completed'],
      ['update', 'customers', ['3'], 'completed'],
      ['associate', 'orders', ['2'], 'completed'],
      ['dissociate', 'orders', ['2'], 'completed'],
      ['dissociate', 'orders', ['2'], 'completed'],
      ['delete', 'orders', ['4'], 'completed'],
      ['delete', 'orders', ['8'], 'completed'],
    ]);
  });
});

test('a completed write is reported as completed, even if the record cannot be read again', async () => {
  const place = await openWorkshop({ permissions: { '*': { ...all, read: false } } });
  onTestFinished(() => place.stop());
  const { status, body } = await place.call('PUT', '/tags/1', { data: { attributes: { word: 'soon' } } });
  expect([status, body]).toEqual([
    200,
    { jsonapi: { version: '1.0' }, data: { type: 'tags', id: '1', attributes: { id: 1, word: 'soon' } } },
  ]);
});
