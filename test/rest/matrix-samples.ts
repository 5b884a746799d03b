// Data of the matrix: two related collections, and for each route sample requests with the permissions they need. A new
// route needs a row here.
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import type { Verb } from '../../src/core/caller.ts';

type Place = 'orders' | 'lines';
export type Need = `${Verb | 'trigger'} ${Place}` | 'agent charts';

export interface Sample {
  readonly path: string;
  readonly body?: object;
  /** In the order of the checks, each with the status when it is missing. */
  readonly needs: readonly (readonly [need: Need, otherwise: 403 | 404])[];
  /** The status when no permission is missing; default 200. */
  readonly status?: number;
  /** Addresses order 1 or line 3; 404 if the row scope hides it. */
  readonly isOfOne?: Place;
  /** Addresses both. */
  readonly isOfBoth?: true;
  /** Writes the field `weight`: the status if the role may not. */
  readonly weighs?: number;
  /** Triggers the action on order 1. */
  readonly triggers?: true;
  /** Exists only with `useUnsafeActionEndpoint`; otherwise 404. */
  readonly isUnsafe?: true;
}

const seesOrders = ['browse orders', 404] as const;
const seesLines = ['browse lines', 404] as const;
const reads = ['read orders', 403] as const;
const triggers = ['trigger orders', 404] as const;
const action = { needs: [seesOrders, triggers], isOfOne: 'orders', triggers: true } as const;
const written = { label: 'socks', weight: 5 };
const update = {
  path: '/orders/1',
  needs: [seesOrders, ['edit orders', 403]],
  isOfOne: 'orders',
  weighs: 400,
} as const;
const resource = (type: string, attributes: object) => ({ data: { type, attributes } });
const selectedOf = (collection: string, attributes: object) => ({
  data: { type: 'action-requests', attributes: { collection_name: collection, ...attributes } },
});
const selected = (attributes: object = {}) => ({
  data: { type: 'custom-action-requests', attributes: { ids: ['1'], collection_name: 'orders', ...attributes } },
});
const filled = selected({ fields: [{ field: 'proof', value: null, searchValue: 'a' }], changed_field: 'proof' });

const actionsAt = (path: string, more: Pick<Sample, 'isUnsafe'>): Record<string, readonly Sample[]> => {
  const at = path.replace(':collection', 'orders').replace(':index', '0').replace(':slug', 'cancel');
  const search = selected({ fields: [{ field: 'proof', value: null, searchValue: 'p' }], search_field: 'proof' });
  return {
    [`POST ${path}`]: [{ ...action, ...more, path: at, body: selected({ values: { proof: 'photo' } }) }],
    [`POST ${path}/hooks/load`]: [{ ...action, ...more, path: `${at}/hooks/load`, body: selected() }],
    [`POST ${path}/hooks/change`]: [{ ...action, ...more, path: `${at}/hooks/change`, body: filled }],
    [`POST ${path}/hooks/search`]: [{ ...action, ...more, path: `${at}/hooks/search`, body: search }],
  };
};

const relation = '/:collection/:id/relationships/:relation';

const figures = (body: object) => ({ type: 'Value', aggregator: 'Count', ...body });

/** By method and path of the route. */
export const samples: Readonly<Record<string, readonly Sample[]>> = {
  'GET /:collection': [
    { path: '/orders', needs: [seesOrders] },
    { path: '/lines', needs: [seesLines] },
    { path: '/lines?search=boots&searchExtended=1', needs: [seesLines] },
  ],
  'GET /:collection/count': [{ path: '/orders/count', needs: [seesOrders] }],
  'GET /:collection/:id': [
    { path: '/orders/1', needs: [seesOrders, reads], isOfOne: 'orders' },
    { path: '/lines/3', needs: [seesLines, ['read lines', 403]], isOfOne: 'lines' },
  ],
  [`GET ${relation}`]: [
    { path: '/orders/1/relationships/lines', needs: [seesOrders, seesLines], isOfOne: 'orders' },
    {
      path: '/lines/3/relationships/order',
      needs: [seesLines, seesOrders, ['read lines', 403]],
      isOfOne: 'lines',
    },
  ],
  [`GET ${relation}/count`]: [
    { path: '/orders/1/relationships/lines/count', needs: [seesOrders, seesLines], isOfOne: 'orders' },
  ],
  'GET /:collection.csv': [
    { path: '/orders.csv', needs: [seesOrders, ['export orders', 403]] },
    { path: '/lines.csv', needs: [seesLines, ['export lines', 403]] },
  ],
  [`GET ${relation}.csv`]: [
    {
      path: '/orders/1/relationships/lines.csv',
      needs: [seesOrders, seesLines, ['export lines', 403]],
      isOfOne: 'orders',
    },
  ],
  'POST /:collection': [
    {
      path: '/orders',
      body: resource('orders', { id: 9, ...written }),
      needs: [seesOrders, ['add orders', 403]],
      weighs: 400,
    },
    {
      path: '/lines',
      body: {
        data: { attributes: { id: 9, quantity: 1 }, relationships: { order: { data: { type: 'orders', id: '1' } } } },
      },
      needs: [seesLines, ['add lines', 403], seesOrders],
      isOfOne: 'orders',
    },
  ],
  'PUT /:collection/:id': [{ ...update, body: resource('orders', written) }],
  'PATCH /:collection/:id': [{ ...update, body: resource('orders', written) }],
  'DELETE /:collection/:id': [
    { path: '/orders/1', needs: [seesOrders, ['delete orders', 403]], isOfOne: 'orders', status: 204 },
  ],
  'DELETE /:collection': [
    {
      path: '/lines',
      body: selectedOf('lines', { ids: ['3'] }),
      needs: [seesLines, ['delete lines', 403]],
      isOfOne: 'lines',
      status: 204,
    },
    {
      path: '/lines',
      body: selectedOf('lines', { all_records: true, all_records_ids_excluded: [] }),
      needs: [seesLines, ['delete lines', 403]],
      status: 204,
    },
  ],
  [`POST ${relation}`]: [
    {
      path: '/orders/1/relationships/lines',
      body: { data: [{ type: 'lines', id: '4' }] },
      needs: [seesOrders, seesLines, ['edit lines', 403]],
      isOfOne: 'orders',
      status: 204,
    },
    {
      path: '/orders/1/relationships/lines',
      body: { data: [{ type: 'lines', id: '3' }] },
      needs: [seesOrders, seesLines, ['edit lines', 403]],
      isOfBoth: true,
      status: 204,
    },
  ],
  [`PUT ${relation}`]: [
    {
      path: '/lines/3/relationships/order',
      body: { data: { type: 'orders', id: '1' } },
      needs: [seesLines, seesOrders, ['edit lines', 403]],
      isOfBoth: true,
      status: 204,
    },
  ],
  [`DELETE ${relation}`]: [
    {
      path: '/orders/1/relationships/lines?delete=false',
      body: { data: [{ type: 'lines', id: '3' }] },
      needs: [seesOrders, seesLines, ['edit lines', 403]],
      isOfBoth: true,
      status: 204,
    },
    {
      path: '/orders/2/relationships/lines?delete=true',
      body: { data: [{ type: 'lines', id: '4' }] },
      needs: [seesOrders, seesLines, ['delete lines', 403]],
      status: 204,
    },
  ],
  ...actionsAt('/_actions/:collection/:index/:slug', {}),
  ...actionsAt('/_actions/:collection/:slug', { isUnsafe: true }),
  'GET /_charts/:chart': [{ path: '/_charts/total', needs: [['agent charts', 404]] }],
  'POST /_charts/:chart': [{ path: '/_charts/total', body: {}, needs: [['agent charts', 404]] }],
  'GET /_charts/:collection/:chart': [
    { path: '/_charts/orders/age?record_id=1', needs: [seesOrders, reads], isOfOne: 'orders' },
  ],
  'POST /_charts/:collection/:chart': [
    { path: '/_charts/orders/age', body: { record_id: '1' }, needs: [seesOrders, reads], isOfOne: 'orders' },
  ],
  // Concerns no records; without a provider every caller gets 404.
  'POST /_internal/ai/query': [
    {
      path: '/_internal/ai/query',
      body: { messages: [{ role: 'user', content: 'How many?' }] },
      needs: [],
      status: 404,
    },
  ],
  'POST /stats/:collection': [
    { path: '/stats/orders', body: figures({}), needs: [seesOrders] },
    { path: '/stats/lines', body: figures({ type: 'Pie', groupByFieldName: 'quantity' }), needs: [seesLines] },
    {
      path: '/stats/orders',
      body: figures({ type: 'Leaderboard', relationshipFieldName: 'lines', labelFieldName: 'label' }),
      needs: [seesOrders, seesLines],
    },
  ],
  'POST /_internal/native_query': [{ path: '/_internal/native_query', body: {}, needs: [], status: 422 }],
  'POST /_internal/capabilities': [
    { path: '/_internal/capabilities', body: {}, needs: [] },
    { path: '/_internal/capabilities', body: { collectionNames: ['order', 'line'] }, needs: [] },
  ],
  'POST /scope-cache-invalidation': [
    { path: '/scope-cache-invalidation', body: { renderingId: 1 }, needs: [], status: 204 },
  ],
};

const tree = (field: string) => encodeURIComponent(JSON.stringify({ field, operator: 'present' }));

/** Requests whose error messages may suggest similar names. */
export const probes: readonly Pick<Sample, 'path' | 'body'>[] = [
  { path: '/order' },
  { path: '/line' },
  { path: '/order.csv' },
  { path: '/orders?fields[orders]=weigh' },
  { path: '/orders?fields[orders]=labels' },
  { path: '/orders?fields[line]=x' },
  { path: '/orders?sort=weigh' },
  { path: '/orders?sort=-line.quantities' },
  { path: '/lines?sort=order.weigh' },
  { path: '/lines?fields[order]=weigh' },
  { path: `/orders?filters=${tree('line:quantities')}` },
  { path: `/lines?filters=${tree('order:weigh')}` },
  { path: '/orders?search=7317' },
  { path: '/orders?search=weight:7317' },
  { path: '/orders/2/relationships/line' },
  { path: '/lines/4/relationships/orde' },
  { path: '/_charts/tota' },
  { path: '/_charts/orders/ag?record_id=2' },
  { path: '/_actions/orders/0/cance', body: selected() },
  { path: '/stats/order', body: figures({}) },
  { path: '/stats/lines', body: figures({ type: 'Pie', groupByFieldName: 'order:label' }) },
  { path: '/stats/lines', body: figures({ filter: { field: 'order:weight', operator: 'present' } }) },
  { path: '/stats/orders', body: figures({ aggregator: 'Sum', aggregateFieldName: 'weight' }) },
  { path: '/stats/orders', body: figures({ type: 'Leaderboard', relationshipFieldName: 'line', labelFieldName: 'x' }) },
  {
    path: '/orders',
    body: { data: { attributes: { weigh: 1, labels: 'x' }, relationships: { line: { data: null } } } },
  },
  { path: '/lines', body: { data: { attributes: { quantities: 1, orderIds: 1 } } } },
  { path: '/orders/2/relationships/line', body: { data: [{ id: '3' }] } },
];

const number = (name: string) => ({ name, type: 'Number' }) as const;

export const source = (): Source =>
  createMemorySource('shop', [
    {
      name: 'orders',
      columns: [number('id'), { name: 'label', type: 'String' }, { ...number('weight'), nullable: true }],
      primaryKey: ['id'],
      rows: [
        [1, 'boots', 7317],
        [2, 'hats', 12],
      ],
    },
    {
      name: 'lines',
      columns: [number('id'), { ...number('orderId'), nullable: true }, number('quantity')],
      primaryKey: ['id'],
      rows: [
        [3, 1, 8842],
        [4, 2, 15],
      ],
    },
  ]);

export function customize(agent: HeadlessAgent): void {
  agent.addChart('total', (_context, resultBuilder) => resultBuilder.value(5150));
  agent.customizeCollection('lines', (lines) =>
    lines.addManyToOneRelation('order', 'orders', { foreignKey: 'orderId' }),
  );
  agent.customizeCollection('orders', (orders) => {
    orders
      .addOneToManyRelation('lines', 'lines', { originKey: 'orderId' })
      .addChart('age', (_context, resultBuilder) => resultBuilder.value(3))
      .addAction('Cancel', {
        scope: 'Single',
        form: [{ label: 'proof', type: 'String', widget: 'Dropdown', search: 'dynamic', options: () => ['photo'] }],
        execute: (_context, resultBuilder) => resultBuilder.success('cancelled'),
      });
  });
}
