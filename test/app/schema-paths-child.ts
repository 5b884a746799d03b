// An agent that starts with the given paths and reports whether it could. It is imported, or runs in its own process
// with the options as a JSON argument.
import { createMemoryDataSource } from '../../src/agent/data-sources.ts';
import { createAgent } from '../../src/index.ts';

export interface PathOptions {
  readonly schemaPath: string;
  readonly typingsPath: string;
  readonly isProduction?: boolean;
}

export async function startAt(options: PathOptions): Promise<{ readonly problem?: string }> {
  const table = { name: 'notes', columns: [{ name: 'id', type: 'Number' as const }], primaryKey: ['id'], rows: [[1]] };
  const secrets = { authSecret: 'auth-secret-of-the-test', envSecret: 'env-secret-of-the-test' };
  const agent = createAgent({ ...secrets, loggerLevel: 'Error', ...options }).addDataSource(
    createMemoryDataSource('memory', [table]),
  );
  try {
    await agent.start();
    await agent.stop();
    return {};
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

const [, , options] = process.argv;
if (process.send && options?.startsWith('{')) process.send(await startAt(JSON.parse(options) as PathOptions));
