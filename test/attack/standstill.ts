// The effect of an attack on other users: how long they wait, and whether the server still runs.
import { systemClock } from '../../src/core/clock.ts';
import type { Person, Target } from './target.ts';

export interface Felt {
  /** The longest wait of an honest call, in milliseconds. */
  readonly waited: number;
  /** Failed honest calls, and the end of the process. */
  readonly failures: readonly string[];
}

/**
 * The longest that a call of another user may wait during an attack, on a machine with other load. The attacks blocked
 * the process for 8 to 148 seconds.
 */
const HELD_UP_MS = 5000;
const GIVEN_UP_MS = 12_000;

export const isHeldUp = ({ waited, failures }: Felt): boolean => waited > HELD_UP_MS || failures.length > 0;

/** Makes an honest call every 50 ms until the attack is over, for at most `mostMs`. */
export async function feel(
  target: Target,
  attack: () => Promise<unknown>,
  { honest, mostMs = 10_000 }: { readonly honest: () => Promise<unknown>; readonly mostMs?: number },
): Promise<Felt> {
  const failures: string[] = [];
  let waited = 0;
  let isOver = false;
  void target.ended.then(({ code }) => {
    if (!isOver) failures.push(`the server ended with ${code}`);
    isOver = true;
  });
  const over = Promise.race([attack(), systemClock.sleep(mostMs)])
    .catch(() => undefined)
    .then(() => {
      isOver = true;
    });
  while (!isOver) {
    const began = systemClock.monotonic();
    const late = systemClock.sleep(GIVEN_UP_MS).then(() => 'no answer');
    const answer = JSON.stringify(await Promise.race([honest().catch(String), late]));
    waited = Math.max(waited, systemClock.monotonic() - began);
    if (!answer.startsWith('{')) failures.push(answer.slice(0, 100));
    if (waited > HELD_UP_MS || failures.length > 0) isOver = true;
    await systemClock.sleep(50);
  }
  await Promise.race([over, systemClock.sleep(50)]);
  return { waited: Math.round(waited), failures };
}

/** A list with few rows. */
export const listOf =
  (person: Person, collectionName: string, filters?: object): (() => Promise<unknown>) =>
  () =>
    person.call('list', { collectionName, pagination: { size: 5 }, ...(filters && { filters }) });
