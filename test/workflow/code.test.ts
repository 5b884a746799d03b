// Workflows defined in code: validated at start and published for the named teams. Includes those of the demo shop.
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { customizeDemo } from '../../examples/demo-shop/customization.ts';
import { demoSchema } from '../../examples/demo-shop/schema.ts';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { WorkflowSource } from '../../src/agent/customize/workflow-entry.ts';
import { checkAgainstModel } from '../../src/workflows/definition/check-model.ts';
import { createCodeReader } from '../../src/workflows/definition/code.ts';
import { parseDefinition } from '../../src/workflows/definition/definition.ts';
import { connect } from '../agent/connection.ts';
import { accessOf, databases, type Shop } from '../agent/shop.ts';
import { servers } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const sqlite = databases.find(({ name }) => name === 'sqlite')!;
const look = { id: 'look', type: 'read-record', fields: ['total'] };

async function open(...workflows: readonly WorkflowSource[]): Promise<Shop> {
  const customize = (agent: HeadlessAgent) => {
    for (const each of workflows) agent.addWorkflow(each);
  };
  const shop = await sqlite.open({ customize });
  undo.push(() => shop.close());
  return shop;
}

const wrong: readonly (readonly [string, object, string])[] = [
  ['collection', { collection: 'order' }, "collection: No collection 'order'. Near: orders"],
  [
    'field',
    { steps: [{ ...look, fields: ['totals'] }] },
    "steps.0.fields: 'orders' has no field 'totals'. Near: total",
  ],
  [
    'field of a relation',
    { steps: [{ ...look, fields: ['customer:nam'] }] },
    "'customers' has no field 'nam'. Near: name",
  ],
  [
    'field of a template',
    { steps: [{ id: 'a', type: 'guidance', text: '{{record.totl}}' }] },
    "'orders' has no field 'totl'. Near: total",
  ],
  [
    'relation',
    { steps: [{ id: 'a', type: 'load-related-record', relation: 'custmer' }] },
    "steps.0.relation: 'orders' has no relation 'custmer'. Near: customer",
  ],
  [
    'action',
    { steps: [{ id: 'a', type: 'trigger-action', action: 'pay' }] },
    "steps.0.action: 'orders' has no action 'pay'",
  ],
  ['step', { steps: [{ ...look, next: 'gone' }] }, "steps.0.next: unknown step 'gone'"],
  ['type', { steps: [{ id: 'a', type: 'reed' }] }, 'steps.0.type'],
];

test.each(wrong)(
  'an unknown %s is an error at the start, with the line that adds the workflow',
  async (_, more, problem) => {
    const given = { name: 'flow', collection: 'orders', steps: [look], ...more };
    const { engine } = await open(given);
    const read = createCodeReader(engine);
    expect(read).toThrow(expect.objectContaining({ code: 'CONFIGURATION' }));
    expect(read).toThrow(problem);
    expect(read).toThrow(/The workflow 'flow': .*code\.test\.ts:\d+/);
  },
);

test('a name must be unique', async () => {
  const given = { name: 'flow', collection: 'orders', steps: [look] };
  await expect(open(given, given)).rejects.toThrow("The workflow 'flow' is already defined, at");
});

test('a user who saves gets the same error for hidden fields as for unknown ones', async () => {
  const { engine } = await open();
  const definition = parseDefinition({ name: 'flow', collection: 'orders', steps: [look] });
  checkAgainstModel(definition, accessOf(), engine);
  const blind = accessOf({ hidden: ['orders.total'] });
  expect(() => checkAgainstModel(definition, blind, engine)).toThrow("'orders' has no field 'total'");
  const change = parseDefinition({
    name: 'flow',
    collection: 'orders',
    steps: [{ id: 'a', type: 'update-record', values: { total: 1 } }],
  });
  expect(() => checkAgainstModel(change, accessOf({ readOnly: ['orders.total'] }), engine)).toThrow('steps.0.values');
});

test('the demo shop has active workflows in code, and a run executes', async () => {
  const database = await servers[0]!.create();
  undo.push(() => database.drop());
  const connection = await connect(database);
  for (const statement of demoSchema.split(';').filter((text) => text.trim() !== ''))
    await connection.run(statement, []);
  const at = "'2026-01-02T00:00:00.000Z'";
  await connection.run(
    `insert into customers (id, first_name, last_name, email, city, country, created_at) values (1, 'Ada', 'L', 'ada@example.com', 'Paris', 'FR', ${at})`,
    [],
  );
  await connection.run(
    `insert into orders (id, number, customer_id, status, placed_at, shipping_fee, total) values (1, 'ORD-10001', 1, 'delivered', ${at}, 0, 12.5)`,
    [],
  );
  await connection.end();
  const server: TestServer = await startServer({ database: database.url, app: { customize: customizeDemo } });
  undo.push(() => server.stop());
  const { store } = server;
  const found = await store.workflows.list({});
  expect(found.map(({ name, source, isActive }) => [name, source, isActive])).toEqual([
    ['Restock a product', 'code', true],
    ['Take back an order', 'code', true],
  ]);
  const user = (await store.identity.listUsers())[0]!;
  const run = { workflow: found[1]!, recordId: '1', userId: user.id, origin: 'console', originName: 'test' } as const;
  const created = await store.runs.create(run);
  if (created.state !== 'created') expect.fail(created.state);
  const { runId } = created as { readonly runId: string };
  // The server polls without a request.
  await expect
    .poll(async () => (await store.runs.find(runId))!.state, { timeout: 20_000, interval: 50 })
    .toBe('awaiting-input');
  expect((await store.runs.steps(runId)).map(({ stepId, state }) => [stepId, state])).toEqual([
    ['look', 'done'],
    ['delivered', 'done'],
    ['check', 'waiting'],
  ]);
}, 60_000);

test('every definition of docs/workflows.md is valid', () => {
  const page = readFileSync('docs/workflows.md', 'utf8');
  const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text!) as object);
  const definitions = blocks.filter((block) => 'steps' in block);
  expect(definitions.length).toBeGreaterThan(0);
  for (const definition of definitions) parseDefinition(definition);
  const steps = blocks.filter((block) => !('steps' in block));
  expect(new Set(steps.map((step) => (step as { readonly type: string }).type)).size).toBe(8);
  for (const step of steps) parseDefinition({ name: 'one', collection: 'orders', steps: [step] });
});
