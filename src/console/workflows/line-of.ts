// Where in a text of JSON something stands, so that a person finds what is wrong. The text is known to parse.

/** The line, from 1, of the value that `path` leads to; that of what holds it where it is absent. */
export function lineOf(text: string, path: readonly string[]): number {
  return lineAt(text, find(text, skipSpace(text, 0), path));
}

export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length;

function find(text: string, at: number, [name, ...rest]: readonly string[]): number {
  const opening = text[at];
  if (name === undefined || (opening !== '{' && opening !== '[')) return at;
  let next = skipSpace(text, at + 1);
  for (let index = 0; text[next] !== '}' && text[next] !== ']'; index++) {
    let key = `${index}`;
    if (opening === '{') {
      const end = skipValue(text, next);
      key = JSON.parse(text.slice(next, end)) as string;
      next = skipSpace(text, skipSpace(text, end) + 1);
    }
    if (key === name) return find(text, next, rest);
    next = skipSpace(text, skipValue(text, next));
    if (text[next] === ',') next = skipSpace(text, next + 1);
  }
  return at;
}

function skipSpace(text: string, at: number): number {
  let next = at;
  while (/\s/.test(text[next] ?? '')) next++;
  return next;
}

/** The place behind the value that begins at `at`. */
function skipValue(text: string, at: number): number {
  let depth = 0;
  let next = at;
  do {
    const letter = text[next];
    if (letter === '"') {
      next++;
      while (text[next] !== '"') next += text[next] === '\\' ? 2 : 1;
      next++;
    } else if (letter === '{' || letter === '[') {
      depth++;
      next++;
    } else if (letter === '}' || letter === ']') {
      depth--;
      next++;
    } else if (depth === 0) {
      while (next < text.length && !/[\s,\]}]/.test(text[next]!)) next++;
    } else next++;
  } while (depth > 0 && next < text.length);
  return next;
}
