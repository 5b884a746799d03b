// A data source over one SQL database. Statements arrive as plain data. Knex builds their SQL text once for each shape,
// and a cache holds it: a repeated read walks the statement once for its key and values, then calls the driver.
import knex, { type Knex } from 'knex';
import type { Clock } from '../../../core/clock.ts';
import { AppError } from '../../../core/errors.ts';
import { createTurns } from '../../../core/limit/turns.ts';
import type { Observe } from '../../../core/observe.ts';
import type { SqliteChoice } from '../../../core/sqlite.ts';
import type { Described } from '../described.ts';
import { inexactHere, type ReadOptions, type Source } from '../source.ts';
import type { CountSelect, GroupSelect, Path, Row, Select, Tally } from '../statement.ts';
import { translateAtStart } from './cancellation.ts';
import { type Codec, type Dialect, decodeJson } from './codec.ts';
import { type Address, readAddress, type SqlConnectionOptions } from './connection/address.ts';
import { readTimezones, type TimezoneOptions } from './connection/timezones.ts';
import { openEncrypted } from './connection/tls.ts';
import type { Driver, Prepared } from './driver.ts';
import { explainFailure } from './failures.ts';
import { createIndexing } from './indexing.ts';
import { withEffects } from './introspection/effects.ts';
import {
  assembleIntrospection,
  type Catalogue,
  type Facts,
  type Introspection,
  type TableLocation,
} from './introspection/introspect.ts';
import { explainNoTables } from './introspection/no-tables.ts';
import { introspectQuery } from './introspection/queries.ts';
import { openMysql } from './mysql/driver.ts';
import { readMysqlFacts, readMysqlVersion } from './mysql/introspect.ts';
import { observeDriver } from './observed.ts';
import { openPostgres } from './postgres/driver.ts';
import { readPostgresFacts, readPostgresVersion } from './postgres/introspect.ts';
import { createShares, shareDriver } from './shares.ts';
import { openSqlite } from './sqlite/driver.ts';
import { readSqliteFacts, readSqliteVersion } from './sqlite/introspect.ts';
import { needsBigIntegers } from './sqlite/types.ts';
import { buildGroup } from './statements/aggregate.ts';
import { readCuts } from './statements/cut.ts';
import { needsExact } from './statements/exact.ts';
import { prependQueries, type SqlQuery } from './statements/query.ts';
import { buildCount, type Statement, type StatementContext } from './statements/read.ts';
import { buildSelect } from './statements/select.ts';
import { type Cut, createShapes, cutOf } from './statements/shape.ts';
import type { Bind } from './statements/terms.ts';
import { bindValues } from './statements/terms.ts';
import { createWriting } from './writing.ts';

interface SqlSourceOptions extends TimezoneOptions {
  readonly observe: Observe;
  readonly clock: Clock;
  /** Default `auto`: the first that loads. */
  readonly sqlite?: SqliteChoice;
  /** Default: the name of the address. */
  readonly name?: string;
}

/**
 * Accepts the URLs `sqlite:<path>`, `mysql:`, `mariadb:`, `postgres:` and `postgresql:`, or their parts. Throws
 * CONFIGURATION if the address is malformed or the SQLite file is missing. `describe` makes the first connection to a
 * server and must run before `read`.
 */
export function createSqlSource(given: string | SqlConnectionOptions, options: SqlSourceOptions): Source {
  const parsed = readAddress(given);
  const address = { ...parsed, name: options.name ?? parsed.name };
  const { dialect, name, schemas } = address;
  const { observe, clock } = options;
  for (const message of address.warnings) observe({ type: 'warning', message });
  const timezones = readTimezones(options);
  const driver = observeDriver(openDriver(address, options), {
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
  const places = new Map<string, TableLocation>();
  const placeOf = (table: string): TableLocation =>
    places.get(table) ?? { name: queries.has(table) ? `portico query ${table}` : table };
  const queries = new Map<string, SqlQuery>();
  const context = { dialect, knex: builder, shapes: createShapes(dialect, codecOf), placeOf, queries };
  const texts = createStatementCache(context);
  const overflows = (error: unknown): boolean =>
    dialect === 'sqlite' && error instanceof Error && /^integer overflow/.test(error.message);
  const read = async <T = Row>(
    runner: Pick<Driver, 'run'>,
    select: Select | CountSelect | GroupSelect,
    options: ReadOptions,
  ): Promise<T[]> => {
    const run = async (exact: boolean): Promise<readonly unknown[]> => {
      const values: unknown[] = [];
      const text = texts.find(select, values, exact);
      if (text.needsExact) return run(true);
      options.watch?.(text.prepared.sql);
      try {
        return await runDecoded(runner, text, bindValues(text.binds, values), options);
      } catch (error) {
        if (exact || (error !== needsExact && !overflows(error))) throw error;
        text.needsExact = true;
        return run(true);
      }
    };
    return (await run(false)) as T[];
  };
  /** Translates an error, and logs failures that need the operator. */
  const translateFailure = (error: unknown, { table }: { readonly table: string }): unknown => {
    if (error === inexactHere)
      return new AppError('INVALID_ARGUMENT', {
        argument: 'filter',
        problem: 'SQLite does not compare numbers beyond 64 bits exactly. Send numbers with fewer digits.',
      });
    const failure = explainFailure(error, dialect);
    if (failure?.code === 'DATABASE_FAILED') {
      const message = `${name}: a statement on '${table}' failed. ${failure.message}`;
      observe({ type: 'warning', message, cause: error });
    }
    return failure ?? error;
  };
  const answer = async <T = Row>(select: Select | CountSelect | GroupSelect, options: ReadOptions): Promise<T[]> => {
    try {
      return await read<T>(driver, select, options);
    } catch (error) {
      throw translateFailure(error, select);
    }
  };

  const introspect = async () => {
    let statements = 0;
    const catalogue: Catalogue = async <Row>(sql: string) => {
      statements++;
      return (await driver.catalogue(sql)) as Row[];
    };
    const facts = await readFacts[dialect](catalogue, schemas);
    timezones.check(facts.columns);
    const { described, codecs } = assembleIntrospection(facts, timezones.of);
    if (described.tables.length === 0)
      throw await explainNoTables(catalogue, { name, dialect, schemas, skipped: described.skipped });
    const tables = withEffects(described.tables, facts, dialect);
    return { facts, codecs, described: { ...described, tables }, statements };
  };

  return {
    name,
    ...(options.name !== undefined && { label: options.name }),
    async describe(): Promise<Described> {
      const began = clock.monotonic();
      const found = await introspect().catch((error: unknown) => Promise.reject(translateAtStart(error)));
      facts = found.facts;
      codecs = found.codecs;
      for (const { name, place } of facts.tables) if (place) places.set(name, place);
      observe({
        type: 'source.introspected',
        source: name,
        tables: found.described.tables.length,
        statements: found.statements,
        milliseconds: clock.monotonic() - began,
      });
      return found.described;
    },
    look: async () => (await introspect()).described,
    async addQuery(named) {
      const tables = [...(codecs ?? new Map<string, never>()).keys()];
      const {
        query,
        table,
        codecs: own,
      } = await introspectQuery(named, { dialect, driver, tables, zoneOf: timezones.of });
      queries.set(named.name, query);
      codecs = new Map([...(codecs ?? []), [named.name, own]]);
      return table;
    },
    version: () => readVersion[dialect](async <Row>(sql: string) => (await driver.catalogue(sql)) as Row[], schemas),
    read: (select, options) => answer(select, options),
    readsAfter: true,
    compares: true,
    usesFigures: true,
    count: async (select: CountSelect, options: ReadOptions) => Number((await answer(select, options))[0]?.[0] ?? 0),
    aggregate: (group, options) =>
      read<Tally>(driver, group, options).catch((error: unknown) => {
        throw overflows(error) || error === inexactHere ? inexactHere : translateFailure(error, group);
      }),
    writing: createWriting({
      driver,
      dialect,
      context,
      facts: () => facts,
      observe,
      translateFailure,
      read: (connection, select, watch) => {
        const run: Driver['run'] = async (prepared, values) => (await connection.run(prepared, values)).rows;
        return read({ run }, select, watch ? { ...noLimit, watch } : noLimit);
      },
    }),
    indexing: createIndexing({ dialect, placeOf, catalogue: (sql) => driver.catalogue(sql) }),
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

const readVersion: Record<Dialect, (catalogue: Catalogue, schemas: readonly string[]) => Promise<string>> = {
  sqlite: readSqliteVersion,
  mysql: readMysqlVersion,
  postgres: readPostgresVersion,
};

const systems = { sqlite: 'sqlite', mysql: 'mysql', postgres: 'postgresql' } as const;

const clients: Record<Dialect, string> = { sqlite: 'better-sqlite3', mysql: 'mysql2', postgres: 'pg' };

function openDriver(address: Address, { observe, clock, sqlite = 'auto' }: SqlSourceOptions): Driver {
  const { dialect, name, url } = address;
  if (dialect === 'sqlite') return openSqlite({ path: url, name, driverChoice: sqlite, observe, clock });
  const open = dialect === 'mysql' ? openMysql : openPostgres;
  const { max: most } = address.pool;
  const driver = openEncrypted(address, (tls) =>
    open({ ...address, tls }, clock, (use) => observe({ type: 'pool.changed', source: name, ...use, most })),
  );
  return shareDriver(driver, createShares(clock, most));
}

interface CachedStatement {
  /** Replaced when a value first needs 64-bit integers. Calls under way keep theirs. */
  prepared: Prepared;
  /** Set when a figure of doubles was not exact. */
  needsExact?: true;
  readonly binds: readonly Bind[];
  /** Converts the driver's rows to canonical ones, possibly in place, or to groups. */
  readonly decode: (rows: Row[]) => readonly unknown[] | Promise<readonly unknown[]>;
  /** Decodes the columns of each row; replaces `decode`. */
  readonly decoders?: Decoders;
  /** The texts that the database cuts, and the columns of the select. */
  readonly cut?: Cut & { readonly width: number };
}

const MAX_CACHED_STATEMENTS = 500;

/** The cache of statement texts, by shape. It evicts the least recently used text. */
function createStatementCache(
  given: StatementContext & { readonly dialect: Dialect; readonly queries: ReadonlyMap<string, SqlQuery> },
) {
  const { shapes } = given;
  const cached = new Map<string, CachedStatement>();
  let count = 0;
  return {
    /** Appends the statement's values to `values`. */
    find(statement: Select | CountSelect | GroupSelect, values: unknown[], exact = false): CachedStatement {
      const { parameters = [] } = statement;
      const key = shapes.key(statement, values) + (parameters.length ? 'P' : '') + (exact ? 'E' : '');
      let text = cached.get(key);
      if (text) cached.delete(key);
      else text = build(statement, values.length, exact);
      values.push(...parameters);
      // Reinserted at the end: a Map iterates in insertion order, so the first entry is the least recently used.
      cached.set(key, text);
      if (cached.size > MAX_CACHED_STATEMENTS) cached.delete(cached.keys().next().value as string);
      text.prepared.uses++;
      return text;
    },
  };

  function build(statement: Select | CountSelect | GroupSelect, first: number, exact: boolean): CachedStatement {
    const used = new Map<string, SqlQuery>();
    const placeOf: StatementContext['placeOf'] = (table) => {
      const query = given.queries.get(table);
      if (query) used.set(table, query);
      return given.placeOf(table);
    };
    const context = { ...given, placeOf, exact };
    const text = (
      built: Statement,
      decode: CachedStatement['decode'],
      further: Pick<Prepared, 'decoders' | 'cut'> = {},
    ): CachedStatement => {
      const { sql, binds } = prependQueries(built, statement, first, { ...context, used, name: quoteWith(given.knex) });
      return {
        prepared: {
          sql,
          operation: 'SELECT',
          table: statement.table,
          name: `portico_${++count}`,
          uses: 0,
          bigIntegers: false,
          ...further,
        },
        binds,
        decode,
      };
    };
    if ('measures' in statement) {
      const built = buildGroup(statement, context);
      return text(built, built.read);
    }
    if (!('columns' in statement)) return text(buildCount(statement, context), (rows) => rows);
    const codecOf = (path: Path) => shapes.facts(path, statement.table).codec;
    const decoders = statement.columns.map((path) => codecOf(path).decode);
    const built = buildSelect(statement, context);
    const same: CachedStatement['decode'] = (rows) => rows;
    const found = cutOf(statement, codecOf);
    const cut = found && { cut: { ...found, width: decoders.length } };
    if (context.dialect !== 'postgres') return { ...text(built, same, { ...cut }), decoders, ...cut };
    // The driver decodes values as they arrive, many in one turn. JSON documents are large and are decoded afterwards.
    const ofDriver = decoders.map((decode) => (decode === decodeJson ? undefined : decode));
    const after = decoders.map((decode) => (decode === decodeJson ? decode : undefined));
    const further = { decoders: cut ? [...ofDriver, undefined] : ofDriver };
    return { ...text(built, same, further), ...(after.some(Boolean) && { decoders: after }), ...cut };
  }
}

const quoteWith =
  ({ client }: Knex) =>
  (name: string): string =>
    (client as { wrapIdentifier(name: string, context: object): string }).wrapIdentifier(name, {});

/** For statements within a transaction: the transaction has its own limit. */
const noLimit: ReadOptions = { timeoutMs: Number.POSITIVE_INFINITY };

async function runDecoded(
  driver: Pick<Driver, 'run'>,
  text: CachedStatement,
  values: unknown[],
  options: ReadOptions,
): Promise<readonly unknown[]> {
  // Another call may replace it meanwhile. These rows have the form that this one asks for.
  const { prepared } = text;
  const running = driver.run(prepared, values, options);
  const rows = Array.isArray(running) ? running : await running;
  if (prepared.bigIntegers) widen(rows);
  try {
    const decoded = await (text.decoders ? decodeInTurns(rows, text.decoders) : text.decode(rows));
    // SQLite reads short texts in the process, where nothing is cut.
    if (text.cut && rows[0] && rows[0].length > text.cut.width) readCuts(rows, text.cut);
    return decoded;
  } catch (error) {
    if (error !== needsBigIntegers || prepared.bigIntegers) throw error;
    const { driverState: _, ...statement } = prepared;
    text.prepared = { ...statement, bigIntegers: true };
    return runDecoded(driver, text, values, options);
  }
}

/** Decodes in place. */
async function decodeInTurns(rows: Row[], decoders: Decoders): Promise<Row[]> {
  const turn = createTurns();
  for (const row of rows) {
    for (let at = 0; at < decoders.length; at++) {
      const decode = decoders[at];
      if (decode && row[at] !== null) row[at] = decode(row[at]);
    }
    const pause = turn();
    if (pause) await pause;
  }
  return rows;
}

type Decoders = readonly (((value: unknown) => unknown) | undefined)[];

/**
 * With 64-bit integers on, integers arrive as bigints. A large whole number was therefore stored as a double; as a
 * bigint it shows all its digits.
 */
function widen(rows: readonly Row[]): void {
  for (const row of rows)
    for (const [at, value] of row.entries())
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) row[at] = BigInt(value as number);
}

function notDescribed(source: string, table: string, column: string): never {
  throw new Error(`the source ${source} was not described, or has no column ${table}.${column}`);
}
