// Clients are notified when workflows or rights change in any process. Without listeners there are no queries.
import { expect, test } from 'vitest';
import type { Observation } from '../../src/core/observe.ts';
import { createVisibilityWatch } from '../../src/mcp/visibility/changes.ts';

function openWatch() {
  const seen = {
    looks: 0,
    changes: 0,
    told: 0,
    rights: 0,
    toldOfRights: 0,
    hears: true,
    fails: false,
    observed: [] as Observation[],
  };
  const due: { readonly ms: number; run: () => void }[] = [];
  const watch = createVisibilityWatch({
    sources: [
      {
        async poll() {
          seen.looks++;
          if (seen.fails) throw new Error('gone');
          return seen.changes;
        },
        notify: () => void seen.told++,
      },
      { poll: async () => seen.rights, notify: () => void seen.toldOfRights++ },
    ],
    clock: {
      after(ms, run) {
        const one = { ms, run };
        due.push(one);
        return () => void due.splice(due.indexOf(one), due.includes(one) ? 1 : 0);
      },
    },
    observe: (one) => seen.observed.push(one),
    hasListeners: () => seen.hears,
  });
  /** Runs the next check; returns its delay. */
  const pass = async (): Promise<number | undefined> => {
    const one = due.shift();
    one?.run();
    await new Promise(setImmediate);
    return one?.ms;
  };
  return { watch, seen, pass, due };
}

test('the first state sends no notification, and a later change sends one', async () => {
  const { watch, seen, pass } = openWatch();
  seen.changes = 3;
  watch.begin();
  watch.begin();
  const times = [await pass(), await pass()];
  seen.changes = 4;
  const told = [seen.told];
  times.push(await pass());
  told.push(seen.told);
  await pass();
  expect([times, [...told, seen.told], seen.looks]).toEqual([[0, 5000, 5000], [0, 1, 1], 4]);
});

test('each kind of change sends its own notification, also after a failure of the storage', async () => {
  const { watch, seen, pass } = openWatch();
  watch.begin();
  await pass();
  seen.rights = 1;
  await pass();
  const first = [seen.told, seen.toldOfRights];
  seen.fails = true;
  seen.changes = 1;
  await pass();
  const meanwhile = [seen.told, seen.toldOfRights];
  seen.fails = false;
  await pass();
  await pass();
  expect([first, meanwhile, [seen.told, seen.toldOfRights]]).toEqual([
    [0, 1],
    [0, 1],
    [1, 1],
  ]);
});

test('it ends without listeners and on request, and continues when the storage fails', async () => {
  const { watch, seen, pass, due } = openWatch();
  watch.begin();
  seen.fails = true;
  await pass();
  const afterFailure = due.length;
  seen.fails = false;
  seen.hears = false;
  await pass();
  const alone = due.length;
  seen.hears = true;
  watch.begin();
  await pass();
  const again = due.length;
  watch.end();
  expect([afterFailure, seen.observed.length, alone, again, due.length]).toEqual([1, 1, 0, 1, 0]);
});
