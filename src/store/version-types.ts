export interface Versions {
  /** Raised by every change of users, roles, permissions, teams or row scopes. */
  readonly permissions: number;
  /** Raised by every revocation of a grant or token. */
  readonly grants: number;
  /** Raised when a key of the installation is rotated or retired. */
  readonly keys: number;
}
