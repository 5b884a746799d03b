// Finds a smaller question and row scopes that still give a wrong answer, by removing one part after another.
import type { Filter } from '../oracle/filters.ts';
import { smallerFilters } from '../oracle/shrink.ts';
import {
  type Aggregate, type Expression, fieldOf, type Group, type Having, isDerived, type Measure, type Measures, operandsOf, readMeasure,
  readOperator, type Sort,
} from './question.ts'; // biome-ignore format: one family
import type { Asked } from './sides.ts';

const MOST_TRIES = 500;

/** `isWrong` answers whether the difference is still there. */
export async function shrink(given: Asked, isWrong: (smaller: Asked) => Promise<boolean>): Promise<Asked> {
  let smallest = given;
  let tries = 0;
  for (let found = true; found && tries < MOST_TRIES; ) {
    found = false;
    for (const each of smaller(smallest)) {
      if (tries++ >= MOST_TRIES) break;
      if (!(await isWrong(each))) continue;
      smallest = each;
      found = true;
      break;
    }
  }
  return smallest;
}

function* smaller(asked: Asked): Generator<Asked> {
  const { question, scopes } = asked;
  if (Object.keys(scopes).length > 0) yield { ...asked, scopes: {} };
  for (const name of Object.keys(scopes)) {
    const { [name]: scope, ...others } = scopes;
    yield { ...asked, scopes: others };
    for (const each of smallerFilters(scope!)) yield { ...asked, scopes: { ...others, [name]: each } as never };
  }
  for (const each of smallerQuestions(question)) yield { ...asked, question: each };
}

function* smallerQuestions(question: Aggregate): Generator<Aggregate> {
  for (const name of ['filters', 'having', 'top', 'compare', 'includeEmpty', 'timezone', 'sort'] as const) {
    const { [name]: left, ...others } = question;
    if (left !== undefined && !(name === 'sort' && question.top)) yield others;
  }
  const { over } = question;
  const named = new Set([...(question.sort ?? []), ...leavesOf(question.having)].flatMap(measureOf));
  for (const measures of smallerMeasures(question.measures, named)) yield { ...question, measures };
  for (const measures of over ? smallerMeasures(over.measures) : [])
    yield { ...question, over: { ...over!, measures } };
  for (const groups of over ? fewerGroups(over.groups) : []) yield { ...question, over: { ...over!, groups } };
  for (const [at] of (question.groups ?? []).entries()) yield withoutGroup(question, at);
  for (const filters of question.filters ? smallerFilters(question.filters) : []) yield { ...question, filters };
  for (const having of question.having ? smallerHaving(question.having) : []) yield { ...question, having };
  for (const [at] of (question.sort ?? []).slice(1).entries())
    yield { ...question, sort: question.sort!.toSpliced(at, 1) };
}

function* fewerGroups(groups: readonly Group[]): Generator<Group[]> {
  if (groups.length > 1) for (const [at] of groups.entries()) yield groups.toSpliced(at, 1);
  for (const [at, group] of groups.entries())
    if (typeof group === 'object') yield groups.toSpliced(at, 1, fieldOf(group));
}

/** The positions of the other groups move. */
function withoutGroup(question: Aggregate, removed: number): Aggregate {
  const moved = (at: number) => (at > removed ? at - 1 : at);
  const sort = question.sort
    ?.filter((each) => !('group' in each) || each.group !== removed)
    .map((each) => ('group' in each ? { ...each, group: moved(each.group) } : each));
  const per = question.top?.per?.filter((at) => at !== removed).map(moved);
  const { sort: _, top: first, groups, ...others } = question;
  const top = sort?.length ? first : undefined;
  return {
    ...others,
    ...(groups!.length > 1 && { groups: groups!.toSpliced(removed, 1) }),
    ...(sort && sort.length > 0 && { sort }),
    ...(top && { top: { n: top.n, ...(per && per.length > 0 && { per }) } }),
  };
}

function* smallerMeasures(measures: Measures, named: ReadonlySet<string> = new Set()): Generator<Measures> {
  const names = Object.keys(measures);
  const used = new Set(Object.values(measures).flatMap(operandsOf));
  for (const name of names) {
    if (names.length === 1 || used.has(name) || named.has(name)) continue;
    const { [name]: _, ...others } = measures;
    yield others;
  }
  for (const [name, measure] of Object.entries(measures))
    for (const each of smallerMeasure(measure)) yield { ...measures, [name]: each };
}

function* smallerMeasure({ where, ...measure }: Measure): Generator<Measure> {
  if (where) {
    yield measure as Measure;
    for (const each of smallerFilters(where as Filter)) yield { ...measure, where: each } as Measure;
  }
  const { operation, argument, fraction } = readMeasure(measure as Measure);
  if (isDerived(measure as Measure) || argument === true) return;
  for (const each of smallerExpressions(argument as Expression))
    yield {
      ...(fraction === undefined ? { [operation]: each } : { percentile: [each, fraction] }),
      ...(where && { where }),
    } as unknown as Measure;
}

function* smallerExpressions(expression: Expression): Generator<Expression> {
  const found = readOperator(expression);
  if (!found) return;
  const { operator, operands, unit } = found;
  if (operator !== 'difference') yield* operands;
  for (const [at, each] of operands.entries())
    for (const smallerOne of smallerExpressions(each)) {
      const replaced = operands.toSpliced(at, 1, smallerOne);
      yield {
        [operator]: operator === 'abs' || operator === 'round' ? replaced[0] : replaced,
        ...(unit && { unit }),
      } as unknown as Expression;
    }
}

const measureOf = (each: Sort | Having): string[] => ('measure' in each ? [each.measure] : []);

function leavesOf(having: Having | undefined): Having[] {
  if (!having) return [];
  return 'aggregator' in having ? having.conditions.flatMap(leavesOf) : [having];
}

function* smallerHaving(having: Having): Generator<Having> {
  if (!('aggregator' in having)) return;
  yield* having.conditions;
  for (const [at] of having.conditions.entries()) yield { ...having, conditions: having.conditions.toSpliced(at, 1) };
}
