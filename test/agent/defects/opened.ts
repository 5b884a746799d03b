// The small shop on one seller, customized, with short query helpers. The caller closes it.
import type { HeadlessAgent } from '../../../src/agent/agent.ts';
import type { ListRequest } from '../../../src/agent/requests.ts';
import { accessOf, type Rights, type Seller, type Shop, type ShopOptions } from '../shop.ts';

export interface Opened extends Shop {
  /** The rows of a list of at most 99 records. */
  rows(request: Partial<ListRequest> & { readonly collection: string }, rights?: Rights): Promise<unknown[][]>;
  /** The first value of each row. */
  values(request: Partial<ListRequest> & { readonly collection: string }, rights?: Rights): Promise<unknown[]>;
}

export async function openOn(
  seller: Seller,
  customize: (agent: HeadlessAgent) => unknown = () => {},
  options: ShopOptions = {},
): Promise<Opened> {
  const shop = await seller.open({ customize: (agent) => void customize(agent), ...options });
  const rows: Opened['rows'] = async (request, rights) =>
    (await shop.engine.list(accessOf(rights), { limit: 99, ...request })).rows as unknown[][];
  return { ...shop, rows, values: async (request, rights) => (await rows(request, rights)).map(([value]) => value) };
}
