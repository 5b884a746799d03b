// A migrated SQLite storage, created once per process and copied for each test, because creating fifty tables takes
// longer than most tests. test/store/schema.test.ts tests the migrations; store/spares.ts does the same for servers.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../src/core/clock.ts';
import type { Config } from '../src/core/config.ts';
import { loadSqliteDriver, type SqliteKind } from '../src/core/sqlite.ts';
import { locateStorage, openDatabase } from '../src/store/database/database.ts';
import { migrate } from '../src/store/migrations/migrations.ts';

/** By driver: the one without native code uses another journal mode. */
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

/** Does nothing if the storage exists or is not a file. */
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
