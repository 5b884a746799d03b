// Parses the `filters` parameter: a JSON condition, or conditions joined by an aggregator. It accepts the client
// notations: `previous_x_days` or `PreviousXDays`, `and` or `And`, comma-separated lists, and `yes` for true. The
// engine checks fields and operators.
import { fail } from '../core/errors.ts';
import { findInexactNumber } from '../core/filter/exact-numbers.ts';
import {
  isComparison,
  joinPaths,
  MAX_CONDITIONS,
  mapLeaves,
  type Operator,
  operators,
  type PlainComparison,
  type PlainFilter,
  quantified,
  quantifiers,
} from '../core/filter.ts';
import { suggestNames } from '../core/suggestions.ts';

const MAX_DEPTH = 32;

/** Converts to the client notation: `previous_x_days`. */
export function snakeOperator(operator: string): string {
  return operator.replace(/(?<!^)(?=[A-Z])/g, '_').toLowerCase();
}

const operatorsByFoldedName = new Map(operators.map((operator) => [operator.toLowerCase(), operator]));
/** Operators that take a list of values. */
const listOperators: ReadonlySet<Operator> = new Set(['In', 'NotIn', 'IncludesAll', 'IncludesNone']);

const aggregators = ['And', 'Or', 'Not'] as const;
const failFilter = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'filters', problem });
const example =
  'expected {"field": "status", "operator": "equal", "value": "paid"}, {"aggregator": "and", "conditions": [...]} or {"none": "orders", "where": {...}}';

function countCondition(counts: { conditions: number }): void {
  if (++counts.conditions > MAX_CONDITIONS) failFilter(`at most ${MAX_CONDITIONS} conditions.`);
}

/** Returns undefined for no condition. Throws INVALID_ARGUMENT or UNKNOWN_OPERATOR. */
export function parseFilterText(text: string): PlainFilter | undefined {
  const inexact = findInexactNumber(text);
  if (inexact !== undefined) failFilter(inexact);
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch {
    return failFilter(`not valid JSON: ${example}.`);
  }
  return tree === null ? undefined : parseFilterTree(tree, 'filters');
}

/** The same for parsed JSON. `at` is the path in error messages. */
export function parseFilterTree(tree: unknown, at: string, depth = 0, counts = { conditions: 0 }): PlainFilter {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return failFilter(`${example}, at ${at}.`);
  if (depth > MAX_DEPTH) return failFilter(`at most ${MAX_DEPTH} deep.`);
  const { aggregator, conditions, field, operator, value } = tree as Readonly<Record<string, unknown>>;
  if (aggregator !== undefined || conditions !== undefined) {
    const joined = aggregators.find((each) => each.toLowerCase() === String(aggregator).toLowerCase());
    if (!joined || !Array.isArray(conditions)) return failFilter(`${example}, at ${at}.`);
    if (conditions.length === 0) countCondition(counts);
    return {
      aggregator: joined,
      conditions: conditions.map((each, index) =>
        parseFilterTree(each, `${at}.conditions[${index}]`, depth + 1, counts),
      ),
    };
  }
  countCondition(counts);
  if (field === undefined && quantifiers.some((each) => each in tree))
    return parseQuantifier(
      tree as Readonly<Record<string, unknown>>,
      (where) => parseFilterTree(where, `${at}.where`, depth + 1, counts),
      at,
    );
  if ('other' in tree || 'expression' in tree)
    return { ...tree, operator: parseOperator(String(operator)) } as unknown as PlainComparison;
  if (typeof field !== 'string' || typeof operator !== 'string') return failFilter(`${example}, at ${at}.`);
  const parsed = parseOperator(operator);
  if (value === undefined) return { field, operator: parsed };
  return {
    field,
    operator: parsed,
    value: listOperators.has(parsed) && typeof value === 'string' ? splitValues(value) : value,
  };
}

function parseQuantifier(
  { where, ...rest }: Readonly<Record<string, unknown>>,
  read: (where: unknown) => PlainFilter,
  at: string,
): PlainFilter {
  const [[quantifier, path] = [], ...more] = Object.entries(rest);
  const found = quantifiers.find((each) => each === quantifier);
  const hasWhere = where !== undefined && where !== null;
  if (!found || more.length > 0 || typeof path !== 'string' || (found === 'every' && !hasWhere))
    return failFilter(`expected some, none or every with a relation, and where (required with every), at ${at}.`);
  return quantified({
    quantifier: found,
    path,
    ...(hasWhere && { where: read(where) }),
  });
}

function parseOperator(text: string): Operator {
  const found = operatorsByFoldedName.get(text.toLowerCase().replace(/[\s_-]/g, ''));
  return found ?? fail('UNKNOWN_OPERATOR', { operator: text, near: suggestNames(text, operators) });
}

const splitValues = (text: string): string[] => text.split(',').map((item) => item.trim());

/** Converts `yes` and `no` to booleans for Boolean fields. */
export function castValues(filter: PlainFilter, typeOf: (field: string) => string | undefined): PlainFilter {
  const cast = (item: unknown) => (isYesOrNo(item) ? item.toLowerCase() === 'yes' : item);
  return mapLeaves(filter, (leaf, path) => {
    if (isComparison(leaf)) return leaf;
    const { field, value } = leaf;
    const values = Array.isArray(value) ? value : [value];
    if (!values.some(isYesOrNo) || typeOf(joinPaths(path, field)) !== 'Boolean') return leaf;
    return { ...leaf, value: Array.isArray(value) ? value.map(cast) : cast(value) };
  });
}

const isYesOrNo = (value: unknown): value is string => typeof value === 'string' && /^(?:yes|no)$/i.test(value);
