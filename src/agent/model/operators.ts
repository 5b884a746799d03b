// One table for the operators: what each takes, on which types it may be used, and how it is said with others where the
// source has no answer of its own. `solveOperators` gives each column its answers, once, at start.
//
// An operator is either decided by the source or said with others; those that depend on the time or are mere words for
// something else (Present, Before, Today...) are always said with others, so that they mean the same on every database.
import type { Operator } from '../../core/filter.ts';
import { operators } from '../../core/filter.ts';
import { type ColumnType, type PrimitiveType, primitiveTypes } from '../sources/source.ts';
import type { Answer, Edge, Moment, Replacement, Rewrite, Said, Takes } from './types.ts';

type Say = (value: unknown, moment: Moment, type: ColumnType) => Said;

interface Way {
  /** Operators that must have an answer on the column. */
  readonly needs: readonly Operator[];
  readonly types?: readonly PrimitiveType[];
  readonly dated?: true;
  readonly say: Say;
}

interface Row {
  readonly takes: Takes;
  readonly types: readonly PrimitiveType[];
  /** Whether it may be used on arrays; not when absent. */
  readonly arrays?: 'too' | 'only';
  /** Whether an answer of the source is taken; true when absent. */
  readonly native?: false;
  /** Answered after reading wherever the source answers anything. */
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

/** From the start inclusive to the end exclusive, so that midnight belongs to exactly one day. */
const between = (from: (moment: Moment, value: number) => Edge, to: (moment: Moment) => Edge): readonly Way[] =>
  dated(['GreaterThanOrEqual', 'LessThan'], (given, moment, type) =>
    and(
      test('GreaterThanOrEqual', value(from(moment, Number(given)), type)),
      test('LessThan', value(to(moment), type)),
    ),
  );
/** A period up to now; for days, today is in it. */
const toDate = (from: (moment: Moment, value: number) => Edge): readonly Way[] =>
  dated(['GreaterThanOrEqual', 'LessThan'], (given, moment, type) =>
    and(
      test('GreaterThanOrEqual', value(from(moment, Number(given)), type)),
      test('LessThan', type === 'Dateonly' ? moment.startOf('day', 1).day : moment.now().instant),
    ),
  );
const relative = (ways: readonly Way[]) =>
  ({ takes: 'nothing', types: days, native: false, ways }) as const satisfies Row;

const rows = {
  Present: {
    takes: 'nothing',
    types: all,
    arrays: 'too',
    native: false,
    ways: [
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
  // Never by the source: sources/pattern.ts says why.
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

/** Of every operator what it takes, on which types it may be used, and whether on arrays: for typings. */
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

/** What customization code says of the operators of one column. */
export interface Patches {
  readonly answers: ReadonlyMap<Operator, 'here' | Replacement>;
  /** Every operator of the type that has no answer otherwise is answered after reading. */
  readonly rest: boolean;
}

/**
 * The answers of a column, in the order of core/filter.ts. A way is taken only when everything it needs has an answer
 * already, so there is no circle; the search ends when a round finds nothing new.
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

/** Code that answers reads an expression itself, in the language that it wants. */
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

/** The operators that may be used on the type. */
export function operatorsFor(type: ColumnType): readonly Operator[] {
  return operators.filter((operator) => allowed(table[operator], type));
}

/** What sources/evaluate.ts has to decide for this operator: itself, or those that it is said with; undefined when it cannot. */
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
