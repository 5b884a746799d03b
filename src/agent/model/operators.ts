// The table of operators: the operand of each, its column types, and its rewrite with other operators if the source
// does not support it. `solveOperators` computes the answers of each column once, at the start. Operators that depend
// on the time or abbreviate others (Present, Before, Today...) are always rewritten, so they mean the same on every
// database.
import type { Operator } from '../../core/filter.ts';
import { operators } from '../../core/filter.ts';
import { type ColumnType, type PrimitiveType, primitiveTypes } from '../sources/column-types.ts';
import type { Answer, Edge, Moment, Replacement, Rewrite, Said, Takes } from './types.ts';

type Say = (value: unknown, moment: Moment, type: ColumnType) => Said;

interface Way {
  /** Operators that the column must support. */
  readonly needs: readonly Operator[];
  readonly types?: readonly PrimitiveType[];
  readonly dated?: true;
  readonly say: Say;
}

interface Row {
  readonly takes: Takes;
  readonly types: readonly PrimitiveType[];
  /** Whether it applies to arrays; default: no. */
  readonly arrays?: 'too' | 'only';
  /** Whether the source may evaluate it; default true. */
  readonly native?: false;
  /** Evaluated in memory if the source supports any operator of the column. */
  readonly here?: true;
  readonly ways?: readonly Way[];
}

const all = primitiveTypes;
const comparable = all.filter((type) => type !== 'Json' && type !== 'Point');
const ordered = ['String', 'Number', 'Date', 'Dateonly', 'Time'] as const satisfies readonly PrimitiveType[];
const texts = ['String'] as const satisfies readonly PrimitiveType[];
const days = ['Date', 'Dateonly'] as const satisfies readonly PrimitiveType[];
const instants = ['Date'] as const satisfies readonly PrimitiveType[];

const test = (is: Operator, value: unknown = null): Said => ({ op: 'test', is, value });
const not = (of: Said): Said => ({ op: 'not', of });
const or = (...of: Said[]): Said => ({ op: 'or', of });
const and = (...of: Said[]): Said => ({ op: 'and', of });

const escaped = (value: unknown): string => String(value).replace(/[\\%_]/g, '\\$&');
const like = (is: 'Like' | 'ILike', pattern: (text: string) => string): Way => ({
  needs: [is],
  say: (value) => test(is, pattern(escaped(value))),
});
const negated = (is: Operator): Way => ({ needs: [is], say: (value) => not(test(is, value)) });

const value = (edge: Edge, type: ColumnType): string => (type === 'Dateonly' ? edge.day : edge.instant);
const dated = (needs: readonly Operator[], say: Say): readonly Way[] => [{ needs, dated: true, say }];

/** From the start inclusive to the end exclusive, so midnight belongs to exactly one day. */
const between = (from: (moment: Moment, value: number) => Edge, to: (moment: Moment) => Edge): readonly Way[] =>
  dated(['GreaterThanOrEqual', 'LessThan'], (given, moment, type) =>
    and(
      test('GreaterThanOrEqual', value(from(moment, Number(given)), type)),
      test('LessThan', value(to(moment), type)),
    ),
  );
/** A period up to now; for days, it includes today. */
const toDate = (from: (moment: Moment, value: number) => Edge): readonly Way[] =>
  dated(['GreaterThanOrEqual', 'LessThan'], (given, moment, type) =>
    and(
      test('GreaterThanOrEqual', value(from(moment, Number(given)), type)),
      test('LessThan', type === 'Dateonly' ? moment.startOf('day', 1).day : moment.now().instant),
    ),
  );
const relative = (ways: readonly Way[]) =>
  ({ takes: 'nothing', types: days, native: false, ways }) as const satisfies Row;

/** Padding collations, the default of MariaDB and MySQL, treat a text of spaces as equal to the empty text. */
const empty = and(test('Equal', ''), test('ShorterThan', 1));

const rows = {
  Present: {
    takes: 'nothing',
    types: all,
    arrays: 'too',
    native: false,
    ways: [
      { needs: ['Missing', 'Equal', 'ShorterThan'], types: texts, say: () => not(or(test('Missing'), empty)) },
      { needs: ['Missing', 'Equal'], types: texts, say: () => not(or(test('Missing'), test('Equal', ''))) },
      { needs: ['Missing'], say: () => not(test('Missing')) },
    ],
  },
  Blank: {
    takes: 'nothing',
    types: all,
    arrays: 'too',
    native: false,
    ways: [
      { needs: ['Missing', 'Equal', 'ShorterThan'], types: texts, say: () => or(test('Missing'), empty) },
      { needs: ['Missing', 'Equal'], types: texts, say: () => or(test('Missing'), test('Equal', '')) },
      { needs: ['Missing'], say: () => test('Missing') },
    ],
  },
  Missing: { takes: 'nothing', types: all, arrays: 'too' },

  Equal: {
    takes: 'value or null',
    types: comparable,
    arrays: 'too',
    ways: [{ needs: ['In'], say: (given) => test('In', [given]) }],
  },
  NotEqual: { takes: 'value or null', types: comparable, arrays: 'too', ways: [negated('Equal')] },
  In: {
    takes: 'values',
    types: comparable,
    ways: [{ needs: ['Equal'], say: (given) => or(...(given as unknown[]).map((item) => test('Equal', item))) }],
  },
  NotIn: { takes: 'values', types: comparable, ways: [negated('In')] },

  LessThan: { takes: 'value', types: ordered },
  GreaterThan: { takes: 'value', types: ordered },
  LessThanOrEqual: {
    takes: 'value',
    types: ordered,
    ways: [{ needs: ['LessThan', 'Equal'], say: (given) => or(test('LessThan', given), test('Equal', given)) }],
  },
  GreaterThanOrEqual: {
    takes: 'value',
    types: ordered,
    ways: [{ needs: ['GreaterThan', 'Equal'], say: (given) => or(test('GreaterThan', given), test('Equal', given)) }],
  },
  Before: {
    takes: 'value',
    types: days,
    native: false,
    ways: [{ needs: ['LessThan'], say: (given) => test('LessThan', given) }],
  },
  After: {
    takes: 'value',
    types: days,
    native: false,
    ways: [{ needs: ['GreaterThan'], say: (given) => test('GreaterThan', given) }],
  },

  Like: { takes: 'pattern', types: texts },
  ILike: { takes: 'pattern', types: texts },
  // Never by the source; agent/sources/pattern.ts explains why.
  Match: { takes: 'expression', types: texts, native: false, here: true },
  Contains: { takes: 'text', types: texts, ways: [like('Like', (text) => `%${text}%`)] },
  NotContains: { takes: 'text', types: texts, ways: [negated('Contains')] },
  IContains: { takes: 'text', types: texts, ways: [like('ILike', (text) => `%${text}%`)] },
  NotIContains: { takes: 'text', types: texts, ways: [negated('IContains')] },
  StartsWith: { takes: 'text', types: texts, ways: [like('Like', (text) => `${text}%`)] },
  EndsWith: { takes: 'text', types: texts, ways: [like('Like', (text) => `%${text}`)] },
  IStartsWith: { takes: 'text', types: texts, ways: [like('ILike', (text) => `${text}%`)] },
  IEndsWith: { takes: 'text', types: texts, ways: [like('ILike', (text) => `%${text}`)] },
  LongerThan: { takes: 'length', types: texts },
  ShorterThan: { takes: 'length', types: texts },

  IncludesAll: { takes: 'values', types: comparable, arrays: 'only' },
  IncludesNone: { takes: 'values', types: comparable, arrays: 'only' },

  Today: relative(
    between(
      (moment) => moment.startOf('day'),
      (moment) => moment.startOf('day', 1),
    ),
  ),
  Yesterday: relative(
    between(
      (moment) => moment.startOf('day', -1),
      (moment) => moment.startOf('day'),
    ),
  ),
  ...previous('week', 'PreviousWeek', 'PreviousWeekToDate'),
  ...previous('month', 'PreviousMonth', 'PreviousMonthToDate'),
  ...previous('quarter', 'PreviousQuarter', 'PreviousQuarterToDate'),
  ...previous('year', 'PreviousYear', 'PreviousYearToDate'),
  PreviousXDays: {
    takes: 'days',
    types: days,
    native: false,
    ways: between(
      (moment, count) => moment.startOf('day', -count),
      (moment) => moment.startOf('day'),
    ),
  },
  PreviousXDaysToDate: {
    takes: 'days',
    types: days,
    native: false,
    ways: toDate((moment, count) => moment.startOf('day', -count)),
  },
  BeforeXHoursAgo: {
    takes: 'hours',
    types: instants,
    native: false,
    ways: dated(['LessThan'], (given, moment) => test('LessThan', moment.hoursAgo(Number(given)).instant)),
  },
  AfterXHoursAgo: {
    takes: 'hours',
    types: instants,
    native: false,
    ways: dated(['GreaterThan'], (given, moment) => test('GreaterThan', moment.hoursAgo(Number(given)).instant)),
  },
  Past: relative(dated(['LessThan'], (_, moment, type) => test('LessThan', value(moment.now(), type)))),
  Future: relative(dated(['GreaterThan'], (_, moment, type) => test('GreaterThan', value(moment.now(), type)))),
} as const satisfies { readonly [O in Operator]: Row };

const table: { readonly [O in Operator]: Row } = rows;

/** The operand, types and array support of every operator, for typings. */
export type OperatorRows = {
  readonly [O in Operator]: {
    readonly takes: (typeof rows)[O]['takes'];
    readonly types: (typeof rows)[O]['types'][number];
    readonly arrays: (typeof rows)[O] extends { readonly arrays: infer A } ? A : 'never';
  };
};

function previous<W extends Operator, D extends Operator>(
  unit: 'week' | 'month' | 'quarter' | 'year',
  whole: W,
  running: D,
): { readonly [O in W | D]: ReturnType<typeof relative> } {
  const both = {
    [whole]: relative(
      between(
        (moment) => moment.startOf(unit, -1),
        (moment) => moment.startOf(unit),
      ),
    ),
    [running]: relative(toDate((moment) => moment.startOf(unit))),
  };
  return both as { readonly [O in W | D]: ReturnType<typeof relative> };
}

function allowed(row: Row, type: ColumnType): boolean {
  if (typeof type === 'string') return row.arrays !== 'only' && row.types.includes(type);
  return row.arrays !== undefined && row.types.includes(type[0]);
}

/** The customized operators of one column. */
export interface Patches {
  readonly answers: ReadonlyMap<Operator, 'here' | Replacement>;
  /** Evaluate every otherwise unsupported operator of the type in memory. */
  readonly rest: boolean;
}

/**
 * The answers of a column, in the order of core/filter.ts. A rewrite is used only after all operators it needs have an
 * answer, so there are no cycles. The search ends after a round without changes.
 */
export function solveOperators(
  type: ColumnType,
  native: ReadonlySet<Operator>,
  patches?: Patches,
): ReadonlyMap<Operator, Answer> {
  const found = new Map<Operator, Answer>();
  const answer = (operator: Operator, by: Answer['by']) =>
    found.set(operator, Object.freeze({ takes: takesFor(table[operator], by), by }));
  for (const [operator, by] of patches?.answers ?? []) answer(operator, by);
  for (const operator of operators) {
    const row = table[operator];
    if (!found.has(operator) && allowed(row, type) && row.native !== false && native.has(operator))
      answer(operator, 'native');
    if (!found.has(operator) && allowed(row, type) && row.here && native.size > 0) answer(operator, 'here');
  }
  sayWithOthers(found, type);
  if (patches?.rest) {
    for (const operator of operators)
      if (!found.has(operator) && isDecidedHere(operator) && allowed(table[operator], type)) answer(operator, 'here');
    sayWithOthers(found, type);
  }
  return new Map(operators.flatMap((operator) => (found.has(operator) ? [[operator, found.get(operator)!]] : [])));
}

/** Code receives an expression as text and interprets it itself. */
function takesFor({ takes }: Row, by: Answer['by']): Takes {
  return takes === 'expression' && typeof by === 'object' ? 'text' : takes;
}

function sayWithOthers(found: Map<Operator, Answer>, type: ColumnType): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const operator of operators) {
      const row = table[operator];
      if (found.has(operator) || !allowed(row, type)) continue;
      const way = row.ways?.find(
        ({ needs, types }) =>
          needs.every((needed) => found.has(needed)) && (!types || types.some((possible) => possible === type)),
      );
      if (way) found.set(operator, Object.freeze({ takes: row.takes, by: rewrite(way, type) }));
    }
  }
}

/** The operators that apply to the type. */
export function operatorsFor(type: ColumnType): readonly Operator[] {
  return operators.filter((operator) => allowed(table[operator], type));
}

/**
 * The operators that agent/sources/evaluate.ts evaluates for this one: itself, or those of its rewrite; undefined if
 * unsupported.
 */
export function decidedHere(operator: Operator): readonly Operator[] | undefined {
  if (isDecidedHere(operator)) return [operator];
  return table[operator].native === false ? table[operator].ways?.[0]?.needs : undefined;
}

function isDecidedHere(operator: Operator): boolean {
  return table[operator].here === true || table[operator].native !== false;
}

function rewrite(way: Way, type: ColumnType): Rewrite {
  return Object.freeze({
    dated: way.dated === true,
    say: (given: unknown, moment: Moment) => way.say(given, moment, type),
  });
}
