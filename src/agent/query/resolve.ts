// Names become Paths, and values the canonical values of their columns. The only place that says a name is unknown.
import { fail } from '../../core/errors.ts';
import { isBranch, type Operator, operators, type PlainFilter, type PlainSort } from '../../core/filter.ts';
import { nearNames } from '../../core/near.ts';
import type { Answer, Collection, Column, Moment, Relation, Route } from '../model/types.ts';
import { pathTo } from './paths.ts';
import { always, and, join, never, not, or } from './simplify.ts';
import type { Filter, Hop, Named, Order, Path } from './types.ts';
import { checkValue } from './values.ts';
import type { View } from './view.ts';

const HOPS_LIMIT = 8;
const DEPTH_LIMIT = 32;
/** SQLite takes no expression deeper than 1,000, and every condition beside another adds one. */
const CONDITIONS_LIMIT = 500;
const NAMES_KEPT = 2_000;

/** UNKNOWN_FIELD, RELATION_NEEDS_FIELD, RELATION_TO_MANY. */
export function resolveName(view: View, text: string): Named {
  const known = view.names.get(text);
  if (known) return known;
  if (typeof text !== 'string')
    fail('INVALID_ARGUMENT', { argument: 'field', problem: 'expected the name of a field.' });
  const named = findName(view, text);
  if (view.names.size >= NAMES_KEPT) view.names.clear();
  view.names.set(text, named);
  return named;
}

/** `@@@` is read as `:`, unless it is in the name of a flattened field. */
function findName(view: View, text: string): Named {
  const { sight, collection: home } = view;
  const via: Relation[] = [];
  const through: Hop[] = [];
  let collection = home;
  let rest = text;
  for (;;) {
    const field = sight.fields(collection).get(rest);
    if (field?.kind === 'column' && sight.sees(collection, field)) {
      const path = field.route
        ? routePath(view, via, field.route)
        : (ownColumn(view, via, field) ?? pathTo(home, via, field));
      return Object.freeze({ name: writtenName(through, rest), path, through: Object.freeze(through), leaf: rest });
    }
    const relation = findRelation(view, collection, rest);
    if (!relation) return unknownField(view, collection, rest);
    if (relation.given) return givenRecords(view, via, through, rest, relation.given);
    if (relation.kind === 'many')
      return fail('RELATION_TO_MANY', {
        collection: collection.name,
        relation: relation.name,
        foreign: relation.to.name,
      });
    // As written: code may call the relation otherwise than callers do.
    const [written, separator] = firstOf(rest);
    if (rest === written) return relationAlone(view, collection, relation, written);
    if (via.length === HOPS_LIMIT) return tooManyHops(text);
    via.push(sight.follow(relation));
    through.push(Object.freeze({ name: written, present: presence(view, via) }));
    rest = rest.slice(written.length + separator.length);
    collection = relation.to;
  }
}

interface Behind {
  /** To one each, up to the collection that has the relation. */
  readonly via: readonly Relation[];
  /** The first of the path that leads to many. */
  readonly relation: Relation;
  /** A path from the foreign collection. */
  readonly rest: string;
}

/** A path through a relation to many, cut there; undefined for every other, also one that is wrong. */
function findMany(view: View, text: string): Behind | undefined {
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

function tooManyHops(argument: string): never {
  return fail('INVALID_ARGUMENT', { argument, problem: `at most ${HOPS_LIMIT} relations can be followed.` });
}

/** All records of a relation that code gives, as one value. */
function givenRecords(
  { collection }: View,
  via: readonly Relation[],
  through: readonly Hop[],
  rest: string,
  given: Column,
): Named {
  const name = writtenName(through, rest);
  const [leaf] = firstOf(rest);
  if (leaf === rest)
    return Object.freeze({ name, path: pathTo(collection, via, given), through: Object.freeze([...through]), leaf });
  return fail('INVALID_ARGUMENT', {
    argument: name,
    problem: `'${leaf}' is given by code: ask for '${leaf}' whole, or list it from one record.`,
  });
}

/** Where an imported field comes from. */
function routePath(view: View, via: readonly Relation[], route: Route): Path {
  const all = [...via, ...route.via.map((relation) => view.sight.follow(relation))];
  return ownColumn(view, all, route.field) ?? pathTo(view.collection, all, route.field);
}

function writtenName(through: readonly Hop[], leaf: string): string {
  return [...through.map((hop) => hop.name), leaf].join(':');
}

/** The first name of a path, and what stands behind it. */
export function firstOf(text: string): readonly [name: string, separator: string] {
  const [separator = '', index = text.length] = ((found) => [found?.[0], found?.index])(/:|@@@/.exec(text));
  return [text.slice(0, index), separator];
}

/** The relation at the start of the text. */
function findRelation(view: View, collection: Collection, text: string): Relation | undefined {
  const field = view.sight.fields(collection).get(firstOf(text)[0]);
  return field && field.kind !== 'column' && view.sight.sees(collection, field) ? field : undefined;
}

/**
 * The own foreign key, when `field` is the key that it points to: the value is the same, and nothing has to be joined
 * (an enforced foreign key points to a record).
 * Not where rows are withheld, since a withheld row must look missing; not for a part of a composite key of which
 * another part may be null, since then nothing is related; not where the database may take two texts for the same.
 */
function ownColumn(view: View, via: readonly Relation[], field: Column): Path | undefined {
  const last = via.at(-1);
  if (!last?.enforced || last.inverse || view.sight.withholds(last.to)) return undefined;
  const pair = last.on.find(({ to }) => to === field);
  if (!pair || pair.from.type !== field.type) return undefined;
  if (field.type === 'String' && (field.collation !== 'binary' || pair.from.collation !== 'binary')) return undefined;
  if (last.on.some(({ from }) => from !== pair.from && from.nullable)) return undefined;
  return pathTo(view.collection, via.slice(0, -1), pair.from);
}

/** A column that is null exactly when the last relation has no record. */
function presence(view: View, via: readonly Relation[]): Path {
  const { to } = via.at(-1)!.on[0]!;
  return ownColumn(view, via, to) ?? pathTo(view.collection, via, to);
}

function unknownField(view: View, collection: Collection, text: string): never {
  const visible = [...view.sight.fields(collection)].filter(([, field]) => view.sight.sees(collection, field));
  const [first] = firstOf(text);
  const near = nearNames(
    first,
    visible.map(([name]) => name),
  );
  return fail('UNKNOWN_FIELD', { collection: collection.name, field: text, near });
}

function relationAlone(view: View, collection: Collection, relation: Relation, written: string): never {
  const column = [...view.sight.fields(relation.to)].find(
    ([, field]) => field.kind === 'column' && view.sight.sees(relation.to, field),
  );
  return fail('RELATION_NEEDS_FIELD', {
    collection: collection.name,
    relation: written,
    example: `${written}:${column?.[0] ?? '...'}`,
  });
}

/** FIELD_NOT_SORTABLE besides the errors of names. A field that comes twice counts once. */
export function resolveSort(view: View, sorts: readonly PlainSort[]): Order[] {
  const order: Order[] = [];
  for (const { field, ascending = true } of sorts) {
    const { path } = resolveName(view, field);
    if (path.field.made?.external) onlyShown('sort', field);
    if (!path.field.sortable)
      fail('FIELD_NOT_SORTABLE', {
        collection: view.collection.name,
        field,
        sortable: view.columns.filter((column) => column.sortable).map((column) => column.name),
      });
    for (const each of expandOrder(view, { path, ascending }))
      if (!order.some((other) => other.path.id === each.path.id)) order.push(each);
  }
  return order;
}

/** A field that is sorted by others gives way to them; the start has seen that there is no circle. */
function expandOrder(view: View, order: Order): Order[] {
  const { path, ascending } = order;
  const by = path.field.order;
  if (typeof by !== 'object') return [order];
  return by.flatMap((clause) =>
    expandOrder(view, {
      path: insidePath(view, path.via, clause.field),
      ascending: (clause.ascending ?? true) === ascending,
    }),
  );
}

/** An inside name of the collection that the relations lead to. */
function insidePath(view: View, via: readonly Relation[], text: string): Path {
  const collection = via.at(-1)?.to ?? view.collection;
  const { path } = resolveName(view.inside(collection), text);
  return via.length ? pathTo(view.collection, [...via, ...path.via], path.field) : path;
}

/**
 * Every test is one that the column offers, with a checked value; null among the values has become Missing. UNKNOWN_OPERATOR,
 * OPERATOR_NOT_ALLOWED, INVALID_VALUE besides the errors of names.
 */
export function resolveFilter(view: View, plain: PlainFilter, moment: Moment, depth = 0): Filter {
  if (typeof plain !== 'object' || plain === null || depth > DEPTH_LIMIT)
    return fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `expected {field, operator, value} or {aggregator, conditions}, at most ${DEPTH_LIMIT} deep.`,
    });
  if (!isBranch(plain)) return resolveTest(view, plain.field, plain.operator, plain.value, moment);
  const aggregator = /^(and|or)$/i.exec(String(plain.aggregator))?.[0].toLowerCase();
  if (!aggregator || !Array.isArray(plain.conditions))
    return fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: "expected {aggregator: 'And' or 'Or', conditions: [...]}.",
    });
  const resolved = join(
    aggregator === 'and' ? 'and' : 'or',
    plain.conditions
      .slice(0, CONDITIONS_LIMIT + 1)
      .map((condition) => resolveFilter(view, condition, moment, depth + 1)),
  );
  if (countTests(resolved) > CONDITIONS_LIMIT)
    return fail('INVALID_ARGUMENT', {
      argument: 'filter',
      problem: `at most ${CONDITIONS_LIMIT} conditions; In takes many values in one.`,
    });
  return resolved;
}

function countTests(filter: Filter): number {
  if (filter.op === 'test') return 1;
  if (filter.op === 'not' || filter.op === 'any') return countTests(filter.of);
  return 'of' in filter ? filter.of.reduce((sum, each) => sum + countTests(each), 0) : 0;
}

function resolveTest(view: View, field: string, operator: string, given: unknown, moment: Moment, many = 0): Filter {
  const behind = view.names.has(field) ? undefined : findMany(view, field);
  if (behind) {
    const { via, relation, rest } = behind;
    if (many === HOPS_LIMIT) tooManyHops(field);
    const of = resolveTest(view.other(relation.to), rest, operator, given, moment, many + 1);
    return { op: 'any', via, relation, of, scoped: view.sight.scoped };
  }
  const { path } = resolveName(view, field);
  if (path.field.made?.external) onlyShown('filter', field);
  const is = findOperator(operator);
  const answer = path.field.operators.get(is) ?? notAllowed(view, path, field, is);
  const value = checkValue(answer.takes, given, {
    column: path.field,
    at: `${field} ${is}`,
    moment,
    days: orders.has(is),
  });
  return withoutNulls(path, is, answer, value);
}

function onlyShown(argument: string, field: string): never {
  return fail('INVALID_ARGUMENT', {
    argument,
    problem: `the records of '${field}' are given by code, so that nothing can be filtered or sorted by them; list them from one record.`,
  });
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

/** Sources never see null as a value, nor an empty list: what they mean is said here. */
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
  return test(is, present);
}

const fold = (name: string): string => name.toLowerCase().replace(/[^a-z]/g, '');
const byFolded: ReadonlyMap<string, Operator> = new Map(operators.map((operator) => [fold(operator), operator]));
const exact: ReadonlySet<string> = new Set(operators);

/** Takes `greater_than` and `greaterThan` for GreaterThan. */
function findOperator(text: string): Operator {
  if (exact.has(text)) return text as Operator;
  return (
    byFolded.get(fold(String(text))) ??
    fail('UNKNOWN_OPERATOR', { operator: String(text), near: nearNames(String(text), operators) })
  );
}
