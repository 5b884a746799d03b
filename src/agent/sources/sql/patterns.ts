// Text patterns. In `Like` and `ILike` the caller's `%` and `_` are wild and `\` takes the next character as it is;
// everywhere else the caller's text is literal, whatever characters it has.
import type { Operator } from '../../../core/filter.ts';

type Piece = { readonly wild: 'many' | 'one' } | { readonly literal: string };

const MANY: Piece = { wild: 'many' };

function pieces(operator: Operator, value: unknown): Piece[] {
  const text = String(value);
  switch (operator) {
    case 'StartsWith':
    case 'IStartsWith':
      return [{ literal: text }, MANY];
    case 'EndsWith':
    case 'IEndsWith':
      return [MANY, { literal: text }];
    case 'Like':
    case 'ILike':
      return parseLike(text);
    default:
      return [MANY, { literal: text }, MANY];
  }
}

function parseLike(pattern: string): Piece[] {
  const found: Piece[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at]!;
    if (char === '%') found.push(MANY);
    else if (char === '_') found.push({ wild: 'one' });
    else if (char === '\\') found.push({ literal: pattern[++at] ?? '' });
    else found.push({ literal: char });
  }
  return found;
}

/** A LIKE pattern in which `mark` escapes. */
export function likePattern(operator: Operator, mark: string): (value: unknown) => string {
  return (value) =>
    pieces(operator, value)
      .map((piece) =>
        'wild' in piece
          ? piece.wild === 'many'
            ? '%'
            : '_'
          : piece.literal.replace(/[%_\\|]/g, (char) =>
              char === '%' || char === '_' || char === mark ? mark + char : char,
            ),
      )
      .join('');
}

/**
 * A GLOB pattern: SQLite's LIKE knows the case of ASCII letters only and cannot be made to mind it. Without case, every
 * letter is the set of its forms.
 */
export function globPattern(operator: Operator): (value: unknown) => string {
  const letter = insensitive.has(operator) ? anyCase : exactly;
  return (value) =>
    pieces(operator, value)
      .map((piece) => ('wild' in piece ? (piece.wild === 'many' ? '*' : '?') : [...piece.literal].map(letter).join('')))
      .join('');
}

const exactly = (char: string): string => (char === '*' || char === '?' || char === '[' ? `[${char}]` : char);

function anyCase(char: string): string {
  const forms = new Set([char, char.toLowerCase(), char.toUpperCase()].filter((form) => [...form].length === 1));
  return forms.size > 1 ? `[${[...forms].join('')}]` : exactly(char);
}

/** The operators that do not mind the case of letters. */
export const insensitive: ReadonlySet<Operator> = new Set<Operator>([
  'ILike',
  'IContains',
  'NotIContains',
  'IStartsWith',
  'IEndsWith',
]);
