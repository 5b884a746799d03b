// Renames request members in the engine's errors to the arguments of the tool, because a model knows only those.
import { AppError, isAppError } from '../../core/errors.ts';

/** Runs `run` and renames in its errors. `names` maps the engine's names to the tool's. Other errors pass unchanged. */
export async function withToolNames<T>(names: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw renameInError(names, error);
  }
}

function renameInError(names: Readonly<Record<string, string>>, error: unknown): unknown {
  if (isAppError(error, 'INVALID_ARGUMENT')) {
    const argument = names[error.details.argument];
    if (argument) return new AppError('INVALID_ARGUMENT', { ...error.details, argument }, error);
  }
  if (isAppError(error, 'INVALID_VALUE')) {
    const [, name = '', rest = ''] = /^(\w+)(.*)$/s.exec(error.details.at) ?? [];
    const { got, expected } = error.details;
    const ids =
      name === 'ids' && !expected.startsWith('an id of') && typeof got === 'string' && got.includes(',')
        ? got.split(',')
        : [];
    const several = ids.length ? ` (several ids: such as ${JSON.stringify(ids.map((id) => id.trim()))})` : '';
    if (names[name])
      return new AppError(
        'INVALID_VALUE',
        { ...error.details, at: names[name] + rest, expected: expected + several },
        error,
      );
  }
  if (isAppError(error, 'INVALID_RECORD')) {
    // A problem begins with a request member only if there are several records: `records[2].name`.
    const problems = error.details.problems.map(({ field, problem }) => {
      const [, name = '', rest = ''] = /^(\w+)(\[\d+\]\..*)$/s.exec(field) ?? [];
      return { field: names[name] ? names[name] + rest : field, problem };
    });
    return new AppError('INVALID_RECORD', { ...error.details, problems }, error);
  }
  return error;
}
