// The operations as tool calls: over MCP, in the playground of the console, and for approvals.
import type { OperationName } from '../operations.ts';
import type { World } from '../world.ts';

export type Args = Readonly<Record<string, unknown>>;

const orders = { collectionName: 'orders' };
const one = { ...orders, recordId: 1 };
const lines = { ...orders, relationName: 'order_lines', parentRecordId: 1 };
const tags = { ...orders, relationName: 'tags' };
const action = (actionName: string, ...recordIds: readonly number[]): Args => ({
  ...{ ...orders, actionName },
  ...(recordIds.length > 0 && { recordIds }),
});

/**
 * The tool and its arguments for each operation. `attach` also gets its file handle, and `WORKFLOW` is replaced with an
 * id.
 */
export const toolCalls: Readonly<Partial<Record<OperationName, readonly [tool: string, args: Args]>>> = {
  describe: ['describeCollection', { ...orders, detail: 'full' }],
  list: ['list', orders],
  search: ['list', { ...orders, search: '7317' }],
  filterByField: ['list', { ...orders, filters: { field: 'margin', operator: 'Equal', value: 7317 }, fields: ['id'] }],
  count: ['aggregate', { ...orders, operation: 'count' }],
  sum: ['aggregate', { ...orders, operation: 'sum', field: 'margin' }],
  related: ['listRelated', lines],
  chart: ['getChart', { ...one, chartName: 'age' }],
  form: ['getActionForm', action('Refund', 1)],
  create: ['create', { ...orders, attributes: { id: 9, label: 'new', margin: 5 } }],
  createLinked: ['create', { ...orders, attributes: { id: 9, label: 'new', customer_id: 1 } }],
  createNested: [
    'create',
    { ...orders, attributes: { id: 9, label: 'new', 'customer:id': 3, 'customer:name': 'Eve' } },
  ],
  update: ['update', { ...one, attributes: { margin: 5 } }],
  updateImported: ['update', { ...one, attributes: { customer_name: 'Mallory' } }],
  updateNested: ['update', { ...one, attributes: { 'customer:name': 'Mallory' } }],
  updatePolymorphic: [
    'update',
    { collectionName: 'remarks', recordId: 1, attributes: { about_id: 2, about_type: 'order' } },
  ],
  delete: ['delete', { ...orders, recordIds: [3] }],
  deleteCascade: ['delete', { ...orders, recordIds: [1] }],
  associate: ['associate', { ...lines, targetRecordId: 2 }],
  dissociate: ['dissociate', { ...lines, targetRecordIds: [1] }],
  link: ['associate', { ...tags, parentRecordId: 1, targetRecordId: 2 }],
  unlink: ['dissociate', { ...tags, parentRecordId: 2, targetRecordIds: [1] }],
  linkPolymorphic: ['associate', { ...orders, relationName: 'remarks', parentRecordId: 2, targetRecordId: 1 }],
  single: ['executeAction', action('Refund', 1)],
  bulk: ['executeAction', action('Sweep', 1, 3)],
  global: ['executeAction', action('Close')],
  attach: ['executeAction', action('Attach', 1)],
  start: ['triggerWorkflow', { workflowId: 'WORKFLOW', recordId: '1' }],
};

/** Replaces the id of the workflow. */
export function callOf(operation: OperationName, { workflowId }: Pick<World, 'workflowId'>): readonly [string, Args] {
  const [tool, args] = toolCalls[operation]!;
  return [tool, args.workflowId === undefined ? args : { ...args, workflowId }];
}

export const toolOperations = Object.keys(toolCalls) as OperationName[];

/** Classifies an answer, or an error as the model reads it. */
export function endOfText(text: string, endOfCode: (code: string) => string): string {
  if (text.startsWith('{')) return text.includes('"status":"pending"') ? 'waits' : 'done';
  return endOfCode(/^[A-Z_]+/.exec(text)?.[0] ?? text);
}
