// Timestamps without zone, and calendar dates. Expected values come from luxon and plain SQL, never from the code under
// test. Luxon reads the local time of each row in the timezone of the source.
import { DateTime } from 'luxon';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlDataSource, type SqlDataSourceOptions } from '../../src/agent/data-sources.ts';
import type { Engine } from '../../src/agent/engine.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { accessOf } from './shop.ts';

const access = accessOf();
const limits = { pageSizeLimit: 1000, queryTimeoutMs: 20_000 };
const open = (url: string, options: SqlDataSourceOptions = {}, now?: string): Promise<Engine> =>
  createHeadlessAgent()
    .addDataSource(createSqlDataSource(url, options))
    .createEngine({
      observe: () => {},
      clock: now ? { ...systemClock, now: () => Date.parse(now) } : systemClock,
      limits,
    });

const types: Record<Dialect, { readonly local: string; readonly exact: string; readonly key: string }> = {
  sqlite: { local: 'datetime', exact: 'timestamp', key: 'integer primary key' },
  mariadb: { local: 'datetime(6)', exact: 'timestamp(6) null', key: 'int primary key' },
  postgres: { local: 'timestamp', exact: 'timestamptz', key: 'int primary key' },
};

const home = 'America/New_York';
const readers = ['UTC', home, 'Asia/Tokyo', 'Europe/Paris', 'America/Sao_Paulo', 'Australia/Lord_Howe'];
/** Local times of the column. The clock showed 2024-11-03 01:30 twice and skipped 2024-03-10 02:30. */
const locals = [
  '1883-11-18 12:10:00', '1969-12-31 23:59:59', '2016-06-30 23:59:59', '2016-07-01 00:00:00', '2016-07-31 19:00:00',
  '2016-07-31 20:00:00', '2016-07-31 23:59:59', '2016-08-01 00:00:00', '2016-08-01 00:00:00', '2016-12-31 19:00:00',
  '2024-03-10 01:59:59', '2024-03-10 03:00:00', '2024-11-03 00:59:59', '2024-11-03 01:00:00', '2024-11-03 01:30:00',
  '2024-11-03 01:59:59', '2024-11-03 02:00:00', '2024-11-03 23:30:00', '2025-01-01 00:00:00',
]; // biome-ignore format: a list
const skipped = ['2024-03-10 02:00:00', '2024-03-10 02:30:00'];

/** The earlier of two possible instants, as ISO. */
function instantOf(local: string): string {
  const time = DateTime.fromSQL(local, { zone: home });
  const earlier = time.minus({ hours: 1 });
  const first = earlier.toFormat('yyyy-MM-dd HH:mm:ss') === local ? earlier : time;
  return first.toUTC().toISO()!;
}

const operators = ['LessThan', 'LessThanOrEqual', 'GreaterThan', 'GreaterThanOrEqual', 'Equal', 'NotEqual'] as const;
const means: Record<(typeof operators)[number], (a: string, b: string) => boolean> = {
  LessThan: (a, b) => a < b,
  LessThanOrEqual: (a, b) => a <= b,
  GreaterThan: (a, b) => a > b,
  GreaterThanOrEqual: (a, b) => a >= b,
  Equal: (a, b) => a === b,
  NotEqual: (a, b) => a !== b,
};

for (const server of servers)
  describe(`timestamps without zone: ${server.dialect}`, () => {
    let database: TestDatabase;
    let engine: Engine;
    const instants = locals.map(instantOf);
    const all = instants.map((_, at) => at + 1);
    const { dialect } = server;

    beforeAll(async () => {
      database = await server.create();
      const { local, exact, key } = types[dialect];
      const sqlExact = (text: string) =>
        dialect === 'postgres'
          ? `'${text}'`
          : dialect === 'mariadb'
            ? `'${text.slice(0, 23).replace('T', ' ')}'`
            : `'${text}'`;
      await runSql(database, [
        `create table events (id ${key}, at ${local} null, exact ${exact}, kept_utc ${local} null)`,
        ...locals.map(
          (text, at) =>
            `insert into events values (${at + 1}, '${text}', ${Date.parse(instants[at]!) < 86_400_000 ? 'null' : sqlExact(instants[at]!)}, '${text}')`,
        ),
        `create table skipped (id ${key}, at ${local} null)`,
        `insert into skipped values (1, '2024-03-10 01:30:00'), (2, '${skipped[1]}'), (3, '${skipped[0]}'), (4, '2024-03-10 03:00:00')`,
      ]);
      engine = await open(database.url, { timezone: home, columnTimezones: { 'events.kept_utc': 'UTC' } });
    });
    afterAll(async () => {
      await engine?.close();
      await database?.drop();
    });

    const ids = async (request: Partial<ListRequest>, from = engine): Promise<unknown[]> =>
      (await from.list(access, { collection: 'events', fields: ['id'], limit: 100, ...request })).rows.flat();

    test('a timestamp without zone is the instant in the timezone of the source, and timestamps with zone stay unchanged', async () => {
      const { rows } = await engine.list(access, {
        collection: 'events', fields: ['at', 'exact', 'kept_utc'], sort: [{ field: 'id' }], limit: 100,
      }); // biome-ignore format: short
      expect(rows.map(([at]) => at)).toEqual(instants);
      expect(rows.map((row) => row[1])).toEqual(instants.map((each) => (Date.parse(each) < 86_400_000 ? null : each)));
      expect(rows.map((row) => row[2])).toEqual(locals.map((text) => `${text.replace(' ', 'T')}.000Z`));
    });

    test('PostgreSQL converts every unambiguous local time to the same instant', async () => {
      if (dialect !== 'postgres') return;
      const said = await askSql(
        database,
        `select id, to_char((at at time zone '${home}') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as instant from events
         where at < '2024-11-03 01:00' or at >= '2024-11-03 02:00' order by id`,
      );
      expect(said.map(({ instant }) => instant)).toEqual(said.map(({ id }) => instants[Number(id) - 1]));
    });

    test('every operator compares instants, also within the hour that occurs twice', async () => {
      const values = [
        ...instants,
        ...instants.map((each) => new Date(Date.parse(each) + 1000).toISOString()),
        ...[
          '2024-11-03T06:00:00.000Z',
          '2024-11-03T06:30:00.000Z',
          '2024-11-03T06:59:59.999Z',
          '2024-03-10T07:00:00.000Z',
        ],
        ...['2024-03-10T07:30:00.000Z', '0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
      ];
      for (const operator of operators)
        for (const value of values) {
          const expected = all.filter((id) => means[operator](instants[id - 1]!, value));
          expect([
            operator,
            value,
            await ids({ filter: { field: 'at', operator, value }, sort: [{ field: 'id' }] }),
          ]).toEqual([operator, value, expected]);
        }
      const some = [instants[3]!, '2024-11-03T06:30:00.000Z', instants[14]!];
      expect(await ids({ filter: { field: 'at', operator: 'In', value: some }, sort: [{ field: 'id' }] })).toEqual([
        4, 15,
      ]);
    });

    test("days and months are those of the reader's timezone", async () => {
      for (const timezone of readers) {
        const monthOf = (instant: string) => DateTime.fromISO(instant, { zone: timezone }).toFormat('yyyy-MM-01');
        const expected = new Map<string, number>();
        for (const each of instants) expected.set(monthOf(each), (expected.get(monthOf(each)) ?? 0) + 1);
        for (const field of ['at', 'exact']) {
          const { rows } = await engine.aggregate(access, {
            collection: 'events', operation: 'Count', groups: [{ field, bucket: 'Month' }], order: 'groups', timezone, limit: 100,
          }); // biome-ignore format: short
          const modern = (month: unknown) => month !== null && String(month) >= '1970-02';
          expect([timezone, field, rows.filter(([month]) => modern(month))]).toEqual([
            timezone,
            field,
            [...expected].filter(([month]) => modern(month)).sort(([a], [b]) => (a < b ? -1 : 1)),
          ]);
        }
        const days = await engine.aggregate(access, {
          collection: 'events', operation: 'Count', groups: [{ field: 'at', bucket: 'Day' }], order: 'groups', timezone, limit: 100,
        }); // biome-ignore format: short
        const dayOf = (instant: string) => DateTime.fromISO(instant, { zone: timezone }).toFormat('yyyy-MM-dd');
        expect([timezone, days.rows.map(([day]) => day)]).toEqual([timezone, [...new Set(instants.map(dayOf))].sort()]);

        const july = all.filter((id) => monthOf(instants[id - 1]!) === '2016-07-01');
        const between = [
          { field: 'at', operator: 'GreaterThanOrEqual', value: '2016-07-01' },
          { field: 'at', operator: 'LessThan', value: '2016-08-01' },
        ] as const;
        const asked = { timezone, sort: [{ field: 'id' }] };
        expect(await ids({ ...asked, filter: { aggregator: 'And', conditions: between } })).toEqual(july);
        expect(await ids({ ...asked, search: 'at:2016-07' })).toEqual(july);
        const later = await open(database.url, { timezone: home }, '2016-08-15T12:00:00Z');
        expect(await ids({ ...asked, filter: { field: 'at', operator: 'PreviousMonth' } }, later)).toEqual(july);
        await later.close();
      }
    });

    test('sorts, pages by cursor, Min and Max are in the order of the instants', async () => {
      const seen: unknown[] = [];
      for (let cursor: string | undefined, page = 0; page < 30; page++) {
        const answer = await engine.list(access, {
          collection: 'events', fields: ['id'], sort: [{ field: 'at', ascending: false }], limit: 2, ...(cursor && { cursor }),
        }); // biome-ignore format: short
        seen.push(...answer.rows.flat());
        if (!answer.hasMore) break;
        cursor = answer.cursorAfter(answer.rows.length - 1)!;
      }
      expect(seen.map((id) => instants[Number(id) - 1])).toEqual([...instants].sort().reverse());
      expect(new Set(seen).size).toBe(instants.length);
      const [max, min] = await Promise.all(
        (['Max', 'Min'] as const).map(
          async (operation) =>
            (await engine.aggregate(access, { collection: 'events', operation, field: 'at', limit: 1 })).rows[0],
        ),
      );
      expect([min, max]).toEqual([[instants[0]], [instants.at(-1)]]);
    });

    test('a written timestamp is stored as the local time of the source', async () => {
      const id = 500;
      const answer = await engine.create(access, {
        collection: 'events', records: [{ id, at: '2016-07-31T20:30:00Z', kept_utc: '2016-07-31T20:30:00Z' }],
      }); // biome-ignore format: short
      expect(answer.count).toBe(1);
      const text = { sqlite: 'at', mariadb: 'cast(at as char)', postgres: 'at::text' }[dialect];
      const raw = async () =>
        String((await askSql(database, `select ${text} as at from events where id = ${id}`))[0]!.at);
      expect((await raw()).slice(0, 19)).toBe('2016-07-31 16:30:00');
      const record = { collection: 'events', ids: [String(id)] };
      await engine.update(access, { ...record, values: { at: '2024-11-03T05:30:00Z' } });
      expect((await raw()).slice(0, 19)).toBe('2024-11-03 01:30:00');
      await expect(engine.update(access, { ...record, values: { at: '2024-11-03T06:30:00Z' } })).rejects.toThrow(
        /where this time occurs twice.*2024-11-03T05:30:00.000Z/,
      );
      await engine.delete(access, record);
    });

    test('a time that the clock skipped is returned as text, and sorted before the change', async () => {
      const request = { collection: 'skipped', fields: ['id', 'at'], sort: [{ field: 'at' }], limit: 1 };
      const seen: (readonly unknown[])[] = [];
      for (let cursor: string | undefined; ; ) {
        const answer = await engine.list(access, { ...request, ...(cursor && { cursor }) });
        seen.push(...answer.rows);
        if (!answer.hasMore) break;
        cursor = answer.cursorAfter(0)!;
      }
      expect(
        seen.map(([id, at]) => [
          id,
          String(at)
            .replace(/(?<= .*)\.0+$/, '')
            .slice(0, 23),
        ]),
      ).toEqual([
        [1, '2024-03-10T06:30:00.000'],
        [3, '2024-03-10 02:00:00'],
        [2, '2024-03-10 02:30:00'],
        [4, '2024-03-10T07:00:00.000'],
      ]);
      const before = { field: 'at', operator: 'LessThan', value: '2024-03-10T07:00:00Z' } as const;
      expect(await ids({ collection: 'skipped', filter: before, sort: [{ field: 'id' }] })).toEqual([1, 2, 3]);
    });

    test('the description shows the timezone of fields without zone, and an invalid setting is refused with what to send', async () => {
      const zones = (from: Engine) =>
        from.describe(access, 'events').fields.flatMap(({ name, timezone }) => (timezone ? [[name, timezone]] : []));
      expect(zones(engine)).toEqual([
        ['at', home],
        ['kept_utc', 'UTC'],
      ]);
      await expect(open(database.url, { timezone: 'New York' })).rejects.toThrow(
        "'timezone' must be the IANA name of a timezone, such as 'America/New_York' or 'UTC', got \"New York\"",
      );
      await expect(open(database.url, { columnTimezones: { 'events.att': home } })).rejects.toThrow(
        "'columnTimezones' names 'events.att', which is not a column of this database. Name table and column, such as events.at",
      );
      await expect(open(database.url, { columnTimezones: { 'events.id': home } })).rejects.toThrow(
        'has no timestamps without zone',
      );
      expect(() => open(database.url, { timeZone: home } as SqlDataSourceOptions)).toThrow(
        "has no option 'timeZone'. Near: timezone",
      );
    });
  });

describe('calendar dates', () => {
  const ordered = ['2016-06-30', '2016-07-01', '2016-07-15', '2016-07-31', '2016-08-01', '2016-08-02'];

  for (const server of servers)
    test(`${server.dialect}: the timezone of the reader does not shift them`, async () => {
      const database = await server.create();
      const type = server.dialect === 'sqlite' ? 'datetime' : 'date';
      await runSql(database, [
        `create table orders (id int primary key, ordered ${type})`,
        ...ordered.map((day, at) => `insert into orders values (${at + 1}, '${day}')`),
      ]);
      const engine = await open(database.url, { timezone: 'Asia/Tokyo' }, '2016-08-02T02:00:00Z');
      for (const timezone of readers) {
        const ids = async (request: Partial<ListRequest>) =>
          (
            await engine.list(access, {
              collection: 'orders',
              fields: ['id'],
              sort: [{ field: 'ordered' }],
              timezone,
              limit: 9,
              ...request,
            })
          ).rows.flat();
        const field = 'ordered';
        expect([
          await ids({ filter: { field, operator: 'Equal', value: '2016-08-01' } }),
          await ids({ filter: { field, operator: 'PreviousMonth' } }),
          await ids({ filter: { field, operator: 'Before', value: '2016-07-01' } }),
          await ids({ filter: { field, operator: 'After', value: '2016-07-31' } }),
          await ids({ search: 'ordered:2016-07' }),
          (await engine.list(access, { collection: 'orders', fields: [field], timezone, limit: 9 })).rows.flat(),
          (await engine.aggregate(access, {
            collection: 'orders', operation: 'Count', groups: [{ field, bucket: 'Month' }], order: 'groups', timezone, limit: 9,
          })).rows,
        ]).toEqual([
          [5], [2, 3, 4], [1], [5, 6], [2, 3, 4], ordered, [['2016-06-01', 1], ['2016-07-01', 3], ['2016-08-01', 2]],
        ]); // biome-ignore format: short
        // Today depends on the reader, and their day may not be that of UTC.
        const today = DateTime.fromISO('2016-08-02T02:00:00Z', { zone: timezone }).toISODate();
        expect(await ids({ filter: { field, operator: 'Today' } })).toEqual([ordered.indexOf(today!) + 1]);
      }
      await engine.close();
      await database.drop();
    });

  test('SQLite: a date that is stored with a time and an offset is the day that is written', async () => {
    const database = await servers[0]!.create();
    const texts = ['2025-03-30 00:00:00+02:00', '2025-03-30T23:30:00-05:00', '2025-03-31', '2025-03-30T00:00:00Z', '2025-03-29 12:00', 'soon'];
    await runSql(database, [
      'create table plans (id integer primary key, starts date)',
      ...texts.map((text, at) => `insert into plans values (${at + 1}, '${text}')`),
    ]);
    const engine = await open(database.url, { timezone: home });
    const on = '2025-03-30';
    for (const timezone of readers) {
      const ids = async (filter: ListRequest['filter']) =>
        (await engine.list(access, { collection: 'plans', fields: ['id'], filter: filter!, timezone, limit: 9 })).rows.flat();
      const field = 'starts';
      expect((await engine.list(access, { collection: 'plans', fields: [field], sort: [{ field: 'id' }], timezone, limit: 9 })).rows.flat()).toEqual([on, on, '2025-03-31', on, '2025-03-29', null]);
      expect([
        await ids({ field, operator: 'Equal', value: on }),
        await ids({ field, operator: 'GreaterThan', value: on }),
        await ids({ field, operator: 'LessThanOrEqual', value: on }),
        await ids({ field, operator: 'In', value: [on] }),
        await ids({ field, operator: 'Missing' }),
        (await engine.aggregate(access, { collection: 'plans', measures: { n: { count: true } }, groups: [field], sort: [{ group: 0 }], timezone, limit: 9 })).rows,
        (await engine.aggregate(access, { collection: 'plans', measures: { last: { max: field }, first: { min: field } }, groups: [], timezone, limit: 9 })).rows,
        (await engine.aggregate(access, { collection: 'plans', measures: { n: { count: true } }, groups: [{ field, part: 'Weekday' }], sort: [{ group: 0 }], timezone, limit: 9 })).rows,
      ]).toEqual([
        [1, 2, 4], [3], [1, 2, 4, 5], [1, 2, 4], [6],
        [[null, 1], ['2025-03-29', 1], [on, 3], ['2025-03-31', 1]], [['2025-03-31', '2025-03-29']],
        [[null, 1], [1, 1], [6, 1], [7, 3]],
      ]);
    }
    await engine.close();
    await database.drop();
  }); // biome-ignore format: short

  test('SQLite: values of several formats are read, texts without zone in the timezone of the source', async () => {
    const database = await servers[0]!.create();
    const texts = [
      "'2016-07-31 23:00:00'",
      "'2016-08-01T03:00:00Z'",
      "'2016-07-31T23:00:00-04:00'",
      '1470020400',
      "'2016-07-31'",
    ];
    await runSql(database, [
      'create table events (id integer primary key, at datetime)',
      ...texts.map((text, at) => `insert into events values (${at + 1}, ${text})`),
    ]);
    const engine = await open(database.url, { timezone: home });
    const { rows } = await engine.list(access, {
      collection: 'events',
      fields: ['at'],
      sort: [{ field: 'id' }],
      limit: 9,
    });
    const same = '2016-08-01T03:00:00.000Z';
    expect(rows.flat()).toEqual([same, same, same, same, '2016-07-31T04:00:00.000Z']);
    const filter = { field: 'at', operator: 'Equal', value: same } as const;
    expect(await engine.count(access, { collection: 'events', filter })).toBe(4);
    const days = {
      collection: 'events',
      operation: 'Count',
      groups: [{ field: 'at', bucket: 'Day' }],
      limit: 9,
    } as const;
    expect((await engine.aggregate(access, { ...days, timezone: home })).rows).toEqual([['2016-07-31', 5]]);
    await engine.close();
    await database.drop();
  });
});
