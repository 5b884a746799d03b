// A storage in SQLite as the migrations make it: made once in a process, and copied for each test after. To make fifty tables
// takes longer than most tests do. The migrations themselves are asked in test/store/schema.test.ts; for servers see store/spares.ts.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../src/core/clock.ts';
import type { Config } from '../src/core/config.ts';
import { loadSqliteDriver, type SqliteKind } from '../src/core/sqlite.ts';
import { locateStorage, openDatabase } from '../src/store/database/database.ts';
import { migrate } from '../src/store/migrations/migrations.ts';

/** By driver: the one without native code keeps another kind of journal. */
const made = new Map<SqliteKind, Promise<Buffer>>();

async function make(sqlite: SqliteKind): Promise<Buffer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'portico-storage-'));
  try {
    const database = openDatabase({ url: null, dataDir, sqlite });
    await migrate(database, systemClock.now());
    await database.close();
    return readFileSync(locateStorage({ url: null, dataDir })!);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Nothing where the storage is there already, or is no file. */
export async function prepareStorage({
  storageUrl: url,
  dataDir,
  sqlite,
}: Pick<Config, 'storageUrl' | 'dataDir' | 'sqlite'>): Promise<void> {
  const file = locateStorage({ url, dataDir });
  if (file === undefined || existsSync(file)) return;
  const { kind } = loadSqliteDriver(sqlite);
  const kept = made.get(kind) ?? make(kind);
  made.set(kind, kept);
  const bytes = await kept;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, bytes, { mode: 0o600 });
}
