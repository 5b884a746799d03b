// The calls that are measured on the large shop. Another call is one more entry here, its statement in statements.ts,
// and its target, if it has one, in targets.ts.
import type { Operation } from '../operations.ts';
import { countsOf } from './rows.ts';

const PAGE = 15;
const fields = ['id', 'number', 'status', 'total', 'coupon', 'created_at', 'customer:last_name'];
const newestFirst = { field: 'created_at', ascending: false };
/** Part of the last name of one customer in 200. */
const SOUGHT = 'quinro';
/** Prime, so that consecutive calls visit all records, far from each other. */
const STRIDE = 7919;

/** `part`: as in rows.ts; the part of the shop that the calls visit. */
export function largeOperations(part: number): readonly Operation[] {
  const { orders, customers } = countsOf(part);
  const key = (turn: number, count: number): number => 1 + ((turn * STRIDE) % count);
  const [firstPage, pages] = [Math.round(orders / 1000), Math.round((orders * 3) / 1000) + 1];
  const create: Omit<Operation, 'name'> = {
    tool: 'create',
    varies: true,
    given: (turn) => ({
      collectionName: 'notes',
      attributes: { order_id: key(turn, orders), author: 'bench', text: `note ${turn}`, stars: turn % 6 },
    }),
    bindings: ({ attributes }) => {
      const { order_id, author, text, stars } = attributes as Record<string, unknown>;
      return [[order_id, author, text, stars]];
    },
    answers: 'written',
  };
  return [
    {
      name: 'W1 list',
      tool: 'list',
      given: () => ({
        collectionName: 'orders',
        fields,
        filters: { field: 'status', operator: 'Equal', value: 'paid' },
        sort: newestFirst,
      }),
      bindings: () => [['paid']],
      answers: 'page',
      pageSize: PAGE,
    },
    {
      name: 'W2 search',
      tool: 'list',
      given: () => ({
        collectionName: 'orders',
        fields,
        search: SOUGHT,
        shouldSearchInRelation: true,
        sort: newestFirst,
      }),
      bindings: () => [Array(7).fill(`%${SOUGHT}%`)],
      answers: 'page',
      pageSize: PAGE,
    },
    {
      name: 'W3 by key',
      tool: 'list',
      varies: true,
      given: (turn) => ({
        collectionName: 'orders',
        fields,
        filters: { field: 'id', operator: 'Equal', value: key(turn, orders) },
      }),
      bindings: ({ filters }) => [[(filters as { value: number }).value]],
      answers: 'page',
      pageSize: PAGE,
    },
    { name: 'W4 describe', tool: 'describeCollection', given: () => ({ collectionName: 'orders' }), answers: 'text' },
    { ...create, name: 'W5 create', unaudited: true },
    { ...create, name: 'W5 create, all with an audit entry' },
    {
      name: 'W6 related',
      tool: 'listRelated',
      varies: true,
      given: (turn) => ({
        collectionName: 'customers',
        relationName: 'orders',
        parentRecordId: String(key(turn, customers)),
        fields,
        sort: newestFirst,
      }),
      bindings: ({ parentRecordId }) => [[Number(parentRecordId)]],
      answers: 'page',
      pageSize: PAGE,
    },
    {
      name: 'W7 pages 1,000 to 4,000',
      tool: 'list',
      varies: true,
      given: (turn) => ({
        collectionName: 'orders',
        fields,
        sort: newestFirst,
        pagination: { size: PAGE, number: firstPage + ((turn * STRIDE) % pages) },
      }),
      bindings: ({ pagination }) => [[PAGE * ((pagination as { number: number }).number - 1)]],
      answers: 'page',
      pageSize: PAGE,
    },
    { name: 'W8 tools/list', given: () => ({}), answers: 'text' },
  ];
}
