// The SQL of a single test: each operator in each dialect. The caller handles negation (read.ts).
import { fail } from '../../../../core/errors.ts';
import type { Operator } from '../../../../core/filter.ts';
import type { Path } from '../../statement.ts';
import type { Codec, Dialect } from '../codec.ts';
import { globPattern, insensitive, likePattern } from './patterns.ts';
import { kindOf, placeholders } from './shape.ts';

/** One placeholder: its index among the collected values, and the conversion of its value. */
export interface Bind {
  readonly value: number;
  /** The index within a list; the last item repeats to fill all placeholders. */
  readonly item?: number;
  readonly encode: (value: unknown) => unknown;
}

/** The parameters, in the order of the text. */
export function bindValues(binds: readonly Bind[], values: readonly unknown[]): unknown[] {
  return binds.map(({ value, item, encode }) => {
    const given = values[value];
    if (item === undefined) return encode(given);
    const list = given as readonly unknown[];
    return encode(list[Math.min(item, list.length - 1)]);
  });
}

export const FALSE = '1 = 0';

/** These operators are written as the negation of their opposite. */
export const opposites: Partial<Record<Operator, Operator>> = {
  NotEqual: 'Equal',
  NotIn: 'In',
  NotContains: 'Contains',
  NotIContains: 'IContains',
};

export interface Term {
  readonly codec: Codec;
  /** The quoted column. */
  readonly raw: string;
  readonly value: unknown;
  readonly index: number;
  readonly binds: Bind[];
  readonly dialect: Dialect;
}

type WriteTerm = (operator: Operator, term: Term) => { readonly sql: string; readonly seen: string };

const terms: Partial<Record<Operator, WriteTerm>> = {
  Equal: (_, term) => {
    if (term.codec.bits) {
      const own = `(${term.raw} | 0)`;
      return { sql: `${own} = ${bindBits(term)}`, seen: own };
    }
    const seen = compared(term);
    const isList = typeof term.codec.type !== 'string';
    return { sql: `${seen} = ${isList ? bindWholeList(term) : parameter(term)}`, seen };
  },
  In: (_, term) => {
    const seen = compared(term);
    return { sql: writeInList(seen, term), seen };
  },
  LessThan: compare('<'),
  GreaterThan: compare('>'),
  LessThanOrEqual: compare('<='),
  GreaterThanOrEqual: compare('>='),
  Like: writeMatch,
  ILike: writeMatch,
  Contains: writeMatch,
  IContains: writeMatch,
  StartsWith: writeMatch,
  EndsWith: writeMatch,
  IStartsWith: writeMatch,
  IEndsWith: writeMatch,
  LongerThan: measure('>'),
  ShorterThan: measure('<'),
  IncludesAll: (_, term) =>
    term.codec.bits
      ? { sql: `(${term.raw} & ${bindBits(term)}) = ${bindBits(term)}`, seen: term.raw }
      : { sql: `${compared(term)} @> ${bindWholeList(term)}`, seen: term.raw },
  IncludesNone: (_, term) =>
    term.codec.bits
      ? { sql: `(${term.raw} & ${bindBits(term)}) = 0`, seen: term.raw }
      : { sql: `not (${compared(term)} && ${bindWholeList(term)})`, seen: term.raw },
};

/** The SQL to compare for equality. */
const compared = ({ codec, raw, value }: Term): string => codec.equal?.(raw, kindOf(codec, value)) ?? raw;

function compare(sign: string): WriteTerm {
  return (_, term) => {
    const { ranked } = term.codec;
    if (ranked) {
      term.binds.push({ value: term.index, encode: ranked.encode });
      return { sql: `${ranked.column(term.raw)} ${sign} ?`, seen: term.raw };
    }
    const seen = term.codec.ordered?.(term.raw, kindOf(term.codec, term.value)) ?? term.raw;
    const { bounds } = term.codec;
    const encode = sign === '<' || sign === '>=' ? bounds?.least : bounds?.most;
    return { sql: `${seen} ${sign} ${parameter(term, encode)}`, seen };
  };
}

function measure(sign: string): WriteTerm {
  return (_, term) => {
    const text = term.codec.text?.(term.raw) ?? term.raw;
    term.binds.push({ value: term.index, encode: Number });
    const length = term.dialect === 'sqlite' ? 'length' : 'char_length';
    const number = term.dialect === 'postgres' ? '?::numeric' : '?';
    return { sql: `${length}(${text}) ${sign} ${number}`, seen: term.raw };
  };
}

function writeMatch(operator: Operator, term: Term): { sql: string; seen: string } {
  const text = term.codec.text?.(term.raw) ?? term.raw;
  const anyCase = insensitive.has(operator);
  const { sql, encode } = patternOf[term.dialect](operator, text, anyCase);
  const bind = { value: term.index, encode: (value: unknown) => term.codec.encode(encode(value)) };
  term.binds.push(bind);
  if (term.dialect !== 'mysql' || text !== term.raw || (operator !== 'Like' && operator !== 'StartsWith'))
    return { sql, seen: term.raw };
  // The index has the column's collation, and every match is one there too.
  term.binds.push(bind);
  return { sql: `(${term.raw} like ? escape '|' and ${sql})`, seen: term.raw };
}

const patternOf: Record<
  Dialect,
  (operator: Operator, text: string, anyCase: boolean) => { sql: string; encode: (value: unknown) => string }
> = {
  sqlite: (operator, text) =>
    operator === 'Contains'
      ? { sql: `instr(${text}, ?) > 0`, encode: String }
      : { sql: `${text} glob ?`, encode: globPattern(operator) },
  mysql: (operator, text, anyCase) => ({
    sql: anyCase
      ? `lower(${text}) collate utf8mb4_bin like lower(?) escape '|'`
      : `${text} collate utf8mb4_bin like ? escape '|'`,
    encode: likePattern(operator, '|'),
  }),
  postgres: (operator, text, anyCase) => ({
    // With collation "C", ILIKE would ignore case only for ASCII letters.
    sql: anyCase ? `${text} collate "default" ilike ?` : `${text} like ?`,
    encode: likePattern(operator, '\\'),
  }),
};

/** The placeholder of a single value. */
export function parameter({ codec, value, index, binds }: Term, encode = codec.encode): string {
  binds.push({ value: index, encode });
  return codec.parameter?.(kindOf(codec, value)) ?? '?';
}

function writeInList(seen: string, term: Term): string {
  const list = term.value as readonly unknown[];
  const { codec, index, binds, dialect } = term;
  const count = placeholders(list, dialect);
  if (count === 0) return FALSE;
  if (count === 'one') {
    if (dialect === 'postgres') return `${seen} = any(${bindWholeList(term)})`;
    binds.push({ value: index, encode: (all) => jsonList((all as unknown[]).map(codec.encode)) });
    return `${seen} in (select value from json_each(?))`;
  }
  const most = dialect === 'sqlite' ? 16_384 : 32_768;
  if (count > most)
    fail('INVALID_VALUE', { at: 'In', expected: `at most ${most} values`, got: `${list.length} values` });
  if (list.length === 1) {
    binds.push({ value: index, item: 0, encode: codec.encode });
    return `${seen} = ${codec.parameter?.(kindOf(codec, list)) ?? '?'}`;
  }
  const one = codec.parameter?.(kindOf(codec, list)) ?? '?';
  for (let item = 0; item < count; item++) binds.push({ value: index, item, encode: codec.encode });
  return `${seen} in (${Array(count).fill(one).join(', ')})`;
}

/** MySQL: binds the whole list as one number. */
function bindBits({ codec, index, binds }: Term): string {
  binds.push({ value: index, encode: (items) => codec.bits!(Array.isArray(items) ? items : [items]) });
  return 'cast(? as unsigned)';
}

/** PostgreSQL: binds the whole list as one array. */
function bindWholeList({ codec, value, index, binds }: Term): string {
  binds.push({
    value: index,
    encode: (all) => (Array.isArray(all) ? all : [all]).map((item) => (item === null ? null : codec.encode(item))),
  });
  return `?::${codec.list?.(kindOf(codec, value)) ?? 'text'}[]`;
}

function jsonList(items: readonly unknown[]): string {
  return `[${items.map((item) => (typeof item === 'bigint' ? String(item) : JSON.stringify(item))).join(',')}]`;
}

function unsupported(operator: Operator): never {
  throw new Error(`no column of the SQL source supports ${operator}`);
}

/** Writes a test. `seen` is the expression it reads, which is null when the test is unknown. */
export function writeTerm(operator: Operator, term: Term): { readonly sql: string; readonly seen: string } {
  return (terms[operator] ?? unsupported(operator))(operator, term);
}

export function isNullable(path: Path): boolean {
  return path.via.length > 0 || path.field.nullable;
}
