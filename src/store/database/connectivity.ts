// Watches the connection to a database server. While the server is unavailable, statements fail with
// SOURCE_UNAVAILABLE. The operator gets one warning for each outage, not one for each call. A server that never accepts
// the connection, for example because of a wrong password, is CONFIGURATION.
import type { Knex } from 'knex';
import { explainConnection, type ServerPlace } from '../../core/errors/connection.ts';
import { AppError, giveMeaning } from '../../core/errors.ts';
import { markLogged } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';

export function watchServer(database: Knex, place: ServerPlace, observe: Observe): void {
  let isTold = false;
  const look = (error: unknown): void => {
    const failure = explainConnection(error, place);
    if (!failure) return;
    const isAway = failure.kind === 'away';
    const meaning = isAway
      ? new AppError('SOURCE_UNAVAILABLE', {}, failure)
      : new AppError(
          'CONFIGURATION',
          { problem: `The storage cannot be used: ${failure.reason}. The log says where.` },
          failure,
        );
    giveMeaning(error as Error, markLogged(meaning));
    if (isTold) return;
    isTold = true;
    const then = isAway ? ' Calls are refused, and runs of workflows wait, until it answers.' : '';
    observe({ type: 'warning', message: `The storage is not available. ${failure.message}${then}` });
  };
  database.on('query-error', look);
  database.on('query-response', () => {
    isTold = false;
  });
  // Knex emits no event when it fails to acquire a connection. Transactions use this method too.
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
