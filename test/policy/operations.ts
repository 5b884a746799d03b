// Every operation on the shop and its needs, as docs/permissions.md says: rights on each collection that it reads or
// writes, fields, and records. The first unmet need decides how it ends.

/** How an operation ends at any entry point. `absent` means the same answer as for an unknown name. */
export type End =
  | 'done'
  | 'waits'
  | 'overtaken'
  | 'absent'
  | 'forbidden'
  | 'invalid'
  | 'missing'
  /** There is no record to apply it to. */
  | 'nothing'
  | 'no consent'
  | 'signed out'
  | 'limited';

export interface Need {
  readonly need: string;
  readonly otherwise: End;
}

export interface Operation {
  readonly needs: readonly Need[];
  /**
   * Rights with an approval policy that applies, if other than its needs: linking writes one end, and asks for both.
   */
  readonly asks?: readonly string[];
  /** The OAuth scope of its tool. */
  readonly scope: 'mcp:read' | 'mcp:write' | 'mcp:action';
  /** The rows that change in the database; absent for reads. */
  readonly does?: readonly string[];
}

type Given = string | readonly [need: string, otherwise: End];

const needs = (...given: readonly Given[]): Need[] =>
  given.map((one) => {
    const [need, otherwise] = typeof one === 'string' ? [one, endOf(one)] : one;
    return { need, otherwise };
  });

function endOf(need: string): End {
  if (/^(browse|trigger|see) /.test(need)) return 'absent';
  if (need.startsWith('write ')) return 'invalid';
  return need.startsWith('record ') ? 'missing' : 'forbidden';
}

const read = (...given: readonly Given[]): Operation => ({ needs: needs(...given), scope: 'mcp:read' });
const write = (does: readonly string[], ...given: readonly Given[]): Operation => ({
  ...{ needs: needs(...given), scope: 'mcp:write', does },
});
const act = (does: readonly string[], ...given: readonly Given[]): Operation => ({
  ...write(does, 'browse orders', ...given),
  scope: 'mcp:action',
});
const asking = (operation: Operation, ...asks: readonly string[]): Operation => ({ ...operation, asks });

const boots = '- orders 1 boots 7317  1';
const linkEnds = ['browse orders', 'browse order_lines', 'edit order_lines', 'record orders 1'] as const;
/** A write to a related record: if its collection is hidden, the field is unknown. */
const renames = [
  'browse orders',
  ['browse customers', 'invalid'],
  'edit orders',
  ['see customers.name', 'invalid'],
  'edit customers',
  'write customers.name',
  'record orders 1',
  ['record customers 1', 'invalid'],
] as const;
const renamed = ['- customers 1 Ada', '+ customers 1 Mallory'];

const changed = write(
  [boots, '+ orders 1 boots 5  1'],
  ...(['browse orders', 'edit orders', 'write orders.margin', 'record orders 1'] as const),
);
const deleted = write(['- orders 3 socks 13  '], 'browse orders', 'delete orders');

export const operations = {
  describe: read('browse orders'),
  list: read('browse orders'),
  search: read('browse orders'),
  get: read('browse orders', 'read orders', 'record orders 1'),
  filterByField: read('browse orders', 'see orders.margin'),
  count: read('browse orders'),
  sum: read('browse orders', 'see orders.margin'),
  related: read('browse orders', 'browse order_lines', 'record orders 1'),
  countRelated: read('browse orders', 'browse order_lines', 'record orders 1'),
  chart: read('browse orders', 'read orders', 'record orders 1'),
  export: read('browse orders', 'export orders'),
  exportRelated: read('browse orders', 'browse order_lines', 'export order_lines', 'record orders 1'),
  form: read('browse orders', 'trigger orders', 'record orders 1', 'condition orders'),
  /** By a relation in the body that names the related record. */
  createRelated: write(
    ['+ orders 9 new   1'],
    ...(['browse orders', 'add orders', ['browse customers', 'absent'], 'record customers 1'] as const),
  ),
  readField: read('browse orders', 'see orders.margin', 'record orders 1'),
  branch: read('browse orders', 'see orders.margin', 'record orders 1'),
  create: write(['+ orders 9 new 5  '], 'browse orders', 'add orders', 'write orders.margin'),
  createLinked: write(
    ['+ orders 9 new   1'],
    ...(['browse orders', 'add orders', ['browse customers', 'invalid'], ['record customers 1', 'invalid']] as const),
  ),
  createNested: write(
    ['+ customers 3 Eve', '+ orders 9 new   3'],
    ...(['browse orders', ['browse customers', 'invalid'], 'add orders'] as const),
    ...([['see customers.name', 'invalid'], 'add customers', 'write customers.name'] as const),
  ),
  update: changed,
  /** The same with another HTTP method. */
  patch: changed,
  /** The value comes from a language model, or from a tool of a remote server. */
  updateByModel: changed,
  updateByRemote: { ...changed, needs: [...needs('browse orders', 'call charge'), ...changed.needs] },
  /** Calls a tool of a remote server with values of the record. */
  callRemote: write([], 'browse orders', 'see orders.margin', 'record orders 1', 'call charge'),
  updateImported: write(renamed, ...renames),
  updateNested: write(renamed, ...renames),
  updatePolymorphic: write(
    ['- remarks 1 nice 1 order', '+ remarks 1 nice 2 order'],
    ...(['browse remarks', 'edit remarks', ['browse orders', 'invalid']] as const),
  ),
  delete: deleted,
  deleteMany: deleted,
  /** All visible records except the second one. Records outside the row scope are not included. */
  deleteAll: write(
    ['- order_lines 1 1 8842'],
    ...(['browse order_lines', 'delete order_lines', ['record order_lines 1', 'nothing']] as const),
  ),
  deleteRelated: write(
    ['- order_lines 1 1 8842'],
    ...([
      'browse orders',
      'browse order_lines',
      'delete order_lines',
      'record orders 1',
      'record order_lines 1',
    ] as const),
  ),
  deleteCascade: write(
    ['- order_lines 1 1 8842', boots],
    ...(['browse orders', 'delete orders', 'record orders 1', 'delete order_lines'] as const),
    ...(['cascade orders', 'cascade order_lines', ['record order_lines 1', 'forbidden']] as const),
  ),
  associate: asking(write(['- order_lines 2 2 15', '+ order_lines 2 1 15'], ...linkEnds), 'edit orders'),
  /** The same from the other end: sets the target of a to-one relation. */
  point: write(
    ['- order_lines 2 2 15', '+ order_lines 2 1 15'],
    ...(['browse order_lines', 'browse orders', 'edit order_lines', 'record orders 1'] as const),
  ),
  dissociate: asking(
    write(['- order_lines 1 1 8842', '+ order_lines 1  8842'], ...linkEnds, 'record order_lines 1'),
    'edit orders',
  ),
  link: asking(
    write(['+ order_tag 1 2'], 'browse orders', 'browse tags', 'add order_tag', 'record orders 1'),
    'edit orders',
  ),
  unlink: asking(write(['- order_tag 2 1'], 'browse orders', 'browse tags', 'delete order_tag'), 'edit orders'),
  linkPolymorphic: asking(
    write(
      ['- remarks 1 nice 1 order', '+ remarks 1 nice 2 order'],
      ...(['browse orders', 'browse remarks', 'edit remarks'] as const),
    ),
    'edit orders',
  ),
  single: act([boots, '+ orders 1 boots 7317 refunded 1'], 'trigger orders', 'record orders 1', 'condition orders'),
  bulk: act(
    [boots, '- orders 3 socks 13  ', '+ orders 1 boots 7317 swept 1', '+ orders 3 socks 13 swept '],
    ...(['trigger orders', 'record orders 1', 'condition orders'] as const),
  ),
  global: act(['- orders 2 hats 12  2', '+ orders 2 hats 12 closed 2'], 'trigger orders', [
    'condition orders',
    'absent',
  ]),
  attach: act([boots, '+ orders 1 boots 7317 attached 1'], 'trigger orders', 'record orders 1', 'condition orders'),
  start: { ...act([], 'start orders'), needs: needs('browse orders', 'start orders') },
} as const satisfies Readonly<Record<string, Operation>>;

export type OperationName = keyof typeof operations;
export const operationNames = Object.keys(operations) as OperationName[];
export const operationOf = (name: OperationName): Operation => operations[name];
