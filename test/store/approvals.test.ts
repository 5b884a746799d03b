// Approval requests on every store, and the steps that only one of several processes can take.
import { describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { Approval, ApprovalRequest } from '../../src/store/approvals/types.ts';
import { cleanUpAfterEach, createPlace, openPair, variants } from './stores.ts';

cleanUpAfterEach();

const request = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  userId: 7,
  clientId: 'client',
  clientName: 'Some assistant',
  renderingId: 1,
  tool: 'update',
  collection: 'orders',
  recordIds: ['1', '2'],
  policy: { policy: 'ask-person', secondPerson: false },
  args: '{"total":5}',
  found: 'before',
  content: {
    arguments: { total: 'hunter2' },
    preview: { count: 2, changes: [{ id: '1', fields: { total: { before: 4, after: 5 } } }] },
  },
  ...more,
});

/** A clock that the test moves. */
function movable(): { readonly clock: Clock; move(ms: number): void } {
  let now = systemClock.now();
  return {
    clock: { ...systemClock, now: () => now },
    move: (ms) => {
      now += ms;
    },
  };
}

function filed(answer: Approval | 'full'): Approval {
  if (answer === 'full') throw new Error('there is no room');
  return answer;
}

const yes = { by: 9, verdict: 'approved' } as const;

describe.each(variants)('approvals on $name', (variant) => {
  test('repeats of a call share one request, across processes; any other call gets its own', async () => {
    const place = await createPlace(variant);
    const [one, two] = await openPair(place, variant);
    const asked = await Promise.all(
      [one, two, one, two].map(async ({ approvals }) => filed(await approvals.ask(request()))),
    );
    const others = [{ userId: 8 }, { clientId: 'other' }, { tool: 'delete' }, { args: '{"total":6}' }];
    const ids = [];
    for (const more of others) ids.push(filed(await two.approvals.ask(request(more))).id);
    expect([new Set(asked.map(({ id }) => id)).size, new Set([asked[0]!.id, ...ids]).size]).toEqual([1, 5]);
    expect(await two.approvals.find(asked[0]!.id)).toEqual({
      id: asked[0]!.id,
      userId: 7,
      clientId: 'client',
      clientName: 'Some assistant',
      renderingId: 1,
      tool: 'update',
      collection: 'orders',
      recordIds: ['1', '2'],
      policy: { policy: 'ask-person', secondPerson: false },
      content: request().content,
      state: 'pending',
      createdAt: asked[0]!.createdAt,
      expiresAt: asked[0]!.createdAt + 3600_000,
    });
  });

  test('of several concurrent decisions one counts, and of several concurrent uses one succeeds', async () => {
    const [one, two] = await openPair(await createPlace(variant), variant);
    const { id } = filed(await one.approvals.ask(request()));
    const early = await one.approvals.take(id, request());
    const decided = await Promise.all(
      [one, two, one, two].map(({ approvals }, by) => approvals.decide(id, { by, verdict: 'approved' })),
    );
    const taken = await Promise.all([one, two, one, two].map(({ approvals }) => approvals.take(id, request())));
    const found = await two.approvals.find(id);
    expect([early, decided.filter(Boolean), taken.filter(Boolean), found?.state, found?.decidedBy]).toEqual([
      false,
      [true],
      [true],
      'used',
      decided.indexOf(true),
    ]);
    expect([await one.approvals.openOf(request()), await one.approvals.decide(id, yes)]).toEqual([undefined, false]);
  });

  test('only the call that asked can use an approval, and only if its preview is unchanged', async () => {
    const { approvals } = await (await createPlace(variant)).open();
    const { id } = filed(await approvals.ask(request()));
    await approvals.decide(id, yes);
    const others = [{ userId: 8 }, { clientId: 'other' }, { tool: 'delete' }, { args: '{}' }, { found: 'after' }];
    const taken = [];
    for (const more of others) taken.push(await approvals.take(id, request(more)));
    const changed = await approvals.openOf(request({ found: 'after' }));
    expect([taken, changed?.unchanged, (await approvals.openOf(request()))?.unchanged]).toEqual([
      [false, false, false, false, false],
      false,
      true,
    ]);
    await approvals.overtake(id);
    expect([await approvals.take(id, request()), (await approvals.find(id))?.state]).toEqual([false, 'overtaken']);
    expect(filed(await approvals.ask(request({ found: 'after' }))).id).not.toBe(id);
  });

  test('an approval is bound to the grant or the token of the call, and to either only', async () => {
    const { approvals } = await (await createPlace(variant)).open();
    for (const credential of [{ grantId: 'g1' }, { tokenId: 1 }] as const) {
      const { id } = filed(await approvals.ask(request(credential)));
      await approvals.decide(id, yes);
      const others = [{}, { grantId: 'g2' }, { tokenId: 2 }];
      const taken = [];
      for (const other of others) taken.push(await approvals.take(id, request(other)));
      expect([taken, await approvals.take(id, request(credential))]).toEqual([[false, false, false], true]);
    }
  });

  test.each(['ask', 'ask-person'] as const)(
    'a request under %s for a second person is decided by anyone but its user',
    async (policy) => {
      const { approvals } = await (await createPlace(variant)).open();
      const { id } = filed(await approvals.ask(request({ policy: { policy, secondPerson: true } })));
      const own = [];
      for (const verdict of ['approved', 'denied'] as const) own.push(await approvals.decide(id, { by: 7, verdict }));
      expect([own, (await approvals.find(id))?.state, await approvals.decide(id, yes)]).toEqual([
        [false, false],
        'pending',
        true,
      ]);
    },
  );

  test('a call that the server runs keeps its request for a day, and begins once', async () => {
    const { clock, move } = movable();
    const { approvals } = await (await createPlace(variant)).open({ clock });
    const { id } = filed(await approvals.ask(request()));
    const early = await approvals.begin(id, request());
    await approvals.decide(id, yes);
    await approvals.close(id);
    const begun = [await approvals.begin(id, request({ found: 'after' })), await approvals.begin(id, request())];
    const again = [await approvals.begin(id, request()), await approvals.take(id, request())];
    move(86_300_000);
    const open = (await approvals.openOf(request()))?.approval.state;
    await approvals.settle(id, { text: 'done', rights: '[]' });
    const settled = (await approvals.openOf(request()))?.approval;
    await approvals.close(id);
    expect([early, begun, again, open, settled?.state, settled?.result, await approvals.openOf(request())]).toEqual([
      false,
      [false, true],
      [false, false],
      'running',
      'used',
      { text: 'done', rights: '[]' },
      undefined,
    ]);
  });

  test('a denial is final until it expires; a denied request cannot be approved', async () => {
    const { clock, move } = movable();
    const { approvals } = await (await createPlace(variant)).open({ clock });
    const { id } = filed(await approvals.ask(request()));
    const steps = [
      await approvals.decide(id, { by: 9, verdict: 'denied' }),
      await approvals.decide(id, yes),
      await approvals.take(id, request()),
    ];
    const again = filed(await approvals.ask(request()));
    move(900_000);
    const later = filed(await approvals.ask(request()));
    expect([steps, again.id === id, again.state, later.state, (await approvals.find(id))?.state]).toEqual([
      [true, false, false],
      true,
      'denied',
      'pending',
      'denied',
    ]);
  });

  test('the open requests of a user are the pending and approved ones that have not expired', async () => {
    const { clock, move } = movable();
    const { approvals } = await (await createPlace(variant)).open({ clock });
    const ask = async (args: string, userId = 7) => filed(await approvals.ask(request({ args, userId }))).id;
    const [waiting, approved, denied] = [await ask('1'), await ask('2'), await ask('3')];
    await ask('1', 8);
    await approvals.decide(approved, yes);
    await approvals.decide(denied, { by: 9, verdict: 'denied' });
    const open = async () => (await approvals.openOfUser(7)).map(({ id }) => id).sort();
    const before = await open();
    move(900_000);
    expect([before, await open()]).toEqual([[waiting, approved].sort(), [waiting]]);
  });

  test('a request expires after an hour without a decision, an approval after a quarter of an hour', async () => {
    const { clock, move } = movable();
    const { approvals } = await (await createPlace(variant)).open({ clock });
    const first = filed(await approvals.ask(request()));
    move(3600_000);
    const late = await approvals.decide(first.id, yes);
    const second = filed(await approvals.ask(request()));
    move(3599_000);
    const intime = await approvals.decide(second.id, yes);
    move(900_000);
    const states = [];
    for (const { id } of [first, second]) states.push((await approvals.find(id))?.state);
    const taken = await approvals.take(second.id, request());
    expect([late, intime, taken, states, await approvals.list('pending', 10)]).toEqual([
      false,
      true,
      false,
      ['expired', 'expired'],
      [],
    ]);
  });

  test('lists are newest first, and settled requests are not pending', async () => {
    const { clock, move } = movable();
    const { approvals } = await (await createPlace(variant)).open({ clock });
    const ids: string[] = [];
    for (const args of ['a', 'b', 'c', 'd']) {
      ids.push(filed(await approvals.ask(request({ args }))).id);
      move(1);
    }
    await approvals.decide(ids[1]!, yes);
    const at = async (which: 'pending' | 'settled', limit: number) =>
      (await approvals.list(which, limit)).map(({ id }) => ids.indexOf(id));
    expect([await at('pending', 10), await at('pending', 2), await at('settled', 10)]).toEqual([
      [3, 2, 0],
      [3, 2],
      [1],
    ]);
  });

  // CWE-770: a user with fifty requests must not crowd out a user with one.
  test('pending requests alternate between users, and pages reach the end of the list', async () => {
    const { clock, move } = movable();
    const { approvals } = await (await createPlace(variant)).open({ clock });
    const asked: string[] = [];
    for (const userId of [7, 8, 8, 9, 7, 7, 7, 7]) {
      asked.push(filed(await approvals.ask(request({ userId, args: `${asked.length}` }))).id);
      move(1);
    }
    const page = async (from: number) => (await approvals.list('pending', 3, from)).map(({ id }) => asked.indexOf(id));
    expect([await page(0), await page(3), await page(6), await page(9)]).toEqual([[7, 3, 2], [6, 1, 5], [4, 0], []]);
  });

  test('a user can have fifty pending requests, and other users are not affected', async () => {
    const { approvals } = await (await createPlace(variant)).open();
    for (let at = 0; at < 50; at++) filed(await approvals.ask(request({ args: `${at}` })));
    const known = filed(await approvals.ask(request({ args: '0' })));
    const other = filed(await approvals.ask(request({ userId: 8 })));
    expect([await approvals.ask(request()), known.state, other.state]).toEqual(['full', 'pending', 'pending']);
  });

  test('an answer of the client is stored once for its id', async () => {
    const [one, two] = await openPair(await createPlace(variant), variant);
    const kept = await Promise.all(
      [one, two, one].map(({ approvals }) => approvals.keepAnswer('chosen', request(), true)),
    );
    await two.approvals.keepAnswer('declined', request(), false);
    const found = [await two.approvals.find('chosen'), await two.approvals.find('declined')];
    expect([kept.filter(Boolean), found.map((each) => [each?.state, each?.decidedBy])]).toEqual([
      [true],
      [
        ['used', 7],
        ['denied', 7],
      ],
    ]);
    expect([await two.approvals.openOf(request()), await two.approvals.take('chosen', request())]).toEqual([
      undefined,
      false,
    ]);
  });

  test('the storage contains no readable arguments or values, and deletes the request after a day', async () => {
    const { clock, move } = movable();
    const place = await createPlace(variant);
    const { approvals } = await place.open({ clock });
    const { id } = filed(await approvals.ask(request({ args: 'hunter2', found: 'hunter2' })));
    const { knex } = place.tables();
    const text = JSON.stringify(await knex('approvals').select());
    move(24 * 3600_000);
    const gone = await approvals.find(id);
    await approvals.sweep();
    expect([text.includes('hunter2'), gone, await knex('approvals').select()]).toEqual([false, undefined, []]);
  });
});
