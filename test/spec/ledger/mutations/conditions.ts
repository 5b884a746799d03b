// Mutations for the rows of 2.7.
import type { Points } from '../mutations.ts';

const caller = 'Object.freeze({ caller, timezone, collection, ai })';
const callerWith = (change: string): readonly [string, string] => [
  caller,
  `Object.freeze({ caller: { ...caller, ${change} }, timezone, collection })`,
];

const operators =
  'Equal NotEqual GreaterThan LessThan In NotIn Present Blank Contains NotContains StartsWith EndsWith Like ILike Before After Today Yesterday PreviousWeek PreviousMonth PreviousQuarter PreviousYear Past Future IncludesAll IncludesNone';
const find = 'const is = findOperator(operator);';
/** Makes each operator match every value. */
const withoutOperators = Object.fromEntries(
  operators
    .split(' ')
    .map((name) => [`2.7 · operator · ${name}`, [find, `${find} if (is === '${name}') return always;`] as const]),
);

export const conditions: Points = {
  'src/agent/resolve/filter.ts': {
    ...withoutOperators,
    '2.7 · condition · leaf': [
      'return resolveTest(view, plain.field, plain.operator, plain.value, context);',
      'return always;',
    ],
    '2.7 · condition · And': ["aggregator === 'or' ? 'or' : 'and'", "'or'"],
    '2.7 · condition · Or': ["aggregator === 'or' ? 'or' : 'and'", "'and'"],
  },
  'src/agent/resolve/names.ts': {
    '2.7 · sort · field': ["if (path.field.computedFrom?.external) failOutputOnly('sort', field);", 'return [];'],
    '2.7 · sort · ascending': [
      'expandOrder(view, { path, ascending });',
      'expandOrder(view, { path, ascending: true });',
    ],
  },
  'src/agent/operations/internal.ts': {
    '2.7 · filter · conditionTree': [
      'return { ...filter, ...(conditionTree && { filter: conditionTree }) };',
      'return filter;',
    ],
  },
  'src/agent/operations/list.ts': {
    '2.7 · projection': [
      'const select = request.fields\n    ? selectFields',
      'const select = false && request.fields\n    ? selectFields',
    ],
  },
  'src/agent/lower/filter.ts': {
    '2.7 · filter · search': ['search ? lowerSearch(search, searchExtended, lowering) : always', 'always'],
    '2.7 · filter · searchExtended': [
      'searchFilter(lowering.view, search, extended, lowering',
      'searchFilter(lowering.view, search, false, lowering',
    ],
    '2.7 · filter · segment': ['segment === undefined ? always : lowerSegment(segment, lowering)', 'always'],
  },
  'src/agent/operations/context.ts': {
    '2.7 · caller · id': callerWith('id: 0'),
    '2.7 · caller · email': callerWith("email: ''"),
    '2.7 · caller · firstName': callerWith("firstName: ''"),
    '2.7 · caller · lastName': callerWith("lastName: ''"),
    '2.7 · caller · team': callerWith("team: ''"),
    '2.7 · caller · role': callerWith("role: ''"),
    '2.7 · caller · tags': callerWith('tags: {}'),
    '2.7 · caller · timezone': callerWith("timezone: ''"),
  },
};
