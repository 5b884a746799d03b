// Row scopes: JSON filters with variables of the current user. They fail closed: a variable without a value makes its
// condition match no record, and JSON that is not a filter matches no record at all.
import type { Caller } from '../../core/caller.ts';
import {
  isBranch,
  isComparison,
  isQuantified,
  mapLeaves,
  type Operator,
  type PlainFilter,
  quantified,
  readQuantified,
} from '../../core/filter.ts';
import { suggestNames } from '../../core/suggestions.ts';

/** An `Or` without conditions. */
export const matchesNothing: PlainFilter = Object.freeze({ aggregator: 'Or', conditions: Object.freeze([]) });

/** The filter with every variable replaced by the caller's value. */
export function fillScope(filter: PlainFilter, caller: Caller): PlainFilter {
  if (isBranch(filter) && filter.aggregator !== 'Not')
    return { ...filter, conditions: filter.conditions.map((one) => fillScope(one, caller)) };
  if (isQuantified(filter)) {
    const { where, ...parts } = readQuantified(filter);
    if (where && parts.quantifier === 'some') return quantified({ ...parts, where: fillScope(where, caller) });
  }
  // A negation would turn a condition that matches no record into one that matches all. The whole node matches no
  // record instead.
  let isComplete = true;
  const filled = mapLeaves(filter, (leaf) => {
    if (isComparison(leaf)) {
      const found = fillConstants(leaf, caller, leaf);
      isComplete &&= found !== missing;
      return found as PlainFilter;
    }
    const value = fillValue(leaf.value, caller, leaf);
    isComplete &&= value !== missing;
    return leaf.value === undefined ? leaf : { ...leaf, value };
  });
  return isComplete ? filled : matchesNothing;
}

/** What variables are filled for. */
type Operand = { readonly operator: Operator };

const missing = Symbol('missing');
const variable = /\{\{\s*([^{}]*?)\s*\}\}/g;
const wholeVariable = /^\s*\{\{\s*([^{}]*?)\s*\}\}\s*$/;

/** Fills the constants of a comparison. A user's value never becomes the name of a field. */
function fillConstants(part: unknown, caller: Caller, leaf: Operand): unknown {
  if (typeof part !== 'object' || part === null) return part;
  const filled = Object.entries(part).map(([key, item]) => {
    const isConstant = key === 'value' && !Array.isArray(part);
    return [key, (isConstant ? fillValue : fillConstants)(item, caller, leaf)] as const;
  });
  if (filled.some(([, item]) => item === missing)) return missing;
  return Array.isArray(part) ? filled.map(([, item]) => item) : Object.fromEntries(filled);
}

function fillValue(value: unknown, caller: Caller, leaf: Operand): unknown {
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

function fillText(text: string, caller: Caller, leaf: Operand): unknown {
  const whole = wholeVariable.exec(text)?.[1];
  if (whole !== undefined) return getVariable(whole, caller, leaf);
  let complete = true;
  const filled = text.replace(variable, (_, name: string) => {
    const value = getVariable(name, caller, leaf);
    if (value === missing) complete = false;
    return String(value);
  });
  // Leftover braces are a malformed variable.
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

/** Problems with the variables of a text: unknown variables and malformed braces. */
export function findVariableProblems(text: string): readonly string[] {
  const problems = [...text.matchAll(variable)].flatMap(([whole, name = '']) => {
    const attribute = name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
    if (attribute !== undefined && Object.hasOwn(attributes, attribute)) return [];
    if (attribute?.startsWith(tagPrefix) && attribute.length > tagPrefix.length) return [];
    const knownVariables = [...Object.keys(attributes), 'tags.<key>'].map((each) => prefix + each);
    const near = suggestNames(name, knownVariables, 3);
    return [
      `there is no variable ${whole}. ${near.length > 0 ? `Near: ${near.join(', ')}.` : `There are ${knownVariables.join(', ')}.`}`,
    ];
  });
  const rest = text.replace(variable, '');
  return rest.includes('{{') || rest.includes('}}') ? [...problems, 'the braces do not contain a variable.'] : problems;
}

function getVariable(name: string, caller: Caller, leaf: Operand): string | number | typeof missing {
  const attribute = name.startsWith(prefix) ? name.slice(prefix.length) : '';
  const value = attribute.startsWith(tagPrefix)
    ? ownValue(caller.tags, attribute.slice(tagPrefix.length))
    : ownValue(attributes, attribute)?.(caller);
  // An empty string counts as missing: `StartsWith ''` would match every record.
  if (value === undefined || value === '') return missing;
  return typeof value === 'string' && widens(value, leaf) ? missing : value;
}

/** A user's value must not act as a pattern, which could match more than the author of the scope intended. */
function widens(value: string, leaf: Operand): boolean {
  if (leaf.operator === 'Like' || leaf.operator === 'ILike') return /[%_\\]/.test(value);
  return leaf.operator === 'Match' && /[^\p{L}\p{N} _-]/u.test(value);
}

function ownValue<T>(from: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(from, key) ? from[key] : undefined;
}
