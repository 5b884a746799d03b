// Sums of decimals on SQLite and percentiles on PostgreSQL are computed with doubles: every digit is right, whatever the sizes
// and signs.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEngine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { createRandom } from './oracle/random.ts';
import { accessOf } from './shop.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 2 ** 31);
console.log(`seed ${seed} (TEST_SEED=${seed} repeats it)`);
const random = createRandom(seed);

/** Amounts in cents. The errors of equal amounts add up, and those of pairs stay when the pairs cancel each other. */
const groups = Array.from({ length: 24 }, (_, at) => {
  const digits = 1 + random.number(15);
  const kind = random.pick(['positive', 'negative', 'mixed', 'equal', 'pairs'] as const);
  const create = () => BigInt(random.number(10 ** Math.min(digits, 9))) * 10n ** BigInt(Math.max(0, digits - 9)) + 7n;
  const first = create();
  const amounts = Array.from({ length: 1 + random.number(400) }, () => {
    const size = kind === 'equal' || kind === 'pairs' ? first : create();
    return kind === 'negative' || (kind === 'mixed' && random.chance(0.5)) ? -size : size;
  });
  return { at, amounts: kind === 'pairs' ? amounts.flatMap((each) => [each, 1n - each]) : amounts };
}).concat([
  // 13 digits before the point, of which a double shows two decimals, and 15 digits only one.
  { at: 24, amounts: [999_999_999_999_999n, 102n] },
  {
    at: 25,
    amounts: Array.from({ length: 510 }, (_, place) => (place % 2 ? 29_000_000_000_007n : -29_000_000_000_006n)),
  },
]);

const text = (cents: bigint): string => {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};
/** The figure as a text without zeros at the end. */
const plain = (figure: unknown): string =>
  /\./.test(String(figure)) ? String(figure).replace(/\.?0+$/, '') : String(figure);
/** The value at the place `part` of the way from the first to the last, between its neighbors if there is none. */
function percentileOf(amounts: readonly bigint[], part: number): string {
  const sorted = amounts.toSorted((a, b) => (a < b ? -1 : 1));
  const place = BigInt(Math.round(part * 10_000)) * BigInt(sorted.length - 1);
  const low = sorted[Number(place / 10_000n)]!;
  const high = sorted[Number(place / 10_000n) + 1] ?? low;
  const millionths = low * 10_000n + (high - low) * (place % 10_000n);
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(7, '0');
  return plain(`${millionths < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`);
}
const sumOf = (amounts: readonly bigint[]): string => plain(text(amounts.reduce((sum, each) => sum + each, 0n)));

describe.each(servers)('$dialect', ({ create }) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await create();
    const rows = groups.flatMap(({ at, amounts }) => amounts.map((amount) => `(${at}, ${text(amount)})`));
    await runSql(database, [
      'create table payments (batch int, amount decimal(15, 2))',
      ...Array.from(
        { length: Math.ceil(rows.length / 500) },
        (_, page) =>
          `insert into payments (batch, amount) values ${rows.slice(page * 500, (page + 1) * 500).join(', ')}`,
      ),
    ]);
  });
  afterAll(() => database.drop());

  /** Each time in a new engine, which remembers no statement. */
  async function ask(request: object) {
    const observe = () => {};
    const engine = await createEngine({
      ...{ sources: [createSqlSource(database.url, { observe, clock: systemClock })], observe, clock: systemClock },
      limits: { pageSizeLimit: 100, queryTimeoutMs: 20_000 },
    });
    try {
      return (await engine.aggregate(accessOf(), { collection: 'payments', limit: 100, ...request })).rows;
    } finally {
      await engine.close();
    }
  }

  test('the sum of each group by itself, and with a condition', async () => {
    for (const { at, amounts } of groups) {
      const filter = { field: 'batch', operator: 'Equal', value: at };
      const where = { field: 'amount', operator: 'GreaterThan', value: 0 };
      const positive = amounts.filter((each) => each > 0n);
      const [[sum]] = (await ask({ measures: { sum: { sum: 'amount' } }, filter })) as [[unknown]];
      const [[part]] = (await ask({ measures: { part: { sum: 'amount', where } }, filter })) as [[unknown]];
      expect([at, plain(sum), plain(part)]).toEqual([at, sumOf(amounts), positive.length ? sumOf(positive) : 'null']);
    }
  });

  test('the sums of all groups', async () => {
    const rows = await ask({ measures: { sum: { sum: 'amount' } }, groups: ['batch'] });
    expect(new Map(rows.map(([batch, sum]) => [batch, plain(sum)]))).toEqual(
      new Map(groups.map(({ at, amounts }) => [at, sumOf(amounts)])),
    );
  });

  test('the average of a sum that needs a second statement', async () => {
    const rows = await ask({ measures: { average: { avg: 'amount' } }, groups: ['batch'], sort: [{ group: 0 }] });
    expect(rows[24]).toEqual([24, '5000000000000.505']);
  });

  test.each([0, 0.5, 0.9, 0.95, 0.999, 0.1234, 1])(
    'percentile %d of each group by itself, and of all groups',
    async (part) => {
      const measures = { figure: { percentile: ['amount', part] } };
      const meant = new Map(groups.map(({ at, amounts }) => [at, percentileOf(amounts, part)]));
      for (const { at } of groups.filter(() => random.chance(0.3)).concat(groups.slice(24))) {
        const [[figure]] = (await ask({ measures, filter: { field: 'batch', operator: 'Equal', value: at } })) as [
          [unknown],
        ];
        expect([at, plain(figure)]).toEqual([at, meant.get(at)]);
      }
      const rows = await ask({ measures, groups: ['batch'] });
      expect(new Map(rows.map(([batch, figure]) => [batch, plain(figure)]))).toEqual(meant);
    },
  );
});

test('a column of integers on SQLite whose sum is beyond 64 bits, or that has a fraction', async () => {
  const database = await servers.find(({ dialect }) => dialect === 'sqlite')!.create();
  await runSql(database, [
    'create table items (batch int, size integer)',
    `insert into items values (1, 9223372036854775807), (1, 9223372036854775807), (2, 9007199254740993), (2, 2), (3, 2.5), (3, 4)`,
  ]);
  const observe = () => {};
  const engine = await createEngine({
    ...{ sources: [createSqlSource(database.url, { observe, clock: systemClock })], observe, clock: systemClock },
    limits: { pageSizeLimit: 100, queryTimeoutMs: 20_000 },
  });
  const measures = { sum: { sum: 'size' }, double: { sum: { times: ['size', 2] } }, mean: { avg: 'size' } } as const;
  const request = { collection: 'items', measures, groups: ['batch'], sort: [{ group: 0 }], limit: 9 } as const;
  try {
    for (let round = 0; round < 2; round++)
      expect((await engine.aggregate(accessOf(), request)).rows).toEqual([
        [1, '18446744073709551614', '36893488147419103228', '9223372036854775807'],
        [2, '9007199254740995', '18014398509481990', '4503599627370497.5'],
        [3, 6.5, 13, 3.25],
      ]);
  } finally {
    await engine.close();
    await database.drop();
  }
});
