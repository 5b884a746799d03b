// A schema of many tables is read quickly, with few statements.
import { expect, onTestFinished, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { servers } from '../databases.ts';
import { runSql } from './schemas.ts';

test.each([...servers])(
  '$dialect: 300 tables take at most 8 statements, and less than 300 ms on SQLite',
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
    // Other load on the machine only makes it slower, so the fastest of several runs counts.
    for (let again = 0; again < 5; again++) await source.describe();
    const all = observed.filter((one) => one.type === 'source.introspected');
    const best = all.reduce((a, b) => (b.milliseconds < a.milliseconds ? b : a));
    console.info(`${server.dialect}: 300 tables in ${best.milliseconds.toFixed(0)} ms, ${best.statements} statements`);
    expect({
      tables: described.tables.length,
      foreignKeys: described.tables.flatMap((table) => table.foreignKeys).length,
      few: best.statements <= 8,
      // The time of a database server is out of our control; SQLite runs in the process.
      soon: server.dialect !== 'sqlite' || best.milliseconds < 300,
    }).toEqual({ tables: 300, foreignKeys: 2, few: true, soon: true });
  },
  60_000,
);
