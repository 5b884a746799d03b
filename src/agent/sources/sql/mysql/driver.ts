import type { Socket } from 'node:net';
import type * as mysql2 from 'mysql2';
import type { Clock } from '../../../../core/clock.ts';
import { requireOptional } from '../../../../core/config/optional-package.ts';
import { mysqlSession } from '../../../../core/config/session-settings.ts';
import { AppError, fail } from '../../../../core/errors.ts';
import { runStoppable, translateError } from '../cancellation.ts';
import type { EncryptedAddress } from '../connection/tls.ts';
import type { Driver, ResultColumn } from '../driver.ts';
import type { DatabaseError } from '../failures.ts';
import { countUse, type PoolUse } from '../pool-use.ts';
import { inTransaction, resolveLostCommit } from '../transaction.ts';

/** ER_ERROR_DURING_COMMIT and the errors of interrupted statements: the transaction may have committed. */
const unsureCodes: ReadonlySet<unknown> = new Set([1180, 1317, 1969, 3024]);

const isRefusalOfCommit = (error: unknown): boolean => {
  const { sqlState, errno } = error as DatabaseError;
  return !(error instanceof AppError) && sqlState !== undefined && !unsureCodes.has(errno);
};

/** The most values one prepared statement accepts. */
const VALUES_LIMIT = 65_535;

const settingsOf = ({ pool, connectionTimeoutMs }: EncryptedAddress): mysql2.PoolOptions => ({
  charset: 'utf8mb4',
  connectionLimit: pool.max,
  maxIdle: pool.max,
  idleTimeout: pool.idleTimeoutMs,
  connectTimeout: connectionTimeoutMs,
  maxPreparedStatements: 200,
  // Lossless forms of values; the codecs decode them.
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  jsonStrings: true,
});

function toResultColumn(field: mysql2.FieldPacket): ResultColumn {
  const { name, columnType, type, columnLength, decimals, flags, characterSet } = field as mysql2.FieldPacket & {
    readonly columnLength?: number;
    readonly characterSet?: number;
  };
  return {
    name,
    type: columnType ?? type ?? 253,
    length: columnLength ?? 0,
    decimals: decimals ?? 0,
    flags: Number(flags ?? 0),
    charset: characterSet ?? 0,
  };
}

/** The driver for MariaDB and MySQL. Connections open on demand. */
export function openMysql(address: EncryptedAddress, clock: Clock, reportUse: (use: PoolUse) => void): Driver {
  const { createPool, createConnection } = requireOptional<typeof mysql2>('mysql2');
  const { tls } = address;
  const connectionSettings = {
    uri: address.url.replace(/^mariadb:/, 'mysql:'),
    ...(tls && { ssl: { ...tls, verifyIdentity: tls.rejectUnauthorized } }),
  };
  const pool = createPool({ ...connectionSettings, ...settingsOf(address) });
  /** Connections with the settings of `mysqlSession`. */
  const ready = new WeakSet<mysql2.PoolConnection>();
  const { connect, release: give } = countUse<mysql2.PoolConnection>(
    {
      connect: () =>
        new Promise((resolve, reject) => {
          pool.getConnection((error, connection) => {
            if (error) return reject(translateError(error, address.place));
            if (ready.has(connection)) return resolve(connection);
            connection.query(mysqlSession, (refused) => {
              if (refused) {
                connection.destroy();
                return reject(translateError(refused, address.place));
              }
              ready.add(connection);
              resolve(connection);
            });
          });
        }),
      release: (connection, broken) => (broken ? connection.destroy() : connection.release()),
    },
    reportUse,
  );

  function kill(id: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const connection = createConnection({ ...connectionSettings, connectTimeout: 5000 });
      connection.on('error', reject);
      connection.query(`kill query ${id}`, (error) => {
        connection.destroy();
        if (error) reject(error);
        else resolve();
      });
    });
  }

  function execute(connection: mysql2.PoolConnection, sql: string, values: readonly unknown[]): Promise<unknown> {
    if (values.length > VALUES_LIMIT)
      fail('INVALID_VALUE', { at: 'filter', expected: 'fewer values in one query', got: `${values.length} values` });
    return new Promise((resolve, reject) => {
      connection.execute({ sql, rowsAsArray: true }, values as never[], (error, answer) => {
        if (error) reject(translateError(error, address.place));
        else resolve(answer);
      });
    });
  }

  function runSql(connection: mysql2.PoolConnection, sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      connection.query(sql, (error) => (error ? reject(translateError(error, address.place)) : resolve()));
    });
  }

  return {
    async catalogue(sql) {
      const connection = await connect();
      return new Promise((resolve, reject) => {
        connection.query(sql, (error, rows) => {
          give(connection, false);
          if (error) reject(translateError(error, address.place));
          else resolve(rows as Record<string, unknown>[]);
        });
      });
    },
    async resultColumns(sql, values) {
      const connection = await connect();
      return new Promise((resolve, reject) => {
        const text = `select * from (${sql}\n) as q limit 0`;
        connection.execute(text, values as never[], (error, _, fields) => {
          give(connection, false);
          if (error) reject(translateError(error, address.place));
          else resolve(fields.map(toResultColumn));
        });
      });
    },
    run: (prepared, values, options) =>
      runStoppable(
        {
          connect,
          execute: (connection) => execute(connection, prepared.sql, values) as Promise<unknown[][]>,
          stop: (connection) => kill(connection.threadId ?? 0),
          release: give,
          socketOf: (connection) => (connection as unknown as { stream: Socket }).stream,
        },
        clock,
        options,
      ),
    transaction: (work, options) =>
      resolveLostCommit((progress) =>
        runStoppable(
          {
            connect,
            execute: (connection) =>
              inTransaction(
                {
                  runSql: (sql) => runSql(connection, sql),
                  isRefusedCommit: isRefusalOfCommit,
                  async run(prepared, values) {
                    const answer = await execute(connection, prepared.sql, values);
                    if (Array.isArray(answer)) return { rows: answer as unknown[][], affected: answer.length };
                    const { affectedRows, insertId } = answer as mysql2.ResultSetHeader;
                    return { rows: [], affected: affectedRows, ...(insertId && { insertedId: insertId }) };
                  },
                },
                work,
                options,
                progress,
              ),
            stop: (connection) => kill(connection.threadId ?? 0),
            release: give,
            keepsResult: true,
          },
          clock,
          options,
        ),
      ),
    close: () =>
      new Promise((resolve, reject) => {
        pool.end((error) => (error ? reject(error) : resolve()));
      }),
  };
}
