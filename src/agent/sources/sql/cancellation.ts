// The shared handling of cancellation and timeouts on database servers. Another connection stops the statement on the
// server before the call ends. The connection that ran it is destroyed, since a late stop would hit its next statement.
// A stop that arrives before the statement starts has no effect, so it is repeated.
import type { Socket } from 'node:net';
import type { Clock } from '../../../core/clock.ts';
import { ConnectionFailure, explainConnection, type ServerLocation } from '../../../core/errors/connection.ts';
import { AppError } from '../../../core/errors.ts';
import { continueLater } from '../../../core/limit/turns.ts';
import type { ReadOptions } from '../source.ts';
import { createAnswerTooLarge, MAX_ANSWER_BYTES } from './answer-size.ts';

interface StoppableServer<C, T> {
  readonly connect: () => Promise<C>;
  readonly execute: (connection: C) => Promise<T>;
  /** Asks the server to stop the connection's running statement. */
  readonly stop: (connection: C) => Promise<void>;
  /** Releases the connection; `broken` if it must not be reused. */
  readonly release: (connection: C, broken: boolean) => void;
  /** The connection's socket. It is destroyed once a response exceeds the limit. */
  readonly socketOf?: (connection: C) => Socket;
  /** Returns the result even if the statement finished despite a stop: a commit must not look like a failure. */
  readonly keepsResult?: boolean;
}

/**
 * Runs a statement that can be stopped. Throws CANCELLED, TIMED_OUT or ANSWER_TOO_LARGE if it was stopped, while it ran
 * or while it waited for a connection.
 */
export async function runStoppable<C, T>(
  server: StoppableServer<C, T>,
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
  // Before there is a connection, a stop only ends the wait.
  let reject = giveUp;
  const begin = (why: AppError) => {
    if (reason) return;
    reason = why;
    reject(why);
  };
  const forget = clock.after(timeoutMs, () => begin(new AppError('TIMED_OUT', { seconds: timeoutMs / 1000 })));
  const cancel = () => begin(new AppError('CANCELLED', {}));
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const connecting = server.connect();
    const connection = await Promise.race([connecting, givenUp]).catch((error: unknown) => {
      connecting.then(
        (late) => server.release(late, false),
        () => undefined,
      );
      throw error;
    });
    if (reason) {
      server.release(connection, false);
      throw reason;
    }
    const unlimit = limitResponse(server.socketOf?.(connection), () => {
      reason ??= createAnswerTooLarge();
      giveUp(reason);
    });
    const running = server.execute(connection);
    let stopping: Promise<void> | undefined;
    reject = (why) => {
      stopping = stopUntilOver(running, () => server.stop(connection), clock).then((over) => {
        if (!over) giveUp(why);
      });
    };
    try {
      const answer = await Promise.race([running, givenUp]);
      if (reason && !server.keepsResult) throw reason;
      return answer;
    } catch (error) {
      throw reason ?? error;
    } finally {
      unlimit();
      await stopping;
      server.release(connection, reason !== undefined);
    }
  } finally {
    forget();
    signal?.removeEventListener('abort', cancel);
  }
}

/** A larger answer is read in turns with the other long works of this process. */
const BYTES_BEFORE_TURNS = 128_000;

/**
 * Counts bytes as they arrive: drivers buffer a whole response, even a single cell. Without pauses, one round of the
 * event loop would read and decode megabytes from each connection.
 */
function limitResponse(socket: Socket | undefined, tooLarge: () => void): () => void {
  if (!socket) return () => undefined;
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) {
      tooLarge();
      socket.destroy();
    } else if (bytes > BYTES_BEFORE_TURNS) {
      socket.pause();
      continueLater(() => socket.resume());
    }
  };
  socket.on('data', count);
  return () => socket.off('data', count);
}

const MAX_STOP_ATTEMPTS = 20;
const STOP_RETRY_MS = 100;

/** Whether the statement ended; false if the server cannot be reached or does not stop it. */
async function stopUntilOver(running: Promise<unknown>, stop: () => Promise<void>, clock: Clock): Promise<boolean> {
  let over = false;
  const end = running.then(
    () => undefined,
    () => undefined,
  );
  end.then(() => {
    over = true;
  });
  for (let tries = 0; tries < MAX_STOP_ATTEMPTS && !over; tries++) {
    try {
      await stop();
    } catch {
      return over;
    }
    await Promise.race([end, clock.sleep(STOP_RETRY_MS)]);
  }
  return over;
}

/**
 * Translates a driver's error for the caller. SOURCE_UNAVAILABLE if the server is unreachable or the connection was
 * lost; CONFIGURATION if the server rejects the configured address or credentials. Their cause has the server and the
 * reason. Returns all other errors unchanged.
 */
export function translateError(error: unknown, place: ServerLocation | undefined): unknown {
  const failure = place && explainConnection(error, place);
  if (!failure) return error;
  if (failure.kind === 'away') return new AppError('SOURCE_UNAVAILABLE', {}, failure);
  const problem = `The database cannot be used: ${failure.reason}. Tell the operator: the log has the server, and what to change.`;
  return new AppError('CONFIGURATION', { problem }, failure);
}

/** The same errors with their full reason, for the operator at start. */
export function translateAtStart(error: unknown): unknown {
  const failure = error instanceof AppError ? error.cause : undefined;
  if (!(failure instanceof ConnectionFailure)) return error;
  const problem = failure.message;
  return new AppError(failure.kind === 'away' ? 'SOURCE_UNAVAILABLE' : 'CONFIGURATION', { problem }, failure);
}
