// What the bare servers do for one call: the same SQL on the same database, and the same bytes back. They check
// nothing: no token, no permission, no arguments, no log.
import Database from 'better-sqlite3';
import mysql from 'mysql2';

export interface Work {
  readonly databaseUrl?: string;
  readonly sql?: string;
  readonly bindings?: readonly unknown[];
  readonly columns?: readonly string[];
  readonly pageSize?: number;
  readonly nextCursor?: string;
  /** What is sent when there is no SQL: the result of tools/list. */
  readonly result?: unknown;
}

export type Answer = (id: unknown) => string | Promise<string>;

export function prepareAnswer(work: Work): Answer {
  if (!work.databaseUrl) return (id) => JSON.stringify({ jsonrpc: '2.0', id, result: work.result });
  const rowsOf = prepareRows(work);
  const finish = (id: unknown, found: unknown[][]) => {
    const hasMore = found.length > work.pageSize!;
    const rows = found.slice(0, work.pageSize!).map((row) => row.slice(0, work.columns!.length));
    const text = JSON.stringify({ columns: work.columns, rows, hasMore, nextCursor: work.nextCursor });
    return JSON.stringify({ result: { content: [{ type: 'text', text }] }, jsonrpc: '2.0', id });
  };
  return (id) => {
    const rows = rowsOf();
    return rows instanceof Promise ? rows.then((found) => finish(id, found)) : finish(id, rows);
  };
}

function prepareRows(work: Work): () => unknown[][] | Promise<unknown[][]> {
  const bindings = [...(work.bindings ?? [])];
  if (work.databaseUrl!.startsWith('sqlite:')) {
    const statement = new Database(work.databaseUrl!.slice('sqlite:'.length)).prepare(work.sql!).raw();
    return () => statement.all(...bindings) as unknown[][];
  }
  const url = work.databaseUrl!.replace(/^mariadb:/, 'mysql:');
  const pool = mysql.createPool({ uri: url, connectionLimit: 10, dateStrings: true, supportBigNumbers: true });
  return () =>
    new Promise((resolve, reject) =>
      pool.execute({ sql: work.sql!, rowsAsArray: true, values: bindings as (string | number)[] }, (error, rows) =>
        error ? reject(error) : resolve(rows as unknown as unknown[][]),
      ),
    );
}
