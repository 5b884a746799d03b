// Each operator over HTTP on every database, in the caller's time zone at a fixed moment: SQL and days, not arrays.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/core/clock.ts';
import { createMemoryDataSource, type MemoryTable } from '../../src/index.ts';
import { servers } from '../databases.ts';
import { openWorkshop, type Workshop } from '../rest/workshop.ts';
import { runSql } from '../sql/schemas.ts';

type Asked = [operator: string, field: string, value: unknown, ids: number[], zone?: string];
/** Still March 31 in Greenwich, but April 1 and the next quarter in Auckland. */
const clock = { ...systemClock, now: () => Date.parse('2024-03-31T12:00:00Z') };
const rows = [
  [1, "'Ada'", '1', '2024-03-31 00:00:00'],
  [2, "'Bob'", '2', '2024-03-30 23:59:59'],
  [3, 'NULL', 'NULL', '2024-03-29 10:00:00'],
  [4, "''", '4', '2024-03-18 00:00:00'],
  [5, "'adam'", '5', '2024-02-01 00:00:00'],
  [6, "'A_a'", '6', '2023-10-01 00:00:00'],
  [7, "'Eve'", '7', '2023-01-01 00:00:00'],
  [8, "'Dad'", '8', '2024-03-31 12:00:01'],
];
/** Both sides of the boundaries of years, quarters, months, weeks, days and now; and null. */
const moments = [
  ...['2022-12-31 23:59:59', '2023-01-01 00:00:00', '2023-09-30 23:59:59', '2023-10-01 00:00:00'],
  ...['2023-12-31 23:59:59', '2024-01-01 00:00:00', '2024-01-31 23:59:59', '2024-02-01 00:00:00'],
  ...['2024-02-29 23:59:59', '2024-03-01 00:00:00', '2024-03-17 23:59:59', '2024-03-18 00:00:00'],
  ...['2024-03-24 23:59:59', '2024-03-25 00:00:00', '2024-03-29 23:59:59', '2024-03-30 00:00:00'],
  ...['2024-03-30 23:59:59', '2024-03-31 00:00:00', '2024-03-31 12:00:00', '2024-03-31 23:59:59'],
  ...['2024-04-01 00:00:00', null],
];
const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);
const edges: readonly Asked[] = [
  ['Today', 'at', undefined, [18, 19, 20]],
  ['Today', 'day', undefined, [18, 19, 20]],
  ['Today', 'day', undefined, [21], 'Pacific/Auckland'],
  ['Yesterday', 'at', undefined, [16, 17]],
  ['Yesterday', 'day', undefined, [16, 17]],
  ['PreviousWeek', 'at', undefined, [12, 13]],
  ['PreviousWeek', 'day', undefined, [12, 13]],
  ['PreviousWeek', 'day', undefined, from(14, 20), 'Pacific/Auckland'],
  ['PreviousMonth', 'at', undefined, [8, 9]],
  ['PreviousMonth', 'day', undefined, [8, 9]],
  ['PreviousQuarter', 'at', undefined, [4, 5]],
  ['PreviousQuarter', 'day', undefined, [4, 5]],
  ['PreviousYear', 'at', undefined, from(2, 5)],
  ['PreviousYear', 'day', undefined, from(2, 5)],
  ['Past', 'at', undefined, from(1, 18)],
  ['Past', 'day', undefined, from(1, 17)],
  ['Past', 'day', undefined, from(1, 20), 'Pacific/Auckland'],
  ['Future', 'at', undefined, [20, 21]],
  ['Future', 'day', undefined, [21]],
  ['Future', 'day', undefined, [], 'Pacific/Auckland'],
  ['Before', 'at', '2024-03-18T00:00:00Z', from(1, 11)],
  ['Before', 'day', '2024-03-18', from(1, 11)],
  ['Before', 'day', '2024-03-18', from(1, 11), 'America/New_York'],
  ['After', 'at', '2024-03-30T23:59:59Z', from(18, 21)],
  ['After', 'day', '2024-03-18', from(13, 21)],
  ['After', 'at', '2024-03-18', from(13, 21)],
  ['Present', 'at', undefined, from(1, 21)],
  ['Blank', 'day', undefined, [22]],
];
/** The column type of a list of labels. */
const lists = { mariadb: "SET('a', 'b', 'c')", postgres: 'TEXT[]' };
const time = { sqlite: 'DATETIME', mariadb: 'DATETIME', postgres: 'TIMESTAMPTZ' };

const found: readonly Asked[] = [
  ['Equal', 'name', 'Ada', [1]],
  ['Equal', 'n', 4, [4]],
  ['NotEqual', 'name', 'Ada', [2, 3, 4, 5, 6, 7, 8]],
  ['GreaterThan', 'n', 6, [7, 8]],
  ['LessThan', 'n', 4, [1, 2]],
  ['In', 'n', [1, 5, null], [1, 3, 5]],
  ['NotIn', 'n', [1, 2], [3, 4, 5, 6, 7, 8]],
  ['Present', 'name', undefined, [1, 2, 5, 6, 7, 8]],
  ['Blank', 'name', undefined, [3, 4]],
  ['Blank', 'n', undefined, [3]],
  ['Contains', 'name', 'da', [1, 5]],
  ['NotContains', 'name', 'a', [2, 3, 4, 7]],
  ['StartsWith', 'name', 'A', [1, 6]],
  ['EndsWith', 'name', 'a', [1, 6]],
  ['Equal', 'n', null, [3]],
  ['NotEqual', 'n', null, [1, 2, 4, 5, 6, 7, 8]],
  ['NotEqual', 'n', 4, [1, 2, 3, 5, 6, 7, 8]],
  ['In', 'n', [null], [3]],
  ['In', 'n', [], []],
  ['In', 'name', ['Ada', ''], [1, 4]],
  ['NotIn', 'n', [1, null], [2, 4, 5, 6, 7, 8]],
  ['NotIn', 'n', [], [1, 2, 3, 4, 5, 6, 7, 8]],
  ['Present', 'n', undefined, [1, 2, 4, 5, 6, 7, 8]],
  ['Contains', 'name', '_', [6]],
  ['Contains', 'name', '%', []],
  ['NotContains', 'name', '_', [1, 2, 3, 4, 5, 7, 8]],
  ['StartsWith', 'name', 'A_', [6]],
  ['StartsWith', 'name', 'd', []],
  ['EndsWith', 'name', '_a', [6]],
  ['EndsWith', 'name', 'A', []],
  ['Like', 'name', '%d%', [1, 5, 8]],
  ['Like', 'name', 'd', []],
  ['Like', 'name', 'A\\_a', [6]],
  ['ILike', 'name', 'a_A', [1, 6]],
  ['ILike', 'name', 'd', []],
  ['Like', 'name', 'A_a', [1, 6]],
  ['ILike', 'name', 'a%', [1, 5, 6]],
  ['Before', 'at', '2023-10-01', [7]],
  ['Before', 'at', '2023-10-01', [6, 7], 'America/New_York'],
  ['Before', 'at', '2023-01-01', [], 'Pacific/Auckland'],
  ['After', 'at', '2024-03-31T00:00:00Z', [8]],
  ['Today', 'at', undefined, [1, 8]],
  ['Today', 'at', undefined, [8], 'Pacific/Auckland'],
  ['Yesterday', 'at', undefined, [2]],
  ['PreviousWeek', 'at', undefined, [4]],
  ['PreviousMonth', 'at', undefined, [5]],
  ['PreviousQuarter', 'at', undefined, [6]],
  ['PreviousQuarter', 'at', undefined, [1, 2, 3, 4, 5], 'Etc/GMT-14'],
  ['PreviousYear', 'at', undefined, [6, 7]],
  ['Past', 'at', undefined, [1, 2, 3, 4, 5, 6, 7]],
  ['Future', 'at', undefined, [8]],
]; // biome-ignore format: a table

const labels = [['a', 'b'], ['a'], null, [], ['b', 'c'], ['a', 'b', 'c']];
/** NULL is not a list: it includes no value, and not all values. */
const included: typeof edges = [
  ['IncludesAll', 'tags', ['a', 'b'], [1, 6]],
  ['IncludesAll', 'tags', ['a'], [1, 2, 6]],
  ['IncludesNone', 'tags', ['a', 'b'], [3, 4]],
  ['IncludesNone', 'tags', ['c'], [1, 2, 3, 4]],
];
function tagged(dialect: (typeof servers)[number]['dialect']): string[] {
  if (dialect === 'sqlite') return [];
  const write = (list: string[]) => (dialect === 'mariadb' ? `'${list}'` : `'{${list}}'`);
  const values = labels.map((list, at) => `(${at + 1}, ${list ? write(list) : 'NULL'})`);
  return [
    `CREATE TABLE tagged (id INTEGER PRIMARY KEY, tags ${lists[dialect]})`,
    `INSERT INTO tagged VALUES ${values.join(', ')}`,
  ];
}

/** The same data in memory, only for the first server. */
const instant = (text: string) => `${text.replace(' ', 'T')}.000Z`;
const key = { name: 'id', type: 'Number' } as const;
const inMemory = (): MemoryTable[] => [
  {
    name: 'm_events',
    columns: [
      key,
      { name: 'name', type: 'String', nullable: true },
      { name: 'n', type: 'Number', nullable: true },
      { name: 'at', type: 'Date' },
    ],
    primaryKey: ['id'],
    rows: rows.map(([id, name, n, at]) => [
      id,
      name === 'NULL' ? null : String(name).slice(1, -1),
      n === 'NULL' ? null : Number(n),
      instant(String(at)),
    ]),
  },
  {
    name: 'm_moments',
    columns: [key, { name: 'at', type: 'Date', nullable: true }, { name: 'day', type: 'Dateonly', nullable: true }],
    primaryKey: ['id'],
    rows: moments.map((at, index) => [index + 1, at && instant(at), at?.slice(0, 10) ?? null]),
  },
  {
    name: 'tagged',
    columns: [key, { name: 'tags', type: ['String'], nullable: true }],
    primaryKey: ['id'],
    rows: labels.map((list, at) => [at + 1, list]),
  },
];

describe.each(servers)('$dialect', (server) => {
  const isFirst = server === servers[0];
  let place: Workshop;
  beforeAll(async () => {
    const made = {
      ...server,
      async create() {
        const database = await server.create();
        await runSql(database, [
          `CREATE TABLE events (id INTEGER PRIMARY KEY, name VARCHAR(20), n INTEGER, at ${time[server.dialect]} NOT NULL)`,
          `CREATE TABLE moments (id INTEGER PRIMARY KEY, at ${time[server.dialect]}, day DATE)`,
          ...moments.map((at, index) => {
            const values = at ? `'${at}', '${at.slice(0, 10)}'` : 'NULL, NULL';
            return `INSERT INTO moments VALUES (${index + 1}, ${values})`;
          }),
          ...tagged(server.dialect),
          'CREATE TABLE words (id INTEGER PRIMARY KEY, word VARCHAR(9))',
          "INSERT INTO words VALUES (1, 'a'), (2, ''), (3, ' '), (4, NULL), (5, '  b')",
          ...rows.map(([id, name, n, at]) => `INSERT INTO events VALUES (${id}, ${name}, ${n}, '${at}')`),
        ]);
        return database;
      },
    };
    const customize = (agent: HeadlessAgent) => {
      if (isFirst) agent.addDataSource(createMemoryDataSource('memory', inMemory()));
    };
    place = await openWorkshop({ server: made, app: { clock }, customize });
  });
  afterAll(() => place?.stop());

  const ask = async (collection: string, [operator, field, value, , zone]: Asked) => {
    const filters = JSON.stringify({ field, operator, ...(value !== undefined && { value }) });
    const timezone = String(zone ?? 'UTC');
    const query = new URLSearchParams({ filters, timezone, sort: 'id', 'page[size]': '99' });
    const { status, body } = await place.call('GET', `/${collection}?${query}`);
    const { data = body } = body as { readonly data?: { readonly id: string }[] };
    return [status, Array.isArray(data) ? data.map(({ id }) => Number(id)) : data];
  };
  test.each(found)('%s of %s, %j: over HTTP', async (...row: Asked) => {
    expect(await ask('events', row)).toEqual([200, row[3]]);
    if (isFirst) expect(await ask('m_events', row)).toEqual([200, row[3]]);
  });
  // Padding collations of MariaDB treat spaces as equal to the empty string.
  test.each<Asked>([
    ['Present', 'word', undefined, [1, 3, 5]],
    ['Blank', 'word', undefined, [2, 4]],
    ['Missing', 'word', undefined, [4]],
    ['StartsWith', 'word', ' ', [3, 5]],
    ['Contains', 'word', ' ', [3, 5]],
  ])('%s of %s, %j: spaces count, and an empty string does not match', async (...row: Asked) => {
    expect(await ask('words', row)).toEqual([200, row[3]]);
  });
  test.each(edges)('%s of %s, %j: edge cases, over HTTP', async (...row: Asked) => {
    expect(await ask('moments', row)).toEqual([200, row[3]]);
    if (isFirst) expect(await ask('m_moments', row)).toEqual([200, row[3]]);
  });
  test.each(included)('%s of %s, %j: of lists, over HTTP', async (...row: Asked) => {
    expect(await ask('tagged', row)).toEqual([200, row[3]]);
    expect((await ask('tagged', [row[0], 'tags', [], []]))[0]).toBe(400);
  });
});
