// A data source over one SQL database. Statements come as plain data; their text is built once for each shape, with knex,
// and kept: a warm read walks the statement once for its key and values, and goes to the driver.
import knex from 'knex';
import type { Clock } from '../../../core/clock.ts';
import type { Observe } from '../../../core/observe.ts';
import type { SqliteWish } from '../../../core/sqlite.ts';
import type { CountSelect, Described, GroupSelect, ReadOptions, Row, Select, Source } from '../source.ts';
import { type Address, readAddress, type SqlConnectionOptions } from './address.ts';
import { buildGroup } from './aggregate.ts';
import type { Codec, Dialect } from './codec.ts';
import type { Driver, Prepared } from './driver.ts';
import { assemble, type Catalogue, type Facts, type Introspection, type Place } from './introspect.ts';
import { readMysqlFacts } from './introspect-mysql.ts';
import { readPostgresFacts } from './introspect-postgres.ts';
import { readSqliteFacts } from './introspect-sqlite.ts';
import { openMysql } from './mysql.ts';
import { openPostgres } from './postgres.ts';
import { createShapes } from './shape.ts';
import { openSqlite } from './sqlite.ts';
import { bindValues, buildCount, buildSelect, type Statement, type StatementContext } from './statements.ts';
import type { Bind } from './terms.ts';
import { openEncrypted } from './tls.ts';
import { needsBigIntegers } from './types-sqlite.ts';
import { watchDriver } from './watched.ts';
import { createWriting } from './writing.ts';

export interface SqlSourceOptions {
  readonly observe: Observe;
  readonly clock: Clock;
  /** `auto` by default: the native SQLite driver where it loads, else the WebAssembly one. */
  readonly sqlite?: SqliteWish;
}

/**
 * A URL is `sqlite:<path>`, `mysql:`, `mariadb:`, `postgres:` or `postgresql:`. CONFIGURATION when the address is malformed,
 * or names a SQLite file that is not there. A server is first contacted by `describe`, which must come before `read`.
 */
export function createSqlSource(given: string | SqlConnectionOptions, options: SqlSourceOptions): Source {
  const address = readAddress(given);
  const { dialect, name, schemas } = address;
  const { observe, clock } = options;
  const driver = watchDriver(openDriver(address, options), {
    source: name,
    system: () => (facts?.isMariadb ? 'mariadb' : systems[dialect]),
    observe,
    clock,
  });
  const builder = knex({ client: clients[dialect], useNullAsDefault: true });
  let codecs: Introspection['codecs'] | undefined;
  let facts: Facts | undefined;
  const codecOf = (table: string, column: string): Codec =>
    codecs?.get(table)?.get(column) ?? notDescribed(name, table, column);
  const places = new Map<string, Place>();
  const placeOf = (table: string): Place => places.get(table) ?? { name: table };
  const context = { dialect, knex: builder, shapes: createShapes(dialect, codecOf), placeOf };
  const texts = createTexts(context);
  const read = async (runner: Pick<Driver, 'run'>, select: Select, options: ReadOptions): Promise<Row[]> => {
    const values: unknown[] = [];
    const text = texts.find(select, values);
    options.watch?.(text.prepared.sql);
    return runDecoded(runner, text, bindValues(text.binds, values), options);
  };

  return {
    name,
    async describe(): Promise<Described> {
      const began = clock.monotonic();
      let statements = 0;
      facts = await readFacts[dialect]((sql) => {
        statements++;
        return driver.catalogue(sql);
      }, schemas);
      for (const { name, place } of facts.tables) if (place) places.set(name, place);
      const found = assemble(facts);
      codecs = found.codecs;
      observe({
        type: 'source.introspected',
        source: name,
        tables: found.described.tables.length,
        statements,
        milliseconds: clock.monotonic() - began,
      });
      return found.described;
    },
    read: (select: Select, options: ReadOptions) => read(driver, select, options),
    async count(select: CountSelect, read: ReadOptions): Promise<number> {
      const values: unknown[] = [];
      const text = texts.find(select, values);
      read.watch?.(text.prepared.sql);
      const rows = await driver.run(text.prepared, bindValues(text.binds, values), read);
      return Number(rows[0]?.[0] ?? 0);
    },
    async aggregate(group: GroupSelect, read: ReadOptions): Promise<Row[]> {
      const values: unknown[] = [];
      const text = texts.find(group, values);
      read.watch?.(text.prepared.sql);
      return runDecoded(driver, text, bindValues(text.binds, values), read);
    },
    writing: createWriting({
      driver,
      dialect,
      context,
      facts: () => facts,
      read: (connection, select, watch) => {
        const run: Driver['run'] = async (prepared, values) => (await connection.run(prepared, values)).rows;
        return read({ run }, select, watch ? { ...noLimit, watch } : noLimit);
      },
    }),
    explain: (statement): string => texts.find(statement, []).prepared.sql,
    async close(): Promise<void> {
      await driver.close();
    },
  };
}

const readFacts: Record<Dialect, (catalogue: Catalogue, schemas: readonly string[]) => Promise<Facts>> = {
  sqlite: readSqliteFacts,
  mysql: readMysqlFacts,
  postgres: readPostgresFacts,
};

const systems = { sqlite: 'sqlite', mysql: 'mysql', postgres: 'postgresql' } as const;

const clients: Record<Dialect, string> = { sqlite: 'better-sqlite3', mysql: 'mysql2', postgres: 'pg' };

function openDriver(address: Address, { observe, clock, sqlite = 'auto' }: SqlSourceOptions): Driver {
  const { dialect, name, url } = address;
  if (dialect === 'sqlite') return openSqlite({ path: url, name, wish: sqlite, observe, clock });
  const open = dialect === 'mysql' ? openMysql : openPostgres;
  const { max: most } = address.pool;
  return openEncrypted(address, (tls) =>
    open({ ...address, tls }, clock, (use) => observe({ type: 'pool.changed', source: name, ...use, most })),
  );
}

interface Text {
  readonly prepared: Prepared;
  readonly binds: readonly Bind[];
  /** The driver's rows as canonical ones; the rows are ours, and may be changed in place. */
  readonly decode: (rows: Row[]) => Row[];
}

const mostTexts = 500;

/** The texts that were built, by shape; the one unused for longest goes when there are too many. */
function createTexts(context: StatementContext) {
  const { shapes } = context;
  const kept = new Map<string, Text>();
  let made = 0;
  return {
    /** Adds the statement's values to `values`. */
    find(statement: Select | CountSelect | GroupSelect, values: unknown[]): Text {
      const key = shapes.key(statement, values);
      let text = kept.get(key);
      if (text) kept.delete(key);
      else text = build(statement);
      // Last in the map: the most recently used.
      kept.set(key, text);
      if (kept.size > mostTexts) kept.delete(kept.keys().next().value as string);
      text.prepared.uses++;
      return text;
    },
  };

  function build(statement: Select | CountSelect | GroupSelect): Text {
    const text = ({ sql, binds }: Statement, decode: Text['decode'], decoders?: Prepared['decoders']): Text => ({
      prepared: {
        sql,
        operation: 'SELECT',
        table: statement.table,
        name: `portico_${++made}`,
        uses: 0,
        bigIntegers: false,
        ...(decoders && { decoders }),
      },
      binds,
      decode,
    });
    if ('operation' in statement) {
      const built = buildGroup(statement, context);
      return text(built, built.read);
    }
    if (!('columns' in statement)) return text(buildCount(statement, context), (rows) => rows);
    const decoders = statement.columns.map((path) => shapes.facts(path, statement.table).codec.decode);
    const built = buildSelect(statement, context);
    if (context.dialect === 'postgres') return text(built, (rows) => rows, decoders);
    return text(built, (rows) => decodeRows(rows, decoders));
  }
}

/** Within a transaction, whose limit holds for all of it. */
const noLimit: ReadOptions = { timeoutMs: Number.POSITIVE_INFINITY };

async function runDecoded(
  driver: Pick<Driver, 'run'>,
  text: Text,
  values: unknown[],
  options: ReadOptions,
): Promise<Row[]> {
  const running = driver.run(text.prepared, values, options);
  const rows = Array.isArray(running) ? running : await running;
  try {
    return text.decode(rows);
  } catch (error) {
    if (error !== needsBigIntegers || text.prepared.bigIntegers) throw error;
    text.prepared.bigIntegers = true;
    return runDecoded(driver, text, values, options);
  }
}

/** In place: the rows are ours. */
function decodeRows(rows: Row[], decoders: readonly (((value: unknown) => unknown) | undefined)[]): Row[] {
  for (let at = 0; at < decoders.length; at++) {
    const decode = decoders[at];
    if (!decode) continue;
    for (const row of rows) {
      const value = row[at];
      if (value !== null) row[at] = decode(value);
    }
  }
  return rows;
}

function notDescribed(source: string, table: string, column: string): never {
  throw new Error(`the source ${source} was not described, or has no column ${table}.${column}`);
}
