// Setup and teardown of a whole run: drops the databases that its files share.
import { randomBytes } from 'node:crypto';

export function setup(): (() => Promise<void>) | undefined {
  // Each project of a run calls setup. A run started by a test belongs to the outer run.
  if (process.env.TEST_RUN !== undefined) return undefined;
  const run = `portico_test_${randomBytes(4).toString('hex')}_`;
  process.env.TEST_RUN = run;
  return async () => {
    const { servers } = await import('./databases.ts');
    for (const server of servers) await server.dropAll(run);
  };
}
