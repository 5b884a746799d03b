// How the drivers say that a database server is not there: it cannot be reached, it stops or starts, it has no room for another
// connection, or the one that was in use is lost. Some of it has a code and some no more than a sentence.

const codes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // MariaDB and MySQL.
  'PROTOCOL_CONNECTION_LOST',
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_SERVER_GONE_ERROR',
  'ER_SERVER_LOST',
  'ER_CON_COUNT_ERROR',
  'ER_NEW_ABORTING_CONNECTION',
  // PostgreSQL: connection failures; a server that stops, starts or is full.
  '08000',
  '08003',
  '08006',
  '08001',
  '08004',
  '53300',
  '57P01',
  '57P02',
  '57P03',
]);

/** ER_CONNECTION_KILLED of MariaDB, which its driver has no name for. */
const KILLED = 1927;

const sentences = new RegExp(
  [
    // mysql2.
    'connection is in closed state',
    // pg and its pool.
    'Connection terminated',
    'timeout exceeded when trying to connect',
    'timeout expired',
    'is not queryable',
    // knex.
    'Timeout acquiring a connection',
  ].join('|'),
);

/** Whether it says that the server of a database is not there, or went away. A statement under way may have been done. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno, message } = error as NodeJS.ErrnoException;
  return codes.has(code) || errno === KILLED || (code === undefined && sentences.test(message));
}
