// Resolves filters to conditions on Paths, with canonical values.
import { fail } from '../../core/errors.ts';
import {
  comparedNames,
  isBranch,
  isComparison,
  isQuantified,
  MAX_CONDITIONS,
  mapCompared,
  type Operator,
  operators,
  type PlainComparison,
  type PlainFilter,
  type PlainLeaf,
  type PlainQuantified,
  readQuantified,
} from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';
import { always, and, join, never, not, or } from '../lower/simplify.ts';
import type { Collection, Moment, OperatorSupport, Relation } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import { mapPaths } from '../sources/aggregate/expression.ts';
import type { Pattern } from '../sources/pattern.ts';
import { resolveComparison } from './comparison.ts';
import {
  failOutputOnly,
  failTooManySegments,
  findRelation,
  MAX_PATH_SEGMENTS,
  presencePath,
  resolveName,
  splitFirst,
} from './names.ts';
import { pathTo } from './paths.ts';
import { checkValue } from './values.ts';
import type { CollectionView } from './visibility.ts';

export const DEPTH_LIMIT = 32;
/**
 * Maximum size of all regular expressions in a filter, as measured by agent/sources/pattern.ts. Parsing them is
 * synchronous.
 */
const EXPRESSIONS_LIMIT = 2000;

/**
 * Returns tests that their columns support, with checked values. Null values become Missing. Throws UNKNOWN_OPERATOR,
 * OPERATOR_NOT_ALLOWED, INVALID_VALUE and the errors of `resolveName`.
 */
export function resolveFilter(view: CollectionView, plain: PlainFilter, moment: Moment): Filter {
  return resolveTree(view, plain, { moment, depth: 0, toManyDepth: 0, counts: { conditions: 0, expressions: 0 } });
}

/** Whether the filter uses a to-many relation. */
export function hasToMany(filter: Filter): boolean {
  if (filter.op === 'any') return true;
  if (filter.op === 'not') return hasToMany(filter.of);
  return (filter.op === 'and' || filter.op === 'or') && filter.of.some(hasToMany);
}

interface ResolutionContext {
  readonly moment: Moment;
  readonly depth: number;
  /** Number of enclosing to-many relations. */
  readonly toManyDepth: number;
  /** Counters for the whole filter. */
  readonly counts: { conditions: number; expressions: number };
}

const failMalformed = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'filter', problem });
export const failTooMany = (): never => failMalformed(`at most ${MAX_CONDITIONS} conditions; use In for many values.`);

function resolveTree(view: CollectionView, plain: PlainFilter, context: ResolutionContext): Filter {
  const { depth } = context;
  if (typeof plain !== 'object' || plain === null || depth > DEPTH_LIMIT)
    return failMalformed(
      `expected {field, operator, value}, {aggregator, conditions} or {some, where}, at most ${DEPTH_LIMIT} deep.`,
    );
  if ((!isBranch(plain) || plain.conditions?.length === 0) && ++context.counts.conditions > MAX_CONDITIONS)
    failTooMany();
  if (isQuantified(plain)) return resolveQuantified(view, plain, { ...context, depth: depth + 1 });
  if (isComparison(plain)) return resolveCompared(view, plain, context);
  if (!isBranch(plain)) {
    if (!view.names.has(plain.field)) failOnRelation(view, plain);
    return resolveTest(view, plain.field, plain.operator, plain.value, context);
  }
  const aggregator = /^(and|or|not)$/i.exec(String(plain.aggregator))?.[0].toLowerCase();
  if (!aggregator || !Array.isArray(plain.conditions))
    return failMalformed("expected {aggregator: 'And', 'Or' or 'Not', conditions: [...]}.");
  const resolved = join(
    aggregator === 'or' ? 'or' : 'and',
    plain.conditions.map((condition) => resolveTree(view, condition, { ...context, depth: depth + 1 })),
  );
  if (countTests(resolved) > MAX_CONDITIONS) failTooMany();
  return aggregator === 'not' ? not(resolved) : resolved;
}

function countTests(filter: Filter): number {
  if (filter.op === 'test' || filter.op === 'compare') return 1;
  if (filter.op === 'not') return countTests(filter.of);
  if (filter.op === 'any') return Math.max(1, countTests(filter.of));
  return 'of' in filter ? filter.of.reduce((sum, each) => sum + countTests(each), 0) : 0;
}

function resolveCompared(view: CollectionView, plain: PlainComparison, context: ResolutionContext): Filter {
  for (const name of comparedNames(plain)) {
    const behind = view.names.has(name) ? undefined : findToMany(view, name);
    if (behind) failBehindToMany(view, plain, name, behind);
  }
  // A field beside a constant is an ordinary condition, which can use an index.
  if ('value' in plain && 'expression' in plain && typeof plain.expression === 'string' && !('other' in plain))
    return resolveTest(view, plain.expression, plain.operator, plain.value, context);
  return resolveComparison(view, plain, findOperator(plain.operator), context.moment);
}

/** Names of other records cannot be compared with those of this one. The error shows the form that can be meant. */
function failBehindToMany(
  view: CollectionView,
  plain: PlainComparison,
  name: string,
  { via, relation, rest }: ToManySplit,
): never {
  const path = name.slice(0, name.length - rest.length).replace(/(?::|@@@)$/, '');
  const isBehind = (each: string) => each.startsWith(path) && /^(?::|@@@)/.test(each.slice(path.length));
  const where = comparedNames(plain).every(isBehind)
    ? mapCompared(plain, (each) => each.slice(path.length).replace(/^(?::|@@@)/, ''))
    : { field: '...', operator: '...', other: '...' };
  return fail('RELATION_TO_MANY', {
    collection: (via.at(-1)?.to ?? view.collection).name,
    relation: relation.name,
    foreign: relation.to.name,
    form: JSON.stringify({ some: path, where }),
  });
}

function resolveQuantified(view: CollectionView, plain: PlainQuantified, context: ResolutionContext): Filter {
  const { quantifier, path, where } = readQuantified(plain);
  const other = Object.keys(plain).find((key) => key !== quantifier && key !== 'where');
  if (other !== undefined)
    failMalformed(`'${other}' cannot be used with '${quantifier}': expected {${quantifier}, where}.`);
  if (typeof path !== 'string') failMalformed(`'${quantifier}' takes the name of a relation.`);
  if (quantifier === 'every' && !where)
    failMalformed(`'every' needs a where: {"every":"${path}","where":{"field":"...","operator":"...","value":"..."}}.`);
  const some = resolveSome(view, path, context, (related, deeper) => {
    const condition = where ? resolveTree(related, where, deeper) : always;
    return quantifier === 'every' ? not(condition) : condition;
  });
  return quantifier === 'some' ? some : not(some);
}

/**
 * At least one related record satisfies the condition from `of`. Throws RELATION_NEEDED if the path is not a relation.
 */
function resolveSome(
  view: CollectionView,
  path: string,
  context: ResolutionContext,
  of: (view: CollectionView, context: ResolutionContext) => Filter,
): Filter {
  const { visibility } = view;
  const via: Relation[] = [];
  let { collection } = view;
  let rest = path;
  for (;;) {
    const relation = findRelation(view, collection, rest);
    const [written, separator] = splitFirst(rest);
    if (!relation) return failNotRelation(view, collection, written);
    if (relation.recordsColumn) return failOutputOnly('filter', written);
    rest = rest.slice(written.length + separator.length);
    if (relation.kind === 'many') {
      if (context.toManyDepth === MAX_PATH_SEGMENTS) failTooManySegments(path);
      const deeper = { ...context, toManyDepth: context.toManyDepth + 1 };
      const related = view.forCollection(relation.to);
      const met = rest === '' ? of(related, deeper) : resolveSome(related, rest, deeper, of);
      return { op: 'any', via, relation, of: met, scoped: visibility.scoped };
    }
    if (via.length === MAX_PATH_SEGMENTS) failTooManySegments(path);
    via.push(visibility.relationToJoin(relation));
    collection = relation.to;
    if (rest === '')
      return and(
        not(isMissing(presencePath(view, via))),
        prependRelations(of(view.forCollection(collection), context), view.collection, via),
      );
  }
}

/** A filter on a relation itself usually tests whether related records exist. The error shows the correct form. */
function failOnRelation(view: CollectionView, { field, operator, value }: PlainLeaf): void {
  const { visibility } = view;
  let { collection } = view;
  let rest = field;
  while (typeof rest === 'string' && visibility.fields(collection).get(rest)?.kind !== 'column') {
    const relation = findRelation(view, collection, rest);
    if (!relation || relation.recordsColumn) return;
    const [written, separator] = splitFirst(rest);
    rest = rest.slice(written.length + separator.length);
    if (rest === '') {
      const folded = fold(String(operator));
      const none = folded === 'missing' || folded === 'blank' || (folded === 'equal' && value === null);
      const where = none || folded === 'present' ? {} : { where: { field: '...', operator, value } };
      const form = JSON.stringify({ [none ? 'none' : 'some']: field, ...where });
      const args = { collection: collection.name, relation: written, form };
      if (relation.kind === 'many') fail('RELATION_TO_MANY', { ...args, foreign: relation.to.name });
      fail('RELATION_NEEDS_FIELD', { ...args, example: `${field}:...` });
    }
    collection = relation.to;
  }
}

const isMissing = (path: Path): Filter => ({ op: 'test', path, is: 'Missing', value: null });

function failNotRelation(view: CollectionView, collection: Collection, written: string): never {
  const field = view.visibility.fields(collection).get(written);
  if (field?.kind === 'column' && view.visibility.canSee(collection, field))
    failMalformed(
      `'${written}' of '${collection.name}' is a field, but some, none and every take a relation. Send {"field":"${written}","operator":...}.`,
    );
  const visible = [...view.visibility.fields(collection)].filter(
    ([, each]) => each.kind !== 'column' && view.visibility.canSee(collection, each),
  );
  const near = suggestNames(
    written,
    visible.map(([name]) => name),
  );
  return fail('UNKNOWN_RELATION', { collection: collection.name, relation: written, near });
}

/** The same conditions, with paths that start before the relations `via`. */
export function prependRelations(filter: Filter, home: Collection, via: readonly Relation[]): Filter {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map((each) => prependRelations(each, home, via)) };
    case 'not':
      return { op: 'not', of: prependRelations(filter.of, home, via) };
    case 'test':
      return { ...filter, path: pathTo(home, [...via, ...filter.path.via], filter.path.field) };
    case 'compare': {
      const move = (path: Path) => pathTo(home, [...via, ...path.via], path.field);
      return { ...filter, left: mapPaths(filter.left, move), right: mapPaths(filter.right, move) };
    }
    case 'found':
      return { ...filter, own: pathTo(home, [...via, ...filter.own.via], filter.own.field) };
    case 'some': {
      const movePaths = (paths: readonly Path[]) =>
        paths.map((path) => pathTo(home, [...via, ...path.via], path.field));
      return { ...filter, own: movePaths(filter.own), ...(filter.after && { after: movePaths(filter.after) }) };
    }
    case 'any':
      return { ...filter, via: [...via, ...filter.via] };
    default:
      return filter;
  }
}

export interface ToManySplit {
  /** The to-one relations up to the collection that has `relation`. */
  readonly via: readonly Relation[];
  /** The first to-many relation of the path. */
  readonly relation: Relation;
  /** The path leads through two, and `relation` is both: this one leads from its records to those that have its keys. */
  readonly back?: Relation;
  /** The remaining path, from the foreign collection. */
  readonly rest: string;
}

/** Splits a path at its first to-many relation. Undefined for other paths, including invalid ones. */
export function findToMany(view: CollectionView, text: string): ToManySplit | undefined {
  const { visibility } = view;
  const via: Relation[] = [];
  let { collection } = view;
  let rest = text;
  while (typeof rest === 'string' && via.length < MAX_PATH_SEGMENTS) {
    if (visibility.fields(collection).get(rest)?.kind === 'column') return undefined;
    const relation = findRelation(view, collection, rest);
    const [written, separator] = splitFirst(rest);
    if (!relation || relation.recordsColumn || rest === written) return undefined;
    rest = rest.slice(written.length + separator.length);
    if (relation.kind === 'many') return { via, relation, rest };
    via.push(visibility.relationToJoin(relation));
    collection = relation.to;
  }
  return undefined;
}

function resolveTest(
  view: CollectionView,
  field: string,
  operator: string,
  operand: unknown,
  context: ResolutionContext,
): Filter {
  const behind = view.names.has(field) ? undefined : findToMany(view, field);
  if (behind) {
    const { via, relation, rest } = behind;
    if (context.toManyDepth === MAX_PATH_SEGMENTS) failTooManySegments(field);
    const deeper = { ...context, toManyDepth: context.toManyDepth + 1 };
    const of = resolveTest(view.forCollection(relation.to), rest, operator, operand, deeper);
    return { op: 'any', via, relation, of, scoped: view.visibility.scoped };
  }
  const { path } = resolveName(view, field);
  if (path.field.computedFrom?.external) failOutputOnly('filter', field);
  const is = findOperator(operator);
  const support = path.field.operators.get(is) ?? failNotAllowed(view, path, field, is);
  const value = checkValue(support.takes, operand, {
    column: path.field,
    label: `${field} ${is}`,
    moment: context.moment,
    acceptsDays: orderOperators.has(is),
  });
  if (support.takes === 'expression') {
    context.counts.expressions += (value as Pattern).size;
    if (context.counts.expressions > EXPRESSIONS_LIMIT)
      failMalformed(
        `its regular expressions expand to more than ${EXPRESSIONS_LIMIT} characters together: use fewer, or shorter ones.`,
      );
  }
  return replaceNulls(path, is, support, value);
}

const orderOperators: ReadonlySet<Operator> = new Set<Operator>([
  'LessThan',
  'GreaterThan',
  'LessThanOrEqual',
  'GreaterThanOrEqual',
  'Before',
  'After',
]);

function failNotAllowed(view: CollectionView, path: Path, field: string, operator: Operator): never {
  return fail('OPERATOR_NOT_ALLOWED', {
    collection: view.collection.name,
    field,
    operator,
    allowed: [...path.field.operators.keys()],
  });
}

/** Replaces null values and empty lists, which sources do not accept, by equivalent conditions. */
export function replaceNulls(
  path: Path,
  is: Operator,
  support: Pick<OperatorSupport, 'takes'>,
  value: unknown,
): Filter {
  const test = (operator: Operator, item: unknown = null): Filter => ({ op: 'test', path, is: operator, value: item });
  if (support.takes === 'value or null' && value === null)
    return is === 'Equal' ? test('Missing') : not(test('Missing'));
  if (support.takes !== 'values') return test(is, value);
  const items = value as unknown[];
  const present = items.filter((item) => item !== null);
  const missing = present.length < items.length ? test('Missing') : never;
  if (is === 'In') return or(missing, present.length ? test('In', present) : never);
  if (is === 'NotIn') return and(not(missing), present.length ? test('NotIn', present) : always);
  return is === 'IncludesNone' ? or(test('Missing'), test(is, present)) : test(is, present);
}

const fold = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');
const operatorsByFoldedName: ReadonlyMap<string, Operator> = new Map(
  operators.map((operator) => [fold(operator), operator]),
);
const operatorNames: ReadonlySet<string> = new Set(operators);

/** Accepts `greater_than` and `greaterThan` for GreaterThan. */
export function findOperator(text: string): Operator {
  if (operatorNames.has(text)) return text as Operator;
  return (
    operatorsByFoldedName.get(fold(String(text))) ??
    fail('UNKNOWN_OPERATOR', { operator: String(text), near: suggestNames(String(text), operators) })
  );
}
