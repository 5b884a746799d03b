import { expect, test } from 'vitest';
import { createRegistry } from '../../src/core/observe/prometheus.ts';

test.each([
  [0, [1, 1, 1]],
  [0.1, [1, 1, 1]],
  [0.1000001, [0, 1, 1]],
  [5, [0, 1, 1]],
  [5.000001, [0, 0, 1]],
])('a value of %d is in the buckets whose upper bound is not below it', (value, [small, large, infinite]) => {
  const registry = createRegistry();
  registry.histogram({ name: 'seconds', help: 'Durations.', labels: [], bounds: [0.1, 5] }).observe([], value);
  expect(registry.text()).toContain(
    `seconds_bucket{le="0.1"} ${small}\nseconds_bucket{le="5"} ${large}\nseconds_bucket{le="+Inf"} ${infinite}\n`,
  );
});
