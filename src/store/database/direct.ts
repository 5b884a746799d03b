// Statements of a database server that run with every call, without knex: it would build each one again, at more than
// the cost of sending it. They use the connections of knex's pool, and are prepared once on each of them.
import type { Knex } from 'knex';
import { hashToken } from '../../core/secret.ts';

export interface DirectStatement {
  /** With `?` for each value. A few fixed texts only: each stays prepared on every connection. */
  readonly sql: string;
  readonly values: readonly unknown[];
  /** MySQL and MariaDB: not prepared, so that a value may be a list of rows. Default false. */
  readonly isOnce?: boolean;
}

interface Executed {
  /** The names of the columns of `rows`. */
  readonly names: readonly string[];
  /** Values by position. */
  readonly rows: readonly (readonly unknown[])[];
  /** The generated id of the first row; MySQL and MariaDB only. */
  readonly insertId: number;
  /** The number of rows that a write changed. */
  readonly changed: number;
}

export type Execute = (statement: DirectStatement) => Promise<Executed>;

export interface Direct {
  /** Commits by itself. */
  readonly execute: Execute;
  transaction<T>(run: (execute: Execute) => Promise<T>): Promise<T>;
}

type Done = (error: unknown, answer?: unknown, fields?: readonly Field[]) => void;

interface Field {
  readonly name: string;
}

/** The parts of a connection of `mysql2` or `pg` that are used here. */
interface Connection {
  query(options: object, done: Done): unknown;
  query(options: object, values: readonly unknown[], done: Done): unknown;
  execute(options: object, values: readonly unknown[], done: Done): unknown;
  /** The pool of knex replaces a connection with this property. */
  __knex__disposed?: unknown;
}

interface Client {
  acquireConnection(): Promise<Connection>;
  releaseConnection(connection: Connection): Promise<void>;
  emit(event: string, ...values: unknown[]): boolean;
}

type Send = (connection: Connection, statement: DirectStatement, done: Done) => void;

const sendToMysql: Send = (connection, { sql, values, isOnce }, done) => {
  if (isOnce) connection.query({ sql, rowsAsArray: true }, values, done);
  else connection.execute({ sql, rowsAsArray: true }, values, done);
};

/** Errors of PostgreSQL before a statement runs: its name is unknown, or taken, in this session. */
const isOtherSession = (error: unknown): boolean =>
  ['26000', '42P05'].includes(String((error as { code?: unknown } | null)?.code));

/**
 * `isPooled`: a pooler such as PgBouncer changes sessions with every transaction, so nothing can stay prepared. If the
 * address does not say so, the first error does.
 */
function sendToPostgres(isPooled: boolean): Send {
  const known = new Map<string, { readonly text: string; readonly name: string }>();
  let canPrepare = !isPooled;
  const prepare = (sql: string) => {
    let at = 0;
    const text = sql.replace(/\?/g, () => `$${++at}`);
    const prepared = { text, name: `portico-${hashToken(text).slice(0, 40)}` };
    known.set(sql, prepared);
    return prepared;
  };
  const send: Send = (connection, { sql, values }, done) => {
    const { text, name } = known.get(sql) ?? prepare(sql);
    const isNamed = canPrepare;
    connection.query({ text, values, rowMode: 'array', ...(isNamed && { name }) }, (error, answer) => {
      if (!isNamed || !isOtherSession(error)) return done(error, answer);
      canPrepare = false;
      send(connection, { sql, values }, done);
    });
  };
  return send;
}

/** MySQL and MariaDB, and PostgreSQL. */
interface ChangedRows {
  readonly affectedRows?: number;
  readonly rowCount?: number | null;
  readonly fields?: readonly Field[];
}

const namesOf = (fields: readonly Field[] | undefined): readonly string[] => fields?.map(({ name }) => name) ?? [];

function toExecuted(answer: unknown, mysqlFields: readonly Field[] | undefined): Executed {
  if (Array.isArray(answer))
    return { names: namesOf(mysqlFields), rows: answer as unknown[][], insertId: 0, changed: 0 };
  const { rows = [], insertId = 0, affectedRows, rowCount, fields } = answer as Partial<Executed> & ChangedRows;
  return { names: namesOf(fields), rows, insertId, changed: affectedRows ?? rowCount ?? 0 };
}

export function createDirect(dialect: 'mysql' | 'postgres', knex: Knex, isPooled: boolean): Direct {
  const client = knex.client as Client;
  const send = dialect === 'mysql' ? sendToMysql : sendToPostgres(isPooled);

  const executeOn =
    (connection: Connection): Execute =>
    (statement) =>
      new Promise((resolve, reject) => {
        send(connection, statement, (error, answer, fields) => {
          // As knex does: connectivity.ts listens.
          client.emit(error ? 'query-error' : 'query-response', error ?? answer);
          if (error) reject(error);
          else resolve(toExecuted(answer, fields));
        });
      });

  async function use<T>(run: (execute: Execute, connection: Connection) => Promise<T>): Promise<T> {
    const connection = await client.acquireConnection();
    try {
      return await run(executeOn(connection), connection);
    } finally {
      await client.releaseConnection(connection);
    }
  }

  return {
    execute: (statement) => use((execute) => execute(statement)),
    transaction: (run) =>
      use(async (execute, connection) => {
        await execute(begin);
        try {
          const result = await run(execute);
          await execute(commit);
          return result;
        } catch (error) {
          await execute(rollback).catch((failure: unknown) => {
            connection.__knex__disposed = failure;
          });
          throw error;
        }
      }),
  };
}

const begin = { sql: 'begin', values: [], isOnce: true };
const commit = { sql: 'commit', values: [], isOnce: true };
const rollback = { sql: 'rollback', values: [], isOnce: true };
