// Every operator on every type with edge values, and the expected results. They come from plain JavaScript on the
// stored values, written from docs/filters.md, or are listed one by one.
import type { Operator } from '../../../src/core/filter.ts';
import { dates, type Now } from './matrix-dates.ts';

export type ColumnType =
  | 'text' | 'loose' | 'whole' | 'big' | 'decimal' | 'double' | 'flag' | 'instant' | 'plain' | 'abroad' | 'days' | 'day' | 'time' | 'choice'
  | 'uuid' | 'json' | 'list' | 'numbers'; // biome-ignore format: a family

export interface Ask {
  readonly operator: Operator;
  readonly value?: unknown;
  /** Whether a stored non-null value satisfies it. */
  readonly is: (stored: unknown) => boolean;
  /** Whether null satisfies it. */
  readonly ofNull?: boolean;
  readonly at?: Now;
}

export interface Column {
  readonly type: ColumnType;
  /** Without null, which is always added. */
  readonly stored: readonly unknown[];
  readonly asks: readonly Ask[];
  /** Allowed but not tested, since they follow the collation of the column. */
  readonly others?: readonly Operator[];
}

const texts = [
  '', ' ', '  ', 'a', 'A', 'b', 'ab', 'aB', 'Ab', 'AB', 'abc', ' a', 'a ', 'a%b', 'a_b', 'axb', '%', '_', '%%', '10%', '10', '100',
  '\\', 'a\\b', '\\%', "O'Brien", "''", '"', '"quoted"', '`', 'été', 'Été', 'ete', 'ß', 'ss', 'naïve', 'naive', '日本', '😀', '😀b',
  'a😀', '👩‍👩‍👧', 'null', 'NULL', 'tab\there', 'line\nbreak', 'two  words', '*', '?', '[a]', '^a', 'a$', '0', '00', '-1', ';--', '{}', '$1', ':a', '?1',
]; // biome-ignore format: a pool
const needles = [
  '', ' ', 'a', 'A', 'b', 'ab', 'AB', '%', '_', '\\', "'", '"', '10', 'é', 'É', 'e', 's', 'ß', '本', '😀', '👩', '\t', '\n', '*', '[', '?',
  'O\'B', 'null', ';', '$1', '  ',
]; // biome-ignore format: a pool

const ask = (operator: Operator, value: unknown, is: Ask['is'], ofNull = false): Ask => ({
  operator,
  value,
  is,
  ofNull,
});
const unasked = (operator: Operator, is: Ask['is'], ofNull: boolean): Ask => ({ operator, is, ofNull });

/** An empty text is blank but not missing. */
const presence = (isBlank: Ask['is'] = () => false): Ask[] => [
  unasked('Missing', () => false, true),
  unasked('Present', (stored) => !isBlank(stored), false),
  unasked('Blank', isBlank, true),
];

function equality(values: readonly unknown[], same: (stored: unknown, value: unknown) => boolean): Ask[] {
  const some = values.slice(0, 3);
  return [
    ...values.flatMap((value) => [
      ask('Equal', value, (stored) => same(stored, value)),
      ask('NotEqual', value, (stored) => !same(stored, value), true),
    ]),
    ask('Equal', null, () => false, true),
    ask('NotEqual', null, () => true, false),
    ask('In', some, (stored) => some.some((value) => same(stored, value))),
    ask('In', [...some, null], (stored) => some.some((value) => same(stored, value)), true),
    ask('In', [null], () => false, true),
    ask('In', [], () => false),
    ask('NotIn', some, (stored) => !some.some((value) => same(stored, value)), true),
    ask('NotIn', [...some, null], (stored) => !some.some((value) => same(stored, value)), false),
    ask('NotIn', [], () => true, true),
  ];
}

function order(values: readonly unknown[], compare: (stored: unknown, value: unknown) => number): Ask[] {
  return values.flatMap((value) => [
    ask('LessThan', value, (stored) => compare(stored, value) < 0),
    ask('LessThanOrEqual', value, (stored) => compare(stored, value) <= 0),
    ask('GreaterThan', value, (stored) => compare(stored, value) > 0),
    ask('GreaterThanOrEqual', value, (stored) => compare(stored, value) >= 0),
  ]);
}

const low = (value: unknown) => String(value).toLowerCase();
const exact = (stored: unknown, value: unknown) => stored === value;
const inBytes = (stored: unknown, value: unknown) => Buffer.compare(Buffer.from(`${stored}`), Buffer.from(`${value}`));

/** Case-sensitive whatever the collation of the column. The forms with an I ignore case. */
const inTexts: Ask[] = needles.flatMap((needle) => [
  ask('Contains', needle, (stored) => `${stored}`.includes(needle)),
  ask('NotContains', needle, (stored) => !`${stored}`.includes(needle), true),
  ask('StartsWith', needle, (stored) => `${stored}`.startsWith(needle)),
  ask('EndsWith', needle, (stored) => `${stored}`.endsWith(needle)),
  ask('IContains', needle, (stored) => low(stored).includes(low(needle))),
  ask('NotIContains', needle, (stored) => !low(stored).includes(low(needle)), true),
  ask('IStartsWith', needle, (stored) => low(stored).startsWith(low(needle))),
  ask('IEndsWith', needle, (stored) => low(stored).endsWith(low(needle))),
]);

/** Patterns, with the stored texts that they match. */
const likes: readonly (readonly [Operator, string, readonly string[]])[] = [
  ['Like', '', ['']],
  ['Like', '_', [' ', 'a', 'A', 'b', '%', '_', '\\', '"', '`', 'ß', '😀', '*', '?', '0']],
  ['Like', '__', ['  ', 'ab', 'aB', 'Ab', 'AB', ' a', 'a ', '%%', '10', '\\%', "''", 'ss', '日本', '😀b', 'a😀', 'a$', '^a', '00', '-1', '{}', '$1', ':a', '?1']],
  ['Like', 'a%', ['a', 'ab', 'aB', 'abc', 'a ', 'a%b', 'a_b', 'axb', 'a\\b', 'a😀', 'a$']],
  ['Like', '%b', ['b', 'ab', 'Ab', 'a%b', 'a_b', 'axb', 'a\\b', '😀b']],
  ['Like', 'a_b', ['a%b', 'a_b', 'axb', 'a\\b']],
  ['Like', 'a\\_b', ['a_b']],
  ['Like', 'a\\%b', ['a%b']],
  ['Like', '%\\%', ['%', '%%', '10%', '\\%']],
  ['Like', '\\\\', ['\\']],
  ['Like', '%\\\\%', ['\\', 'a\\b', '\\%']],
  ['Like', "%'%", ["O'Brien", "''"]],
  ['Like', '_t_', ['été', 'Été', 'ete']],
  ['Like', '%😀%', ['😀', '😀b', 'a😀']],
  ['Like', '*', ['*']],
  ['Like', '[a]', ['[a]']],
  ['ILike', 'A', ['a', 'A']],
  ['ILike', 'aB', ['ab', 'aB', 'Ab', 'AB']],
  ['ILike', "o'b%", ["O'Brien"]],
  ['ILike', 'A\\_B', ['a_b']],
  ['ILike', 'n_LL', ['null', 'NULL']],
  ['ILike', '%\\\\', ['\\']],
]; // biome-ignore format: a table

const matches: readonly (readonly [string, readonly string[]])[] = [
  ['^a$', ['a']],
  ['(?i)^a$', ['a', 'A']],
  ['^$', ['']],
  ['^.$', [' ', 'a', 'A', 'b', '%', '_', '\\', '"', '`', 'ß', '😀', '*', '?', '0']],
  ['\\d{3}', ['100']],
  ['^[%_]+$', ['%', '_', '%%']],
]; // biome-ignore format: a table

const characters = (stored: unknown) => [...`${stored}`].length;
const someTexts: Ask[] = [
  ...presence((stored) => stored === ''),
  ...inTexts,
  ...likes.map(([operator, pattern, found]) => ask(operator, pattern, (stored) => found.includes(`${stored}`))),
  ...matches.map(([pattern, found]) => ask('Match', pattern, (stored) => found.includes(`${stored}`))),
  ...[0, 1, 2, 5].flatMap((length) => [
    ask('LongerThan', length, (stored) => characters(stored) > length),
    ask('ShorterThan', length, (stored) => characters(stored) < length),
  ]),
];
const textAsks: Ask[] = [
  ...someTexts,
  ...equality(texts, exact),
  ...order(['', 'a', 'A', 'b', 'a_b', 'é', '日本', '😀', "'", '\\'], inBytes),
];
const byCollation: readonly Operator[] = [
  'Equal', 'NotEqual', 'In', 'NotIn', 'LessThan', 'LessThanOrEqual', 'GreaterThan', 'GreaterThanOrEqual',
]; // biome-ignore format: a family

/** Numbers as integer ten-thousandths, to avoid rounding. */
const units = (value: unknown): bigint => {
  const [whole = '0', fraction = ''] = `${value}`.replace('-', '').split('.');
  const size = BigInt(whole) * 10_000n + BigInt(fraction.padEnd(4, '0'));
  return `${value}`.startsWith('-') ? -size : size;
};
const inSize = (stored: unknown, value: unknown) => {
  const [a, b] = [units(stored), units(value)];
  return a < b ? -1 : a > b ? 1 : 0;
};
const numeric = (given: readonly unknown[]): Ask[] => [
  ...presence(),
  ...equality(given, (one, value) => inSize(one, value) === 0),
  ...order(given, inSize),
];

const wholes = [0, 1, -1, 2, 42, 100, 2147483647, 2147483646, -2147483648, -2147483647];
const bigs = [0, 1, -1, 42, 9007199254740991, '9007199254740992', '9007199254740993', '-9007199254740993', '9223372036854775807', '-9223372036854775808']; // biome-ignore format: a pool
const decimals = [0, 0.01, -0.01, 0.1, 0.2, 0.3, 1, 1.5, -1.5, 10.25, 99.99, 100, '9999999999.99', '-9999999999.99'];
const doubles = [0, 0.5, -0.5, 1, 1e300, -1e300, 1e-300, 123456.789, 0.1];
const inFloat = (stored: unknown, value: unknown) => Number(stored) - Number(value);

const times = ['00:00:00', '00:00:01', '08:30:00', '11:59:59', '12:00:00', '23:59:58', '23:59:59'];
const choices = ['alpha', 'beta', 'gamma', 'omega'];
const uuids = [
  '00000000-0000-0000-0000-000000000000', '0e7b1d2a-90c4-4f1e-8a3b-000000000001', 'ae7b1d2a-90c4-4f1e-8a3b-000000000002',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
]; // biome-ignore format: a pool
const lists = [
  [],
  ['a'],
  ['A'],
  ['a', 'b'],
  ['b', 'a'],
  ['a', 'a'],
  ['a,b'],
  ['"'],
  ["O'Brien"],
  ['{}'],
  [' '],
  [''],
  ['é', '😀'],
];
const numberLists = [[], [0], [1], [1, 2], [2, 1], [-1, 2147483647]];

const includes = (given: readonly (readonly unknown[])[]): Ask[] =>
  given.flatMap((values) => [
    ask('IncludesAll', values, (stored) => values.every((value) => (stored as unknown[]).includes(value))),
    ask('IncludesNone', values, (stored) => !values.some((value) => (stored as unknown[]).includes(value)), true),
  ]);

/** Lists are equal if they have the same values in the same order. */
const listEquality = (given: readonly (readonly unknown[])[]): Ask[] =>
  [...given, null].flatMap((value) => {
    const same = (stored: unknown) => JSON.stringify(stored) === JSON.stringify(value);
    return [
      ask('Equal', value, same, value === null),
      ask('NotEqual', value, (stored) => !same(stored), value !== null),
    ];
  });

export const columns: readonly Column[] = [
  { type: 'text', stored: texts, asks: textAsks },
  // Each database decides how far such a column ignores case. Searches within a text do not depend on it.
  { type: 'loose', stored: texts, asks: someTexts, others: byCollation },
  { type: 'whole', stored: wholes, asks: numeric([...wholes, 2147483648, -2147483649, 0.5, 41.5]) },
  { type: 'big', stored: bigs, asks: numeric(bigs) },
  { type: 'decimal', stored: decimals, asks: numeric([...decimals, 0.005, 0.295, 10.2501]) },
  {
    type: 'double',
    stored: doubles,
    asks: [...presence(), ...equality(doubles, exact), ...order([...doubles, 0.25, 2e300], inFloat)],
  },
  { type: 'flag', stored: [true, false], asks: [...presence(), ...equality([true, false], exact)] },
  { type: 'choice', stored: choices, asks: [...presence(), ...equality(choices, exact)] },
  { type: 'uuid', stored: uuids, asks: [...presence(), ...equality(uuids, exact)] },
  { type: 'time', stored: times, asks: [...presence(), ...equality(times, exact), ...order(times, inBytes)] },
  { type: 'json', stored: [{}, [], { a: 1 }, [1], 'a', '', 0, true], asks: presence() },
  {
    type: 'list',
    stored: lists,
    asks: [
      ...presence(),
      ...listEquality([[], ['a'], ['a', 'b'], ['b'], ["O'Brien"], ['a,b'], ['']]),
      ...includes([['a'], ['A'], ['a', 'b'], ['b', 'a'], ['a', 'z'], ['a,b'], ['"'], ["O'Brien"], [' '], [''], ['é']]),
    ],
  },
  {
    type: 'numbers',
    stored: numberLists,
    asks: [
      ...presence(),
      ...listEquality([[], [1], [1, 2], [3]]),
      ...includes([[0], [1, 2], [2], [3], [2147483647, -1]]),
    ],
  },
  ...dates,
]; // biome-ignore format: a table
