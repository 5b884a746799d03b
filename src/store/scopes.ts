// Row scopes: a filter as JSON whose values may hold variables of the user who asks. Everything here fails closed: a
// variable without a value makes its leaf match nothing, and JSON that is not a filter matches nothing as a whole.
import type { Caller } from '../core/caller.ts';
import { isBranch, type PlainFilter, type PlainLeaf } from '../core/filter.ts';
import { nearNames } from '../core/near.ts';

/** An `Or` of nothing. */
export const matchesNothing: PlainFilter = Object.freeze({ aggregator: 'Or', conditions: Object.freeze([]) });

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

const prefix = 'currentUser.';
const tagPrefix = 'tags.';

/** What is wrong with the variables of a text: those that no user can have a value for. */
export function findVariableProblems(text: string): readonly string[] {
  const problems = [...text.matchAll(variable)].flatMap(([whole, name = '']) => {
    const attribute = name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
    if (attribute !== undefined && Object.hasOwn(attributes, attribute)) return [];
    if (attribute?.startsWith(tagPrefix) && attribute.length > tagPrefix.length) return [];
    const known = [...Object.keys(attributes), 'tags.<key>'].map((each) => prefix + each);
    const near = nearNames(name, known, 3);
    return [
      `there is no variable ${whole}. ${near.length > 0 ? `Near: ${near.join(', ')}.` : `There are ${known.join(', ')}.`}`,
    ];
  });
  const rest = text.replace(variable, '');
  return rest.includes('{{') || rest.includes('}}')
    ? [...problems, 'braces that are not those of a variable.']
    : problems;
}

function getVariable(name: string, caller: Caller, leaf: PlainLeaf): string | number | typeof missing {
  const attribute = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  const value = attribute.startsWith(tagPrefix)
    ? ownValue(caller.tags, attribute.slice(tagPrefix.length))
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
