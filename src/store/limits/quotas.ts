// Counts calls per minute, hour and day in the storage that all processes share. Each key has one row with three windows. One
// statement checks all three, increments them unless one is full, and returns their state. Times come from the process
// clock, not the database.
import type { Knex } from 'knex';
import type { Clock } from '../../core/clock.ts';
import { type Quota, type QuotaLimits, type Quotas, quotaWindows, toQuota } from '../../core/limit.ts';
import { hashToken } from '../../core/secret.ts';
import type { Database, StoreDialect } from '../database/database.ts';
import type { Tables } from '../migrations/first-tables.ts';

export const quotaTables: Tables = {
  quotas(table) {
    table.string('key_hash', 43).primary();
    for (const { name } of quotaWindows) {
      table.integer(`${name}_count`).notNullable();
      table.bigInteger(`${name}_ends`).notNullable();
    }
    table.integer('refused').notNullable();
    table.index(['day_ends']);
  },
};

const SWEEP_MS = 600_000;

interface Row {
  readonly key_hash: string;
  readonly now: number;
  readonly limits: QuotaLimits;
}

type Take = (row: Row) => Promise<Quota>;
type Stored = Readonly<Record<string, number | string>>;

export function createQuotas(database: Database, clock: Pick<Clock, 'now'>): Quotas {
  const { knex } = database;
  const takeOf = createTake(database);
  let sweepAt = 0;

  /** At most every ten minutes. An hour window may have begun just before its day window ended. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_MS;
    const over = knex('quotas').where('day_ends', '<=', now).where('hour_ends', '<=', now);
    await database.retry(() => over.where('minute_ends', '<=', now).delete());
  }

  return {
    async take(key, limits) {
      const now = clock.now();
      await sweep(now);
      return takeOf({ key_hash: hashToken(key), now, limits });
    },
  };
}

const names = quotaWindows.map(({ name }) => name);
const columns = [...names.flatMap((name) => [`${name}_count`, `${name}_ends`]), 'refused'];
const insert = `INSERT INTO quotas (key_hash, ${columns.join(', ')})
VALUES (:key_hash, ${names.map((name) => `1, :${name}_from_now`).join(', ')}, 0)`;

function bind({ key_hash, now, limits }: Row): Readonly<Record<string, Knex.RawBinding>> {
  const each = quotaWindows.flatMap(({ name, ms }) => [
    [`${name}_limit`, limits[name]],
    [`${name}_from_now`, now + ms],
    // Clocks of processes differ by less than the shortest window.
    [`${name}_latest`, now + 2 * ms],
  ]);
  return { key_hash, now, ...Object.fromEntries(each) };
}

/** The quota after the first call of a key. */
const toFirst = ({ now, limits }: Row): Quota =>
  toQuota(
    quotaWindows.map(({ ms }) => ({ count: 1, endsAt: now + ms })),
    limits,
    false,
    now,
  );

function toAnswer(stored: Stored, { now, limits }: Row): Quota {
  const states = names.map((name) => ({
    count: Number(stored[`${name}_count`]),
    endsAt: Number(stored[`${name}_ends`]),
  }));
  return toQuota(states, limits, Number(stored.refused) === 1, now);
}

function createTake({ dialect, knex, retry }: Database): Take {
  const byDialect: Record<StoreDialect, Take> = {
    async sqlite(row) {
      const [stored] = (await retry(() => knex.raw(upsert, bind(row)))) as Stored[];
      return toAnswer(stored!, row);
    },
    async postgres(row) {
      const { rows } = (await retry(() => knex.raw(upsert, bind(row)))) as { rows: Stored[] };
      return toAnswer(rows[0]!, row);
    },
    async mysql(row) {
      const [{ insertId }] = (await retry(() => knex.raw(mysqlUpsert, bind(row)))) as [{ insertId: number }];
      return insertId === 0 ? toFirst(row) : unpack(insertId, row.limits);
    },
  };
  return byDialect[dialect];
}

/** If more than twice its length remains, the clock was set back after the window began, and it counts as over. */
const isOver = (name: string, row = ''): string =>
  `(${row}${name}_ends <= :now OR ${row}${name}_ends > :${name}_latest)`;

const isFull = (name: string, row = ''): string =>
  `(NOT ${isOver(name, row)} AND ${row}${name}_count >= :${name}_limit)`;

/** Every expression sees the old row. */
const upsert = (() => {
  const anyFull = names.map((name) => isFull(name, 'quotas.')).join(' OR ');
  const sets = names.flatMap((name) => {
    const [count, ends] = [`quotas.${name}_count`, `quotas.${name}_ends`];
    return [
      `${name}_count = CASE WHEN ${anyFull} THEN ${count} WHEN ${isOver(name, 'quotas.')} THEN 1 ELSE ${count} + 1 END`,
      `${name}_ends = CASE WHEN ${anyFull} OR NOT ${isOver(name, 'quotas.')} THEN ${ends} ELSE excluded.${name}_ends END`,
    ];
  });
  return `${insert}
ON CONFLICT (key_hash) DO UPDATE SET ${sets.join(',\n')}, refused = CASE WHEN ${anyFull} THEN 1 ELSE 0 END
RETURNING ${columns.join(', ')}`;
})();

/** Greater than the seconds of a day. */
const WAITS = 131_072;

/**
 * MySQL has no RETURNING: LAST_INSERT_ID(expression) returns one number in the response to the statement, 0 for a new
 * row. The statement therefore packs its result into 53 bits: remaining calls, seconds to wait, the window, and whether
 * it refused. MySQL assigns from left to right, and each assignment sees the ones before it.
 */
const mysqlUpsert = (() => {
  const each = (make: (name: string) => string) => names.map(make).join(', ');
  const sets = names.flatMap((name) => [
    // Set after the count, because the count depends on the old end of the window.
    `${name}_count = IF(refused, ${name}_count, IF(${isOver(name)}, 1, ${name}_count + 1))`,
    `${name}_ends = IF(refused OR NOT ${isOver(name)}, ${name}_ends, :${name}_from_now)`,
  ]);
  const endOfFull = (name: string) => `IF(${isFull(name)}, ${name}_ends, 0)`;
  const left = (name: string) => `(:${name}_limit - ${name}_count)`;
  const longest = `GREATEST(${each(endOfFull)})`;
  const least = `LEAST(${each(left)})`;
  const at = `IF(refused, FIELD(${longest}, ${each(endOfFull)}), FIELD(${least}, ${each(left)}))`;
  const ends = `ELT(${at}, ${each((name) => `${name}_ends`)})`;
  const wait = `GREATEST(1, CEIL((${ends} - :now) / 1000))`;
  const packed = `((IF(refused, 0, ${least}) * ${WAITS} + ${wait}) * 4 + ${at}) * 2 + refused`;
  return `${insert}
ON DUPLICATE KEY UPDATE refused = IF(${names.map((name) => isFull(name)).join(' OR ')}, 1, 0),
${sets.join(',\n')},
refused = IF(LAST_INSERT_ID(${packed}) > 0, refused, refused)`;
})();

function unpack(packed: number, limits: QuotaLimits): Quota {
  const isExceeded = packed % 2 === 1;
  const at = Math.floor(packed / 2) % 4;
  const rest = Math.floor(packed / 8);
  return {
    limit: limits[names[at - 1]!],
    remaining: Math.floor(rest / WAITS),
    resetSeconds: rest % WAITS,
    isExceeded,
  };
}
