/** Milliseconds since the epoch; both ends are inclusive. */
export interface LogTimes {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Position of an entry in a list: its time, then its id. */
export interface LogPosition {
  readonly at: number;
  readonly id: number;
}

export interface AdminLogFilter {
  /** Id of the user who made the change. */
  readonly userId?: number | undefined;
  readonly type?: AdminChangeType | undefined;
  readonly initiator?: Initiator | undefined;
  readonly resource?: string | undefined;
  readonly times?: LogTimes | undefined;
}

/** Newest first: by time, then by id. `after`: returns the entries after that position. */
export type SearchOf<F> = F & { readonly limit: number; readonly after?: LogPosition | undefined };
type AdminLogSearch = SearchOf<AdminLogFilter>;

/** In the order of insertion. */
export type ScanOf<F> = F & {
  /** Id of the last entry of the previous step; 0 starts at the first entry. */
  readonly since: number;
  /** Id of the last entry to read, from `newestId`. */
  readonly until: number;
};

/** One step of a walk: the entries found, and the start of the next step. `next` is undefined at the end. */
export interface ScanStep<E> {
  readonly entries: readonly E[];
  readonly next: number | undefined;
}

export interface LoggedUser {
  readonly id: number;
  readonly email: string;
  /** First and last name, or the address when both are empty. */
  readonly name: string;
}

export type AdminChangeType = 'add' | 'remove' | 'update' | 'initial';
/** `serviceAdmin`: a change without a signed-in user, as at the command line. */
export type Initiator = 'administrator' | 'identityProvider' | 'serviceAdmin';

/** The profile and the rights of a user in the project. */
export interface MemberValue {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly level: string;
  readonly role: string;
  readonly team: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** `user-project` has `member`; other resources have a name and optional details. */
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
  /** For example `user.set`. */
  readonly action: string;
  readonly subject: string;
  /** The user who made the change; undefined when no user was signed in. */
  readonly user: LoggedUser | undefined;
  readonly newValue: LogValue | undefined;
  readonly previousValue: LogValue | undefined;
}

/** The log of changes to the project, with the user of each change. */
export interface AdminLog {
  search(search: AdminLogSearch): Promise<readonly LoggedChange[]>;
  find(id: number): Promise<LoggedChange | undefined>;
  walk(walk: ScanOf<AdminLogFilter>): Promise<ScanStep<LoggedChange>>;
  newestId(): Promise<number>;
}

/** The run of an activity log entry, and the step and option within it. */
export interface EntryWorkflow {
  /** Name of the workflow at that time. */
  readonly name: string;
  readonly runId: string;
  readonly stepName?: string;
  readonly optionName?: string;
}
