// Group commit on a database server: while one group commits, new calls collect into the next one. Calls of several kinds
// share a transaction, so a busy process makes one commit for many calls.
import { isUnavailable } from '../../core/errors/away.ts';
import type { Database } from './database.ts';
import type { Direct, Execute } from './direct.ts';

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

interface CallKind<T, R> {
  /**
   * Returns an answer for each item, in order. May throw `repeatEach` if `mayMerge`: the group is rolled back and
   * repeated without it.
   */
  runAll(execute: Execute, items: readonly T[], mayMerge: boolean): Promise<readonly R[]>;
  /** False if `runAll` sends only one statement for the items, which commits by itself. */
  needsTransaction(items: readonly T[]): boolean;
}

export const repeatEach = Symbol('repeat with single statements');

interface KindCall {
  readonly kind: CallKind<unknown, unknown>;
  readonly item: unknown;
}

const groups = new WeakMap<Direct, (call: KindCall) => Promise<unknown>>();

/** The calls of all kinds of one database share groups. */
export function groupKind<T, R>(
  direct: Direct,
  retry: Database['retry'],
  kind: CallKind<T, R>,
): (item: T) => Promise<R> {
  const add = groups.get(direct) ?? groupCalls((calls: readonly KindCall[]) => runKinds(direct, retry, calls));
  groups.set(direct, add);
  return (item) => add({ kind: kind as CallKind<unknown, unknown>, item }) as Promise<R>;
}

async function runKinds(
  direct: Direct,
  retry: Database['retry'],
  calls: readonly KindCall[],
): Promise<readonly unknown[]> {
  const places = new Map<KindCall['kind'], number[]>();
  calls.forEach(({ kind }, at) => {
    const known = places.get(kind);
    if (known) known.push(at);
    else places.set(kind, [at]);
  });
  const itemsAt = (some: readonly number[]) => some.map((at) => calls[at]!.item);
  const runWith = (mayMerge: boolean) => async (execute: Execute) => {
    const answers: unknown[] = [];
    for (const [kind, some] of places) {
      const found = await kind.runAll(execute, itemsAt(some), mayMerge);
      some.forEach((at, nth) => {
        answers[at] = found[nth];
      });
    }
    return answers;
  };
  const needsTransaction = places.size > 1 || [...places].some(([kind, some]) => kind.needsTransaction(itemsAt(some)));
  const attempt = (run: (execute: Execute) => Promise<readonly unknown[]>) =>
    retry(() => (needsTransaction ? direct.transaction(run) : run(direct.execute)));
  try {
    return await attempt(runWith(true));
  } catch (error) {
    if (error !== repeatEach) throw error;
    return attempt(runWith(false));
  }
}
