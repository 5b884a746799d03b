// Names become Paths, and values the canonical values of their columns. The only place that says a name is unknown.
import { fail } from '../../core/errors.ts';
import { isBranch, type Operator, operators, type PlainFilter, type PlainSort } from '../../core/filter.ts';
import { nearNames } from '../../core/near.ts';
import type { Answer, Collection, Column, Moment, Relation } from '../model/types.ts';
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
  const name = text.replaceAll('@@@', ':');
  const named = findName(view, name) as Named;
  if (view.names.size >= NAMES_KEPT) view.names.clear();
  view.names.set(text, named);
  return named;
}

function findName(view: View, name: string): Named {
  const { sight, collection: home } = view;
  const via: Relation[] = [];
  const through: Hop[] = [];
  let collection = home;
  let rest = name;
  for (;;) {
    const field = collection.fields.get(rest);
    if (field?.kind === 'column' && sight.sees(collection, field)) {
      const path = ownColumn(view, via, field) ?? pathTo(home, via, field);
      return Object.freeze({ name, path, through: Object.freeze(through), leaf: rest });
    }
    const relation = findRelation(view, collection, rest);
    if (!relation) return unknownField(view, collection, rest);
    if (relation.kind === 'many')
      return fail('RELATION_TO_MANY', {
        collection: collection.name,
        relation: relation.name,
        foreign: relation.to.name,
      });
    if (rest === relation.name) return relationAlone(view, collection, relation);
    if (via.length === HOPS_LIMIT)
      return fail('INVALID_ARGUMENT', { argument: name, problem: `at most ${HOPS_LIMIT} relations can be followed.` });
    via.push(sight.follow(relation));
    through.push(Object.freeze({ name: relation.name, present: presence(view, via) }));
    rest = rest.slice(relation.name.length + 1);
    collection = relation.to;
  }
}

/** The relation at the start of the text. */
function findRelation(view: View, collection: Collection, text: string): Relation | undefined {
  const cut = text.indexOf(':');
  const field = collection.fields.get(cut < 0 ? text : text.slice(0, cut));
  return field && field.kind !== 'column' && view.sight.sees(collection, field) ? field : undefined;
}

/**
 * The own foreign key, when `field` is the key that it points to: the value is the same, and nothing has to be joined
 * (the database holds that a foreign key points to a record).
 * Not where rows are withheld, since a withheld row must look missing; not for a part of a composite key of which
 * another part may be null, since then nothing is related; not where the database may take two texts for the same.
 */
function ownColumn(view: View, via: readonly Relation[], field: Column): Path | undefined {
  const last = via.at(-1);
  if (!last || last.inverse || view.sight.withholds(last.to)) return undefined;
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
  const visible = [...collection.fields.values()].filter((field) => view.sight.sees(collection, field));
  const first = text.split(':')[0]!;
  const near = nearNames(
    first,
    visible.map((field) => field.name),
  );
  return fail('UNKNOWN_FIELD', { collection: collection.name, field: text, near });
}

function relationAlone(view: View, collection: Collection, relation: Relation): never {
  const column = [...relation.to.fields.values()].find(
    (field) => field.kind === 'column' && view.sight.sees(relation.to, field),
  );
  return fail('RELATION_NEEDS_FIELD', {
    collection: collection.name,
    relation: relation.name,
    example: `${relation.name}:${column?.name ?? '...'}`,
  });
}

/** FIELD_NOT_SORTABLE besides the errors of names. A field that comes twice counts once. */
export function resolveSort(view: View, sorts: readonly PlainSort[]): Order[] {
  const order: Order[] = [];
  for (const { field, ascending = true } of sorts) {
    const { path } = resolveName(view, field);
    if (!path.field.sortable)
      fail('FIELD_NOT_SORTABLE', {
        collection: view.collection.name,
        field,
        sortable: view.columns.filter((column) => column.sortable).map((column) => column.name),
      });
    if (!order.some((other) => other.path.id === path.id)) order.push({ path, ascending });
  }
  return order;
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
  if (filter.op === 'not') return countTests(filter.of);
  return 'of' in filter ? filter.of.reduce((sum, each) => sum + countTests(each), 0) : 0;
}

function resolveTest(view: View, field: string, operator: string, given: unknown, moment: Moment): Filter {
  const { path } = resolveName(view, field);
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
