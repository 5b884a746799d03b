// Text patterns. In `Like` and `ILike`, `%` and `_` are wildcards and `\` escapes the next character. All other
// operators take the caller's text literally.
import type { Operator } from '../../../../core/filter.ts';

type Piece = { readonly wild: 'many' | 'one' } | { readonly literal: string };

const MANY: Piece = { wild: 'many' };

function toPieces(operator: Operator, value: unknown): Piece[] {
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

/** A LIKE pattern with `mark` as its escape character. */
export function likePattern(operator: Operator, mark: string): (value: unknown) => string {
  return (value) =>
    toPieces(operator, value)
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
 * A GLOB pattern. SQLite's LIKE ignores case, but only for ASCII letters. GLOB is case-sensitive; to ignore case, each
 * letter becomes a set of its forms.
 */
export function globPattern(operator: Operator): (value: unknown) => string {
  const letter = insensitive.has(operator) ? anyCase : exactly;
  return (value) =>
    toPieces(operator, value)
      .map((piece) => ('wild' in piece ? (piece.wild === 'many' ? '*' : '?') : [...piece.literal].map(letter).join('')))
      .join('');
}

const exactly = (char: string): string => (char === '*' || char === '?' || char === '[' ? `[${char}]` : char);

function anyCase(char: string): string {
  const forms = new Set([char, char.toLowerCase(), char.toUpperCase()].filter((form) => [...form].length === 1));
  return forms.size > 1 ? `[${[...forms].join('')}]` : exactly(char);
}

/** The operators that ignore case. */
export const insensitive: ReadonlySet<Operator> = new Set<Operator>([
  'ILike',
  'IContains',
  'NotIContains',
  'IStartsWith',
  'IEndsWith',
]);
