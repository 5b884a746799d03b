// The start order of calls when one user sends many at once. Each call takes at least a turn.
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createTurns, createUserTurns } from '../../src/core/limit/turns.ts';

/** Blocks the main thread for longer than a turn, on any machine. */
function work(milliseconds: number): void {
  const from = systemClock.monotonic();
  while (systemClock.monotonic() - from < milliseconds);
}

async function orderOf(calls: readonly (readonly [user: number, after: number])[], milliseconds: number) {
  const turn = createUserTurns();
  const began: number[] = [];
  const call = async (user: number) => {
    await turn(user);
    began.push(user);
    work(milliseconds);
  };
  /** Simulates requests: each arrives in its own callback, after this many rounds of the event loop. */
  const arrive = (user: number, after: number): Promise<void> =>
    new Promise((resolve, reject) => {
      setImmediate(() => (after === 0 ? call(user) : arrive(user, after - 1)).then(resolve, reject));
    });
  await Promise.all(calls.map(([user, after]) => arrive(user, after)));
  return began;
}

const ten = Array.from({ length: 10 }, () => [1, 0] as const);

test('a call that arrives while ten calls of another user wait starts after one or two of them', async () => {
  const order = await orderOf([...ten, [2, 1]], 10);
  expect(order).toHaveLength(11);
  expect(order.indexOf(2)).toBeLessThanOrEqual(3);
});

test('several users get a turn in each round', async () => {
  const order = await orderOf([...ten, ...ten.map(() => [2, 0] as const), [3, 2]], 10);
  expect(order.filter((user) => user === 2)).toHaveLength(10);
  expect(order.slice(0, 8)).toContain(3);
  expect(order.slice(0, 4)).toContain(2);
});

test('calls that take no time do not wait', () => {
  const turn = createUserTurns();
  expect(turn(1)).toBeUndefined();
  expect(turn(2)).toBeUndefined();
});

test('of several long tasks, one continues in each round of the event loop', async () => {
  const rounds: number[] = [];
  let round = 0;
  let isOver = false;
  const count = (): void => {
    round++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const long = async () => {
    const turn = createTurns();
    for (let part = 0; part < 5; part++) {
      work(9);
      rounds.push(round);
      await turn();
    }
  };
  await Promise.all([long(), long(), long(), long()]);
  isOver = true;
  // The first part of each begins at once.
  const later = rounds.slice(4);
  expect(later).toHaveLength(16);
  expect(new Set(later).size).toBe(16);
});

test('long tasks end in the order in which they began, and a short task does not wait for them', async () => {
  const ended: string[] = [];
  const run = async (name: string, parts: number) => {
    const turn = createTurns();
    for (let part = 0; part < parts; part++) {
      work(9);
      await turn();
    }
    ended.push(name);
  };
  const long = [run('first', 40), run('second', 30), run('third', 20)];
  await Promise.all([...long, run('short', 3)]);
  expect(ended).toEqual(['short', 'first', 'second', 'third']);
});

test('works of more than four turns continue one after another', async () => {
  const turnsOf = [0, 0, 0, 0];
  let atFirstEnd: readonly number[] | undefined;
  const run = async (at: number) => {
    const turn = createTurns();
    for (let part = 0; part < 10; part++) {
      work(9);
      turnsOf[at]! += 1;
      await turn();
    }
    atFirstEnd ??= [...turnsOf];
  };
  await Promise.all([run(0), run(1), run(2), run(3)]);
  expect(atFirstEnd?.[0]).toBe(10);
  expect(Math.max(...atFirstEnd!.slice(1))).toBeLessThanOrEqual(6);
});
