// Removes advice about tools that the caller is not shown from descriptions, instructions and errors. All texts are
// written to stay complete without the removed clauses.

// These tool names are also English words, so they count as tools only after `with`, `as`, `in` or `by`.
const ambiguousNames: ReadonlySet<string> = new Set(['list', 'create', 'update', 'delete']);

const quoted = /(?<!\w)'[^']*'|"[^"]*"/g;
// Quotes move to a list while clauses are examined; a private-use character marks their places.
const placeholder = /\ue000(\d+)\ue000/g;

/**
 * Removes the sentences, clauses (after a semicolon) and parentheses that name an absent tool. Quoted names are data
 * or arguments and stay. A text that would become empty stays unchanged.
 *
 * @example withoutTools('Unknown. Call getChart for all.', new Set(['getChart'])) // 'Unknown.'
 */
export function withoutTools(text: string, hiddenTools: ReadonlySet<string>): string {
  if (hiddenTools.size === 0) return text;
  const quotes: string[] = [];
  const plain = text.replace(quoted, (quote) => `\ue000${quotes.push(quote) - 1}\ue000`);
  const names = new RegExp(
    [...hiddenTools]
      .map((name) => (ambiguousNames.has(name) ? `\\b(?:with|as|in|by) ${name}\\b` : `\\b${name}\\b`))
      .join('|'),
    'i',
  );
  if (!names.test(plain)) return text;
  const lines = plain.split('\n').map((line) =>
    line
      .replace(/\s*\([^()]*\)/g, (part) => (names.test(part) ? '' : part))
      .split(/(?<=[.;]) +/)
      .filter((clause) => !names.test(clause))
      .join(' ')
      .replace(/;$/, '.'),
  );
  const left = lines
    .filter((line, at) => line !== '' || plain.split('\n')[at] === '')
    .join('\n')
    .replace(placeholder, (_, at) => quotes[Number(at)]!);
  return left === '' ? text : left;
}
