import type { Command } from 'commander';

/**
 * Moves ids to the end of the arguments, after `--`. Ids are random base64url, and one in 64 begins with a dash, which
 * looks like an option (POSIX utility conventions, guideline 10). The value of an option, such as a secret, can also
 * begin with a dash and stays in place.
 */
export function idsLast(program: Command, argv: readonly string[]): string[] {
  const valued = new Set(flagsWithValue(program));
  const isId = (text: string, at: number): boolean =>
    /^-[\w-]{20,}$/.test(text) && !/^--[a-z-]+$/.test(text) && !valued.has(argv[at - 1] ?? '');
  const ids = argv.filter(isId);
  return ids.length === 0 ? [...argv] : [...argv.filter((text, at) => !isId(text, at)), '--', ...ids];
}

function flagsWithValue({ options, commands }: Command): string[] {
  const own = options.flatMap(({ required, optional, short = '', long = '' }) =>
    required || optional ? [short, long] : [],
  );
  return [...own, ...commands.flatMap(flagsWithValue)];
}
