// Finds the line of a value in JSON text, to point at errors. The text is known to be valid JSON.

/** Line of the value at `path`, counted from 1. For an absent value, the line of its nearest parent. */
export function findLine(text: string, path: readonly string[]): number {
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

/** Position after the value that begins at `at`. */
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
