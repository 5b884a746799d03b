// Runs the tables against one server, only over HTTP.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { titleOf } from './case.ts';
import { type ConformanceServer, type Mount, openConformanceServer } from './conformance-server.ts';
import { standards } from './standards.ts';

/** `every`: 1 for all cases, 4 for every fourth. */
export function runSuite(mount: Mount, every = 1): void {
  let at: ConformanceServer;
  beforeAll(async () => {
    at = await openConformanceServer(mount);
  });
  afterEach(() => at.reset());
  afterAll(() => at.stop());

  describe.each(standards)('$name', ({ cases }) => {
    const chosen = cases.filter((_one, index) => index % every === 0);
    test.each(chosen.map((one) => [titleOf(one), one] as const))('%s', async (_title, { send, back }) => {
      expect(await send(at)).toEqual(typeof back === 'function' ? back(at) : back);
    });
  });
}
