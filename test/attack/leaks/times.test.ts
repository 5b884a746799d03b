import { expect, test } from 'vitest';
import { createRandom } from '../../agent/oracle/random.ts';
import { mannWhitney } from './times.ts';

const series = (seed: number, more = 0) => {
  const random = createRandom(seed);
  return Array.from({ length: 200 }, () => random.number(1000) + more);
};

test('known values: the probability of two series', () => {
  // By wilcox.test of R, with correct = TRUE and exact = FALSE.
  expect(mannWhitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])).toBeCloseTo(0.01219, 4);
  expect(mannWhitney([1, 1, 2, 2], [1, 1, 2, 2])).toBeCloseTo(1, 5);
});

test('the test separates series of two distributions, not series of one', () => {
  const low = Array.from({ length: 500 }, (_, at) => mannWhitney(series(2 * at), series(2 * at + 1))).filter(
    (p) => p < 0.05,
  );
  expect(low.length / 500).toBeLessThan(0.1);
  expect(mannWhitney(series(1), series(2, 150))).toBeLessThan(0.001);
});
