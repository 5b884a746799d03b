// A storage on a server may go away and come back. What its statements throw then is told to callers as SOURCE_UNAVAILABLE, and the
// operator is told once each time, not with every call.
import type { Knex } from 'knex';
import { isAway } from '../core/errors/away.ts';
import { AppError, giveMeaning } from '../core/errors.ts';
import type { Observe } from '../core/observe.ts';

export function watchServer(database: Knex, observe: Observe): void {
  let isTold = false;
  const look = (error: unknown): void => {
    if (!isAway(error)) return;
    giveMeaning(error as Error, new AppError('SOURCE_UNAVAILABLE', {}, error));
    if (isTold) return;
    isTold = true;
    const { code = 'lost' } = error as NodeJS.ErrnoException;
    const message = `SERVICE_STORAGE_URL: the database does not answer (${code}). Calls are refused, and runs of workflows wait, until it does.`;
    observe({ type: 'warning', message });
  };
  database.on('query-error', look);
  database.on('query-response', () => {
    isTold = false;
  });
  // Who gets no connection is told by no event. Transactions ask here too.
  const client = database.client as { acquireConnection(): Promise<unknown> };
  const acquire = client.acquireConnection.bind(client);
  client.acquireConnection = async () => {
    try {
      return await acquire();
    } catch (error) {
      look(error);
      throw error;
    }
  };
}
