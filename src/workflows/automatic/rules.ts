// Rules that start a workflow by themselves: who may see and change them, and why one starts nothing at the moment. A
// rule belongs to the person who made it. Its runs have that person's rights, so nobody else can change or resume it,
// and a version that somebody else published needs that person's agreement.
import type { Engine } from '../../agent/engine.ts';
import type { CollectionDescription } from '../../agent/requests.ts';
import type { Access } from '../../core/caller.ts';
import type { Clock } from '../../core/clock.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import type { Store } from '../../store/store.ts';
import type { StartRule, StartSettings } from '../../store/workflows/start-rule-types.ts';
import type { Workflow } from '../../store/workflows/types.ts';
import { canEditWorkflows } from '../triggers/trigger.ts';
import { canSeeWorkflow } from '../workflows.ts';
import { findScheduleProblem, nextOccurrences } from './schedule.ts';

/** The rules of the environment in memory, by the version of the workflows. */
export interface RuleReader {
  at(version: number | undefined): Promise<readonly StartRule[]>;
}

export function createRuleReader({ startRules }: Pick<Store, 'startRules'>): RuleReader {
  let cached: { readonly version: number; readonly rules: readonly StartRule[] } | undefined;
  return {
    async at(version) {
      if (cached && cached.version === version) return cached.rules;
      const rules = (await startRules.list()).filter(({ isActive }) => isActive);
      cached = version === undefined ? undefined : { version, rules };
      return rules;
    },
  };
}

/** A rule that can start runs now, or the reason why it cannot. */
type RuleState =
  | { readonly state: 'ready'; readonly access: Access; readonly workflow: Workflow }
  | { readonly state: 'stopped'; readonly reason: string; readonly needsAgreement?: true };

export interface AutomaticStarts {
  /** The rules of a workflow that the caller may see. DENIED below editor. */
  list(access: Access, workflow: Workflow): Promise<readonly StartRule[]>;
  stateOf(rule: StartRule): Promise<RuleState>;
  /**
   * Adds a rule of the caller. INVALID_ARGUMENT names the setting that is wrong: `cron`, `timezone`, `filter`,
   * `fields`, `operations` or `limit`.
   */
  add(access: Access, workflow: Workflow, settings: StartSettings): Promise<StartRule>;
  /** Throws as `add` does, and stores nothing. */
  check(access: Access, workflow: Workflow, settings: StartSettings): Promise<void>;
  /** Saves a rule of the caller, and accepts the current version of the workflow. DENIED for a rule of another person. */
  save(access: Access, workflow: Workflow, rule: StartRule, settings: StartSettings): Promise<void>;
  /** Pauses the rule of any person. */
  pause(access: Access, workflow: Workflow, rule: StartRule): Promise<void>;
  /** Resumes a rule of the caller, and accepts the current version of the workflow. */
  resume(access: Access, workflow: Workflow, rule: StartRule): Promise<void>;
  /** Deletes the rule of any person. */
  delete(access: Access, workflow: Workflow, rule: StartRule): Promise<void>;
}

interface AutomaticParts {
  readonly store: Pick<Store, 'startRules' | 'workflows' | 'permissions' | 'identity'>;
  readonly engine: Engine;
  readonly clock: Pick<Clock, 'now'>;
}

/** The largest `limit`. */
export const MAX_STARTS = 1000;

export function createAutomaticStarts({ store, engine, clock }: AutomaticParts): AutomaticStarts {
  const { startRules } = store;
  const requireEditor = (access: Access, workflow: Workflow): void => {
    if (!canSeeWorkflow(access, workflow))
      fail('FORBIDDEN', { verb: 'see workflows of', collection: workflow.collection });
    if (!canEditWorkflows(access))
      fail('DENIED', { problem: 'Only editors, developers and administrators can set when a workflow starts.' });
  };
  const requireStarter = (access: Access, workflow: Workflow): void => {
    requireEditor(access, workflow);
    if (!access.startsWorkflows) fail('FORBIDDEN', { verb: 'start workflows of', collection: workflow.collection });
  };
  const nextOf = (settings: StartSettings): number | null =>
    settings.kind === 'schedule' ? (nextOccurrences(settings, clock.now(), 1)[0] ?? null) : null;
  const current = ({ collection, version }: Workflow) => ({ collection, version });

  const check = async (access: Access, { collection }: Workflow, settings: StartSettings): Promise<void> => {
    if (!Number.isInteger(settings.limit) || settings.limit < 1 || settings.limit > MAX_STARTS)
      fail('INVALID_ARGUMENT', { argument: 'limit', problem: `Enter a number from 1 to ${MAX_STARTS}.` });
    if (settings.kind === 'schedule') {
      const wrong = findScheduleProblem(settings, clock.now());
      if (wrong) fail('INVALID_ARGUMENT', { argument: wrong.field, problem: wrong.problem });
    } else {
      if (settings.operations.length === 0)
        fail('INVALID_ARGUMENT', { argument: 'operations', problem: 'Choose at least one kind of change.' });
      const unknown = findUnseenField(engine.describe(access, collection), settings);
      if (unknown !== undefined)
        fail('INVALID_ARGUMENT', { argument: 'fields', problem: `'${collection}' has no field '${unknown}'.` });
    }
    await checkFilter(access, collection, settings.filter);
  };

  /** The engine reads the filter with the caller's rights, so a hidden field does not exist. */
  const checkFilter = async (access: Access, collection: string, filter: PlainFilter | undefined): Promise<void> => {
    const { key } = engine.describe(access, collection);
    if (key.length === 0)
      fail('INVALID_ARGUMENT', {
        argument: 'filter',
        problem: `You cannot see the key of '${collection}', and a run needs it as the id of its record.`,
      });
    if (!filter) return;
    const [ambiguity] = engine.storedFilters.findAmbiguities(access, collection, filter);
    try {
      if (ambiguity) fail('AMBIGUOUS_FILTER', ambiguity);
      await engine.list(access, { collection, fields: key, filter, limit: 1 });
    } catch (error) {
      if (!isAppError(error) || error.status >= 500) throw error;
      fail('INVALID_ARGUMENT', { argument: 'filter', problem: error.message }, error);
    }
  };

  const isAcceptedVersion = async ({ version, userId }: StartRule, workflow: Workflow): Promise<boolean> => {
    if (version >= workflow.version) return true;
    const versions = await store.workflows.versions(workflow.id);
    // The operator owns the code, which can do anything anyway.
    return versions.every((one) => one.version <= version || one.createdBy === null || one.createdBy === userId);
  };

  const hasUnseenField = (access: Access, { collection, settings }: StartRule): boolean => {
    if (settings.kind !== 'change' || !settings.fields) return false;
    try {
      return findUnseenField(engine.describe(access, collection), settings) !== undefined;
    } catch (error) {
      // The database no longer has the table.
      if (!isAppError(error) || error.status >= 500) throw error;
      return true;
    }
  };

  const stateOf = async (rule: StartRule): Promise<RuleState> => {
    const stopped = (reason: string): RuleState => ({ state: 'stopped', reason });
    const workflow = await store.workflows.find(rule.workflowId);
    if (!workflow) return stopped('The workflow no longer exists.');
    if (!workflow.isActive) return stopped('The workflow is paused.');
    if (workflow.collection !== rule.collection)
      return stopped(`The workflow is now about '${workflow.collection}'. Create a new automatic start.`);
    const access = await store.permissions.accessOf(rule.userId);
    if (!access) return stopped('The account of the person that it acts for is disabled or deleted.');
    const { caller } = access;
    const name = `${caller.firstName} ${caller.lastName}`.trim() || caller.email;
    if (caller.renderingId !== workflow.renderingId) return stopped(`${name} is in another team.`);
    if (!canEditWorkflows(access)) return stopped(`${name} may no longer edit workflows.`);
    if (!canSeeWorkflow(access, workflow) || !access.startsWorkflows)
      return stopped(`${name} may no longer start workflows of '${workflow.collection}'.`);
    // CWE-203: a run would show that the hidden field has changed.
    if (hasUnseenField(access, rule)) return stopped(`${name} may no longer see a field whose changes start it.`);
    if (!(await isAcceptedVersion(rule, workflow))) {
      const reason = `Another person published version ${workflow.version}. ${name} must agree that it runs with their rights.`;
      return { state: 'stopped', reason, needsAgreement: true };
    }
    return { state: 'ready', access, workflow };
  };

  return {
    async list(access, workflow) {
      requireEditor(access, workflow);
      return startRules.list({ workflowId: workflow.id });
    },
    stateOf,
    async check(access, workflow, settings) {
      requireStarter(access, workflow);
      await check(access, workflow, settings);
    },
    async add(access, workflow, settings) {
      requireStarter(access, workflow);
      await check(access, workflow, settings);
      const userId = access.caller.id;
      return startRules.add({
        workflowId: workflow.id,
        ...current(workflow),
        userId,
        settings,
        nextAt: nextOf(settings),
      });
    },
    async save(access, workflow, rule, settings) {
      requireStarter(access, workflow);
      requireOwn(access, rule);
      await check(access, workflow, settings);
      const nextAt = rule.isActive ? nextOf(settings) : null;
      await startRules.change(rule.id, { settings, ...current(workflow), nextAt }, access.caller.id);
    },
    async pause(access, workflow, rule) {
      requireEditor(access, workflow);
      await startRules.change(rule.id, { isActive: false, nextAt: null }, access.caller.id);
    },
    async resume(access, workflow, rule) {
      requireStarter(access, workflow);
      requireOwn(access, rule);
      await check(access, workflow, rule.settings);
      const change = { isActive: true, ...current(workflow), nextAt: nextOf(rule.settings) };
      await startRules.change(rule.id, change, access.caller.id);
    },
    async delete(access, workflow, rule) {
      requireEditor(access, workflow);
      await startRules.delete(rule.id, access.caller.id);
    },
  };
}

/** A field that starts the workflow when it changes, and that the person does not see. */
const findUnseenField = (
  { fields }: Pick<CollectionDescription, 'fields'>,
  settings: StartSettings,
): string | undefined =>
  settings.kind === 'change'
    ? settings.fields?.find((name) => !fields.some((field) => field.name === name))
    : undefined;

function requireOwn(access: Access, { userId }: StartRule): void {
  if (access.caller.id === userId) return;
  fail('DENIED', { problem: 'Its runs have the rights of another person. Pause or delete it, or create your own.' });
}
