// Compares searches of the activity log with a naive search, on every database: random entries with few distinct times,
// random filters, and cursor pages while entries are written.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ActivityEntry, ActivityFilter, LoggedActivity } from '../../src/store/audit/activity-types.ts';
import type { LogPosition } from '../../src/store/audit/log-types.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { cleanUpAfterEach, createPlace, variants } from './stores.ts';

cleanUpAfterEach();

const FROM = 1_700_000_000_000;
const some = <T>(...values: T[]) => fc.constantFrom(...values);

const entries = fc.array(
  fc.record({
    userId: some(1, 2),
    clientName: some('Claude', 'claude ', 'A script'),
    action: some('list', 'update', 'executeAction'),
    type: some('read' as const, 'write' as const),
    collection: fc.option(some('orders', 'Orders', 'b\0d'), { nil: undefined }),
    recordIds: fc.option(fc.array(some('1', '1|2', 'x'.repeat(300), 'a\0'), { maxLength: 3 }), { nil: undefined }),
    outcome: some('completed' as const, 'failed' as const, 'denied' as const),
    at: fc.integer({ min: 0, max: 4 }),
  }),
  { minLength: 1, maxLength: 70 },
);

const filters = fc.record(
  {
    userId: some(1, 2, 3),
    clientName: some('CLAUDE', 'A script', 'nobody'),
    action: some('list', 'update', 'export'),
    type: some('read' as const, 'write' as const),
    collection: some('orders', 'Orders', 'ORDERS', 'b\0d'),
    recordId: some('1', '2', '1|2', 'x'.repeat(300), 'a\0'),
    outcome: some('completed' as const, 'failed' as const, 'denied' as const, 'unknown' as const),
    times: fc.record(
      { from: fc.integer({ min: FROM, max: FROM + 4 }), to: fc.integer({ min: FROM, max: FROM + 4 }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const plain = (text: string) => text.replaceAll('\0', '\ufffd');

function isMeant(entry: ActivityEntry, wanted: ActivityFilter): boolean {
  const { from = 0, to = Number.POSITIVE_INFINITY } = wanted.times ?? {};
  const fold = (name: string) => name.trim().toLowerCase();
  return (
    (['userId', 'action', 'type', 'outcome'] as const).every(
      (k) => wanted[k] === undefined || wanted[k] === entry[k],
    ) &&
    (wanted.collection === undefined || plain(wanted.collection) === plain(entry.collection ?? '')) &&
    (wanted.recordId === undefined || (entry.recordIds ?? []).includes(wanted.recordId)) &&
    (wanted.clientName === undefined || fold(wanted.clientName) === fold(entry.clientName)) &&
    entry.startedAt >= from &&
    entry.startedAt <= to
  );
}

/** Reads all pages; `between` runs after each. */
async function readAll(store: OpenedStore, wanted: ActivityFilter, limit: number, between: () => Promise<void>) {
  const seen: LoggedActivity[] = [];
  for (let after: LogPosition | undefined; ; ) {
    const page = await store.activity.search({ ...wanted, limit, after });
    seen.push(...page);
    const last = page.at(-1);
    if (!last || page.length < limit) return seen;
    after = { at: last.startedAt, id: last.id };
    await between();
  }
}

async function walkAll(store: OpenedStore, wanted: ActivityFilter, until: number) {
  const seen: LoggedActivity[] = [];
  for (let since: number | undefined = 0; since !== undefined; ) {
    const step: { entries: readonly LoggedActivity[]; next: number | undefined } = await store.activity.walk({
      ...wanted,
      since,
      until,
    });
    seen.push(...step.entries);
    since = step.next;
  }
  return seen;
}

type Drawn = typeof entries extends fc.Arbitrary<(infer E)[]> ? E : never;

const toEntry = ({ at, collection, recordIds, ...more }: Drawn, renderingId: number): ActivityEntry => ({
  ...more,
  ...(collection !== undefined && { collection }),
  ...(recordIds !== undefined && { recordIds }),
  renderingId,
  clientId: 'c',
  startedAt: FROM + at,
  durationMs: 1,
});

test.each(variants)(
  'on $name every filter returns the same as a naive search, page by page, during writes',
  async (variant) => {
    const place = await createPlace(variant);
    const store = await place.open();
    const caller = await store.identity.addUser({
      email: 'ada@example.com',
      firstName: 'Ada',
    });
    const renderingId = (await store.permissions.caller(caller.id))!.renderingId;
    let told: { readonly id: number; readonly entry: ActivityEntry }[] = [];
    await fc.assert(
      fc.asyncProperty(
        entries,
        entries,
        filters,
        fc.integer({ min: 1, max: 7 }),
        async (first, more, wanted, limit) => {
          for (const one of first) store.activity.record(toEntry(one, renderingId));
          await store.activity.flush();
          const before = await store.activity.newestId();
          const known = await store.activity.list({ limit: 1000 });
          told = known.map(({ id, ...entry }) => ({ id, entry }));
          const expected = told
            .filter(({ entry }) => isMeant(entry, wanted as ActivityFilter))
            .sort((a, b) => b.entry.startedAt - a.entry.startedAt || b.id - a.id)
            .map(({ id }) => id);
          let rest = [...more];
          const found = await readAll(store, wanted as ActivityFilter, limit, async () => {
            for (const one of rest.splice(0, 5)) store.activity.record(toEntry(one, renderingId));
            await store.activity.flush();
          });
          const newest = Math.max(...told.map(({ id }) => id));
          expect(before === newest || variant.server.dialect !== 'sqlite').toBe(true);
          // Existing entries appear exactly once. Entries written meanwhile may appear, in order.
          expect(found.map(({ id }) => id).filter((id) => id <= newest)).toEqual(expected);
          expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
          expect(found.every((entry) => isMeant(entry, wanted as ActivityFilter) && entry.team === 'Operations')).toBe(
            true,
          );
          const walked = await walkAll(store, wanted as ActivityFilter, newest);
          expect(walked.map(({ id }) => id)).toEqual([...expected].sort((a, b) => a - b));
          rest = [];
        },
      ),
      { numRuns: 8, seed: Number(process.env.SEED ?? 20261122) },
    );
  },
);

test.each(variants)(
  'on $name marks are found by their records, also by later ones; deleted teams keep their names',
  async (variant) => {
    const place = await createPlace(variant);
    const store = await place.open();
    const eve = await store.identity.addUser({ email: 'eve@example.com', team: 'South' });
    const renderingId = (await store.permissions.caller(eve.id))!.renderingId;
    const entry = {
      userId: eve.id,
      renderingId,
      clientId: 'c',
      clientName: 'C',
      action: 'create',
      type: 'write',
      startedAt: FROM,
    } as const;
    const made = await store.activity.begin(entry);
    await made.complete({ outcome: 'completed', recordIds: ['7', '8'] });
    await store.activity.begin({ ...entry, action: 'update', recordIds: ['8', '8'], startedAt: FROM + 1 });
    await store.members.change(eve.id, { team: 'Operations' });
    const rights = await store.rights.read();
    await store.rights.apply(
      rights,
      rights.filter(({ kind, path }) => !(kind === 'team' && path[0] === 'South')),
    );

    const found = await store.activity.search({ recordId: '8', limit: 10 });
    const ofTeam = await store.activity.search({ team: 'South', limit: 10 });

    expect(found.map(({ action, outcome, team, user }) => [action, outcome, team, user?.email])).toEqual([
      ['update', 'unknown', 'South', 'eve@example.com'],
      ['create', 'completed', 'South', 'eve@example.com'],
    ]);
    expect(ofTeam.length).toBe(2);
    expect(await store.activity.find(found[0]!.id, eve.id + 1)).toBeUndefined();
  },
);
