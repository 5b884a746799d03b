export interface Versions {
  /** Raised by every change of users, roles, permissions, teams or row scopes. */
  readonly permissions: number;
  /** Raised by every revocation of a grant or token. */
  readonly grants: number;
  /** Raised when a key of the installation is rotated or retired. */
  readonly keys: number;
  /** Raised when a workflow is published, paused or resumed, or its trigger changed. A platform of an earlier version does not report it. */
  readonly workflows?: number;
}
