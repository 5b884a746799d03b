// Timestamps without time zone outside the tools: lists and files of the HTTP API, charts and workflows. For a reader
// in the source's timezone, days equal those in the database, so plain SQL over its texts gives the expected results.
// luxon converts the cells back to those texts.
import { DateTime } from 'luxon';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HeadlessAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers } from '../databases.ts';
import { sessionToken } from '../rest/front-end.ts';
import { askSql } from '../sql/schemas.ts';
import { type Http, openHttp } from './callers.ts';
import { type Music, openTables } from './music.ts';

const home = 'America/New_York';
/** Shortly before midnight the clock is set to the next day, so the day does not end during the tests. */
const late = DateTime.now().setZone(home).hour === 23 ? 3_600_000 : 0;
const clock = { ...systemClock, now: () => systemClock.now() + late };
const now = DateTime.fromMillis(clock.now()).setZone(home);
const [today, yesterday] = [now, now.minus({ days: 1 })].map((each) => each.toFormat('yyyy-MM-dd'));
/** The local clock showed 2024-11-03 01:30 twice, and never 2024-03-10 02:30. */
const locals = [
  ...[
    '2016-07-31 23:59:59',
    '2016-08-01 00:00:00',
    '2016-08-01 19:59:59',
    '2016-08-01 20:00:00',
    '2016-08-01 23:59:59',
  ],
  ...[
    '2016-08-02 00:00:00',
    '2024-03-09 23:30:00',
    '2024-03-10 00:00:00',
    '2024-03-10 01:59:59',
    '2024-03-10 02:30:00',
  ],
  ...[
    '2024-03-10 03:00:00',
    '2024-03-10 23:59:59',
    '2024-03-11 00:00:00',
    '2024-11-02 23:59:59',
    '2024-11-03 00:00:00',
  ],
  ...[
    '2024-11-03 01:30:00',
    '2024-11-03 23:30:00',
    '2024-11-04 00:00:00',
    '2024-12-31 19:00:00',
    '2024-12-31 23:59:59',
  ],
  ...['2025-01-01 00:00:00', `${yesterday} 00:00:00`, `${yesterday} 23:59:59`, `${today} 00:00:00`],
];
const skipped = '2024-03-10 02:30:00';
const days = [...new Set(locals.map((each) => each.slice(0, 10)))];
const dayAfter = (day: string): string => DateTime.fromISO(day, { zone: 'utc' }).plus({ days: 1 }).toISODate()!;

const textOf: Record<Dialect, (column: string) => string> = {
  sqlite: (column) => column,
  mariadb: (column) => `date_format(${column}, '%Y-%m-%d %H:%i:%s')`,
  postgres: (column) => `to_char(${column}, 'YYYY-MM-DD HH24:MI:SS')`,
};

/** The local time in the source's timezone. A time that never existed is returned as text. */
const shownAt = (cell: unknown): string =>
  String(cell).includes('T')
    ? DateTime.fromISO(String(cell)).setZone(home).toFormat('yyyy-MM-dd HH:mm:ss')
    : String(cell).slice(0, 19);

const customize = (agent: HeadlessAgent): void => {
  agent.addChart('listed', async ({ collection }, resultBuilder) => {
    const rows = await collection('events').list({}, ['at']);
    const values = rows.map(({ at }) => ({ date: String(at), value: 1 }));
    return resultBuilder.timeBased('Day', values);
  });
  agent.addChart('grouped', async ({ collection }, resultBuilder) => {
    const groups = await collection('events').aggregate(
      {},
      { operation: 'Count', groups: [{ field: 'at', bucket: 'Day' }] },
    );
    const values = groups.map(({ group, value }) => ({ date: String(group.at), value: Number(value) }));
    return resultBuilder.timeBased('Day', values);
  });
  const when = {
    'of the day': {
      aggregator: 'And',
      conditions: [
        { field: 'at', operator: 'GreaterThanOrEqual', value: '2016-08-01' },
        { field: 'at', operator: 'LessThan', value: '2016-08-02' },
      ],
    },
    yesterday: { field: 'at', operator: 'Yesterday' },
    'after a moment': { field: 'at', operator: 'After', value: '2024-11-03T05:30:00Z' },
  } as const;
  for (const [name, each] of Object.entries(when))
    agent.addWorkflow({
      ...{ name, collection: 'events' },
      steps: [
        {
          id: 'which',
          type: 'condition',
          options: [
            { id: 'yes', when: each, next: 'look' },
            { id: 'no', next: null },
          ],
        },
        { id: 'look', type: 'read-record', fields: ['at'], next: 'copy' },
        { id: 'copy', type: 'update-record', mode: 'automatic', values: { copied: '{{steps.look.at}}' } },
      ],
    });
};

describe.each(servers)('$dialect', (maker) => {
  const { dialect } = maker;
  const ends: (() => Promise<void>)[] = [];
  let music: Music;
  let http: Http;
  let csv: (path: string) => Promise<string[][]>;

  beforeAll(async () => {
    const type = dialect === 'postgres' ? 'timestamp' : 'datetime';
    const tables = [
      `CREATE TABLE events (id INTEGER PRIMARY KEY, at ${type}, copied ${type})`,
      ...locals.map((text, at) => `INSERT INTO events VALUES (${at + 1}, '${text}', '2000-01-01 00:00:00')`),
    ];
    const env = { SERVICE_DATABASE_TIMEZONE: home };
    music = await openTables(maker, tables, customize, (end) => ends.unshift(end), { env, app: { clock } });
    const { id } = (await music.store.identity.findUserByEmail(music.clerk.email))!;
    await music.store.identity.setProfile(id, { firstName: 'Kim', lastName: 'Doe', timezone: home });
    http = await openHttp(music);
    const token = await sessionToken(music.apiUrl, music.clerk);
    csv = async (path) => {
      const response = await fetch(music.apiUrl + path, { headers: { authorization: `Bearer ${token}` } });
      const text = (await response.text()).replace('\uFEFF', '');
      expect(response.status, text).toBe(200);
      return text
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(','));
    };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const sqlIds = async (where: string): Promise<number[]> =>
    (await askSql(music.database, `SELECT id FROM events WHERE ${where} ORDER BY id`)).map(({ id }) => Number(id));
  const inHttp = async (filter: object, more = ''): Promise<number[]> => {
    const query = `filters=${encodeURIComponent(JSON.stringify(filter))}&sort=id&page[size]=100${more}`;
    const { status, body } = await http.ask('GET', `/events?${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return (body as { data: { id: string }[] }).data.map(({ id }) => Number(id));
  };
  const within = (day: string) => ({
    aggregator: 'And',
    conditions: [
      { field: 'at', operator: 'GreaterThanOrEqual', value: day },
      { field: 'at', operator: 'LessThan', value: dayAfter(day) },
    ],
  });

  test('the list and the file show the times of the database', async () => {
    const { body } = await http.ask('GET', '/events?sort=id&page[size]=100');
    const listed = (body as { data: { attributes: { at: string } }[] }).data.map(({ attributes }) => attributes.at);
    expect(listed.map(shownAt)).toEqual(locals);
    const file = await csv('/events.csv?sort=id&fields[events]=id,at');
    expect(file.map(([, at]) => at)).toEqual(listed);
  });

  test('the list and the file are sorted by the local time of the database', async () => {
    const expected = (await askSql(music.database, 'SELECT id FROM events ORDER BY at DESC, id DESC')).map(
      ({ id }) => id,
    );
    const { body } = await http.ask('GET', '/events?sort=-at,-id&page[size]=100');
    expect((body as { data: { id: string }[] }).data.map(({ id }) => Number(id))).toEqual(expected);
    expect((await csv('/events.csv?sort=-at,-id&fields[events]=id')).map(([id]) => Number(id))).toEqual(expected);
  });

  test('filters and searches by day find the rows of that day in the database', async () => {
    for (const day of days) {
      const expected = await sqlIds(`at >= '${day} 00:00:00' AND at < '${dayAfter(day)} 00:00:00'`);
      expect([day, await inHttp(within(day))]).toEqual([day, expected]);
      expect([day, await inHttp(within(day), `&timezone=${home}`)]).toEqual([day, expected]);
      const filters = encodeURIComponent(JSON.stringify(within(day)));
      const file = await csv(`/events.csv?filters=${filters}&sort=id&fields[events]=id`);
      expect([day, file.map(([id]) => Number(id))]).toEqual([day, expected]);
      const found = await http.ask('GET', `/events?search=${encodeURIComponent(`at:${day}`)}&sort=id&page[size]=100`);
      expect([day, (found.body as { data: { id: string }[] }).data.map(({ id }) => Number(id))]).toEqual([
        day,
        expected,
      ]);
    }
    for (const [operator, day] of [
      ['Today', today],
      ['Yesterday', yesterday],
    ] as const)
      expect([operator, await inHttp({ field: 'at', operator })]).toEqual([
        operator,
        await sqlIds(`at >= '${day} 00:00:00' AND at <= '${day} 23:59:59'`),
      ]);
  });

  test('a time that the clock skipped is refused as a filter value, with what to send instead', async () => {
    for (const operator of ['Equal', 'LessThan']) {
      const filters = encodeURIComponent(JSON.stringify({ field: 'at', operator, value: skipped }));
      const { status, body } = await http.ask('GET', `/events?filters=${filters}`);
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('2024-03-10T07:30:00.000Z')]);
    }
    expect(await inHttp({ field: 'at', operator: 'Equal', value: '2024-03-10T07:30:00.000Z' })).toEqual([]);
  });

  test('a reader in another timezone has days of that timezone', async () => {
    const timezone = 'Asia/Tokyo';
    const ofDay = (day: string) =>
      locals.flatMap((text, at) => {
        const local = DateTime.fromSQL(text, { zone: home });
        return local.setZone(timezone).toISODate() === day && text !== skipped ? [at + 1] : [];
      });
    for (const day of ['2016-08-01', '2016-08-02', '2024-11-03', '2024-11-04', '2025-01-01'])
      expect([day, await inHttp(within(day), `&timezone=${timezone}`)]).toEqual([day, ofDay(day)]);
  });

  test('charts by day, week, month and year have the counts of the database', async () => {
    const local = textOf[dialect]('at');
    const counted = await askSql(
      music.database,
      `SELECT substr(${local}, 1, 10) AS day, count(*) AS n FROM events GROUP BY substr(${local}, 1, 10) ORDER BY 1`,
    );
    const formats = { Day: 'dd/MM/yyyy', Week: "'W'W-kkkk", Month: 'MMM yy', Year: 'yyyy' } as const;
    for (const [timeRange, format] of Object.entries(formats)) {
      const expected = new Map<string, number>();
      for (const { day, n } of counted) {
        const label = DateTime.fromISO(String(day)).toFormat(format);
        expected.set(label, (expected.get(label) ?? 0) + Number(n));
      }
      const { status, body } = await http.ask('POST', '/stats/events', {
        ...{ type: 'Line', aggregator: 'Count', groupByFieldName: 'at', timeRange, timezone: home },
      });
      expect(status, JSON.stringify(body)).toBe(200);
      expect([timeRange, pointsOf(body)]).toEqual([timeRange, [...expected]]);
    }
    const daily = counted.map(({ day, n }) => [DateTime.fromISO(String(day)).toFormat('dd/MM/yyyy'), Number(n)]);
    for (const name of ['grouped', 'listed']) {
      const { status, body } = await http.ask('POST', `/_charts/${name}`, {});
      expect(status, JSON.stringify(body)).toBe(200);
      expect([name, pointsOf(body)]).toEqual([name, daily]);
    }
  });

  test('a value chart compares with the previous period', async () => {
    const filter = { field: 'at', operator: 'Today' };
    const { body } = await http.ask('POST', '/stats/events', { type: 'Value', aggregator: 'Count', filter });
    expect((body as { data: { attributes: { value: object } } }).data.attributes.value).toEqual({
      countCurrent: 1,
      countPrevious: 2,
    });
  });

  test('conditions of workflows match the records that SQL finds, and a step writes the local time', async () => {
    const { rows } = (await music.call('listWorkflows', {})) as { readonly rows: readonly (readonly string[])[] };
    const expected: Readonly<Record<string, string>> = {
      'of the day': "at >= '2016-08-01 00:00:00' AND at < '2016-08-02 00:00:00'",
      yesterday: `at >= '${yesterday} 00:00:00' AND at <= '${yesterday} 23:59:59'`,
      // The first of the two 01:30.
      'after a moment': "at > '2024-11-03 01:30:00'",
    };
    for (const [name, where] of Object.entries(expected)) {
      await music.run("UPDATE events SET copied = '2000-01-01 00:00:00'");
      const workflowId = rows.find((row) => row.includes(name))![0]!;
      const taken: number[] = [];
      for (const id of [1, 2, 5, 6, 10, 15, 16, 17, 22, 23, 24]) {
        const started = await music.call('triggerWorkflow', { workflowId, recordId: String(id) });
        const { runId } = started as { readonly runId: string };
        const last = () => music.call('getWorkflowRun', { runId }) as Promise<{ state: string; rows: unknown[] }>;
        await expect.poll(last, { timeout: 20_000 }).toMatchObject({ state: 'succeeded' });
        if ((await last()).rows.length > 1) taken.push(id);
      }
      const found = (await sqlIds(where)).filter((id) => [1, 2, 5, 6, 10, 15, 16, 17, 22, 23, 24].includes(id));
      expect([name, taken]).toEqual([name, found]);
      expect([name, await sqlIds('copied = at')]).toEqual([name, found]);
    }
  });

  test('a time that is read over the HTTP API is written back unchanged', async () => {
    for (const id of [1, 2, 10, 16, 17, 20]) {
      const { body } = await http.ask('GET', `/events/${id}`);
      const { at } = (body as { data: { attributes: { at: string } } }).data.attributes;
      const data = { type: 'events', id: String(id), attributes: { copied: at } };
      const written = await http.ask('PUT', `/events/${id}`, { data });
      if (locals[id - 1] === skipped) {
        // This time does not exist in the reader's timezone.
        expect([id, written.status, JSON.stringify(written.body)]).toEqual([
          id,
          400,
          expect.stringContaining('copied'),
        ]);
        continue;
      }
      const [row] = await askSql(
        music.database,
        `SELECT ${textOf[dialect]('copied')} AS copied FROM events WHERE id = ${id}`,
      );
      expect([id, String(row!.copied).slice(0, 19)]).toEqual([id, locals[id - 1]]);
    }
  });
});

/** Periods without records are zero in a chart and absent in SQL. */
function pointsOf(body: unknown): [string, number][] {
  const { value } = (body as { data: { attributes: { value: { label: string; values: { value: unknown } }[] } } }).data
    .attributes;
  return value.flatMap(({ label, values }) => (Number(values.value) === 0 ? [] : [[label, Number(values.value)]]));
}
