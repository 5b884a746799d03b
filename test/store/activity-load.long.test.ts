// 5,000,000 activity entries on a server. The first and the next page of each filter, and of
// common pairs of filters, take less than 20 ms of database time and use an index. The log takes
// in 5,000 entries per second, and a clean stop loses no entry. LOAD_ROWS sets a smaller number.
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createActivitySearch } from '../../src/store/audit/activity-search.ts';
import type { ActivitySearch, LoggedActivity } from '../../src/store/audit/activity-types.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { indexesOf, measureDatabase, readsAll } from '../database-time.ts';
import { filtersOf } from './activity-filters.ts';
import { fillActivity } from './fill-activity.ts';
import { cleanUpAfterEach, createPlace, type Place, variants } from './stores.ts';

cleanUpAfterEach();

const ROWS = Number(process.env.LOAD_ROWS ?? 5_000_000);
const limitMs = 20;

async function takeIn(store: OpenedStore, seconds: number): Promise<number> {
  const began = performance.now();
  for (let tick = 0; tick < seconds * 20; tick++) {
    for (let n = 0; n < 250; n++) {
      store.activity.record({
        ...{ userId: n, renderingId: 1, clientId: 'c', clientName: 'Claude', action: 'get', type: 'read' },
        ...{
          collection: `c${n % 40}`,
          recordIds: [`${n}`],
          outcome: 'completed',
          startedAt: Date.now(),
          durationMs: 1,
        },
      });
    }
    const due = began + (tick + 1) * 50 - performance.now();
    if (due > 0) await systemClock.sleep(due);
  }
  await store.close();
  return (performance.now() - began) / 1000;
}

/** Counts the entries before and after. Prints the CPU time of the process and the wall time. */
async function expectAllTakenIn(place: Place, store: OpenedStore, name: string): Promise<void> {
  const { knex } = place.tables();
  const count = async () => Number((await knex('activity_logs').count<{ n: number | string }[]>({ n: '*' }))[0]!.n);
  const seconds = 10;
  const before = await count();
  const from = process.cpuUsage();
  const took = await takeIn(store, seconds);
  const { user, system } = process.cpuUsage(from);
  const cpu = (user + system) / 1e6;
  console.log(`${name}: ${seconds * 5000} entries in ${took.toFixed(2)} s, ${cpu.toFixed(2)} s of this process' CPU`);
  const warnings = place.observed.filter(({ type }) => type === 'warning');
  expect([(await count()) - before, warnings]).toEqual([seconds * 5000, []]);
}

test.each(variants.filter(({ server, sqlite }) => server.dialect === 'sqlite' && sqlite === 'auto'))(
  'on $name 5,000 entries a second are stored',
  async (variant) => {
    const place = await createPlace(variant);
    await expectAllTakenIn(place, await place.open(), variant.name);
  },
);

const servers = variants.filter(({ server }) => server.dialect !== 'sqlite');

describe.each(servers)(`${ROWS} entries on $name`, (variant) => {
  test('a page by each filter takes under 20 ms, along an index, and 5,000 entries a second are stored', async () => {
    const place = await createPlace(variant);
    const store = await place.open();
    for (let team = 1; team < 5; team++) {
      await store.identity.addUser({ email: `user${team}@example.com`, team: `Team ${team}` });
    }
    const database = place.tables();
    const renderings = await database.knex('renderings').orderBy('id').pluck<number[]>('id');
    const began = performance.now();
    await fillActivity(database, ROWS, renderings);
    console.log(`${variant.name}: filled in ${Math.round((performance.now() - began) / 1000)} s`);

    const log = createActivitySearch(database, () => store.identity.place(), systemClock);
    const [late, figures]: [string[], string[]] = [[], []];
    for (const [name, filter] of Object.entries(filtersOf(ROWS))) {
      let last: LoggedActivity | undefined;
      const turn = (page: ActivitySearch) => async () => {
        last = (await log.search(page)).at(-1);
      };
      const wall = performance.now();
      await turn({ ...filter, limit: 101 })();
      const wallMs = performance.now() - wall;
      const pages = [await measureDatabase(database, turn({ ...filter, limit: 101 }))];
      if (last) {
        const after = { at: last.startedAt, id: last.id };
        pages.push(await measureDatabase(database, turn({ ...filter, limit: 101, after })));
      }
      const ms = Math.max(...pages.map((page) => page.ms));
      const indexes = [...new Set(pages.flatMap(indexesOf))].filter((index) => index.startsWith('activity_'));
      figures.push(`${variant.name}\t${name}\t${ms.toFixed(2)} ms\twall ${wallMs.toFixed(1)} ms\t${indexes.join(' ')}`);
      if (ms >= limitMs) late.push(figures.at(-1)!);
      if (pages.some((page) => readsAll(page, 'activity_logs'))) late.push(`${name}: all entries are read`);
    }
    console.log(figures.join('\n'));
    await expectAllTakenIn(place, store, variant.name);
    expect(late).toEqual([]);
  }, 3_600_000);
});
