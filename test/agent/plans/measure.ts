// Sees the statements that the engine sends, and measures how a database runs them: the rows that it reads, the
// indexes that it uses, and whether it sorts more than a page.
import mysql from 'mysql2';
import pg from 'pg';
import { loadSqliteDriver } from '../../../src/core/sqlite.ts';
import type { Dialect } from '../../databases.ts';

export interface Sent {
  readonly text: string;
  /** Empty on SQLite, where another process may run the statement. */
  readonly values: readonly unknown[];
}

/** How a statement ran. */
export interface Work {
  /** Rows that the database read from tables and indexes; unknown on SQLite. */
  readonly rows: number;
  /** SQLite: how each table is read. Otherwise empty. */
  readonly steps: readonly string[];
  /** Whether it sorts rows of a table, other than a page and rows with equal values of the first column. */
  readonly sorts: boolean;
}

/** Records the statements of the drivers while `run` runs, and returns the last one. */
export async function seeStatement(dialect: Dialect, run: (watch: (text: string) => void) => Promise<unknown>) {
  const seen: Sent[] = [];
  const restore = dialect === 'postgres' ? watchPg(seen) : dialect === 'mariadb' ? watchMysql(seen) : () => {};
  try {
    await run((text) => void (dialect === 'sqlite' && seen.push({ text, values: [] })));
  } finally {
    restore();
  }
  return seen.at(-1)!;
}

type Method = (this: unknown, ...given: unknown[]) => unknown;

function watch(owner: Record<string, Method>, name: string, see: (given: readonly unknown[]) => void): () => void {
  const real = owner[name]!;
  owner[name] = function (this: unknown, ...given: unknown[]) {
    see(given);
    return real.apply(this, given);
  };
  return () => {
    owner[name] = real;
  };
}

function watchPg(seen: Sent[]): () => void {
  return watch(pg.Client.prototype as never, 'query', ([query]) => {
    const { text, values } = query as { text?: string; values?: unknown[] };
    if (text && values) seen.push({ text, values });
  });
}

function watchMysql(seen: Sent[]): () => void {
  const connection = mysql.createConnection({ host: '127.0.0.1' });
  connection.on('error', () => {});
  let owner = Object.getPrototypeOf(connection) as Record<string, Method>;
  while (!Object.hasOwn(owner, 'execute')) owner = Object.getPrototypeOf(owner);
  connection.destroy();
  return watch(owner, 'execute', ([query, values]) =>
    seen.push({ text: (query as { sql: string }).sql, values: values as unknown[] }),
  );
}

export interface Meter {
  run(sql: string): Promise<void>;
  measure(sent: Sent): Promise<Work>;
  close(): Promise<void>;
}

export async function openMeter(dialect: Dialect, url: string): Promise<Meter> {
  if (dialect === 'sqlite') return sqliteMeter(url.slice('sqlite:'.length));
  return dialect === 'postgres' ? postgresMeter(url) : mariadbMeter(url);
}

function sqliteMeter(path: string): Meter {
  const database = new (loadSqliteDriver().driver)(path);
  return {
    run: async (sql) => void database.exec(sql),
    async measure({ text, values }) {
      const count = text.match(/\?/g)?.length ?? 0;
      // The planner looks at the values. The last one fills the placeholders of a list.
      const given = Array.from({ length: count }, (_, at) => values[Math.min(at, values.length - 1)] ?? null);
      const plan = database.prepare(`explain query plan ${text}`).all(...(given as never[])) as {
        parent: number;
        detail: string;
      }[];
      const isPage = text.startsWith('with');
      const steps = plan
        .map(({ detail }) => detail)
        .filter((detail) => /^(SEARCH|SCAN)/.test(detail) && !/^SCAN (p0|\(|`?portico)/.test(detail))
        .map((detail) =>
          detail
            .replace(/^(\w+) \w+/, '$1')
            .replace(' COVERING', '')
            .replace(/ LEFT-JOIN$/, ''),
        );
      const sorts = plan.some(
        ({ parent, detail }) => detail === 'USE TEMP B-TREE FOR ORDER BY' && !(isPage && parent === 0),
      );
      return { rows: Number.NaN, steps, sorts };
    },
    close: async () => void database.close(),
  };
}

interface Node {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Node[];
}

async function postgresMeter(url: string): Promise<Meter> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // Compilation and workers would make small tables look different from large ones.
  await client.query('set jit = off; set max_parallel_workers_per_gather = 0');
  return {
    run: async (sql) => void (await client.query(sql)),
    async measure({ text, values }) {
      const { rows } = await client.query(`explain (analyze, format json, timing off) ${text}`, values as unknown[]);
      const nodes: Node[] = [];
      const visit = (node: Node) => {
        nodes.push(node);
        node.Plans?.forEach(visit);
      };
      visit(rows[0]['QUERY PLAN'][0].Plan);
      const reads = nodes.filter((node) => /Scan/.test(node['Node Type']) && !/CTE|Subquery/.test(node['Node Type']));
      const read = (node: Node) =>
        node['Actual Loops'] *
        (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0));
      const sorted = nodes.filter((node) => node['Node Type'] === 'Sort').flatMap(({ Plans = [] }) => Plans);
      return {
        rows: reads.reduce((sum, node) => sum + read(node), 0),
        steps: [],
        sorts: sorted.some((node) => node['Actual Rows'] * node['Actual Loops'] > 1000),
      };
    },
    close: () => client.end(),
  };
}

async function mariadbMeter(url: string): Promise<Meter> {
  const connection = await (await import('mysql2/promise')).createConnection({ uri: url, multipleStatements: true });
  return {
    run: async (sql) => void (await connection.query(sql)),
    async measure({ text, values }) {
      await connection.query('flush status');
      await connection.execute(text, values as never[]);
      const [rows] = await connection.query("show session status where variable_name like 'Handler_read%'");
      const read = (rows as { Value: string }[]).reduce((sum, { Value }) => sum + Number(Value), 0);
      const [plan] = await connection.query(`explain ${text}`, values as unknown[]);
      const isSorted = (plan as { Extra: string | null }[]).some(({ Extra }) => /filesort/.test(Extra ?? ''));
      return { rows: read, steps: [], sorts: isSorted && read > 1000 };
    },
    close: () => connection.end(),
  };
}
