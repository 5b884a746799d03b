// Resolves what selects and orders the groups of an aggregate: conditions on measures, and the sort.

import { fail } from '../../core/errors.ts';
import type { PlainGroupSort, PlainHaving } from '../../core/filter/measures.ts';
import { MAX_CONDITIONS, MAX_SORTS, type Operator } from '../../core/filter.ts';
import { matchName } from '../../core/suggestions.ts';
import { join, not } from '../lower/simplify.ts';
import type { Column, Moment } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import type { GroupOrder } from '../sources/statement.ts';
import { findOperator, replaceNulls } from './filter.ts';
import { indexOfGroup, type ResolvedGroup } from './groups.ts';
import { columnOfMeasure, failUnknownMeasure, type ResolvedMeasure } from './resolved-measures.ts';
import { checkValue } from './values.ts';

const invalid = (argument: string, problem: string): never => fail('INVALID_ARGUMENT', { argument, problem });

const MAX_DEPTH = 32;
const form = '{"measure":"revenue","operator":"GreaterThan","value":100}';

/** A number that is computed. */
const numberColumn: Column = Object.freeze({
  kind: 'column',
  name: 'number',
  column: 'number',
  type: 'Number',
  nativeType: 'decimal',
  nullable: true,
  readOnly: true,
  required: false,
  isKey: false,
  collation: 'binary',
  operators: new Map(),
  sortable: true,
});

/** How the figures of a measure compare. */
export function figureColumn(measure: ResolvedMeasure, all: readonly ResolvedMeasure[]): Column {
  return columnOfMeasure(measure, all) ?? numberColumn;
}

/** Every test is on a path whose id is the index of a measure. Throws INVALID_ARGUMENT and INVALID_VALUE. */
export function resolveHaving(plain: PlainHaving, measures: readonly ResolvedMeasure[], moment: Moment): Filter {
  let conditions = 0;
  return resolve(plain, 'having', 0);

  function resolve(given: unknown, at: string, depth: number): Filter {
    if (typeof given !== 'object' || given === null || Array.isArray(given) || depth > MAX_DEPTH)
      return invalid(at, `send ${form} or {"aggregator":"And","conditions":[...]}.`);
    const leaf = given as Readonly<Record<string, unknown>>;
    if ('aggregator' in leaf) return resolveBranch(leaf, at, depth);
    if (++conditions > MAX_CONDITIONS) invalid('having', `at most ${MAX_CONDITIONS} conditions.`);
    const other = Object.keys(leaf).find((key) => !['measure', 'operator', 'value'].includes(key));
    if (other !== undefined || typeof leaf.measure !== 'string')
      return invalid(at, `conditions on groups name a measure: ${form}. Use filters for fields.`);
    return resolveTest(leaf.measure, String(leaf.operator), leaf.value, at);
  }

  function resolveBranch(branch: Readonly<Record<string, unknown>>, at: string, depth: number): Filter {
    const aggregator = /^(and|or|not)$/i.exec(String(branch.aggregator))?.[0].toLowerCase();
    if (!aggregator || !Array.isArray(branch.conditions))
      return invalid(at, `send {"aggregator":"And","conditions":[${form}]}, or "Or" or "Not".`);
    const of = branch.conditions.map((each, index) => resolve(each, `${at}.conditions[${index}]`, depth + 1));
    const joined = join(aggregator === 'or' ? 'or' : 'and', of);
    return aggregator === 'not' ? not(joined) : joined;
  }

  function resolveTest(name: string, operator: string, operand: unknown, at: string): Filter {
    const index = indexOfMeasure(name, measures, at);
    const path: Path = { id: String(index), via: [], field: figureColumn(measures[index]!, measures) };
    return testFigure(path, { operator, operand, label: `having ${name}`, at, moment });
  }
}

interface FigureTest {
  readonly operator: string;
  readonly operand: unknown;
  /** For messages about the operand. */
  readonly label: string;
  readonly at: string;
  readonly moment: Moment;
}

/** Throws UNKNOWN_OPERATOR, INVALID_ARGUMENT and INVALID_VALUE. */
export function testFigure(path: Path, { operator, operand, label, at, moment }: FigureTest): Filter {
  const is = findOperator(operator);
  const test = (each: Operator, value: unknown = null): Filter => ({ op: 'test', path, is: each, value });
  const context = { column: path.field, label: `${label} ${is}`, moment, acceptsDays: true };
  switch (is) {
    case 'Missing':
      return test('Missing');
    case 'Present': {
      // As in filters, an empty text is not present.
      const present = not(test('Missing'));
      return path.field.type === 'String' ? join('and', [present, test('NotEqual', '')]) : present;
    }
    case 'Equal':
    case 'NotEqual': {
      const takes = 'value or null';
      return replaceNulls(path, is, { takes }, checkValue(takes, operand, context));
    }
    case 'In':
    case 'NotIn':
      return replaceNulls(path, is, { takes: 'values' }, checkValue('values', operand, context));
    case 'Before':
    case 'After':
      return test(is === 'Before' ? 'LessThan' : 'GreaterThan', checkValue('value', operand, context));
    case 'LessThan':
    case 'LessThanOrEqual':
    case 'GreaterThan':
    case 'GreaterThanOrEqual':
      return test(is, checkValue('value', operand, context));
    default:
      return invalid(
        at,
        `a figure takes Equal, NotEqual, LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual, In, NotIn, Missing and Present, not ${is}.`,
      );
  }
}

function indexOfMeasure(name: string, measures: readonly ResolvedMeasure[], at: string): number {
  const shown = measures.filter(({ isShown }) => isShown).map((measure) => measure.name);
  const found = shown.includes(name) ? name : matchName(name, shown);
  if (found === undefined) return failUnknownMeasure(name, shown, at);
  return measures.findIndex((measure) => measure.isShown && measure.name === found);
}

/** A total order: the requested one, then all groups. Default: the first measure, largest first. */
export function resolveGroupSort(
  sort: readonly PlainGroupSort[] | undefined,
  measures: readonly ResolvedMeasure[],
  groups: readonly ResolvedGroup[],
): GroupOrder[] {
  if (sort !== undefined && (!Array.isArray(sort) || sort.length > MAX_SORTS))
    invalid('sort', `send a list of at most ${MAX_SORTS}: [{"measure":"revenue","ascending":false},{"group":0}].`);
  const order: GroupOrder[] = [];
  const add = (each: GroupOrder) => {
    if (!order.some(({ by, index }) => by === each.by && index === each.index)) order.push(each);
  };
  for (const [at, each] of (sort ?? []).entries()) add(resolveClause(each, measures, groups, `sort[${at}]`));
  if (!sort?.length) add({ by: 'measure', index: 0, ascending: false });
  for (const index of groups.keys()) add({ by: 'group', index, ascending: true });
  return order;
}

function resolveClause(
  given: unknown,
  measures: readonly ResolvedMeasure[],
  groups: readonly ResolvedGroup[],
  at: string,
): GroupOrder {
  const clause = (typeof given === 'object' && given !== null ? given : {}) as Readonly<Record<string, unknown>>;
  const other = Object.keys(clause).find((key) => !['measure', 'group', 'ascending'].includes(key));
  const { measure, group, ascending = true } = clause;
  if (other === undefined && typeof ascending === 'boolean') {
    if (typeof measure === 'string' && group === undefined)
      return { by: 'measure', index: indexOfMeasure(measure, measures, at), ascending };
    if (group !== undefined && measure === undefined)
      return { by: 'group', index: indexOfGroup(group, groups, at), ascending };
  }
  return invalid(at, 'send {"measure":"revenue","ascending":false}, or {"group":0} for the first group.');
}
