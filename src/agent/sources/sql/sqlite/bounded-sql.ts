// Writes limits into the SQL of a read: SQLite then counts the rows that it visits and the bytes that it returns, and
// stops at a limit (in-process.ts). The plan stays the same.
//
// COUNT_ROW is the first condition of each SELECT, once for each of its tables, with a column of the table: SQLite then
// calls it in the loop over that table, in whatever order it reads the tables. Of a LEFT JOIN it only sees the rows that
// satisfy ON; bounded-plan.ts requires that there is at most one. ADD_BYTES is in the first result column: SQLite calls
// it before it loads the other columns. octet_length() of a column loads no text or blob.

export const COUNT_ROW = 'portico_count_row';
export const ADD_BYTES = 'portico_add_bytes';

/** The most rows that a bounded statement may visit, of all its tables. */
export const MAX_ROWS = 2000;
/** The most combinations of the values of IN lists: SQLite searches an index for each, also if it finds no row. */
const MAX_SEARCHES = 20_000;

export interface BoundedSql {
  readonly sql: string;
  /** The names of the tables and views that it reads. */
  readonly tables: ReadonlySet<string>;
}

/** A SELECT, or a parenthesis within one. */
interface Level {
  isSelect: boolean;
  /** The tables whose rows count. */
  readonly aliases: string[];
  hasWhere: boolean;
  searches: number;
}

/** These words mean work that rows do not measure, or rows that are not counted. */
const UNBOUNDED = new Set(
  'like glob regexp match collate distinct group having union intersect except over with values'.split(' '),
);
/** A parenthesis follows these words without a function call. */
const BEFORE_PARENTHESIS = new Set('in exists and or not on as from join where when then else case select'.split(' '));

/**
 * Returns undefined if the limits would not bound the statement: it matches text patterns, calls functions, groups, or
 * has many combinations of IN lists. `isLarge[i]`: whether result column `i` may hold a large text or blob.
 */
export function writeBoundedSql(sql: string, isLarge: readonly boolean[]): BoundedSql | undefined {
  const tokens = sql.match(/`(?:[^`]|``)*`|'(?:[^']|'')*'|\w+|\s+|[^\w\s]/g) ?? [];
  const words = tokens.filter((token) => token.trim() !== '');
  const levels: Level[] = [newLevel()];
  const tables = new Set<string>();
  let written = '';
  let at = 0;
  for (const token of tokens) {
    const level = levels.at(-1)!;
    if (token.trim() === '') {
      written += token;
      continue;
    }
    const [before = '', after = ''] = [words[at - 1], words[++at]];
    if (UNBOUNDED.has(token)) return undefined;
    if (token === 'select') level.isSelect = true;
    else if (token === 'or' && level.hasWhere) return undefined;
    else if (/^(?:from|join)$/.test(token) && after.startsWith('`')) {
      tables.add(unquote(after));
      level.aliases.push(words[at + 2] ?? '');
    } else if (token === '(') {
      if (/^\w+$/.test(before) && !BEFORE_PARENTHESIS.has(before)) return undefined;
      if (before === 'in') level.searches *= after === 'select' ? MAX_ROWS : listLength(words, at);
      if (level.searches > MAX_SEARCHES) return undefined;
      levels.push(newLevel());
    }
    const isEnd = token === ')' || token === 'order' || token === 'limit';
    if (isEnd && needsWhere(level)) {
      written = `${written.trimEnd()} where ${countRows(level, words, at)}${token === ')' ? '' : ' '}`;
      level.hasWhere = true;
    }
    written += token;
    if (token === 'where') {
      level.hasWhere = true;
      if (level.aliases.length > 0) written += ` ${countRows(level, words, at)} and`;
    }
    if (token === ')') levels.pop();
  }
  if (needsWhere(levels[0]!)) written += ` where ${countRows(levels[0]!, words, at)}`;
  const bounded = withBytes(written, isLarge);
  return bounded === undefined ? undefined : { sql: bounded, tables };
}

const newLevel = (): Level => ({ isSelect: false, aliases: [], hasWhere: false, searches: 1 });

const needsWhere = ({ isSelect, aliases, hasWhere }: Level): boolean => isSelect && aliases.length > 0 && !hasWhere;

/** Reads of each table a column that the condition reads too, if there is one: an index may have it. */
function countRows({ aliases }: Level, words: readonly string[], where: number): string {
  const columnOf = (alias: string) => {
    const isColumn = (word: string, index: number) => word === alias && words[index + 1] === '.';
    const inCondition = words.findIndex((word, index) => index >= where && isColumn(word, index));
    const found = inCondition >= 0 ? inCondition : words.findIndex(isColumn);
    return `${alias}.${words[found + 2]}`;
  };
  return aliases.map((alias) => `${COUNT_ROW}(octet_length(${columnOf(alias)}))`).join(' and ');
}

const unquote = (name: string): string => name.slice(1, -1).replaceAll('``', '`');

/** The number of values of the list whose first word is at `first`. */
function listLength(words: readonly string[], first: number): number {
  const end = words.indexOf(')', first);
  return words.slice(first, end).filter((word) => word === '?').length;
}

/** The result columns, each a column of a table. */
const resultColumns = /^select ((?:(?:`(?:[^`]|``)*`\.)?`(?:[^`]|``)*`(?:, )?)+) from /;

function withBytes(sql: string, isLarge: readonly boolean[]): string | undefined {
  if (!isLarge.includes(true)) return sql;
  const list = resultColumns.exec(sql)?.[1];
  const columns = list?.match(/`(?:[^`]|``)*`\.`(?:[^`]|``)*`/g);
  if (list === undefined || columns?.length !== isLarge.length) return undefined;
  const bytes = columns.filter((_, at) => isLarge[at]).map((column) => `ifnull(octet_length(${column}), 0)`);
  const [first, ...rest] = columns;
  const counted = `case when ${ADD_BYTES}(${bytes.join(' + ')}) then ${first} end`;
  return `select ${[counted, ...rest].join(', ')}${sql.slice('select '.length + list.length)}`;
}
