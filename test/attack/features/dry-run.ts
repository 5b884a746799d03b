// Dry runs of workflows in the console: they write nothing, show only what the caller may see, and end.
import { systemClock } from '../../../src/core/clock.ts';
import { type Attack, verdict } from '../attack.ts';
import { allVisible, unscoped } from '../data/scope.ts';
import { fresh, shop } from '../data/shop.ts';
import { all, type Person, type Target } from '../target.ts';
import { publish } from './automatic.ts';

const sets = { id: 'set', type: 'update-record', mode: 'automatic', values: { label: 'written' } };

/** A dry run of the steps on a new order, as the attacker posts it. */
async function tryOn(target: Target, attacker: Person, steps: readonly object[], label = 'before') {
  const id = fresh();
  await target.sql(`INSERT INTO orders (id, label, total) VALUES (${id}, '${label}', 10)`);
  const workflow = await publish(target, attacker, steps);
  const visit = await attacker.visit(`/workflows/${workflow.id}/try`);
  return { id, visit, run: () => visit.forge({ action: 'run', record: `${id}` }) };
}

export const dryRunAttacks: readonly Attack[] = [
  {
    id: 'held-workflow-dry-run-writes',
    finding: 'data held',
    title: 'the dry run of a workflow makes the change of an automatic step',
    place: shop,
    async attack(target) {
      const { id, run } = await tryOn(target, await target.person(), [sets]);
      const { status, html } = await run();
      const [label] = await target.rows(`SELECT label FROM orders WHERE id = ${id}`);
      if (!html.includes('written')) throw new Error(`the dry run shows no change: ${status}`);
      return verdict(label !== 'before', { label, status });
    },
    protection: [
      {
        file: 'src/agent/sources/sql/transaction.ts',
        text: "if (discard) await connection.runSql('rollback');",
        into: "if (discard) await connection.runSql('commit');",
      },
    ],
  },
  {
    id: 'held-workflow-dry-run-of-unseen-record',
    finding: 'data held',
    title: 'the dry run of a workflow shows a record that the row scope hides',
    place: shop,
    async attack(target) {
      const attacker = await target.person();
      await attacker.scope('orders', { field: 'label', operator: 'Equal', value: 'mine' });
      const secret = `SECRET-${fresh()}`;
      const { run } = await tryOn(target, attacker, [sets], secret);
      const { status, html } = await run();
      return verdict(html.includes(secret), { status });
    },
    protection: [unscoped],
  },
  {
    id: 'held-workflow-dry-run-of-hidden-field',
    finding: 'data held',
    title: 'a step copies a hidden field into a visible one, and the dry run shows it',
    place: shop,
    async attack(target) {
      const permissions = { '*': all, orders: { ...all, fields: { total: 'hidden' } } } as const;
      const attacker = await target.person({ permissions });
      const copies = { ...sets, values: { label: 'copy {{record.total}}' } };
      const { run } = await tryOn(target, attacker, [copies]);
      const { status, html } = await run();
      return verdict(html.includes('copy 10'), { status });
    },
    protection: [allVisible],
  },
  {
    id: 'held-workflow-dry-run-for-ever',
    finding: 'data held',
    title: 'the dry run of a workflow whose steps lead back to the first one never ends (CWE-835)',
    place: shop,
    on: ['sqlite'],
    alone: true,
    isSlow: true,
    async attack(target) {
      const again = { id: 'read', type: 'load-related-record', relation: 'customer', next: 'read' };
      const { run } = await tryOn(target, await target.person(), [again]);
      const ended = await Promise.race([run(), systemClock.sleep(10_000)]);
      if (ended && !ended.html.includes('ends after')) throw new Error(`the dry run ended early: ${ended.status}`);
      return verdict(!ended, ended ? `${ended.status}` : 'no answer');
    },
    protection: [
      {
        file: 'src/workflows/dry-run/dry-run.ts',
        text: 'if (tried.length >= MAX_STEPS) {',
        into: 'if (tried.length < 0) {',
      },
    ],
  },
];
