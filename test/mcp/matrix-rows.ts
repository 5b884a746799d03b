// Data of the matrix: two collections, and for each tool a call with the permissions it needs. A new tool needs a row
// here.
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Verb } from '../../src/core/caller.ts';

type Place = 'orders' | 'lines';

export interface Row {
  readonly args: Readonly<Record<string, unknown>>;
  /** In the order of the checks, each with the outcome when it is missing. */
  readonly needs: readonly (readonly [need: `${Verb | 'trigger' | 'start'} ${Place}`, otherwise: string])[];
  /** Shown if any collection meets the needs listed for orders. */
  readonly isGeneral?: true;
  /** Addresses order 1; not found if the row scope hides it. */
  readonly isOfOne?: true;
  /** Writes the field `weight`. */
  readonly weighs?: true;
  /** Concerns an action on order 1. */
  readonly triggers?: true;
}

const seesOrders = ['browse orders', 'UNKNOWN_COLLECTION'] as const;
const seesLines = ['browse lines', 'UNKNOWN_RELATION'] as const;
const triggers = ['trigger orders', 'UNKNOWN_ACTION'] as const;
export const orders = { collectionName: 'orders' };
const lines = { ...orders, relationName: 'lines', parentRecordId: 1 };
/** Placeholders for the ids of the workflow and its run. */
export const workflowId = 'WORKFLOW';
export const runId = 'RUN';

const attributes = { label: 'socks', weight: 5 };
const action = { ...orders, actionName: 'Cancel', recordIds: [1] };

export const rows: Readonly<Record<string, Row>> = {
  describeCollection: { args: orders, needs: [seesOrders], isGeneral: true },
  list: { args: orders, needs: [seesOrders], isGeneral: true },
  listRelated: { args: lines, needs: [seesOrders, seesLines], isOfOne: true },
  create: {
    args: { ...orders, attributes: { id: 9, ...attributes } },
    needs: [seesOrders, ['add orders', 'FORBIDDEN']],
    isGeneral: true,
    weighs: true,
  },
  update: {
    args: { ...orders, recordId: 1, attributes },
    needs: [seesOrders, ['edit orders', 'FORBIDDEN']],
    isGeneral: true,
    isOfOne: true,
    weighs: true,
  },
  delete: {
    args: { ...orders, recordIds: [1] },
    needs: [seesOrders, ['delete orders', 'FORBIDDEN']],
    isGeneral: true,
    isOfOne: true,
  },
  associate: {
    args: { ...lines, targetRecordId: 4 },
    needs: [seesOrders, seesLines, ['edit lines', 'FORBIDDEN']],
    isOfOne: true,
  },
  dissociate: {
    args: { ...lines, targetRecordIds: [3] },
    needs: [seesOrders, seesLines, ['edit lines', 'FORBIDDEN']],
    isOfOne: true,
  },
  getActionForm: { args: action, needs: [seesOrders, triggers], isOfOne: true, triggers: true },
  executeAction: { args: action, needs: [seesOrders, triggers], isOfOne: true, triggers: true },
  requestActionFileUpload: {
    args: { filename: 'a.txt', mimeType: 'text/plain' },
    needs: [
      ['browse orders', 'DENIED'],
      ['trigger orders', 'DENIED'],
    ],
  },
  aggregate: { args: { ...orders, operation: 'count' }, needs: [seesOrders], isGeneral: true },
  listWorkflows: { args: orders, needs: [seesOrders] },
  triggerWorkflow: {
    args: { workflowId, recordId: 1 },
    needs: [
      ['browse orders', 'UNKNOWN_WORKFLOW'],
      ['start orders', 'FORBIDDEN'],
    ],
  },
  getWorkflowRun: { args: { runId }, needs: [['browse orders', 'UNKNOWN_RUN']] },
  getChart: {
    args: { ...orders, chartName: 'age', recordId: 1 },
    needs: [seesOrders, ['read orders', 'FORBIDDEN']],
    isOfOne: true,
  },
};

const number = (name: string) => ({ name, type: 'Number' }) as const;
export const source = () =>
  createMemorySource('memory', [
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
  agent.customizeCollection('orders', (collection) => {
    collection
      .addOneToManyRelation('lines', 'lines', { originKey: 'orderId' })
      .addChart('age', (_context, resultBuilder) => resultBuilder.value(3))
      .addAction('Cancel', {
        scope: 'Single',
        form: [{ label: 'proof', type: 'File' }],
        execute: (_context, resultBuilder) => resultBuilder.success('cancelled'),
      });
  });
}
