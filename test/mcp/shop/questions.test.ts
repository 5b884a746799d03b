// Analytic questions about the demo shop. First guesses of a model that has read only tools/list are done as meant, or
// refused with the call to send. Questions of an analyst are answered by one call. Plain SQL says what is right.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Demo, failuresOf, openDemo } from './asking.ts';
import { simpleGuesses } from './guesses-1.ts';
import { harderGuesses } from './guesses-2.ts';
import { questions } from './questions-1.ts';
import { moreQuestions, unanswered } from './questions-2.ts';

const LEAST_SHARE = 0.95;

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo();
});
afterAll(() => demo.close());

/** At first 41 of the 60. */
test('first guesses work as intended, or are refused with the correct call', async () => {
  const guesses = [...simpleGuesses, ...harderGuesses];
  const { wrong, failed } = await failuresOf(demo, guesses);
  expect(guesses.length).toBe(60);
  expect(wrong).toEqual([]);
  expect(1 - failed.length / 60, failed.join('\n')).toBeGreaterThanOrEqual(LEAST_SHARE);
});

describe('questions of an analyst', () => {
  const all = [...questions, ...moreQuestions];
  test.each(all.map((question) => [question.question, question] as const))('%s', async (_name, question) => {
    const [outcome, text] = await demo.outcomeOf(question);
    expect(outcome, text.slice(0, 1000)).toBe('done');
  });

  test('most of the forty take one call', () => {
    expect(all.length + unanswered.length).toBe(40);
    expect(all.length / 40).toBeGreaterThanOrEqual(LEAST_SHARE);
  });
});
