// Work on the main thread that grows with the data is split into turns. Other calls run between two turns.
import { systemClock } from '../clock.ts';

const TURN_MS = 8;

/**
 * Call the returned function before working on a call of a user. It returns a promise to await if calls of the same
 * user have already used a full turn of the main thread, else undefined. One waiting call per user begins in each round
 * of the event loop. Another user therefore waits for one of them, not for the whole batch.
 */
export function createUserTurns(): (user: number) => Promise<void> | undefined {
  const lines = new Map<number, { readonly began: number; readonly waiting: (() => void)[] }>();

  function next(user: number): void {
    const line = lines.get(user)!;
    const begin = line.waiting.shift();
    if (!begin) return void lines.delete(user);
    setImmediate(next, user);
    begin();
  }

  return (user) => {
    const line = lines.get(user);
    if (!line) {
      lines.set(user, { began: systemClock.monotonic(), waiting: [] });
      setImmediate(next, user);
      return undefined;
    }
    if (line.waiting.length === 0 && systemClock.monotonic() - line.began < TURN_MS) return undefined;
    return new Promise((resolve) => line.waiting.push(resolve));
  };
}

/** For all calls to this process, which has one main thread. */
export const userTurn = createUserTurns();

/** Long works that wait for their next turn. */
const waiting: (() => void)[] = [];

/** Runs it in a later round of the event loop. One work continues in each round, whatever the number of works. */
export function continueLater(run: () => void): void {
  if (waiting.length === 0) setImmediate(continueNext);
  waiting.push(run);
}

function continueNext(): void {
  const run = waiting.shift();
  if (waiting.length > 0) setImmediate(continueNext);
  run?.();
}

/**
 * Call the returned function between parts of the work. It returns a promise to await when the turn is over, else
 * undefined.
 */
export function createTurns(): () => Promise<void> | undefined {
  let began = systemClock.monotonic();
  return () => {
    if (systemClock.monotonic() - began < TURN_MS) return undefined;
    return new Promise((resolve) =>
      continueLater(() => {
        began = systemClock.monotonic();
        resolve();
      }),
    );
  };
}
