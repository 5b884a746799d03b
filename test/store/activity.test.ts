import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { createActivityLog } from '../../src/store/audit/activity.ts';
import { createActivityRows } from '../../src/store/audit/activity-rows.ts';
import type { ActivityEntry } from '../../src/store/audit/activity-types.ts';
import { createGroupedWrites } from '../../src/store/database/grouped-writes.ts';
import { isNotDriverWarning } from '../driver-warning.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const entry = (n: number): ActivityEntry => ({
  userId: 1,
  renderingId: 1,
  clientId: 'client',
  clientName: 'A client',
  action: 'list',
  type: 'read',
  collection: 'orders',
  outcome: 'completed',
  startedAt: 1_800_000_000_000 + n,
  durationMs: 1.5,
});

/** A clock with timers that the test fires. */
function createHandClock() {
  const timers = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    after(_, run) {
      timers.add(run);
      return () => timers.delete(run);
    },
  };
  return {
    clock,
    get waiting() {
      return timers.size;
    },
    ring() {
      for (const run of [...timers]) {
        timers.delete(run);
        run();
      }
    },
  };
}

describe.each(variants)('the activity log on $name', (variant) => {
  test('an entry is read as it was recorded, newest first, page by page', async () => {
    const { activity } = await (await createPlace(variant)).open();
    const bare = entry(1);
    const full = { ...entry(2), recordIds: ['1', 'ü|2'], outcome: 'failed', code: 'TIMED_OUT' } as const;
    for (const one of [bare, full, entry(3)]) activity.record(one);

    await activity.flush();

    const [newest, ...rest] = await activity.list({ limit: 10 });
    expect([newest, ...rest].map((one) => one && { ...one, id: 0 })).toEqual([
      { ...entry(3), id: 0 },
      { ...full, id: 0 },
      { ...bare, id: 0 },
    ]);
    expect(await activity.list({ limit: 1, before: newest!.id })).toEqual([rest[0]]);
  });

  test('an entry names its workflow run, however it was written', async () => {
    const store = await (await createPlace(variant)).open();
    const { activity } = store;
    const workflow = { name: 'Refund', runId: '0b4f6c1e-8a55-4a53-9d0c-2f7f6f1f7a10' };
    const step = { ...workflow, stepName: 'Look', optionName: 'large' };
    const marked = ({ outcome: _, durationMs: __, ...rest }: ActivityEntry) => rest;
    const { id: userId } = await store.identity.addUser({ email: 'ada@b.example' });
    const { renderingId } = (await store.permissions.caller(userId))!;
    const of = (n: number) => ({ ...entry(n), userId, renderingId });
    for (let n = 1; n < 60; n++) activity.record({ ...of(n), ...(n % 29 === 0 && { workflow: step }) });
    await activity.flush();
    await (await activity.begin({ ...marked(of(60)), workflow: step })).complete({ outcome: 'completed' });
    await (await activity.begin(marked(of(61)))).complete({ outcome: 'completed', workflow });
    await (await activity.begin(marked(of(62)))).complete({ outcome: 'failed' });

    const told = (entries: readonly ActivityEntry[]) =>
      entries.flatMap((one) => (one.workflow ? [[one.startedAt - entry(0).startedAt, one.workflow]] : []));
    const expected = [
      [61, workflow],
      [60, step],
      [58, step],
      [29, step],
    ];
    const listed = await activity.list({ limit: 100 });
    expect([listed.length, told(listed)]).toEqual([62, expected]);
    expect(told(await activity.search({ limit: 100 }))).toEqual(expected);
    expect((await activity.find(listed[1]!.id))?.workflow).toEqual(workflow);
    const { entries } = await activity.walk({ since: 0, until: listed[0]!.id });
    expect(told(entries)).toEqual(expected.toReversed());
  });

  test('reads are written within 200 ms, without another call', async () => {
    const place = await createPlace(variant);
    const [store, other] = [await place.open(), await place.open()];

    for (let n = 0; n < 120; n++) store.activity.record(entry(n));
    const before = await other.activity.list({ limit: 500 });
    await systemClock.sleep(200);

    // On a machine under load the rows may arrive later. The test `one timer a batch` checks the timer itself.
    let after = await other.activity.list({ limit: 500 });
    for (let turn = 0; turn < 400 && after.length < 120; turn++) {
      await systemClock.sleep(50);
      after = await other.activity.list({ limit: 500 });
    }
    expect([before.length, after.map(({ startedAt }) => startedAt - entry(0).startedAt)]).toEqual([
      0,
      Array.from({ length: 120 }, (_, n) => 119 - n),
    ]);
  });

  test('pending entries are written when the store closes', async () => {
    const place = await createPlace(variant);
    const [store, other] = [await place.open({ clock: createHandClock().clock }), await place.open()];
    store.activity.record(entry(1));

    await store.close();

    expect((await other.activity.list({ limit: 10 })).length).toBe(1);
  });

  test('the outcome of a write is unknown until it is completed', async () => {
    const { activity } = await (await createPlace(variant)).open();
    const { outcome, durationMs, ...write } = { ...entry(1), type: 'write' as const, recordIds: ['7'] };
    const outcomes: unknown[] = [];
    const look = async () => {
      const [one] = await activity.list({ limit: 1 });
      outcomes.push([one!.outcome, one!.code, one!.recordIds]);
    };

    const begun = await activity.begin(write);
    await look();
    await begun.complete({ outcome: 'failed', code: 'INVALID_VALUE' });
    await look();
    await begun.complete({ outcome: 'completed', recordIds: ['7', '8'] });
    await look();

    expect(outcomes).toEqual([
      ['unknown', undefined, ['7']],
      ['failed', 'INVALID_VALUE', ['7']],
      ['completed', undefined, ['7', '8']],
    ]);
  });

  test('a mark is kept when an open transaction of the same process is rolled back', async () => {
    const place = await createPlace(variant);
    await place.open();
    const database = place.tables();
    const { begin, list } = createActivityLog(
      createActivityRows(database, async () => ({ environmentId: 1 })),
      () => {},
      systemClock,
    );
    const { outcome, durationMs, ...write } = { ...entry(1), type: 'write' as const };
    let begun: ReturnType<typeof begin> | undefined;

    const taken = database.write(async (trx) => {
      await trx('settings').insert({ key: 'half', value: 'x' });
      begun = begin(write);
      await trx('settings').select('key');
      throw new Error('taken back');
    });

    await expect(taken).rejects.toThrow('taken back');
    await (await begun!).complete({ outcome: 'completed' });
    expect((await list({ limit: 5 })).map((one) => one.outcome)).toEqual(['completed']);
    expect(await database.knex('settings').where({ key: 'half' })).toEqual([]);
  });

  test('a write of a process that is killed keeps the outcome unknown', async () => {
    const place = await createPlace(variant);
    const child = await place.child();
    await child.ask({ do: 'begin' });

    child.process.kill('SIGKILL');
    await once(child.process, 'exit');

    const { activity } = await place.open();
    expect(await activity.list({ limit: 10 })).toMatchObject([{ action: 'update', type: 'write', outcome: 'unknown' }]);
  });

  test('a batch that cannot be written is written with the next one, and dropped after that', async () => {
    const place = await createPlace(variant);
    const hand = createHandClock();
    const { activity } = await place.open({ clock: hand.clock });
    const { knex } = place.tables();
    const away = () => knex.schema.renameTable('activity_logs', 'elsewhere');
    const back = () => knex.schema.renameTable('elsewhere', 'activity_logs');
    const messages = () =>
      place.observed.flatMap((one) =>
        one.type === 'warning' && !one.message.startsWith('SQLite runs') ? [one.message] : [],
      );

    await away();
    for (const n of [1, 2]) activity.record(entry(n));
    hand.ring();
    while (messages().length < 1) await systemClock.sleep(5);
    await back();
    activity.record(entry(3));
    await activity.flush();
    const kept = (await activity.list({ limit: 10 })).map(({ startedAt }) => startedAt - entry(0).startedAt);
    await away();
    activity.record(entry(4));
    await activity.flush();
    await back();

    expect(kept).toEqual([3, 2, 1]);
    expect(messages()).toEqual([
      'Failed to write 2 activity entries; trying again.',
      'Failed to write 1 activity entries; trying again.',
      '1 activity entries were lost.',
    ]);
  });
});

const isNative = loadSqliteDriver().kind === 'native';

/** The WebAssembly driver writes through knex. */
const withGroups = variants.filter(
  ({ sqlite, server }) => sqlite !== 'wasm' && (server.dialect !== 'sqlite' || isNative),
);

describe.each(withGroups)('concurrent writes on $name', (variant) => {
  const mark = (n: number) => ({ ...entry(n), type: 'write' as const, recordIds: n % 2 ? [`${n}`] : [] });

  async function openCounted() {
    const place = await createPlace(variant);
    await place.open();
    const database = place.tables();
    let transactions = 0;
    const counted =
      <A extends unknown[], R>(run: (...args: A) => R) =>
      (...args: A): R => {
        transactions++;
        return run(...args);
      };
    const { sqlite, direct } = database;
    const runSync = sqlite && counted(sqlite.runSync);
    const watched = {
      ...database,
      ...(sqlite && { sqlite: { ...sqlite, runSync, ...createGroupedWrites(runSync as typeof sqlite.runSync) } }),
      ...(direct && { direct: { execute: counted(direct.execute), transaction: counted(direct.transaction) } }),
    } as typeof database;
    const log = createActivityLog(
      createActivityRows(watched, async () => ({ environmentId: 1 })),
      () => {},
      systemClock,
    );
    await log.begin(mark(0));
    const taken = () => {
      const count = transactions;
      transactions = 0;
      return count;
    };
    taken();
    return { log, database, taken };
  }

  test('share one transaction for their marks, and one for their outcomes', async () => {
    const { log, database, taken } = await openCounted();

    const begun = await Promise.all(Array.from({ length: 12 }, (_, n) => log.begin(mark(n + 1))));
    const marks = [taken(), (await log.list({ limit: 12 })).map(({ outcome }) => outcome)];
    await Promise.all(begun.map((one, n) => one.complete({ outcome: 'completed', recordIds: [`new ${n + 1}`] })));

    expect([marks, taken()]).toEqual([[1, Array(12).fill('unknown')], 1]);
    const stored = await log.list({ limit: 12 });
    expect(stored.map(({ startedAt, outcome, recordIds }) => [startedAt, outcome, recordIds])).toEqual(
      Array.from({ length: 12 }, (_, n) => [mark(12 - n).startedAt, 'completed', [`new ${12 - n}`]]),
    );
    const keys = await database.knex('activity_records').orderBy('log_id').orderBy('record_key').select('record_key');
    expect(keys.map(({ record_key }) => record_key)).toEqual(
      Array.from({ length: 12 }, (_, n) => [...mark(n + 1).recordIds, `new ${n + 1}`]).flat(),
    );
  });

  test('a write that the storage refuses does not fail the others of its transaction', async () => {
    const { log, taken } = await openCounted();
    const bad = { ...mark(2), userId: null as never };

    const results = await Promise.allSettled([log.begin(mark(1)), log.begin(bad), log.begin(mark(3))]);

    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await log.list({ limit: 2 })).map(({ startedAt }) => startedAt)).toEqual([
      mark(3).startedAt,
      mark(1).startedAt,
    ]);
    expect(taken()).toBe(4);
  });

  test('the later of two outcomes of one entry is kept, with all of its records', async () => {
    const { log, database } = await openCounted();
    const [one, other] = await Promise.all([log.begin(mark(2)), log.begin(mark(4))]);
    const recordIds = Array.from({ length: 450 }, (_, n) => `${n}`);

    await Promise.all([
      one!.complete({ outcome: 'unknown', code: 'OUTCOME_UNKNOWN', recordIds }),
      other!.complete({ outcome: 'failed', code: "it's 'so'" }),
      one!.complete({ outcome: 'completed', recordIds }),
    ]);

    const stored = await log.list({ limit: 2 });
    expect(stored.map(({ outcome, code }) => [outcome, code])).toEqual([
      ['failed', "it's 'so'"],
      ['completed', undefined],
    ]);
    expect(stored[1]!.recordIds).toEqual(recordIds);
    expect(await database.knex('activity_records').where({ log_id: stored[1]!.id })).toHaveLength(450);
  });
});

test.runIf(isNative)(
  'on SQLite a mark resolves only when it is committed, and waits for an open transaction of the process',
  async () => {
    const place = await createPlace(variants[0]!);
    await place.open();
    const database = place.tables();
    const log = createActivityLog(
      createActivityRows(database, async () => ({ environmentId: 1 })),
      () => {},
      systemClock,
    );
    const { outcome: _, durationMs: __, ...mark } = { ...entry(1), type: 'write' as const };
    await log.begin(mark);
    const seen: string[] = [];
    let marks: Promise<unknown> | undefined;

    await database.write(async (trx) => {
      marks = Promise.all([log.begin(mark), log.begin(mark)]).then(() => seen.push('marks'));
      for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
      await trx('settings').insert({ key: 'one', value: 'x' });
      seen.push('transaction');
    });
    await marks;

    expect(seen).toEqual(['transaction', 'marks']);
    expect(await log.list({ limit: 5 })).toHaveLength(3);
  },
);

describe('the activity log', () => {
  test('one timer for each batch', async () => {
    const hand = createHandClock();
    const { activity } = await (await createPlace(variants[0]!)).open({ clock: hand.clock });

    for (let n = 0; n < 3; n++) activity.record(entry(n));

    expect(hand.waiting).toBe(1);
  });

  test('beyond 10,000 pending entries the oldest are dropped, and a warning counts them', async () => {
    const place = await createPlace(variants[0]!);
    const { activity } = await place.open({ clock: createHandClock().clock });
    for (let n = 0; n < 10_007; n++) activity.record(entry(n));

    await activity.flush();

    const { knex } = place.tables();
    const [row] = await knex('activity_logs').count({ n: '*' }).min({ first: 'started_at' });
    expect([row!.n, Number(row!.first) - entry(0).startedAt]).toEqual([10_000, 7]);
    const dropped = place.observed
      .flatMap((one) => (one.type === 'warning' ? [one.message] : []))
      .filter(isNotDriverWarning);
    expect(dropped).toEqual(['7 activity entries were dropped: the storage is too slow or unavailable.']);
  });
});
