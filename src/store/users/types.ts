// Users, their external identities, and changes of users.
import type { PermissionLevel } from '../../core/caller.ts';

export interface User {
  readonly id: number;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly timezone: string;
  readonly disabled: boolean;
  /** False for an invited user who has not set a password yet. */
  readonly hasPassword: boolean;
  /** Whether the user has signed in through the host application or single sign-on. */
  readonly hasIdentity: boolean;
  /** Sessions that began before this time have ended; milliseconds since the epoch. */
  readonly sessionsFrom: number | null;
  readonly level: PermissionLevel;
  readonly team: string;
  readonly role: string;
  readonly tags: Readonly<Record<string, string>>;
}

export interface NewUser {
  readonly email: string;
  /** When absent, the user cannot sign in with a password until a link sets one. */
  readonly password?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly timezone?: string;
  /** Default `user`. */
  readonly level?: PermissionLevel;
  /** Created when it does not exist; default `Operations`. */
  readonly team?: string;
  /** Created, with no permissions, when it does not exist; default `Member` (`Administrator` for level admin). */
  readonly role?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Identity {
  /**
   * INVALID_ARGUMENT when the address is in use or malformed, or the password is too short or too common. `by` as in
   * `setDisabled`.
   */
  addUser(user: NewUser, by?: number): Promise<User>;
  countUsers(): Promise<number>;
  /** Oldest first. */
  listUsers(): Promise<readonly User[]>;
  findUser(id: number): Promise<User | undefined>;
  findUserByEmail(email: string): Promise<User | undefined>;
  /** The user, when the password is correct and the user is not disabled. A failure takes equally long. */
  verifyPassword(email: string, password: string): Promise<User | undefined>;
  /**
   * Ends every session of the user. `by`: the user who changed it; absent for the command line. INVALID_ARGUMENT as in
   * `addUser`.
   */
  setPassword(userId: number, password: string, by?: number): Promise<void>;
  /**
   * Disabling ends every session of the user. `by`: the administrator who did it; absent for the command line. DENIED
   * when `by` is not an administrator at that moment, or is the user to disable. At least one administrator therefore
   * always remains.
   */
  setDisabled(userId: number, disabled: boolean, by?: number): Promise<void>;
  /**
   * Deletes the user with sessions, grants, tokens, links, uploads and approvals, ends their workflow runs, and replaces
   * names and addresses in the admin log by `user <id>`. Notes and log entries stay under that number. `by` and DENIED
   * as in `setDisabled`. INVALID_ARGUMENT for the last administrator.
   */
  deleteUser(userId: number, by?: number): Promise<void>;
  /** Changed by the user. INVALID_ARGUMENT as in `addUser`. */
  setProfile(userId: number, profile: Required<Pick<NewUser, 'firstName' | 'lastName' | 'timezone'>>): Promise<void>;
  /** Names of the project and the environment that this process serves. */
  place(): Promise<{
    readonly organization: string;
    readonly project: string;
    readonly environment: string;
    readonly environmentId: number;
  }>;
}

/** External identities of users, by (issuer, subject). */
export interface Identities {
  /**
   * Returns the user of the identity, with the rights that the issuer reports now. The first sign-in creates the user.
   * If a user has the same address: `link` adds the identity to that user, when the address is verified and the user
   * has no other account of the issuer. Otherwise the sign-in is refused.
   */
  admit(identity: ExternalIdentity, rules: AdmissionRules): Promise<Admission>;
  findUserId(issuer: string, subject: string): Promise<number | undefined>;
  /** Whether the user has signed in through the issuer. */
  has(userId: number, issuer: string): Promise<boolean>;
}

export interface AdmissionRules {
  /** Whether a first sign-in is linked to the user of the same verified address. */
  readonly link: boolean;
  /** The other issuers in use. A user of one of them is not linked by address. Default: none. */
  readonly otherIssuers?: readonly string[];
}

export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  /** An IANA time zone name; other values are ignored. */
  readonly timezone?: string | undefined;
  readonly rights: ExternalRights;
}

/**
 * Rights from the issuer. Absent means that the issuer does not manage it: a new user gets the default, and an existing
 * user's value is unchanged.
 */
export interface ExternalRights {
  /** The first name that exists is used; without a match the sign-in is refused. The same holds for `role`. */
  readonly team?: readonly string[] | undefined;
  readonly role?: readonly string[] | undefined;
  /** Null refuses the sign-in. */
  readonly level?: PermissionLevel | null | undefined;
  /** Null removes the tag. */
  readonly tags?: Readonly<Record<string, string | null>> | undefined;
  /** Also removes every other tag. Default false. */
  readonly onlyTheseTags?: boolean;
}

export type Admission =
  | { readonly state: 'ok'; readonly user: User; readonly isNew: boolean }
  /** `why` is for the log. */
  | { readonly state: 'refused'; readonly why: string };

/** New values for a user. Absent properties do not change. */
export interface UserChange {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly timezone?: string;
  readonly level?: PermissionLevel;
  /** Must exist; the same holds for `role`. */
  readonly team?: string;
  readonly role?: string;
  /** By key; null removes the tag. */
  readonly tags?: Readonly<Record<string, string | null>>;
}

export interface Members {
  /**
   * Returns the changes. INVALID_ARGUMENT for an unknown team or role, with similar names, or for an invalid value.
   * `by` as in `Identity.setDisabled`: users cannot change their own level.
   */
  change(
    userId: number,
    change: UserChange,
    by?: number,
  ): Promise<Readonly<Record<string, { before: unknown; after: unknown }>>>;
}
