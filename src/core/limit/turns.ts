// Work on the main thread that grows with the data is split into turns. Other calls run between two turns.
import { systemClock } from '../clock.ts';

const TURN_MS = 8;

/**
 * Call the returned function before working on a call of a user. It returns a promise to await if calls of the same
 * user have already used a full turn of the main thread, else undefined. One waiting call per user begins in each round
 * of the event loop. Another user therefore waits for one of them, not for the whole batch.
 */
export function createUserTurns(): (user: number) => Promise<void> | undefined {
  const queues = new Map<number, { readonly began: number; readonly waiting: (() => void)[] }>();

  function next(user: number): void {
    const queue = queues.get(user)!;
    const begin = queue.waiting.shift();
    if (!begin) return void queues.delete(user);
    setImmediate(next, user);
    begin();
  }

  return (user) => {
    const queue = queues.get(user);
    if (!queue) {
      queues.set(user, { began: systemClock.monotonic(), waiting: [] });
      setImmediate(next, user);
      return undefined;
    }
    if (queue.waiting.length === 0 && systemClock.monotonic() - queue.began < TURN_MS) return undefined;
    return new Promise((resolve) => queue.waiting.push(resolve));
  };
}

/** For all calls to this process, which has one main thread. */
export const userTurn = createUserTurns();

interface LongWork {
  readonly run: () => void;
  /** The position among all works, in the order in which they began. */
  readonly order: number;
}

/** Works of more turns are long. Four works of 100 ms that alternate have all of their documents in memory. */
const SHORT_TURNS = 4;

const short: (() => void)[] = [];
const long: LongWork[] = [];
let isLongNext = false;
let begun = 0;

/** Runs it in a later round of the event loop. One work continues in each round, whatever the number of works. */
export function continueLater(run: () => void): void {
  wakeUp();
  short.push(run);
}

/** Called before a work is added. */
function wakeUp(): void {
  if (short.length + long.length === 0) setImmediate(continueNext);
}

/**
 * Short and long works alternate. Of the long works, the one that began first continues until it ends: their memory
 * is then in use one after another. Short works take turns.
 */
function continueNext(): void {
  isLongNext = !isLongNext;
  const run = short.length === 0 || (isLongNext && long.length > 0) ? takeOldest() : short.shift();
  if (short.length + long.length > 0) setImmediate(continueNext);
  run?.();
}

function takeOldest(): (() => void) | undefined {
  const order = Math.min(...long.map((work) => work.order));
  const [oldest] = long.splice(
    long.findIndex((work) => work.order === order),
    1,
  );
  return oldest?.run;
}

/**
 * Call the returned function between parts of the work. It returns a promise to await when the turn is over, else
 * undefined.
 */
export function createTurns(): () => Promise<void> | undefined {
  const order = ++begun;
  let turns = 0;
  let began = systemClock.monotonic();
  return () => {
    if (systemClock.monotonic() - began < TURN_MS) return undefined;
    turns++;
    return new Promise((resolve) => {
      const run = () => {
        began = systemClock.monotonic();
        resolve();
      };
      if (turns < SHORT_TURNS) return continueLater(run);
      wakeUp();
      long.push({ run, order });
    });
  };
}
