// Half a million notes: every filter by itself, and some together, give a page within 20 ms of the database's time, from an
// index. The times are those of the server itself (MariaDB's ANALYZE, PostgreSQL's EXPLAIN ANALYZE), without the wire.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { selectMessages, selectNotes } from '../../src/store/note-rows.ts';
import type { NoteWish } from '../../src/store/note-types.ts';
import { openStore } from '../../src/store/open.ts';
import { remoteServers, type TestDatabase } from '../databases.ts';
import { fillNotes } from './fill-notes.ts';

const notes = Number(process.env.TEST_NOTES ?? 500_000);
const limitMs = 20;
const from = Date.parse('2026-01-01T00:00:00Z');
const at = (share: number): number => from + Math.floor(notes * share) * 60_000;

const wishes: Readonly<Record<string, Omit<NoteWish, 'limit'>>> = {
  none: {},
  userEmail: { userEmail: 'user3@example.com' },
  'userEmail of nobody': { userEmail: 'nobody@example.com' },
  userId: { userId: 3 },
  teamName: { teamName: 'Team 2' },
  'teamName that is none': { teamName: 'team 2' },
  'collectionName, of half of them': { collection: 'orders' },
  'collectionName, of a hundred': { collection: 'stores' },
  'collectionName that is none': { collection: 'Orders' },
  recordId: { recordId: '17' },
  'createdAt.lt, the oldest': { createdAt: { to: at(0.001) } },
  'createdAt.gt, the newest': { createdAt: { from: at(0.999) } },
  'createdAt between': { createdAt: { from: at(0.3), to: at(0.31) } },
  'createdAt.eq': { createdAt: { from: at(0.5), to: at(0.5) } },
  'updatedAt.gt, the latest': { updatedAt: { from: at(0.999) } },
  'updatedAt.gt, half': { updatedAt: { from: at(0.5) } },
  'updatedAt.lt, the oldest': { updatedAt: { to: at(0.001) } },
  'updatedAt.lt, half': { updatedAt: { to: at(0.5) } },
  'updatedAt between': { updatedAt: { from: at(0.3), to: at(0.31) } },
  'archivedAt.gt, the latest': { archivedAt: { from: at(0.999) } },
  'archivedAt.gt, all': { archivedAt: { from: 0 } },
  'archivedAt.lt, the oldest': { archivedAt: { to: at(0.002) } },
  'archivedAt between': { archivedAt: { from: at(0.3), to: at(0.31) } },
  'open ones': { archived: false },
  'team and collection': { teamName: 'Team 2', collection: 'orders' },
  'team, collection and record': { teamName: 'Team 2', collection: 'orders', recordId: '16' },
  'user, and archived of late': { userId: 3, archivedAt: { from: at(0.9) } },
  'the middle, by cursor': { after: at(0.5) },
  'collection, in the middle': { collection: 'orders', after: at(0.5) },
};

describe.each(remoteServers)(`${notes} notes on $dialect`, ({ create }) => {
  let made: TestDatabase;
  let database: Database;
  let environmentId: number;
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
    const userIds = await knex('users').orderBy('id').pluck('id');
    const teams = await knex('teams').where('name', 'like', 'Team%').orderBy('id').select('id', 'name');
    const began = performance.now();
    await fillNotes(knex, { notes, environmentId, userIds, teams, from });
    console.log(`${made.dialect}: ${notes} notes in ${Math.round((performance.now() - began) / 1000)} s`);
    await (made.dialect === 'postgres'
      ? knex.raw('ANALYZE notes, note_messages, users, teams')
      : knex.raw('ANALYZE TABLE notes, note_messages, users, teams'));
  }, 1_200_000);
  afterAll(async () => {
    await database?.close();
    await made?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }, 120_000);

  /** Milliseconds in the server, and the plan. */
  async function explain(
    query: ReturnType<typeof selectNotes>,
  ): Promise<{ readonly ms: number; readonly plan: string }> {
    const { sql, bindings } = query.toSQL();
    if (made.dialect === 'postgres') {
      const { rows } = await database.knex.raw(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...bindings]);
      const [told] = rows[0]['QUERY PLAN'];
      return { ms: told['Planning Time'] + told['Execution Time'], plan: JSON.stringify(told.Plan) };
    }
    const [[row]] = await database.knex.raw(`ANALYZE FORMAT=JSON ${sql}`, [...bindings]);
    const plan = JSON.parse(row.ANALYZE);
    return { ms: plan.query_block.r_total_time_ms, plan: JSON.stringify(plan) };
  }

  /** An index is used for the notes, and none of their rows is looked for by reading all. */
  const readsAll = (plan: string): boolean =>
    /"Seq Scan"[^}]*"Relation Name":"notes"/.test(plan) || /"table_name":"notes","access_type":"ALL"/.test(plan);

  test.each(Object.entries(wishes))('%s', async (name, wish) => {
    const found = [];
    for (let run = 0; run < 7; run++)
      found.push(await explain(selectNotes(database, environmentId, { ...wish, limit: 10 })));
    const median = found.map(({ ms }) => ms).sort((a, b) => a - b)[3]!;
    const { plan } = found[0]!;
    const index = /"(?:Index Name|key)":"(notes_[a-z_]+)"/.exec(plan)?.[1];
    const rows: { id: number }[] = await selectNotes(database, environmentId, { ...wish, limit: 100 });
    const thread = await explain(selectMessages(database.knex, rows.map(({ id }) => id).slice(0, 100)));
    console.log(
      `${made.dialect}\t${name}\t${median.toFixed(2)} ms\t${index}\t${rows.length} rows\tmessages ${thread.ms.toFixed(2)} ms`,
    );
    expect([median < limitMs, readsAll(plan), index !== undefined || rows.length === 0]).toEqual([true, false, true]);
  });
});
