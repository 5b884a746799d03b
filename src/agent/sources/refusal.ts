// What a database refuses to write, without its words and without values: which rule, and which columns. The engine makes
// errors of fields of it.

export type RefusalKind =
  /** Another record has these values, which must be unique. */
  | 'unique'
  /** The record that the columns point to does not exist. */
  | 'reference'
  /** Other records point to this one. */
  | 'referenced'
  | 'null'
  | 'too long'
  | 'out of range'
  /** A condition that the database holds on these columns. */
  | 'check'
  /** A value that the column cannot hold. */
  | 'value'
  /** The database lets nobody write here, or not this user. */
  | 'read-only'
  /** Another transaction was in the way. */
  | 'conflict';

export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** As written in the database; empty when it does not tell. */
  readonly columns: readonly string[];

  constructor(kind: RefusalKind, columns: readonly string[], cause?: unknown) {
    super(`the database refuses to write: ${kind}`, { cause });
    this.name = 'Refusal';
    this.kind = kind;
    this.columns = columns;
  }
}
