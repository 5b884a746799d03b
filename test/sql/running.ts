// Counts the statements that a test database is working on, as the database reports them.
import { readFileSync, statSync } from 'node:fs';
import type { TestDatabase } from '../databases.ts';
import { askSql } from './schemas.ts';

/** Statements of this database that run or wait, without this one. */
export async function runningStatements(database: TestDatabase): Promise<number> {
  if (database.dialect === 'sqlite') return locksOn(database.url.slice('sqlite:'.length));
  const [row] = await askSql(
    database,
    database.dialect === 'mariadb'
      ? "select count(*) as n from information_schema.processlist where db = database() and command <> 'Sleep' and info not like '%processlist%'"
      : "select count(*)::int as n from pg_stat_activity where datname = current_database() and state = 'active' and query not like '%pg_stat_activity%'",
  );
  return Number(row?.n);
}

/**
 * How many locks other processes hold on the file. A statement of SQLite holds one from its first row to its end. A
 * child that starts, or waits for its next statement, does not hold any.
 */
function locksOn(file: string): number {
  const { ino } = statSync(file);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , , pid, place]) => Number(pid) !== process.pid && place?.endsWith(`:${ino}`)).length;
}
