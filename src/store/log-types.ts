// What is asked of the two logs, and what they answer.
import type { ActivityEntry } from './activity-types.ts';

/** Milliseconds since the epoch, both ends within. */
export interface LogTimes {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** An entry's place in the order of a list: its time, and among equal times its id. */
export interface LogPlace {
  readonly at: number;
  readonly id: number;
}

/** All that are given hold. Names compare by their bytes, but for the name of a client. */
export interface ActivityFilter {
  readonly userId?: number | undefined;
  /** Of the team that the user was in at the call; one that is gone since as well. */
  readonly team?: string | undefined;
  readonly collection?: string | undefined;
  readonly recordId?: string | undefined;
  readonly action?: string | undefined;
  readonly type?: ActivityEntry['type'] | undefined;
  readonly outcome?: ActivityEntry['outcome'] | undefined;
  /** In whatever case it is written. */
  readonly clientName?: string | undefined;
  readonly times?: LogTimes | undefined;
}

export interface AdminLogFilter {
  /** Of whoever did it. */
  readonly userId?: number | undefined;
  readonly type?: AdminChangeType | undefined;
  readonly initiator?: Initiator | undefined;
  readonly resource?: string | undefined;
  readonly times?: LogTimes | undefined;
}

/** Newest first: by time, and among equal times by id. `after`: what comes after that place. */
export type SearchOf<F> = F & { readonly limit: number; readonly after?: LogPlace | undefined };
export type ActivitySearch = SearchOf<ActivityFilter>;
export type AdminLogSearch = SearchOf<AdminLogFilter>;

/** In the order in which the entries were written. */
export type WalkOf<F> = F & {
  /** Id of the last entry that was seen; 0 begins at the first. */
  readonly since: number;
  /** Id of the last entry to look at, of `newestId`. */
  readonly until: number;
};

/** One step of a walk: the entries found, and where the next step begins; undefined at the end. */
export interface WalkStep<E> {
  readonly entries: readonly E[];
  readonly next: number | undefined;
}

export interface LoggedUser {
  readonly id: number;
  readonly email: string;
  /** First and last name; the address where there is neither. */
  readonly name: string;
}

export interface LoggedActivity extends ActivityEntry {
  readonly id: number;
  /** Undefined for one that the storage does not know. */
  readonly user: LoggedUser | undefined;
  /** Of the user at the call; undefined where it was removed before its name was kept. */
  readonly team: string | undefined;
}

export type AdminChangeType = 'add' | 'remove' | 'update' | 'initial';
/** `serviceAdmin`: nobody was signed in, as at the command line. */
export type Initiator = 'administrator' | 'identityProvider' | 'serviceAdmin';

/** Who somebody was in the project. */
export interface MemberValue {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly level: string;
  readonly role: string;
  readonly team: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** `user-project` has `member`; others a name, and what else is to be told. */
export type LogValue =
  | { readonly member: MemberValue }
  | { readonly name: string; readonly details?: Readonly<Record<string, unknown>> };

export interface LoggedChange {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly type: AdminChangeType;
  readonly resource: string;
  readonly initiator: Initiator;
  /** Such as `user.set`. */
  readonly action: string;
  readonly subject: string;
  /** Who did it; undefined where nobody was signed in. */
  readonly user: LoggedUser | undefined;
  readonly newValue: LogValue | undefined;
  readonly previousValue: LogValue | undefined;
}

/** Who changed what of the project. */
export interface AdminLog {
  search(search: AdminLogSearch): Promise<readonly LoggedChange[]>;
  find(id: number): Promise<LoggedChange | undefined>;
  walk(walk: WalkOf<AdminLogFilter>): Promise<WalkStep<LoggedChange>>;
  newestId(): Promise<number>;
}

/** The part of the activity log that is for reading. Everything is of the environment that this process serves. */
export interface ActivitySearches {
  search(search: ActivitySearch): Promise<readonly LoggedActivity[]>;
  /** `userId`: only when it is his. */
  find(id: number, userId?: number): Promise<LoggedActivity | undefined>;
  walk(walk: WalkOf<ActivityFilter>): Promise<WalkStep<LoggedActivity>>;
  /**
   * Of the entries that a walk may end at: whatever has a smaller id is there. Entries of the last seconds are held back on a
   * server, where one that got its id earlier may be committed later.
   */
  newestId(): Promise<number>;
}
