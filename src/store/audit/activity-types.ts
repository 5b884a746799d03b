// Entries of the activity log, and the interface that writes them.

import type { CommitOutcome } from '../../core/errors/lost-commit.ts';
import type { Versions } from '../version-types.ts';
import type { EntryWorkflow, LoggedUser, LogTimes, ScanOf, ScanStep, SearchOf } from './log-types.ts';

export interface ActivityEntry {
  readonly userId: number;
  readonly renderingId: number;
  /** OAuth client id and registered client name. */
  readonly clientId: string;
  readonly clientName: string;
  readonly action: string;
  readonly type: 'read' | 'write';
  readonly collection?: string;
  readonly recordIds?: readonly string[];
  readonly outcome: 'completed' | 'failed' | 'denied' | 'unknown';
  readonly code?: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The run of this entry, or the run that this call started. */
  readonly workflow?: EntryWorkflow;
  /** Records written besides `recordIds` of `collection`. */
  readonly effects?: readonly LoggedEffect[];
  /** True for a call that only computed its writes. */
  readonly dryRun?: boolean;
  /** The id of the approval, for an approved write. */
  readonly approvalId?: string;
}

/** Records of one collection that a call changed in one way: names, ids and counts, never values. */
export interface LoggedEffect {
  readonly collection: string;
  readonly change: 'created' | 'updated' | 'deleted';
  /**
   * `call`: the call names them. `relation`: a write through a relation. `cascade`: the database changed them. `code`:
   * customization code wrote them.
   */
  readonly cause: 'call' | 'relation' | 'cascade' | 'code';
  readonly count: number;
  /** Absent when only the count is known. */
  readonly ids?: readonly string[];
}

/** A write with a stored mark. The entry stays `unknown` after a crash, or when the outcome cannot be determined. */
export interface Intent {
  /** The versions at the time of the mark, when the storage returns them with it. */
  readonly versions?: Versions;
  /**
   * `recordIds`, `workflow` and `effects` are values that were unknown at the start, such as ids of new records. `fate`
   * resolves to the outcome of an unknown write once it is determined. If the storage is not writable, the entry stays
   * `unknown` until it is. Never rejects.
   */
  complete(
    result: Pick<ActivityEntry, 'outcome' | 'code' | 'recordIds' | 'workflow' | 'effects'>,
    outcome?: Promise<CommitOutcome | undefined>,
  ): Promise<void>;
}

export interface ActivityLog {
  /** Reads: buffered in memory and written in batches, within 200 ms and at close. Never throws. */
  record(entry: ActivityEntry): void;
  /** Writes and actions: committed as `unknown` before the mutating statement, completed after it. */
  begin(entry: Omit<ActivityEntry, 'outcome' | 'durationMs'>): Promise<Intent>;
  flush(): Promise<void>;
  /** Newest first. */
  list(page: {
    readonly limit: number;
    readonly before?: number;
  }): Promise<readonly (ActivityEntry & { readonly id: number })[]>;
}

export interface ReadableActivityLog extends ActivityLog, ActivitySearches {}

/** All properties must match. Names are compared byte by byte, except for the client name. */
export interface ActivityFilter {
  readonly userId?: number | undefined;
  /** The user's team at the time of the call; it may be a deleted team. */
  readonly team?: string | undefined;
  readonly collection?: string | undefined;
  readonly recordId?: string | undefined;
  readonly action?: string | undefined;
  readonly type?: ActivityEntry['type'] | undefined;
  readonly outcome?: ActivityEntry['outcome'] | undefined;
  /** Ignores case. */
  readonly clientName?: string | undefined;
  readonly times?: LogTimes | undefined;
}

export type ActivitySearch = SearchOf<ActivityFilter>;

export interface LoggedActivity extends ActivityEntry {
  readonly id: number;
  /** Undefined for a user who is unknown to the storage. */
  readonly user: LoggedUser | undefined;
  /**
   * The user's team at the time of the call. Undefined when the team was deleted before names of deleted teams were
   * stored.
   */
  readonly team: string | undefined;
}

/** Entries of one hour that have these properties in common. */
export interface ActivityTally {
  /** Hours since `from`; 0 is the first. */
  readonly hour: number;
  readonly type: ActivityEntry['type'];
  readonly outcome: ActivityEntry['outcome'];
  readonly dryRun: boolean;
  /** Whether the entries are decisions on approvals. */
  readonly isDecision: boolean;
  readonly count: number;
}

/** The reading part of the activity log. All entries belong to the environment that this process serves. */
export interface ActivitySearches {
  search(search: ActivitySearch): Promise<readonly LoggedActivity[]>;
  /** With `userId`, returns the entry only when it belongs to that user. */
  find(id: number, userId?: number): Promise<LoggedActivity | undefined>;
  walk(walk: ScanOf<ActivityFilter>): Promise<ScanStep<LoggedActivity>>;
  /** Counts the entries since `from`, at most the newest 20,000. With `userId`, only those of that user. */
  tally(filter: { readonly from: number; readonly userId?: number | undefined }): Promise<readonly ActivityTally[]>;
  /**
   * Id of the last entry that a walk may end at: all entries with smaller ids are committed. On a database server,
   * entries of the last seconds are excluded, because an earlier id may be committed later.
   */
  newestId(): Promise<number>;
}
