/** Error codes of the databases for a duplicate key. */
const codes: ReadonlySet<unknown> = new Set([
  'ER_DUP_ENTRY',
  '23505',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_UNIQUE',
]);

export const isDuplicate = (error: unknown): boolean => codes.has((error as { code?: unknown } | null)?.code);
