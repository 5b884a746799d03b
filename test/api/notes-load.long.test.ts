// Half a million notes: every filter, and every pair of filters, returns a page from an index within 20 ms of database
// time. The server itself measures the time (test/database-time.ts), summed over all statements of the page.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { type Database, openDatabase } from '../../src/store/database/database.ts';
import { createNotes } from '../../src/store/notes/notes.ts';
import type { NoteFilter } from '../../src/store/notes/types.ts';
import { openStore } from '../../src/store/open.ts';
import type { EnvironmentInfo } from '../../src/store/permissions/roles.ts';
import { indexesOf, measureDatabase, readsAll } from '../database-time.ts';
import { remoteServers, type TestDatabase } from '../databases.ts';
import { fillNotes } from './fill-notes.ts';
import { wishesOf } from './note-wishes.ts';

const notes = Number(process.env.TEST_NOTES ?? 500_000);
const limitMs = 20;
const from = Date.parse('2026-01-01T00:00:00Z');
const at = (share: number): number => from + Math.floor(notes * share) * 60_000;

describe.each(remoteServers)(`${notes} notes on $dialect`, ({ create }) => {
  let made: TestDatabase;
  let database: Database;
  let environmentId: number;
  let userIds: number[];
  let dataDir: string;

  beforeAll(async () => {
    made = await create();
    dataDir = mkdtempSync(join(tmpdir(), 'portico-notes-'));
    const config = loadConfig({ env: { SERVICE_STORAGE_URL: made.url, SERVICE_DATA_DIR: dataDir } });
    const store = await openStore({ config, observe: () => undefined, clock: systemClock });
    for (let user = 1; user <= 8; user++) {
      await store.identity.addUser({ email: `user${user}@example.com`, team: `Team ${user % 4}` });
    }
    environmentId = (await store.identity.place()).environmentId;
    await store.close();
    database = openDatabase({ url: made.url, dataDir, sqlite: 'auto' });
    const { knex } = database;
    userIds = await knex('users').orderBy('id').pluck('id');
    const teams = await knex('teams').where('name', 'like', 'Team%').orderBy('id').select('id', 'name');
    const began = performance.now();
    await fillNotes(knex, { notes, environmentId, userIds, teams, from });
    console.log(`${made.dialect}: ${notes} notes in ${Math.round((performance.now() - began) / 1000)} s`);
    // As autovacuum does where it is enabled.
    await (made.dialect === 'postgres'
      ? knex.raw('VACUUM ANALYZE notes, note_messages, users, teams')
      : knex.raw('ANALYZE TABLE notes, note_messages, users, teams'));
  }, 1_200_000);
  afterAll(async () => {
    await database?.close();
    await made?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 120_000);

  test('every filter and every pair of filters reads the first two pages from an index within 20 ms', async () => {
    const list = createNotes(database, async () => ({ environmentId }) as EnvironmentInfo, systemClock).list;
    const late: string[] = [];
    const figures: string[] = [];
    for (const [name, wish] of Object.entries(wishesOf(at, userIds))) {
      let after: number | undefined;
      const turn = (page: NoteFilter) => async () => {
        after = (await list(page)).next;
      };
      const pages = [await measureDatabase(database, turn({ ...wish, limit: 20 }))];
      if (after !== undefined) pages.push(await measureDatabase(database, turn({ ...wish, limit: 20, after })));
      const ms = Math.max(...pages.map((page) => page.ms));
      const indexes = pages.flatMap(indexesOf).filter((index) => index.startsWith('notes_'));
      figures.push(`${made.dialect}\t${name}\t${ms.toFixed(2)} ms\t${[...new Set(indexes)].join(' ')}`);
      if (ms >= limitMs) late.push(figures.at(-1)!);
      if (pages.some((page) => readsAll(page, 'notes'))) late.push(`${name}: all notes are read`);
    }
    console.log(figures.join('\n'));
    expect(late).toEqual([]);
  }, 1_200_000);

  test('a page of 100 notes with their messages takes less than 20 ms', async () => {
    const { ms } = await measureDatabase(database, async () => {
      await createNotes(database, async () => ({ environmentId }) as EnvironmentInfo, systemClock).list({ limit: 100 });
    });
    console.log(`${made.dialect}\ta page of 100 notes\t${ms.toFixed(2)} ms`);
    expect(ms).toBeLessThan(limitMs);
  });
});
