// Starts of workflows by data changes. The starts of a transaction are stored before its commit and confirmed after it,
// so that a crash in between loses none: they become due by themselves. A start that was rolled back is deleted. After
// a crash during the commit, a start may be about a change that was rolled back; its condition is checked again.

import { storedColumns } from '../../agent/plan/write.ts';
import { mergeRecords, type WriteList, type Written, type WrittenRecord } from '../../agent/write/effects.ts';
import type { EndWatch, WriteWatch, WritingRun } from '../../agent/write/watch.ts';
import type { Clock } from '../../core/clock.ts';
import { isAppError } from '../../core/errors.ts';
import type { Observe } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { ChangeSettings, PendingStart, StartRule } from '../../store/workflows/start-rule-types.ts';
import type { RuleReader } from './rules.ts';

/** Longer than a commit takes: then nobody is left to confirm the start. */
const UNCONFIRMED_MS = 120_000;
/** Records of one change that are looked at. The limit of the rule applies to those that its person sees. */
const MAX_CHANGED = 10_000;
/** A change by a run starts runs at most up to this level. A run that no change led to has level 1. */
export const MAX_LEVELS = 5;

interface ChangeParts {
  readonly store: Pick<Store, 'startRules' | 'versions'>;
  readonly rules: RuleReader;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Starts are due. */
  readonly nudge: () => void;
}

type ChangeRule = StartRule & { readonly settings: ChangeSettings };

export function createChangeWatch({ store, rules, clock, observe, nudge }: ChangeParts): WriteWatch {
  const { startRules } = store;
  const warn = (message: string, cause: unknown): void => observe({ type: 'warning', message, cause });

  const readRules = async (versions: { readonly workflows?: number } | undefined): Promise<readonly ChangeRule[]> => {
    try {
      const now = versions?.workflows === undefined ? await store.versions() : versions;
      return (await rules.at(now.workflows)).filter(isChangeRule);
    } catch (cause) {
      warn('Failed to read which data changes start workflows. The write continues without them.', cause);
      return [];
    }
  };

  return {
    async begin(written, versions, run) {
      const found = await readRules(versions);
      const chain = run ? [...run.chain, run.workflowId] : [];
      // A workflow does not start itself, not even through others.
      const open = found.filter(({ workflowId }) => !chain.includes(workflowId));
      return open.length === 0 ? undefined : watchCall(written, open, chain);
    },
  };

  function watchCall(written: WriteList, open: readonly ChangeRule[], chain: WritingRun['chain']): EndWatch {
    /** Stored before the commit. By the list of the transaction, which is the same when it starts again. */
    const prepared = new Map<readonly Written[], { starts: readonly PendingStart[]; isStored: boolean }>();
    const committed = new Set<readonly Written[]>();
    const previewed = new Set<readonly Written[]>();
    const startsOf = (list: readonly Written[]): readonly PendingStart[] => {
      const { written: records } = mergeRecords(list);
      return open.flatMap((rule) => {
        const ids = records.filter((record) => isMatch(record, rule)).map(({ id }) => id!);
        return ids.length === 0 ? [] : [newStart(rule, ids, 0)];
      });
    };
    const newStart = (rule: ChangeRule, ids: readonly string[], unlisted: number): PendingStart => ({
      ...{ id: randomId(), ruleId: rule.id, records: ids.slice(0, MAX_CHANGED), unlisted, chain },
      ...{ hasMore: ids.length > MAX_CHANGED, occurredAt: clock.now() },
    });

    written.hooks = {
      readsPrevious: (collection) =>
        open.some((rule) => rule.collection === collection && rule.settings.fields !== undefined),
      async beforeCommit(list) {
        try {
          const earlier = prepared.get(list)?.starts ?? [];
          if (earlier.length > 0) await startRules.drop(earlier.map(({ id }) => id));
          const starts = startsOf(list);
          prepared.set(list, { starts, isStored: false });
          if (starts.length === 0) return;
          await startRules.put(starts, UNCONFIRMED_MS);
          prepared.set(list, { starts, isStored: true });
        } catch (cause) {
          warn('Failed to store the runs that a data change starts. Trying again after the commit.', cause);
        }
      },
      afterCommit: (list, isPreview) => void (isPreview ? previewed : committed).add(list),
    };

    return async (failure) => {
      delete written.hooks;
      const transactions = [...prepared];
      const isCommitted = ([list]: (typeof transactions)[number]) => committed.has(list);
      const confirmed = transactions.filter(isCommitted).map(([, one]) => one);
      // If the response to a COMMIT was lost, these become due by themselves.
      const isUncertain = isAppError(failure, 'OUTCOME_UNKNOWN');
      const rolledBack = isUncertain ? [] : transactions.filter((one) => !isCommitted(one)).map(([, one]) => one);
      const discarded = new Set([...previewed].flat());
      const all = written.filter((each) => !discarded.has(each));
      const known = new Set([...committed].flat());
      // Written by code that replaces a write, maybe through the transactions above.
      const isStarted = (ruleId: string, id: string) =>
        confirmed.some(({ starts }) => starts.some((start) => start.ruleId === ruleId && start.records?.includes(id)));
      const others = startsOf(all.filter((each) => !known.has(each)))
        .map((start) => ({ ...start, records: start.records!.filter((id) => !isStarted(start.ruleId, id)) }))
        .filter(({ records }) => records.length > 0);
      const unlisted = open.flatMap((rule) => {
        const count = countUnlisted(all, rule);
        return count === 0 ? [] : [newStart(rule, [], count)];
      });
      const late = confirmed.filter(({ isStored }) => !isStored).flatMap(({ starts }) => starts);
      const idsOf = (some: typeof confirmed) => some.flatMap(({ starts }) => starts.map(({ id }) => id));
      const [confirmIds, dropIds] = [idsOf(confirmed.filter(({ isStored }) => isStored)), idsOf(rolledBack)];
      const added = [...late, ...others, ...unlisted];
      try {
        if (dropIds.length > 0) await startRules.drop(dropIds);
        if (confirmIds.length > 0) await startRules.confirm(confirmIds);
        if (added.length > 0) await startRules.put(added, 0);
        if (confirmIds.length + added.length > 0) nudge();
      } catch (cause) {
        const message =
          added.length > 0
            ? 'The storage failed: a data change starts no run of some workflows.'
            : 'Failed to confirm the runs that a data change starts. They start in two minutes.';
        warn(message, cause);
      }
    };
  }
}

const isChangeRule = (rule: StartRule): rule is ChangeRule => rule.settings.kind === 'change';

const operationOf = { created: 'create', updated: 'update', deleted: undefined } as const;

function isMatch(record: WrittenRecord, { collection, settings }: ChangeRule): boolean {
  const operation = operationOf[record.change];
  if (record.collection.name !== collection || record.id === null || operation === undefined) return false;
  if (!settings.operations.includes(operation)) return false;
  return operation === 'create' || settings.fields === undefined || hasChanged(record, settings.fields);
}

/**
 * Whether one of the fields has another value. A computed field has no stored value to compare, so it counts as
 * changed.
 */
function hasChanged({ collection, before, after }: WrittenRecord, fields: readonly string[]): boolean {
  if (!before || !after) return true;
  const stored = new Set(storedColumns(collection).map(({ name }) => name));
  if (fields.some((field) => !stored.has(field))) return true;
  return [...after].some(
    ([column, value]) =>
      fields.includes(column.name) && JSON.stringify(value) !== JSON.stringify(before.get(column) ?? null),
  );
}

function countUnlisted(written: readonly Written[], { collection, settings }: ChangeRule): number {
  return (
    mergeRecords(written).written.filter(
      (record) => record.id === null && record.collection.name === collection && isListed(settings, record.change),
    ).length +
    [...mergeRecords(written).others]
      .filter((each) => each.collection.name === collection && isListed(settings, each.change))
      .reduce((sum, { count }) => sum + count, 0)
  );
}

function isListed({ operations }: ChangeSettings, change: Written['change']): boolean {
  const operation = operationOf[change];
  return operation !== undefined && operations.includes(operation);
}
