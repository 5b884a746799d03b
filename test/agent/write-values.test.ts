import { describe, expect, test } from 'vitest';
import { createEngine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers } from '../databases.ts';
import { connect } from './connection.ts';
import { accessOf } from './shop.ts';

type Column = readonly [type: string, given: unknown, stored: unknown];

const common: readonly Column[] = [
  ['bigint', '9223372036854775807', '9223372036854775807'],
  ['bigint', '-42', -42],
  ['double precision', 0.1, 0.1],
  ['date', '2024-02-29', '2024-02-29'],
  ['varchar(60)', 'O\'Brien "%_\\ ? $1 日本 😀', 'O\'Brien "%_\\ ? $1 日本 😀'],
  ['varchar(60)', 12, '12'],
  ['varchar(60)', null, null],
];

const columns: Record<Dialect, readonly Column[]> = {
  sqlite: [
    ...common,
    ['boolean', 'true', true],
    ['datetime', '2024-03-31T10:00:00.123Z', '2024-03-31T10:00:00.123Z'],
    ['json', { a: [1, null, 'x'] }, { a: [1, null, 'x'] }],
    ['json', 5, 5],
    ['blob', '00ff10', 'data:application/octet-stream;base64,AP8Q'],
    ['uuid', '9E7B1D2A-90C4-4F1E-8A3B-000000000003', '9e7b1d2a-90c4-4f1e-8a3b-000000000003'],
    ['time', '08:30', '08:30:00'],
  ],
  mariadb: [
    ...common,
    ['tinyint(1)', 'true', true],
    ['datetime(6)', '2024-03-31T10:00:00.123456Z', '2024-03-31T10:00:00.123456Z'],
    ['json', { a: [1, null, 'x'] }, { a: [1, null, 'x'] }],
    ['varbinary(9)', '00ff10', '00ff10'],
    ['decimal(30, 10)', '12345678901234567890.0123456789', '12345678901234567890.0123456789'],
    ["enum('a','b')", 'b', 'b'],
    ['uuid', '9E7B1D2A-90C4-4F1E-8A3B-000000000003', '9e7b1d2a-90c4-4f1e-8a3b-000000000003'],
    ['time', '08:30', '08:30:00'],
    ['point', [2.35, 48.85], [2.35, 48.85]],
    ['float', 0.1, 0.1],
    ['bit(1)', false, false],
  ],
  postgres: [
    ...common,
    ['boolean', 'true', true],
    ['timestamptz', '2024-03-31T12:00:00.123456+02:00', '2024-03-31T10:00:00.123456Z'],
    ['timestamp', '2024-03-31', '2024-03-31T00:00:00.000Z'],
    ['jsonb', { a: [1, null, 'x'] }, { a: [1, null, 'x'] }],
    ['json', 'text', 'text'],
    ['jsonb', [1, [2]], [1, [2]]],
    ['bytea', '00ff10', 'data:application/octet-stream;base64,AP8Q'],
    ['numeric(30, 10)', '12345678901234567890.0123456789', '12345678901234567890.0123456789'],
    ['mood', 'sad', 'sad'],
    ['mood[]', ['sad', null], ['sad', null]],
    ['text[]', ['a,b', '"q"', '\\', ''], ['a,b', '"q"', '\\', '']],
    ['int[]', [1, '2'], [1, 2]],
    ['timestamptz[]', ['2024-03-31T10:00:00Z'], ['2024-03-31T10:00:00.000Z']],
    ['uuid', '9E7B1D2A-90C4-4F1E-8A3B-000000000003', '9e7b1d2a-90c4-4f1e-8a3b-000000000003'],
    ['time', '08:30', '08:30:00'],
    ['point', [2.35, 48.85], [2.35, 48.85]],
    ['inet', '10.0.0.1', '10.0.0.1'],
  ],
};

const kinds = servers.flatMap((server) =>
  (server.dialect === 'sqlite' ? (['auto', 'wasm'] as const) : (['auto'] as const)).map((sqlite) => ({
    server,
    name: `${server.dialect}, ${sqlite}`,
    sqlite,
  })),
);

describe.each(kinds)('$name', ({ server, sqlite }) => {
  const list = columns[server.dialect];

  test('values of every type are created, updated and read unchanged', async () => {
    const database = await server.create();
    const connection = await connect(database);
    if (server.dialect === 'postgres') await connection.run("create type mood as enum ('glad', 'sad')", []);
    await connection.run(
      `create table cells (id int not null primary key, ${list.map(([type], at) => `c${at} ${type} null`).join(', ')})`,
      [],
    );
    await connection.end();
    const source = createSqlSource(database.url, { clock: systemClock, observe: () => {}, sqlite });
    const limits = { pageSizeLimit: 10, queryTimeoutMs: 10_000 };
    const engine = await createEngine({ sources: [source], observe: () => {}, clock: systemClock, limits });
    const access = accessOf();
    const collection = 'cells';
    const given = Object.fromEntries(list.map(([, value], at) => [`c${at}`, value]));
    const stored = (id: number) => ({ id, ...Object.fromEntries(list.map(([, , value], at) => [`c${at}`, value])) });
    try {
      const created = await engine.create(access, { collection, records: [{ id: 1, ...given }, { id: 2 }] });
      const updated = await engine.update(access, { collection, ids: [2], values: given });
      const answer = await engine.list(access, { collection, limit: 9 });
      expect({ ...created.records[0] }).toEqual(stored(1));
      expect({ ...updated.records[0] }).toEqual(stored(2));
      expect(answer.records().map((record) => ({ ...record }))).toEqual([stored(1), stored(2)]);
    } finally {
      await engine.close();
      await database.drop();
    }
  });
});
