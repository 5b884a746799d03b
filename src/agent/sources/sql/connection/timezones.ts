// The configured timezones of a source's timestamps without zone.

import { isZone } from '../../../../core/clock/timezone.ts';
import { fail } from '../../../../core/errors.ts';
import { suggestNames } from '../../../../core/suggestions.ts';
import type { ColumnFacts } from '../introspection/introspect.ts';
import { isUtc } from '../zoneless.ts';

/** The timezones of timestamps without zone, for reading and writing. */
export interface TimezoneOptions {
  /**
   * The IANA timezone of timestamps without zone: `timestamp` of PostgreSQL, DATETIME of MySQL and MariaDB, texts
   * without offset of SQLite. Default `UTC`.
   */
  readonly timezone?: string;
  /**
   * Timezones of single columns: `{ 'orders.placed_at': 'America/New_York' }`, with the names of the database. Default:
   * `timezone` for all.
   */
  readonly columnTimezones?: Readonly<Record<string, string>>;
}

interface Timezones {
  readonly of: (table: string, column: string) => string;
  /** Throws CONFIGURATION if a setting names a column that does not hold timestamps without zone. */
  readonly check: (columns: readonly ColumnFacts[]) => void;
}

/** Throws CONFIGURATION for an invalid timezone. */
export function readTimezones({ timezone = 'UTC', columnTimezones = {} }: TimezoneOptions): Timezones {
  const defaultZone = readZone('timezone', timezone);
  const own = new Map(
    Object.entries(columnTimezones).map(([name, zone]) => [name, readZone(`columnTimezones: ${name}`, zone)]),
  );
  return {
    of: (table, column) => own.get(`${table}.${column}`) ?? defaultZone,
    check(columns) {
      const known = new Map(columns.map((column) => [`${column.table}.${column.name}`, column]));
      const zoneless = [...known].filter(([, { codec }]) => codec?.inZone).map(([name]) => name);
      for (const name of own.keys()) {
        if (known.get(name)?.codec?.inZone) continue;
        const near = suggestNames(name, zoneless);
        const offered = near.length > 0 ? near : zoneless.slice(0, 5);
        const why = known.has(name) ? 'has no timestamps without zone' : 'is not a column of this database';
        refuse(
          `'columnTimezones' names '${name}', which ${why}. ${offered.length > 0 ? `Name table and column, such as ${offered.join(', ')}` : 'No column here has timestamps without zone: leave the setting out'}`,
        );
      }
    },
  };
}

function readZone(setting: string, zone: unknown): string {
  if (typeof zone !== 'string' || !isZone(zone))
    return refuse(
      `'${setting}' must be the IANA name of a timezone, such as 'America/New_York' or 'UTC', got ${JSON.stringify(zone)}`,
    );
  return isUtc(zone) ? 'UTC' : zone;
}

function refuse(problem: string): never {
  return fail('CONFIGURATION', { problem: `The database connection: ${problem}.` });
}
