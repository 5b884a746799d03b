// The reason a database refuses a write: the violated rule and its columns, without the database's message or any
// values. The engine turns it into field errors.

export type RefusalKind =
  /** Another record already has these values, which must be unique. */
  | 'unique'
  /** The referenced record does not exist. */
  | 'reference'
  /** Other records reference this one. */
  | 'referenced'
  | 'null'
  | 'too long'
  | 'out of range'
  /** A check constraint on these columns. */
  | 'check'
  /** An exclusion constraint: another record conflicts with these values, such as overlapping periods. */
  | 'exclusion'
  /** No partition of the table accepts the values of these columns. */
  | 'partition'
  /** A trigger or a function raised an error. */
  | 'trigger'
  /** A trigger skipped the record. */
  | 'ignored'
  /** An expression of the table, such as a generated column, cannot be evaluated for this record. */
  | 'expression'
  /** A row security policy or the check option of a view. */
  | 'policy'
  /** A value that the column cannot hold. */
  | 'value'
  /** The database or table is read-only. */
  | 'read-only'
  /** The database user lacks the privilege. */
  | 'denied'
  /** A rewrite rule of PostgreSQL replaces the statement. */
  | 'rule'
  /** A conflict with another transaction. */
  | 'conflict';

export class Refusal extends Error {
  readonly kind: RefusalKind;
  /** As written in the database; empty if the database does not name them. */
  readonly columns: readonly string[];

  constructor(kind: RefusalKind, columns: readonly string[], cause?: unknown) {
    super(`the database refuses to write: ${kind}`, { cause });
    this.name = 'Refusal';
    this.kind = kind;
    this.columns = columns;
  }
}
