// Starts the runs of schedules and of data changes, in every process that executes runs. The storage gives each
// occurrence and each start to one process at a time. A start that a process did not finish is repeated by another one,
// and the idempotency keys of its runs prevent second runs.
import type { Engine } from '../../agent/engine.ts';
import type { Access } from '../../core/caller.ts';
import { createPolling } from '../../core/clock/polling.ts';
import type { Clock } from '../../core/clock.ts';
import { type AppError, toAppError } from '../../core/errors.ts';
import type { PlainFilter } from '../../core/filter.ts';
import { reportFailure } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import type { Store } from '../../store/store.ts';
import type { ClaimedStart, StartResult, StartRule } from '../../store/workflows/start-rule-types.ts';
import type { Workflow } from '../../store/workflows/types.ts';
import { isTemporary, withoutToolAdvice } from '../runs/failure.ts';
import { andFilter, packIds, selectRecord } from '../steps/record-filter.ts';
import type { WorkflowService } from '../workflows.ts';
import { MAX_LEVELS } from './changes.ts';
import type { AutomaticStarts, RuleReader } from './rules.ts';
import { nextOccurrences } from './schedule.ts';

const POLL_MS = 1000;
const LEASE_MS = 60_000;
const BATCH = 5;
/** Records read at once. */
const PAGE = 50;
/** Attempts after errors that may pass, such as a time limit. */
const MAX_ATTEMPTS = 5;

interface Starter {
  start(): void;
  /** Looks for due starts now. */
  nudge(): void;
  /** Takes due occurrences and starts their runs. Also runs by itself every second. Never rejects. */
  poll(): Promise<void>;
  stop(): Promise<void>;
}

interface StarterParts {
  readonly store: Pick<Store, 'startRules' | 'runs' | 'versions'>;
  readonly engine: Engine;
  readonly rules: RuleReader;
  readonly automatic: Pick<AutomaticStarts, 'stateOf'>;
  readonly service: Pick<WorkflowService, 'start'>;
  /** The maximum number of records of a list. */
  readonly pageSizeLimit: number;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** The records that get a run. */
interface Chosen extends Pick<StartResult, 'unlisted'> {
  readonly records: readonly string[];
  readonly hasMore: boolean;
}

export function createStarter(parts: StarterParts): Starter {
  const { store, engine, rules, automatic, service, clock, observe } = parts;
  const { startRules, runs } = store;
  const pageSize = Math.min(PAGE, parts.pageSizeLimit);
  let isStopped = true;
  let isReported = false;
  let running: Promise<void> = Promise.resolve();
  let isQueued = false;

  const takeOccurrences = async (): Promise<void> => {
    for (const { id, settings, nextAt } of await startRules.dueSchedules()) {
      if (settings.kind !== 'schedule' || nextAt === null) continue;
      // After a downtime, the missed occurrences are one: the next one is in the future.
      await startRules.claimOccurrence(id, nextAt, nextOccurrences(settings, clock.now(), 1)[0] ?? null);
    }
  };

  const pollOnce = async (): Promise<void> => {
    if ((await rules.at((await store.versions()).workflows)).length === 0) return;
    await takeOccurrences();
    for (;;) {
      const starts = await startRules.take(BATCH, LEASE_MS);
      for (const start of starts) await complete(start);
      if (starts.length < BATCH || isStopped) return;
    }
  };

  const complete = async (start: ClaimedStart): Promise<void> => {
    try {
      const rule = await startRules.find(start.ruleId);
      const outcome = rule?.isActive ? await startAll(start, rule) : {};
      if (outcome) await startRules.settle(start, outcome.result);
    } catch (thrown) {
      const failure = toAppError(thrown, randomId());
      // The start stays, and is due again after its lease.
      if (isUnavailable(failure)) throw thrown;
      reportFailure(observe, 'automatic start', failure);
      const isFinal = (failure.status < 500 && failure.code !== 'TIMED_OUT') || start.fence >= MAX_ATTEMPTS;
      if (isFinal) await startRules.settle(start, resultOf(start, { problem: withoutToolAdvice(failure) }));
    }
  };

  /**
   * Undefined when another process holds the start. Without a result, the last one stays. Even the time of a result would
   * show a change of what the person of the rule does not see (CWE-203).
   */
  const startAll = async (
    start: ClaimedStart,
    rule: StartRule,
  ): Promise<{ readonly result?: StartResult } | undefined> => {
    const state = await automatic.stateOf(rule);
    if (state.state === 'stopped') return start.records ? {} : { result: resultOf(start, { problem: state.reason }) };
    const { access } = state;
    const seen = start.records && (await findRecords(access, rule.collection, start.records));
    if (seen?.length === 0 && access.scope(rule.collection) !== null) return {};
    const chosen = await (seen ? chooseChanged(start, rule, access, seen) : choose(start, rule, access));
    return chosen && { result: await startChosen(start, rule, state, chosen) };
  };

  const startChosen = async (
    start: ClaimedStart,
    rule: StartRule,
    { access, workflow }: { readonly access: Access; readonly workflow: Workflow },
    { records, ...more }: Chosen,
  ): Promise<StartResult> => {
    if (start.chain.length >= MAX_LEVELS) {
      const problem = `A run changed the record, and ${MAX_LEVELS} runs in a row had started each other. No further one is started.`;
      return resultOf(start, { problem });
    }
    const active = new Set(await runs.active(workflow.id, records));
    const open = records.filter((id) => !active.has(id));
    let started = 0;
    for (const id of open) if (await startOne(start, rule, { access, workflow, id })) started++;
    return resultOf(start, { ...more, started, active: records.length - started });
  };

  /** `seen`: the changed records that the person of the rule sees. The result counts no others. */
  const chooseChanged = async (
    start: ClaimedStart,
    { collection, settings: { filter: stored, limit } }: StartRule,
    access: Access,
    seen: readonly string[],
  ): Promise<Chosen | undefined> => {
    const filter = stored && engine.storedFilters.disambiguate(access, collection, stored);
    const matching = filter ? await findRecords(access, collection, seen, filter) : seen;
    const seesAll = access.scope(collection) === null;
    const { hasMore, unlisted } = seesAll ? start : { hasMore: false, unlisted: 0 };
    const chosen = { records: matching.slice(0, limit), hasMore: hasMore || matching.length > limit };
    // After a crash, the limit applies to the same records.
    if (matching.length > limit && !(await startRules.choose(start, chosen))) return undefined;
    return { ...chosen, ...(unlisted > 0 && { unlisted }) };
  };

  /** Those of the records that exist for the caller. `filter`: and match it. */
  const findRecords = async (
    access: Access,
    collection: string,
    ids: readonly string[],
    filter?: PlainFilter,
  ): Promise<string[]> => {
    const { key } = engine.describe(access, collection);
    const found: string[] = [];
    for (let at = 0; at < ids.length; at += pageSize) {
      const conditions = ids
        .slice(at, at + pageSize)
        .map((id) => selectRecord({ engine, access, step: { id: 'start' } }, { collection, id }).filter);
      const within = andFilter({ aggregator: 'Or', conditions }, filter);
      found.push(
        ...packIds((await engine.list(access, { collection, fields: key, filter: within, limit: pageSize })).rows),
      );
    }
    return found;
  };

  /** The records of a schedule are chosen once, and stored before the first run. */
  const choose = async (
    start: ClaimedStart,
    { collection, settings }: StartRule,
    access: Access,
  ): Promise<Chosen | undefined> => {
    const { filter: stored, limit } = settings;
    const filter = stored && engine.storedFilters.disambiguate(access, collection, stored);
    const { key } = engine.describe(access, collection);
    const records: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const size = Math.min(pageSize, limit - records.length);
      const request = { collection, fields: key, limit: size, ...(filter && { filter }), ...(cursor && { cursor }) };
      const { rows, hasMore, cursorAfter } = await engine.list(access, request);
      records.push(...packIds(rows));
      cursor = rows.length === 0 ? undefined : cursorAfter(rows.length - 1);
      if (hasMore && records.length < limit && cursor !== undefined) continue;
      const chosen = { records, hasMore };
      return (await startRules.choose(start, chosen)) ? chosen : undefined;
    }
  };

  const startOne = async (
    { id: startId, chain }: ClaimedStart,
    { settings: { kind } }: StartRule,
    { access, workflow, id }: { readonly access: Access; readonly workflow: Workflow; readonly id: string },
  ): Promise<boolean> => {
    const { firstName, lastName, email } = access.caller;
    const name = `${firstName} ${lastName}`.trim() || email;
    const clientName = `${kind === 'schedule' ? 'Schedule' : 'Data change rule'} of ${name}`;
    const request = { workflow, recordId: id, idempotencyKey: `${startId} ${id}`, chain };
    const created = await service.start({ access, origin: kind, clientId: kind, clientName }, request);
    return created.state === 'created' || created.state === 'repeated';
  };

  const resultOf = ({ occurredAt: at }: ClaimedStart, more: Partial<StartResult>): StartResult => ({
    ...{ at, started: 0, active: 0 },
    ...more,
  });

  const poll = (): Promise<void> => {
    if (isQueued) return running;
    isQueued = true;
    running = running
      .then(() => {
        isQueued = false;
        return pollOnce();
      })
      .then(() => {
        isReported = false;
      })
      .catch((cause: unknown) => {
        if (!isReported)
          observe({ type: 'warning', message: 'Failed to start runs of schedules and data changes. Retrying.', cause });
        isReported = true;
      });
    return running;
  };

  const polling = createPolling(clock, POLL_MS, poll);
  return {
    poll,
    start() {
      isStopped = false;
      polling.start();
    },
    nudge() {
      if (!isStopped) void poll();
    },
    async stop() {
      isStopped = true;
      polling.stop();
      await running;
    },
  };
}

const isUnavailable = (failure: AppError): boolean => isTemporary(failure) || failure.code === 'PLATFORM_UNAVAILABLE';
