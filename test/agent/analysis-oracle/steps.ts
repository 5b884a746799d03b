// What follows the plain measures, in order: ratios and shares, arithmetic, ranks, the order of rows, running totals, the previous period,
// `having`, `top`.
import type { Meaning } from '../oracle/interpreter.ts';
import { test } from '../oracle/operators.ts';
import type { Kind } from '../oracle/world.ts';
import {
  absolute, asFraction, compareFractions, type Exact, exact, type Fraction, isFraction, negative, plus, plusFractions,
  quotientOf, roundFraction, show, sum, times,
} from './exact.ts'; // biome-ignore format: one family
import { type Answer, type Level, markOf, measuresOf } from './level.ts';
import { bounded, compareValues, type Value } from './measures.ts';
import { type Arithmetic, type ColumnKind, decimalsOf, findDate, type Having, orderOf, readArithmetic, readMeasure } from './question.ts'; // biome-ignore format: names
import { shiftBucket } from './times.ts';

interface Line {
  readonly groups: readonly Value[];
  readonly measures: Value[];
  readonly previous: Value[];
}

export function finish(meaning: Meaning, level: Level): Omit<Answer, 'records'> {
  const { question, groupKinds, measureKinds } = level;
  const rounded = (figures: readonly Value[]) => figures.map((value, at) => shown(level, value, at));
  const lines = level.rows.map(
    ({ groups, items }): Line => ({ groups, measures: measuresOf(meaning, level, items), previous: [] }),
  );
  const names = Object.keys(question.measures);
  addRatiosAndShares(meaning, level, names, lines);
  addArithmetic(level, names, lines);
  addRanks(meaning, level, names, lines);
  const sorted = lines.toSorted((a, b) => compareLines(meaning, level, names, a, b));
  addRunning(meaning, level, names, sorted);
  if (question.compare) addPrevious(meaning, level, sorted);
  const having = sorted.filter((line) => !question.having || passes(meaning, level, names, line, question.having));
  const kept = question.top ? topOf(meaning, groupKinds, question.top, having) : having;
  return {
    kinds: [...groupKinds, ...measureKinds, ...(question.compare ? measureKinds : [])],
    rows: kept.map(({ groups, measures, previous }) => [...groups, ...rounded(measures), ...rounded(previous)]),
  };
}

function addRatiosAndShares(meaning: Meaning, level: Level, names: readonly string[], lines: readonly Line[]): void {
  const { question } = level;
  const read = (line: Line, name: string) => line.measures[names.indexOf(name)] as Exact | Fraction | null;
  const all = Object.values(question.measures).map(readMeasure);
  for (const [at, { operation, argument }] of all.entries()) {
    if (operation === 'ratio') {
      const [over, under] = argument as readonly [string, string];
      for (const line of lines) line.measures[at] = divide(read(line, over), read(line, under));
    }
    if (operation === 'share') {
      const { per = [] } = Object.values(question.measures)[at] as { readonly per?: readonly number[] };
      for (const line of lines) {
        const among = lines.filter((other) => isWithin(meaning, level, per, line, other));
        const parts = among.map((other) => read(other, argument as string) as Exact | null);
        line.measures[at] = divide(read(line, argument as string), sum(parts.filter((value) => value !== null)));
      }
    }
  }
}

function addArithmetic({ question }: Level, names: readonly string[], lines: readonly Line[]): void {
  for (const [at, each] of Object.values(question.measures).entries()) {
    const found = readArithmetic(each);
    if (!found) continue;
    for (const line of lines) {
      const values = found.operands.map((operand) =>
        typeof operand === 'number' ? exact(operand) : (line.measures[names.indexOf(operand)] as Number),
      );
      const value = calculate(found.operator, values);
      line.measures[at] = value === null || isFraction(value) ? value : bounded(value);
    }
  }
}

type Number = Exact | Fraction | null;

function calculate(operator: Arithmetic, [a = null, b = null]: readonly Number[]): Number {
  if (operator === 'coalesce') return a ?? b;
  if (a === null) return null;
  const { over, under } = asFraction(a);
  if (operator === 'abs') return isFraction(a) ? { over: absolute(over), under } : absolute(a);
  if (operator === 'round') return roundFraction({ over, under }, 0);
  if (b === null) return null;
  const other = asFraction(b);
  const isQuotient = isFraction(a) || isFraction(b);
  const second: Fraction = operator === 'minus' ? { over: negative(other.over), under: other.under } : other;
  if (operator === 'times')
    return isQuotient ? { over: times(over, other.over), under: times(under, other.under) } : times(a, b as Exact);
  return isQuotient ? plusFractions(a, second) : plus(a as Exact, second.over);
}

/** Whether both have the same values of the groups in `per`. */
function isWithin(meaning: Meaning, { groupKinds }: Level, per: readonly number[], one: Line, other: Line): boolean {
  const kinds = per.map((at) => groupKinds[at]!);
  const mark = ({ groups }: Line) =>
    markOf(
      meaning,
      kinds,
      per.map((at) => groups[at]!),
    );
  return mark(one) === mark(other);
}

/** How many groups have a larger figure, and one more. */
function addRanks(meaning: Meaning, level: Level, names: readonly string[], lines: readonly Line[]) {
  const { question, measureKinds } = level;
  for (const [at, each] of Object.values(question.measures).entries()) {
    if (!('rank' in each)) continue;
    const of = names.indexOf(each.rank);
    const isLarger = (one: Line, other: Line) =>
      isWithin(meaning, level, each.per ?? [], one, other) &&
      compareValues(meaning, one.measures[of]!, other.measures[of]!, measureKinds[of]!) > 0;
    const ranks = lines.map((line) =>
      line.measures[of] === null ? null : exact(1 + lines.filter((other) => isLarger(other, line)).length),
    );
    for (const [row, line] of lines.entries()) line.measures[at] = ranks[row]!;
  }
}

const divide = (over: Exact | Fraction | null, under: Exact | Fraction | null): Fraction | null =>
  over && under ? quotientOf(over, under) : null;

/** Figures are exact until they are shown, or compared with a value in `having`. */
function shown({ question, measureScales }: Level, value: Value, at: number): Value {
  if (!isFraction(value)) return value;
  const isAverage = 'avg' in Object.values(question.measures)[at]!;
  // A source may keep more decimals than it declares.
  return bounded(roundFraction(value, Math.max(measureScales[at]!, isAverage ? decimalsOf(show(value.over)) + 10 : 0)));
}

function compareLines(meaning: Meaning, level: Level, names: readonly string[], a: Line, b: Line): number {
  const { question, groupKinds, measureKinds } = level;
  for (const each of orderOf(question)) {
    const at = 'group' in each ? each.group : names.indexOf(each.measure);
    const difference =
      'group' in each
        ? compareValues(meaning, a.groups[at]!, b.groups[at]!, groupKinds[at]!)
        : compareValues(meaning, a.measures[at]!, b.measures[at]!, measureKinds[at]!);
    if (difference !== 0) return each.ascending === false ? -difference : difference;
  }
  return 0;
}

const addNumbers = (a: Exact | Fraction, b: Exact | Fraction): Exact | Fraction =>
  isFraction(a) || isFraction(b) ? plusFractions(a, b) : plus(a, b);

/** Along the date for each combination of the other groups, or in the order of the answer: of all groups, or the last. */
function addRunning(
  meaning: Meaning,
  { question, groupKinds }: Level,
  names: readonly string[],
  sorted: readonly Line[],
) {
  const along = findDate(groupKinds);
  const compareDates = (a: Line, b: Line) =>
    compareValues(meaning, a.groups[along]!, b.groups[along]!, groupKinds[along]!);
  const ordered = along < 0 ? sorted : sorted.toSorted(compareDates);
  for (const [at, each] of Object.values(question.measures).entries()) {
    const of = 'running' in each ? each.running : 'movingAverage' in each ? each.movingAverage : undefined;
    if (of === undefined) continue;
    const { last = ordered.length } = each as { readonly last?: number };
    const before = new Map<string, Number[]>();
    for (const line of ordered) {
      const mark = along < 0 ? '' : markOf(meaning, groupKinds.toSpliced(along, 1), line.groups.toSpliced(along, 1));
      const list = [...(before.get(mark) ?? []), line.measures[names.indexOf(of)] as Number];
      before.set(mark, list);
      const values = list.slice(-last).filter((value) => value !== null);
      const total = values.length > 0 ? values.reduce(addNumbers) : null;
      line.measures[at] = total && 'movingAverage' in each ? quotientOf(total, exact(values.length)) : total;
    }
  }
}

function addPrevious(meaning: Meaning, { question, groupKinds }: Level, lines: readonly Line[]): void {
  const known = new Map(lines.map((line) => [markOf(meaning, groupKinds, line.groups), line]));
  const groups = question.groups!;
  const at = groups.findIndex((group) => typeof group === 'object' && 'bucket' in group);
  const { bucket } = groups[at] as Extract<(typeof groups)[number], { readonly bucket: unknown }>;
  for (const line of lines) {
    const start = line.groups[at]!;
    const before = start === null ? null : shiftBucket(String(start), bucket, -question.compare!.previous);
    const found = before !== null && known.get(markOf(meaning, groupKinds, line.groups.with(at, before)));
    line.previous.push(...(found ? found.measures : line.measures.map(() => null)));
  }
}

function passes(meaning: Meaning, level: Level, names: readonly string[], line: Line, having: Having): boolean {
  if ('aggregator' in having) {
    const answers = having.conditions.map((each) => passes(meaning, level, names, line, each));
    if (having.aggregator === 'Or') return answers.includes(true);
    return answers.includes(false) === (having.aggregator === 'Not');
  }
  const at = names.indexOf(having.measure);
  return passesLeaf(meaning, shown(level, line.measures[at]!, at), level.measureKinds[at]!, having);
}

const signs: Readonly<Record<string, (order: number) => boolean>> = {
  Equal: (at) => at === 0,
  LessThan: (at) => at < 0,
  LessThanOrEqual: (at) => at <= 0,
  GreaterThan: (at) => at > 0,
  GreaterThanOrEqual: (at) => at >= 0,
};

function passesLeaf(meaning: Meaning, value: Value, kind: Kind, leaf: Extract<Having, { measure: string }>): boolean {
  const moment = { now: meaning.world.now, zone: meaning.zone };
  if (kind !== 'decimal') return test(meaning, moment, value, kind, { ...leaf, field: '' } as never);
  const { operator, value: given } = leaf;
  const again = (other: string, wanted = given) =>
    passesLeaf(meaning, value, kind, { ...leaf, operator: other, value: wanted });
  if (operator === 'NotEqual') return !again('Equal');
  if (operator === 'NotIn') return !again('In');
  if (operator === 'In') return (given as readonly unknown[]).some((each) => again('Equal', each));
  if (operator === 'Present') return value !== null;
  if (operator === 'Missing' || operator === 'Blank' || (operator === 'Equal' && given === null)) return value === null;
  return value !== null && signs[operator]!(compareFractions(value as Exact, exact(given)));
}

/** The first rows, or the first of every combination of the groups `per`. */
function topOf(
  meaning: Meaning,
  kinds: readonly ColumnKind[],
  { n, per = [] }: NonNullable<Level['question']['top']>,
  lines: readonly Line[],
): Line[] {
  const counts = new Map<string, number>();
  return lines.filter(({ groups }) => {
    const mark = markOf(
      meaning,
      per.map((at) => kinds[at]!),
      per.map((at) => groups[at]!),
    );
    counts.set(mark, (counts.get(mark) ?? 0) + 1);
    return counts.get(mark)! <= n;
  });
}
