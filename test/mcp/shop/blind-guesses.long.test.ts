// Sixty first guesses of analytic calls, written and committed before one of them ran.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Demo, failuresOf, openDemo } from './asking.ts';
import { blindGuesses } from './guesses-6.ts';
import { moreBlindGuesses } from './guesses-7.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterAll(() => demo.close());

test('sixty blind guesses', async () => {
  const guesses = [...blindGuesses, ...moreBlindGuesses];
  const { wrong, failed } = await failuresOf(demo, guesses);
  expect(guesses.length).toBe(60);
  expect(wrong).toEqual([]);
  expect(failed.length, failed.join('\n')).toBeLessThanOrEqual(3);
});
