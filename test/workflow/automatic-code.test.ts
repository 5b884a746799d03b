// Data changes by customization code: actions, hooks, and code that replaces a write.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StartSettings } from '../../src/store/workflows/start-rule-types.ts';
import type { Workflow } from '../../src/store/workflows/types.ts';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { type AutomaticTestServer, openAutomatic } from './automatic-server.ts';
import { openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

let at: WorkflowTestServer;
let auto: AutomaticTestServer;
cleanUpAfterAll();
beforeAll(async () => {
  at = await openWorkflowServer(variants[0]!, {
    customize: (agent) => {
      agent.customizeCollection('orders', (orders) =>
        orders.addAction('Raise', {
          scope: 'Single',
          async execute(context, result) {
            await context.collection.update(context.filter, { total: 42 });
            return result.success('Raised');
          },
        }),
      );
      agent.customizeCollection('customers', (customers) =>
        customers.addHook('After', 'Update', async ({ collection }) => {
          const condition = { field: 'customer_id', operator: 'Equal', value: 1 } as const;
          await collection('orders').update({ conditionTree: condition }, { total: 43 });
        }),
      );
      agent.customizeCollection('line_notes', (notes) =>
        notes.overrideCreate(({ data, collection }) => collection('line_notes').create(data)),
      );
    },
  });
  auto = openAutomatic(at);
});
afterAll(async () => {
  await at.close();
  await dropSpares();
});

const changed: StartSettings = { kind: 'change', operations: ['create', 'update'], limit: 100 };
let editors = 0;
async function open(collection: string): Promise<Workflow> {
  const userId = await at.addUser({ email: `editor-${++editors}@b.example`, level: 'editor' });
  const workflow = await at.publish([{ id: 'wait', type: 'guidance', text: 'Look.' }], { collection });
  await auto.add(workflow, changed, userId);
  return workflow;
}
const recordsOf = async (workflow: Workflow) => (await auto.runsOf(workflow)).map(({ recordId }) => recordId);

test('a record that the code of an action changes starts a run', async () => {
  const workflow = await open('orders');
  const request = { collection: 'orders', action: 'Raise', recordIds: ['2'], values: {} };
  const access = await auto.accessOf();
  await auto.write((written) => at.engine.actions.execute(access, request, { written }));
  await auto.poll();
  expect(await recordsOf(workflow)).toEqual(['2']);
});

test('so does a record that a hook changes, also if the process dies afterwards', async () => {
  const workflow = await open('orders');
  const request = { collection: 'customers', ids: [1], values: { city: 'Oslo' } };
  const access = await auto.accessOf();
  await auto.write((written) => at.engine.update(access, request, { written }), { end: false });
  await auto.poll();
  expect(await recordsOf(workflow)).toEqual([]);
  at.wait(121_000);
  await auto.poll();
  expect(await recordsOf(workflow)).toEqual(['1']);
});

test('a record of code that replaces a write starts one run', async () => {
  const workflow = await open('line_notes');
  const access = await auto.accessOf();
  const records = [{ id: 9, text: 'new' }];
  await auto.write((written) => at.engine.create(access, { collection: 'line_notes', records }, { written }));
  expect(await at.store.startRules.take(10, 1000)).toHaveLength(1);
  at.wait(121_000);
  await auto.poll();
  expect(await recordsOf(workflow)).toEqual(['9']);
});
