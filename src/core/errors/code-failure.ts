// A failure in operator code: the piece of code, the place where it was added, and the error that it threw. Always the
// cause of an AppError, so only the log shows it.

export class CodeFailure extends Error {
  /** `what`: the code and where it was added, such as `the hook 'Before List' of 'orders', added at shop.mjs:12`. */
  constructor(what: string, thrown: unknown) {
    super(`${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown });
    this.name = 'CodeFailure';
  }
}

/** The error that operator code threw, with its stack; otherwise the error itself. */
export function unwrapCodeFailure(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  const isWrapped = error instanceof CodeFailure || (cause instanceof Error && listCodeFailures(cause).length > 0);
  return isWrapped && cause instanceof Error ? unwrapCodeFailure(cause) : error;
}

/** The failed pieces of operator code, outermost first, each with the place where it was added. */
export function listCodeFailures(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  return [...(error instanceof CodeFailure ? [error.message] : []), ...listCodeFailures(error.cause)];
}
