// A data source over one SQL database. Statements come as plain data; their text is built once for each shape, with knex,
// and kept: a warm read walks the statement once for its key and values, and goes to the driver.
import knex from 'knex';
import type { Clock } from '../../../core/clock.ts';
import { fail } from '../../../core/errors.ts';
import type { Observe } from '../../../core/observe.ts';
import type { SqliteWish } from '../../../core/sqlite.ts';
import type { CountSelect, Described, ReadOptions, Row, Select, Source } from '../source.ts';
import type { Codec, Dialect } from './codec.ts';
import type { Driver, Prepared } from './driver.ts';
import { assemble, type Catalogue, type Facts, type Introspection } from './introspect.ts';
import { readMysqlFacts } from './introspect-mysql.ts';
import { readPostgresFacts } from './introspect-postgres.ts';
import { readSqliteFacts } from './introspect-sqlite.ts';
import { openMysql } from './mysql.ts';
import { openPostgres } from './postgres.ts';
import { createShapes } from './shape.ts';
import { openSqlite } from './sqlite.ts';
import { bindValues, buildCount, buildSelect, type Statement, type StatementContext } from './statements.ts';
import type { Bind } from './terms.ts';
import { needsBigIntegers } from './types-sqlite.ts';

export interface SqlSourceOptions {
  readonly observe: Observe;
  readonly clock: Clock;
  /** `auto` by default: the native SQLite driver where it loads, else the WebAssembly one. */
  readonly sqlite?: SqliteWish;
}

/**
 * `url`: `sqlite:<path>`, `mysql:`, `mariadb:`, `postgres:` or `postgresql:`. CONFIGURATION when it is malformed, or names
 * a SQLite file that is not there. A server is first contacted by `describe`, which must come before `read`.
 */
export function createSqlSource(url: string, options: SqlSourceOptions): Source {
  const { dialect, name, open } = readAddress(url, options);
  const { observe, clock } = options;
  const driver = open();
  const builder = knex({ client: clients[dialect], useNullAsDefault: true });
  let codecs: Introspection['codecs'] | undefined;
  const codecOf = (table: string, column: string): Codec =>
    codecs?.get(table)?.get(column) ?? notDescribed(name, table, column);
  const texts = createTexts({ dialect, knex: builder, shapes: createShapes(dialect, codecOf) });

  return {
    name,
    async describe(): Promise<Described> {
      const began = clock.monotonic();
      let statements = 0;
      const found = assemble(
        await readFacts[dialect]((sql) => {
          statements++;
          return driver.catalogue(sql);
        }),
      );
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
    async read(select: Select, read: ReadOptions): Promise<Row[]> {
      const values: unknown[] = [];
      const text = texts.find(select, values);
      return runDecoded(driver, text, bindValues(text.binds, values), read);
    },
    async count(select: CountSelect, read: ReadOptions): Promise<number> {
      const values: unknown[] = [];
      const text = texts.find(select, values);
      const rows = await driver.run(text.prepared, bindValues(text.binds, values), read);
      return Number(rows[0]?.[0] ?? 0);
    },
    explain: (select: Select): string => texts.find(select, []).prepared.sql,
    async close(): Promise<void> {
      await driver.close();
    },
  };
}

const readFacts: Record<Dialect, (catalogue: Catalogue) => Promise<Facts>> = {
  sqlite: readSqliteFacts,
  mysql: readMysqlFacts,
  postgres: readPostgresFacts,
};

const clients: Record<Dialect, string> = { sqlite: 'better-sqlite3', mysql: 'mysql2', postgres: 'pg' };

interface Address {
  readonly dialect: Dialect;
  readonly name: string;
  readonly open: () => Driver;
}

function readAddress(url: string, { observe, clock, sqlite = 'auto' }: SqlSourceOptions): Address {
  const scheme = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase();
  if (scheme === 'sqlite') {
    const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
    return {
      dialect: 'sqlite',
      name: path,
      open: () => openSqlite({ path, name: path, wish: sqlite, observe, clock }),
    };
  }
  const isMysql = scheme === 'mysql' || scheme === 'mariadb';
  if ((isMysql || scheme === 'postgres' || scheme === 'postgresql') && URL.canParse(url)) {
    const { hostname, pathname } = new URL(url);
    const name = `${scheme}://${hostname}${pathname}`;
    if (isMysql && pathname.length < 2) {
      fail('CONFIGURATION', { problem: `The address ${name} names no database: add it after the last slash.` });
    }
    return isMysql
      ? { dialect: 'mysql', name, open: () => openMysql(url, clock) }
      : { dialect: 'postgres', name, open: () => openPostgres(url, clock) };
  }
  fail('CONFIGURATION', {
    problem:
      'The database address is malformed: expected sqlite:<path>, mysql://..., mariadb://... or postgres://... (special characters in a password percent-encoded).',
  });
}

interface Text {
  readonly prepared: Prepared;
  readonly binds: readonly Bind[];
  /** By position; undefined where the driver's value is the canonical one. */
  readonly decoders: readonly (((value: unknown) => unknown) | undefined)[];
}

const mostTexts = 500;

/** The texts that were built, by shape; the one unused for longest goes when there are too many. */
function createTexts(context: StatementContext) {
  const { shapes } = context;
  const kept = new Map<string, Text>();
  let made = 0;
  return {
    /** Adds the statement's values to `values`. */
    find(statement: Select | CountSelect, values: unknown[]): Text {
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

  function build(statement: Select | CountSelect): Text {
    const isSelect = 'columns' in statement;
    const { sql, binds }: Statement = isSelect ? buildSelect(statement, context) : buildCount(statement, context);
    return {
      prepared: { sql, name: `portico_${++made}`, uses: 0, bigIntegers: false },
      binds,
      decoders: isSelect ? statement.columns.map((path) => shapes.facts(path, statement.table).codec.decode) : [],
    };
  }
}

async function runDecoded(driver: Driver, text: Text, values: unknown[], options: ReadOptions): Promise<Row[]> {
  const running = driver.run(text.prepared, values, options);
  const rows = Array.isArray(running) ? running : await running;
  try {
    return decodeRows(rows, text.decoders);
  } catch (error) {
    if (error !== needsBigIntegers || text.prepared.bigIntegers) throw error;
    text.prepared.bigIntegers = true;
    return runDecoded(driver, text, values, options);
  }
}

/** In place: the rows are ours. */
function decodeRows(rows: Row[], decoders: Text['decoders']): Row[] {
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
