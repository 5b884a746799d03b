// Field validation on every source: it checks the values to be written before any statement runs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import type { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';
import type { Operator } from '../../src/core/filter.ts';
import { problemsOf, refusalOf } from '../agent/attempt.ts';
import { accessOf, type Shop, sellers } from '../agent/shop.ts';

const all = accessOf();

/** Each rule: field, argument, a value that breaks it, a value that passes, and the error. */
const rules: readonly (readonly [Operator, string, unknown, unknown, unknown, string])[] = [
  ['Present', 'city', undefined, '', 'Oslo', 'breaks the rule Present: send a value that is not empty.'],
  ['LongerThan', 'name', 2, 'Al', 'Ali', 'breaks the rule LongerThan(2): send more than 2 characters, not 2.'],
  ['ShorterThan', 'name', 4, 'Alex', 'Al😀', 'breaks the rule ShorterThan(4): send fewer than 4 characters, not 4.'],
  ['Contains', 'city', '-', 'Ulm', 'Neu-Ulm', 'breaks the rule Contains("-"): send a string with "-" in it.'],
  ['Contains', 'city', 'U', 'Neu-ulm', 'Neu-Ulm', 'breaks the rule Contains("U"): send a string with "U" in it.'],
  ['Like', 'city', 'A_c%', 'Bonn', 'Arctic', 'breaks the rule Like("A_c%"): send a string like "A_c%", where % is any string and _ is one character.'],
  ['Like', 'name', '_', '😀😀', '😀', 'breaks the rule Like("_"): send a string like "_", where % is any string and _ is one character.'],
  ['ILike', 'name', 'A_😀', 'a😀', 'a😀😀', 'breaks the rule ILike("A_😀"): send another value.'],
  ['Match', 'name', /^[A-Z]\p{Ll}+$/u, 'ada', 'Édith'.replace('É', 'E'), 'breaks the rule Match(/^[A-Z]\\p{Ll}+$/u): send a string that matches /^[A-Z]\\p{Ll}+$/u.'],
  ['GreaterThan', 'total', 10, '10.00', '10.01', 'breaks the rule GreaterThan(10): send more than 10.'],
  ['LessThan', 'total', '10', 10, 9.99, 'breaks the rule LessThan("10"): send less than 10.'],
  ['Before', 'placed_at', '2024-05-01', '2024-05-01T00:00:00Z', '2024-04-30T23:59:59Z', 'breaks the rule Before("2024-05-01"): send a value before 2024-05-01.'],
  ['After', 'placed_at', '2024-05-01', '2024-05-01', '2024-05-01T00:00:01Z', 'breaks the rule After("2024-05-01"): send a value after 2024-05-01.'],
  ['GreaterThanOrEqual', 'total', 10, 9.5, 10, 'breaks the rule GreaterThanOrEqual(10): send 10 or more.'],
  ['LessThanOrEqual', 'total', 10, 10.5, 10, 'breaks the rule LessThanOrEqual(10): send 10 or less.'],
  ['In', 'city', ['Oslo', 'Rome'], 'Bern', 'Rome', 'breaks the rule In(["Oslo","Rome"]): send one of Oslo, Rome.'],
  ['NotIn', 'city', ['Oslo'], 'Oslo', 'Rome', 'breaks the rule NotIn(["Oslo"]): send a value other than Oslo.'],
  ['Equal', 'city', 'Oslo', 'Bern', 'Oslo', 'breaks the rule Equal("Oslo"): send another value.'],
  ['NotEqual', 'city', 'Oslo', 'Oslo', 'Bern', 'breaks the rule NotEqual("Oslo"): send another value.'],
  ['StartsWith', 'city', 'O', 'Bern', 'Oslo', 'breaks the rule StartsWith("O"): send a string that starts with "O".'],
  ['EndsWith', 'city', 'o', 'Bern', 'Oslo', 'breaks the rule EndsWith("o"): send a string that ends with "o".'],
  ['NotContains', 'city', '!', 'a!', 'a', 'breaks the rule NotContains("!"): send another value.'],
  ['IContains', 'city', 'OS', 'Bern', 'Oslo', 'breaks the rule IContains("OS"): send another value.'],
  ['NotIContains', 'city', 'OS', 'Oslo', 'Bern', 'breaks the rule NotIContains("OS"): send another value.'],
  ['IStartsWith', 'city', 'o', 'Bern', 'Oslo', 'breaks the rule IStartsWith("o"): send another value.'],
  ['IEndsWith', 'city', 'O', 'Bern', 'Oslo', 'breaks the rule IEndsWith("O"): send another value.'],
  ['ILike', 'city', 'o%o', 'Bern', 'OSLO', 'breaks the rule ILike("o%o"): send another value.'],
  ['Past', 'placed_at', undefined, '2999-01-01', '2001-01-01', 'breaks the rule Past: send another value.'],
  ['Future', 'placed_at', undefined, '2001-01-01', '2999-01-01', 'breaks the rule Future: send another value.'],
  ['PreviousXDays', 'placed_at', 3, '2001-01-01', new Date(Date.now() - 30 * 3_600_000).toISOString(), 'breaks the rule PreviousXDays(3): send another value.'],
  ['BeforeXHoursAgo', 'placed_at', 2, '2999-01-01', '2001-01-01', 'breaks the rule BeforeXHoursAgo(2): send another value.'],
]; // biome-ignore format: a table

const homeOf = (field: string) => (['total', 'placed_at'].includes(field) ? 'orders' : 'customers');
const on = (name: string, say: (collection: CollectionCustomizer) => unknown) => (agent: HeadlessAgent) =>
  void agent.customizeCollection(name, (collection) => void say(collection));

describe.each(rules)('Field validation operators: %s', (operator, field, value, bad, good, problem) => {
  test('applies to updates of the field, and the error names its value and what to send', async () => {
    const collection = homeOf(field);
    const shop = await sellers[0]!.open({
      customize: on(collection, (each) => each.addFieldValidation(field, operator, value)),
    });
    const update = (given: unknown) => shop.engine.update(all, { collection, ids: [1], values: { [field]: given } });
    expect(await problemsOf(update(bad))).toEqual([`${field}: ${problem}`]);
    expect((await update(good)).count).toBe(1);
    if (field === 'city')
      expect(await problemsOf(update(null))).toEqual(
        operator === 'Present' ? [`${field}: ${problem}`] : { answer: expect.objectContaining({ count: 1 }) },
      );
    await shop.close();
  });
});

describe.each(sellers)('$name', (seller) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await seller.open({
      customize: on('customers', (customers) =>
        customers
          .renameField('name', 'full name')
          .addFieldValidation('name', 'LongerThan', 1)
          .addFieldValidation('name', 'ShorterThan', 6)
          .addFieldValidation('city', 'Present')
          .addFieldValidation('secret', 'Match', '^x')
          .addHook('Before', 'Create', ({ data }) => {
            for (const record of data) if (record.city === 'default') record.city = 'Oslo';
          }),
      ),
    });
  });
  afterAll(() => shop?.close());

  const collection = 'customers';
  const create = (...records: Record<string, unknown>[]) => shop.engine.create(all, { collection, records });
  const count = () => shop.engine.count(all, { collection });

  test('every broken rule of every record is returned, and nothing is written', async () => {
    const before = await count();
    const problems = await problemsOf(
      create(
        { id: 10, 'full name': 'Adelaide', city: 'Bern', secret: 'y' },
        { id: 11, 'full name': 'A' },
        { id: 12, 'full name': 'Ed', city: 'default' },
      ),
    );
    expect([problems, await count()]).toEqual([
      [
        'records[0].full name: breaks the rule ShorterThan(6): send fewer than 6 characters, not 8.',
        'records[0].secret: breaks the rule Match("^x"): send a string that matches ^x.',
        'records[1].full name: breaks the rule LongerThan(1): send more than 1 characters, not 1.',
        'records[1].city: is required: send a String.',
      ],
      before,
    ]);
  });

  test('rules check the values after hooks, and not fields that an update omits', async () => {
    const { records } = await create({ id: 12, 'full name': 'Ed', city: 'default' });
    const { count: updated } = await shop.engine.update(all, { collection, ids: [3], values: { 'full name': 'Cyd' } });
    await shop.engine.delete(all, { collection, ids: [12] });
    expect([records[0]?.city, updated]).toEqual(['Oslo', 1]);
  });

  test('the error of a rule on a hidden field does not name it', async () => {
    const access = accessOf({ hidden: ['customers.city'] });
    const refused = await refusalOf(
      shop.engine.create(access, { collection, records: [{ id: 10, 'full name': 'Di' }] }),
    );
    expect([refused.code, refused.message?.includes('city')]).toEqual(['FORBIDDEN', false]);
  });

  test('Present | validation | setFieldNullable removes Present', async () => {
    const other = await seller.open({
      customize: on('customers', (customers) =>
        customers.addFieldValidation('city', 'Present').setFieldNullable('city'),
      ),
    });
    const { count: created } = await other.engine.create(all, { collection, records: [{ id: 10, name: 'Di' }] });
    await other.close();
    expect(created).toBe(1);
  });
});

const wrongs: readonly (readonly [what: string, customize: (agent: HeadlessAgent) => void, problem: RegExp])[] = [
  ['an operator for another type', on('orders', (each) => each.addFieldValidation('total', 'Like', 'x')), /'Like' cannot check 'total', which is Number\. Allowed: Present, Blank/],
  ['an unknown operator', on('orders', (each) => each.addFieldValidation('total', 'LongerThen' as 'LongerThan', 1)), /No operator 'LongerThen'\. Near: .*LongerThan/],
  ['an unknown field', on('orders', (each) => each.addFieldValidation('totl', 'Present')), /no field 'totl'\. Near: total/],
  ['a relation', on('orders', (each) => each.addFieldValidation('customer', 'Present')), /is a relation, not a field/],
  ['a value of another type', on('orders', (each) => each.addFieldValidation('total', 'GreaterThan', 'many')), /The rule 'GreaterThan' of 'total': its value: expected a number/],
  ['no value', on('orders', (each) => each.addFieldValidation('total', 'GreaterThan')), /it needs a value/],
  ['an invalid pattern', on('customers', (each) => each.addFieldValidation('name', 'Match', '(')), /The rule 'Match' of 'name': its value: expected a regular expression in the syntax of RE2, without lookaround \(missing closing \)\), got "\("/],
  ['a pattern that needs backtracking', on('customers', (each) => each.addFieldValidation('name', 'Match', /(a)\1/)), /The rule 'Match' of 'name': its value: expected a regular expression in the syntax of RE2, without lookaround \(invalid escape sequence\)/],
  ['a computed field', on('orders', (each) => each.addField('double', { columnType: 'Number', dependencies: ['total'], getValues: (all) => all.map(() => 1) }).addFieldValidation('double', 'Present')), /is read-only and cannot have a validation/],
]; // biome-ignore format: a table

test.each(wrongs)('a rule with %s stops the start, with the line of the call', async (_what, customize, problem) => {
  const { code, message } = await refusalOf(sellers[0]!.open({ customize }));
  expect([code, message]).toEqual(['CONFIGURATION', expect.stringMatching(problem)]);
  expect(message).toMatch(/2\.7-field-validation\.test\.ts:\d+\)$/);
});
