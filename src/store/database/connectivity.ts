// Watches the connection to a database server. While the server is unavailable, statements fail with
// SOURCE_UNAVAILABLE. The operator gets one warning for each outage, not one for each call. A server that never accepts
// the connection, for example because of a wrong password, is CONFIGURATION.
import type { Knex } from 'knex';
import { explainConnection, type ServerLocation } from '../../core/errors/connection.ts';
import { AppError, registerAppError } from '../../core/errors.ts';
import { markLogged } from '../../core/observe/failures.ts';
import type { Observe } from '../../core/observe.ts';

export function watchConnectivity(database: Knex, location: ServerLocation, observe: Observe): void {
  let isReported = false;
  const reportError = (error: unknown): void => {
    const failure = explainConnection(error, location);
    if (!failure) return;
    const isUnavailable = failure.kind === 'away';
    const appError = isUnavailable
      ? new AppError('SOURCE_UNAVAILABLE', {}, failure)
      : new AppError(
          'CONFIGURATION',
          { problem: `The storage cannot be used: ${failure.reason}. The log has details.` },
          failure,
        );
    registerAppError(error as Error, markLogged(appError));
    if (isReported) return;
    isReported = true;
    const then = isUnavailable ? ' Calls are rejected and workflow runs wait until it answers.' : '';
    observe({ type: 'warning', message: `The storage is not available. ${failure.message}${then}` });
  };
  database.on('query-error', reportError);
  database.on('query-response', () => {
    isReported = false;
  });
  // Knex emits no event when it fails to acquire a connection. Transactions use this method too.
  const client = database.client as { acquireConnection(): Promise<unknown> };
  const acquire = client.acquireConnection.bind(client);
  client.acquireConnection = async () => {
    try {
      return await acquire();
    } catch (error) {
      reportError(error);
      throw error;
    }
  };
}
