// Retention of the logs on every database, with a clock that the test moves. In the pause between two transactions of a
// sweep, the tests read the logs as other readers do.
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import type { ActivityEntry, LoggedActivity } from '../../src/store/audit/activity-types.ts';
import type { LogPosition, ScanStep } from '../../src/store/audit/log-types.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { isNotDriverWarning } from '../driver-warning.ts';
import { cleanUpAfterEach, createPlace, type Place, variants } from './stores.ts';

cleanUpAfterEach();

const DAY = 86_400_000;
const NOW = 1_800_000_000_000;

interface Still {
  at: number;
  readonly timers: { readonly ms: number; readonly run: () => void }[];
  readonly clock: Clock;
}

/** A clock that the test moves. A pause lasts as long as the callback in it. */
function createStill(inPause: () => Promise<unknown> = async () => undefined) {
  const clock: Clock = {
    ...systemClock,
    now: () => still.at,
    sleep: async () => void (await inPause()),
    // The test flushes the log itself and does not need its timers.
    after(ms, run) {
      still.timers.push({ ms, run });
      return () => undefined;
    },
  };
  const still: Still = { at: NOW, timers: [], clock };
  return still;
}

const env = { SERVICE_ACTIVITY_DAYS: '30', SERVICE_ADMIN_LOG_DAYS: '400' };

const entryOf = (ageDays: number, more: Partial<ActivityEntry> = {}): ActivityEntry => ({
  userId: 1,
  renderingId: 1,
  clientId: 'c',
  clientName: 'C',
  action: 'list',
  type: 'read',
  collection: 'orders',
  outcome: 'completed',
  startedAt: NOW - ageDays * DAY,
  durationMs: 1,
  ...more,
});

async function write(store: OpenedStore, entries: readonly ActivityEntry[]): Promise<void> {
  for (const entry of entries) store.activity.record(entry);
  await store.activity.flush();
}

const old = (count: number, more?: Partial<ActivityEntry>) =>
  Array.from({ length: count }, (_, n) => entryOf(60, { startedAt: NOW - 60 * DAY + n, ...more }));

async function readPages(store: OpenedStore, limit: number, after?: LogPosition): Promise<readonly LoggedActivity[]> {
  const page = await store.activity.search({ limit, after });
  const last = page.at(-1);
  if (!last || page.length < limit) return page;
  return [...page, ...(await readPages(store, limit, { at: last.startedAt, id: last.id }))];
}

async function walkAll(store: OpenedStore, since: number, until: number) {
  const seen: LoggedActivity[] = [];
  let steps = 0;
  for (let from: number | undefined = since; from !== undefined; steps++) {
    const step: ScanStep<LoggedActivity> = await store.activity.walk({ since: from, until });
    seen.push(...step.entries);
    from = step.next;
  }
  return { seen, steps };
}

const sweepsOf = async (store: OpenedStore) =>
  (await store.adminLog.search({ resource: 'log', limit: 100 })).map(({ type, action, initiator, previousValue }) => ({
    ...{ type, action, initiator },
    ...(previousValue && 'name' in previousValue && { name: previousValue.name, ...previousValue.details }),
  }));
const sweepOf = (name: string, entries: number, before: number) => ({
  ...{ type: 'remove', action: 'log.sweep', initiator: 'serviceAdmin', name, entries },
  before: new Date(before).toISOString(),
});

const countOf = async (place: Place, table: string): Promise<number> => {
  const { knex } = place.tables();
  const [row] = await knex(table).count<{ count: number | string }[]>({ count: '*' });
  return Number(row!.count);
};

test.each(variants)(
  'on $name entries older than the setting are deleted with their records, and the admin log reports it',
  async (variant) => {
    const place = await createPlace(variant);
    const still = createStill();
    const store = await place.open({ clock: still.clock, env });
    const long = 'x'.repeat(300);
    await write(store, [
      entryOf(30, { recordIds: ['1', long, 'a\0'], startedAt: NOW - 30 * DAY - 1 }),
      entryOf(30, { recordIds: ['1'] }),
      entryOf(1, { recordIds: [long] }),
      ...old(520, { recordIds: ['2', '3'] }),
    ]);
    const mark = await store.activity.begin(entryOf(40, { type: 'write', action: 'create' }));
    await mark.complete({ outcome: 'completed', recordIds: ['9'] });
    const { knex } = place.tables();
    const { id: log_id } = (await store.activity.list({ limit: 1 }))[0]!;
    await knex('activity_workflows').insert({ log_id, run_id: 'gone', name: 'w' });
    await knex('activity_details').insert({ log_id, approval_id: 'gone' });
    const [newest] = await store.activity.search({ limit: 1 });
    await knex('activity_workflows').insert({ log_id: newest!.id, run_id: 'kept', name: 'w' });

    await knex('activity_details').insert({ log_id: newest!.id, approval_id: 'kept' });

    await store.retention!.sweep();

    const left = await store.activity.list({ limit: 1000 });
    expect(left.map(({ startedAt }) => (NOW - startedAt) / DAY)).toEqual([1, 30]);
    expect(await countOf(place, 'activity_records')).toBe(2);
    expect(await knex('activity_workflows').pluck<string[]>('run_id')).toEqual(['kept']);
    expect(await knex('activity_details').pluck<string[]>('approval_id')).toEqual(['kept']);
    expect((await store.activity.search({ recordId: long, limit: 9 })).length).toBe(1);
    expect(await sweepsOf(store)).toEqual([sweepOf('activity', 522, NOW - 30 * DAY)]);
    expect(place.observed.filter(({ type }) => type === 'store.swept')).toEqual([{ type: 'store.swept', rows: 522 }]);

    // No entry is old enough, so no sweep is logged.
    still.at += 3_600_000 / 2;
    await store.retention!.sweep();
    expect(await store.activity.list({ limit: 9 })).toHaveLength(2);
    still.at += 3_600_000;
    await store.retention!.sweep();
    expect(await store.activity.list({ limit: 9 })).toHaveLength(1);
    still.at += 500 * DAY;
    await store.retention!.sweep();
    // All entries of the admin log were older, including those about the sweeps.
    const changes = await store.adminLog.search({ limit: 100 });
    expect(changes.map(({ action, subject }) => [action, subject])).toEqual([
      ['log.sweep', 'admin'],
      ['log.sweep', 'activity'],
    ]);
    expect(await store.adminLog.newestId()).toBeGreaterThan(0);
  },
);

test('without the setting nothing is deleted', async () => {
  const place = await createPlace(variants[0]!);
  const still = createStill();
  const store = await place.open({ clock: still.clock });
  await write(store, [entryOf(36_000)]);
  await store.retention!.sweep();
  store.retention!.begin();
  expect(await store.activity.list({ limit: 9 })).toHaveLength(1);
  expect(still.timers.map(({ ms }) => ms)).not.toContain(3_600_000);
});

test.each(variants)('on $name pages and exports are correct while a sweep runs', async (variant) => {
  const place = await createPlace(variant);
  const seen: { readonly pages: readonly LoggedActivity[]; readonly walked: readonly LoggedActivity[] }[] = [];
  let store: OpenedStore;
  let newest = 0;
  let since = 0;
  const still = createStill(async () => {
    if (seen.length > 2) return;
    await write(store, [entryOf(0, { startedAt: NOW + seen.length })]);
    seen.push({ pages: await readPages(store, 300), walked: (await walkAll(store, since, newest)).seen });
  });
  store = await place.open({ clock: still.clock, env });
  // Old and new alternate, so the entries to keep are between the deleted ones.
  await write(
    store,
    old(1400).flatMap((entry, n) => (n % 4 === 0 ? [entry, entryOf(3, { startedAt: NOW - 3 * DAY + n })] : [entry])),
  );
  const all = await store.activity.list({ limit: 1000 });
  newest = all[0]!.id;
  since = newest - 1000;
  const kept = (await walkAll(store, 0, newest)).seen.filter(({ startedAt }) => startedAt > NOW - 30 * DAY);
  // A reader has read the first page before the sweep begins.
  const first = await store.activity.search({ limit: 200 });
  const after = { at: first.at(-1)!.startedAt, id: first.at(-1)!.id };

  await store.retention!.sweep();

  expect(kept).toHaveLength(350);
  expect(seen).toHaveLength(3);
  const isKept = ({ startedAt, id }: LoggedActivity) => startedAt > NOW - 30 * DAY && id <= newest;
  for (const { pages, walked } of seen) {
    const ids = pages.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(pages.filter(isKept).map(({ id }) => id)).toEqual(kept.map(({ id }) => id).reverse());
    expect(walked.filter(isKept)).toEqual(kept.filter(({ id }) => id > since));
  }
  const rest = await store.activity.search({ limit: 1000, after });
  expect(rest).toEqual([...kept].reverse().slice(200));
  expect((await walkAll(store, since, newest)).seen).toEqual(kept.filter(({ id }) => id > since));
});

test.each(variants)('on $name an export skips deleted ids', async (variant) => {
  const place = await createPlace(variant);
  const store = await place.open({ clock: createStill().clock, env });
  await write(store, [entryOf(1)]);
  const first = (await store.activity.list({ limit: 1 }))[0]!;
  const { knex } = place.tables();
  const row = await knex('activity_logs').where({ id: first.id }).first<Record<string, unknown>>();
  const far = first.id + 50_000_000;
  await knex('activity_logs').insert({ ...row, id: far });
  const { seen, steps } = await walkAll(store, 0, far);
  expect(seen.map(({ id }) => id)).toEqual([first.id, far]);
  expect(steps).toBeLessThan(5);
  // There are no entries after the last id, which was read before.
  expect((await walkAll(store, far, far)).seen).toEqual([]);
});

test.each(variants)('on $name one of several processes sweeps', async (variant) => {
  const place = await createPlace(variant);
  const first = createStill();
  const stores = [await place.open({ clock: first.clock, env }), await place.open({ clock: first.clock, env })];
  // SQLite waits for a lock and blocks the event loop, so there the sweeps run one after the other.
  const isServer = variant.server.dialect !== 'sqlite';
  await write(stores[0]!, old(600));
  if (isServer) await Promise.all(stores.map((store) => store.retention!.sweep()));
  else for (const store of stores) await store.retention!.sweep();
  expect(await sweepsOf(stores[0]!)).toEqual([sweepOf('activity', 600, NOW - 30 * DAY)]);
  // A process with other settings still has entries to delete.
  const other = await place.open({ clock: first.clock, env: { SERVICE_ACTIVITY_DAYS: '10' } });
  await write(other, [entryOf(20)]);
  await other.retention!.sweep();
  expect(await sweepsOf(other)).toHaveLength(2);
});

test.each(variants)('on $name an interrupted sweep is reported and continued', async (variant) => {
  const place = await createPlace(variant);
  const pauses: (() => Promise<void>)[] = [];
  const still = createStill(() => pauses.shift()?.() ?? Promise.resolve());
  const store = await place.open({ clock: still.clock, env });
  await write(store, old(1700));
  // The first sweep stops cleanly after its first step.
  pauses.push(async () => void store.retention!.stop());
  await store.retention!.sweep();
  expect(await countOf(place, 'activity_logs')).toBe(1200);
  expect(await sweepsOf(store)).toEqual([]);

  // The second sweep fails after its second step.
  const second = await place.open({ clock: still.clock, env });
  pauses.push(
    async () => undefined,
    () => Promise.reject(new Error('killed')),
  );
  await expect(second.retention!.sweep()).rejects.toThrow('killed');
  expect(await sweepsOf(store)).toEqual([sweepOf('activity', 500, NOW - 30 * DAY)]);
  const third = await place.open({ clock: still.clock, env });
  await third.retention!.sweep();
  expect(await countOf(place, 'activity_logs')).toBe(200);
  still.at += 121_000;
  await third.retention!.sweep();

  expect(await countOf(place, 'activity_logs')).toBe(0);
  expect((await sweepsOf(third)).map((one) => ('entries' in one ? one.entries : undefined))).toEqual([200, 1000, 500]);
});

test.each(variants)('on $name a process that lost the lease deletes nothing more', async (variant) => {
  const place = await createPlace(variant);
  let other: OpenedStore;
  let isAway = false;
  const still = createStill(async () => {
    if (isAway) return;
    isAway = true;
    still.at += 3_600_000;
    await other.retention!.sweep();
    await write(other, [entryOf(50)]);
  });
  const store = await place.open({ clock: still.clock, env });
  other = variant.server.dialect === 'sqlite' ? store : await place.open({ clock: still.clock, env });
  await write(store, old(900));
  await store.retention!.sweep();
  expect(await countOf(place, 'activity_logs')).toBe(1);
  expect((await sweepsOf(store)).map((told) => ('entries' in told ? told.entries : 0))).toEqual([400, 500]);
});

test('it runs at the start and every hour, also after a failure', async () => {
  const place = await createPlace(variants[0]!);
  const still = createStill();
  const store = await place.open({ clock: still.clock, env });
  await write(store, old(1));
  const hourly = () => still.timers.filter(({ ms }) => ms === 3_600_000);
  store.retention!.begin();
  await expect.poll(() => hourly().length).toBe(1);
  expect(await sweepsOf(store)).toHaveLength(1);

  const { knex } = place.tables();
  await knex('settings').where({ key: 'log-retention' }).update({ value: 'broken' });
  still.at += 3_600_000;
  hourly()[0]!.run();
  await expect.poll(() => hourly().length).toBe(2);
  const warnings = place.observed
    .flatMap((one) => (one.type === 'warning' ? [one.message] : []))
    .filter(isNotDriverWarning);
  expect(warnings).toHaveLength(1);
  await store.retention!.stop();
});
