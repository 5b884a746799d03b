// The five write tools over the real endpoint, on every database.
import { afterEach, describe, expect, test } from 'vitest';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import { accessOf, databases, type Rights, type Seller, type Shop, shopTables } from '../agent/shop.ts';
import { ask } from '../mcp/asking.ts';
import { type McpTestServer, openMcpServer } from '../mcp/mcp-server.ts';

let server: McpTestServer;
let shop: Shop | undefined;
afterEach(async () => {
  await server.close();
  await shop?.close();
  shop = undefined;
});

type Given = Record<string, unknown>;

async function open(rights: Rights = {}, seller?: Seller, settings = {}) {
  const opened = await seller?.open();
  shop = opened;
  server = await openMcpServer({
    source: createMemorySource('memory', shopTables),
    access: () => accessOf(rights),
    settings,
    ...(opened && { around: () => ({ ...opened.engine, close: async () => {} }) }),
  });
  const call = (tool: string, given: Given) => ask(server, tool, given);
  return {
    call,
    /** The result of the call, and the rows of the collection afterwards. */
    async wrote(tool: string, given: Given, collectionName: string, fields: readonly string[]) {
      const answer = JSON.parse(await call(tool, given));
      return [answer, JSON.parse(await call('list', { collectionName, fields })).rows];
    },
  };
}

const orders = 'orders';
const instant = '2024-06-01T10:00:00.000Z';

describe.each(databases)('4.4 MCP tools on $name', (seller) => {
  test('create: one record, and a list of records; the answer contains what is stored', async () => {
    const { call, wrote } = await open({}, seller);
    const attributes = { id: 6, customer_id: 1, total: '12.50', placed_at: instant };
    expect(await wrote('create', { collectionName: orders, attributes }, orders, ['id', 'total'])).toEqual([
      {
        count: 1,
        ids: ['6'],
        columns: ['id', 'customer_id', 'total', 'placed_at'],
        rows: [[6, 1, 12.5, instant]],
      },
      [
        [1, 10.5],
        [2, 20],
        [3, 20],
        [4, 30],
        [5, 5],
        [6, 12.5],
      ],
    ]);
    const several = [7, 8].map((id) => ({ id, name: `Customer ${id}` }));
    expect(
      JSON.parse(await call('create', { collectionName: 'customers', attributes: JSON.stringify(several) })),
    ).toMatchObject({ count: 2, ids: ['7', '8'] });
  });

  test('update: one record, several with equal values, and one with a packed key', async () => {
    const { call, wrote } = await open({}, seller);
    const one = { collectionName: orders, recordId: '1', attributes: '{"total":11}' };
    const several = { collectionName: orders, recordIds: [2, '3'], attributes: { total: 21, customer_id: null } };
    const packed = { collectionName: 'order_lines', recordId: '1|2', attributes: { article: 'nib' } };
    expect([
      JSON.parse(await call('update', one)),
      JSON.parse(await call('update', several)).ids,
      await wrote('update', packed, 'order_lines', ['article']),
      JSON.parse(await call('list', { collectionName: orders, fields: ['total', 'customer_id'] })).rows,
    ]).toEqual([
      {
        count: 1,
        ids: ['1'],
        columns: ['id', 'customer_id', 'total', 'placed_at'],
        rows: [[1, 1, 11, '2024-03-30T23:30:00.000Z']],
      },
      ['2', '3'],
      [
        { count: 1, ids: ['1|2'], columns: ['order_id', 'line', 'article'], rows: [[1, 2, 'nib']] },
        [['pen'], ['nib'], ['pen'], ['pad'], ['pen']],
      ],
      [
        [11, 1],
        [21, null],
        [21, null],
        [30, null],
        [5, 3],
      ],
    ]);
  });

  test('delete: several records, of one and of several key columns', async () => {
    const { wrote } = await open({}, seller);
    expect([
      await wrote('delete', { collectionName: 'line_notes', recordIds: [3, '1'] }, 'line_notes', ['id']),
      await wrote('delete', { collectionName: 'order_lines', recordIds: '["1|1",[1,2]]' }, 'order_lines', ['article']),
    ]).toEqual([
      [{ count: 2, ids: ['3', '1'] }, [[2]]],
      [{ count: 2, ids: ['1|1', '1|2'] }, [['pen'], ['pad'], ['pen']]],
    ]);
  });

  const link = { collectionName: 'customers', relationName: 'orders', parentRecordId: 1 };
  test('associate: records of a to-many relation are linked to this record', async () => {
    const { wrote } = await open({}, seller);
    expect(await wrote('associate', { ...link, targetRecordId: ['4', 5] }, orders, ['customer_id'])).toEqual([
      { count: 2, collection: orders, ids: ['4', '5'] },
      [[1], [2], [2], [1], [1]],
    ]);
  });

  test('dissociate: the records are unlinked, and not deleted', async () => {
    const { wrote } = await open({}, seller);
    expect(await wrote('dissociate', { ...link, targetRecordIds: 1 }, orders, ['customer_id'])).toEqual([
      { count: 1, collection: orders, ids: ['1'] },
      [[null], [2], [2], [null], [3]],
    ]);
  });

  test('create, update, delete, associate, dissociate: dryRun: all five return the values before and after, and write nothing', async () => {
    const { call } = await open({}, seller);
    const dryRun = true;
    const attributes = { id: 6, total: 1, placed_at: instant };
    const told = [
      await call('create', { collectionName: orders, attributes, dryRun }),
      await call('update', { collectionName: orders, recordIds: [2, 3], attributes: { total: 20 }, dryRun }),
      await call('update', { collectionName: orders, recordId: 2, attributes: { total: 7 }, dryRun: 'true' }),
      await call('delete', { collectionName: 'line_notes', recordIds: [3], dryRun }),
      await call('associate', { ...link, targetRecordId: 4, dryRun }),
      await call('dissociate', { ...link, targetRecordIds: [1], dryRun }),
    ];
    const stored = (value: unknown) => ({ before: null, after: value });
    expect([
      told.map((text) => JSON.parse(text)),
      JSON.parse(await call('list', { collectionName: orders, fields: ['id', 'total', 'customer_id'] })).rows,
      JSON.parse(await call('list', { collectionName: 'line_notes', fields: ['id'] })).rows,
    ]).toEqual([
      [
        {
          dryRun,
          count: 1,
          changes: [{ id: null, fields: { id: stored(6), total: stored(1), placed_at: stored(instant) } }],
        },
        {
          dryRun,
          count: 2,
          changes: [
            { id: '2', fields: {} },
            { id: '3', fields: {} },
          ],
        },
        { dryRun, count: 1, changes: [{ id: '2', fields: { total: { before: 20, after: 7 } } }] },
        {
          dryRun,
          count: 1,
          changes: [
            {
              id: '3',
              fields: {
                id: { before: 3, after: null },
                order_id: { before: 1, after: null },
                text: { before: 'loose', after: null },
              },
            },
          ],
        },
        { dryRun, count: 1, collection: orders, changes: [{ id: '4', fields: { customer_id: stored(1) } }] },
        {
          dryRun,
          count: 1,
          collection: orders,
          changes: [{ id: '1', fields: { customer_id: { before: 1, after: null } } }],
        },
      ],
      [
        [1, 10.5, 1],
        [2, 20, 2],
        [3, 20, 2],
        [4, 30, null],
        [5, 5, 3],
      ],
      [[1], [2], [3]],
    ]);
  });

  test('create, update: database errors name the fields, in a dry run as well, and nothing is written', async () => {
    const { call } = await open({}, seller);
    const twice = {
      collectionName: 'customers',
      attributes: [
        { id: 9, name: 'New' },
        { id: 1, name: 'Taken' },
      ],
    };
    const lost = { collectionName: orders, recordId: 1, attributes: { customer_id: 77 } };
    const used = { collectionName: 'customers', recordIds: [1] };
    const [create, dryCreate, update, remove, dryRemove] = [
      await call('create', twice),
      await call('create', { ...twice, dryRun: true }),
      await call('update', lost),
      await call('delete', used),
      await call('delete', { ...used, dryRun: true }),
    ];
    expect([
      [create, update, remove],
      [dryCreate === create, dryRemove === remove],
      JSON.parse(await call('list', { collectionName: 'customers', fields: ['id'] })).rows,
    ]).toEqual([
      [
        expect.stringMatching(/^INVALID_RECORD: Nothing was written to 'customers'\. .*id/),
        expect.stringMatching(/^INVALID_RECORD: Nothing was written to 'orders'\. customer_id: /),
        "RECORD_IN_USE: Nothing was written to 'customers': other records reference a record that this would delete. Delete those records or remove their links first.",
      ],
      [true, true],
      [[1], [2], [3]],
    ]);
  });

  test('create, update, delete, associate, dissociate: several records are written all or none, and the error names the missing ones', async () => {
    const { call } = await open({ scopes: { orders: { field: 'id', operator: 'NotEqual', value: 5 } } }, seller);
    expect([
      await call('update', { collectionName: orders, recordIds: [1, 5, 99], attributes: { total: 1 } }),
      await call('delete', { collectionName: 'line_notes', recordIds: [1, 98, 99] }),
      await call('associate', { ...link, targetRecordId: [4, 5] }),
      await call('associate', { ...link, parentRecordId: 9, targetRecordId: 4 }),
      await call('dissociate', { ...link, targetRecordIds: [1, 2] }),
      JSON.parse(await call('list', { collectionName: orders, fields: ['total', 'customer_id'] })).rows,
      JSON.parse(await call('list', { collectionName: 'line_notes', fields: ['id'] })).rows,
    ]).toEqual([
      "RECORD_NOT_FOUND: No records '5', '99' in 'orders', or you may not see them.",
      "RECORD_NOT_FOUND: No records '98', '99' in 'line_notes', or you may not see them.",
      "RECORD_NOT_FOUND: No record '5' in 'orders', or you may not see it.",
      "RECORD_NOT_FOUND: No record '9' in 'customers', or you may not see it.",
      expect.stringMatching(
        /^RECORD_NOT_FOUND: No records were removed: '2' of 'orders' is not in 'orders' of this record/,
      ),
      [
        [10.5, 1],
        [20, 2],
        [20, 2],
        [30, null],
      ],
      [[1], [2], [3]],
    ]);
  });
});

test('associate, dissociate: many to many: rows of the join table are created and deleted, and the answer names it', async () => {
  const [customers, orders] = shopTables;
  server = await openMcpServer({
    source: createMemorySource('memory', [
      customers!,
      orders!,
      {
        name: 'likes',
        columns: [
          { name: 'customer', type: 'Number' },
          { name: 'liked', type: 'Number' },
        ],
        primaryKey: ['customer', 'liked'],
        foreignKeys: [
          { columns: ['customer'], table: 'customers', targetColumns: ['id'] },
          { columns: ['liked'], table: 'orders', targetColumns: ['id'] },
        ],
        rows: [[1, 1]],
      },
    ]),
    access: () => accessOf(),
    customize: (agent) =>
      agent.customizeCollection('customers', (each) =>
        each.addManyToManyRelation('liked', 'orders', 'likes', { originKey: 'customer', foreignKey: 'liked' }),
      ),
  });
  const link = { collectionName: 'customers', relationName: 'liked', parentRecordId: 1 };
  const likes = async () => JSON.parse(await ask(server, 'list', { collectionName: 'likes' })).rows;
  const made = JSON.parse(await ask(server, 'associate', { ...link, targetRecordId: [1, 2] }));
  const between = await likes();
  const gone = JSON.parse(await ask(server, 'dissociate', { ...link, targetRecordIds: [1] }));
  expect([made, between, gone, await likes()]).toEqual([
    { count: 1, collection: 'likes', ids: ['1|2'] },
    [
      [1, 1],
      [1, 2],
    ],
    { count: 1, collection: 'likes', ids: ['1|1'] },
    [[1, 2]],
  ]);
});

describe('invalid arguments', () => {
  test('create, update, delete, associate, dissociate: errors use the names of the tool, and say what to send instead', async () => {
    const { call } = await open();
    const customers = { collectionName: 'customers' };
    const link = { ...customers, relationName: 'orders', parentRecordId: 1 };
    expect([
      await call('create', { attributes: {} }),
      await call('create', { ...customers }),
      await call('create', { ...customers, attributes: 'Ada' }),
      await call('create', { ...customers, attributes: [] }),
      await call('create', { ...customers, attributes: { id: 'x', nam: 'Ada' } }),
      await call('create', { ...customers, attributes: [{ id: 8, name: 'Eve' }, { id: 9 }] }),
      await call('create', { ...customers, attributes: { id: 8, name: 'Eve' }, dry_run: true }),
      await call('update', { ...customers, recordId: 1 }),
      await call('update', { ...customers, recordId: 1, attributes: {} }),
      await call('update', { ...customers, recordId: 'one', attributes: { name: 'A' } }),
      await call('update', { ...customers, recordId: 1, recordIds: [2], attributes: { name: 'A' } }),
      await call('delete', { ...customers }),
      await call('delete', { ...customers, recordIds: [] }),
      await call('delete', { ...customers, recordIds: '[]' }),
      await call('delete', { ...customers, recordIds: null }),
      await call('delete', { ...customers, recordIds: { id: 1 } }),
      await call('delete', { collectionName: 'order_lines', recordIds: ['1'] }),
      await call('dissociate', { ...link, targetRecordIds: [] }),
      await call('dissociate', {
        collectionName: 'orders',
        relationName: 'order_lines',
        parentRecordId: 1,
        targetRecordIds: ['1|1'],
      }),
      await call('associate', { ...link, relationName: 'order', targetRecordId: 1 }),
      await call('associate', {
        collectionName: 'orders',
        relationName: 'customer',
        parentRecordId: 1,
        targetRecordId: 1,
      }),
      await call('associate', { ...link, parentRecordId: 'one', targetRecordId: 1 }),
      await call('associate', { ...link, targetRecordId: 'one' }),
    ]).toEqual([
      'INVALID_ARGUMENT: collectionName: send the name of a collection.',
      'INVALID_ARGUMENT: attributes: send the values by field, such as {"name":"Ada","age":36}.',
      'INVALID_ARGUMENT: attributes: send the values by field, such as {"name":"Ada","age":36}.',
      'INVALID_ARGUMENT: attributes: send at least one; an empty list does not mean all records.',
      expect.stringMatching(/^INVALID_RECORD: Nothing was written to 'customers'\. id: .* nam: .*name/),
      expect.stringMatching(/^INVALID_RECORD: .* attributes\[1\]\.name: /),
      // A misspelled dryRun is still a dry run.
      expect.stringMatching(/^\{"dryRun":true,"count":1,/),
      'INVALID_ARGUMENT: attributes: send an object such as {"status":"paid"}.',
      'INVALID_ARGUMENT: attributes: name at least one field to write.',
      'INVALID_VALUE: recordId: expected a number, got "one".',
      "INVALID_ARGUMENT: recordIds: same as 'recordId', which was also sent: send only one.",
      ...Array.from(
        { length: 4 },
        () => 'INVALID_ARGUMENT: recordIds: send at least one id; an empty list does not mean all records.',
      ),
      // A key given by its column name is the id.
      expect.stringMatching(/^RECORD_IN_USE: Nothing was written to 'customers'/),
      'INVALID_VALUE: recordIds: expected an id of 2 parts, order_id|line, got "1".',
      'INVALID_ARGUMENT: targetRecordIds: send at least one id; an empty list does not mean all records.',
      expect.stringMatching(/^INVALID_RECORD: Nothing was written to 'order_lines'\. order_id: may not be null/),
      // The only relation that the singular name can refer to.
      '{"count":1,"collection":"orders","ids":["1"]}',
      expect.stringMatching(/^INVALID_ARGUMENT: relationName: 'customer' leads to one record: update 'customer_id'/),
      'INVALID_VALUE: parentRecordId: expected a number, got "one".',
      'INVALID_VALUE: targetRecordId: expected a number, got "one".',
    ]);
  });

  test('create, update: a long answer is cut between records, and says how many were written', async () => {
    const { call } = await open({}, undefined, { answerTokens: 500 });
    const attributes = Array.from({ length: 200 }, (_, i) => ({ id: 100 + i, name: `Customer ${i}` }));
    const dry = JSON.parse(await call('create', { collectionName: 'customers', attributes, dryRun: true }));
    const done = JSON.parse(await call('create', { collectionName: 'customers', attributes }));
    const ids = attributes.map(({ id }) => `${id}`);
    const removed = JSON.parse(await call('delete', { collectionName: 'customers', recordIds: ids }));
    const long = { id: 9, name: 'n'.repeat(100_000) };
    const clipped = JSON.parse(await call('create', { collectionName: 'customers', attributes: long }));
    const say = (told: unknown[], rest: string) => `Shown: ${told.length} of 200. ${rest}`;
    expect([
      [dry.count, dry.note, dry.changes.length > 3],
      [done.count, done.note, done.rows.length === done.ids.length, done.ids.length > 3],
      [removed.count, removed.note, removed.ids.length > 20],
      [clipped.count, clipped.rows[0][0], clipped.rows[0][1].length < 800],
    ]).toEqual([
      [200, say(dry.changes, 'This dry run wrote no records.'), true],
      [200, say(done.ids, 'All were written; list them to see the rest.'), true, true],
      [200, say(removed.ids, 'All were written; list them to see the rest.'), true],
      [1, 9, true],
    ]);
  });
});

describe('hidden data', () => {
  const hidden = ['customers.secret'];

  test('create, update: a hidden field is not returned, written or suggested', async () => {
    const { call } = await open({ hidden });
    const customers = { collectionName: 'customers' };
    const [made, absent, near, unseen] = [
      await call('create', { ...customers, attributes: { id: 9, name: 'Eve' } }),
      await call('create', { ...customers, attributes: { id: 10, name: 'Eve', sekret: 'x' } }),
      await call('update', { ...customers, recordId: 1, attributes: { secre: 'x' } }),
      await call('update', { ...customers, recordId: 1, attributes: { secret: 'x' } }),
    ];
    expect([
      JSON.parse(made).columns,
      [absent, near].map((text) => text.includes('secret')),
      unseen,
      await call('delete', { ...customers, recordIds: [9], dryRun: true }),
    ]).toEqual([
      ['id', 'name', 'city'],
      [false, false],
      near.replaceAll('secre', 'secret'),
      '{"dryRun":true,"count":1,"changes":[{"id":"9","fields":{"id":{"before":9,"after":null},"name":{"before":"Eve","after":null}}}]}',
    ]);
  });

  test('create, update, delete: the error of a read-only field says so; a hidden collection does not exist', async () => {
    const { call } = await open({ readOnly: ['customers.city'], browse: ['customers'] });
    expect([
      await call('update', { collectionName: 'customers', recordId: 1, attributes: { city: 'Rome' } }),
      await call('delete', { collectionName: 'orders', recordIds: [1] }),
      await call('associate', {
        collectionName: 'customers',
        relationName: 'orders',
        parentRecordId: 1,
        targetRecordId: 1,
      }),
    ]).toEqual([
      expect.stringMatching(/^INVALID_RECORD: Nothing was written to 'customers'\. city: is read-only for you/),
      expect.stringMatching(/^UNKNOWN_COLLECTION: No collection 'orders'/),
      "UNKNOWN_RELATION: 'customers' has no relation 'orders'.",
    ]);
  });

  test.each([
    ['create', 'customers.add', { attributes: { id: 9, name: 'Eve' } }],
    ['update', 'customers.edit', { recordId: 1, attributes: { name: 'Eve' } }],
    ['delete', 'customers.delete', { recordIds: [3] }],
    ['associate', 'orders.edit', { relationName: 'orders', parentRecordId: 1, targetRecordId: 4 }],
    ['dissociate', 'orders.edit', { relationName: 'orders', parentRecordId: 1, targetRecordIds: 1 }],
  ])('%s needs its permission, for a dry run as well', async (tool, denied, given) => {
    const { call } = await open({ denied: [denied] });
    const texts = [
      await call(tool, { collectionName: 'customers', ...given }),
      await call(tool, { collectionName: 'customers', ...given, dryRun: true }),
    ];
    expect(texts.map((text) => text.slice(0, 9))).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  });
});
