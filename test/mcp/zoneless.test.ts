// Timestamps without time zone over HTTP, on every database.
import { describe, expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { answerOf, legacy, openMcpServer, post } from './mcp-server.ts';

const home = 'America/New_York';

describe.each(servers)('$dialect', ({ dialect, create }) => {
  test('the description names the timezone, and list, aggregate and update apply it', async () => {
    const database = await create();
    const local = dialect === 'postgres' ? 'timestamp' : 'datetime';
    await runSql(database, [
      `create table orders (id int primary key, placed ${local}, noted ${local})`,
      "insert into orders values (1, '2016-06-30 23:59:59', '2016-07-01 00:00:00'), (2, '2016-07-01 00:00:00', '2016-07-01 00:00:00')",
      "insert into orders values (3, '2016-07-31 23:59:59', '2016-07-01 00:00:00'), (4, '2016-08-01 00:00:00', '2016-07-01 00:00:00')",
    ]);
    const source = createSqlSource(database.url, {
      observe: () => {},
      clock: systemClock,
      timezone: home,
      columnTimezones: { 'orders.noted': 'UTC' },
    });
    const server = await openMcpServer({ source });
    const ask = async (name: string, given: object) =>
      answerOf(
        (await post(server, legacy('tools/call', { name, arguments: { collectionName: 'orders', ...given } }))).body,
      ) as Record<string, unknown>;
    const concise = await ask('describeCollection', {});
    const full = await ask('describeCollection', { detail: 'full' });
    expect([concise.zoneless, full.zoneless]).toEqual([{ [home]: ['placed'] }, { [home]: ['placed'], UTC: ['noted'] }]);
    const conditions = [
      { field: 'placed', operator: 'GreaterThanOrEqual', value: '2016-07-01' },
      { field: 'placed', operator: 'LessThan', value: '2016-08-01' },
    ];
    const july = { filters: { aggregator: 'And', conditions }, timezone: home };
    expect((await ask('list', { ...july, fields: ['id', 'placed'] })).rows).toEqual([
      [2, '2016-07-01T04:00:00.000Z'],
      [3, '2016-08-01T03:59:59.000Z'],
    ]);
    const months = {
      operation: 'count',
      groups: [{ field: 'placed', bucket: 'Month' }],
      order: 'groups',
      timezone: home,
    };
    expect((await ask('aggregate', months)).rows).toEqual([
      ['2016-06-01', 1],
      ['2016-07-01', 2],
      ['2016-08-01', 1],
    ]);
    await ask('update', { recordId: 1, attributes: { placed: '2016-07-04T16:00:00Z', noted: '2016-07-04T16:00:00Z' } });
    const text = {
      sqlite: (of: string) => of,
      mariadb: (of: string) => `cast(${of} as char)`,
      postgres: (of: string) => `${of}::text`,
    };
    const [row] = await askSql(
      database,
      `select ${text[dialect]('placed')} as placed, ${text[dialect]('noted')} as noted from orders where id = 1`,
    );
    expect([row!.placed, row!.noted]).toEqual(['2016-07-04 12:00:00', '2016-07-04 16:00:00']);
    await server.close();
    await database.drop();
  });

  test('a calendar date is the same day in every timezone, in lists, filters, groups and writes', async () => {
    const database = await create();
    const now = Date.parse('2016-08-01T12:00:00Z');
    const clock = { ...systemClock, now: () => now };
    const days = ['2016-07-31', '2016-08-01', '2016-08-02', '2016-12-31'];
    await runSql(database, [
      'create table bills (id int primary key, due date)',
      ...days.map((day, at) => `insert into bills values (${at + 1}, '${day}')`),
    ]);
    const server = await openMcpServer({
      source: createSqlSource(database.url, { observe: () => {}, clock, timezone: home }),
      clock,
    });
    const ask = async (name: string, given: object) =>
      answerOf(
        (await post(server, legacy('tools/call', { name, arguments: { collectionName: 'bills', ...given } }))).body,
      ) as { rows: unknown[][] };
    // It is already 2 August in the first zone and still 1 August in the last.
    for (const [timezone, today] of [
      ['Pacific/Kiritimati', 3],
      ['UTC', 2],
      ['Pacific/Pago_Pago', 2],
    ] as const) {
      const ids = async (operator: string, value?: unknown) => {
        const filters = { field: 'due', operator, ...(value !== undefined && { value }) };
        return (await ask('list', { fields: ['id'], filters, timezone })).rows.flat();
      };
      const groups = async (bucket: string) =>
        (await ask('aggregate', { operation: 'count', groups: [{ field: 'due', bucket }], order: 'groups', timezone }))
          .rows;
      expect([
        timezone,
        (await ask('list', { fields: ['due'], timezone })).rows.flat(),
        [
          await ids('Equal', '2016-08-01'),
          await ids('Equal', '2016-08-01T00:00:00Z'),
          await ids('Before', '2016-08-01'),
        ],
        [await ids('Today'), await ids('Yesterday'), await ids('PreviousXDays', 1)],
        [await groups('Day'), await groups('Month'), await groups('Year')],
      ]).toEqual([
        timezone,
        days,
        [[2], [2], [1]],
        [[today], [today - 1], [today - 1]],
        [
          days.map((day) => [day, 1]),
          [
            ['2016-07-01', 1],
            ['2016-08-01', 2],
            ['2016-12-01', 1],
          ],
          [['2016-01-01', 4]],
        ],
      ]);
      await ask('update', { recordId: 4, attributes: { due: '2016-12-31' }, timezone });
    }
    await ask('create', { attributes: { id: 5, due: '2017-01-01T00:00:00Z' }, timezone: 'America/New_York' }).catch(
      () => undefined,
    );
    expect((await ask('list', { fields: ['due'] })).rows.flat().slice(0, 4)).toEqual(days);
    await server.close();
    await database.drop();
  });
});
