// Row scopes: a filter as JSON whose values may hold variables of the user who asks. Everything here fails closed: a
// variable without a value makes its leaf match nothing, and JSON that is not a filter matches nothing as a whole.
import type { Caller } from '../core/caller.ts';
import { isBranch, operators, type PlainFilter, type PlainLeaf } from '../core/filter.ts';

/** An `Or` of nothing. */
export const matchesNothing: PlainFilter = Object.freeze({ aggregator: 'Or', conditions: Object.freeze([]) });

/** What is wrong with a value that should be a filter, or undefined when it is one. */
export function findFilterProblem(value: unknown, at = 'filter', depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${at}: expected an object.`;
  if (depth > 50) return `${at}: nested too deeply.`;
  const node = value as Record<string, unknown>;
  if ('aggregator' in node) {
    if (node.aggregator !== 'And' && node.aggregator !== 'Or') return `${at}.aggregator: expected And or Or.`;
    if (!Array.isArray(node.conditions)) return `${at}.conditions: expected a list.`;
    for (const [index, condition] of node.conditions.entries()) {
      const problem = findFilterProblem(condition, `${at}.conditions[${index}]`, depth + 1);
      if (problem) return problem;
    }
    return undefined;
  }
  if (typeof node.field !== 'string' || node.field === '') return `${at}.field: expected the name of a field.`;
  if (!(operators as readonly unknown[]).includes(node.operator)) return `${at}.operator: expected an operator.`;
  return undefined;
}

/** The filter with every variable replaced for the caller. */
export function fillScope(filter: PlainFilter, caller: Caller): PlainFilter {
  if (isBranch(filter)) {
    return { aggregator: filter.aggregator, conditions: filter.conditions.map((one) => fillScope(one, caller)) };
  }
  const value = fillValue(filter.value, caller, filter);
  if (value === missing) return matchesNothing;
  return filter.value === undefined ? filter : { ...filter, value };
}

const missing = Symbol('missing');
const variable = /\{\{\s*([^{}]*?)\s*\}\}/g;
const wholeVariable = /^\s*\{\{\s*([^{}]*?)\s*\}\}\s*$/;

function fillValue(value: unknown, caller: Caller, leaf: PlainLeaf): unknown {
  if (Array.isArray(value)) {
    const filled = value.map((item) => fillValue(item, caller, leaf));
    return filled.includes(missing) ? missing : filled;
  }
  if (typeof value === 'object' && value !== null) {
    const filled = Object.entries(value).map(([key, item]) => [key, fillValue(item, caller, leaf)] as const);
    return filled.some(([, item]) => item === missing) ? missing : Object.fromEntries(filled);
  }
  return typeof value === 'string' && value.includes('{{') ? fillText(value, caller, leaf) : value;
}

function fillText(text: string, caller: Caller, leaf: PlainLeaf): unknown {
  const whole = wholeVariable.exec(text)?.[1];
  if (whole !== undefined) return getVariable(whole, caller, leaf);
  let complete = true;
  const filled = text.replace(variable, (_, name: string) => {
    const value = getVariable(name, caller, leaf);
    if (value === missing) complete = false;
    return String(value);
  });
  // Braces that are left belong to something that was meant as a variable and is none.
  return complete && !text.replace(variable, '').includes('{{') ? filled : missing;
}

const attributes: Readonly<Record<string, (caller: Caller) => string | number>> = {
  id: (caller) => caller.id,
  email: (caller) => caller.email,
  firstName: (caller) => caller.firstName,
  lastName: (caller) => caller.lastName,
  fullName: (caller) => `${caller.firstName} ${caller.lastName}`.trim(),
  team: (caller) => caller.team,
  'team.name': (caller) => caller.team,
  role: (caller) => caller.role,
  timezone: (caller) => caller.timezone,
  permissionLevel: (caller) => caller.permissionLevel,
  renderingId: (caller) => caller.renderingId,
};

function getVariable(name: string, caller: Caller, leaf: PlainLeaf): string | number | typeof missing {
  const attribute = name.startsWith('currentUser.') ? name.slice('currentUser.'.length) : '';
  const value = attribute.startsWith('tags.')
    ? ownValue(caller.tags, attribute.slice('tags.'.length))
    : ownValue(attributes, attribute)?.(caller);
  // An empty text is no value: `StartsWith ''` would let everything through.
  if (value === undefined || value === '') return missing;
  return typeof value === 'string' && widens(value, leaf) ? missing : value;
}

/** A user's own words must not act as a pattern, which could match more than the author of the scope meant. */
function widens(value: string, leaf: PlainLeaf): boolean {
  if (leaf.operator === 'Like' || leaf.operator === 'ILike') return /[%_\\]/.test(value);
  return leaf.operator === 'Match' && /[^\p{L}\p{N} _-]/u.test(value);
}

function ownValue<T>(from: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}
