// Helpers that return the error of a failed call of the test client.
import { AgentHttpError } from '../../src/testing/index.ts';

export async function thrown(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    return error;
  }
}

/** Status and code of an AgentHttpError. */
export async function failing(run: () => unknown): Promise<unknown> {
  const error = await thrown(run);
  return error instanceof AgentHttpError ? [error.status, error.code] : error;
}
