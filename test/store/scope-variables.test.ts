// The value of each variable of a row scope, and what a missing value does to the condition around it.
import { expect, test } from 'vitest';
import type { Caller } from '../../src/core/caller.ts';
import type { Operator, PlainFilter } from '../../src/core/filter.ts';
import { fillScope, findVariableProblems } from '../../src/store/permissions/scopes.ts';

const ada: Caller = {
  ...{ id: 7, email: 'ada@example.com', firstName: 'Ada', lastName: 'King', team: 'South', role: 'Clerk' },
  ...{ tags: { zero: '0', branch: '12', blank: ' ', email: 'other' }, timezone: 'Europe/Paris' },
  ...{ permissionLevel: 'editor', renderingId: 31 },
};
const where = (value: unknown, operator: Operator = 'Equal'): PlainFilter => ({ field: 'f', operator, value });
const nothing: PlainFilter = { aggregator: 'Or', conditions: [] };
const both = (aggregator: 'And' | 'Or' | 'Not', ...conditions: PlainFilter[]): PlainFilter => ({
  aggregator,
  conditions,
});

const values: readonly (readonly [name: string, value: string | number])[] = [
  ['id', 7],
  ['email', 'ada@example.com'],
  ['firstName', 'Ada'],
  ['lastName', 'King'],
  ['fullName', 'Ada King'],
  ['team', 'South'],
  ['team.name', 'South'],
  ['role', 'Clerk'],
  ['timezone', 'Europe/Paris'],
  ['permissionLevel', 'editor'],
  ['renderingId', 31],
  ['tags.zero', '0'],
  ['tags.blank', ' '],
  ['tags.email', 'other'],
];

test.each(values)('%s alone keeps its type, and within a text becomes text', (name, value) => {
  expect([
    fillScope(where(`{{currentUser.${name}}}`), ada),
    fillScope(where(`<{{ currentUser.${name} }}>`), ada),
    findVariableProblems(`{{currentUser.${name}}}`),
  ]).toEqual([where(value), where(`<${value}>`), []]);
});

test.each([
  ['Ada', '', 'Ada'],
  ['', 'King', 'King'],
])('the full name of a user with one name has no space: %j %j', (firstName, lastName, expected) => {
  expect(fillScope(where('{{currentUser.fullName}}'), { ...ada, firstName, lastName })).toEqual(where(expected));
});

const lost = where('{{currentUser.tags.none}}');
const kept = where('{{currentUser.tags.branch}}');
const cases: readonly (readonly [name: string, scope: PlainFilter, expected: PlainFilter])[] = [
  ['a condition', lost, nothing],
  ['And', both('And', lost, kept), both('And', nothing, where('12'))],
  ['Or', both('Or', lost, kept), both('Or', nothing, where('12'))],
  ['Not', both('Not', lost), nothing],
  ['Not around Or', both('Not', both('Or', kept, lost)), nothing],
  ['Or around Not', both('Or', both('Not', lost), kept), both('Or', nothing, where('12'))],
  ['Not with a value', both('Not', kept), both('Not', where('12'))],
  ['NotIn with one of two values', where(['{{currentUser.id}}', '{{currentUser.tags.none}}'], 'NotIn'), nothing],
  ['NotEqual', where('{{currentUser.tags.none}}', 'NotEqual'), nothing],
  ['some', { some: 'orders', where: lost }, { some: 'orders', where: nothing }],
  ['none', { none: 'orders', where: lost }, nothing],
  ['every', { every: 'orders', where: lost }, nothing],
  ['none around And', { none: 'orders', where: both('And', kept, lost) }, nothing],
  ['none with a value', { none: 'orders', where: kept }, { none: 'orders', where: where('12') }],
];
test.each(cases)('a missing value in %s never matches more', (_, scope, expected) => {
  expect(fillScope(scope, ada)).toEqual(expected);
});

test.each([
  ['Match', 'north 12_a-B', true],
  ['Match', 'Ünïcode', true],
  ['Match', '.', false],
  ['Match', 'a|b', false],
  ['Match', 'a^', false],
  ['Like', 'north', true],
  ['Like', 'a_b', false],
  ['ILike', 'a%', false],
  ['ILike', 'a\\b', false],
  ['StartsWith', 'a_b%', true],
] as const)('%s with the value %j of a user is kept: %s', (operator, text, isKept) => {
  const filled = fillScope(where('{{currentUser.tags.pattern}}', operator), { ...ada, tags: { pattern: text } });
  expect(filled).toEqual(isKept ? where(text, operator) : nothing);
});
