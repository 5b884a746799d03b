import type { AppError } from '../../src/core/errors.ts';

/** Code, message and details of the error, or the answer if the call succeeds. */
export interface Refused {
  readonly code?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  readonly answer?: unknown;
}

export const refusalOf = (run: Promise<unknown>): Promise<Refused> =>
  run.then(
    (answer) => ({ answer }),
    ({ code, message, details, cause }: AppError) => ({ code, message, details, cause }),
  );

/** `field: problem` of every field, or the code of another error. */
export async function problemsOf(run: Promise<unknown>): Promise<unknown> {
  const { code, details, answer } = await refusalOf(run);
  if (code !== 'INVALID_RECORD') return code ?? { answer };
  const { problems } = details as { readonly problems: readonly { field: string; problem: string }[] };
  return problems.map(({ field, problem }) => `${field}: ${problem}`);
}
