// The child processes of SQLite: they start when a statement needs one, and end when they were idle for a while.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import type { CountSelect } from '../../src/agent/sources/statement.ts';
import { type Clock, systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { runSql, slowSchema, sqliteIsolates } from './schemas.ts';

/** The child processes that have this file open. */
function childrenOn(file: string): number {
  const tasks = readdirSync('/proc/self/task');
  const ids = tasks.flatMap((task) => {
    const list = readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim();
    return list === '' ? [] : list.split(' ');
  });
  return ids.filter((id) => readFileSync(`/proc/${id}/cmdline`, 'utf8').split('\0').includes(file)).length;
}

const IDLE_MILLISECONDS = 10_000;

test.runIf(sqliteIsolates && process.platform === 'linux')(
  'a child process starts on demand, one for each running statement, and ends when it is idle',
  async () => {
    const database = await servers[0]!.create();
    await runSql(database, slowSchema());
    const file = database.url.slice('sqlite:'.length);
    const idle = new Set<() => void>();
    // Runs the timers of idle children by hand.
    const clock: Clock = {
      ...systemClock,
      after(ms, run) {
        if (ms !== IDLE_MILLISECONDS) return systemClock.after(ms, run);
        idle.add(run);
        return () => idle.delete(run);
      },
    };
    const source = createSqlSource(database.url, { observe: () => undefined, clock });
    onTestFinished(async () => {
      await source.close();
      await database.drop();
    });
    await source.describe();
    const count = (table: string, timeoutMs: number) => {
      const select: CountSelect = { table, joins: [], where: { op: 'always' } };
      return source.count(select, { timeoutMs });
    };
    expect(childrenOn(file)).toBe(0);
    expect([await count('cheap', 20_000), await count('cheap', 20_000), childrenOn(file)]).toEqual([100, 100, 1]);

    const slow = count('slow', 2000).catch(({ code }) => code);
    expect(await count('cheap', 20_000)).toBe(100);
    expect(childrenOn(file)).toBe(2);
    expect(await slow).toBe('TIMED_OUT');
    await expect.poll(() => childrenOn(file)).toBe(1);

    expect(idle.size).toBe(1);
    for (const end of idle) end();
    await expect.poll(() => childrenOn(file)).toBe(0);
    expect([await count('cheap', 20_000), childrenOn(file)]).toEqual([100, 1]);
  },
);
