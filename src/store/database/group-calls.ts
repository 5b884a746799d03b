// Group commit on a database server: the calls that wait while a group is committed are the next group.
import { isUnavailable } from '../../core/errors/away.ts';

/** On a server, whose connections and messages are limited. */
const MAX_GROUP = 100;

interface WaitingCall<T, R> {
  readonly item: T;
  readonly resolve: (answer: R) => void;
  readonly reject: (error: unknown) => void;
}

/** `runAll` commits all items or none, and returns an answer for each. */
export function groupCalls<T, R>(runAll: (items: readonly T[]) => Promise<readonly R[]>): (item: T) => Promise<R> {
  let waiting: WaitingCall<T, R>[] = [];
  let isRunning = false;

  async function settle(group: readonly WaitingCall<T, R>[]): Promise<void> {
    try {
      const answers = await runAll(group.map(({ item }) => item));
      group.forEach(({ resolve }, at) => void resolve(answers[at]!));
    } catch (error) {
      // A lost connection may have committed the group: a second attempt would write it twice.
      if (group.length === 1 || isUnavailable(error)) for (const { reject } of group) reject(error);
      else for (const one of group) await settle([one]);
    }
  }

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.slice(0, MAX_GROUP);
      waiting = waiting.slice(MAX_GROUP);
      await settle(group);
    }
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      setImmediate(run);
    });
}
