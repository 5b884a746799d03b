// The agent's HTTP API, with a session of a front end or with the application token of a program.
import { sessionToken } from '../../rest/front-end.ts';
import type { OperationName } from '../operations.ts';
import type { Credential } from '../oracle.ts';
import type { World } from '../world.ts';
import { type Ending, type Entry, endOfCode } from './entry.ts';

type Request = readonly [method: string, path: string, body?: object];

const put = (path: string, type: string, attributes: object): Request => [
  ...(['PUT', path] as const),
  { data: { type, id: path.split('/').at(-1), attributes } },
];
const post = (attributes: object): Request => ['POST', '/orders', { data: { type: 'orders', attributes } }];
const link = (method: string, path: string, type: string, id: string): Request => [
  ...([method, path] as const),
  { data: [{ type, id }] },
];
const lines = '/orders/1/relationships/order_lines';
const filter = encodeURIComponent('{"field":"margin","operator":"equal","value":7317}');
const figures = (body: object): Request => ['POST', '/stats/orders', { type: 'Value', ...body }];
const run = (...ids: readonly string[]) => ({ data: { attributes: { ids, values: {}, collection_name: 'orders' } } });

/** The request of each operation. Actions use the URL of their form, by index. */
export const requests: Readonly<Partial<Record<OperationName, Request>>> = {
  list: ['GET', '/orders'],
  search: ['GET', '/orders?search=7317'],
  get: ['GET', '/orders/1'],
  filterByField: ['GET', `/orders?filters=${filter}&fields[orders]=id`],
  count: ['GET', '/orders/count'],
  sum: figures({ aggregator: 'Sum', aggregateFieldName: 'margin' }),
  related: ['GET', lines],
  countRelated: ['GET', `${lines}/count`],
  chart: ['GET', '/_charts/orders/age?record_id=1'],
  export: ['GET', '/orders.csv'],
  exportRelated: ['GET', `${lines}.csv`],
  form: ['POST', '/_actions/orders/0/refund/hooks/load', run('1')],
  create: post({ id: 9, label: 'new', margin: 5 }),
  createLinked: post({ id: 9, label: 'new', customer_id: 1 }),
  createRelated: [
    'POST',
    '/orders',
    {
      data: {
        ...{ type: 'orders', attributes: { id: 9, label: 'new' } },
        relationships: { customer: { data: { type: 'customers', id: '1' } } },
      },
    },
  ],
  update: put('/orders/1', 'orders', { margin: 5 }),
  patch: ['PATCH', '/orders/1', put('/orders/1', 'orders', { margin: 5 })[2]!],
  updateImported: put('/orders/1', 'orders', { customer_name: 'Mallory' }),
  updatePolymorphic: put('/remarks/1', 'remarks', { about_id: 2, about_type: 'order' }),
  delete: ['DELETE', '/orders/3'],
  deleteMany: ['DELETE', '/orders', { data: { attributes: { ids: ['3'], collection_name: 'orders' } } }],
  deleteAll: [
    'DELETE',
    '/order_lines',
    { data: { attributes: { all_records: true, all_records_ids_excluded: ['2'], collection_name: 'order_lines' } } },
  ],
  deleteRelated: link('DELETE', `${lines}?delete=true`, 'order_lines', '1'),
  deleteCascade: ['DELETE', '/orders/1'],
  associate: link('POST', lines, 'order_lines', '2'),
  point: ['PUT', '/order_lines/2/relationships/order', { data: { type: 'orders', id: '1' } }],
  dissociate: link('DELETE', lines, 'order_lines', '1'),
  link: link('POST', '/orders/1/relationships/tags', 'tags', '2'),
  unlink: link('DELETE', '/orders/2/relationships/tags', 'tags', '1'),
  linkPolymorphic: link('POST', '/orders/2/relationships/remarks', 'remarks', '1'),
  single: ['POST', '/_actions/orders/0/refund', run('1')],
  bulk: ['POST', '/_actions/orders/1/sweep', run('1', '3')],
  global: ['POST', '/_actions/orders/2/close', run()],
};

export const requestOperations = Object.keys(requests) as OperationName[];

const statuses: Readonly<Record<number, string>> = { 401: 'signed out', 429: 'limited' };

export const openFrontEnd = async (world: World): Promise<Entry> =>
  openHttp(world, await sessionToken(world.apiUrl, world.clerk));

const everyScope = ['mcp:read', 'mcp:write', 'mcp:action'];

/** The scopes of this API have the names of the scopes of tools, after `records:`. */
export async function openProgram(world: World, credential?: Credential): Promise<Entry> {
  const named = typeof credential === 'object' && 'scopes' in credential ? credential.scopes : undefined;
  const scopes = (named ?? everyScope).map((scope) => scope.replace('mcp:', 'records:'));
  const token = await (credential === 'expired' ? world.expiredTokenOf(scopes) : world.tokenOf(scopes));
  if (credential === 'revoked') await world.revoke(token);
  return openHttp(world, token);
}

function openHttp(world: World, token: string): Entry {
  const authorization = `Bearer ${token}`;
  return {
    operations: requestOperations,
    async act(operation): Promise<Ending> {
      const [method, path, body] = requests[operation]!;
      const response = await fetch(world.apiUrl + path, {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.ok) return { end: 'done', text };
      const code = (JSON.parse(text) as { readonly errors?: readonly { readonly code: string }[] }).errors?.[0]?.code;
      return { end: statuses[response.status] ?? endOfCode(code ?? String(response.status)), text };
    },
  };
}
