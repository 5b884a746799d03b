import type { Socket } from 'node:net';
import type pg from 'pg';
import { Stop } from '../../../../core/clock/stop.ts';
import type { Clock } from '../../../../core/clock.ts';
import { requireOptional } from '../../../../core/config/optional-package.ts';
import { postgresSession } from '../../../../core/config/session-settings.ts';
import { runStoppable, translateError } from '../cancellation.ts';
import type { EncryptedAddress } from '../connection/tls.ts';
import type { Driver, Prepared } from '../driver.ts';
import { countUse, type PoolUse } from '../pool-use.ts';
import { inTransaction, resolveLostCommit } from '../transaction.ts';
import { beginWithTransactionId, inquireFate, isRefusalOfCommit, readFirstValue } from './commit-status.ts';

const identity = (value: unknown): unknown => value;

/** Returns every value as the server's text; the codecs decode it. */
const asText = { getTypeParser: () => identity };

/** A statement that runs once does not justify a prepared statement on the server. */
function queryOf({ sql, name, uses, decoders }: Prepared, values: readonly unknown[], isPooled: boolean) {
  // The driver calls this for each column of the result, in order.
  let at = 0;
  const types = decoders && { getTypeParser: () => decoders[at++ % decoders.length] ?? identity };
  return {
    text: sql,
    values: values as unknown[],
    rowMode: 'array' as const,
    ...(uses > 1 && !isPooled && { name }),
    ...(types && { types: types as unknown as pg.CustomTypesConfig }),
  };
}

/**
 * With nested filters and wrong estimates, JIT compilation takes longer than the statement itself, and cancellation
 * cannot interrupt it. Versions before 11 lack the setting.
 */
const disableJit = "select set_config('jit', 'off', false) where current_setting('jit', true) is not null";

function openPool(Pool: typeof pg.Pool, settings: pg.PoolConfig): pg.Pool {
  const pool = new Pool({ ...settings, maxUses: 50_000 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // The pool handles errors only of idle connections. On a lost connection in use, the statement itself fails.
    // Without this listener, the accompanying event would end the process.
    client.on('error', () => undefined);
    // Queued before the first statement of the connection.
    client.query(`${postgresSession}; ${disableJit}`).catch(() => undefined);
  });
  return pool;
}

/**
 * The driver for PostgreSQL. Connections open on demand, and are replaced to limit prepared statements on the server.
 */
export function openPostgres(address: EncryptedAddress, clock: Clock, reportUse: (use: PoolUse) => void): Driver {
  const { Pool, Client } = requireOptional<typeof pg>('pg');
  const settings = {
    connectionString: address.url,
    connectionTimeoutMillis: address.connectionTimeoutMs,
    ...(address.tls !== undefined && { ssl: address.tls }),
    types: asText as unknown as pg.CustomTypesConfig,
  };
  const pool = openPool(Pool, { ...settings, max: address.pool.max, idleTimeoutMillis: address.pool.idleTimeoutMs });
  const toOwnError = (error: unknown): unknown => translateError(error, address.place);

  /**
   * Uses a callback. With the driver's own promise, the garbage collector promotes every row of a page to the old
   * generation (bench/RESULTS.md), which costs as much as reading the page.
   */
  const runPrepared = (client: pg.PoolClient, prepared: Prepared, values: readonly unknown[]) =>
    new Promise<pg.QueryArrayResult<unknown[]>>((resolve, reject) => {
      client.query<unknown[]>(queryOf(prepared, values, address.isPooled), (error: Error | null, answer) => {
        if (error) reject(toOwnError(error));
        else resolve(answer);
      });
    });

  const { connect, release: give } = countUse<pg.PoolClient>(
    {
      async connect() {
        try {
          return await pool.connect();
        } catch (error) {
          throw toOwnError(error);
        }
      },
      release: (client, broken) => client.release(broken),
    },
    reportUse,
  );

  /** Runs a statement on a separate connection. */
  async function runSeparately<T>(sql: string, value: unknown): Promise<T | undefined> {
    const client = new Client({ ...settings, connectionTimeoutMillis: 5000, query_timeout: 5000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<T[]>({ text: sql, values: [value], rowMode: 'array' });
      return rows[0]?.[0];
    } finally {
      // Not awaited: the server may be unresponsive.
      client.end().catch(() => undefined);
    }
  }
  const stop = (id: number) => runSeparately('select pg_cancel_backend($1)', id).then(() => undefined);
  const closing = new Stop();

  return {
    async catalogue(sql) {
      const client = await connect();
      try {
        return (await client.query(sql)).rows as Record<string, unknown>[];
      } catch (error) {
        throw toOwnError(error);
      } finally {
        give(client, false);
      }
    },
    async resultColumns(sql, values) {
      const client = await connect();
      try {
        const { fields } = await client.query({ text: `select * from (${sql}\n) as q limit 0`, values: [...values] });
        return fields.map((each) => ({ name: each.name, type: each.dataTypeID, modifier: each.dataTypeModifier }));
      } catch (error) {
        throw toOwnError(error);
      } finally {
        give(client, false);
      }
    },
    async run(prepared, values, options) {
      const { rows } = await runStoppable(
        {
          connect,
          execute: (client) => runPrepared(client, prepared, values),
          stop: (client) => stop((client as unknown as { processID: number }).processID),
          release: give,
          socketOf: (client) => (client as unknown as { connection: { stream: Socket } }).connection.stream,
        },
        clock,
        options,
      );
      return rows;
    },
    transaction: (work, options) =>
      resolveLostCommit(
        (progress) =>
          runStoppable(
            {
              connect,
              execute: (client) =>
                inTransaction(
                  {
                    begin: beginWithTransactionId,
                    isRefusedCommit: isRefusalOfCommit,
                    async runSql(sql) {
                      try {
                        return readFirstValue(sql, await client.query({ text: sql, rowMode: 'array' }));
                      } catch (error) {
                        throw toOwnError(error);
                      }
                    },
                    async run(prepared, values) {
                      const { rows, rowCount } = await runPrepared(client, prepared, values);
                      return { rows, affected: rowCount ?? 0 };
                    },
                  },
                  work,
                  options,
                  progress,
                ),
              stop: (client) => stop((client as unknown as { processID: number }).processID),
              release: give,
              keepsResult: true,
            },
            clock,
            options,
          ),
        (mark) => inquireFate((sql) => runSeparately(sql, mark), { mark, clock, closing }),
      ),
    close() {
      closing.abort();
      return pool.end();
    },
  };
}
