// Infers numeric columns of views. SQLite reports no type for a computed column. Without sample rows, the text of the
// view can still show a number: arithmetic, and functions that always return one. All other columns stay unknown.

interface ViewColumns {
  readonly name: string;
  /** Empty for a table, which contributes only its column names. */
  readonly sql: string;
  /** All columns in order; types are inferred for the untyped ones. */
  readonly columns: readonly { readonly name: string; readonly isTyped: boolean }[];
}

/** Returns `["view","column"]` for each untyped column that is certainly a number. */
export function numbersOfViews(views: readonly ViewColumns[]): ReadonlySet<string> {
  const found = new Set<string>();
  const selected = views
    .filter(({ columns, sql }) => sql !== '' && columns.some(({ isTyped }) => !isTyped))
    .map((view) => ({ view, items: selectList(view.sql) }));
  // Repeats until the result is stable, since a view may read another view.
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { view, items } of selected) {
      if (items?.length !== view.columns.length) continue;
      const names = numericNames(
        views.filter((other) => other !== view),
        found,
      );
      for (const [at, { name, isTyped }] of view.columns.entries())
        if (!isTyped && isNumeric(items[at]!, names)) found.add(JSON.stringify([view.name, name]));
    }
  }
  return found;
}

/** The column names that are numeric in every table and view. */
function numericNames(views: readonly ViewColumns[], found: ReadonlySet<string>): ReadonlySet<string> {
  const numeric = new Set<string>();
  const others = new Set<string>();
  for (const view of views)
    for (const { name, isTyped } of view.columns) {
      const isFound = !isTyped && found.has(JSON.stringify([view.name, name]));
      (isFound ? numeric : others).add(name.toLowerCase());
    }
  return new Set([...numeric].filter((name) => !others.has(name)));
}

const numericFunctions =
  /^(?:sum|count|avg|total|round|abs|length|instr|unicode|julianday|row_number|rank|dense_rank|changes)$/;
/** Functions that return one of their arguments. */
const argumentFunctions = /^(?:max|min|coalesce|ifnull|nullif)$/;

/** The tokens of an expression. */
type Tokens = readonly string[];

function isNumeric(tokens: Tokens, names: ReadonlySet<string>): boolean {
  const [first = '', second] = tokens;
  if (tokens.length === 0) return false;
  if (first === '(' && findClosing(tokens, 0) === tokens.length - 1) {
    return tokens[1]?.toLowerCase() !== 'select' && isNumeric(tokens.slice(1, -1), names);
  }
  const outer = withoutParentheses(tokens);
  // Arithmetic gives numbers for any operands. The operators below bind less tightly than arithmetic, or give texts.
  if (
    outer.some((token) => /^(?:\|\||->>?|and|or|not|like|glob|in|is|between|case|=|==|<|>|<=|>=|<>|!=)$/i.test(token))
  )
    return false;
  if (outer.some((token, at) => /^[-*/%]$/.test(token) || (token === '+' && at > 0))) return true;
  if (tokens.length === 1) return /^\d|^\.\d/.test(first) || names.has(nameOf(first));
  if (tokens.length === 3 && second === '.') return names.has(nameOf(tokens[2]!));
  if (second !== '(') return false;
  const end = findClosing(tokens, 1);
  const rest = tokens.slice(end + 1);
  if (rest.length > 0 && !/^(?:over|filter)$/i.test(rest[0]!)) return false;
  const called = first.toLowerCase();
  if (numericFunctions.test(called)) return true;
  const inside = tokens.slice(2, end);
  if (called === 'cast') return /^(?:integer|int|bigint|real|numeric|decimal|double)$/i.test(inside.at(-1) ?? '');
  if (!argumentFunctions.test(called)) return false;
  const parts = splitAtCommas(inside);
  // The second argument of NULLIF does not affect the type.
  return (called === 'nullif' ? parts.slice(0, 1) : parts).every((part) => isNumeric(part, names));
}

/** The items of a view's first SELECT without their aliases; undefined if they cannot be parsed. */
function selectList(sql: string): readonly Tokens[] | undefined {
  const tokens = tokensOf(sql);
  const as = tokens.findIndex((token) => /^as$/i.test(token));
  const named = tokens.slice(0, as);
  if (as < 0 || named.includes('(') || !/^select$/i.test(tokens[as + 1] ?? '')) return undefined;
  let start = as + 2;
  if (/^(?:distinct|all)$/i.test(tokens[start] ?? '')) start++;
  let depth = 0;
  let end = start;
  for (; end < tokens.length; end++) {
    const token = tokens[end]!;
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (depth === 0 && /^(?:from|union|intersect|except)$/i.test(token)) break;
  }
  // Rows of the other SELECTs may have other types.
  if (tokens.slice(end).some((token) => /^(?:union|intersect|except)$/i.test(token))) return undefined;
  const items = splitAtCommas(tokens.slice(start, end));
  if (items.some((item) => item.at(-1) === '*')) return undefined;
  return items.map(withoutAlias);
}

function withoutAlias(item: Tokens): Tokens {
  const as = item.findIndex((token, at) => /^as$/i.test(token) && at === item.length - 2);
  if (as > 0) return item.slice(0, as);
  const last = item.at(-1) ?? '';
  const before = item.at(-2) ?? '';
  const isName = /^[\w"`[]/.test(last) && !/^\d/.test(last);
  return item.length > 1 && isName && (before === ')' || /^[\w"`[\]]/.test(before)) ? item.slice(0, -1) : item;
}

function splitAtCommas(tokens: Tokens): readonly Tokens[] {
  const parts: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === ',' && depth === 0) parts.push([]);
    else parts.at(-1)!.push(token);
  }
  return parts;
}

function withoutParentheses(tokens: Tokens): Tokens {
  let depth = 0;
  return tokens.filter((token) => {
    if (token === '(') depth++;
    const isOuter = depth === 0;
    if (token === ')') depth--;
    return isOuter;
  });
}

function findClosing(tokens: Tokens, open: number): number {
  let depth = 0;
  for (let at = open; at < tokens.length; at++) {
    if (tokens[at] === '(') depth++;
    if (tokens[at] === ')' && --depth === 0) return at;
  }
  return -1;
}

const nameOf = (token: string): string => token.replace(/^["`[]|["`\]]$/g, '').toLowerCase();

/** Splits SQL into names, quoted names, texts, numbers and operators, without comments. */
function tokensOf(sql: string): Tokens {
  const all =
    sql.match(
      /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\d+(?:\.\d*)?(?:e[+-]?\d+)?|[\p{L}_][\p{L}\p{N}_$]*|\|\||->>?|<>|<=|>=|!=|==|[^\s]/giu,
    ) ?? [];
  return all.filter((token) => !/^(?:--|\/\*)/.test(token));
}
