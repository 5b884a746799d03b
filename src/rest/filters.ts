// Parses the `filters` parameter: a JSON condition, or conditions joined by an aggregator. It accepts the client
// notations: `previous_x_days` or `PreviousXDays`, `and` or `And`, comma-separated lists, and `yes` for true. The
// engine checks fields and operators.
import { fail } from '../core/errors.ts';
import { findInexact } from '../core/filter/exact-numbers.ts';
import {
  CONDITIONS_MOST,
  joinPaths,
  mapLeaves,
  type Operator,
  operators,
  type PlainFilter,
  quantified,
  quantifiers,
} from '../core/filter.ts';
import { nearNames } from '../core/suggestions.ts';

const DEPTH_LIMIT = 32;

/** Converts to the client notation: `previous_x_days`. */
export function snakeOperator(operator: string): string {
  return operator.replace(/(?<!^)(?=[A-Z])/g, '_').toLowerCase();
}

const byFolded = new Map(operators.map((operator) => [operator.toLowerCase(), operator]));
/** Operators that take a list of values. */
const ofLists: ReadonlySet<Operator> = new Set(['In', 'NotIn', 'IncludesAll', 'IncludesNone']);

const aggregators = ['And', 'Or', 'Not'] as const;
const refuse = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'filters', problem });
const example =
  'expected {"field": "status", "operator": "equal", "value": "paid"}, {"aggregator": "and", "conditions": [...]} or {"none": "orders", "where": {...}}';

function count(counted: { conditions: number }): void {
  if (++counted.conditions > CONDITIONS_MOST) refuse(`at most ${CONDITIONS_MOST} conditions.`);
}

/** Returns undefined for no condition. Throws INVALID_ARGUMENT or UNKNOWN_OPERATOR. */
export function readFilters(text: string): PlainFilter | undefined {
  const inexact = findInexact(text);
  if (inexact !== undefined) refuse(inexact);
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch {
    return refuse(`it is not JSON: ${example}.`);
  }
  return tree === null ? undefined : readTree(tree, 'filters');
}

/** The same for parsed JSON. `at` is the path in error messages. */
export function readTree(tree: unknown, at: string, depth = 0, counted = { conditions: 0 }): PlainFilter {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return refuse(`${example}, at ${at}.`);
  if (depth > DEPTH_LIMIT) return refuse(`at most ${DEPTH_LIMIT} deep.`);
  const { aggregator, conditions, field, operator, value } = tree as Readonly<Record<string, unknown>>;
  if (aggregator !== undefined || conditions !== undefined) {
    const joined = aggregators.find((each) => each.toLowerCase() === String(aggregator).toLowerCase());
    if (!joined || !Array.isArray(conditions)) return refuse(`${example}, at ${at}.`);
    if (conditions.length === 0) count(counted);
    return {
      aggregator: joined,
      conditions: conditions.map((each, index) => readTree(each, `${at}.conditions[${index}]`, depth + 1, counted)),
    };
  }
  count(counted);
  if (field === undefined && quantifiers.some((each) => each in tree))
    return readQuantifier(
      tree as Readonly<Record<string, unknown>>,
      (where) => readTree(where, `${at}.where`, depth + 1, counted),
      at,
    );
  if (typeof field !== 'string' || typeof operator !== 'string') return refuse(`${example}, at ${at}.`);
  const is = readOperator(operator);
  if (value === undefined) return { field, operator: is };
  return { field, operator: is, value: ofLists.has(is) && typeof value === 'string' ? splitValues(value) : value };
}

function readQuantifier(
  { where, ...rest }: Readonly<Record<string, unknown>>,
  read: (where: unknown) => PlainFilter,
  at: string,
): PlainFilter {
  const [[quantifier, path] = [], ...more] = Object.entries(rest);
  const found = quantifiers.find((each) => each === quantifier);
  const isWhole = where !== undefined && where !== null;
  if (!found || more.length > 0 || typeof path !== 'string' || (found === 'every' && !isWhole))
    return refuse(`expected one of some, none and every with a relation, and where (every needs it), at ${at}.`);
  return quantified({
    quantifier: found,
    path,
    ...(isWhole && { where: read(where) }),
  });
}

function readOperator(text: string): Operator {
  const found = byFolded.get(text.toLowerCase().replace(/[\s_-]/g, ''));
  return found ?? fail('UNKNOWN_OPERATOR', { operator: text, near: nearNames(text, operators) });
}

const splitValues = (text: string): string[] => text.split(',').map((item) => item.trim());

/** Converts `yes` and `no` to booleans for Boolean fields. */
export function castValues(filter: PlainFilter, typeOf: (field: string) => string | undefined): PlainFilter {
  const cast = (item: unknown) => (isWord(item) ? item.toLowerCase() === 'yes' : item);
  return mapLeaves(filter, (leaf, path) => {
    const { field, value } = leaf;
    const values = Array.isArray(value) ? value : [value];
    if (!values.some(isWord) || typeOf(joinPaths(path, field)) !== 'Boolean') return leaf;
    return { ...leaf, value: Array.isArray(value) ? value.map(cast) : cast(value) };
  });
}

const isWord = (value: unknown): value is string => typeof value === 'string' && /^(?:yes|no)$/i.test(value);
