// The tool calls to measure, and the values that a bare server binds to their statements.
// The name is the id of the JSON-RPC request, so the bare servers recognize the operation.
export interface Operation {
  readonly name: string;
  /** The tool to call; absent for tools/list. */
  readonly tool?: string;
  /** Whether calls differ in their arguments; absent if all calls are like the first. */
  readonly varies?: true;
  /** Arguments of the nth call. */
  readonly given: (turn: number) => Readonly<Record<string, unknown>>;
  /** The bindings of each statement for the arguments. */
  readonly bindings?: (given: Readonly<Record<string, unknown>>) => readonly (readonly unknown[])[];
  /** The result that a bare server builds from the rows; `text` sends the text of Portico. */
  readonly answers: 'page' | 'groups' | 'written' | 'text';
  readonly pageSize?: number;
  /** True if the bare servers write no audit entry, although Portico does. */
  readonly unaudited?: true;
}

const PAGE = 15;
const fields = ['id', 'number', 'status', 'total', 'coupon', 'shipping_fee', 'customer:last_name'];
const equal = (field: string, value: unknown) => ({ field, operator: 'Equal', value });
const sort = { field: 'placed_at', ascending: false };
const NOTES = 1000;

export const operations: readonly Operation[] = [
  {
    name: 'list',
    tool: 'list',
    given: () => ({ collectionName: 'orders', fields, filters: equal('status', 'paid'), sort }),
    bindings: () => [['paid']],
    answers: 'page',
    pageSize: PAGE,
  },
  {
    name: 'list 1,000',
    tool: 'list',
    given: () => ({
      collectionName: 'orders',
      fields,
      filters: equal('status', 'delivered'),
      sort,
      pagination: { size: 1000 },
    }),
    bindings: () => [['delivered']],
    answers: 'page',
    pageSize: 1000,
  },
  {
    name: 'get by key',
    tool: 'list',
    given: () => ({ collectionName: 'orders', fields, filters: equal('id', 7) }),
    bindings: () => [[7]],
    answers: 'page',
    pageSize: PAGE,
  },
  {
    name: 'related',
    tool: 'listRelated',
    given: () => ({ collectionName: 'orders', relationName: 'notes', parentRecordId: '7' }),
    bindings: () => [[7]],
    answers: 'page',
    pageSize: PAGE,
  },
  {
    name: 'aggregate',
    tool: 'aggregate',
    given: () => ({
      collectionName: 'orders',
      operation: 'Count',
      groups: ['status'],
      filters: equal('customer_id', 288),
    }),
    bindings: () => [[288]],
    answers: 'groups',
  },
  { name: 'describe', tool: 'describeCollection', given: () => ({ collectionName: 'orders' }), answers: 'text' },
  { name: 'tools/list', given: () => ({}), answers: 'text' },
  {
    name: 'create',
    tool: 'create',
    given: () => ({
      collectionName: 'notes',
      attributes: { order_id: 4000, author: 'bench', text: 'hello', stars: 4 },
    }),
    bindings: () => [[4000, 'bench', 'hello', 4]],
    answers: 'written',
  },
  {
    name: 'update',
    tool: 'update',
    varies: true,
    given: (turn) => ({
      collectionName: 'notes',
      // Spreads consecutive calls over the table.
      recordId: String(1 + ((turn * 7) % NOTES)),
      attributes: { stars: turn % 11, text: `said anew ${turn % 97}` },
    }),
    bindings: ({ recordId, attributes }) => {
      const { stars, text } = attributes as Record<'stars' | 'text', unknown>;
      const id = Number(recordId);
      return [[stars, text, id], [id]];
    },
    answers: 'written',
  },
];

export const isWrite = ({ answers }: Operation): boolean => answers === 'written';
