// People: who they are, where else they are known, and what of them is changed.
import type { PermissionLevel } from '../core/caller.ts';

export interface User {
  readonly id: number;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly timezone: string;
  readonly disabled: boolean;
  /** False for one who was invited and has not chosen one yet. */
  readonly hasPassword: boolean;
  /** Sessions that began before this have ended; milliseconds since the epoch. */
  readonly sessionsFrom: number | null;
  readonly level: PermissionLevel;
  readonly team: string;
  readonly role: string;
  readonly tags: Readonly<Record<string, string>>;
}

export interface NewUser {
  readonly email: string;
  /** Absent: he cannot sign in with one until a link lets him choose it. */
  readonly password?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly timezone?: string;
  /** Default `user`. */
  readonly level?: PermissionLevel;
  /** Made when it does not exist; default `Operations`. */
  readonly team?: string;
  /** Made, with no permissions, when it does not exist; default `Member` (`Administrator` for level admin). */
  readonly role?: string;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface Identity {
  /** INVALID_ARGUMENT when the address is taken or malformed, or the password too short or too common. `by` as of `setDisabled`. */
  addUser(user: NewUser, by?: number): Promise<User>;
  countUsers(): Promise<number>;
  /** Oldest first. */
  listUsers(): Promise<readonly User[]>;
  findUser(id: number): Promise<User | undefined>;
  findUserByEmail(email: string): Promise<User | undefined>;
  /** The user, when the password is right and the user is not disabled; takes equally long otherwise. */
  verifyPassword(email: string, password: string): Promise<User | undefined>;
  /** Ends every session of the user. `by` is who did it, where it was not the command. INVALID_ARGUMENT as of `addUser`. */
  setPassword(userId: number, password: string, by?: number): Promise<void>;
  /**
   * Disabling ends every session of the user. `by`: the administrator who did it, where it was not the command; he must be one
   * at that moment, and cannot disable himself: DENIED. So one is always left.
   */
  setDisabled(userId: number, disabled: boolean, by?: number): Promise<void>;
  /** By the user himself. INVALID_ARGUMENT as of `addUser`. */
  setProfile(userId: number, profile: Required<Pick<NewUser, 'firstName' | 'lastName' | 'timezone'>>): Promise<void>;
  /** Names of the one project and environment that this process serves. */
  place(): Promise<{
    readonly organization: string;
    readonly project: string;
    readonly environment: string;
    readonly environmentId: number;
  }>;
}

/** Users who are known elsewhere, by (issuer, subject). */
export interface Identities {
  /**
   * The user that the identity is, made at its first sign-in, with the rights that the issuer says now. `link`: a user of the
   * same verified address, who is no other account of the issuer, becomes that user; otherwise he keeps it out.
   */
  admit(identity: ExternalIdentity, options: { readonly link: boolean }): Promise<Admission>;
  findUserId(issuer: string, subject: string): Promise<number | undefined>;
  /** Whether the user has come in through the issuer. */
  has(userId: number, issuer: string): Promise<boolean>;
}

export interface ExternalIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  /** An IANA name; anything else is not heeded. */
  readonly timezone?: string | undefined;
  readonly rights: ExternalRights;
}

/** What is absent is not the issuer's to say: a new user gets the default, and one who is known keeps what he has. */
export interface ExternalRights {
  /** The first of these that exists here; nobody comes in without one. */
  readonly team?: readonly string[] | undefined;
  readonly role?: readonly string[] | undefined;
  /** Null: nobody comes in. */
  readonly level?: PermissionLevel | null | undefined;
  /** Null: the tag is taken away. */
  readonly tags?: Readonly<Record<string, string | null>> | undefined;
  /** Every other tag is taken away as well. Default false. */
  readonly onlyTheseTags?: boolean;
}

export type Admission =
  | { readonly state: 'ok'; readonly user: User; readonly isNew: boolean }
  /** `why` is for the log. */
  | { readonly state: 'refused'; readonly why: string };

/** What of a user is to be another; what is absent stays. */
export interface UserChange {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly timezone?: string;
  readonly level?: PermissionLevel;
  /** One that is there; so is the role. */
  readonly team?: string;
  readonly role?: string;
  /** By key; null takes the tag away. */
  readonly tags?: Readonly<Record<string, string | null>>;
}

export interface Members {
  /**
   * INVALID_ARGUMENT for an unknown team or role, with near names, or a value that cannot be. Answers what has changed. `by` as
   * of `Identity.setDisabled`: nobody changes his own level.
   */
  change(
    userId: number,
    change: UserChange,
    by?: number,
  ): Promise<Readonly<Record<string, { before: unknown; after: unknown }>>>;
}
