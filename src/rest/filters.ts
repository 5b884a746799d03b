// The `filters` of a request: the JSON of a condition, or of conditions joined, as front ends of agents write it: operators
// as `previous_x_days` or `PreviousXDays`, `and` or `And`, lists as texts with commas, booleans as `yes`. What a field is and
// what it takes is the engine's matter.
import { fail } from '../core/errors.ts';
import { isBranch, type Operator, operators, type PlainFilter } from '../core/filter.ts';
import { nearNames } from '../core/near.ts';

const DEPTH_LIMIT = 32;

/** As front ends write it: `previous_x_days`. */
export function snakeOperator(operator: string): string {
  return operator.replace(/(?<!^)(?=[A-Z])/g, '_').toLowerCase();
}

const byFolded = new Map(operators.map((operator) => [operator.toLowerCase(), operator]));
/** Those that take several values. */
const ofLists: ReadonlySet<Operator> = new Set(['In', 'NotIn', 'IncludesAll', 'IncludesNone']);

const refuse = (problem: string): never => fail('INVALID_ARGUMENT', { argument: 'filters', problem });
const example =
  'expected {"field": "status", "operator": "equal", "value": "paid"}, or {"aggregator": "and", "conditions": [...]}';

/** Undefined for no condition. INVALID_ARGUMENT, UNKNOWN_OPERATOR. */
export function readFilters(text: string): PlainFilter | undefined {
  let tree: unknown;
  try {
    tree = JSON.parse(text);
  } catch {
    return refuse(`it is not JSON: ${example}.`);
  }
  return tree === null ? undefined : readTree(tree, 'filters', 0);
}

/** The same of what was parsed; `at` names the place for messages. */
export function readTree(tree: unknown, at: string, depth = 0): PlainFilter {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return refuse(`${example}, at ${at}.`);
  if (depth > DEPTH_LIMIT) return refuse(`at most ${DEPTH_LIMIT} deep.`);
  const { aggregator, conditions, field, operator, value } = tree as Readonly<Record<string, unknown>>;
  if (aggregator !== undefined || conditions !== undefined) {
    const joined = /^(and|or)$/i.exec(String(aggregator))?.[0].toLowerCase();
    if (!joined || !Array.isArray(conditions)) return refuse(`${example}, at ${at}.`);
    return {
      aggregator: joined === 'and' ? 'And' : 'Or',
      conditions: conditions.map((each, index) => readTree(each, `${at}.conditions[${index}]`, depth + 1)),
    };
  }
  if (typeof field !== 'string' || typeof operator !== 'string') return refuse(`${example}, at ${at}.`);
  const is = readOperator(operator);
  if (value === undefined) return { field, operator: is };
  return { field, operator: is, value: ofLists.has(is) && typeof value === 'string' ? splitValues(value) : value };
}

function readOperator(text: string): Operator {
  const found = byFolded.get(text.toLowerCase().replace(/[\s_-]/g, ''));
  return found ?? fail('UNKNOWN_OPERATOR', { operator: text, near: nearNames(text, operators) });
}

const splitValues = (text: string): string[] => text.split(',').map((item) => item.trim());

/** `yes` and `no` as the booleans that they mean, where the field is one. */
export function castValues(filter: PlainFilter, typeOf: (field: string) => string | undefined): PlainFilter {
  if (isBranch(filter))
    return { ...filter, conditions: filter.conditions.map((condition) => castValues(condition, typeOf)) };
  const { value } = filter;
  const values = Array.isArray(value) ? value : [value];
  if (!values.some(isWord) || typeOf(filter.field) !== 'Boolean') return filter;
  const cast = (item: unknown) => (isWord(item) ? item.toLowerCase() === 'yes' : item);
  return { ...filter, value: Array.isArray(value) ? value.map(cast) : cast(value) };
}

const isWord = (value: unknown): value is string => typeof value === 'string' && /^(?:yes|no)$/i.test(value);
