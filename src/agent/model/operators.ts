// The table of operators: the operand of each, its column types, and its rewrite with other operators if the source
// does not support it. `resolveOperators` computes the answers of each column once, at the start. Operators that depend
// on the time or abbreviate others (Present, Before, Today...) are always rewritten, so they mean the same on every
// database.
import { type Operator, operators, type ValuelessOperator } from '../../core/filter.ts';
import { type ColumnType, type PrimitiveType, primitiveTypes } from '../sources/column-types.ts';
import type {
  ColumnCondition,
  DateBound,
  Moment,
  OperandKind,
  OperatorSupport,
  Replacement,
  Rewrite,
} from './types.ts';

type ToCondition = (value: unknown, moment: Moment, type: ColumnType) => ColumnCondition;

interface RewriteRule {
  /** Operators that the column must support. */
  readonly needs: readonly Operator[];
  readonly types?: readonly PrimitiveType[];
  readonly dated?: true;
  readonly toCondition: ToCondition;
}

interface OperatorRow {
  readonly takes: OperandKind;
  readonly types: readonly PrimitiveType[];
  /** Whether it applies to arrays; default: no. */
  readonly arrays?: 'too' | 'only';
  /** Whether the source may evaluate it; default true. */
  readonly native?: false;
  /** Evaluated in memory if the source supports any operator of the column. */
  readonly here?: true;
  readonly rules?: readonly RewriteRule[];
}

/** The list of operators without a value is in core/filter.ts. */
type RowOf<O> = OperatorRow & {
  readonly takes: O extends ValuelessOperator ? 'nothing' : Exclude<OperandKind, 'nothing'>;
};

const all = primitiveTypes;
const comparable = all.filter((type) => type !== 'Json' && type !== 'Point');
const ordered = ['String', 'Number', 'Date', 'Dateonly', 'Time'] as const satisfies readonly PrimitiveType[];
const texts = ['String'] as const satisfies readonly PrimitiveType[];
const days = ['Date', 'Dateonly'] as const satisfies readonly PrimitiveType[];
const instants = ['Date'] as const satisfies readonly PrimitiveType[];

const test = (is: Operator, value: unknown = null): ColumnCondition => ({ op: 'test', is, value });
const not = (of: ColumnCondition): ColumnCondition => ({ op: 'not', of });
const or = (...of: ColumnCondition[]): ColumnCondition => ({ op: 'or', of });
const and = (...of: ColumnCondition[]): ColumnCondition => ({ op: 'and', of });

const escaped = (value: unknown): string => String(value).replace(/[\\%_]/g, '\\$&');
const like = (is: 'Like' | 'ILike', pattern: (text: string) => string): RewriteRule => ({
  needs: [is],
  toCondition: (value) => test(is, pattern(escaped(value))),
});
const negated = (is: Operator): RewriteRule => ({ needs: [is], toCondition: (value) => not(test(is, value)) });

const value = (edge: DateBound, type: ColumnType): string => (type === 'Dateonly' ? edge.day : edge.instant);
const dated = (needs: readonly Operator[], toCondition: ToCondition): readonly RewriteRule[] => [
  { needs, dated: true, toCondition },
];

/** From the start inclusive to the end exclusive, so midnight belongs to exactly one day. */
const between = (
  from: (moment: Moment, value: number) => DateBound,
  to: (moment: Moment) => DateBound,
): readonly RewriteRule[] =>
  dated(['GreaterThanOrEqual', 'LessThan'], (operand, moment, type) =>
    and(
      test('GreaterThanOrEqual', value(from(moment, Number(operand)), type)),
      test('LessThan', value(to(moment), type)),
    ),
  );
/** A period up to now; for days, it includes today. */
const toDate = (from: (moment: Moment, value: number) => DateBound): readonly RewriteRule[] =>
  dated(['GreaterThanOrEqual', 'LessThan'], (operand, moment, type) =>
    and(
      test('GreaterThanOrEqual', value(from(moment, Number(operand)), type)),
      test('LessThan', type === 'Dateonly' ? moment.startOf('day', 1).day : moment.now().instant),
    ),
  );
const relative = (rules: readonly RewriteRule[]) =>
  ({ takes: 'nothing', types: days, native: false, rules }) as const satisfies OperatorRow;

/** Padding collations, the default of MariaDB and MySQL, treat a text of spaces as equal to the empty text. */
const empty = and(test('Equal', ''), test('ShorterThan', 1));

const rows = {
  Present: {
    takes: 'nothing',
    types: all,
    arrays: 'too',
    native: false,
    rules: [
      { needs: ['Missing', 'Equal', 'ShorterThan'], types: texts, toCondition: () => not(or(test('Missing'), empty)) },
      { needs: ['Missing', 'Equal'], types: texts, toCondition: () => not(or(test('Missing'), test('Equal', ''))) },
      { needs: ['Missing'], toCondition: () => not(test('Missing')) },
    ],
  },
  Blank: {
    takes: 'nothing',
    types: all,
    arrays: 'too',
    native: false,
    rules: [
      { needs: ['Missing', 'Equal', 'ShorterThan'], types: texts, toCondition: () => or(test('Missing'), empty) },
      { needs: ['Missing', 'Equal'], types: texts, toCondition: () => or(test('Missing'), test('Equal', '')) },
      { needs: ['Missing'], toCondition: () => test('Missing') },
    ],
  },
  Missing: { takes: 'nothing', types: all, arrays: 'too' },

  Equal: {
    takes: 'value or null',
    types: comparable,
    arrays: 'too',
    rules: [{ needs: ['In'], toCondition: (given) => test('In', [given]) }],
  },
  NotEqual: { takes: 'value or null', types: comparable, arrays: 'too', rules: [negated('Equal')] },
  In: {
    takes: 'values',
    types: comparable,
    rules: [
      { needs: ['Equal'], toCondition: (given) => or(...(given as unknown[]).map((item) => test('Equal', item))) },
    ],
  },
  NotIn: { takes: 'values', types: comparable, rules: [negated('In')] },

  LessThan: { takes: 'value', types: ordered },
  GreaterThan: { takes: 'value', types: ordered },
  LessThanOrEqual: {
    takes: 'value',
    types: ordered,
    rules: [
      { needs: ['LessThan', 'Equal'], toCondition: (given) => or(test('LessThan', given), test('Equal', given)) },
    ],
  },
  GreaterThanOrEqual: {
    takes: 'value',
    types: ordered,
    rules: [
      { needs: ['GreaterThan', 'Equal'], toCondition: (given) => or(test('GreaterThan', given), test('Equal', given)) },
    ],
  },
  Before: {
    takes: 'value',
    types: days,
    native: false,
    rules: [{ needs: ['LessThan'], toCondition: (given) => test('LessThan', given) }],
  },
  After: {
    takes: 'value',
    types: days,
    native: false,
    rules: [{ needs: ['GreaterThan'], toCondition: (given) => test('GreaterThan', given) }],
  },

  Like: { takes: 'pattern', types: texts },
  ILike: { takes: 'pattern', types: texts },
  // Never by the source; agent/sources/pattern.ts explains why.
  Match: { takes: 'expression', types: texts, native: false, here: true },
  Contains: { takes: 'text', types: texts, rules: [like('Like', (text) => `%${text}%`)] },
  NotContains: { takes: 'text', types: texts, rules: [negated('Contains')] },
  IContains: { takes: 'text', types: texts, rules: [like('ILike', (text) => `%${text}%`)] },
  NotIContains: { takes: 'text', types: texts, rules: [negated('IContains')] },
  StartsWith: { takes: 'text', types: texts, rules: [like('Like', (text) => `${text}%`)] },
  EndsWith: { takes: 'text', types: texts, rules: [like('Like', (text) => `%${text}`)] },
  IStartsWith: { takes: 'text', types: texts, rules: [like('ILike', (text) => `${text}%`)] },
  IEndsWith: { takes: 'text', types: texts, rules: [like('ILike', (text) => `%${text}`)] },
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
    rules: between(
      (moment, count) => moment.startOf('day', -count),
      (moment) => moment.startOf('day'),
    ),
  },
  PreviousXDaysToDate: {
    takes: 'days',
    types: days,
    native: false,
    rules: toDate((moment, count) => moment.startOf('day', -count)),
  },
  BeforeXHoursAgo: {
    takes: 'hours',
    types: instants,
    native: false,
    rules: dated(['LessThan'], (given, moment) => test('LessThan', moment.hoursAgo(Number(given)).instant)),
  },
  AfterXHoursAgo: {
    takes: 'hours',
    types: instants,
    native: false,
    rules: dated(['GreaterThan'], (given, moment) => test('GreaterThan', moment.hoursAgo(Number(given)).instant)),
  },
  Past: relative(dated(['LessThan'], (_, moment, type) => test('LessThan', value(moment.now(), type)))),
  Future: relative(dated(['GreaterThan'], (_, moment, type) => test('GreaterThan', value(moment.now(), type)))),
} as const satisfies { readonly [O in Operator]: RowOf<O> };

const operatorTable: { readonly [O in Operator]: OperatorRow } = rows;

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

function appliesTo(row: OperatorRow, type: ColumnType): boolean {
  if (typeof type === 'string') return row.arrays !== 'only' && row.types.includes(type);
  return row.arrays !== undefined && row.types.includes(type[0]);
}

/** The customized operators of one column. */
export interface OperatorPatches {
  readonly replacements: ReadonlyMap<Operator, 'here' | Replacement>;
  /** Evaluate every otherwise unsupported operator of the type in memory. */
  readonly emulatesOthers: boolean;
}

type Supported = ReadonlyMap<Operator, OperatorSupport>;

/** By the operators of the source and the type. Thousands of columns share a few of them. */
const resolved = new WeakMap<ReadonlySet<Operator>, Map<string, Supported>>();

/** The answers of a column, in the order of core/filter.ts. Columns without patches share them. */
export function resolveOperators(
  type: ColumnType,
  native: ReadonlySet<Operator>,
  patches?: OperatorPatches,
): Supported {
  if (patches) return findSupport(type, native, patches);
  const byType = resolved.get(native) ?? new Map<string, Supported>();
  resolved.set(native, byType);
  const key = JSON.stringify(type);
  const known = byType.get(key) ?? findSupport(type, native);
  byType.set(key, known);
  return known;
}

/**
 * A rewrite is used only after all operators it needs have an answer, so there are no cycles. The search ends after a
 * round without changes.
 */
function findSupport(type: ColumnType, native: ReadonlySet<Operator>, patches?: OperatorPatches): Supported {
  const found = new Map<Operator, OperatorSupport>();
  const addSupport = (operator: Operator, by: OperatorSupport['evaluatedBy']) =>
    found.set(operator, Object.freeze({ takes: operandFor(operatorTable[operator], by), evaluatedBy: by }));
  for (const [operator, by] of patches?.replacements ?? []) addSupport(operator, by);
  for (const operator of operators) {
    const row = operatorTable[operator];
    if (!found.has(operator) && appliesTo(row, type) && row.native !== false && native.has(operator))
      addSupport(operator, 'native');
    if (!found.has(operator) && appliesTo(row, type) && row.here && native.size > 0) addSupport(operator, 'here');
  }
  addRewrites(found, type);
  if (patches?.emulatesOthers) {
    for (const operator of operators)
      if (!found.has(operator) && isEvaluatedInMemory(operator) && appliesTo(operatorTable[operator], type))
        addSupport(operator, 'here');
    addRewrites(found, type);
  }
  return new Map(operators.flatMap((operator) => (found.has(operator) ? [[operator, found.get(operator)!]] : [])));
}

/** Code receives an expression as text and interprets it itself. */
function operandFor({ takes }: OperatorRow, by: OperatorSupport['evaluatedBy']): OperandKind {
  return takes === 'expression' && typeof by === 'object' ? 'text' : takes;
}

function addRewrites(found: Map<Operator, OperatorSupport>, type: ColumnType): void {
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const operator of operators) {
      const row = operatorTable[operator];
      if (found.has(operator) || !appliesTo(row, type)) continue;
      const rule = row.rules?.find(
        ({ needs, types }) =>
          needs.every((needed) => found.has(needed)) && (!types || types.some((possible) => possible === type)),
      );
      if (rule) found.set(operator, Object.freeze({ takes: row.takes, evaluatedBy: createRewrite(rule, type) }));
    }
  }
}

/** The operators that apply to the type. */
export function operatorsFor(type: ColumnType): readonly Operator[] {
  return operators.filter((operator) => appliesTo(operatorTable[operator], type));
}

/**
 * The operators that agent/sources/evaluate.ts evaluates for this one: itself, or those of its rewrite; undefined if
 * unsupported.
 */
export function findInMemoryOperators(operator: Operator): readonly Operator[] | undefined {
  if (isEvaluatedInMemory(operator)) return [operator];
  return operatorTable[operator].native === false ? operatorTable[operator].rules?.[0]?.needs : undefined;
}

function isEvaluatedInMemory(operator: Operator): boolean {
  return operatorTable[operator].here === true || operatorTable[operator].native !== false;
}

function createRewrite(rule: RewriteRule, type: ColumnType): Rewrite {
  return Object.freeze({
    dated: rule.dated === true,
    toCondition: (given: unknown, moment: Moment) => rule.toCondition(given, moment, type),
  });
}
