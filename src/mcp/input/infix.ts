// Arithmetic as text, such as `(price - cost) * quantity`.
import type { PlainExpression } from '../../core/filter/expression.ts';

const TEXT_LIMIT = 256;
const EXACT_DIGITS = 15;
const operations: Readonly<Record<string, string>> = { '+': 'plus', '-': 'minus', '*': 'times', '/': 'dividedBy' };

/** Undefined if the text is no arithmetic of numbers and of names that `resolve` knows. */
export function readInfix(text: string, resolve: (name: string) => string | undefined): PlainExpression | undefined {
  if (text.length > TEXT_LIMIT || !/[-+*/]/.test(text)) return undefined;
  const tokens = text.match(/[\p{L}_][\p{L}\p{N}_.:]*|\d+(?:\.\d+)?|[-+*/()]|\S/gu) ?? [];
  let at = 0;
  const expression = readTerms(['+', '-'], () => readTerms(['*', '/'], readOperand));
  return at === tokens.length ? expression : undefined;

  function readTerms(signs: readonly string[], read: () => PlainExpression | undefined): PlainExpression | undefined {
    let left = read();
    while (left !== undefined && signs.includes(tokens[at] ?? '')) {
      const operation = operations[tokens[at++]!]!;
      const right = read();
      left = right === undefined ? undefined : ({ [operation]: [left, right] } as unknown as PlainExpression);
    }
    return left;
  }

  function readOperand(): PlainExpression | undefined {
    const token = tokens[at++] ?? '';
    if (/^\d/.test(token)) return token.length > EXACT_DIGITS ? undefined : Number(token);
    if (token !== '(') return /^[\p{L}_]/u.test(token) ? resolve(token) : undefined;
    const inner = readTerms(['+', '-'], () => readTerms(['*', '/'], readOperand));
    return tokens[at++] === ')' ? inner : undefined;
  }
}
