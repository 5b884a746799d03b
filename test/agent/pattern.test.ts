import { expect, test } from 'vitest';
import { compilePattern } from '../../src/agent/sources/pattern.ts';
import { createRandom } from './oracle/random.ts';

const patterns = [
  /^a+$/, /a|b|^$/, /^(?:ab|c)*d?$/, /x{2,3}y/, /^x{2}$/, /^x{2,}$/, /[^a-c]z/, /\bword\b/, /\Bx/, /^\d{1,3}(\.\d{1,3}){3}$/,
  /a.b/s, /a.b/, /^HELLO$/i, /^b$/m, /[\]\-\\]/, /\u0041\x42/, /(?<year>\d{4})-(\d\d)/, /\p{Lu}\p{Ll}+/u, /^.$/u, /(a*)*b/,
  /(?:)/, /a*?b+?/, /\//, /[aé]ß/i, /a{,2}/, /^(|a|b(c|d)+)$/,
]; // biome-ignore format: a pool
const letters = [
  'a',
  'b',
  'c',
  'd',
  'x',
  'y',
  'z',
  'A',
  'B',
  'H',
  'é',
  'ß',
  '1',
  '2',
  '.',
  '-',
  '\\',
  ']',
  '\n',
  ' ',
  '😀',
  '/',
  '{',
  ',',
  '}',
];

test('a pattern gives the results of JavaScript where both syntaxes agree', () => {
  const random = createRandom(7);
  const texts = ['', 'ab', 'aaab', '10.0.0.1', 'a word here', 'hello', 'Zebra', '2024-05-06', 'a{,2}', 'AB', 'abcabcd'];
  for (let count = 0; count < 400; count++)
    texts.push(Array.from({ length: random.number(9) }, () => random.pick(letters)).join(''));
  const found = patterns.map((pattern) => texts.filter((text) => compilePattern(pattern).test(text)));
  expect(found).toEqual(patterns.map((pattern) => texts.filter((text) => pattern.test(text))));
});

test('a pattern with nested repetitions matches a long text in linear time', () => {
  const pattern = compilePattern('^(a+)+$');
  expect([pattern.test(`${'a'.repeat(50_000)}!`), pattern.test('a'.repeat(50_000))]).toEqual([false, true]);
});

test.each([
  ['(', 'missing closing )'],
  ['(?=a)b', 'invalid or unsupported Perl syntax'],
  ['(?<!a)b', 'invalid named capture'],
  ['(a)\\1', 'invalid escape sequence'],
  ['(?<a>x)\\k<a>', 'backreferences cannot be used'],
  ['((x{99}){99}){99}', 'it expands to more than 1000 characters with its repetitions'],
  ['(?:[a-z]{0,30}x){40}', 'it expands to more than 1000 characters with its repetitions'],
  ['\\p{L}'.repeat(20), 'it expands to more than 1000 characters with its repetitions'],
  ['x'.repeat(1001), 'it has more than 1000 characters'],
  [7 as never, 'expected a regular expression or a string'],
])('%s is refused: %s', (source, problem) => {
  expect(() => compilePattern(source)).toThrow(new SyntaxError(problem));
});

test('the error about a pattern does not contain the pattern', () => {
  expect(() => compilePattern('a secret: `(')).toThrow(new SyntaxError('missing closing )'));
});
