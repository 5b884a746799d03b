// Workflows: a run may not bypass a policy, nor the limits of the consent that started it.
import { systemClock } from '../../../src/core/clock.ts';
import { type Attack, verdict } from '../attack.ts';
import { consented } from '../consent.ts';
import { all, type Caller, type Target } from '../target.ts';
import { unscoped } from './scope.ts';
import { fresh, shop } from './shop.ts';

/** Workflows from code exist only for the teams that existed at the start. */
const team = 'Operations';

/** Starts the workflow on the record, and waits until it ends or pauses. */
async function run(target: Target, caller: Caller, name: string, recordId: number): Promise<unknown> {
  const listed = await caller.call('listWorkflows', { collectionName: 'orders' });
  const [workflowId] = (listed as { rows: string[][] }).rows.find(([, one]) => one === name)!;
  const started = await caller.call('triggerWorkflow', { workflowId, recordId: String(recordId) });
  const { runId } = started as { runId?: string };
  if (!runId) return started;
  for (let at = 0; at < 100; at++) {
    const found = await target.store.runs.find(runId);
    if (found && !['queued', 'running'].includes(found.state)) return [found.state, found.failure?.code];
    await systemClock.sleep(50);
  }
  return 'still runs';
}

async function orderOfCustomer(target: Target): Promise<number> {
  const id = fresh();
  await target.sql(
    `INSERT INTO customers (id, name) VALUES (${id}, 'Before')`,
    `INSERT INTO orders (id, label, customer_id) VALUES (${id}, 'theirs', ${id})`,
  );
  return id;
}

const nameOf = async (target: Target, id: number) =>
  (await target.rows(`SELECT name FROM customers WHERE id = ${id}`))[0];

export const workflowAttacks: readonly Attack[] = [
  {
    id: 'data-8-step-passes-approval',
    finding: 'data 8',
    title: 'an automatic step writes a collection whose changes need a person, through an imported field (CWE-863)',
    place: shop,
    async attack(target) {
      const approval = { edit: 'ask-person' } as const;
      const attacker = await target.person({ team, permissions: { '*': all, customers: { ...all, approval } } });
      const id = await orderOfCustomer(target);
      const end = await run(target, attacker, 'renames the customer', id);
      const name = await nameOf(target, id);
      return verdict(name !== 'Before', { name, end });
    },
    protection: [
      {
        file: 'src/workflows/steps/update-record.ts',
        text: 'policy: strictestPolicy(...policies)',
        into: "policy: access.policy('edit', collection)",
      },
    ],
  },
  {
    id: 'data-11-consent-is-no-limit',
    finding: 'data 11',
    title: 'a consent for one collection changes another one by way of a workflow',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ team });
      const id = await orderOfCustomer(target);
      const limited = target.caller(await consented(target, attacker, { which: 'some', collection: ['orders'] }));
      const end = await run(target, limited, 'renames the customer', id);
      const name = await nameOf(target, id);
      return verdict(name !== 'Before', { name, end });
    },
    protection: [
      {
        file: 'src/workflows/runs/execution.ts',
        text: 'unrestricted && restrictions ? restrictAccess(unrestricted, restrictions) : unrestricted',
        into: 'unrestricted',
      },
    ],
  },
  {
    id: 'held-workflow-on-unseen-record',
    finding: 'data held',
    title: 'a workflow is started on a record that the row scope hides',
    place: shop,
    async attack(target) {
      const attacker = await target.person({ team });
      const id = await orderOfCustomer(target);
      await attacker.scope('orders', { field: 'label', operator: 'Equal', value: 'mine' });
      const end = await run(target, attacker, 'sets the total', id);
      await attacker.scope('orders', null);
      const [total] = await target.rows(`SELECT coalesce(total, -1) FROM orders WHERE id = ${id}`);
      return verdict(total === '99', { total, end });
    },
    protection: [unscoped],
  },
  {
    id: 'held-run-of-another',
    finding: 'data held',
    title: 'somebody of another team, or without rights over runs of others, reads a run',
    place: shop,
    async attack(target) {
      const owner = await target.person({ team });
      const other = await target.person();
      const reader = await target.person({ team, level: 'user' });
      const id = await orderOfCustomer(target);
      const listed = await owner.call('listWorkflows', { collectionName: 'orders' });
      const [workflowId] = (listed as { rows: string[][] }).rows.find(([, one]) => one === 'sets the total')!;
      const started = await owner.call('triggerWorkflow', { workflowId, recordId: String(id) });
      const { runId } = started as { runId: string };
      const answers = [];
      for (const person of [other, reader]) answers.push(await person.call('getWorkflowRun', { runId }));
      return verdict(
        answers.some((answer) => typeof answer === 'object'),
        answers,
      );
    },
    protection: [
      {
        file: 'src/workflows/workflows.ts',
        text: "canSeeWorkflow(access, run) && (run.userId === access.caller.id || access.caller.permissionLevel !== 'user');",
        into: 'run !== undefined && access !== undefined;',
      },
    ],
  },
];
