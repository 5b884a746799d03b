// First guesses of analytic calls, each written and committed before it ran. The later ones were written after the repairs.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Demo, failuresOf, openDemo } from './asking.ts';
import { blindGuesses } from './guesses-6.ts';
import { moreBlindGuesses } from './guesses-7.ts';
import { laterGuesses } from './guesses-8.ts';
import { widerGuesses } from './guesses-9.ts';
import { otherWiderGuesses } from './guesses-10.ts';
import { latestGuesses } from './guesses-11.ts';
import { newestGuesses } from './guesses-12.ts';
import { freshGuesses } from './guesses-13.ts';
import { sparseGuesses } from './guesses-14.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterAll(() => demo.close());

test.each([
  ['39 at first', [...blindGuesses, ...moreBlindGuesses], 60, 0],
  ['13 at first', laterGuesses, 20, 0],
  ['15 at first', [...widerGuesses, ...otherWiderGuesses], 40, 4],
  // A group by an age is left.
  ['12 of 60 at first', latestGuesses, 12, 1],
  // Texts put together, the latest record, relations behind relations; two are answered with other labels and columns.
  ['none of 16 of another 60 at first', newestGuesses, 16, 7],
  // Parts of texts, relations behind relations; two are answered with other labels and columns than the SQL has.
  ['none of 15 of another 60 at first', freshGuesses, 15, 4],
  // Days between dates in a form of their own, ranks in lists, averages of all, the latest record, groups by a condition.
  ['none of 16 of another 60 at first', sparseGuesses, 16, 14],
] as const)('%s', async (_name, guesses, count, most) => {
  const { wrong, failed } = await failuresOf(demo, guesses);
  expect(guesses.length).toBe(count);
  expect(wrong).toEqual([]);
  expect(failed.length, failed.join('\n')).toBeLessThanOrEqual(most);
});
