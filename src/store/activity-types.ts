// The entries of the activity log, and how they are left.

import type { ActivitySearches } from './log-types.ts';
import type { Versions } from './store.ts';
import type { EntryWorkflow } from './workflow-types.ts';

export interface ActivityEntry {
  readonly userId: number;
  readonly renderingId: number;
  /** OAuth client id and its name, as registered. */
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
  /** Of a run, or of what started one. */
  readonly workflow?: EntryWorkflow;
}

/** A write that has left its mark; a crash leaves it `unknown`. */
export interface Intent {
  /** At the moment of the mark, where the storage tells them with it. */
  readonly versions?: Versions;
  /** `recordIds` are those that were not known before, such as of new records; so is `workflow`. */
  complete(
    result: Pick<ActivityEntry, 'code' | 'recordIds' | 'workflow'> & { readonly outcome: KnownOutcome },
  ): Promise<void>;
}

export type KnownOutcome = Exclude<ActivityEntry['outcome'], 'unknown'>;

export interface ActivityLog {
  /** Reads: kept in memory and written in batches, within 200 ms and at close. Never throws. */
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
