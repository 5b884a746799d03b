// Types of the token checks.
import type { Restrictions } from '../../core/caller/restrictions.ts';
import type { Access } from '../../core/caller.ts';
import type { Versions } from '../../store/version-types.ts';

export interface Authenticated {
  readonly access: Access;
  readonly userId: number;
  readonly clientId: string;
  readonly clientName: string;
  /** Set for access tokens. */
  readonly grantId?: string;
  /** Set for application tokens. */
  readonly tokenId?: number;
  /** OAuth scopes, including those that they imply. */
  readonly scopes: ReadonlySet<string>;
  /** SHA-256 of the token, the key of its row in the store. It cannot be used as a token. */
  readonly tokenHash: string;
  /** The versions for which these facts were checked. */
  readonly versions: Versions;
  /** Restrictions of this request (query parameters of the URL), already applied to `access`. */
  readonly restrictions?: Restrictions;
}

/** A verified token: its holder, key and expiry. */
export interface Verified extends Omit<Authenticated, 'tokenHash' | 'versions'> {
  /** Thumbprint of the key that the token is bound to. */
  readonly thumbprint: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Takes the hash of the token. UNAUTHENTICATED if the token is not valid. Implementations do not cache. */
export type Verify = (hash: string) => Promise<Verified>;
