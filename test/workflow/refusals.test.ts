// Steps that the user of a run may no longer do: the step changes no data, and the log records the denial, at whichever
// point of the step it is detected.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { dropSpares } from '../store/spares.ts';
import { cleanUpAfterAll, variants } from '../store/stores.ts';
import { everything, openWorkflowServer, type WorkflowTestServer } from './workflow-server.ts';

cleanUpAfterAll();
let at: WorkflowTestServer;
let userId: number;
/** Runs after the mark of a change is written, and before the change. */
let meanwhile: () => Promise<void>;
beforeAll(async () => {
  at = await openWorkflowServer(variants[0]!);
});
beforeEach(async () => {
  userId = await at.addUser({ email: `eve${Math.random()}@b.example` });
  await at.store.permissions.setRole('Clerk', { '*': everything });
  meanwhile = async () => undefined;
  whileReading = async () => undefined;
  reads = [];
});
afterAll(async () => {
  await at.close();
  await dropSpares();
});

const step = { id: 'set', type: 'update-record', mode: 'automatic', values: { total: 99 } };
const wait = { id: 'wait', type: 'guidance', text: 'Wait.', next: 'set' };

/** Runs after a condition has read the record. */
let whileReading: () => Promise<void>;
let reads: string[];

/** Runs the steps, and returns the outcome of the run, its log entries, and the order. */
async function run(steps: readonly object[], before?: () => Promise<void>) {
  const { activity } = at.store;
  const begin: typeof activity.begin = async (entry) => {
    const intent = await activity.begin(entry);
    await meanwhile();
    return intent;
  };
  const { permissions, versions } = at.store;
  const accessOf: typeof permissions.accessOf = (id) => {
    reads.push('access');
    return permissions.accessOf(id);
  };
  const readVersions: typeof versions = () => {
    reads.push('versions');
    return versions();
  };
  const store = {
    ...{ ...at.store, activity: { ...activity, begin } },
    ...{ permissions: { ...permissions, accessOf }, versions: readVersions },
  };
  const list: typeof at.engine.list = async (...given) => {
    const found = await at.engine.list(...given);
    await whileReading();
    return found;
  };
  const executor = at.another({ store, engine: { ...at.engine, list } });
  const id = await at.start(await at.publish(steps), '2', userId);
  await executor.take([id]);
  if (before) {
    await before();
    const { position } = (await at.store.runs.find(id))!;
    await at.store.runs.answer(id, { position, by: at.userId, value: { decision: 'done', values: {} } });
    await executor.take([id]);
  }
  await executor.stop(0);
  await activity.flush();
  const entries = await activity.list({ limit: 20 });
  const told = entries.filter(({ workflow, action }) => workflow?.runId === id && /^(update|abort)/.test(action));
  const { state, failure } = (await at.store.runs.find(id))!;
  const rows = await at.engine.get((await at.store.permissions.accessOf(at.userId))!, {
    ...{ collection: 'orders', id: 2, fields: ['total'] },
  });
  const passed = await at.steps(id);
  return {
    done: passed.filter((each) => each.state === 'done').map(({ stepId }) => stepId),
    end: [state, failure?.code],
    told: told.map(({ action, outcome, code }) => [action, outcome, code]).reverse(),
    total: rows.rows[0]![0],
  };
}

const denied = ['denied', 'FORBIDDEN'] as const;

test('before the step begins', async () => {
  const { total: before } = await run([{ id: 'look', type: 'read-record', fields: ['id'] }]);
  const { end, told, total } = await run([wait, step], () => at.store.identity.setDisabled(userId, true));
  expect([end, told, total]).toEqual([['failed', 'FORBIDDEN'], [['abortWorkflow', ...denied]], before]);
});

test('between the log mark and the change', async () => {
  const { total: before } = await run([{ id: 'look', type: 'read-record', fields: ['id'] }]);
  meanwhile = () => at.store.identity.setDisabled(userId, true);
  const { end, told, total } = await run([step]);
  expect([end, told, total]).toEqual([
    ['failed', 'FORBIDDEN'],
    [
      ['update', ...denied],
      ['abortWorkflow', ...denied],
    ],
    before,
  ]);
});

test('by the change itself, with the rights of that moment', async () => {
  const { total: before } = await run([{ id: 'look', type: 'read-record', fields: ['id'] }]);
  meanwhile = () => at.store.permissions.setRole('Clerk', { '*': { ...everything, edit: false } });
  const { end, told, total } = await run([step]);
  expect([end, told, total]).toEqual([
    ['failed', 'FORBIDDEN'],
    [
      ['update', 'failed', 'APPROVAL_OVERTAKEN'],
      ['abortWorkflow', ...denied],
    ],
    before,
  ]);
});

const look = { id: 'look', type: 'read-record', fields: ['id'], next: 'size' };
const when = { field: 'total', operator: 'GreaterThan', value: -1 };
const size = {
  id: 'size',
  type: 'condition',
  mode: 'automatic',
  options: [
    { id: 'some', when, next: 'set' },
    { id: 'none', next: null },
  ],
};

test('while a step reads: its result does not count', async () => {
  const { total: before } = await run([{ id: 'look', type: 'read-record', fields: ['id'] }]);
  whileReading = () => at.store.identity.setDisabled(userId, true);
  const { end, told, total, done } = await run([look, size, step]);
  expect([end, told, total]).toEqual([['failed', 'FORBIDDEN'], [['abortWorkflow', ...denied]], before]);
  expect(done).toEqual(['look']);
});

test('a step that reads is repeated with other rights', async () => {
  let times = 0;
  whileReading = async () => {
    if (++times === 1) await at.store.permissions.setRole('Clerk', { '*': { ...everything, delete: false } });
  };
  const { end, done } = await run([look, size, step]);
  expect([end, times, done]).toEqual([['succeeded', undefined], 2, ['look', 'size', 'set']]);
});

test('the rights are read once a step that only reads, and after the mark', async () => {
  const { end } = await run([look, size, step]);
  expect([end, reads]).toEqual([
    ['succeeded', undefined],
    ['access', 'access', 'versions'],
  ]);
});
