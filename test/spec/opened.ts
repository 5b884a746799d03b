// The small shop over arrays, customized by a test and closed after it.
import { afterEach } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { accessOf, type Rights, type Shop, type ShopOptions, sellers } from '../agent/shop.ts';

export interface Opened extends Shop {
  /** The rows of a list, at most 99. */
  list(request: Partial<ListRequest> & { readonly collection: string }, rights?: Rights): Promise<readonly unknown[][]>;
  /** The ids of the listed orders. */
  orders(request: Partial<ListRequest>, rights?: Rights): Promise<unknown[]>;
}

const opened: Shop[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((shop) => shop.close()));
});

export async function openShop(
  customize: (agent: HeadlessAgent) => unknown = () => {},
  options: ShopOptions = {},
): Promise<Opened> {
  const shop = await sellers[0]!.open({ customize: (agent) => void customize(agent), ...options });
  opened.push(shop);
  const list: Opened['list'] = async (request, rights) => {
    const { rows } = await shop.engine.list(accessOf(rights), { limit: 99, ...request });
    return rows as unknown[][];
  };
  return {
    ...shop,
    list,
    orders: async (request, rights) =>
      (await list({ collection: 'orders', fields: ['id'], ...request }, rights)).flat(),
  };
}

/** Opens the shop with one customized collection. */
export const openWith = (name: string, say: (collection: CollectionCustomizer) => unknown, options?: ShopOptions) =>
  openShop((agent) => agent.customizeCollection(name, (collection) => void say(collection)), options);
