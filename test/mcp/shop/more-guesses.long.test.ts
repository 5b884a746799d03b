// Three sets of 20 first guesses. Each was written after the repairs for the sets before it, and before it ran.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Demo, failuresOf, openDemo } from './asking.ts';
import { freshGuesses } from './guesses-3.ts';
import { lastGuesses } from './guesses-4.ts';
import { thirdGuesses } from './guesses-5.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterAll(() => demo.close());

test.each([
  ['11 at first', freshGuesses],
  ['14 at first', lastGuesses],
  ['10 at first', thirdGuesses],
] as const)('20 guesses, %s', async (_name, guesses) => {
  const { wrong, failed } = await failuresOf(demo, guesses);
  expect(guesses.length).toBe(20);
  expect(wrong).toEqual([]);
  expect(failed.length, failed.join('\n')).toBeLessThanOrEqual(1);
});
