// Automatic starts of workflows: whose rights the runs have, who may change a rule, and how often runs start each other.
import { systemClock } from '../../../src/core/clock.ts';
import type { StartSettings } from '../../../src/store/workflows/start-rule-types.ts';
import type { Workflow } from '../../../src/store/workflows/types.ts';
import { type Attack, verdict } from '../attack.ts';
import { unscoped } from '../data/scope.ts';
import { fresh, shop } from '../data/shop.ts';
import { all, type Person, type Target } from '../target.ts';

const rules = 'src/workflows/automatic/rules.ts';
const changes = 'src/workflows/automatic/changes.ts';
const on = ['sqlite'] as const;

const look = { id: 'look', type: 'guidance', text: 'Look at it.' };
const changed: StartSettings = { kind: 'change', operations: ['update'], limit: 10 };

/** A workflow on orders in the team of this person. `of`: its next version. */
export async function publish(
  target: Target,
  person: Person,
  steps: readonly object[] = [look],
  of?: Workflow,
): Promise<Workflow> {
  const { renderingId } = (await target.store.permissions.caller(person.id))!;
  const name = of?.name ?? `Flow ${fresh()}`;
  const definition = JSON.stringify({ name, collection: 'orders', steps });
  const wanted = { renderingId, name, collection: 'orders', concurrency: null, by: person.id, definition };
  return target.store.workflows.publish({ ...wanted, ...(of && { of: { id: of.id, since: of.version } }) });
}

/** A rule of this person as the storage has it, whatever they may do. */
async function rule({ store }: Target, { id: userId }: Person, workflow: Workflow, settings: StartSettings = changed) {
  const { id: workflowId, collection, version } = workflow;
  return store.startRules.add({ workflowId, collection, version, userId, settings, nextAt: null });
}

/** A new order that `writer` changes. Returns its id. */
async function changeOrder(target: Target, writer: Person, values: object): Promise<number> {
  const id = fresh();
  await target.sql(`INSERT INTO orders (id, label, total) VALUES (${id}, 'new', 1)`);
  const answer = await writer.call('update', { collectionName: 'orders', recordId: id, attributes: values });
  if (typeof answer !== 'object') throw new Error(String(answer));
  return id;
}

/**
 * Waits until the changes before have been handled. A process handles starts in the order of the changes, one batch
 * after the other, so a run after the second change of the control says that the first batch is complete.
 */
async function handled(target: Target): Promise<void> {
  const control = await target.person();
  const workflow = await publish(target, control);
  await rule(target, control, workflow);
  for (const runs of [1, 2]) {
    await changeOrder(target, control, { total: 3 });
    let at = 0;
    while ((await runsOf(target, workflow)).length < runs) {
      if (at++ > 200) throw new Error('the control started no run');
      await systemClock.sleep(50);
    }
  }
}

const resultOf = async ({ store }: Target, id: string) => (await store.startRules.find(id))!.lastResult;

const runsOf = async ({ store }: Target, { id }: Workflow) => store.runs.list({ workflowId: id, limit: 100 });

/** A rule of a maker who lost a right, and a change by another person. Broken if a run starts. */
async function startsFor(target: Target, maker: Person, owner: Person, settings?: StartSettings) {
  const workflow = await publish(target, owner);
  const { id } = await rule(target, maker, workflow, settings);
  await changeOrder(target, await target.person(), { total: 2 });
  await handled(target);
  const runs = await runsOf(target, workflow);
  // Even the time of a result would show that something changed.
  const result = await resultOf(target, id);
  return verdict(runs.length > 0 || result !== null, { runs: runs.length, result });
}

export const automaticAttacks: readonly Attack[] = [
  {
    id: 'held-automatic-start-of-disabled',
    finding: 'data held',
    title: 'a rule starts runs with the rights of somebody whose account is disabled (CWE-285)',
    place: shop,
    on,
    async attack(target) {
      const [maker, owner] = [await target.person({ team: 'Leavers' }), await target.person({ team: 'Leavers' })];
      await target.store.identity.setDisabled(maker.id, true);
      return startsFor(target, maker, owner);
    },
    protection: [
      {
        file: 'src/store/permissions/permissions.ts',
        text: "      .where('memberships.project_id', environment.projectId)\n      .whereNull('users.disabled_at')\n",
        into: "      .where('memberships.project_id', environment.projectId)\n",
      },
    ],
  },
  {
    id: 'held-automatic-start-below-editor',
    finding: 'data held',
    title: 'a rule goes on after its maker may no longer edit workflows (CWE-863)',
    place: shop,
    on,
    async attack(target) {
      const team = `Team ${fresh()}`;
      return startsFor(target, await target.person({ team, level: 'user' }), await target.person({ team }));
    },
    protection: [
      { file: rules, text: 'if (!canEditWorkflows(access)) return stopped(', into: 'if (!access) return stopped(' },
    ],
  },
  {
    id: 'held-automatic-start-of-another-team',
    finding: 'data held',
    title: 'a rule goes on after its maker moved to another team (CWE-863)',
    place: shop,
    on,
    async attack(target) {
      return startsFor(target, await target.person(), await target.person());
    },
    protection: [
      {
        file: rules,
        text: 'if (caller.renderingId !== workflow.renderingId) return stopped(',
        into: 'if (!workflow) return stopped(',
      },
      {
        file: 'src/workflows/workflows.ts',
        text: "): boolean => renderingId === access.caller.renderingId && access.can('browse', collection);",
        into: "): boolean => renderingId > 0 && access.can('browse', collection);",
      },
    ],
  },
  {
    id: 'held-automatic-start-on-unseen-record',
    finding: 'data held',
    title: 'a rule starts a run on a record that the row scope hides from its maker',
    place: shop,
    async attack(target) {
      const maker = await target.person();
      await maker.scope('orders', { field: 'label', operator: 'Equal', value: 'mine' });
      return startsFor(target, maker, maker);
    },
    protection: [unscoped],
  },
  {
    id: 'automatic-start-shows-unseen-changes',
    finding: 'data new',
    title: 'the result of a rule shows when records change that the row scope hides from its maker (CWE-203)',
    place: shop,
    on,
    async attack(target) {
      const maker = await target.person();
      await maker.scope('orders', { field: 'label', operator: 'Equal', value: 'mine' });
      const { id } = await rule(target, maker, await publish(target, maker));
      await changeOrder(target, await target.person(), { total: 2 });
      await handled(target);
      const result = await resultOf(target, id);
      return verdict(result !== null, { result });
    },
    protection: [
      {
        file: 'src/workflows/automatic/starter.ts',
        text: 'if (seen?.length === 0 && access.scope(rule.collection) !== null) return {};',
        into: 'if (!access) return {};',
      },
    ],
  },
  {
    id: 'automatic-start-limit-used-up',
    finding: 'data new',
    title:
      'records that the row scope hides from the maker of a rule use up its limit, which shows their number (CWE-203)',
    place: shop,
    on,
    async attack(target) {
      const maker = await target.person();
      const label = `mine ${fresh()}`;
      await maker.scope('orders', { field: 'label', operator: 'Equal', value: label });
      const workflow = await publish(target, maker);
      const { id } = await rule(target, maker, workflow, { ...changed, limit: 1 });
      const ids = [fresh(), fresh(), fresh()].sort((a, b) => a - b);
      await target.sql(
        `INSERT INTO orders (id, label, total) VALUES ${ids.map((order, at) => `(${order}, '${at === 2 ? label : 'other'}', 1)`).join()}`,
      );
      const writer = await target.person();
      const answer = await writer.call('update', {
        collectionName: 'orders',
        recordIds: ids,
        attributes: { total: 2 },
      });
      if (typeof answer !== 'object') throw new Error(String(answer));
      await handled(target);
      const [runs, result] = [await runsOf(target, workflow), await resultOf(target, id)];
      return verdict(runs.length !== 1 || result?.hasMore !== false, { runs: runs.length, result });
    },
    protection: [
      {
        file: changes,
        text: 'records: ids.slice(0, MAX_CHANGED), unlisted, chain },',
        into: 'records: ids.slice(0, rule.settings.limit), unlisted, chain },',
      },
    ],
  },
  {
    id: 'automatic-start-by-hidden-field',
    finding: 'data new',
    title: 'a run tells its maker that a field changed that their role hides by now (CWE-203)',
    place: shop,
    async attack(target) {
      const permissions = { '*': all, orders: { ...all, fields: { total: 'hidden' } } } as const;
      const maker = await target.person({ permissions });
      return startsFor(target, maker, maker, { ...changed, fields: ['total'] });
    },
    protection: [
      {
        ...{
          file: rules,
          text: 'if (hasUnseenField(access, rule)) return stopped(',
          into: 'if (!access) return stopped(',
        },
      },
    ],
  },
  {
    id: 'held-automatic-start-of-a-version-of-another',
    finding: 'data held',
    title: 'an editor publishes steps that run with the rights of an administrator by the rule of that one (CWE-269)',
    place: shop,
    on,
    async attack(target) {
      const team = `Team ${fresh()}`;
      const [victim, attacker] = [await target.person({ team, level: 'admin' }), await target.person({ team })];
      const first = await publish(target, victim);
      const { id: ruleId } = await rule(target, victim, first);
      const steps = [{ id: 'set', type: 'update-record', mode: 'automatic', values: { label: 'with other rights' } }];
      await publish(target, attacker, steps, first);
      const id = await changeOrder(target, attacker, { total: 2 });
      await handled(target);
      const result = await resultOf(target, ruleId);
      const runs = await runsOf(target, first);
      const [label] = await target.rows(`SELECT label FROM orders WHERE id = ${id}`);
      return verdict(runs.length > 0 || label !== 'new', { runs: runs.length, label, result });
    },
    protection: [
      { file: rules, text: 'if (!(await isAcceptedVersion(rule, workflow))) {', into: 'if (!isAcceptedVersion) {' },
    ],
  },
  {
    id: 'held-automatic-start-forged',
    finding: 'data held',
    title: 'an editor changes the rule of another person, whose rights the runs have (CWE-639)',
    place: shop,
    on,
    async attack(target) {
      const team = `Team ${fresh()}`;
      const [victim, attacker] = [await target.person({ team, level: 'admin' }), await target.person({ team })];
      const workflow = await publish(target, victim);
      const { id } = await rule(target, victim, workflow);
      const visit = await attacker.visit(`/workflows/${workflow.id}/starts/${id}`);
      const form = { kind: 'change', operation: 'create', limit: '999' };
      const { status } = await visit.forge({ ...form, action: 'save' });
      const { settings } = (await target.store.startRules.find(id))!;
      return verdict(settings.limit === 999, { status, settings });
    },
    protection: [
      { file: rules, text: 'if (access.caller.id === userId) return;', into: 'if (access && userId) return;' },
      {
        file: 'src/store/workflows/start-rules.ts',
        text: 'if (before.userId !== by && !onlyPauses)',
        into: 'if (before.userId !== by && onlyPauses === undefined)',
      },
    ],
  },
  {
    id: 'held-automatic-start-added-below-editor',
    finding: 'data held',
    title: 'somebody who may not edit workflows adds a rule with a forged form (CWE-862)',
    place: shop,
    on,
    async attack(target) {
      const team = `Team ${fresh()}`;
      const [owner, attacker] = [await target.person({ team }), await target.person({ team, level: 'user' })];
      const workflow = await publish(target, owner);
      const visit = await attacker.visit(`/workflows/${workflow.id}/starts/new`);
      const csrf = /name="csrf" value="([^"]+)"/.exec((await visit.open('/account')).html)?.[1] ?? '';
      const form = { kind: 'change', operation: 'create', limit: '9', action: 'save' };
      const { status } = await visit.forge({ csrf, ...form });
      const added = await target.store.startRules.list({ workflowId: workflow.id });
      return verdict(added.length > 0, { status, added: added.length });
    },
    protection: [
      {
        file: 'src/console/pages/workflows/access.ts',
        text: "if (!mayEdit(access)) fail('DENIED'",
        into: "if (!access) fail('DENIED'",
      },
      {
        file: rules,
        text: "    if (!canEditWorkflows(access))\n      fail('DENIED'",
        into: "    if (!access)\n      fail('DENIED'",
      },
    ],
  },
  {
    id: 'held-automatic-starts-for-ever',
    finding: 'data held',
    title: 'two workflows start each other for ever by what they change (CWE-674)',
    place: shop,
    on,
    isSlow: true,
    async attack(target) {
      const maker = await target.person();
      const sets = (values: object) => [{ id: 'set', type: 'update-record', mode: 'automatic', values }];
      const both = [
        await publish(target, maker, sets({ label: 'a' })),
        await publish(target, maker, sets({ label: 'b' })),
      ];
      for (const workflow of both) await rule(target, maker, workflow);
      await changeOrder(target, maker, { total: 2 });
      const count = async () => (await Promise.all(both.map((each) => runsOf(target, each)))).flat().length;
      for (let at = 0; at < 160 && (await count()) <= 8; at++) await systemClock.sleep(50);
      const runs = await count();
      return verdict(runs > 8, { runs });
    },
    protection: [
      {
        file: changes,
        text: 'const open = found.filter(({ workflowId }) => !chain.includes(workflowId));',
        into: 'const open = found;',
      },
      {
        file: 'src/workflows/automatic/starter.ts',
        text: 'if (start.chain.length >= MAX_LEVELS) {',
        into: 'if (!start) {',
      },
    ],
  },
];
