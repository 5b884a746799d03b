// The one token check of /mcp. What it answers is proof that it ran: an Authenticated can only come from here.
import type { Access } from '../core/caller.ts';
import type { Versions } from '../store/store.ts';

export interface Authenticated {
  readonly access: Access;
  readonly userId: number;
  readonly clientId: string;
  readonly clientName: string;
  readonly grantId: string;
  /** OAuth scopes. */
  readonly scopes: ReadonlySet<string>;
  /** The versions at which all of this was true. */
  readonly versions: Versions;
}

export interface Gate {
  /**
   * Checks the Authorization header; answers synchronously from memory where it can. UNAUTHENTICATED when there is no
   * usable token: missing, malformed, unknown, expired, revoked, or for another audience.
   */
  check(authorization: string | undefined): Authenticated | Promise<Authenticated>;
  /**
   * Whether everything still stands as it did when `auth` was given. Reads ask it while they work and hold their
   * answer until it is known; writes ask it before their first mutating statement.
   */
  holds(auth: Authenticated): boolean | Promise<boolean>;
  /** The WWW-Authenticate value of a 401 (RFC 6750 section 3, RFC 9728 section 5.1). */
  challenge(hadToken: boolean): string;
  /** The WWW-Authenticate value of a 403 insufficient_scope. */
  scopeChallenge(scopes: readonly string[]): string;
}
