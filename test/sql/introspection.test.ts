import { describe, expect, onTestFinished, test } from 'vitest';
import type { Described } from '../../src/agent/sources/described.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import type { Row } from '../../src/agent/sources/statement.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Operator } from '../../src/core/filter.ts';
import type { Observation } from '../../src/core/observe.ts';
import { type Dialect, servers, type TestDatabase, type TestServer } from '../databases.ts';
import { readTables } from './collections.ts';
import { nastySchema, quotedColumn, runSql, spaceTable, typeSchemas, unicodeTable } from './schemas.ts';

async function open(
  server: TestServer,
  statements: readonly string[],
): Promise<{ source: Source; described: Described; observed: Observation[]; database: TestDatabase }> {
  const database = await server.create();
  await runSql(database, statements);
  const observed: Observation[] = [];
  const source = createSqlSource(database.url, { observe: (one) => observed.push(one), clock: systemClock });
  onTestFinished(async () => {
    await source.close();
    await database.drop();
  });
  return { source, described: await source.describe(), observed, database };
}

/** Everything except database-specific details. */
function outline({ tables }: Described) {
  return Object.fromEntries(
    tables.map(({ name, kind, columns, primaryKey, uniqueKeys, foreignKeys }) => [
      name,
      {
        kind,
        columns: columns.map((column) => `${column.name} ${column.type}${column.nullable ? '?' : ''}`),
        primaryKey,
        uniqueKeys,
        foreignKeys: foreignKeys?.map(({ isValidated: _, ...foreignKey }) => foreignKey),
      },
    ]),
  );
}

describe.each([...servers])('$dialect', (server) => {
  test('a realistic schema is described correctly, with its keys and unusual names', async () => {
    const { described } = await open(server, nastySchema(server.dialect));
    const keys = described.tables.flatMap(({ foreignKeys = [] }) => foreignKeys);
    expect(keys.every(({ isValidated }) => isValidated === (server.dialect === 'postgres' || undefined))).toBe(true);
    expect({ outline: outline(described), skipped: described.skipped }).toEqual({
      outline: {
        places: {
          kind: 'table',
          columns: [
            'id Number',
            'name String?',
            'parent_id Number?',
            'is_open Boolean?',
            'rating Number?',
            'opened_at Date?',
            'code String?',
          ],
          primaryKey: ['id'],
          uniqueKeys: [['code']],
          foreignKeys: [{ columns: ['parent_id'], table: 'places', targetColumns: ['id'] }],
        },
        visits: {
          kind: 'table',
          columns: ['place_id Number', 'day Dateonly', 'guests Number', 'note String?'],
          primaryKey: ['place_id', 'day'],
          uniqueKeys: [],
          foreignKeys: [{ columns: ['place_id'], table: 'places', targetColumns: ['id'] }],
        },
        [spaceTable]: {
          kind: 'table',
          columns: ['line Number', 'visit_place Number?', 'visit_day Dateonly?', `${quotedColumn} String?`],
          primaryKey: ['line'],
          uniqueKeys: [],
          foreignKeys: [{ columns: ['visit_place', 'visit_day'], table: 'visits', targetColumns: ['place_id', 'day'] }],
        },
        [unicodeTable]: {
          kind: 'table',
          columns: ['Nummer.1 Number', 'höhe Number?', 'wie? String?'],
          primaryKey: ['Nummer.1'],
          uniqueKeys: [],
          foreignKeys: [],
        },
        journal: {
          kind: 'table',
          columns: ['at Date?', 'line String?'],
          primaryKey: [],
          uniqueKeys: [],
          foreignKeys: [],
        },
        open_places: {
          kind: 'view',
          columns: [`id Number${server.dialect === 'mariadb' ? '' : '?'}`, 'name String?', 'rating Number?'],
          primaryKey: [],
          uniqueKeys: [],
          foreignKeys: [],
        },
      },
      skipped: [],
    });
  });

  test('values of every type have their canonical form, and NULL is null', async () => {
    const { source, described } = await open(server, typeSchemas[server.dialect]);
    const tables = readTables(source, described);
    const [kinds] = described.tables;
    const names = kinds!.columns.map((column) => column.name);
    const rows = await source.read(
      {
        table: 'kinds',
        columns: names.map((name) => tables.path('kinds', name)),
        joins: [],
        where: { op: 'always' },
        order: [{ path: tables.path('kinds', 'id'), ascending: true }],
      },
      { timeoutMs: 5000 },
    );
    const shown = Object.fromEntries(
      kinds!.columns.map((column, at) => [column.name, [String(column.type), rows[0]![at]]]),
    );
    const filled = ['id', 'sum_', 'total'];
    expect({
      shown,
      nulls: names.filter((name, at) => !filled.includes(name) && (rows[1] as Row)[at] !== null),
      skipped: described.skipped,
    }).toEqual({ shown: canonical[server.dialect], nulls: [], skipped: left[server.dialect] });
  });

  test('every value that was read is found again by each operator', async () => {
    const { source, described } = await open(server, typeSchemas[server.dialect]);
    const tables = readTables(source, described);
    const id = tables.path('kinds', 'id');
    const found: Record<string, unknown> = {};
    for (const column of described.tables[0]!.columns.filter(({ operators }) => operators.has('Equal'))) {
      const path = tables.path('kinds', column.name);
      const read = (is: Operator, value: unknown) =>
        source.read(
          {
            table: 'kinds',
            columns: [id],
            joins: [],
            where: tables.test('kinds', column.name, is, value),
            order: column.sortable ? [{ path, ascending: true }] : [],
          },
          { timeoutMs: 5000 },
        );
      const [[value]] = (await source.read(
        { table: 'kinds', columns: [path], joins: [], where: tables.test('kinds', 'id', 'Equal', 1), order: [] },
        { timeoutMs: 5000 },
      )) as [[unknown]];
      const ordered = column.operators.has('GreaterThan');
      found[column.name] = [
        await read('Equal', value),
        column.operators.has('In') ? await read('In', [value, value]) : [[1]],
        ordered ? await read('GreaterThanOrEqual', value) : [[1]],
        ordered && column.name !== 'id' ? await read('GreaterThan', value) : [],
        column.operators.has('IContains') ? await read('IContains', String(value).toUpperCase()) : [[1]],
        column.operators.has('Like') ? await read('Like', `${value}%`) : [[1]],
        column.operators.has('LongerThan') ? await read('LongerThan', String(value).length - 1) : [[1]],
      ].map((list) => list.length);
    }
    const all = Object.fromEntries(Object.keys(found).map((name) => [name, [1, 1, 1, 0, 1, 1, 1]]));
    // Both rows have the same value in generated columns. The first of two ids is the lowest.
    for (const name of ['sum_', 'total']) if (name in all) all[name] = [2, 2, 2, 0, 1, 1, 1];
    expect(found).toEqual({ ...all, id: [1, 1, 2, 0, 1, 1, 1] });
  });
});

const buffer = Buffer.from([0, 255]);
const uuid = 'd9428888-122b-11e1-b85c-61cd3cbb3210';
const canonical: Record<Dialect, Record<string, readonly [string, unknown]>> = {
  sqlite: {
    id: ['Number', 1],
    big: ['Number', '9007199254740993'],
    dec: ['Number', 1234.5],
    dbl: ['Number', 0.1],
    flag: ['Boolean', true],
    txt: ['String', "a'b"],
    ci: ['String', 'Ab'],
    bin: ['Binary', buffer],
    day: ['Dateonly', '2024-02-29'],
    moment: ['Date', '2024-02-29T12:00:00.500Z'],
    clock: ['Time', '12:30:00'],
    epoch: ['Date', '2024-02-29T12:00:00.000Z'],
    doc: ['Json', { a: [1] }],
    uid: ['Uuid', uuid],
    loose: ['Number', 7],
  },
  mariadb: {
    id: ['Number', 1],
    big: ['Number', '18446744073709551615'],
    dec_: ['Number', '12345678901234567890.12'],
    flt: ['Number', 0.1],
    dbl: ['Number', 0.1],
    flag: ['Boolean', true],
    bits: ['Boolean', true],
    txt: ['String', "a'b"],
    ci: ['String', 'Ab'],
    latin: ['String', 'é'],
    bin: ['Binary', buffer],
    day: ['Dateonly', '2024-02-29'],
    moment: ['Date', '2024-02-29T12:00:00.123456Z'],
    stamp: ['Date', '2024-02-29T12:00:00.000Z'],
    clock: ['Time', '12:30:00.500000'],
    yr: ['Number', 2024],
    doc: ['Json', { a: [1] }],
    uid: ['Uuid', uuid],
    pick: ['Enum', "it's"],
    many: ['Enum', ['x', 'y']],
    spot: ['Point', [1, 2.5]],
    sum_: ['Number', 2],
    area: ['String', 'POLYGON((0 0,1 0,1 1,0 0))'],
  },
  postgres: {
    id: ['Number', 1],
    small: ['Number', -1],
    big: ['Number', '9007199254740993'],
    dec: ['Number', '12345678901234567890.12'],
    flt: ['Number', 0.1],
    dbl: ['Number', 0.1],
    flag: ['Boolean', true],
    txt: ['String', "a'b"],
    fixed: ['String', 'ab'],
    bin: ['Binary', buffer],
    day: ['Dateonly', '2024-02-29'],
    moment: ['Date', '2024-02-29T12:00:00.123456Z'],
    local: ['Date', '2024-02-29T12:00:00.000Z'],
    clock: ['Time', '12:30:00.500000'],
    doc: ['Json', { a: [1] }],
    uid: ['Uuid', uuid],
    pick: ['Enum', "it's"],
    spot: ['Point', [1, 2.5]],
    tags: ['String', ['a"b', null, 'c,d']],
    numbers: ['Number', [1, 2]],
    price: ['Number', 1.5],
    span: ['String', '1 day'],
    ip: ['String', '10.0.0.1'],
    dom: ['Number', 5],
    total: ['Number', 2],
  },
};
const left: Record<Dialect, Described['skipped']> = {
  sqlite: [],
  mariadb: [],
  postgres: [],
};
