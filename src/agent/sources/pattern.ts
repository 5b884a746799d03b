// Regular expressions for `Match`, decided by RE2JS in time linear in the text, for every pattern. JavaScript's regular
// expressions can backtrack and block the process on a caller's pattern. The databases' engines differ from each other,
// and most of them backtrack too. The syntax is RE2's: lookaround and backreferences need backtracking and are
// rejected.
import { RE2JS } from 're2js';

export interface Pattern {
  /** The pattern as the caller wrote it. */
  readonly source: string | RegExp;
  /**
   * The approximate number of single characters in the pattern with its repetitions expanded. The time of a match grows
   * with it.
   */
  readonly size: number;
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean;
}

const LENGTH_LIMIT = 1_000;
/** Compiling a pattern of this size takes about 5 ms. The process does that itself to report errors at once. */
const SIZE_LIMIT = 1_000;
/** Unicode classes are long lists of ranges. */
const UNICODE_CLASS_SIZE = 50;

const references = /(?<!\\)(?:\\\\)*\\k</;

/**
 * Accepts RE2 syntax, plus JavaScript's `(?<name>`, `\u0041` and `\/`, and the flags i, m and s of a RegExp. Throws
 * SyntaxError if the pattern is invalid or exceeds 1,000 characters, as written or with its repetitions expanded. The
 * message describes the problem but does not quote the pattern.
 */
export function compilePattern(given: string | RegExp): Pattern {
  if (typeof given !== 'string' && !(given instanceof RegExp))
    throw new SyntaxError('expected a regular expression or a string');
  const source = String(given);
  if (source.length > LENGTH_LIMIT) throw new SyntaxError(`it has more than ${LENGTH_LIMIT} characters`);
  // RE2JS reads `\k` as a letter, as JavaScript does in a pattern without groups.
  if (references.test(source)) throw new SyntaxError('backreferences cannot be used');
  const size = sizeOf(given instanceof RegExp ? given.source : given);
  if (size > SIZE_LIMIT) throw new SyntaxError(`it expands to more than ${SIZE_LIMIT} characters with its repetitions`);
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(given));
    return { source: given, size, test: (text) => compiled.test(text) };
  } catch (cause) {
    throw new SyntaxError(problemOf(cause), { cause });
  }
}

/** RE2's message without the quoted part of the pattern. */
function problemOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : '';
  const [, problem] = /^error parsing regexp: (.*?)(?:: `.*)?$/s.exec(message) ?? [];
  return problem ?? 'it cannot be parsed';
}

/** Does not parse the pattern fully: malformed patterns get a size too. */
function sizeOf(source: string): number {
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  const add = (item: number) => {
    last = item;
    size += item;
  };
  for (const [part, repeat, most] of source.matchAll(parts)) {
    if (part === '(') {
      outer.push(size);
      size = 0;
    } else if (part === ')') {
      const inner = size + 2;
      size = outer.pop() ?? 0;
      add(inner);
    } else if (repeat !== undefined) {
      const times = Math.max(1, Number(repeat), Number(most || 0));
      size += last * (times - 1);
      last *= times;
    } else add(1 + UNICODE_CLASS_SIZE * (part.match(/\\p/gi)?.length ?? 0));
  }
  return size + outer.reduce((sum, each) => sum + each, 0);
}

/** An escape, a class, a repetition with its counts, or one character. */
const parts = /\\[pP](?:\{[^}]*\}|.)|\\[xu]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gs;
