// A schema of many tables is read with few statements.
import { expect, onTestFinished, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { servers } from '../databases.ts';
import { runSql } from './schemas.ts';

test.each([...servers])(
  '$dialect: 300 tables take at most 8 statements',
  async (server) => {
    // On MariaDB most tables are in memory, since creating 300 files takes ten seconds.
    const light = (at: number) => (server.dialect === 'mariadb' && at >= 3 ? 'engine = memory' : '');
    const tables = Array.from({ length: 300 }, (_, at) =>
      [
        `create table wide_${at} (id integer not null primary key, title varchar(50), amount decimal(10, 2), made timestamp${server.dialect === 'mariadb' ? ' null' : ''}, on_day date, before_id integer`,
        at > 0 && at < 3 ? `, foreign key (before_id) references wide_${at - 1} (id))` : `) ${light(at)}`,
      ].join(''),
    );
    const database = await server.create();
    await runSql(database, tables);
    const observed: Observation[] = [];
    const source = createSqlSource(database.url, { observe: (one) => observed.push(one), clock: systemClock });
    onTestFinished(async () => {
      await source.close();
      await database.drop();
    });
    const described = await source.describe();
    const [read] = observed.filter((one) => one.type === 'source.introspected');
    expect({
      tables: described.tables.length,
      foreignKeys: described.tables.flatMap((table) => table.foreignKeys).length,
    }).toEqual({ tables: 300, foreignKeys: 2 });
    expect(read?.statements).toBeLessThanOrEqual(8);
  },
  60_000,
);
