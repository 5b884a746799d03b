// Every member of the typed customizer, and each form of its arguments: tsc reads this file, and the test of consumers
// compiles it with every TypeScript that is supported.
import { ActionError, type Agent, type AiProvider, type CollectionPlugin } from '../../src/index.ts';
import { flattenColumn, flattenRelation } from '../../src/plugins/index.ts';
import type { Schema } from './typed-shop-typings.ts';

declare const agent: Agent<Schema>;
const same = <A, B>(_: [A] extends [B] ? ([B] extends [A] ? true : false) : false) => undefined;
const withoutTotal: CollectionPlugin<undefined> = (collection) => void collection.removeField('total');
const limited: CollectionPlugin<{ readonly max: number }> = async (collection, { max }) => {
  collection.addFieldValidation('total', 'LessThan', max);
};

agent.customizeCollection('orders', async (orders) => {
  same<typeof orders.name, 'orders'>(true);
  orders
    .renameField('total', 'sum')
    .removeField('isPaid', 'customer')
    .importField('buyer', { path: 'customer:name', readonly: true })
    .disableFieldSorting('total')
    .emulateFieldSorting('summary')
    .replaceFieldSorting('summary', [{ field: 'id', ascending: false }])
    .emulateFieldFiltering('summary')
    .emulateFieldOperator('summary', 'IContains')
    .replaceFieldOperator('total', 'Equal', async (value, { caller }) => ({
      field: 'id',
      operator: 'Equal',
      value: caller.team === '' ? null : Number(value),
    }))
    .setFieldNullable('total')
    .setFieldFilledByDatabase('id')
    .addFieldValidation('total', 'GreaterThan', 0)
    .addFieldValidation('summary', 'Present')
    .allowNestedWrites('customer')
    .trustForeignKey('customer')
    .describe({ description: 'Orders of the web shop', synonyms: ['purchases'] })
    .describeField('total', { unit: 'EUR', examples: [12.5], synonyms: ['amount'] })
    .describeField('summary', { hiddenByDefault: true })
    .displayField('summary')
    .replaceSearch(async (search, extended, { caller }) => ({
      aggregator: 'Or',
      conditions: [
        { field: 'summary', operator: extended ? 'IContains' : 'StartsWith', value: search },
        { field: 'customer:city', operator: 'Equal', value: caller.timezone },
      ],
    }))
    .disableSearch()
    .disableCount()
    .setMinGroupSize(5, { fields: ['total'], by: ['isPaid', { field: 'id', ranges: [0, 10] }] })
    .flatten({ of: 'relation', options: { relationName: 'customer' } })
    .use(withoutTotal)
    .use(limited, { max: 9 })
    .use(flattenRelation, { relationName: 'customer', include: ['city'] })
    .use(flattenColumn, { columnName: 'parcel' });
});

// Fields that code computes, of each type of result.
agent.customizeCollection('orders', (orders) =>
  orders
    .addField('texts', {
      columnType: ['String'],
      dependencies: ['id'],
      getValues: (records) => records.map(({ id }) => [String(id)]),
    })
    .addField('shape', {
      columnType: { size: 'Number', to: { street: 'String' } },
      dependencies: ['total', 'customer:city'],
      getValues: async (records) =>
        records.map(({ total, customer }) => ({ size: total, to: { street: customer?.city ?? null } })),
    })
    .addField('file', { columnType: 'File', dependencies: ['id'], getValues: () => [Buffer.from('a')] })
    .addField('state', {
      columnType: 'Enum',
      enumValues: ['open', 'paid'],
      defaultValue: 'open',
      dependencies: ['isPaid'],
      getValues: (records, { caller }) => records.map(({ isPaid }) => (isPaid && caller.team ? 'paid' : null)),
    })
    .replaceFieldWriting('summary', (value) => ({ total: value === null ? 0 : value.length, 'customer:city': value }))
    .replaceFieldWriting('total', async (value, { action, record, getRecords }) => {
      same<typeof value, number>(true);
      const before = action === 'update' ? await getRecords(['total']) : [];
      return before.length === 0 && record.isPaid === true ? { total: value } : null;
    })
    .replaceFieldWriting('city', null),
);

// Segments and charts.
agent.customizeCollection('customers', (customers) =>
  customers
    .addSegment('plain', { field: 'orders:total', operator: 'GreaterThan', value: 1 })
    .addSegment('late', ({ caller }) => ({ field: 'city', operator: 'Equal', value: caller.timezone }))
    .addSegment('later', async () => ({ some: 'orders', where: { field: 'isPaid', operator: 'Equal', value: true } }))
    .addChart('value', async ({ getRecord, recordId, collection }, builder) => {
      const { level } = await getRecord(['level']);
      same<typeof level, 'gold' | "it's" | null>(true);
      const conditionTree = { field: 'customer_id', operator: 'Equal', value: Number(recordId) } as const;
      return builder.value(await collection('orders').count({ conditionTree }), 1);
    })
    .addChart('distribution', (_, builder) => builder.distribution({ a: 1 }))
    .addChart('time', (_, builder) => builder.timeBased('Month', [{ date: '2026-01-01', value: 1 }]))
    .addChart('percentage', (_, builder) => builder.percentage(50))
    .addChart('objective', (_, builder) => builder.objective(1, 2))
    .addChart('leaderboard', (_, builder) => builder.leaderboard({ a: 1 }))
    .addChart('smart', (_, builder) => builder.smart({ any: 'thing' }))
    .replaceFieldBinaryMode('photo', 'hex'),
);

// Relations of each kind.
agent.customizeCollection('orders', (orders) =>
  orders
    .addManyToOneRelation('buyer', 'customers', { foreignKey: 'customer_id', foreignKeyTarget: 'id' })
    .addOneToManyRelation('lines', 'order-lines', { originKey: 'order_id', originKeyTarget: 'id' })
    .addOneToOneRelation('line', 'order-lines', { originKey: 'order_id' })
    .addManyToManyRelation('others', 'customers', 'order-lines', {
      originKey: 'order_id',
      foreignKey: 'line',
      originKeyTarget: 'id',
      foreignKeyTarget: 'id',
    })
    .addPolymorphicManyToOneRelation('about', {
      foreignKey: 'customer_id',
      typeField: 'summary',
      targets: {
        Customer: 'customers',
        Line: { collection: 'order-lines', name: 'about_line', foreignKeyTarget: 'line' },
      },
    })
    .addPolymorphicOneToManyRelation('mentions', 'orders', { originKey: 'id', typeField: 'city', type: 'Order' })
    .addPolymorphicOneToOneRelation('mention', 'orders', { originKey: 'id', typeField: 'city', type: 'Order' })
    .addExternalRelation('offers', { schema: { title: 'String', file: 'File' }, listRecords: async () => [] })
    .addExternalRelation('parcels', {
      schema: { code: 'String' },
      dependencies: ['customer:city', 'total'],
      listRecords: ({ customer, total }, { caller }) => [{ code: `${customer?.city} ${total} ${caller.team}` }],
    }),
);

// Hooks of each kind, with and without a promise, and overrides.
agent.customizeCollection('orders', (orders) =>
  orders
    .addHook('Before', 'List', (context) => {
      same<typeof context.projection, readonly string[]>(true);
      context.narrow({ field: 'customer:city', operator: 'Equal', value: 'Rome' });
    })
    .addHook('Before', 'Aggregate', async ({ aggregation, narrow, caller }) => {
      if (aggregation.operation === 'Count' && caller.team) narrow({ none: 'order-lines' });
    })
    .addHook('Before', 'Create', async ({ data, isPreview, collection }) => {
      const count = await collection('customers').count();
      for (const one of data) if (!isPreview) one.total = count;
    })
    .addHook('Before', 'Update', (context) => {
      context.patch.isPaid = true;
      if (context.patch.total === 0) context.throwValidationError('Not 0', 'total');
    })
    .addHook('Before', 'Delete', (context) => {
      if (context.caller.team !== 'Support') context.throwForbiddenError('Only Support');
      context.throwError(context.collectionName);
    })
    .addHook('After', 'List', ({ records }) => same<(typeof records)[number]['total'], number | undefined>(true))
    .addHook('After', 'Aggregate', ({ result }) => {
      for (const one of result) one.value = Number(one.value) + Number(one.group.total);
    })
    .addHook('After', 'Create', async ({ data, records }) => void (data[0]?.total ?? records[0]?.placed_at))
    .addHook('After', 'Update', ({ patch, records }) => void (patch.total ?? records[0]?.isPaid))
    .addHook('After', 'Delete', async ({ records, collection }) => {
      const ids = records.map(({ id }) => id ?? 0);
      await collection('orders').list({ conditionTree: { field: 'id', operator: 'In', value: ids } }, [
        'customer:level',
      ]);
    })
    .overrideCreate(({ data }) => data.map((one, id) => ({ ...one, id })))
    .overrideUpdate(async ({ filter, patch }) => void (filter.conditionTree && patch.total))
    .overrideDelete(({ filter, collection }) => void [filter, collection('orders')]),
);

// Actions of each scope, with each result, with fixed and computed forms.
agent.customizeCollection('orders', (orders) =>
  orders
    .addAction('nothing', { scope: 'Single', execute: () => {} })
    .addAction('nothing later', { scope: 'Bulk', execute: async () => {} })
    .addAction('sometimes', {
      scope: 'Global',
      execute: async ({ caller }, resultBuilder) => {
        if (caller.team === 'Sales') return resultBuilder.error('Not for you', { html: '<b>No</b>' });
      },
    })
    .addAction('success', {
      scope: 'Single',
      approval: 'ask',
      description: 'Pays',
      submitButtonLabel: 'Pay',
      execute: async ({ getRecord, getField, getRecordId, getCompositeRecordId, progress }, resultBuilder) => {
        const { total, customer } = await getRecord(['total', 'customer:level']);
        same<typeof total, number>(true);
        const isPaid = await getField('isPaid');
        same<typeof isPaid, boolean>(true);
        progress(1, 2, String(await getRecordId()));
        const html = `${customer?.level} ${(await getCompositeRecordId()).length}`;
        return resultBuilder.setHeader('X-Total', '1').success('Paid', { html, invalidated: ['customers'] });
      },
    })
    .addAction('webhook', {
      scope: 'Bulk',
      execute: async ({ getRecords, getRecordIds, getCompositeRecordIds, signal }, resultBuilder) => {
        const records = await getRecords(['total', 'customer:name']);
        same<(typeof records)[number]['total'], number>(true);
        if (signal.aborted) throw new ActionError('Stopped');
        const body = [records.length, await getRecordIds(), await getCompositeRecordIds()];
        return resultBuilder.webhook('https://example.com', 'POST', { 'X-A': '1' }, body);
      },
    })
    .addAction('file', {
      scope: 'Global',
      generateFile: true,
      execute: (_, resultBuilder) => resultBuilder.file(Buffer.from('a'), 'a.txt', 'text/plain'),
    })
    .addAction('redirect', { scope: 'Global', execute: (_, resultBuilder) => resultBuilder.redirectTo('/orders') })
    .addAction<{ Amount: number; Reason?: string; Tags?: readonly string[] }>('fixed form', {
      scope: 'Single',
      form: [
        { label: 'Amount', type: 'Number', widget: 'NumberInput', min: 1, max: ({ formValues }) => formValues.Amount },
        {
          label: 'Reason',
          type: 'Enum',
          enumValues: async ({ getRecord }) => [String((await getRecord(['total'])).total)],
          if: ({ hasFieldChanged }) => hasFieldChanged('Amount'),
        },
        { type: 'Layout', component: 'Separator' },
        { type: 'Layout', component: 'HtmlBlock', content: async ({ caller }) => caller.email },
        { type: 'Layout', component: 'Row', fields: [{ label: 'Tags', type: 'StringList', maxItems: 3 }] },
      ],
      execute: ({ formValues }, resultBuilder) => resultBuilder.success(formValues.Amount.toFixed(2)),
    })
    .addAction<{ Note: string }>('computed form', {
      scope: 'Bulk',
      form: async ({ getRecordIds }) => [
        {
          label: 'Note',
          type: 'String',
          widget: 'Dropdown',
          search: 'dynamic',
          defaultValue: String((await getRecordIds()).length),
          options: async (_, search) => [search ?? '', { value: 'a', label: 'A' }],
        },
      ],
      execute: ({ formValues }) => void formValues.Note.length,
    })
    .addAction('free form', {
      scope: 'Global',
      form: [
        {
          type: 'Layout',
          component: 'Page',
          nextButtonLabel: 'On',
          elements: [
            { label: 'City', type: 'String', isRequired: true, value: ({ formValues }) => String(formValues.a) },
          ],
        },
      ],
      execute: async ({ formValues, ai }, resultBuilder) => {
        const provider: AiProvider | null = ai;
        return resultBuilder.success(provider ? String(formValues.City) : undefined);
      },
    }),
);

// The agent.
agent
  .addChart('count', async ({ collection }, builder) => builder.value(await collection('orders').count()))
  .addChart('paid', { collection: 'orders', measures: { paid: { count: true } }, groups: ['customer_id'], limit: 5 })
  // @ts-expect-error There is no such collection.
  .addChart('other', { collection: 'nothing', measures: { all: { count: true } } })
  .addWorkflow(
    { name: 'Check', collection: 'orders', steps: [{ id: 'look', type: 'condition', if: {}, next: null }] },
    { teams: ['Support'] },
  )
  .addQuery('sums', { sql: 'select customer, sum(total) as sum from orders group by customer' })
  .use(withoutTotal)
  .use(limited, { max: 9 })
  .use({ customizeAgent: (given) => void given.removeCollection('order-lines') });
