/** What the databases call a second row under the same key. */
const codes: ReadonlySet<unknown> = new Set([
  'ER_DUP_ENTRY',
  '23505',
  'SQLITE_CONSTRAINT_PRIMARYKEY',
  'SQLITE_CONSTRAINT_UNIQUE',
]);

export const isDuplicate = (error: unknown): boolean => codes.has((error as { code?: unknown } | null)?.code);
