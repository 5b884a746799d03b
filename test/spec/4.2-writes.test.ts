// Customized writes on every source: replaced fields, records written along with others, and overrides.
import { afterEach, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import type { FieldWriter } from '../../src/agent/customize/hooks.ts';
import type { FieldAccess } from '../../src/core/caller.ts';
import { problemsOf, refusalOf } from '../agent/attempt.ts';
import { accessOf, type Shop, sellers } from '../agent/shop.ts';

const all = accessOf();
const on =
  (name: string, say: (collection: CollectionCustomizer) => unknown) =>
  (agent: HeadlessAgent): void =>
    void agent.customizeCollection(name, (collection) => void say(collection));
const made = (name: string, dependency: string, write?: FieldWriter | null) => (each: CollectionCustomizer) => {
  each.addField(name, {
    columnType: 'String',
    dependencies: [dependency],
    getValues: (records) => records.map((record) => `<${record[dependency]}>`),
  });
  if (write !== undefined) each.replaceFieldWriting(name, write);
  return each;
};

describe.each(sellers)('$name', (seller) => {
  const opened: Shop[] = [];
  const open = async (...customize: readonly ((agent: HeadlessAgent) => void)[]): Promise<Shop> => {
    const shop = await seller.open({
      customize: (agent) => {
        for (const each of customize) each(agent);
      },
    });
    opened.push(shop);
    return shop;
  };
  afterEach(async () => {
    for (const shop of opened.splice(0)) await shop.close();
  });

  const rowsOf = async ({ engine }: Shop, collection: string, fields: string[]) =>
    (await engine.list(all, { collection, fields, limit: 50 })).rows;
  const customers = (shop: Shop) => rowsOf(shop, 'customers', ['id', 'name', 'city']);
  const untouched = [
    [1, 'Ada', 'Paris'],
    [2, 'Bo', 'Rome'],
    [3, 'Cy', null],
  ];

  describe('replaceFieldWriting', () => {
    test('replaceFieldWriting: the result of the function is written instead, also the field itself', async () => {
      const seen: unknown[] = [];
      const shop = await open(
        on('customers', (each) =>
          each.renameField('name', 'full name').replaceFieldWriting('name', (value, { action, record, caller }) => {
            seen.push([action, record, caller.id]);
            return { name: String(value).trim(), secret: value };
          }),
        ),
      );
      await shop.engine.create(all, { collection: 'customers', records: [{ id: 9, 'full name': ' Di ' }] });
      await shop.engine.update(all, { collection: 'customers', ids: [1], values: { 'full name': ' Eva' } });
      expect([await rowsOf(shop, 'customers', ['id', 'full name', 'secret']), seen]).toEqual([
        [
          [1, 'Eva', ' Eva'],
          [2, 'Bo', 'x2'],
          [3, 'Cy', 'x3'],
          [9, 'Di', ' Di '],
        ],
        [
          ['create', { id: 9, name: ' Di ' }, 1],
          ['update', { name: ' Eva' }, 1],
        ],
      ]);
    });

    test('replaceFieldWriting: makes an added field writable, also through another one', async () => {
      const shop = await open(
        on(
          'customers',
          made('label', 'name', async (value) => ({ tag: `${value}!` })),
        ),
        on(
          'customers',
          made('tag', 'city', (value) => ({ name: value, city: value === 'x!' ? undefined : 'Oslo' })),
        ),
      );
      const described = shop.engine.describe(all, 'customers').fields.filter(({ readOnly }) => !readOnly);
      await shop.engine.update(all, { collection: 'customers', ids: [1], values: { label: 'x' } });
      await shop.engine.create(all, { collection: 'customers', records: [{ id: 9, label: 'y' }] });
      expect([described.map(({ name }) => name), await customers(shop)]).toEqual([
        ['id', 'name', 'city', 'secret', 'label', 'tag'],
        [[1, 'x!', 'Paris'], ...untouched.slice(1), [9, 'y!', 'Oslo']],
      ]);
    });

    test('replaceFieldWriting: null makes the field read-only for callers, and code can write it', async () => {
      const shop = await open(
        on('customers', (each) =>
          each
            .replaceFieldWriting('secret', null)
            .addHook('Before', 'Update', ({ patch }) => void Object.assign(patch, { secret: 'by a hook' })),
        ),
      );
      const refused = await problemsOf(
        shop.engine.update(all, { collection: 'customers', ids: [1], values: { secret: 'x' } }),
      );
      const { records } = await shop.engine.update(all, {
        collection: 'customers',
        ids: [1],
        values: { city: 'Bern' },
      });
      const { fields } = shop.engine.describe(all, 'customers');
      expect([refused, records[0]?.secret, fields.find(({ name }) => name === 'secret')?.readOnly]).toEqual([
        ['secret: is read-only; leave it out.'],
        'by a hook',
        true,
      ]);
    });

    test('replaceFieldWriting: two different values for one field are an error, two equal ones are not, and circles end', async () => {
      const shop = await open(
        on(
          'customers',
          made('label', 'name', (value) => ({ city: value })),
        ),
        on(
          'customers',
          made('mark', 'name', (value) => ({ city: value })),
        ),
        on(
          'customers',
          made('hen', 'name', () => ({ egg: 'x' })),
        ),
        on(
          'customers',
          made('egg', 'name', () => ({ hen: 'x' })),
        ),
      );
      const update = (values: object) =>
        shop.engine.update(all, { collection: 'customers', ids: [1], values: { ...values } });
      const twice = 'would be written twice with different values: send only one of the fields that write it.';
      const circle = await refusalOf(update({ hen: 'x' }));
      expect([
        await problemsOf(update({ label: 'x', mark: 'y' })),
        await problemsOf(update({ label: 'x', city: 'y' })),
        (await update({ label: 'x', mark: 'x', city: 'x' })).records[0]?.city,
        circle.code,
        String(((circle.cause as Error).cause as Error).message),
      ]).toEqual([
        [`city: ${twice}`],
        [`city: ${twice}`],
        'x',
        'CUSTOMIZATION_FAILED',
        'Circular replacements of writing: hen -> egg -> hen',
      ]);
    });

    test('replaceFieldWriting: the result of the function is validated, and nothing is written if it fails', async () => {
      const shop = await open(
        on(
          'customers',
          made('label', 'name', (value) => value as never),
        ),
        on('customers', (each) =>
          each.addFieldValidation('city', 'LongerThan', 2).addFieldValidation('label', 'Present'),
        ),
      );
      const update = async (label: unknown) => {
        const run = shop.engine.update(all, { collection: 'customers', ids: [1], values: { label } });
        const { code, message, cause } = await refusalOf(run);
        return [code, code === 'CUSTOMIZATION_FAILED' ? ((cause as Error).cause as Error).message : message];
      };
      const give = async (patch: unknown) => {
        const other = await open(
          on(
            'customers',
            made('label', 'name', () => patch as never),
          ),
        );
        const run = other.engine.update(all, { collection: 'customers', ids: [1], values: { label: 'x' } });
        const { code, cause } = await refusalOf(run);
        return [code, ((cause as Error).cause as Error).message];
      };
      expect([
        await update(''),
        await give({ citty: 'x' }),
        await give({ id: 'x' }),
        await give({ label: 'x' }),
        await give(['x']),
        await customers(shop),
      ]).toEqual([
        [
          'INVALID_RECORD',
          "Nothing was written to 'customers'. label: breaks the rule Present: send a value that is not empty.",
        ],
        ['CUSTOMIZATION_FAILED', 'It returned a value that cannot be written: citty: no such field. Near: city.'],
        ['CUSTOMIZATION_FAILED', 'It returned a value that cannot be written: id: expected a number'],
        ['CUSTOMIZATION_FAILED', 'It returned the field itself, which is not stored'],
        ['CUSTOMIZATION_FAILED', expect.stringContaining('the patch: expected an object')],
        untouched,
      ]);
    });

    test('replaceFieldWriting: a function without a result writes nothing, and the record must still exist', async () => {
      const shop = await open(
        on(
          'customers',
          made('label', 'name', () => undefined),
        ),
        on('orders', (each) =>
          each.addHook('After', 'List', async ({ collection }) => {
            inside.push(
              await collection('customers').update(
                { conditionTree: { field: 'id', operator: 'Present' } },
                { label: 'x' },
              ),
            );
          }),
        ),
      );
      const inside: number[] = [];
      const update = (id: number) =>
        shop.engine.update(all, { collection: 'customers', ids: [id], values: { label: 'x' } });
      const { count, records } = await update(1);
      await shop.engine.update(all, { collection: 'orders', ids: [1], values: { 'customer:label': 'x' } });
      await shop.engine.list(all, { collection: 'orders', limit: 1 });
      expect([count, records[0]?.name, (await refusalOf(update(77))).code, inside, await customers(shop)]).toEqual([
        1,
        'Ada',
        'RECORD_NOT_FOUND',
        [3],
        untouched,
      ]);
    });

    test('replaceFieldWriting: it may write related records', async () => {
      const shop = await open(
        on(
          'orders',
          made('buyer', 'id', (value) => ({ 'customer:name': value })),
        ),
      );
      await shop.engine.update(all, { collection: 'orders', ids: [2], values: { buyer: 'Bob' } });
      expect(await customers(shop)).toEqual([untouched[0], [2, 'Bob', 'Rome'], untouched[2]]);
    });
  });

  test('addFieldValidation, addHook: they apply to the writes of callers', async () => {
    const shop = await open(
      on('customers', (each) =>
        each
          .addFieldValidation('name', 'LongerThan', 1)
          .addHook('Before', 'Update', ({ patch }) => void Object.assign(patch, { city: 'Bern' })),
      ),
    );
    const update = (name: string) => shop.engine.update(all, { collection: 'customers', ids: [1], values: { name } });
    expect([await problemsOf(update('A')), (await update('Al')).records[0]?.city]).toEqual([
      ['name: breaks the rule LongerThan(1): send more than 1 characters, not 1.'],
      'Bern',
    ]);
  });

  describe('importField', () => {
    test('importField: written to its source, unless it is readonly', async () => {
      const shop = await open(
        on('orders', (each) =>
          each
            .importField('town', { path: 'customer:city' })
            .importField('buyer', { path: 'customer:name', readonly: true })
            .addFieldValidation('total', 'GreaterThan', 1),
        ),
      );
      const update = (values: object) =>
        shop.engine.update(all, { collection: 'orders', ids: [1], values: { ...values } });
      await update({ town: 'Lyon' });
      const hidden = accessOf({ hidden: ['customers.city'] });
      const reader = {
        ...all,
        field: (_: string, field: string): FieldAccess => (field === 'city' ? 'read' : 'write'),
      };
      const write = (access: typeof all) =>
        problemsOf(shop.engine.update(access, { collection: 'orders', ids: [1], values: { town: 'Nice' } }));
      expect([
        await problemsOf(update({ buyer: 'X' })),
        await write(hidden),
        await write(reader),
        await customers(shop),
      ]).toEqual([
        ['buyer: comes from another record; leave it out.'],
        [expect.stringContaining('town: no such field.')],
        ['town: is read-only for you; leave it out.'],
        [[1, 'Ada', 'Lyon'], ...untouched.slice(1)],
      ]);
    });
  });

  describe('nested writes', () => {
    const order = { id: 9, total: 5, placed_at: '2024-05-01T00:00:00.000Z' };
    const orders = async (shop: Shop) =>
      (await rowsOf(shop, 'orders', ['id', 'customer_id', 'total'])).filter(([id]) => Number(id) >= 9 || id === 4);

    test('a create creates the related record, or updates the one that its key names', async () => {
      const shop = await open();
      const records = [
        { ...order, customer: { id: 20, name: 'New' } },
        { ...order, id: 10, 'customer:city': 'Nice', customer_id: 1 },
        { ...order, id: 11, 'customer@@@id': 21, 'customer:name': 'Far', 'customer:city': 'Oslo' },
        { ...order, id: 12 },
      ];
      const answer = await shop.engine.create(all, { collection: 'orders', records });
      expect([answer.ids, answer.records.map((each) => each.customer_id), await customers(shop)]).toEqual([
        ['9', '10', '11', '12'],
        [20, 1, 21, null],
        [[1, 'Ada', 'Nice'], ...untouched.slice(1), [20, 'New', null], [21, 'Far', 'Oslo']],
      ]);
    });

    test('an update updates existing related records and creates missing ones, for each record separately', async () => {
      const shop = await open();
      const request = { collection: 'orders', ids: [4, 2, 1, 3], values: { 'customer:city': 'Bern', total: 7 } };
      const missing = await problemsOf(shop.engine.update(all, request));
      const made = await shop.engine.update(all, {
        ...request,
        ids: [4],
        values: { customer: { id: 30, name: 'Dee' }, total: 7 },
      });
      const { ids, records } = await shop.engine.update(all, request);
      expect([
        missing,
        made.records[0]?.customer_id,
        ids,
        records.map(({ total }) => total),
        await customers(shop),
      ]).toEqual([
        ['id: is required: send a Number.', 'name: is required: send a String.'],
        30,
        ['4', '2', '1', '3'],
        [7, 7, 7, 7],
        [[1, 'Ada', 'Bern'], [2, 'Bo', 'Bern'], untouched[2], [30, 'Dee', 'Bern']],
      ]);
    });

    test('a record selected by a field that the nested write changes is still found', async () => {
      const shop = await open();
      const filter = { field: 'customer:city', operator: 'Equal', value: 'Rome' } as const;
      const { ids } = await shop.engine.update(all, {
        collection: 'orders',
        filter,
        values: { 'customer:city': 'Bern', total: 1 },
      });
      expect([ids, (await rowsOf(shop, 'orders', ['total'])).flat()]).toEqual([
        ['2', '3'],
        [10.5, 1, 1, 30, 5],
      ]);
    });

    test('through several relations, atomically', async () => {
      const shop = await open();
      const line = { order_id: 1, line: 7, article: 'cap', order: { total: 8, customer: { name: 'Ava' } } };
      await shop.engine.create(all, { collection: 'order_lines', records: [line] });
      const torn = await refusalOf(
        shop.engine.create(all, { collection: 'order_lines', records: [{ ...line, 'order:customer:name': 'Eve' }] }),
      );
      const orphan = { order_id: 1, line: 9, article: 'cap', order: { customer: { id: 2 } } };
      const taken = await refusalOf(shop.engine.create(all, { collection: 'order_lines', records: [orphan] }));
      expect([torn.code, torn.details?.collection, taken.code, await customers(shop)]).toEqual([
        'INVALID_RECORD',
        'order_lines',
        expect.stringMatching(/INVALID_RECORD|RECORD_IN_USE/),
        [[1, 'Ava', 'Paris'], ...untouched.slice(1)],
      ]);
    });

    test('permissions and the row scope of the other collection apply, before and after', async () => {
      const shop = await open();
      const scopes = { customers: { field: 'city', operator: 'Equal', value: 'Rome' } } as const;
      const scoped = accessOf({ scopes });
      const without = (verb: string) => ({ ...all, can: (v: string, c: string) => c !== 'customers' || v !== verb });
      const update = (access: typeof all, id: number, values: object) =>
        refusalOf(shop.engine.update(access, { collection: 'orders', ids: [id], values: { ...values } }));
      const outside = await update(scoped, 1, { 'customer:name': 'X' });
      const leaving = await update(scoped, 2, { 'customer:city': 'Oslo' });
      const arriving = await refusalOf(
        shop.engine.create(scoped, {
          collection: 'orders',
          records: [{ ...order, customer: { id: 40, name: 'X', city: 'Oslo' } }],
        }),
      );
      expect([
        [outside.code, outside.details?.problems],
        [leaving.code, leaving.details?.collection],
        [arriving.code, arriving.details?.collection],
        (await update(without('edit'), 2, { 'customer:name': 'X' })).code,
        (await update(without('add'), 4, { customer: { id: 41, name: 'X' } })).code,
        (
          await update({ ...all, field: (c: string): FieldAccess => (c === 'customers' ? 'read' : 'write') }, 2, {
            'customer:name': 'X',
          })
        ).details?.problems,
        await customers(shop),
        await orders(shop),
      ]).toEqual([
        ['INVALID_RECORD', [{ field: 'customer', problem: 'no record has this key, or you may not see it.' }]],
        ['FORBIDDEN', 'customers'],
        ['FORBIDDEN', 'customers'],
        'FORBIDDEN',
        'FORBIDDEN',
        [{ field: 'customer:name', problem: 'is read-only for you; leave it out.' }],
        untouched,
        [[4, null, 30]],
      ]);
    });

    test('a nested write that moves the record out of the row scope is refused', async () => {
      const shop = await open();
      const scopes = { orders: { field: 'customer:city', operator: 'Equal', value: 'Rome' } } as const;
      const update = shop.engine.update(accessOf({ scopes }), {
        collection: 'orders',
        ids: [2],
        values: { 'customer:city': 'Oslo' },
      });
      expect([(await refusalOf(update)).code, await customers(shop)]).toEqual(['FORBIDDEN', untouched]);
    });

    test('rules of the other collection apply, and errors name the path', async () => {
      const shop = await open(on('customers', (each) => each.addFieldValidation('name', 'LongerThan', 1)));
      const records = [{ ...order, customer: { id: 'x', name: 'Y', nme: 1 }, 'lines:id': 2 }];
      const values = { 'customer:name': 'Z', customer_id: null };
      expect([
        await problemsOf(shop.engine.create(all, { collection: 'orders', records })),
        await problemsOf(shop.engine.update(all, { collection: 'orders', ids: [1], values: { 'customer:name': 'Z' } })),
        await problemsOf(
          shop.engine.update(all, { collection: 'orders', ids: [1], values: { ...values, 'customer:name': 'Zoe' } }),
        ),
        await problemsOf(shop.engine.update(all, { collection: 'orders', ids: [1], values: { customer: null } })),
        await problemsOf(shop.engine.update(all, { collection: 'orders', ids: [1], values: { customer: {} } })),
        await problemsOf(shop.engine.update(all, { collection: 'customers', ids: [1], values: { orders: [] } })),
      ]).toEqual([
        [
          'customer:id: expected a number, got "x".',
          'customer:nme: no such field. Near: name.',
          'lines:id: no such field. Near: id.',
          'customer:name: breaks the rule LongerThan(1): send more than 1 characters, not 1.',
        ],
        ['customer:name: breaks the rule LongerThan(1): send more than 1 characters, not 1.'],
        ['customer: there is no record to write, because its key is null: leave the key out to create one.'],
        ["customer: is a relation: send 'customer_id', or an object of fields of 'customers'."],
        ["customer: is a relation: send 'customer_id', or an object of fields of 'customers'."],
        ["orders: is a relation to 'orders': write there, or use associate to link existing records."],
      ]);
    });

    test('database errors of the related record name its fields', async () => {
      const shop = await open(on('customers', (each) => each.renameField('id', 'number')));
      const records = [{ ...order, customer: { number: 1, name: 'Twin' } }];
      const { code, details } = await refusalOf(shop.engine.create(all, { collection: 'orders', records }));
      expect([code, details]).toEqual([
        'INVALID_RECORD',
        { collection: 'customers', problems: [{ field: 'number', problem: 'another record has this value already.' }] },
      ]);
    });

    test('a one-to-one relation: the related record is updated, or created if missing', async () => {
      const shop = await open(
        on('orders', (each) => each.addOneToOneRelation('again', 'orders', { originKey: 'id', originKeyTarget: 'id' })),
      );
      await shop.engine.update(all, { collection: 'orders', ids: [1], values: { 'again:total': 99 } });
      expect((await rowsOf(shop, 'orders', ['total'])).flat()).toEqual([99, 20, 20, 30, 5]);
    });

    test('a preview writes neither record', async () => {
      const shop = await open();
      const values = { customer: { id: 50, name: 'X' }, total: 1 };
      const { changes } = await shop.engine.update(all, { collection: 'orders', ids: [4], values }, { preview: true });
      expect([changes, await customers(shop), await orders(shop)]).toEqual([
        [{ id: '4', fields: { customer_id: { before: null, after: 50 }, total: { before: 30, after: 1 } } }],
        untouched,
        [[4, null, 30]],
      ]);
    });
  });

  describe('overrides', () => {
    test('overrideCreate: code creates the records, and its result is read and checked', async () => {
      const told: unknown[] = [];
      const shop = await open(
        on('customers', (each) =>
          each.renameField('name', 'full name').overrideCreate(async ({ data, collection, caller }) => {
            told.push(data, caller.id);
            return collection('customers').create(data.map((one) => ({ ...one, city: 'Oslo' })));
          }),
        ),
      );
      const records = [
        { id: 9, 'full name': 'Di' },
        { id: 8, 'full name': 'Ed' },
      ];
      const { ids, records: created } = await shop.engine.create(all, { collection: 'customers', records });
      const scopes = { customers: { field: 'city', operator: 'Equal', value: 'Rome' } } as const;
      const outside = await refusalOf(
        shop.engine.create(accessOf({ scopes }), { collection: 'customers', records: [{ id: 7, 'full name': 'X' }] }),
      );
      const preview = await refusalOf(shop.engine.create(all, { collection: 'customers', records }, { preview: true }));
      expect([ids, created.map((one) => one.city), told.slice(0, 2), outside.code, preview.code]).toEqual([
        ['9', '8'],
        ['Oslo', 'Oslo'],
        [
          [
            { id: 9, name: 'Di' },
            { id: 8, name: 'Ed' },
          ],
          1,
        ],
        'FAILED_AFTER_WRITE',
        'INVALID_ARGUMENT',
      ]);
    });

    test('overrideCreate: it must return the records, each with its key', async () => {
      const give = async (given: unknown) => {
        const shop = await open(on('customers', (each) => each.overrideCreate(() => given as never)));
        const run = shop.engine.create(all, { collection: 'customers', records: [{ id: 9, name: 'X' }] });
        const { code, details } = await refusalOf(run);
        return [code, details?.why];
      };
      expect([await give(undefined), await give([{}]), await give([{ id: 'x' }]), await give([{ id: 9 }])]).toEqual([
        ['FAILED_AFTER_WRITE', 'the override of create must return a list of 1 created records.'],
        ['FAILED_AFTER_WRITE', "the override of create must return the key of each record, but returned no 'id'."],
        ['FAILED_AFTER_WRITE', "the override of create returned a key that 'id' cannot hold."],
        ['FAILED_AFTER_WRITE', expect.stringContaining('a record is missing afterwards')],
      ]);
    });

    test('overrideUpdate: code updates the records of the filter, within the row scope', async () => {
      const told: unknown[] = [];
      const shop = await open(
        on('customers', (each) =>
          each
            .renameField('city', 'town')
            .addFieldValidation('city', 'LongerThan', 2)
            .overrideUpdate(async ({ filter, patch, collection }) => {
              told.push(filter, patch);
              await collection('customers').update(filter, { ...patch, secret: 'seen' });
            }),
        ),
      );
      const scopes = { customers: { field: 'town', operator: 'Equal', value: 'Rome' } } as const;
      const update = (access: typeof all, ids: number[], values: object) =>
        shop.engine.update(access, { collection: 'customers', ids, values: { ...values } });
      const missing = await refusalOf(update(accessOf({ scopes }), [1, 2], { name: 'X' }));
      const { records } = await update(accessOf({ scopes }), [2], { name: 'X' });
      const broken = await problemsOf(update(all, [1], { town: 'X' }));
      expect([missing.details?.missing, records, told, broken]).toEqual([
        ['1'],
        [{ id: 2, name: 'X', town: 'Rome', secret: 'seen' }],
        [
          {
            conditionTree: {
              aggregator: 'And',
              conditions: [
                { field: 'id', operator: 'In', value: [2] },
                { field: 'city', operator: 'Equal', value: 'Rome' },
              ],
            },
          },
          { name: 'X' },
        ],
        ['town: breaks the rule LongerThan(2): send more than 2 characters, not 1.'],
      ]);
    });

    test('overrideDelete: code deletes, here by a mark, and the answer has the former records', async () => {
      const shop = await open(
        on('customers', (each) =>
          each.overrideDelete(async ({ filter, collection }) => {
            await collection('customers').update(filter, { secret: 'deleted' });
          }),
        ),
      );
      const { ids, records } = await shop.engine.delete(all, { collection: 'customers', ids: [2, 1] });
      const missing = await refusalOf(shop.engine.delete(all, { collection: 'customers', ids: [1, 77] }));
      expect([ids, records[0]?.name, missing.details?.missing, await rowsOf(shop, 'customers', ['secret'])]).toEqual([
        ['2', '1'],
        'Bo',
        ['77'],
        [['deleted'], ['deleted'], ['x3']],
      ]);
    });

    test('overrideCreate, overrideUpdate, overrideDelete: a preview reports records outside the row scope before it reports the override', async () => {
      const shop = await open(
        on('customers', (each) => each.overrideUpdate(async () => {}).overrideDelete(async () => {})),
      );
      const access = accessOf({ scopes: { customers: { field: 'city', operator: 'Equal', value: 'Rome' } } });
      const preview = { preview: true };
      const collection = 'customers';
      const refusals = await Promise.all(
        [1, 2].flatMap((id) => [
          refusalOf(shop.engine.update(access, { collection, ids: [id], values: { name: 'X' } }, preview)),
          refusalOf(shop.engine.delete(access, { collection, ids: [id] }, preview)),
        ]),
      );
      expect(refusals.map(({ code }) => code)).toEqual([
        ...Array(2).fill('RECORD_NOT_FOUND'),
        ...Array(2).fill('INVALID_ARGUMENT'),
      ]);
    });

    test('addHook, overrideCreate, overrideUpdate, overrideDelete: hooks run around overrides as around other writes', async () => {
      const told: unknown[] = [];
      const shop = await open(
        on('customers', (each) =>
          each
            .overrideUpdate(
              async ({ filter, patch, collection }) => void (await collection('customers').update(filter, patch)),
            )
            .overrideDelete(
              async ({ filter, collection }) => void (await collection('customers').update(filter, { city: null })),
            )
            .addHook('Before', 'Update', ({ patch }) => void Object.assign(patch, { secret: 'hooked' }))
            .addHook('After', 'Update', ({ records }) => void told.push(records))
            .addHook('After', 'Delete', ({ records }) => void told.push(records)),
        ),
      );
      await shop.engine.update(all, { collection: 'customers', ids: [2], values: { name: 'Bob' } });
      await shop.engine.delete(all, { collection: 'customers', ids: [2] });
      const record = { id: 2, name: 'Bob', city: 'Rome', secret: 'hooked' };
      expect([told, await customers(shop)]).toEqual([
        [[record], [record]],
        [untouched[0], [2, 'Bob', null], untouched[2]],
      ]);
    });

    test('overrideCreate, overrideUpdate, overrideDelete: the error of an override names it; nested writes to it are refused', async () => {
      const shop = await open(
        on('customers', (each) =>
          each.overrideCreate(() => {
            throw new Error('password of the database');
          }),
        ),
      );
      const failed = await refusalOf(
        shop.engine.create(all, { collection: 'customers', records: [{ id: 9, name: 'X' }] }),
      );
      const records = [{ id: 9, total: 1, placed_at: '2024-05-01', customer: { id: 9, name: 'X' } }];
      const along = await refusalOf(shop.engine.create(all, { collection: 'orders', records }));
      expect([failed.code, failed.message, along.code, along.details?.collection]).toEqual([
        'CUSTOMIZATION_FAILED',
        expect.not.stringContaining('password'),
        'READ_ONLY',
        'customers',
      ]);
    });
  });
});

const wrongs: readonly (readonly [what: string, customize: (agent: HeadlessAgent) => void, problem: RegExp])[] = [
  ['not a function', on('orders', (each) => each.replaceFieldWriting('total', 3 as never)), /The replacement for writing 'total' \(or null\) must be a function/],
  ['an unknown field', on('orders', (each) => each.replaceFieldWriting('totl', () => ({}))), /no field 'totl'\. Near: total/],
  ['two replacements', on('orders', (each) => each.replaceFieldWriting('total', null).replaceFieldWriting('total', null)), /writing of 'total' of 'orders' is already defined/],
  ['two overrides', on('orders', (each) => each.overrideUpdate(() => {}).overrideUpdate(() => {})), /override of update of 'orders' is already defined/],
  ['an override that is not a function', on('orders', (each) => each.overrideDelete('x' as never)), /The override of delete must be a function/],
  ['a writable import of a read-only field', on('orders', (each) => each.importField('x', { path: 'customer:id', readonly: false })), /'x' of 'orders' cannot be written/],
]; // biome-ignore format: a table

test.each(wrongs)('%s stops the start, with the line of the call', async (_what, customize, problem) => {
  const { code, message } = await refusalOf(sellers[0]!.open({ customize }));
  expect([code, message]).toEqual(['CONFIGURATION', expect.stringMatching(problem)]);
  expect(message).toMatch(/4\.2-writes\.test\.ts:\d+\)$/);
});
