// Rules that start runs of a workflow by themselves, and the starts that are not complete yet.
import type { PlainFilter } from '../../core/filter.ts';

interface CommonSettings {
  /** The condition of the records, in the rights of the rule's user. Absent: every record. */
  readonly filter?: PlainFilter;
  /** The maximum number of runs of one occurrence or of one change. */
  readonly limit: number;
}

interface ScheduleSettings extends CommonSettings {
  readonly kind: 'schedule';
  /** Five fields. */
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
}

export interface ChangeSettings extends CommonSettings {
  readonly kind: 'change';
  readonly operations: readonly ('create' | 'update')[];
  /** An update counts only if one of these fields has another value. Absent: any update. */
  readonly fields?: readonly string[];
}

export type StartSettings = ScheduleSettings | ChangeSettings;

export interface StartRule {
  /** UUID. */
  readonly id: string;
  readonly workflowId: string;
  /** Current name of the workflow. */
  readonly name: string;
  /** The collection of the workflow when the rule was saved. */
  readonly collection: string;
  /** The version of the workflow that the rule's user accepted last. */
  readonly version: number;
  /** The runs have the rights of this user. */
  readonly userId: number;
  readonly settings: StartSettings;
  readonly isActive: boolean;
  /** Milliseconds since the epoch; null for a data change, and while the rule is paused. */
  readonly nextAt: number | null;
  readonly lastResult: StartResult | null;
}

/** What the last occurrence did. */
export interface StartResult {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Runs that were started. */
  readonly started: number;
  /** Records that got no run because they have an active one. */
  readonly active: number;
  /** Changed records that the database did not list, so that they got no run. Absent if the person has a row scope. */
  readonly unlisted?: number;
  /** More records matched than the limit allows. */
  readonly hasMore?: boolean;
  /** Why nothing, or not everything, was started. */
  readonly problem?: string;
}

interface NewStartRule {
  readonly workflowId: string;
  readonly collection: string;
  readonly version: number;
  readonly userId: number;
  readonly settings: StartSettings;
  readonly nextAt: number | null;
}

/** A start that is under way. It is deleted when it is complete. */
export interface PendingStart {
  /** UUID. With the id of a record, it is the idempotency key of a run. */
  readonly id: string;
  readonly ruleId: string;
  /** Packed ids; null until the records of a schedule are chosen. */
  readonly records: readonly string[] | null;
  /** Changed records without known ids. */
  readonly unlisted: number;
  readonly hasMore: boolean;
  /** Ids of the workflows whose changes led here, the first one first. */
  readonly chain: readonly string[];
  readonly occurredAt: number;
}

/** A start that this process holds until its lease expires. */
export interface ClaimedStart extends PendingStart {
  /** Raised by every claim. */
  readonly fence: number;
}

export interface StartRules {
  /** Of the environment, oldest first. */
  list(filter?: { readonly workflowId?: string }): Promise<readonly StartRule[]>;
  find(id: string): Promise<StartRule | undefined>;
  /** INVALID_ARGUMENT when the workflow has too many rules, or does not exist. */
  add(rule: NewStartRule): Promise<StartRule>;
  /** Undefined when there is no such rule. `by` must be the user of the rule, unless the rule is only paused. */
  change(
    id: string,
    change: {
      readonly settings?: StartSettings;
      readonly collection?: string;
      readonly version?: number;
      readonly isActive?: boolean;
      readonly nextAt?: number | null;
    },
    by: number,
  ): Promise<StartRule | undefined>;
  /** False when there is no such rule. Starts that are under way are dropped. */
  delete(id: string, by: number): Promise<boolean>;
  /** Active schedules whose next occurrence has come. */
  dueSchedules(): Promise<readonly StartRule[]>;
  /**
   * Takes the occurrence at `nextAt`: of all processes, one gets true. It commits the start together with the next
   * occurrence. An occurrence adds no second start while one of the rule is under way.
   */
  claimOccurrence(id: string, nextAt: number, next: number | null): Promise<boolean>;
  /** Adds or replaces starts of data changes, which become due after `delayMs`. */
  put(starts: readonly PendingStart[], delayMs: number): Promise<void>;
  /** Makes starts due at once. */
  confirm(ids: readonly string[]): Promise<void>;
  drop(ids: readonly string[]): Promise<void>;
  /** Due starts, oldest first. One process holds each of them for `leaseMs`. */
  take(limit: number, leaseMs: number): Promise<readonly ClaimedStart[]>;
  /** Stores the chosen records. False when another process holds the start. */
  choose(
    start: { readonly id: string; readonly fence: number },
    chosen: { readonly records: readonly string[]; readonly hasMore: boolean },
  ): Promise<boolean>;
  /** Deletes the start and stores its result in the rule. Has no effect if another process has taken the start since. */
  settle(start: Pick<ClaimedStart, 'id' | 'ruleId' | 'fence'>, result: StartResult | undefined): Promise<void>;
}
