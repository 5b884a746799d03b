// Random aggregates: every database gives the same answer, and so do rows in memory, except for the decimals of
// quotients, which follow the declared decimals of a column. A table in memory declares none.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEngine, type Engine } from '../../src/agent/engine.ts';
import type { AggregateRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainExpression } from '../../src/core/filter/expression.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { seedFrom } from './oracle/judge.ts';
import { createRandom } from './oracle/random.ts';
import { accessOf } from './shop.ts';

const QUESTIONS = 150;
const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);
const random = createRandom(seed);

const types = {
  id: 'Number', place_id: 'Number', whole: 'Number', money: 'Number', part: 'Number', kind: 'String', at: 'Date',
  until: 'Date', day: 'Dateonly', flag: 'Boolean',
} as const; // biome-ignore format: the columns
const sqlTypes: Record<Dialect, Record<string, string>> = {
  sqlite: { whole: 'int', money: 'decimal(12, 2)', part: 'decimal(6, 4)', kind: 'text', at: 'datetime', until: 'datetime', day: 'date', flag: 'boolean' },
  mariadb: { whole: 'int', money: 'decimal(12, 2)', part: 'decimal(6, 4)', kind: 'varchar(20) collate utf8mb4_bin', at: 'datetime(6)', until: 'datetime(6)', day: 'date', flag: 'tinyint(1)' },
  postgres: { whole: 'int', money: 'numeric(12, 2)', part: 'numeric(6, 4)', kind: 'text collate "C"', at: 'timestamptz', until: 'timestamptz', day: 'date', flag: 'boolean' },
}; // biome-ignore format: one database a line

const maybe = <T>(value: T): T | null => (random.chance(0.15) ? null : value);
const instant = () =>
  new Date(
    Date.UTC(
      2023,
      random.number(18),
      1 + random.number(31),
      random.number(24),
      random.number(60),
      random.number(60),
      random.number(1000),
    ),
  ).toISOString();
const places = [[1, 'Oslo'], [2, 'Lyon'], [3, null], [4, 'Rome']] as const; // biome-ignore format: rows
const items = Array.from({ length: 120 }, (_, at) => [
  at + 1,
  maybe(1 + random.number(4)),
  maybe(random.number(21) - 10),
  maybe((random.number(200_000) - 50_000) / 100),
  maybe((random.number(20_001) - 10_000) / 10_000),
  maybe(random.pick(['a', 'b', 'B', 'ä', ''])),
  maybe(instant()),
  maybe(instant()),
  maybe(instant().slice(0, 10)),
  maybe(random.chance(0.5)),
]);
const notes = Array.from({ length: 90 }, (_, at) => [
  at + 1,
  1 + random.number(120),
  maybe(random.pick(['x', 'y', 'z'])),
  maybe(instant()),
]);

const tables: readonly MemoryTable[] = [
  { name: 'places', columns: [{ name: 'id', type: 'Number' }, { name: 'city', type: 'String', nullable: true }], primaryKey: ['id'], rows: places as never },
  {
    name: 'items',
    columns: Object.entries(types).map(([name, type]) => ({ name, type, nullable: true })),
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['place_id'], table: 'places', targetColumns: ['id'] }],
    rows: items as never,
  },
  {
    name: 'notes',
    columns: [{ name: 'id', type: 'Number' }, { name: 'item_id', type: 'Number' }, { name: 'label', type: 'String', nullable: true }, { name: 'made', type: 'Date', nullable: true }],
    primaryKey: ['id'],
    foreignKeys: [{ columns: ['item_id'], table: 'items', targetColumns: ['id'] }],
    rows: notes as never,
  },
]; // biome-ignore format: tables

function statements(dialect: Dialect): string[] {
  const known = sqlTypes[dialect];
  const value = (each: unknown): string => {
    if (each === null) return 'null';
    if (typeof each === 'boolean') return dialect === 'postgres' ? String(each) : String(Number(each));
    if (typeof each === 'number') return String(each);
    return `'${/T.*Z$/.test(String(each)) ? String(each).replace('T', ' ').replace('Z', '') : each}'`;
  };
  const columns = Object.keys(types)
    .slice(2)
    .map((name) => `, ${name} ${known[name]}`);
  const insert = (name: string, rows: readonly (readonly unknown[])[]) =>
    `insert into ${name} values ${rows.map((row) => `(${row.map(value).join(', ')})`).join(', ')}`;
  return [
    `create table places (id int primary key, city ${known.kind})`,
    `create table items (id int primary key, place_id int references places(id)${columns.join('')})`,
    `create table notes (id int primary key, item_id int references items(id), label ${known.kind}, made ${known.at})`,
    insert('places', places),
    insert('items', items),
    insert('notes', notes),
  ];
}

const subjects: { name: string; engine: Engine; database?: TestDatabase }[] = [];
beforeAll(async () => {
  const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
  const options = { observe: () => {}, clock: systemClock, limits };
  const sources = [createMemorySource('memory', tables)];
  subjects.push({ name: 'memory', engine: await createEngine({ ...options, sources }) });
  for (const server of servers) {
    const database = await server.create();
    await runSql(database, statements(server.dialect));
    const source = createSqlSource(database.url, { observe: () => {}, clock: systemClock });
    subjects.push({ name: server.dialect, engine: await createEngine({ ...options, sources: [source] }), database });
  }
});
afterAll(async () => {
  for (const { engine, database } of subjects) {
    await engine.close();
    await database?.drop();
  }
});

function number(depth: number): PlainExpression {
  const pair = () => [number(depth - 1), number(depth - 1)] as const;
  if (depth === 0) return random.pick<PlainExpression>(['whole', 'money', 'part', 'id', 2, 0.5, -3, 'place:id']);
  const date = () => random.pick(['at', 'until'] as const);
  return random.pick<() => PlainExpression>([
    () => number(0),
    () => ({ plus: pair() }),
    () => ({ minus: pair() }),
    () => ({ times: pair() }),
    () => ({ dividedBy: pair() }),
    () => ({ abs: number(depth - 1) }),
    () => ({ round: number(depth - 1) }),
    () => ({ coalesce: pair() }),
    () => ({ difference: [date(), date()], unit: random.pick(['minute', 'hour', 'day', 'month', 'year'] as const) }),
    () => ({ difference: ['day', { value: '2024-02-29' }], unit: random.pick(['day', 'month', 'year'] as const) }),
    () => ({
      difference: [date(), { value: '2024-02-29T23:30:00Z' }],
      unit: random.pick(['hour', 'month', 'year'] as const),
    }),
  ])();
}

const where = (): PlainFilter =>
  random.pick<unknown>([
    { field: 'money', operator: 'GreaterThan', value: 100 },
    { field: 'kind', operator: 'NotEqual', value: 'a' },
    { field: 'place:city', operator: 'Present' },
    { some: 'notes', where: { field: 'label', operator: 'In', value: ['x', 'y'] } },
    { none: 'notes' },
    comparison(),
    { aggregator: 'Not', conditions: [comparison()] },
    { some: 'place', where: { some: 'items', where: comparison() } },
  ]) as PlainFilter;

function comparison() {
  const operator = random.pick([
    'Equal',
    'NotEqual',
    'LessThan',
    'LessThanOrEqual',
    'GreaterThan',
    'GreaterThanOrEqual',
  ]);
  return random.pick<() => object>([
    () => ({ expression: { plus: ['whole', number(1)] }, operator, value: random.pick([0, 10, '-2.5', 0.5]) }),
    () => ({ expression: { minus: ['money', number(1)] }, operator, other: number(1) }),
    () => ({ field: 'at', operator, other: 'until' }),
    () => ({ field: 'kind', operator, other: 'place:city' }),
    () => ({ field: 'flag', operator: 'NotEqual', other: 'flag' }),
    () => ({ expression: { coalesce: ['kind', 'place:city'] }, operator: 'Equal', value: 'a' }),
  ])();
}

function measure(): unknown {
  const kind = random.pick([
    'count',
    'count',
    'countDistinct',
    'sum',
    'sum',
    'avg',
    'min',
    'max',
    'median',
    'percentile',
  ]);
  const other = random.pick(['kind', 'at', 'day', 'place:city', 'flag', { coalesce: ['kind', { value: 'none' }] }]);
  const of =
    kind === 'count'
      ? random.pick([true, 'kind', number(1)])
      : kind === 'percentile'
        ? [number(1), random.pick([0, 0.25, 0.9, 1, 0.333])]
        : /^(min|max|countDistinct)$/.test(kind) && random.chance(0.5)
          ? other
          : number(1 + random.number(2));
  return { [kind]: of, ...(random.chance(0.3) && { where: where() }) };
}

const group = () =>
  random.pick<() => unknown>([
    () => random.pick(['kind', 'flag', 'place:city', 'day', 'notes:label', 'place_id']),
    () => ({
      field: random.pick(['at', 'until', 'notes:made']),
      bucket: random.pick(['Year', 'Quarter', 'Month', 'Week', 'Day', 'Hour']),
    }),
    () => ({ field: random.pick(['at', 'notes:made']), part: random.pick(['HourOfDay', 'Weekday', 'MonthOfYear']) }),
    () => ({ field: 'day', bucket: random.pick(['Year', 'Quarter', 'Month', 'Week', 'Day']) }),
    () => ({
      field: random.pick(['money', 'whole', 'part']),
      ranges: random.pick([[0], [-0.5, 0.25, 10], ['-5', 1, 100.5]]),
    }),
  ])();

function question(): Omit<AggregateRequest, 'collection' | 'limit'> {
  const measures = Object.fromEntries(Array.from({ length: 1 + random.number(4) }, (_, at) => [`m${at}`, measure()]));
  const groups = random.some([group(), group()], 0, 2);
  const sort = [
    random.chance(0.5) ? { measure: 'm0', ascending: random.chance(0.5) } : undefined,
    ...groups.map((_, index) => ({ group: index })),
  ].filter((each) => each !== undefined);
  if (random.chance(0.2)) measures.ratio = { ratio: [{ sum: number(1) }, { count: true }] };
  return {
    measures: measures as never,
    groups: groups as never,
    sort,
    timezone: random.pick(['UTC', 'Europe/Paris', 'America/St_Johns', 'Asia/Kolkata']),
    ...(random.chance(0.3) && { filter: where() }),
    // Two groups by day have more combinations than an aggregate may add.
    ...(groups.length < 2 && random.chance(0.2) && { includeEmpty: true }),
  };
}

/** Whole numbers are exact. */
const digits = (rows: readonly (readonly unknown[])[]) =>
  rows.map((row) =>
    row.map((value) => {
      const isFraction = typeof value === 'string' ? /^-?\d+\.\d+$/.test(value) : !Number.isInteger(value);
      return value !== null && isFraction && !Number.isNaN(Number(value)) ? Number(value).toPrecision(11) : value;
    }),
  );

const rough = (value: unknown): unknown =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+\.\d+$/.test(value))
    ? Number(value).toFixed(6)
    : value;

/** Whether a quotient is a factor or a divisor, which multiplies the error of its last decimal without a bound. */
function multipliesQuotients(part: unknown, isOperand = false): boolean {
  if (typeof part !== 'object' || part === null) return false;
  return Object.entries(part).some(
    ([key, value]) =>
      (isOperand && key === 'dividedBy') ||
      multipliesQuotients(value, isOperand || key === 'times' || key === 'dividedBy'),
  );
}

test.each(Array.from({ length: QUESTIONS }, (_, at) => at))(
  'all sources give the same answer to random question %i',
  async () => {
    const asked = question();
    const answers = await Promise.all(
      subjects.map(async ({ name, engine }) => {
        const { rows } = await engine
          .aggregate(accessOf(), { collection: 'items', limit: 1000, ...asked })
          .catch((cause: unknown) => {
            // Where SQLite cannot calculate exactly, records are read, which some conditions and groups do not allow.
            if (name === 'sqlite' && /beyond 64 bits/.test(String(cause))) return { rows: undefined };
            throw new Error(`${name}: ${JSON.stringify(asked)}: ${cause}`, { cause });
          });
        return [name, rows] as const;
      }),
    );
    const [[, memory = []], [, sqlite], ...servers] = answers as [(typeof answers)[0], (typeof answers)[0]];
    const [, first = memory] = (servers as typeof answers)[0] ?? [null, sqlite];
    for (const [name, rows] of servers as typeof answers)
      expect(rows, `${name}: ${JSON.stringify(asked)}`).toEqual(first);
    // SQLite has 64-bit integers in place of decimals: a quotient of quotients has fewer digits.
    if (sqlite) expect(digits(sqlite), `sqlite: ${JSON.stringify(asked)}`).toEqual(digits(first));
    if (multipliesQuotients(asked)) return;
    // The order of rounded figures can differ.
    const texts = (rows: readonly (readonly unknown[])[]) => rows.map((row) => JSON.stringify(row.map(rough))).sort();
    expect(texts(memory), `memory: ${JSON.stringify(asked)}`).toEqual(texts(first));
  },
);
