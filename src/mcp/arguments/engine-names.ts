// The engine names what is wrong by the members of its own requests; a model knows the arguments of its tool.
import { AppError, isAppError } from '../../core/errors.ts';

/** `names`: what the engine calls it, to what the tool does. Other errors pass as they are. */
export async function withToolNames<T>(names: Readonly<Record<string, string>>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw renamed(names, error);
  }
}

function renamed(names: Readonly<Record<string, string>>, error: unknown): unknown {
  if (isAppError(error, 'INVALID_ARGUMENT')) {
    const argument = names[error.details.argument];
    if (argument) return new AppError('INVALID_ARGUMENT', { ...error.details, argument }, error);
  }
  if (isAppError(error, 'INVALID_VALUE')) {
    const [, name = '', rest = ''] = /^(\w+)(.*)$/s.exec(error.details.at) ?? [];
    if (names[name]) return new AppError('INVALID_VALUE', { ...error.details, at: names[name] + rest }, error);
  }
  if (isAppError(error, 'INVALID_RECORD')) {
    // Only where there are several records does a problem begin with a member of the request: `records[2].name`.
    const problems = error.details.problems.map(({ field, problem }) => {
      const [, name = '', rest = ''] = /^(\w+)(\[\d+\]\..*)$/s.exec(field) ?? [];
      return { field: names[name] ? names[name] + rest : field, problem };
    });
    return new AppError('INVALID_RECORD', { ...error.details, problems }, error);
  }
  return error;
}
