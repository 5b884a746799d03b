// Splits the filter of a list that names columns of the list. The expression of a column takes the place of its name. What
// is about figures of related records becomes a condition on measures, which is decided when each record has its figures.
import { fail } from '../../core/errors.ts';
import type { PlainColumn } from '../../core/filter/columns.ts';
import { mapFieldNames, type PlainExpression } from '../../core/filter/expression.ts';
import {
  comparedNames,
  isBranch,
  isComparison,
  isQuantified,
  MAX_CONDITIONS,
  mapLeaves,
  type Operator,
  type PlainComparison,
  type PlainFilter,
  type PlainLeaf,
  type PlainQuantified,
  readQuantified,
} from '../../core/filter.ts';
import { always, and, join, not } from '../lower/simplify.ts';
import type { Moment } from '../model/types.ts';
import type { Expression, Filter, Path } from '../plan/types.ts';
import { fieldPaths, mapPaths } from '../sources/aggregate/expression.ts';
import type { FigureColumn, ResolvedColumn } from './columns.ts';
import { checkOperator, compareSides, resolveSides } from './comparison.ts';
import { typeOf } from './expression.ts';
import { DEPTH_LIMIT, failTooMany, findOperator } from './filter.ts';
import { testFigure } from './having.ts';
import { resolveName } from './names.ts';
import type { BaseMeasure } from './resolved-measures.ts';
import type { CollectionView } from './visibility.ts';

/** A filter of a list, by what decides it. */
export interface ColumnConditions {
  /** The conditions on fields. */
  readonly filter?: PlainFilter;
  /** The conditions on figures. The id of a path is the index of a measure. */
  readonly having: Filter;
  readonly figures: FigureMeasures;
}

const invalid = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'filter', problem });

/** Throws INVALID_ARGUMENT, OPERATOR_NOT_ALLOWED, INVALID_VALUE and the errors of `resolveName`. */
export function splitConditions(
  view: CollectionView,
  filter: PlainFilter | null | undefined,
  plain: readonly PlainColumn[],
  columns: readonly ResolvedColumn[],
  moment: Moment,
): ColumnConditions {
  const found = new FigureMeasures(view, columns, moment);
  // The resolution of the filter refuses a malformed one.
  if (!filter || plain.length === 0 || !isWellFormed(filter))
    return { ...(filter && { filter }), having: always, figures: found };
  const figures = new Set(columns.flatMap((each) => (each.kind === 'figure' ? [each.name] : [])));
  const expressions = new Map(plain.flatMap((each) => ('expression' in each ? [[each.name, each.expression]] : [])));
  const texts = new Set(
    columns.flatMap((each) => (each.kind === 'expression' && typeOf(each.of) === 'String' ? [each.name] : [])),
  );
  const conditions = conjuncts(
    mapLeaves(filter, (leaf, path) => (path ? leaf : replaceNames(leaf, expressions, texts))),
  );
  const isAboutFigures = (each: PlainFilter) => namesOf(each).some((name) => figures.has(name));
  const rest = conditions.filter((each) => !isAboutFigures(each));
  const having = and(...conditions.filter(isAboutFigures).map((each) => found.resolve(each)));
  const [only, ...others] = rest;
  return {
    ...(only && { filter: others.length === 0 ? only : { aggregator: 'And', conditions: rest } }),
    having,
    figures: found,
  };
}

/** Whether it consists of objects and lists of conditions that are not too deep. Throws INVALID_ARGUMENT for too many. */
function isWellFormed(filter: unknown, depth = 0, counts = { conditions: 0 }): boolean {
  if (typeof filter !== 'object' || filter === null || depth > DEPTH_LIMIT) return false;
  const { aggregator, conditions } = filter as { aggregator?: unknown; conditions?: unknown };
  if (aggregator === undefined) {
    const inner = isQuantified(filter as PlainFilter) ? readQuantified(filter as PlainQuantified).where : undefined;
    if (++counts.conditions > MAX_CONDITIONS) failTooMany();
    return inner === undefined || isWellFormed(inner, depth + 1, counts);
  }
  return Array.isArray(conditions) && conditions.every((each) => isWellFormed(each, depth + 1, counts));
}

/** The parts of an And. */
function conjuncts(filter: PlainFilter): PlainFilter[] {
  const isAnd = isBranch(filter) && /^and$/i.test(String(filter.aggregator)) && Array.isArray(filter.conditions);
  return isAnd && filter.conditions.length > 0 ? filter.conditions.flatMap(conjuncts) : [filter];
}

/** The names outside of `where`, as written. */
function namesOf(filter: PlainFilter): string[] {
  const names: string[] = [];
  mapLeaves(filter, (leaf, path) => {
    if (path === '') names.push(...(isComparison(leaf) ? comparedNames(leaf) : [leaf.field]));
    return leaf;
  });
  return names;
}

/** An expression in place of the name of each column that has one. */
function replaceNames(
  leaf: PlainLeaf | PlainComparison,
  expressions: ReadonlyMap<string, PlainExpression>,
  texts: ReadonlySet<string>,
): PlainFilter {
  const names = isComparison(leaf) ? comparedNames(leaf) : [leaf.field];
  if (!names.some((name) => expressions.has(name))) return leaf;
  const replace = (each: PlainExpression) => mapFieldNames(each, (name) => expressions.get(name) ?? name);
  if (!isComparison(leaf)) return testExpression(replace(leaf.field), leaf, texts.has(leaf.field));
  const { field, expression = field, ...rest } = leaf as { field?: string; expression?: PlainExpression };
  const other = 'other' in leaf && { other: replace(leaf.other) };
  return { ...rest, expression: replace(expression!), ...other } as unknown as PlainComparison;
}

/** A test of one value as comparisons. A value that is not null is equal to itself. */
function testExpression(expression: PlainExpression, { operator, value }: PlainLeaf, isText: boolean): PlainFilter {
  const compare = (is: Operator, operand: unknown): PlainFilter =>
    ({ expression, operator: is, value: operand }) as unknown as PlainComparison;
  const isKnown: PlainFilter = { expression, operator: 'Equal', other: expression };
  const isList = Array.isArray(value) && !value.includes(null);
  switch (operator) {
    case 'Missing':
      return { aggregator: 'Not', conditions: [isKnown] };
    case 'Present':
      // As in other filters, an empty text is not present.
      return isText ? { aggregator: 'And', conditions: [isKnown, compare('NotEqual', '')] } : isKnown;
    case 'In':
      return isList
        ? { aggregator: 'Or', conditions: value.map((each) => compare('Equal', each)) }
        : compare(operator, value);
    case 'NotIn':
      return isList
        ? { aggregator: 'And', conditions: value.map((each) => compare('NotEqual', each)) }
        : compare(operator, value);
    default:
      return compare(operator, value);
  }
}

/** Types whose largest value among one is that value. */
const measurable: ReadonlySet<unknown> = new Set(['Number', 'String', 'Date', 'Dateonly', 'Time']);

/** Collects the measures of the conditions and expressions that it resolves. */
export class FigureMeasures {
  /** In the order of their indexes. */
  readonly measures: BaseMeasure[] = [];
  readonly #view: CollectionView;
  readonly #figures: ReadonlyMap<string, FigureColumn>;
  readonly #moment: Moment;
  readonly #indexed = new Map<Path, Path>();

  constructor(view: CollectionView, columns: readonly ResolvedColumn[], moment: Moment) {
    this.#view = view;
    this.#figures = new Map(columns.flatMap((each) => (each.kind === 'figure' ? [[each.name, each]] : [])));
    this.#moment = moment;
  }

  /** Whether the expression uses figures of related records. */
  isUsedBy(of: Expression): boolean {
    const paths = new Set<unknown>([...this.#figures.values()].map(({ path }) => path));
    return fieldPaths(of).some((path) => paths.has(path));
  }

  /** The expression over the measures. */
  toMeasures(of: Expression): Expression {
    const figures = new Map([...this.#figures.values()].map((figure) => [figure.path, figure]));
    return mapPaths(of, (path) => this.#indexOf(path, figures.get(path)));
  }

  resolve(plain: PlainFilter): Filter {
    if (isBranch(plain)) {
      const aggregator = /^(and|or|not)$/i.exec(String(plain.aggregator))?.[0].toLowerCase();
      if (!aggregator) return invalid("expected {aggregator: 'And', 'Or' or 'Not', conditions: [...]}.");
      const joined = join(
        aggregator === 'or' ? 'or' : 'and',
        plain.conditions.map((each) => this.resolve(each)),
      );
      return aggregator === 'not' ? not(joined) : joined;
    }
    if (isQuantified(plain))
      return invalid(
        'a condition on related records and one on a column of their figures are combined with And, not with Or or Not.',
      );
    return isComparison(plain) ? this.#resolveComparison(plain) : this.#resolveTest(plain);
  }

  #resolveTest({ field, operator, value }: PlainLeaf): Filter {
    const figure = this.#figures.get(field);
    const path = figure?.path ?? this.#ownPath(field, operator);
    const test = { operator: String(operator), operand: value, label: field, at: 'filter', moment: this.#moment };
    return testFigure(this.#indexOf(path, figure), test);
  }

  #resolveComparison(plain: PlainComparison): Filter {
    const operator = findOperator(plain.operator);
    const columnOf = (name: string): Path | undefined => this.#figures.get(name)?.path ?? this.#ownPath(name, operator);
    const [left, right] = resolveSides(this.#view, plain, operator, { moment: this.#moment, columnOf });
    return compareSides([this.toMeasures(left), this.toMeasures(right)], operator, {});
  }

  /** A field of the record, which is a measure of the one record of each group. */
  #ownPath(name: string, operator: unknown): Path {
    const { path } = resolveName(this.#view, name);
    if (!measurable.has(path.field.type))
      invalid(
        `'${name}' is ${JSON.stringify(path.field.type)}, so its condition is combined with those on figures of related records with And only.`,
      );
    checkOperator(this.#view, path, findOperator(String(operator)));
    return path;
  }

  /** The path with the index of its measure as id. */
  #indexOf(path: Path, figure: FigureColumn | undefined): Path {
    let indexed = this.#indexed.get(path);
    if (!indexed) {
      const measure: BaseMeasure = figure?.measure ?? {
        kind: 'base',
        // Not the name of a column.
        name: `\0${path.id}`,
        isShown: true,
        decimals: 10,
        operation: 'Max',
        of: { op: 'field', path },
        isOwn: true,
        at: 'filter',
        column: path.field,
      };
      indexed = { ...path, id: String(this.measures.push(measure) - 1), via: [] };
      this.#indexed.set(path, indexed);
    }
    return indexed;
  }
}
