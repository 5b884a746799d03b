// Regular expressions for `Match`, in time that is linear in the text, whatever the pattern: a caller's pattern must not
// hold up the process (a regular expression of JavaScript can), and must mean the same on every database (their own
// engines differ, and most go back as well). So RE2JS decides it here. Its language is RE2's: lookaround and references
// to groups would need going back, and are refused.
import { RE2JS } from 're2js';

export interface Pattern {
  /** As it was written. */
  readonly source: string;
  /** Whether it is found somewhere in the text. */
  test(text: string): boolean;
}

const LENGTH_LIMIT = 1_000;

const references = /(?<!\\)(?:\\\\)*\\k</;

/**
 * The syntax of RE2, and what JavaScript writes otherwise: `(?<name>`, `\u0041`, `\/`; of a RegExp its flags i, m and s.
 * SyntaxError, with what is wrong but without the pattern, for what is no pattern of at most 1,000 characters.
 */
export function compilePattern(given: string | RegExp): Pattern {
  if (typeof given !== 'string' && !(given instanceof RegExp))
    throw new SyntaxError('expected a regular expression or its text');
  const source = String(given);
  if (source.length > LENGTH_LIMIT) throw new SyntaxError(`it has more than ${LENGTH_LIMIT} characters`);
  // RE2JS takes `\k` for a letter, as JavaScript does where there is no group.
  if (references.test(source)) throw new SyntaxError('references to groups cannot be used');
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(given));
    return { source, test: (text) => compiled.test(text) };
  } catch (cause) {
    throw new SyntaxError(problemOf(cause), { cause });
  }
}

/** RE2's words for it, without the part of the pattern that they quote. */
function problemOf(cause: unknown): string {
  const said = cause instanceof Error ? cause.message : '';
  const [, problem] = /^error parsing regexp: (.*?)(?:: `.*)?$/s.exec(said) ?? [];
  return problem ?? 'it cannot be read';
}
