// How a repeat waits for the first call, and what each outcome of the first call means for the next repeat.
import { describe, expect, test } from 'vitest';
import { Stop } from '../../src/core/clock/stop.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { AppError } from '../../src/core/errors.ts';
import { acquireKey, collectionRights, completeKey, sortedJson } from '../../src/mcp/idempotency.ts';
import { createIdempotencyKeys } from '../../src/store/approvals/idempotency.ts';
import type { IdempotencyClaim } from '../../src/store/approvals/types.ts';

type State = IdempotencyClaim['state'];

/** Acquires a key for which the storage answers with these states in turn; the last one repeats. */
async function acquire(...states: State[]) {
  let now = 0;
  const claims: unknown[] = [];
  const clock: Clock = {
    ...systemClock,
    monotonic: () => now,
    sleep: async (ms) => {
      now += ms;
      if (now > 60_000) throw new Error('it waits without an end');
    },
  };
  const idempotency = {
    claim: async (claim: unknown) => {
      claims.push(claim);
      return { state: states[Math.min(claims.length, states.length) - 1] } as IdempotencyClaim;
    },
  };
  const auth = { userId: 1, clientId: 'c' } as Parameters<typeof acquireKey>[1]['auth'];
  const call = {
    tool: 'create',
    key: 'k',
    args: { b: 1, a: { d: 2, c: 3 } },
    rights: ['add'],
    auth,
    signal: new Stop(),
  };
  const outcome = await acquireKey({ idempotency, clock }, call).then(
    ({ state }) => state,
    (error: AppError) => error.code,
  );
  return { outcome, waited: now, claims };
}

describe('a repeat', () => {
  test('claims with the user, the client, the tool, and arguments whose order does not count', async () => {
    const { claims } = await acquire('mine');
    expect(claims).toEqual([
      { userId: 1, clientId: 'c', tool: 'create', key: 'k', args: '{"a":{"c":3,"d":2},"b":1}', rights: '["add"]' },
    ]);
  });

  test.each([
    ['mine', 'mine'],
    ['done', 'done'],
    ['other', 'IDEMPOTENCY_KEY_REUSED'],
    ['unknown', 'OUTCOME_UNKNOWN'],
    ['withheld', 'ANSWER_WITHHELD'],
  ] as const)('of a key that is %s gets %s at once', async (state, expected) => {
    const { outcome, waited } = await acquire(state);
    expect([outcome, waited]).toEqual([expected, 0]);
  });

  test('waits for a running call, for at most ten seconds', async () => {
    const [short, long] = [await acquire('running', 'running', 'done'), await acquire('running')];
    expect([short.outcome, short.waited, long.outcome, long.waited]).toEqual([
      'done',
      200,
      'IDEMPOTENCY_KEY_BUSY',
      10_000,
    ]);
  });
});

describe('an outcome', () => {
  async function complete(outcome: Partial<Parameters<typeof completeKey>[2]>, state: 'mine' | 'done' = 'mine') {
    const done: string[] = [];
    const acquired = {
      state,
      answer: 'earlier',
      settle: async (answer: string) => void done.push(`settled ${answer}`),
      release: async () => void done.push('released'),
      doubt: async () => void done.push('in doubt'),
    } as never;
    const given = { answer: 'text', failure: undefined, isStarted: true, hasWritten: false, waits: false, ...outcome };
    await completeKey(() => undefined, acquired, given);
    return done;
  }
  const refused = new AppError('INVALID_ARGUMENT', { argument: 'a', problem: 'b' });
  const late = new AppError('TIMED_OUT', { what: 'The call', seconds: 1 } as never);

  test.each([
    ['an answer', {}, ['settled text']],
    ['a wait for approval, whose repeat has the same key', { waits: true }, ['released']],
    ['a refusal before the work', { failure: late, isStarted: false }, ['released']],
    ['a refusal that guarantees that nothing was written', { failure: refused }, ['released']],
    ['a refusal after code has written', { failure: refused, hasWritten: true }, ['in doubt']],
    ['a timeout during the work', { failure: late }, ['in doubt']],
  ] as const)('%s', async (_, outcome, expected) => {
    expect(await complete(outcome)).toEqual(expected);
  });

  test('of a repeat that got the stored answer changes nothing', async () => {
    expect(await complete({}, 'done')).toEqual([]);
  });

  test.each([
    'UNKNOWN_COLLECTION',
    'INVALID_VALUE',
    'INVALID_FORM',
    'RECORD_NOT_FOUND',
    'WRITE_CONFLICT',
    'FORBIDDEN',
    'NOT_APPROVED',
  ] as const)('%s guarantees that nothing was written', async (code) => {
    const failure = Object.assign(new AppError('NOT_READY', {}), { code }) as AppError;
    expect(await complete({ failure })).toEqual(['released']);
  });

  test('that cannot be stored is a warning, and the call keeps its answer', async () => {
    const warned: unknown[] = [];
    const settle = () => Promise.reject(new Error('no storage'));
    const outcome = { answer: '', failure: undefined, isStarted: true, hasWritten: true, waits: false };
    await completeKey((one) => warned.push(one), { state: 'mine', settle } as never, outcome);
    expect(warned).toMatchObject([{ type: 'warning' }]);
  });
});

test('a running call refreshes its row every twenty seconds until it ends, also after a failed refresh', async () => {
  const timers: { readonly ms: number; readonly run: () => void; isOff: boolean }[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, run) {
      const timer = { ms, run, isOff: false };
      timers.push(timer);
      return () => {
        timer.isOff = true;
      };
    },
  };
  let refreshed = 0;
  const rows = {
    claim: async () => ({ state: 'mine', ticket: { key_hash: 'h', attempt: 'a' } }),
    stayAlive: () => (++refreshed === 1 ? Promise.reject(new Error('away')) : Promise.resolve()),
    settle: async () => undefined,
  } as never;
  const claim = await createIdempotencyKeys(rows, clock).claim({} as never);
  if (claim.state !== 'mine') throw new Error('not mine');
  for (const at of [0, 1]) {
    timers[at]!.run();
    await new Promise(setImmediate);
  }
  await claim.settle('text');
  expect([refreshed, timers.map(({ ms, isOff }) => [ms, isOff])]).toEqual([
    2,
    [
      [20_000, false],
      [20_000, false],
      [20_000, true],
    ],
  ]);
});

test('the text of arguments sorts members, never the items of lists', () => {
  expect(sortedJson([{ b: [2, 1], a: null }])).toBe('[{"a":null,"b":[2,1]}]');
});

describe('the rights that a stored answer depends on', () => {
  const rightsOf = ({ allowed = ['browse', 'edit'], scope = null as unknown, key = ['id'], readOnly = false } = {}) => {
    const access = { can: (verb: string) => allowed.includes(verb), scope: () => scope };
    const engine = { describe: () => ({ key, fields: [{ name: 'id', readOnly }] }) };
    return sortedJson(collectionRights({ access, engine } as never, 'orders'));
  };

  test.each([
    ['a right', { allowed: ['browse'] }],
    ['the row scope', { scope: { field: 'id', operator: 'Equal', value: 1 } }],
    ['the visible key', { key: [] }],
    ['a field that became read-only', { readOnly: true }],
  ])('differ with %s', (_, change) => {
    expect(rightsOf(change)).not.toBe(rightsOf());
  });
});
