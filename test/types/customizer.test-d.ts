// Valid customizations compile with generated typings, and invalid ones do not: tsc reads this file.
import { type Agent, createAgent, type PatchOf, type Path, type RecordOf } from '../../src/index.ts';
import type { Schema } from './typed-shop-typings.ts';

declare const agent: Agent<Schema>;
const same = <A, B>(_: [A] extends [B] ? ([B] extends [A] ? true : false) : false) => undefined;

same<
  Path<Schema, 'orders'>,
  | 'id'
  | 'customer_id'
  | 'total'
  | 'placed_at'
  | 'isPaid'
  | 'summary'
  | 'city'
  | 'parcel'
  | `customer:${'id' | 'name' | 'city' | 'level' | 'born' | 'tags' | 'photo' | 'extra data'}`
>(true);
same<RecordOf<Schema, 'customers'>['level'], 'gold' | "it's" | null>(true);
same<RecordOf<Schema, 'customers'>['tags'], readonly (string | null)[]>(true);
same<PatchOf<Schema, 'orders'>['total'], number | undefined>(true);
same<
  RecordOf<Schema, 'orders'>['parcel'],
  {
    readonly size: readonly (number | null)[] | null;
    readonly to: { readonly street: string | null; readonly 'post code': string | null } | null;
    readonly isSent: boolean | null;
  } | null
>(true);
// @ts-expect-error: the field is read-only
export const patch: PatchOf<Schema, 'orders'> = { summary: 'x' };

agent
  .customizeCollection('orders', (orders) =>
    orders
      .renameField('total', 'sum')
      .removeField('isPaid', 'customer')
      .addField('label', {
        columnType: 'String',
        dependencies: ['total', 'customer:name', 'customer:level'],
        getValues: (records) =>
          records.map(({ total, customer }) => {
            same<typeof total, number>(true);
            same<typeof customer, { readonly name: string; readonly level: 'gold' | "it's" | null } | null>(true);
            return customer ? `${customer.name}: ${total.toFixed(2)}` : null;
          }),
      })
      .importField('buyer', { path: 'customer:name' })
      .describe({ description: 'What was bought' })
      .describeField('total', { unit: 'EUR' })
      // @ts-expect-error: no such field
      .describeField('totl', { unit: 'EUR' })
      .addSegment('dear', { field: 'total', operator: 'GreaterThan', value: 100 })
      .addSegment('open or golden', {
        aggregator: 'Or',
        conditions: [
          { field: 'isPaid', operator: 'Equal', value: false },
          { field: 'customer:level', operator: 'In', value: ['gold', "it's"] },
          { aggregator: 'And', conditions: [{ field: 'placed_at', operator: 'Today' }] },
        ],
      })
      .addSegment('of the same city', async ({ caller, collection }) => {
        const [own] = await collection('customers').list(
          { conditionTree: { field: 'id', operator: 'Equal', value: caller.id } },
          ['city'],
        );
        same<typeof own, { readonly city: string | null } | undefined>(true);
        return { field: 'customer:city', operator: 'Equal', value: own?.city ?? null };
      })
      .addManyToOneRelation('buyer', 'customers', { foreignKey: 'customer_id', foreignKeyTarget: 'id' })
      .replaceFieldOperator('total', 'Equal', (value) => ({ field: 'id', operator: 'Equal', value: Number(value) }))
      .emulateFieldOperator('summary', 'IContains')
      .replaceFieldSorting('summary', [{ field: 'customer:name', ascending: false }, { field: 'id' }])
      .disableCount()
      .addHook('Before', 'List', (context) => {
        if (context.caller.team === 'Sales')
          context.narrow({ field: 'customer:city', operator: 'Equal', value: 'Rome' });
      })
      .addAction<{ Amount: number }>('Refund', {
        scope: 'Single',
        form: [{ label: 'Amount', type: 'Number', isRequired: true }],
        execute: async (context, resultBuilder) => {
          const { total, customer } = await context.getRecord(['total', 'customer:name']);
          same<typeof total, number>(true);
          const left = total - context.formValues.Amount;
          return resultBuilder.success(`${customer?.name}: ${left}`);
        },
      })
      .addFieldValidation('total', 'GreaterThan', 0)
      .replaceFieldWriting('customer_id', (value, { action, record }) => {
        same<typeof value, number | null>(true);
        return action === 'create'
          ? { customer_id: value, isPaid: record.isPaid ?? false }
          : { 'customer:city': 'Rome' };
      })
      .addHook('Before', 'Create', ({ data }) => {
        for (const one of data) one.isPaid = false;
      })
      .addHook('After', 'Update', ({ patch, records }) => {
        same<typeof patch.total, number | undefined>(true);
        same<(typeof records)[number]['placed_at'], string | undefined>(true);
      })
      .overrideUpdate(async ({ patch, collection }) => {
        if (patch.total === 0) await collection('customers').count();
      })
      .addChart('share', async ({ getRecord, collection }, builder) => {
        const { total } = await getRecord(['total']);
        return builder.percentage(total / (await collection('orders').count()));
      })
      .addExternalRelation('parcels', {
        schema: { code: 'String' },
        dependencies: ['customer:city'],
        listRecords: ({ customer, id }) => {
          same<typeof id, number | undefined>(true);
          return [{ code: customer?.city ?? 'none' }];
        },
      })
      .disableSearch(),
  )
  .customizeCollection('customers', (customers) =>
    customers
      .addOneToManyRelation('purchases', 'orders', { originKey: 'customer_id' })
      .emulateFieldFiltering('extra data')
      .addSegment('tagged', { field: 'tags', operator: 'IncludesAll', value: ['new'] })
      .addSegment('sent', { field: 'orders:isPaid', operator: 'Equal', value: true })
      // @ts-expect-error: no such field behind the relation
      .addSegment('wrong', { field: 'orders:paid', operator: 'Equal', value: true })
      // @ts-expect-error: an operator of another type
      .addSegment('worse', { field: 'orders:isPaid', operator: 'Contains', value: 'x' })
      .addSegment('without orders', { none: 'orders' })
      .addSegment('all paid', { every: 'orders', where: { field: 'isPaid', operator: 'Equal', value: true } })
      .addSegment('long', {
        aggregator: 'Not',
        conditions: [{ some: 'orders:order-lines', where: { field: 'line', operator: 'LessThan', value: 9 } }],
      })
      // @ts-expect-error: no such relation
      .addSegment('unrelated', { none: 'ordres' })
      // @ts-expect-error: a field of the customer, not of the order
      .addSegment('misplaced', { some: 'orders', where: { field: 'level', operator: 'Present' } })
      // @ts-expect-error: every needs a where
      .addSegment('empty', { every: 'orders' })
      .addSegment('only new', { field: 'tags', operator: 'Equal', value: ['new', null] })
      // @ts-expect-error: a list is the same as a list
      .addSegment('new', { field: 'tags', operator: 'Equal', value: 'new' }),
  )
  .addChart('dear', async ({ collection }, builder) =>
    builder.value(
      await collection('orders').count({ conditionTree: { field: 'total', operator: 'GreaterThan', value: 9 } }),
    ),
  )
  .removeCollection('order-lines');

agent.addMetric('revenue', {
  collection: 'orders',
  measure: { sum: { times: ['total', 2] }, where: { field: 'customer:name', operator: 'Present' } },
  filter: { field: 'isPaid', operator: 'Equal', value: true },
});
// @ts-expect-error: no such field
agent.addMetric('revenue', { collection: 'orders', measure: { sum: 'totl' } });
// @ts-expect-error: no such collection
agent.addMetric('revenue', { collection: 'order', measure: { count: true } });
agent.addQuery('sums', {
  sql: 'select customer, sum(total) as sum from orders where total > :least group by customer',
  parameters: { least: { type: 'Number', default: null, description: 'The smallest total' } },
  columns: { sum: 'Number' },
  rowScope: { customers: 'customer' },
  ignoreRowScopes: ['orders'],
  beside: 'orders',
});
// @ts-expect-error: no such collection
agent.addQuery('sums', { sql: 'select 1 as a', rowScope: { customer: 'customer' } });
// @ts-expect-error: no type of a parameter
agent.addQuery('sums', { sql: 'select :a as b', parameters: { a: { type: 'Json' } } });
// @ts-expect-error: no such collection
agent.addChart('x', async ({ collection }, builder) => builder.value(await collection('order').count()));

// @ts-expect-error: no such collection
agent.customizeCollection('order', () => undefined);
// @ts-expect-error: no such collection
agent.removeCollection('order');

agent.customizeCollection('orders', (orders) => {
  // @ts-expect-error: no such field
  orders.renameField('totl', 'sum');
  // @ts-expect-error: no such field
  orders.removeField('id', 'totl');
  // @ts-expect-error: no such field of the related collection
  orders.importField('x', { path: 'customer:nam' });
  // @ts-expect-error: a relation to many is no path
  orders.importField('x', { path: 'order-lines:line' });
  orders.addField('x', {
    columnType: 'Number',
    // @ts-expect-error: no such field
    dependencies: ['totl'],
    getValues: () => [],
  });
  orders.addField('x', {
    columnType: 'Number',
    dependencies: ['total'],
    // @ts-expect-error: isPaid is not among the dependencies
    getValues: (records) => records.map((record) => Number(record.isPaid)),
  });
  orders.addField('x', {
    columnType: 'Boolean',
    dependencies: ['total'],
    // @ts-expect-error: numbers are no booleans
    getValues: (records) => records.map((record) => record.total),
  });
  // @ts-expect-error: a text is compared with no number
  orders.addSegment('x', { field: 'total', operator: 'Contains', value: 'x' });
  // @ts-expect-error: not an operator of dates
  orders.addSegment('x', { field: 'placed_at', operator: 'IContains', value: 'x' });
  // @ts-expect-error: a boolean is true or false
  orders.addSegment('x', { field: 'isPaid', operator: 'Equal', value: 'yes' });
  // @ts-expect-error: not one of the values of the enum
  orders.addSegment('x', { field: 'customer:level', operator: 'Equal', value: 'silver' });
  // @ts-expect-error: several values are a list
  orders.addSegment('x', { field: 'id', operator: 'In', value: 1 });
  // @ts-expect-error: no such field, within a tree
  orders.addSegment('x', { aggregator: 'And', conditions: [{ field: 'totl', operator: 'Present' }] });
  // @ts-expect-error: no such operator for the type
  orders.replaceFieldOperator('total', 'StartsWith', () => ({ field: 'id', operator: 'Present' }));
  // @ts-expect-error: the field that stands for it does not exist
  orders.replaceFieldOperator('total', 'Equal', () => ({ field: 'idd', operator: 'Present' }));
  // @ts-expect-error: no operator of a Json field
  agent.customizeCollection('customers', (customers) => customers.emulateFieldOperator('extra data', 'Equal'));
  // @ts-expect-error: no such field to sort by
  orders.replaceFieldSorting('summary', [{ field: 'customer:nam' }]);
  orders.addChart('x', async ({ getRecord }, builder) => {
    // @ts-expect-error: no such field
    await getRecord(['totl']);
    return builder.value(1);
  });
  // @ts-expect-error: no such field
  orders.replaceFieldBinaryMode('photo', 'hex');
  // @ts-expect-error: no such collection
  orders.addManyToOneRelation('x', 'customer', { foreignKey: 'customer_id' });
  // @ts-expect-error: no such key
  orders.addManyToOneRelation('x', 'customers', { foreignKey: 'customer' });
  // @ts-expect-error: the key is one of the other collection
  orders.addOneToManyRelation('x', 'order-lines', { originKey: 'customer_id' });
  orders.addHook('Before', 'Create', ({ data }) => {
    // @ts-expect-error: a boolean is no text
    for (const one of data) one.isPaid = 'no';
  });
  // @ts-expect-error: no such field to write
  orders.replaceFieldWriting('total', () => ({ totl: 1 }));
  // @ts-expect-error: no operator of numbers
  orders.addFieldValidation('total', 'LongerThan', 3);
  orders.overrideUpdate(({ patch }) => {
    // @ts-expect-error: no such field
    if (patch.totl) throw new Error();
  });
  orders.addHook('Before', 'List', (context) => {
    // @ts-expect-error: no such field
    context.narrow({ field: 'totl', operator: 'Present' });
  });
  orders.addAction<{ Amount: number }>('x', {
    scope: 'Single',
    // @ts-expect-error: no such form value
    execute: (context) => void context.formValues.Amuont,
  });
  orders.addAction<{ Amount: number }>('x', {
    scope: 'Bulk',
    // @ts-expect-error: a number is not filled in as a text
    form: [{ label: 'Amount', type: 'String' }],
    execute: () => undefined,
  });
  orders.addAction('x', {
    scope: 'Single',
    // @ts-expect-error: no such field
    execute: async (context) => void (await context.getRecord(['totl'])),
  });
});

// Without typings any name compiles, and wrong names are reported at start.
const untyped = createAgent({ authSecret: 'a', envSecret: 'b' });
untyped
  .customizeCollection('anything', (collection) =>
    collection
      .addField('x', {
        columnType: 'String',
        dependencies: ['a', 'b:c'],
        getValues: (records) => records.map((record) => String(record.a)),
      })
      .addSegment('y', { field: 'x', operator: 'Equal', value: 1 })
      .addAction<{ Amount: number }>('z', {
        scope: 'Global',
        execute: (context) => void context.formValues.Amount.toFixed(),
      }),
  )
  .removeCollection('something');
