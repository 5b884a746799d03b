// Converts values to and from hand-written SQL.
import mysql from 'mysql2/promise';
import pg from 'pg';
import { loadSqliteDriver } from '../../../src/core/sqlite.ts';
import type { Dialect, TestDatabase } from '../../databases.ts';
import { localDay } from './values.ts';
import type { Kind } from './world.ts';

export const quoteName = (dialect: Dialect, name: string): string =>
  dialect === 'mariadb' ? `\`${name}\`` : `"${name}"`;

export function quoteText(dialect: Dialect, text: string): string {
  const doubled = text.replaceAll("'", "''");
  return `'${dialect === 'mariadb' ? doubled.replaceAll('\\', '\\\\') : doubled}'`;
}

export const lettersOf = (text: string): number => [...text].length;

export const todayIn = (now: number, zone: string): string => localDay(new Date(now).toISOString(), zone);

const begun = new Map<string, string>();

/** The first moment of the day in the zone, found by asking Intl for the day of one moment after another. */
export function startOfDay(day: string, zone: string): string {
  const mark = `${day} ${zone}`;
  const found = begun.get(mark);
  if (found) return found;
  let [before, after] = [
    Date.parse(`${day}T00:00:00Z`) - 30 * 3_600_000,
    Date.parse(`${day}T00:00:00Z`) + 30 * 3_600_000,
  ];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (localDay(new Date(middle).toISOString(), zone) < day) before = middle;
    else after = middle;
  }
  const start = new Date(after).toISOString();
  begun.set(mark, start);
  return start;
}

/** The form for comparing two results: a number by its digits, an instant by its milliseconds. */
export function canonical(kind: Kind, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value);
  switch (kind) {
    case 'whole':
    case 'big':
    case 'decimal': {
      const [, sign, digits, fraction] = /^(-?)0*(\d+?)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
      if (digits === undefined) return text;
      return fraction ? `${sign}${digits}.${fraction}` : digits === '0' ? '0' : `${sign}${digits}`;
    }
    case 'flag':
      return /^(?:1|t|true)$/.test(text) ? 'true' : 'false';
    case 'instant':
      return String(Date.parse(/[Z+]/.test(text) ? text.replace(/\+00$/, 'Z') : `${text.replace(' ', 'T')}Z`));
    default:
      return text;
  }
}

/** A connection besides the engine's. It returns rows as lists, and values as the database writes them. */
export interface DirectConnection {
  all(sql: string): Promise<unknown[][]>;
  end(): Promise<void>;
}

export async function openDirectly({ dialect, url }: TestDatabase): Promise<DirectConnection> {
  if (dialect === 'sqlite') {
    const { driver: Database } = loadSqliteDriver();
    const database = new Database(url.slice('sqlite:'.length));
    database.pragma('case_sensitive_like = on');
    return {
      all: async (sql) => database.prepare(sql).safeIntegers(true).raw(true).all() as unknown[][],
      end: async () => {
        database.close();
      },
    };
  }
  if (dialect === 'mariadb') {
    const connection = await mysql.createConnection({
      uri: url, dateStrings: true, supportBigNumbers: true, bigNumberStrings: true, rowsAsArray: true, charset: 'utf8mb4',
    }); // biome-ignore format: one family
    // With these options, MariaDB 10.11 loses rows of a derived table with row numbers, and values behind an outer join
    // of a derived table that has a join of its own (ORACLE_SEED=755890334 of the analysis), or fails with 'Duplicate entry ...
    // for key key0' (27112608; 11272024 with the cache of subqueries).
    await connection.query(
      "set optimizer_switch = 'split_materialized=off,table_elimination=off,derived_with_keys=off,subquery_cache=off'",
    );
    // It looks for the best order of twenty joins for longer than a test may take (11273030).
    await connection.query('set optimizer_search_depth = 5');
    return {
      all: async (sql) => (await connection.query(sql))[0] as unknown as unknown[][],
      end: () => connection.end(),
    };
  }
  const client = new pg.Client({
    connectionString: url,
    types: { getTypeParser: () => (text: unknown) => text } as never,
  });
  await client.connect();
  await client.query("set timezone = 'UTC'");
  return {
    all: async (sql) => (await client.query({ text: sql, rowMode: 'array' })).rows as unknown[][],
    end: () => client.end(),
  };
}
