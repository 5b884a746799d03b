// A connection besides the engine's, with what hand-written SQL needs: exact numbers on SQLite, and the wall-clock time
// of every instant where the database knows no timezones.

import { createRequire } from 'node:module';
import type DatabaseType from 'better-sqlite3';
import type { TestDatabase } from '../../databases.ts';
import { literal } from '../oracle/sql-leaf.ts';
import { type DirectConnection, openDirectly, quoteText } from '../oracle/sql-values.ts';
import type { World } from '../oracle/world.ts';
import { absolute, dividedBy, type Exact, exact, minus, plus, roundTo, show, times, zero } from './exact.ts';
import { KEY_DECIMALS } from './sql-numbers.ts';
import { wallClock } from './times.ts';

export async function openForAnalysis(
  world: World,
  zones: readonly string[],
  database: TestDatabase,
): Promise<DirectConnection> {
  if (database.dialect === 'postgres') {
    const connection = await openDirectly(database);
    // Compiling such long statements takes ten times as long as running them on small tables.
    await connection.all('set jit = off');
    return connection;
  }
  const connection = database.dialect === 'sqlite' ? openSqlite(database.url) : await openDirectly(database);
  const isSqlite = database.dialect === 'sqlite';
  const types = isSqlite
    ? 'zone text, moment text, clock text'
    : 'zone varchar(40), moment datetime(3), clock varchar(30)';
  await connection.all(`create temporary table clocks (${types}, primary key (zone, moment))`);
  const moments = new Set(
    world.tables.flatMap(({ columns, rows }) =>
      rows.flatMap((row) => row.filter((value, at) => value !== null && columns[at]!.kind === 'instant').map(String)),
    ),
  );
  for (const zone of zones) {
    const rows = [...moments].map(
      (moment) =>
        `('${zone}', ${literal(database.dialect, 'instant', moment)}, ${quoteText(database.dialect, wallClock(moment, zone))})`,
    );
    if (rows.length > 0) await connection.all(`insert into clocks values ${rows.join(', ')}`);
  }
  return connection;
}

type Text = string | number | bigint | null;

function openSqlite(url: string): DirectConnection {
  // Loaded when it is needed: some installations that the tests run in have no native driver.
  const Database = createRequire(import.meta.url)('better-sqlite3') as typeof DatabaseType;
  const database = new Database(url.slice('sqlite:'.length));
  database.pragma('case_sensitive_like = on');
  const define = (name: string, run: (...values: Exact[]) => Exact | null) =>
    database.function(name, { deterministic: true, varargs: true, safeIntegers: true }, (...values: Text[]) => {
      if (values.includes(null)) return null;
      const found = run(...values.map(exact));
      return found && canonicalDecimal(found);
    });
  define('decimal_of', (a) => a);
  define('decimal_plus', plus);
  define('decimal_minus', minus);
  define('decimal_times', times);
  define('decimal_over', (a, b, places) => dividedBy(a!, b!, Number(show(places!))));
  define('decimal_abs', absolute);
  define('decimal_round', (a, places) => roundTo(a, Number(show(places!))));
  define('decimal_clamp', (a) => (a.units < 0n ? zero : a));
  database.function('decimal_key', { deterministic: true, safeIntegers: true }, (value: Text) =>
    value === null ? null : sortable(exact(value)),
  );
  database.aggregate('decimal_sum', {
    safeIntegers: true,
    start: () => null,
    step: (total: Text, value: Text) =>
      value === null ? total : total === null ? String(value) : canonicalDecimal(plus(exact(total), exact(value))),
  });
  return {
    all: async (sql) => {
      const statement = database.prepare(sql).safeIntegers(true);
      if (statement.reader) return statement.raw(true).all() as unknown[][];
      statement.run();
      return [];
    },
    end: async () => {
      database.close();
    },
  };
}

/** A text that is equal for equal numbers. */
const canonicalDecimal = (value: Exact): string => (value.units === 0n ? '0' : show(value));

const DIGITS = 60;

/** A text that sorts as the number: its distance from the least number, in `KEY_DECIMALS` decimals. */
function sortable(value: Exact): string {
  const shifted = plus(roundTo(value, KEY_DECIMALS), { units: 10n ** BigInt(DIGITS - 1), scale: 0 });
  return String(shifted.units * 10n ** BigInt(KEY_DECIMALS - shifted.scale)).padStart(DIGITS + KEY_DECIMALS + 1, '0');
}
