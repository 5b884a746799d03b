// An agent for the test clients: the small shop, with one customization of each kind.
import { type Agent, createMemoryDataSource } from '../../src/index.ts';
import { shopTables } from '../agent/shop.ts';

export const photo = Buffer.from([0, 255, 7]);

export function describeShop(agent: Agent): void {
  agent
    .addDataSource(createMemoryDataSource('shop', shopTables))
    .customizeCollection('customers', (customers) =>
      customers
        .renameField('secret', 'Secret_word')
        .addField('label', {
          columnType: 'String',
          dependencies: ['name', 'city'],
          getValues: (records) => records.map(({ name, city }) => `${name} (${city ?? 'nowhere'})`),
        })
        .addSegment('Placed', { field: 'city', operator: 'Present' })
        .addHook('Before', 'Create', (context) => {
          for (const { name } of context.data)
            if (name === 'Nobody') context.throwValidationError('Somebody has to have a name.', 'name');
        })
        .addHook('After', 'List', (context) => {
          // By its name from before renaming.
          for (const record of context.records) if (record.secret) record.secret = '***';
        })
        .addChart('Spent', async (context, result) => {
          const orders = await context
            .collection('orders')
            .list({ conditionTree: { field: 'customer_id', operator: 'Equal', value: context.recordId } }, ['total']);
          return result.value(
            orders.reduce((sum, order) => sum + Number(order.total), 0),
            1,
          );
        })
        .addAction('Rename', {
          scope: 'Single',
          form: [
            { label: 'Name', id: 'name', type: 'String', isRequired: true, description: 'As it is to be' },
            { label: 'Why', type: 'Enum', enumValues: ['wedding', 'other'] },
            {
              label: 'Which other reason',
              type: 'String',
              isRequired: true,
              if: ({ formValues }) => formValues.Why === 'other',
            },
            { label: 'Was', type: 'String', isReadOnly: true, value: (context) => context.getField('name') as never },
          ],
          async execute(context, result) {
            const { name, Why: why = 'no reason' } = context.formValues;
            const was = await context.getField('name');
            await context.collection.update(context.filter, { name });
            return result.success(`${was} is ${name} now, for ${why}`, {
              html: '<b>Done</b>',
              invalidated: ['customers', 'orders'],
            });
          },
        })
        .addAction('List names', {
          scope: 'Bulk',
          generateFile: true,
          async execute(context, result) {
            const records = await context.getRecords(['name']);
            return result
              .setHeader('X-Names', String(records.length))
              .file(records.map(({ name }) => name).join('\n') as never, 'nåmes.txt', 'text/plain');
          },
        })
        .addAction('Burn the house', {
          scope: 'Single',
          approval: 'ask-person',
          execute: (_context, result) => result.success('It burns'),
        }),
    )
    .customizeCollection('orders', (orders) =>
      orders
        .addAction('Say', {
          scope: 'Global',
          form: [
            {
              type: 'Layout',
              component: 'Page',
              elements: [
                { label: 'How', type: 'Enum', enumValues: ['webhook', 'redirect', 'error', 'throw'], isRequired: true },
                {
                  label: 'To',
                  type: 'String',
                  widget: 'Dropdown',
                  search: 'dynamic',
                  options: (_context, search) =>
                    search === null ? [] : [{ value: `${search}!`, label: `To ${search}` }],
                },
              ],
              nextButtonLabel: 'On',
            },
            {
              type: 'Layout',
              component: 'Page',
              elements: [
                { label: 'Customer', type: 'Collection', collectionName: 'customers' },
                { label: 'Photo', type: 'File' },
                { label: 'Numbers', type: 'NumberList' },
              ],
            },
          ],
          execute({ formValues }, result) {
            const {
              How: how,
              Photo: file,
              Customer: customer,
              ...rest
            } = formValues as Readonly<Record<string, unknown>>;
            const said = { ...rest, customer, photo: file && [(file as { readonly name: string }).name] };
            switch (how) {
              case 'webhook':
                return result.webhook('https://hook.example/say', 'PUT', { a: 'b' }, said);
              case 'redirect':
                return result.redirectTo('/there');
              case 'error':
                return result.error('It cannot be said', { html: '<i>no</i>' });
              default:
                throw new Error('the disk is full');
            }
          },
        })
        .addHook('Before', 'Delete', (context) => context.narrow({ field: 'total', operator: 'LessThan', value: 100 })),
    )
    .addChart('Orders', (_context, result) => result.value(5, 4))
    .addChart('By city', (_context, result) => result.distribution({ Paris: 1, Rome: 2 }))
    .addChart('By month', (_context, result) =>
      result.timeBased('Month', [
        { date: '2024-03-30', value: 1 },
        { date: '2024-05-01', value: 2 },
      ]),
    )
    .addChart('By month and kind', (_context, result) =>
      result.multipleTimeBased('Month', ['2024-03-30', '2024-04-01'], [{ label: 'pens', values: [1, 2] }]),
    )
    .addChart('Paid', (_context, result) => result.percentage(87.5))
    .addChart('Goal', (_context, result) => result.objective(80, 100))
    .addChart('Best', (_context, result) => result.leaderboard({ Ada: 1, Bo: 3 }))
    .addChart('Anything', (_context, result) => result.smart({ a: [1] }));
}
