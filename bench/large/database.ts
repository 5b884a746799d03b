// What a statement costs the database: the CPU time of its server, and the rows that it examines. The first needs a
// server on this machine, and counts the work of others on it too.
import mysql from 'mysql2/promise';
import pg from 'pg';
import type { Dialect } from '../../test/databases.ts';
import type { DatabaseCpu } from '../driver.ts';
import { parentOf, processOfThread, treeCpuMicroseconds } from '../processes.ts';
import type { Statement } from './captured.ts';

export interface Observer {
  /** Undefined if the server is on another machine, or part of the measured process (SQLite). */
  readonly cpu: DatabaseCpu | undefined;
  /** The rows and entries of indexes that the statements read; undefined where the database does not count them. */
  examined(statements: readonly Statement[]): Promise<number | undefined>;
  close(): Promise<void>;
}

export async function observe(dialect: Dialect, url: string): Promise<Observer> {
  if (dialect === 'mariadb') return observeMariadb(url);
  if (dialect === 'postgres') return observePostgres(url);
  return { cpu: undefined, examined: async () => undefined, close: async () => undefined };
}

const cpuOf = (pid: number | undefined): DatabaseCpu | undefined =>
  pid === undefined ? undefined : () => treeCpuMicroseconds(pid);

async function observeMariadb(url: string): Promise<Observer> {
  const connection = await mysql.createConnection(url);
  const ask = async <Row>(sql: string) => (await connection.query(sql))[0] as Row[];
  const [thread] = await ask<{ tid: number }>(
    'select tid from information_schema.processlist where id = connection_id()',
  );
  const handled = async () => {
    const rows = await ask<{ Value: string }>("show session status like 'Handler_read%'");
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0);
  };
  return {
    cpu: cpuOf(thread && processOfThread(thread.tid, /^(mariadbd|mysqld)/)),
    async examined(statements) {
      // Asking counts too: as much as it counts between two times of asking.
      const asking = -(await handled()) + (await handled());
      const before = await handled();
      for (const { sql, values } of statements) await connection.execute(sql, values as string[]);
      return (await handled()) - before - asking;
    },
    close: () => connection.end(),
  };
}

interface PlanNode {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Relation Name'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** The rows of tables that a plan read, whether they passed its filters or not. */
function rowsOf(node: PlanNode): number {
  const { 'Actual Rows': passed, 'Actual Loops': loops, Plans: inner = [] } = node;
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  const own = node['Relation Name'] === undefined ? 0 : (passed + removed) * loops;
  return inner.reduce((sum, each) => sum + rowsOf(each), own);
}

async function observePostgres(connectionString: string): Promise<Observer> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const backend = processOfThread(rows[0]!.pid, /^postgres/);
  return {
    cpu: cpuOf(backend && parentOf(backend)),
    async examined(statements) {
      let count = 0;
      for (const { sql, values } of statements) {
        const text = `explain (analyze, format json) ${sql}`;
        const answer = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({ text, values: [...values] });
        count += rowsOf(answer.rows[0]!['QUERY PLAN'][0].Plan);
      }
      return count;
    },
    close: () => client.end(),
  };
}
