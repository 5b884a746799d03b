// Reads collations from the text of CREATE TABLE; SQLite's catalogue does not list them.
import type { Collation } from '../../column-types.ts';

/** Returns collations by lower-case column name. Columns without an entry compare as binary. */
export function readCollations(sql: string): Map<string, Collation> {
  const found = new Map<string, Collation>();
  for (const definition of splitDefinitions(sql)) {
    const [name, ...rest] = definition;
    if (!name) continue;
    const at = rest.findIndex((token) => token.toLowerCase() === 'collate');
    const collation = rest[at + 1];
    if (at >= 0 && collation && unquote(collation).toLowerCase() === 'nocase') {
      found.set(unquote(name).toLowerCase(), 'insensitive');
    }
  }
  return found;
}

/** Splits the outermost parentheses at their commas, without the contents of nested parentheses. */
function splitDefinitions(sql: string): string[][] {
  const tokens = sql.match(
    /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[^\s'"`[\](),]+|[(),]/g,
  );
  const parts: string[][] = [[]];
  let depth = 0;
  for (const token of tokens ?? []) {
    if (token.startsWith('--') || token.startsWith('/*')) continue;
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (token === ',' && depth === 1) parts.push([]);
    else if (depth === 1) parts.at(-1)!.push(token);
  }
  return parts;
}

function unquote(name: string): string {
  const first = name[0];
  if (first === '[') return name.slice(1, -1);
  if (first !== '"' && first !== '`' && first !== "'") return name;
  return name.slice(1, -1).replaceAll(first + first, first);
}
