// What runs cost the storage: its commits and statements, and the CPU time of all processes with the database and Redis.
// The counters of a server are of everything on it, so they need one that nobody else uses.
import { closeSync, openSync, readSync } from 'node:fs';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import type { ServerProcess } from './driver.ts';
import { observe } from './large/database.ts';
import { treeCpuMicroseconds } from './processes.ts';

export interface Counts {
  /** Commits that changed something. */
  readonly commits: number;
  /** Absent on SQLite, which does not count them. */
  readonly statements?: number;
  readonly cpuMicroseconds: number;
}

export interface Counter {
  read(): Promise<Counts>;
  close(): Promise<void>;
}

const cpuOf = (servers: readonly ServerProcess[]): number =>
  servers.reduce((sum, { process }) => sum + treeCpuMicroseconds(process.pid!), 0);

/** `url`: the storage, in WAL mode. */
export function countSqlite(url: string, servers: readonly ServerProcess[]): Counter {
  const path = `${url.slice('sqlite:'.length)}-shm`;
  return {
    read: async () => ({ commits: walCommits(path), cpuMicroseconds: cpuOf(servers) }),
    close: async () => undefined,
  };
}

/** The header of the WAL index has a counter of commits at byte 8 (iChange in the file format of SQLite). */
function walCommits(path: string): number {
  const file = openSync(path, 'r');
  const bytes = Buffer.alloc(4);
  readSync(file, bytes, 0, 4, 8);
  closeSync(file);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, 1)[0]!;
}

export async function countMariadb(url: string, redisUrl: string, servers: readonly ServerProcess[]): Promise<Counter> {
  const connection = await mysql.createConnection(url);
  const observer = await observe('mariadb', url);
  const redis = new Redis(redisUrl);
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  redis.disconnect();
  const number = async (sql: string) => {
    const [[row]] = (await connection.query({ sql, rowsAsArray: true })) as unknown as [[unknown[]]];
    return Number(row.at(-1));
  };
  const commits = "from information_schema.innodb_metrics where name = 'trx_rw_commits'";
  const wasEnabled = await number(`select enabled ${commits}`);
  if (!wasEnabled) await connection.query("set global innodb_monitor_enable = 'trx_rw_commits'");
  return {
    read: async () => ({
      commits: await number(`select count ${commits}`),
      statements: await number("show global status like 'Questions'"),
      cpuMicroseconds: cpuOf(servers) + treeCpuMicroseconds(redisPid) + (observer.cpu?.() ?? 0),
    }),
    async close() {
      if (!wasEnabled) await connection.query("set global innodb_monitor_disable = 'trx_rw_commits'");
      await connection.end();
      await observer.close();
    },
  };
}
