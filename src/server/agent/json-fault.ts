// Finds the position of a JSON syntax error. The parser of Node reports it only for some errors.

const tokens =
  /[ \t\r\n]*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/uy;

type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end';

/**
 * Returns `line` and `column`, from 1, of the first token that is not allowed, or of the end of the text if it is
 * incomplete.
 */
export function findJsonFault(text: string): { readonly line: number; readonly column: number } {
  const before = text.slice(0, findOffset(text)).split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

function findOffset(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  tokens.lastIndex = 0;
  for (;;) {
    const from = tokens.lastIndex;
    const match = tokens.exec(text);
    const start = from + /^[ \t\r\n]*/.exec(text.slice(from))![0].length;
    if (!match) return start;
    const [, sign, string] = match;
    const next = nextExpected(expected, sign ?? (string === undefined ? 'other' : 'string'), open);
    if (!next) return start;
    expected = next;
  }
}

/** Returns what may follow the token, or undefined if the token is not allowed. Updates `open`. */
function nextExpected(expected: Expected, token: string, open: ('{' | '[')[]): Expected | undefined {
  const isValue = token === 'string' || token === 'other';
  if (expected === ':') return token === ':' ? 'value' : undefined;
  if (expected.startsWith('key')) {
    if (token === 'string') return ':';
    if (token !== '}' || expected === 'key') return undefined;
  } else if (expected.startsWith('value')) {
    if (isValue) return ', or end';
    if (token === '{' || token === '[') {
      open.push(token);
      return token === '{' ? 'key or }' : 'value or ]';
    }
    if (token !== ']' || expected === 'value') return undefined;
  } else if (token === ',' && open.length > 0) return open.at(-1) === '{' ? 'key' : 'value';
  const opened = token === '}' ? '{' : token === ']' ? '[' : undefined;
  return opened !== undefined && open.pop() === opened ? ', or end' : undefined;
}
