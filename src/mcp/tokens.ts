// How many tokens of a language model a text will cost, from above: an estimate that must not be short, since it decides
// where an answer is cut. It walks the characters once and counts runs of one kind, as tokenizers split them.

/** Costs about a nanosecond a character. Held above gpt-tokenizer's count on texts of many kinds by a test. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let i = 0;
  const length = text.length;
  while (i < length) {
    const kind = kindOf(text.charCodeAt(i));
    let end = i + 1;
    while (end < length && kindOf(text.charCodeAt(end)) === kind) end++;
    const run = end - i;
    if (kind === LOWER) {
      // An English word is one token; what only looks like one (a code, a key) is one for every two or three letters.
      tokens += run <= 4 ? 1 : Math.ceil(run / 3.4);
    } else if (kind === UPPER) tokens += Math.ceil(run / 2);
    else if (kind === DIGIT) tokens += Math.ceil(run / 3);
    else if (kind === SPACE) tokens += run === 1 ? 0.1 : Math.ceil(run / 4);
    else if (kind === MARK) tokens += run === 1 ? 0.9 : run * 0.6;
    else tokens += run * 1.2;
    i = end;
  }
  return Math.ceil(tokens);
}

const LOWER = 0;
const UPPER = 1;
const DIGIT = 2;
const SPACE = 3;
const MARK = 4;
const OTHER = 5;

function kindOf(code: number): number {
  if (code >= 97 && code <= 122) return LOWER;
  if (code === 32 || code === 10 || code === 13 || code === 9) return SPACE;
  if (code >= 48 && code <= 57) return DIGIT;
  if (code >= 65 && code <= 90) return UPPER;
  return code < 128 ? MARK : OTHER;
}

/** No token is shorter than a byte, so most answers need not be looked at. */
export function fitsTokens(text: string, budget: number): boolean {
  if (text.length * 3 <= budget) return true;
  return estimateTokens(text) <= budget;
}
