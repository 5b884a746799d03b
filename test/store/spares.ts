// Migrated databases of a server that tests reuse, across files, because creating fifty tables
// takes longer than most tests. A released database is reset to the state after the migrations:
// the same rows, and ids from the beginning. SQLite copies a file instead (../storage.ts).
import type { Knex } from 'knex';
import { systemClock } from '../../src/core/clock.ts';
import { type Database, openDatabase } from '../../src/store/database/database.ts';
import { migrate } from '../../src/store/migrations/migrations.ts';
import type { TestDatabase, TestServer } from '../databases.ts';
import { prepareStorage } from '../storage.ts';

export interface Spare {
  readonly url: string;
  /** Resets the database for the next test, or drops it if that fails. */
  release(): Promise<void>;
}

type Rows = ReadonlyMap<string, readonly Readonly<Record<string, unknown>>[]>;

interface Kept {
  readonly database: TestDatabase;
  /** The rows after the migrations, by table. */
  readonly rows: Rows;
}

const kept = new Map<TestServer, Kept[]>();

export async function takeSpare(server: TestServer): Promise<Spare> {
  const taken = kept.get(server)?.pop() ?? (await make(server));
  return {
    url: taken.database.url,
    async release() {
      try {
        await within(taken.database.url, (on) => reset(on, taken.rows));
        kept.set(server, [...(kept.get(server) ?? []), taken]);
      } catch {
        await taken.database.drop();
      }
    },
  };
}

/** Like `takeSpare`, for tests that need a database of their own; on SQLite a file with our tables. */
export async function createStorage(server: TestServer): Promise<TestDatabase> {
  if (server.dialect === 'sqlite') {
    const database = await server.create();
    await prepareStorage({ storageUrl: database.url, dataDir: '/', sqlite: 'auto' });
    return database;
  }
  const { url, release } = await takeSpare(server);
  return { dialect: server.dialect, url, drop: release };
}

/** Unless they are dropped with the whole run (../run.ts). */
export async function dropSpares(): Promise<void> {
  if (process.env.TEST_RUN !== undefined) return;
  const all = [...kept.values()].flat();
  kept.clear();
  for (const { database } of all) await database.drop();
}

async function make(server: TestServer): Promise<Kept> {
  const database = await server.create();
  const rows = await within(database.url, async (on) => {
    await migrate(on, systemClock.now());
    return readRows(on.knex);
  });
  return { database, rows };
}

async function within<T>(url: string, run: (on: Database) => Promise<T>): Promise<T> {
  const on = openDatabase({ url, dataDir: '/', sqlite: 'auto' });
  try {
    return await run(on);
  } finally {
    await on.close();
  }
}

async function readRows(knex: Knex): Promise<Rows> {
  const tables = (await knex('information_schema.tables')
    .whereRaw(`table_schema = ${knex.client.config.client === 'pg' ? 'current_schema()' : 'database()'}`)
    .pluck('table_name')) as string[];
  const rows = new Map<string, readonly Readonly<Record<string, unknown>>[]>();
  for (const table of tables) rows.set(table, await knex(table));
  return rows;
}

/** Fails if a test created or dropped a table. */
async function reset({ dialect, knex }: Database, rows: Rows): Promise<void> {
  const now = [...(await readRows(knex))];
  if (now.length !== rows.size) throw new Error('a test made or dropped a table');
  const changed = now.filter(([table, present]) => JSON.stringify(present) !== JSON.stringify(rows.get(table)));
  const names = changed.map(([table]) => table);
  if (names.length === 0) return;
  // One connection, because it disables the checks only for itself.
  await knex.transaction(async (trx) => {
    if (dialect === 'mysql') {
      await trx.raw('SET FOREIGN_KEY_CHECKS = 0');
      for (const name of names) await trx.raw('TRUNCATE TABLE ??', [name]);
    } else {
      await trx.raw("SET LOCAL session_replication_role = 'replica'");
      for (const name of names) await trx.raw('DELETE FROM ??', [name]);
    }
    for (const name of names) {
      const seeds = rows.get(name) ?? [];
      if (seeds.length > 0) await trx(name).insert(seeds);
      if (dialect === 'postgres') await restart(trx, name, seeds.length);
    }
    if (dialect === 'mysql') await trx.raw('SET FOREIGN_KEY_CHECKS = 1');
  });
}

/** PostgreSQL keeps the next id in a sequence. */
async function restart(trx: Knex.Transaction, table: string, seeds: number): Promise<void> {
  const found = await trx('information_schema.columns')
    .where({ table_name: table, column_name: 'id' })
    .where('column_default', 'like', 'nextval%')
    .first('column_name');
  if (!found) return;
  await trx.raw("SELECT setval(pg_get_serial_sequence(?, 'id'), ?, ?)", [table, Math.max(1, seeds), seeds > 0]);
}
