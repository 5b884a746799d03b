// Reads enough of a TypeScript file to check it: removes comments, replaces strings, and lists every import with its
// kind.

export interface Import {
  readonly from: string;
  /** `type` has no effect at run time; `import { type A }` does, since verbatimModuleSyntax keeps the statement. */
  readonly kind: 'value' | 'type' | 'dynamic' | 're-export';
}

export interface SourceText {
  /** Without comments. Every string is replaced with `"n"`, its index in `texts`. */
  readonly code: string;
  readonly texts: readonly string[];
  readonly imports: readonly Import[];
}

export function readSource(source: string): SourceText {
  const { code, texts } = strip(source);
  const imports: Import[] = [];
  const add = (pattern: RegExp, kindOf: (match: RegExpMatchArray) => Import['kind']) => {
    for (const match of code.matchAll(pattern)) {
      imports.push({ from: texts[Number(match.groups?.text)]!, kind: kindOf(match) });
    }
  };
  const names = String.raw`[\w$*{}\s,]+?`;
  add(new RegExp(String.raw`\bimport\s+(?<type>type\s+(?!from\b))?${names}\bfrom\s*"(?<text>\d+)"`, 'g'), (match) =>
    match.groups?.type ? 'type' : 'value',
  );
  add(/\bimport\s*"(?<text>\d+)"/g, () => 'value');
  add(/\bexport\s+(?:type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\})\s*from\s*"(?<text>\d+)"/g, () => 're-export');
  add(/\b(?:import|require|require\.resolve)\s*\(\s*"(?<text>\d+)"/g, () => 'dynamic');
  return { code, texts, imports };
}

/** A template literal is one text per part, and the code inside `${}` is kept. */
function strip(source: string): { code: string; texts: string[] } {
  const texts: string[] = [];
  let code = '';
  let at = 0;
  /** Open braces inside each `${`, innermost last. */
  const templates: number[] = [];

  const keep = (text: string) => {
    code += `"${texts.length}"`;
    texts.push(text);
  };
  const template = () => {
    let text = '';
    while (at < source.length) {
      const char = source[at]!;
      if (char === '\\') {
        text += source.slice(at, at + 2);
        at += 2;
      } else if (char === '`') {
        at++;
        keep(text);
        return;
      } else if (char === '$' && source[at + 1] === '{') {
        at += 2;
        keep(text);
        code += ' + (';
        templates.push(0);
        return;
      } else {
        text += char;
        at++;
      }
    }
  };

  while (at < source.length) {
    const char = source[at]!;
    const pair = source.slice(at, at + 2);
    if (pair === '//') {
      const end = source.indexOf('\n', at);
      at = end < 0 ? source.length : end;
    } else if (pair === '/*') {
      const end = source.indexOf('*/', at + 2);
      at = end < 0 ? source.length : end + 2;
      code += ' ';
    } else if (char === "'" || char === '"') {
      const end = closing(source, at, char);
      keep(source.slice(at + 1, end));
      at = end + 1;
    } else if (char === '`') {
      at++;
      template();
    } else if (char === '/' && startsRegex(code)) {
      const end = closingRegex(source, at);
      keep(source.slice(at, end));
      at = end;
    } else if (char === '}' && templates.at(-1) === 0) {
      templates.pop();
      code += ') + ';
      at++;
      template();
    } else {
      const depth = templates.length - 1;
      if (depth >= 0 && char === '{') templates[depth]!++;
      if (depth >= 0 && char === '}') templates[depth]!--;
      code += char;
      at++;
    }
  }
  return { code, texts };
}

function closing(source: string, start: number, quote: string): number {
  let at = start + 1;
  while (at < source.length && source[at] !== quote) at += source[at] === '\\' ? 2 : 1;
  return at;
}

function closingRegex(source: string, start: number): number {
  let at = start + 1;
  let inClass = false;
  while (at < source.length && (inClass || source[at] !== '/') && source[at] !== '\n') {
    if (source[at] === '\\') at++;
    else if (source[at] === '[') inClass = true;
    else if (source[at] === ']') inClass = false;
    at++;
  }
  at++;
  while (/[a-z]/.test(source[at] ?? '')) at++;
  return at;
}

/** A slash after a value is a division, otherwise it starts a regular expression. */
function startsRegex(code: string): boolean {
  const before = code.trimEnd();
  if (/\b(return|typeof|case|in|of|do|else|await|yield|void|delete)$/.test(before)) return true;
  return before === '' || !/[\w$)\]}"]$/.test(before);
}
