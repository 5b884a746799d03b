// Hooks on every source: their context, what they can change, and how they stop a call. They use the names from before
// any renaming.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import type { HookContexts, HookPosition, HookType } from '../../src/agent/customize/hooks.ts';
import { problemsOf, refusalOf } from '../agent/attempt.ts';
import { accessOf, type Shop, sellers } from '../agent/shop.ts';

const all = accessOf();
const rome = { field: 'city', operator: 'Equal', value: 'Rome' } as const;

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  /** The contexts that hooks received, in order. */
  let told: unknown[];
  const hooks = new Map<string, (context: never) => unknown>();
  const on = <P extends HookPosition, T extends HookType>(
    position: P,
    type: T,
    handler: (context: HookContexts[P][T]) => unknown,
  ) => hooks.set(`${position} ${type}`, handler as (context: never) => unknown);

  beforeEach(async () => {
    told = [];
    hooks.clear();
    const listen = (customers: CollectionCustomizer) => {
      customers.renameField('name', 'full name').removeField('secret');
      for (const position of ['Before', 'After'] as const)
        for (const type of ['List', 'Create', 'Update', 'Delete', 'Aggregate'] as const)
          customers.addHook(position, type, async (context) => {
            const { caller, timezone, collection, ai, throwError, throwForbiddenError, throwValidationError, ...rest } =
              context;
            told.push([position, type, structuredClone(JSON.parse(JSON.stringify(rest)))]);
            await hooks.get(`${position} ${type}`)?.(context as never);
          });
    };
    shop = await seller.open({ customize: (agent) => agent.customizeCollection('customers', listen) });
  });
  afterEach(() => shop?.close());

  const give = (values: object) => on('Before', 'Create', ({ data }) => void Object.assign(data[0]!, values));
  const names = async () =>
    (await shop.engine.list(all, { collection: 'customers', fields: ['full name'], limit: 9 })).rows.flat();
  const collection = 'customers';

  test('Hook position: `Before` or `After`; hook types: `List`', async () => {
    on('Before', 'List', (context) => context.narrow({ field: 'name', operator: 'NotEqual', value: 'Cy' }));
    on('After', 'List', ({ records }) => {
      for (const record of records) record.name = `${String(record.name)[0]}.`;
    });
    const filter = { field: 'full name', operator: 'NotEqual', value: 'Bo' } as const;
    const answer = await shop.engine.list(all, { collection, fields: ['full name', 'id'], filter, limit: 9 });
    const asked = { ...filter, field: 'name' };
    const narrowed = { field: 'name', operator: 'NotEqual', value: 'Cy' };
    const told1 = { collectionName: collection, projection: ['name', 'id'], filter: { conditionTree: asked } };
    const conditionTree = { aggregator: 'And', conditions: [asked, narrowed] };
    expect([answer.rows, answer.records(), told]).toEqual([
      [['A.', 1]],
      [{ 'full name': 'A.', id: 1 }],
      [
        ['Before', 'List', told1],
        ['After', 'List', { ...told1, filter: { conditionTree }, records: [{ name: 'Ada', id: 1 }] }],
      ],
    ]);
  });

  test('Before, List | hook | a narrowed list also applies the row scope, and its cursor continues', async () => {
    on('Before', 'List', (context) => context.narrow({ field: 'id', operator: 'GreaterThan', value: 1 }));
    on('After', 'List', ({ records }) => void Object.assign(records[0] ?? {}, { id: 'hidden' }));
    const request = { collection, fields: ['id'], limit: 1 };
    const first = await shop.engine.list(all, request);
    const next = await shop.engine.list(all, { ...request, cursor: first.cursorAfter(0)! });
    const scoped = await shop.engine.list(accessOf({ scopes: { customers: { ...rome, value: 'Paris' } } }), request);
    expect([first.rows, next.rows, next.hasMore, scoped.rows]).toEqual([[['hidden']], [['hidden']], false, []]);
  });

  test('hook types: `Create`: the data can be changed before, and is as stored after', async () => {
    on('Before', 'Create', ({ data }) => {
      data[0]!.name = String(data[0]!.name).trim();
      data[0]!.secret = 'by the hook';
    });
    const { records } = await shop.engine.create(all, { collection, records: [{ id: 9, 'full name': ' Di ' }] });
    const data = [{ id: 9, name: 'Di', secret: 'by the hook' }];
    expect([records, told]).toEqual([
      [{ id: 9, 'full name': 'Di', city: null }],
      [
        ['Before', 'Create', { collectionName: collection, data: [{ id: 9, name: ' Di ' }], isPreview: false }],
        ['After', 'Create', { collectionName: collection, data, records: [{ ...data[0], city: null }] }],
      ],
    ]);
  });

  test('Before, Create | hook | a hook may fill required fields; the resulting values are validated', async () => {
    give({ name: 'Nobody' });
    const { records } = await shop.engine.create(all, { collection, records: [{ id: 9 }] });
    give({ id: 'nine' });
    const wrong = await refusalOf(shop.engine.create(all, { collection, records: [{ id: 10, 'full name': 'X' }] }));
    give({ nme: 'X' });
    const unknown = await refusalOf(shop.engine.create(all, { collection, records: [{ id: 10, 'full name': 'X' }] }));
    give({ name: null });
    const missing = await problemsOf(shop.engine.create(all, { collection, records: [{ id: 10, 'full name': 'X' }] }));
    expect([records[0], wrong.code, wrong.message, (wrong.cause as Error).message, unknown.code, missing]).toEqual([
      { id: 9, 'full name': 'Nobody', city: null },
      'CUSTOMIZATION_FAILED',
      expect.stringContaining("the hook 'Before Create' of 'customers'"),
      expect.stringMatching(
        /2\.7-hooks\.test\.ts:\d+, failed: It set a value that cannot be written: id: expected a number$/,
      ),
      'CUSTOMIZATION_FAILED',
      ['full name: may not be null: send a String.'],
    ]);
  });

  test('hook types: `Update`: the patch can be changed, and records can be left out', async () => {
    on('Before', 'Update', (context) => {
      context.patch.secret = context.patch.name;
      context.narrow({ field: 'id', operator: 'LessThan', value: 3 });
    });
    const filter = { field: 'id', operator: 'Present' } as const;
    const request = { collection, filter, values: { 'full name': 'X' } };
    const { ids } = await shop.engine.update(all, request);
    const outside = await refusalOf(shop.engine.update(all, { collection, ids: [2, 3], values: { city: 'Bern' } }));
    const records = [
      { id: 1, name: 'X', city: 'Paris', secret: 'X' },
      { id: 2, name: 'X', city: 'Rome', secret: 'X' },
    ];
    const conditionTree = { aggregator: 'And', conditions: [filter, { field: 'id', operator: 'LessThan', value: 3 }] };
    expect([ids, told.slice(0, 2), outside.code, outside.details?.missing, await names()]).toEqual([
      ['1', '2'],
      [
        [
          'Before',
          'Update',
          { collectionName: collection, filter: { conditionTree: filter }, patch: { name: 'X' }, isPreview: false },
        ],
        [
          'After',
          'Update',
          { collectionName: collection, filter: { conditionTree }, patch: { name: 'X', secret: 'X' }, records },
        ],
      ],
      'RECORD_NOT_FOUND',
      ['3'],
      ['X', 'X', 'Cy'],
    ]);
  });

  test('hook types: `Delete`: gets the selected records, and their former values', async () => {
    const records = [
      { id: 9, 'full name': 'Di' },
      { id: 10, 'full name': 'Ed' },
    ];
    await shop.engine.create(all, { collection, records });
    told = [];
    on('Before', 'Delete', (context) => context.narrow({ field: 'name', operator: 'NotEqual', value: 'Ed' }));
    const refused = await refusalOf(shop.engine.delete(all, { collection, ids: [9, 10] }));
    await shop.engine.delete(all, { collection, ids: [9] });
    expect([refused.details?.missing, told.at(-1), (await names()).length]).toEqual([
      ['10'],
      [
        'After',
        'Delete',
        {
          collectionName: collection,
          filter: {
            conditionTree: {
              aggregator: 'And',
              conditions: [
                { field: 'id', operator: 'In', value: [9] },
                { field: 'name', operator: 'NotEqual', value: 'Ed' },
              ],
            },
          },
          records: [{ id: 9, name: 'Di', city: null, secret: null }],
        },
      ],
      4,
    ]);
  });

  test('hook types: `Aggregate`: narrowed before, its values changed after; a count is an aggregate', async () => {
    on('Before', 'Aggregate', (context) => context.narrow({ field: 'id', operator: 'LessThan', value: 3 }));
    on('After', 'Aggregate', ({ result }) => {
      for (const each of result) each.value = Number(each.value) * 10;
    });
    const request = { collection, operation: 'Count', groups: [{ field: 'full name' }], limit: 9 } as const;
    const { rows } = await shop.engine.aggregate(all, request);
    const aggregation = { operation: 'Count', groups: [{ field: 'name' }] };
    expect([rows, await shop.engine.count(all, { collection }), told[0], told[1]]).toEqual([
      [
        ['Ada', 10],
        ['Bo', 10],
      ],
      20,
      ['Before', 'Aggregate', { collectionName: collection, filter: {}, aggregation }],
      [
        'After',
        'Aggregate',
        {
          collectionName: collection,
          filter: {
            conditionTree: { aggregator: 'And', conditions: [{ field: 'id', operator: 'LessThan', value: 3 }] },
          },
          aggregation,
          result: [
            { value: 1, group: { name: 'Ada' } },
            { value: 1, group: { name: 'Bo' } },
          ],
        },
      ],
    ]);
  });

  test('Before | hook | the error of a hook reaches the caller, and nothing is written', async () => {
    const create = () => refusalOf(shop.engine.create(all, { collection, records: [{ id: 9, 'full name': 'X' }] }));
    const stop = async (handler: (context: HookContexts['Before']['Create']) => never) => {
      on('Before', 'Create', handler);
      const { code, message } = await create();
      return [code, message];
    };
    on('Before', 'List', (context) => context.throwValidationError('Ask for less.', 'page'));
    expect([
      await stop((context) => context.throwError('Not now.')),
      await stop((context) => context.throwForbiddenError('Not you.')),
      await stop((context) => context.throwValidationError('is taken.', 'full name')),
      await stop(() => {
        throw new Error('password of the database');
      }),
      (await refusalOf(names())).code,
      await shop.engine.count(all, { collection }),
    ]).toEqual([
      ['REFUSED', 'Not now.'],
      ['DENIED', 'Not you.'],
      ['INVALID_RECORD', "Nothing was written to 'customers'. full name: is taken."],
      ['CUSTOMIZATION_FAILED', expect.not.stringContaining('password')],
      'REFUSED',
      3,
    ]);
  });

  test('After, Create, Update, Delete | hook | a hook that throws after a write cannot undo it, and the error says so', async () => {
    on('After', 'Create', (context) => context.throwError('The mail was not sent.'));
    on('After', 'Update', () => {
      throw new Error('password of the database');
    });
    const created = await refusalOf(shop.engine.create(all, { collection, records: [{ id: 9, 'full name': 'X' }] }));
    const updated = await refusalOf(shop.engine.update(all, { collection, ids: [9], values: { city: 'Oslo' } }));
    hooks.clear();
    expect([created.code, created.message, updated.code, updated.message, (await names()).length]).toEqual([
      'FAILED_AFTER_WRITE',
      "The write to 'customers' was saved, but the operator's code failed after it: The mail was not sent. Do not repeat the call; check the records with list.",
      'FAILED_AFTER_WRITE',
      "The write to 'customers' was saved, but the operator's code failed after it: the hook 'After Update' failed. Do not repeat the call; check the records with list.",
      4,
    ]);
  });

  test('Before, After, Create, Update, Delete | hook | in a preview isPreview is true, and After hooks are not called', async () => {
    const preview = { preview: true };
    await shop.engine.update(all, { collection, ids: [1], values: { city: 'Bern' } }, preview);
    await shop.engine.create(all, { collection, records: [{ id: 9, 'full name': 'X' }] }, preview);
    expect(told.map((each) => (each as unknown[]).slice(0, 2).join(' '))).toEqual(['Before Update', 'Before Create']);
    expect(JSON.stringify(told)).toMatch(/"isPreview":true.*"isPreview":true/);
  });

  test('Before, After | hook | code in a hook reads and writes with unscoped access, and the call continues', async () => {
    on('Before', 'Update', async ({ collection: open, patch }) => {
      const [first] = await open('customers').list({ conditionTree: rome }, ['secret']);
      patch.secret = `${first?.secret} seen`;
    });
    await shop.engine.update(all, { collection, ids: [1], values: { city: 'Bern' } });
    expect(JSON.stringify(told.at(-1))).toContain('x2 seen');
  });

  test('Before, After | hook | hooks run in the order in which they were added, after names are checked', async () => {
    const order: string[] = [];
    const ordered = await seller.open({
      customize: (agent) =>
        agent.customizeCollection('orders', (orders) =>
          orders
            .addHook('Before', 'List', () => void order.push('first'))
            .addHook('Before', 'List', async () => void order.push('second')),
        ),
    });
    await ordered.engine.list(all, { collection: 'orders', limit: 1 });
    const filter = { field: 'totl', operator: 'Present' } as const;
    const wrong = await refusalOf(ordered.engine.list(all, { collection: 'orders', filter, limit: 1 }));
    await ordered.close();
    expect([order, wrong.code]).toEqual([['first', 'second'], 'UNKNOWN_FIELD']);
  });
});

test('Before, After, List, Create, Update, Delete, Aggregate | hook | an unknown position or type stops the start, with the line of the call', async () => {
  const start = (position: 'Before', type: 'List') =>
    sellers[0]!.open({
      customize: (agent) => agent.customizeCollection('orders', (orders) => orders.addHook(position, type, () => {})),
    });
  expect([
    (await refusalOf(start('During' as 'Before', 'List'))).message,
    (await refusalOf(start('Before', 'Read' as 'List'))).message,
  ]).toEqual([
    expect.stringMatching(/no hook position 'During'.*2\.7-hooks\.test\.ts:\d+/),
    expect.stringMatching(/no hook type 'Read'.*2\.7-hooks\.test\.ts:\d+/),
  ]);
});
