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
});
afterAll(async () => {
  await at.close();
  await dropSpares();
});

const step = { id: 'set', type: 'update-record', mode: 'automatic', values: { total: 99 } };
const wait = { id: 'wait', type: 'guidance', text: 'Wait.', next: 'set' };

/** Runs the steps, and returns the outcome of the run, its log entries, and the order. */
async function run(steps: readonly object[], before?: () => Promise<void>) {
  const { activity } = at.store;
  const begin: typeof activity.begin = async (entry) => {
    const intent = await activity.begin(entry);
    await meanwhile();
    return intent;
  };
  const executor = at.another({ store: { ...at.store, activity: { ...activity, begin } } });
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
  return {
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
