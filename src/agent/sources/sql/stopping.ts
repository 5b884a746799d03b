// What every server does alike when a caller goes away or time is up: the statement is stopped on the server, from
// another connection, and only then is the call over. The connection that ran it is thrown away, since a stop that comes
// late would hit the next statement on it; and a stop that comes too early hits nothing, so it is repeated.
import type { Clock } from '../../../core/clock.ts';
import { isAway } from '../../../core/errors/away.ts';
import { AppError } from '../../../core/errors.ts';
import type { ReadOptions } from '../source.ts';

export interface Server<C, T> {
  readonly connect: () => Promise<C>;
  readonly execute: (connection: C) => Promise<T>;
  /** Asks the server to stop what the connection runs. */
  readonly stop: (connection: C) => Promise<void>;
  /** Gives the connection back; `broken` when it must not be used again. */
  readonly give: (connection: C, broken: boolean) => void;
  /** What came to its end in spite of a stop has happened, and is told: a commit must not look like a failure. */
  readonly lasting?: boolean;
}

/** CANCELLED or TIMED_OUT when it was stopped, be it while waiting for a connection or while the statement ran. */
export async function runStoppable<C, T>(
  server: Server<C, T>,
  clock: Clock,
  { signal, timeoutMs }: ReadOptions,
): Promise<T> {
  if (signal?.aborted) throw new AppError('CANCELLED', {});
  let reason: AppError | undefined;
  let giveUp: (why: AppError) => void = () => undefined;
  const givenUp = new Promise<never>((_, reject) => {
    giveUp = reject;
  });
  givenUp.catch(() => undefined);
  // While there is no connection yet, there is nothing to stop.
  let halt = giveUp;
  const begin = (why: AppError) => {
    if (reason) return;
    reason = why;
    halt(why);
  };
  const forget = clock.after(timeoutMs, () => begin(new AppError('TIMED_OUT', { seconds: timeoutMs / 1000 })));
  const cancel = () => begin(new AppError('CANCELLED', {}));
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const connecting = server.connect();
    const connection = await Promise.race([connecting, givenUp]).catch((error: unknown) => {
      connecting.then(
        (late) => server.give(late, false),
        () => undefined,
      );
      throw error;
    });
    if (reason) {
      server.give(connection, false);
      throw reason;
    }
    const running = server.execute(connection);
    let halting: Promise<void> | undefined;
    halt = (why) => {
      halting = stopUntilOver(running, () => server.stop(connection), clock).then((over) => {
        if (!over) giveUp(why);
      });
    };
    try {
      const answer = await Promise.race([running, givenUp]);
      if (reason && !server.lasting) throw reason;
      return answer;
    } catch (error) {
      throw reason ?? error;
    } finally {
      await halting;
      server.give(connection, reason !== undefined);
    }
  } finally {
    forget();
    signal?.removeEventListener('abort', cancel);
  }
}

const mostTries = 20;
const retryMilliseconds = 100;

/** Whether the statement came to an end; false when the server cannot be asked, or does not obey. */
async function stopUntilOver(running: Promise<unknown>, stop: () => Promise<void>, clock: Clock): Promise<boolean> {
  let over = false;
  const end = running.then(
    () => undefined,
    () => undefined,
  );
  end.then(() => {
    over = true;
  });
  for (let tries = 0; tries < mostTries && !over; tries++) {
    try {
      await stop();
    } catch {
      return over;
    }
    await Promise.race([end, clock.sleep(retryMilliseconds)]);
  }
  return over;
}

/**
 * What the driver says, as the caller may hear it; its own words stay in the cause. SOURCE_UNAVAILABLE for a server that
 * cannot be reached or went away; CONFIGURATION where it refuses what the address says; anything else as it is.
 */
export function translate(error: unknown): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  const problem = typeof code === 'string' ? refusals[code] : undefined;
  if (problem) return new AppError('CONFIGURATION', { problem }, error);
  return isAway(error) ? new AppError('SOURCE_UNAVAILABLE', {}, error) : error;
}

const WRONG_USER = 'The database refuses the user or the password of its address.';
const NO_DATABASE = 'The database server has no database of the name that the address gives.';
export const NO_TLS = "The database server offers no TLS: connect with sslMode 'disabled', or switch TLS on there.";
const NOT_TRUSTED =
  "The certificate of the database server cannot be verified: give its authority as ssl.ca, or only encrypt with sslMode 'required'.";
const refusals: Readonly<Record<string, string>> = {
  ER_ACCESS_DENIED_ERROR: WRONG_USER,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: WRONG_USER,
  ER_DBACCESS_DENIED_ERROR: WRONG_USER,
  ER_BAD_DB_ERROR: NO_DATABASE,
  '28000': WRONG_USER,
  '28P01': WRONG_USER,
  '3D000': NO_DATABASE,
  HANDSHAKE_NO_SSL_SUPPORT: NO_TLS,
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  CERT_HAS_EXPIRED: NOT_TRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: NOT_TRUSTED,
  HANDSHAKE_SSL_ERROR: NOT_TRUSTED,
};
