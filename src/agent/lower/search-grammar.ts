// The grammar of a search. Every text is valid: a malformed operator is an ordinary word, because people and models
// type searches, and an error about a missing bracket does not help them.
//
//   words             all of them            "two words"       one phrase, also 'two words'
//   this OR that      either; binds weaker   -word             not; also -"a phrase", -field:value, -(...)
//   (this that)       a group                field:value       in one field (search-terms.ts says what a value may be)

export type SearchExpression =
  | { readonly op: 'all' | 'any'; readonly of: readonly SearchExpression[] }
  | { readonly op: 'not'; readonly of: SearchExpression }
  | Word;

export interface Word {
  readonly op: 'word';
  /** The text to search if it names no field. */
  readonly text: string;
  /** The ways to read it as a field and a value, longest name first. */
  readonly named: readonly (readonly [field: string, value: string])[];
  /** The text, or the value, is literal. */
  readonly quoted: boolean;
}

type Token = '(' | ')' | '-' | Word;

/** An empty `all` for a search without words. */
export function parseSearch(text: string): SearchExpression {
  const tokens = readTokens(text, true);
  return new Parser(balanced(tokens) ? tokens : readTokens(text, false)).parse();
}

/** The words of the search, in order. */
export function collectWords(sought: SearchExpression): readonly Word[] {
  if (sought.op === 'word') return [sought];
  return sought.op === 'not' ? collectWords(sought.of) : sought.of.flatMap(collectWords);
}

function balanced(tokens: readonly Token[]): boolean {
  let depth = 0;
  for (const token of tokens) {
    if (token === '(') depth++;
    else if (token === ')' && --depth < 0) return false;
  }
  return depth === 0;
}

/** Without `groups`, brackets are ordinary characters. */
function readTokens(text: string, groups: boolean): Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; ) {
    const char = text[at]!;
    if (/\s/.test(char)) at++;
    else if (char === '-' && tokens.at(-1) !== '-' && /\S/.test(text[at + 1] ?? ' ')) {
      tokens.push('-');
      at++;
    } else if (groups && char === '(') {
      tokens.push('(');
      depth++;
      at++;
    } else if (groups && char === ')' && depth > 0) {
      tokens.push(')');
      depth--;
      at++;
    } else {
      const [token, end] = readPhrase(text, at) ?? readBare(text, at, depth > 0);
      if (token) tokens.push(token);
      at = end;
    }
  }
  return tokens;
}

type Read = readonly [token: Word | undefined, end: number];

function readPhrase(text: string, at: number): Read | undefined {
  const found = phraseAt(text, at);
  return found && [found.phrase.trim() ? word(found.phrase.trim(), [], true) : undefined, found.end];
}

/** An unclosed double quote extends to the end. A single quote is an apostrophe unless a word end closes it. */
function phraseAt(text: string, at: number): { readonly phrase: string; readonly end: number } | undefined {
  const quote = text[at];
  if (quote === '"') {
    const close = text.indexOf('"', at + 1);
    const end = close < 0 ? text.length : close;
    return { phrase: text.slice(at + 1, end), end: end + 1 };
  }
  if (quote !== "'") return undefined;
  const found = /^'([^']+)'(?=[\s)]|$)/.exec(text.slice(at));
  return found ? { phrase: found[1]!, end: at + found[0].length } : undefined;
}

/** Reads up to white space; in a group, also up to its closing bracket. */
function readBare(text: string, start: number, grouped: boolean): Read {
  let inner = 0;
  let at = start;
  for (; at < text.length && /\S/.test(text[at]!); at++) {
    const char = text[at]!;
    if (grouped && char === '(') inner++;
    else if (grouped && char === ')' && --inner < 0) break;
    else if (char === ':' && at > start) {
      const value = phraseAt(text, at + 1);
      if (!value) continue;
      const field = text.slice(start, at);
      return [word(`${field}:${value.phrase}`, [[field, value.phrase]], true), value.end];
    }
  }
  const bare = text.slice(start, at);
  return [word(bare, splits(bare), false), at];
}

/** More than any valid name has (agent/resolve/names.ts). */
const SPLITS_LIMIT = 16;

function splits(bare: string): Word['named'] {
  const named: (readonly [string, string])[] = [];
  for (let at = bare.indexOf(':', 1); at > 0 && at < bare.length - 1; at = bare.indexOf(':', at + 1)) {
    if (named.length === SPLITS_LIMIT) return [];
    named.unshift([bare.slice(0, at), bare.slice(at + 1)]);
  }
  return named;
}

function word(text: string, named: Word['named'], quoted: boolean): Word {
  return { op: 'word', text, named, quoted };
}

/** The brackets of the tokens must be balanced. */
class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): SearchExpression {
    const any = [this.#readAll()];
    while (this.#isBetween('OR')) {
      this.#at++;
      any.push(this.#readAll());
    }
    return any.length === 1 ? any[0]! : { op: 'any', of: any };
  }

  #readAll(): SearchExpression {
    const all: SearchExpression[] = [];
    while (!this.#isEnd(this.#at)) {
      if (all.length && this.#isBetween('OR')) break;
      if (all.length && this.#isBetween('AND')) {
        this.#at++;
        continue;
      }
      const found = this.#readOne();
      if (found.op === 'word' || found.op === 'not' || found.of.length) all.push(found);
    }
    return all.length === 1 ? all[0]! : { op: 'all', of: all };
  }

  #readOne(): SearchExpression {
    const token = this.#tokens[this.#at++]!;
    if (token === '-') {
      // A `-` without an operand, as in `(-)`, is a word.
      if (this.#isEnd(this.#at)) return word('-', [], true);
      return { op: 'not', of: this.#readOne() };
    }
    if (token !== '(' && token !== ')') return token;
    const inner = this.parse();
    this.#at++;
    return inner;
  }

  /** Whether the next token is this word and has an operand after it. */
  #isBetween(text: string): boolean {
    const token = this.#tokens[this.#at];
    return typeof token === 'object' && !token.quoted && token.text === text && !this.#isEnd(this.#at + 1);
  }

  #isEnd(at: number): boolean {
    return at >= this.#tokens.length || this.#tokens[at] === ')';
  }
}
