/** Rows that nothing proves yet. Only ever shortened: a row that has a test, or that does not exist, may not stand here. */
export const pending: ReadonlySet<string> = new Set<string>([]);
