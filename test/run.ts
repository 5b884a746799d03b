// Before all tests of a run and after them: databases that its files share are dropped at its end.
import { randomBytes } from 'node:crypto';

export function setup(): (() => Promise<void>) | undefined {
  // Each project of the run asks for this; and a run within a test is a part of that test's.
  if (process.env.TEST_RUN !== undefined) return undefined;
  const run = `portico_test_${randomBytes(4).toString('hex')}_`;
  process.env.TEST_RUN = run;
  return async () => {
    const { servers } = await import('./databases.ts');
    for (const server of servers) await server.dropAll(run);
  };
}
