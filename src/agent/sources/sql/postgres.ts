import { createRequire } from 'node:module';
import type pg from 'pg';
import type { Clock } from '../../../core/clock.ts';
import type { Driver, Prepared } from './driver.ts';
import { countUse, type PoolUse } from './pool-use.ts';
import { runStoppable, translate } from './stopping.ts';
import type { EncryptedAddress } from './tls.ts';
import { inTransaction } from './transaction.ts';

const same = (value: unknown): unknown => value;

/** Every value as the text that the server sends: the codecs know what it means. */
const asText = { getTypeParser: () => same };

/** A text that is used once is not worth a prepared statement on the server. */
function queryOf({ sql, name, uses, decoders }: Prepared, values: readonly unknown[]) {
  // The driver asks for each column of the answer, in order.
  let at = 0;
  const types = decoders && { getTypeParser: () => decoders[at++ % decoders.length] ?? same };
  return {
    text: sql,
    values: values as unknown[],
    rowMode: 'array' as const,
    ...(uses > 1 && { name }),
    ...(types && { types: types as unknown as pg.CustomTypesConfig }),
  };
}

/** PostgreSQL. Connections are opened when needed, and renewed so that prepared texts do not pile up. */
export function openPostgres(address: EncryptedAddress, clock: Clock, tell: (use: PoolUse) => void): Driver {
  const { Pool, Client } = createRequire(import.meta.url)('pg') as typeof pg;
  const settings = {
    connectionString: address.url,
    connectionTimeoutMillis: address.connectionTimeoutMs,
    ...(address.tls !== undefined && { ssl: address.tls }),
    types: asText as unknown as pg.CustomTypesConfig,
  };
  const pool = new Pool({
    ...settings,
    max: address.pool.max,
    idleTimeoutMillis: address.pool.idleTimeoutMs,
    maxUses: 50_000,
  });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => {
    // The pool listens to those that wait in it alone. A connection that is lost in use is told by its statement; without
    // a listener, the event beside it would end the process.
    client.on('error', () => undefined);
    // Queued before the first statement of the connection.
    client
      .query("set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set bytea_output = 'hex'; set extra_float_digits = 1")
      .catch(() => undefined);
  });

  const inOurWords = (error: unknown): unknown => {
    const { message } = error as Error;
    return message === 'The server does not support SSL connections'
      ? translate({ code: 'HANDSHAKE_NO_SSL_SUPPORT', error })
      : translate(error);
  };

  /**
   * By callback: with the promise that the driver makes itself, the collector keeps every row of a page for a second life
   * (bench/RESULTS.md), which costs as much as reading the page.
   */
  const ask = (client: pg.PoolClient, prepared: Prepared, values: readonly unknown[]) =>
    new Promise<pg.QueryArrayResult<unknown[]>>((resolve, reject) => {
      client.query<unknown[]>(queryOf(prepared, values), (error: Error | null, answer) => {
        if (error) reject(inOurWords(error));
        else resolve(answer);
      });
    });

  const { connect, give } = countUse<pg.PoolClient>(
    {
      async connect() {
        try {
          return await pool.connect();
        } catch (error) {
          throw inOurWords(error);
        }
      },
      give: (client, broken) => client.release(broken),
    },
    tell,
  );

  async function stop(id: number): Promise<void> {
    const client = new Client({ ...settings, connectionTimeoutMillis: 5000 });
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query('select pg_cancel_backend($1)', [id]);
    } finally {
      await client.end();
    }
  }

  return {
    async catalogue(sql) {
      const client = await connect();
      try {
        return (await client.query(sql)).rows as Record<string, unknown>[];
      } catch (error) {
        throw inOurWords(error);
      } finally {
        give(client, false);
      }
    },
    async run(prepared, values, options) {
      const { rows } = await runStoppable(
        {
          connect,
          execute: (client) => ask(client, prepared, values),
          stop: (client) => stop((client as unknown as { processID: number }).processID),
          give,
        },
        clock,
        options,
      );
      return rows;
    },
    transaction: (work, options) =>
      runStoppable(
        {
          connect,
          execute: (client) =>
            inTransaction(
              {
                say: (sql) => client.query(sql).catch((error: unknown) => Promise.reject(inOurWords(error))),
                async run(prepared, values) {
                  const { rows, rowCount } = await ask(client, prepared, values);
                  return { rows, affected: rowCount ?? 0 };
                },
              },
              work,
              options,
            ),
          stop: (client) => stop((client as unknown as { processID: number }).processID),
          give,
          lasting: true,
        },
        clock,
        options,
      ),
    close: () => pool.end(),
  };
}
