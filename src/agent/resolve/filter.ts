// Resolves filters to conditions on Paths, with canonical values.
import { fail } from '../../core/errors.ts';
import {
  CONDITIONS_MOST,
  isBranch,
  isQuantified,
  type Operator,
  operators,
  type PlainFilter,
  type PlainLeaf,
  type PlainQuantified,
  readQuantified,
} from '../../core/filter.ts';
import { nearNames } from '../../core/suggestions.ts';
import { always, and, join, never, not, or } from '../lower/simplify.ts';
import type { Answer, Collection, Moment, Relation } from '../model/types.ts';
import type { Filter, Path } from '../plan/types.ts';
import type { Pattern } from '../sources/pattern.ts';
import { findRelation, firstOf, HOPS_LIMIT, onlyShown, presence, resolveName, tooManyHops } from './names.ts';
import { pathTo } from './paths.ts';
import { checkValue } from './values.ts';
import type { View } from './visibility.ts';

const DEPTH_LIMIT = 32;
/**
 * Maximum size of all regular expressions in a filter, as measured by agent/sources/pattern.ts. Parsing them is
 * synchronous.
 */
const EXPRESSIONS_LIMIT = 2000;

/**
 * Returns tests that their columns support, with checked values. Null values become Missing. Throws UNKNOWN_OPERATOR,
 * OPERATOR_NOT_ALLOWED, INVALID_VALUE and the errors of `resolveName`.
 */
export function resolveFilter(view: View, plain: PlainFilter, moment: Moment): Filter {
  return resolveTree(view, plain, { moment, depth: 0, many: 0, counted: { conditions: 0, expressions: 0 } });
}

/** Whether the filter uses a to-many relation. */
export function hasMany(filter: Filter): boolean {
  if (filter.op === 'any') return true;
  if (filter.op === 'not') return hasMany(filter.of);
  return (filter.op === 'and' || filter.op === 'or') && filter.of.some(hasMany);
}

interface Inside {
  readonly moment: Moment;
  readonly depth: number;
  /** Number of enclosing to-many relations. */
  readonly many: number;
  /** Counters for the whole filter. */
  readonly counted: { conditions: number; expressions: number };
}

const malformed = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'filter', problem });
const tooMany = (): never => malformed(`at most ${CONDITIONS_MOST} conditions; In takes many values in one.`);

function resolveTree(view: View, plain: PlainFilter, inside: Inside): Filter {
  const { depth } = inside;
  if (typeof plain !== 'object' || plain === null || depth > DEPTH_LIMIT)
    return malformed(
      `expected {field, operator, value}, {aggregator, conditions} or {some, where}, at most ${DEPTH_LIMIT} deep.`,
    );
  if ((!isBranch(plain) || plain.conditions?.length === 0) && ++inside.counted.conditions > CONDITIONS_MOST) tooMany();
  if (isQuantified(plain)) return resolveQuantified(view, plain, { ...inside, depth: depth + 1 });
  if (!isBranch(plain)) {
    if (!view.names.has(plain.field)) refuseRelation(view, plain);
    return resolveTest(view, plain.field, plain.operator, plain.value, inside);
  }
  const aggregator = /^(and|or|not)$/i.exec(String(plain.aggregator))?.[0].toLowerCase();
  if (!aggregator || !Array.isArray(plain.conditions))
    return malformed("expected {aggregator: 'And', 'Or' or 'Not', conditions: [...]}.");
  const resolved = join(
    aggregator === 'or' ? 'or' : 'and',
    plain.conditions.map((condition) => resolveTree(view, condition, { ...inside, depth: depth + 1 })),
  );
  if (countTests(resolved) > CONDITIONS_MOST) tooMany();
  return aggregator === 'not' ? not(resolved) : resolved;
}

function countTests(filter: Filter): number {
  if (filter.op === 'test') return 1;
  if (filter.op === 'not') return countTests(filter.of);
  if (filter.op === 'any') return Math.max(1, countTests(filter.of));
  return 'of' in filter ? filter.of.reduce((sum, each) => sum + countTests(each), 0) : 0;
}

function resolveQuantified(view: View, plain: PlainQuantified, inside: Inside): Filter {
  const { quantifier, path, where } = readQuantified(plain);
  const other = Object.keys(plain).find((key) => key !== quantifier && key !== 'where');
  if (other !== undefined)
    malformed(`'${other}' cannot stand beside '${quantifier}': expected {${quantifier}, where}.`);
  if (typeof path !== 'string') malformed(`'${quantifier}' takes the name of a relation.`);
  if (quantifier === 'every' && !where)
    malformed(`'every' needs a where: {"every":"${path}","where":{"field":"...","operator":"...","value":"..."}}.`);
  const some = resolveSome(view, path, inside, (related, deeper) => {
    const condition = where ? resolveTree(related, where, deeper) : always;
    return quantifier === 'every' ? not(condition) : condition;
  });
  return quantifier === 'some' ? some : not(some);
}

/**
 * At least one related record satisfies the condition from `of`. Throws RELATION_NEEDED if the path is not a relation.
 */
function resolveSome(view: View, path: string, inside: Inside, of: (view: View, inside: Inside) => Filter): Filter {
  const { sight } = view;
  const via: Relation[] = [];
  let { collection } = view;
  let rest = path;
  for (;;) {
    const relation = findRelation(view, collection, rest);
    const [written, separator] = firstOf(rest);
    if (!relation) return noRelation(view, collection, written);
    if (relation.given) return onlyShown('filter', written);
    rest = rest.slice(written.length + separator.length);
    if (relation.kind === 'many') {
      if (inside.many === HOPS_LIMIT) tooManyHops(path);
      const deeper = { ...inside, many: inside.many + 1 };
      const related = view.other(relation.to);
      const met = rest === '' ? of(related, deeper) : resolveSome(related, rest, deeper, of);
      return { op: 'any', via, relation, of: met, scoped: sight.scoped };
    }
    if (via.length === HOPS_LIMIT) tooManyHops(path);
    via.push(sight.follow(relation));
    collection = relation.to;
    if (rest === '')
      return and(not(missing(presence(view, via))), replant(of(view.other(collection), inside), view.collection, via));
  }
}

/** A filter on a relation itself usually tests whether related records exist. The error shows the correct form. */
function refuseRelation(view: View, { field, operator, value }: PlainLeaf): void {
  const { sight } = view;
  let { collection } = view;
  let rest = field;
  while (typeof rest === 'string' && sight.fields(collection).get(rest)?.kind !== 'column') {
    const relation = findRelation(view, collection, rest);
    if (!relation || relation.given) return;
    const [written, separator] = firstOf(rest);
    rest = rest.slice(written.length + separator.length);
    if (rest === '') {
      const asks = fold(String(operator));
      const none = asks === 'missing' || asks === 'blank' || (asks === 'equal' && value === null);
      const where = none || asks === 'present' ? {} : { where: { field: '...', operator, value } };
      const form = JSON.stringify({ [none ? 'none' : 'some']: field, ...where });
      const told = { collection: collection.name, relation: written, form };
      if (relation.kind === 'many') fail('RELATION_TO_MANY', { ...told, foreign: relation.to.name });
      fail('RELATION_NEEDS_FIELD', { ...told, example: `${field}:...` });
    }
    collection = relation.to;
  }
}

const missing = (path: Path): Filter => ({ op: 'test', path, is: 'Missing', value: null });

function noRelation(view: View, collection: Collection, written: string): never {
  const field = view.sight.fields(collection).get(written);
  if (field?.kind === 'column' && view.sight.sees(collection, field))
    malformed(
      `'${written}' of '${collection.name}' is a field, and some, none and every take a relation. Send {"field":"${written}","operator":...}.`,
    );
  const visible = [...view.sight.fields(collection)].filter(
    ([, each]) => each.kind !== 'column' && view.sight.sees(collection, each),
  );
  const near = nearNames(
    written,
    visible.map(([name]) => name),
  );
  return fail('UNKNOWN_RELATION', { collection: collection.name, relation: written, near });
}

/** The same conditions, with paths that start before the relations `via`. */
export function replant(filter: Filter, home: Collection, via: readonly Relation[]): Filter {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { op: filter.op, of: filter.of.map((each) => replant(each, home, via)) };
    case 'not':
      return { op: 'not', of: replant(filter.of, home, via) };
    case 'test':
      return { ...filter, path: pathTo(home, [...via, ...filter.path.via], filter.path.field) };
    case 'found':
      return { ...filter, own: pathTo(home, [...via, ...filter.own.via], filter.own.field) };
    case 'some': {
      const moved = (paths: readonly Path[]) => paths.map((path) => pathTo(home, [...via, ...path.via], path.field));
      return { ...filter, own: moved(filter.own), ...(filter.after && { after: moved(filter.after) }) };
    }
    case 'any':
      return { ...filter, via: [...via, ...filter.via] };
    default:
      return filter;
  }
}

interface Behind {
  /** The to-one relations up to the collection that has `relation`. */
  readonly via: readonly Relation[];
  /** The first to-many relation of the path. */
  readonly relation: Relation;
  /** The remaining path, from the foreign collection. */
  readonly rest: string;
}

/** Splits a path at its first to-many relation. Undefined for other paths, including invalid ones. */
export function findMany(view: View, text: string): Behind | undefined {
  const { sight } = view;
  const via: Relation[] = [];
  let { collection } = view;
  let rest = text;
  while (typeof rest === 'string' && via.length < HOPS_LIMIT) {
    if (sight.fields(collection).get(rest)?.kind === 'column') return undefined;
    const relation = findRelation(view, collection, rest);
    const [written, separator] = firstOf(rest);
    if (!relation || relation.given || rest === written) return undefined;
    rest = rest.slice(written.length + separator.length);
    if (relation.kind === 'many') return { via, relation, rest };
    via.push(sight.follow(relation));
    collection = relation.to;
  }
  return undefined;
}

function resolveTest(view: View, field: string, operator: string, given: unknown, inside: Inside): Filter {
  const behind = view.names.has(field) ? undefined : findMany(view, field);
  if (behind) {
    const { via, relation, rest } = behind;
    if (inside.many === HOPS_LIMIT) tooManyHops(field);
    const deeper = { ...inside, many: inside.many + 1 };
    const of = resolveTest(view.other(relation.to), rest, operator, given, deeper);
    return { op: 'any', via, relation, of, scoped: view.sight.scoped };
  }
  const { path } = resolveName(view, field);
  if (path.field.made?.external) onlyShown('filter', field);
  const is = findOperator(operator);
  const answer = path.field.operators.get(is) ?? notAllowed(view, path, field, is);
  const value = checkValue(answer.takes, given, {
    column: path.field,
    at: `${field} ${is}`,
    moment: inside.moment,
    days: orders.has(is),
  });
  if (answer.takes === 'expression') {
    inside.counted.expressions += (value as Pattern).size;
    if (inside.counted.expressions > EXPRESSIONS_LIMIT)
      malformed(
        `its regular expressions stand for more than ${EXPRESSIONS_LIMIT} characters together: use fewer, or shorter ones.`,
      );
  }
  return withoutNulls(path, is, answer, value);
}

const orders: ReadonlySet<Operator> = new Set<Operator>([
  'LessThan',
  'GreaterThan',
  'LessThanOrEqual',
  'GreaterThanOrEqual',
  'Before',
  'After',
]);

function notAllowed(view: View, path: Path, field: string, operator: Operator): never {
  return fail('OPERATOR_NOT_ALLOWED', {
    collection: view.collection.name,
    field,
    operator,
    allowed: [...path.field.operators.keys()],
  });
}

/** Replaces null values and empty lists, which sources do not accept, by equivalent conditions. */
function withoutNulls(path: Path, is: Operator, answer: Answer, value: unknown): Filter {
  const test = (operator: Operator, item: unknown = null): Filter => ({ op: 'test', path, is: operator, value: item });
  if (answer.takes === 'value or null' && value === null)
    return is === 'Equal' ? test('Missing') : not(test('Missing'));
  if (answer.takes !== 'values') return test(is, value);
  const items = value as unknown[];
  const present = items.filter((item) => item !== null);
  const missing = present.length < items.length ? test('Missing') : never;
  if (is === 'In') return or(missing, present.length ? test('In', present) : never);
  if (is === 'NotIn') return and(not(missing), present.length ? test('NotIn', present) : always);
  return is === 'IncludesNone' ? or(test('Missing'), test(is, present)) : test(is, present);
}

const fold = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');
const byFolded: ReadonlyMap<string, Operator> = new Map(operators.map((operator) => [fold(operator), operator]));
const exact: ReadonlySet<string> = new Set(operators);

/** Accepts `greater_than` and `greaterThan` for GreaterThan. */
export function findOperator(text: string): Operator {
  if (exact.has(text)) return text as Operator;
  return (
    byFolded.get(fold(String(text))) ??
    fail('UNKNOWN_OPERATOR', { operator: String(text), near: nearNames(String(text), operators) })
  );
}
