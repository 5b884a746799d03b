// The driver errors that mean a database server is unavailable: it cannot be reached, is stopping or starting, is at
// its connection limit, or dropped the connection. Some errors have a code, others only a message.

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
  // PostgreSQL: connection failures; a server that is stopping, starting or full.
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

/** ER_CONNECTION_KILLED of MariaDB; its driver has no name for it. */
const KILLED = 1927;

const messages = new RegExp(
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

/**
 * Whether the error means that the database server is unavailable or was lost. A running statement may have completed.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno, message } = error as NodeJS.ErrnoException;
  return codes.has(code) || errno === KILLED || (code === undefined && messages.test(message));
}
