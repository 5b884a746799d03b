// Rules that start runs by themselves. An occurrence of a schedule is taken by a compare-and-set of its time, in the
// transaction that stores the start. A start is leased, and deleted when all its runs exist. Another process repeats it
// after a crash, and the idempotency keys of the runs make that harmless.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { randomId } from '../../core/secret.ts';
import type { Database } from '../database/database.ts';
import { createEnvironmentReader, type EnvironmentInfoReader, logChange } from '../permissions/roles.ts';
import { raiseVersion, type VersionRows } from '../versions.ts';
import type {
  ClaimedStart,
  PendingStart,
  StartResult,
  StartRule,
  StartRules,
  StartSettings,
} from './start-rule-types.ts';

const MAX_RULES = 20;

interface RuleRow {
  readonly id: string;
  readonly workflow_id: string;
  readonly name: string;
  readonly collection: string;
  readonly workflow_version: number;
  readonly user_id: number;
  readonly settings: string;
  readonly active: boolean | number;
  readonly next_at: number | string | null;
  readonly last_result: string | null;
}

interface StartRow {
  readonly id: string;
  readonly rule_id: string;
  readonly records: string | null;
  readonly unlisted: number;
  readonly has_more: boolean | number;
  readonly chain: string;
  readonly occurred_at: number | string;
  readonly fence: number;
}

export function createStartRules(
  database: Database,
  versions: VersionRows,
  getEnvironment: EnvironmentInfoReader,
  clock: Clock,
): StartRules {
  const { knex, dialect } = database;
  const environment = createEnvironmentReader(knex, getEnvironment);

  const select = async (on: Knex) =>
    on('workflow_start_rules as r')
      .join('workflows as w', 'w.id', 'r.workflow_id')
      .where('r.environment_id', await environment())
      .orderBy(['r.created_at', 'r.id'])
      .select<RuleRow[]>('r.*', 'w.name');
  const find = async (on: Knex, id: string): Promise<StartRule | undefined> =>
    (await select(on)).filter((row) => row.id === id).map(toRule)[0];

  /** Raises the version of the workflows, because every process has the rules in memory. */
  const log = (trx: Knex.Transaction, by: number, action: string, rule: StartRule) =>
    logChange(trx, {
      ...{ at: clock.now(), by, action, subject: rule.name },
      detail: { workflow: rule.workflowId, rule: rule.id, user: rule.userId, kind: rule.settings.kind },
    });

  return {
    async list({ workflowId } = {}) {
      const rows = await select(knex);
      return rows.filter((row) => workflowId === undefined || row.workflow_id === workflowId).map(toRule);
    },
    find: (id) => find(knex, id),
    async add({ workflowId, collection, version, userId, settings, nextAt }) {
      const environmentId = await environment();
      return versions.change('workflows', async (trx) => {
        const query = trx('workflows').where({ id: workflowId, environment_id: environmentId });
        if (dialect !== 'sqlite') query.forUpdate();
        if (!(await query.first('id')))
          fail('INVALID_ARGUMENT', { argument: 'workflow', problem: 'the workflow does not exist.' });
        const [found] = await trx('workflow_start_rules')
          .where({ workflow_id: workflowId })
          .count<{ count: number | string }[]>({ count: '*' });
        if (Number(found?.count ?? 0) >= MAX_RULES)
          fail('INVALID_ARGUMENT', {
            argument: 'workflow',
            problem: `it has ${MAX_RULES} automatic starts. Delete one first.`,
          });
        const [id, now] = [randomId(), clock.now()];
        await trx('workflow_start_rules').insert({
          ...{ id, environment_id: environmentId, workflow_id: workflowId, user_id: userId, collection },
          ...{ workflow_version: version, settings: JSON.stringify(settings), active: true, next_at: nextAt },
          ...{ created_at: now, updated_at: now },
        });
        const added = (await find(trx, id))!;
        await log(trx, userId, 'start-rule.add', added);
        return added;
      });
    },
    async change(id, { settings, collection, version, isActive, nextAt }, by) {
      return versions.change('workflows', async (trx) => {
        const before = await find(trx, id);
        if (!before) return undefined;
        // A person cannot let a rule act with the rights of another person.
        const onlyPauses = isActive === false && settings === undefined && version === undefined;
        if (before.userId !== by && !onlyPauses)
          fail('DENIED', { problem: 'Only the person that the runs act for can change or resume it.' });
        await trx('workflow_start_rules')
          .where({ id })
          .update({
            ...(settings && { settings: JSON.stringify(settings) }),
            ...(collection !== undefined && { collection }),
            ...(version !== undefined && { workflow_version: version }),
            ...(isActive !== undefined && { active: isActive }),
            ...(nextAt !== undefined && { next_at: nextAt }),
            updated_at: clock.now(),
          });
        // Pending starts are dropped.
        if (isActive === false) await trx('workflow_starts').where({ rule_id: id }).delete();
        const action = isActive === undefined ? 'start-rule.update' : `start-rule.${isActive ? 'resume' : 'pause'}`;
        await log(trx, by, action, before);
        return find(trx, id);
      });
    },
    async delete(id, by) {
      return database.write(async (trx) => {
        const rule = await find(trx, id);
        if (!rule) return false;
        await trx('workflow_starts').where({ rule_id: id }).delete();
        await trx('workflow_start_rules').where({ id }).delete();
        await raiseVersion(trx, 'workflows');
        await log(trx, by, 'start-rule.delete', rule);
        return true;
      });
    },

    async dueSchedules() {
      const now = clock.now();
      const due = await knex('workflow_start_rules')
        .where({ environment_id: await environment() })
        .where('next_at', '<=', now)
        .first('id');
      if (!due) return [];
      return (await select(knex)).map(toRule).filter(({ isActive, nextAt }) => isActive && (nextAt ?? Infinity) <= now);
    },
    async claimOccurrence(id, nextAt, next) {
      const environmentId = await environment();
      return database.write(async (trx) => {
        const taken = await trx('workflow_start_rules')
          .where({ id, next_at: nextAt, active: true })
          .update({ next_at: next });
        if (taken === 0) return false;
        if (await trx('workflow_starts').where({ rule_id: id }).first('id')) return true;
        await trx('workflow_starts').insert({
          ...{ id: randomId(), environment_id: environmentId, rule_id: id, records: null, unlisted: 0 },
          ...{ has_more: false, chain: '[]', occurred_at: nextAt, due_at: clock.now(), fence: 0 },
        });
        return true;
      });
    },
    async put(starts, delayMs) {
      const environmentId = await environment();
      const rows = starts.map(({ id, ruleId, records, unlisted, hasMore, chain, occurredAt }) => ({
        ...{ id, environment_id: environmentId, rule_id: ruleId, records: JSON.stringify(records), unlisted },
        ...{ has_more: hasMore, chain: JSON.stringify(chain), occurred_at: occurredAt },
        ...{ due_at: clock.now() + delayMs, fence: 0 },
      }));
      await database.retry(() => knex('workflow_starts').insert(rows).onConflict('id').merge());
    },
    async confirm(ids) {
      await database.retry(() =>
        knex('workflow_starts').whereIn('id', ids).where({ fence: 0 }).update({ due_at: clock.now() }),
      );
    },
    async drop(ids) {
      await database.retry(() => knex('workflow_starts').whereIn('id', ids).delete());
    },
    async take(limit, leaseMs) {
      const now = clock.now();
      const rows: StartRow[] = await knex('workflow_starts')
        .where({ environment_id: await environment() })
        .where('due_at', '<=', now)
        .orderBy(['due_at', 'id'])
        .limit(limit)
        .select('*');
      const taken: ClaimedStart[] = [];
      for (const row of rows) {
        const isTaken = await database.retry(() =>
          knex('workflow_starts')
            .where({ id: row.id, fence: row.fence })
            .where('due_at', '<=', now)
            .update({ fence: row.fence + 1, due_at: now + leaseMs }),
        );
        if (isTaken > 0) taken.push({ ...toStart(row), fence: row.fence + 1 });
      }
      return taken;
    },
    async choose({ id, fence }, { records, hasMore }) {
      const values = { records: JSON.stringify(records), has_more: hasMore };
      return (await database.retry(() => knex('workflow_starts').where({ id, fence }).update(values))) > 0;
    },
    async settle({ id, ruleId, fence }, result) {
      await database.write(async (trx) => {
        // A process that lost the start leaves it to the one that took it.
        if ((await trx('workflow_starts').where({ id, fence }).delete()) === 0 || !result) return;
        await trx('workflow_start_rules')
          .where({ id: ruleId })
          .update({ last_result: JSON.stringify(result) });
      });
    },
  };
}

const toRule = (row: RuleRow): StartRule => ({
  id: row.id,
  workflowId: row.workflow_id,
  name: row.name,
  collection: row.collection,
  version: row.workflow_version,
  userId: row.user_id,
  settings: JSON.parse(row.settings) as StartSettings,
  isActive: Boolean(row.active),
  nextAt: row.next_at === null ? null : Number(row.next_at),
  lastResult: row.last_result === null ? null : (JSON.parse(row.last_result) as StartResult),
});

const toStart = (row: StartRow): PendingStart => ({
  id: row.id,
  ruleId: row.rule_id,
  records: row.records === null ? null : (JSON.parse(row.records) as string[]),
  unlisted: row.unlisted,
  hasMore: Boolean(row.has_more),
  chain: JSON.parse(row.chain) as string[],
  occurredAt: Number(row.occurred_at),
});

/** Deletes the rules of these workflows, within the transaction that deletes the workflows. */
export async function deleteStartRules(trx: Knex.Transaction, workflows: Knex.QueryBuilder): Promise<void> {
  const rules = () => trx('workflow_start_rules').whereIn('workflow_id', workflows.clone());
  await trx('workflow_starts').whereIn('rule_id', rules().select('id')).delete();
  await rules().delete();
}
