// Actions and charts of the demo shop. They are typical of a real shop: an action checks the state of the records first
// and reports problems.
import type { EngineAgent } from 'portico';

interface Shipping {
  carrier: string;
  tracking_number?: string;
}

interface Cancelling {
  reason: string;
}

const COLLECTED = 'Collected in the shop';
const open = ['pending', 'paid'];

export function addDemoActions(agent: EngineAgent): void {
  agent
    .customizeCollection('orders', (orders) =>
      orders
        .addAction<Shipping>('Ship', {
          scope: 'Bulk',
          description: 'Hands paid orders to a carrier.',
          form: [
            {
              label: 'Carrier',
              id: 'carrier',
              type: 'Enum',
              enumValues: ['Northern Post', 'Parcel Express', COLLECTED],
              isRequired: true,
            },
            {
              label: 'Tracking number',
              id: 'tracking_number',
              type: 'String',
              isRequired: true,
              if: ({ formValues }) => formValues.carrier !== undefined && formValues.carrier !== COLLECTED,
            },
          ],
          execute: async ({ collection, filter, formValues, getRecords }, result) => {
            const chosen = await getRecords(['id', 'number', 'status', 'note']);
            const unpaid = chosen.filter(({ status }) => status !== 'paid').map(({ number }) => number);
            if (unpaid.length)
              return result.error(`Only paid orders are shipped; these are not: ${unpaid.join(', ')}.`);
            const { carrier, tracking_number: parcel } = formValues;
            const shipped_at = new Date().toISOString();
            await collection.update(filter, { status: 'shipped', shipped_at });
            for (const { id, note } of chosen) {
              const one = { field: 'id', operator: 'Equal', value: id } as const;
              await collection.update({ conditionTree: one }, { note: joined(note, carrier, parcel) });
            }
            return result.success(`Shipped: ${chosen.map(({ number }) => number).join(', ')}.`);
          },
        })
        .addAction<Cancelling>('Cancel', {
          scope: 'Single',
          description: 'Cancels an order that has not left yet.',
          form: [
            {
              label: 'Reason',
              id: 'reason',
              type: 'Enum',
              enumValues: ['Customer asked', 'Out of stock', 'Payment failed'],
              isRequired: true,
            },
          ],
          execute: async ({ collection, filter, formValues, getRecord }, result) => {
            const { number, status, note } = await getRecord(['number', 'status', 'note']);
            if (!open.includes(String(status))) return result.error(`${number} is ${status}: too late to cancel it.`);
            await collection.update(filter, { status: 'cancelled', note: joined(note, formValues.reason) });
            return result.success(`${number} is cancelled.`);
          },
        }),
    )
    .customizeCollection('products', (products) =>
      products.addAction('Print price list', {
        scope: 'Global',
        description: 'A CSV file of what is sold.',
        generateFile: true,
        execute: async ({ collection }, result) => {
          const sold = { field: 'discontinued_at', operator: 'Missing' } as const;
          const rows = await collection.list({ conditionTree: sold }, ['sku', 'name', 'price']);
          const lines = rows.map(({ sku, name, price }) => [sku, quoted(String(name)), price].join(','));
          return result.file(['sku,name,price', ...lines, ''].join('\r\n'), 'price-list.csv', 'text/csv');
        },
      }),
    );
}

/** The shop-wide chart is public to signed-in users. The chart of a customer needs the right to see that customer. */
export function addDemoCharts(agent: EngineAgent): void {
  agent
    .addChart('Orders by status', async ({ collection }, builder) => {
      const groups = await collection('orders').aggregate({}, { operation: 'Count', groups: [{ field: 'status' }] });
      return builder.distribution(Object.fromEntries(groups.map(({ group, value }) => [group.status, Number(value)])));
    })
    .customizeCollection('customers', (customers) =>
      customers.addChart('Spent', async ({ collection, recordId }, builder) => {
        const ofCustomer = { field: 'customer_id', operator: 'Equal', value: recordId } as const;
        const [all] = await collection('orders').aggregate(
          { conditionTree: ofCustomer },
          { operation: 'Sum', field: 'total' },
        );
        return builder.value(Number(all?.value ?? 0));
      }),
    );
}

/** Keeps earlier notes. */
const joined = (...notes: readonly unknown[]): string => notes.filter(Boolean).join(', ');

/** Spreadsheets treat text that starts with these characters as a formula. */
const quoted = (text: string): string => `"${/^[=+\-@\t\r]/.test(text) ? "'" : ''}${text.replaceAll('"', '""')}"`;
