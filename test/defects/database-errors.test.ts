// Real errors of databases: each answer has a code of the error table and says what to do. It contains no value, no SQL
// and no text of the database. Errors that only the operator can fix are logged with their cause.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { AppError } from '../../src/core/errors.ts';
import { createEngineAgent, type Observation } from '../../src/entries/engine.ts';
import { createSqlDataSource, type Engine } from '../../src/index.ts';
import { connect } from '../agent/connection.ts';
import { accessOf } from '../agent/shop.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql, sqliteIsolates } from '../sql/schemas.ts';

const SECRET = 'S3CRET';
const all = accessOf();
const limits = { pageSizeLimit: 5000, queryTimeoutMs: 20_000 };

interface Place {
  readonly database: TestDatabase;
  readonly engine: Engine;
  /** The engine as a database user with few rights; absent on SQLite. */
  readonly weak: Engine | undefined;
  run(...statements: string[]): Promise<void>;
}

interface Case {
  readonly title: string;
  readonly on: Partial<Record<Dialect, readonly string[]>>;
  act(place: Place): Promise<unknown>;
  readonly code: string;
  readonly says: RegExp;
  readonly logged?: boolean;
}

const create = (collection: string, values: object) => (place: Place) =>
  place.engine.create(all, { collection, records: [{ ...values }] });
const update =
  (collection: string, values: Record<string, unknown>, ids: string[] = ['1']) =>
  (place: Place) =>
    place.engine.update(all, { collection, ids, values });
const remove =
  (collection: string, ids: string[] = ['1']) =>
  (place: Place) =>
    place.engine.delete(all, { collection, ids });
const list = (collection: string) => (place: Place) => place.engine.list(all, { collection, limit: 10 });
const count = (collection: string) => (place: Place) => place.engine.count(all, { collection });
const sum = (collection: string, field: string) => (place: Place) =>
  place.engine.aggregate(all, { collection, operation: 'Sum', field, groups: [], limit: 1 });

const guarded = `create trigger guarded_check before insert on guarded for each row`;

const cases: readonly Case[] = [
  {
    title: 'a foreign key that points to nothing, on create',
    on: {
      sqlite: [
        'create table a_parents (id int not null primary key)',
        'create table a (id int not null primary key, p int references a_parents (id))',
      ],
      mariadb: [
        'create table a_parents (id int not null primary key)',
        'create table a (id int not null primary key, p int, foreign key (p) references a_parents (id))',
      ],
      postgres: [
        'create table a_parents (id int not null primary key)',
        'create table a (id int not null primary key, p int references a_parents (id))',
      ],
    },
    act: create('a', { id: 1, p: 771 }),
    code: 'INVALID_RECORD',
    says: /p: no record has this key/,
  },
  {
    title: 'a foreign key of a partition, on create',
    on: {
      postgres: [
        'create table b_parents (id int not null primary key)',
        'create table b (id int not null, p int, at date not null) partition by range (at)',
        `create table b_1 partition of b for values from ('2024-01-01') to ('2025-01-01')`,
        'alter table b_1 add foreign key (p) references b_parents (id)',
      ],
    },
    act: create('b', { id: 1, p: 771, at: '2024-05-05' }),
    code: 'INVALID_RECORD',
    says: /^Nothing was written to 'b'\. p: no record has this key/,
  },
  {
    title: 'a foreign key of a partition, on update',
    on: {
      postgres: [
        'create table b2_parents (id int not null primary key)',
        'create table b2 (id int not null, p int, at date not null, primary key (id, at)) partition by range (at)',
        `create table b2_1 partition of b2 for values from ('2024-01-01') to ('2025-01-01')`,
        'alter table b2_1 add foreign key (p) references b2_parents (id)',
        `insert into b2 values (1, null, '2024-05-05')`,
      ],
    },
    act: update('b2', { p: 771 }, ['1|2024-05-05']),
    code: 'INVALID_RECORD',
    says: /p: no record has this key/,
  },
  {
    title: 'a key that others point to, on update',
    on: {
      sqlite: [
        'create table c (id int not null primary key)',
        'create table c_lines (id int not null primary key, c int references c (id))',
        'insert into c values (1)',
        'insert into c_lines values (1, 1)',
      ],
      mariadb: [
        'create table c (id int not null primary key)',
        'create table c_lines (id int not null primary key, c int, foreign key (c) references c (id))',
        'insert into c values (1)',
        'insert into c_lines values (1, 1)',
      ],
      postgres: [
        'create table c (id int not null primary key)',
        'create table c_lines (id int not null primary key, c int references c (id))',
        'insert into c values (1)',
        'insert into c_lines values (1, 1)',
      ],
    },
    act: update('c', { id: 2 }),
    code: 'RECORD_IN_USE',
    says: /other records reference a record/,
  },
  {
    title: 'a key of a self relation that others point to, on update',
    on: {
      mariadb: [
        'create table c2 (id int not null primary key, up int, foreign key (up) references c2 (id))',
        'insert into c2 values (1, null), (2, 1)',
      ],
      postgres: [
        'create table c2 (id int not null primary key, up int references c2 (id))',
        'insert into c2 values (1, null), (2, 1)',
      ],
      sqlite: [
        'create table c2 (id int not null primary key, up int references c2 (id))',
        'insert into c2 values (1, null), (2, 1)',
      ],
    },
    act: update('c2', { id: 9 }),
    code: 'RECORD_IN_USE',
    says: /other records reference a record/,
  },
  {
    title: 'the pointing end of a self relation, on update',
    on: {
      mariadb: [
        'create table c3 (id int not null primary key, up int, foreign key (up) references c3 (id))',
        'insert into c3 values (1, null)',
      ],
      postgres: [
        'create table c3 (id int not null primary key, up int references c3 (id))',
        'insert into c3 values (1, null)',
      ],
      sqlite: [
        'create table c3 (id int not null primary key, up int references c3 (id))',
        'insert into c3 values (1, null)',
      ],
    },
    act: update('c3', { up: 771 }),
    code: 'INVALID_RECORD',
    says: /up: no record has this key/,
  },
  {
    title: 'a record that others point to, on delete',
    on: {
      sqlite: [
        'create table c4 (id int not null primary key)',
        'create table c4_lines (id int not null primary key, c int references c4 (id))',
        'insert into c4 values (1)',
        'insert into c4_lines values (1, 1)',
      ],
      mariadb: [
        'create table c4 (id int not null primary key)',
        'create table c4_lines (id int not null primary key, c int, foreign key (c) references c4 (id))',
        'insert into c4 values (1)',
        'insert into c4_lines values (1, 1)',
      ],
      postgres: [
        'create table c4 (id int not null primary key)',
        'create table c4_lines (id int not null primary key, c int references c4 (id))',
        'insert into c4 values (1)',
        'insert into c4_lines values (1, 1)',
      ],
    },
    act: remove('c4'),
    code: 'RECORD_IN_USE',
    says: /other records reference a record/,
  },
  {
    title: 'no partition for the values',
    on: {
      postgres: [
        'create table d (id int not null, at date not null) partition by range (at)',
        `create table d_1 partition of d for values from ('2024-01-01') to ('2025-01-01')`,
      ],
      mariadb: [
        'create table d (id int not null primary key, at int) partition by range (id) (partition p0 values less than (10))',
      ],
    },
    act: create('d', { id: 20, at: null }),
    code: 'INVALID_RECORD',
    says: /no partition of the table accepts|at: is required|at: may not be null/,
  },
  {
    title: 'no partition for the date',
    on: {
      postgres: [
        'create table d2 (id int not null, at date not null) partition by range (at)',
        `create table d2_1 partition of d2 for values from ('2024-01-01') to ('2025-01-01')`,
      ],
    },
    act: create('d2', { id: 20, at: '2031-01-01' }),
    code: 'INVALID_RECORD',
    says: /^Nothing was written to 'd2'\. at: no partition of the table accepts this value/,
  },
  {
    title: 'a check constraint whose name has the column',
    on: {
      sqlite: ['create table e (id int not null primary key, n int check (n > 0))'],
      mariadb: ['create table e (id int not null primary key, n int check (n > 0))'],
      postgres: ['create table e (id int not null primary key, n int check (n > 0))'],
    },
    act: create('e', { id: 1, n: -771 }),
    code: 'INVALID_RECORD',
    says: /^Nothing was written to 'e'\. n: breaks a rule/,
  },
  {
    title: 'a check constraint whose name says nothing',
    on: {
      mariadb: ['create table e2 (id int not null primary key, n int, constraint always_so check (n > 0))'],
      postgres: ['create table e2 (id int not null primary key, n int, constraint always_so check (n > 0))'],
      sqlite: ['create table e2 (id int not null primary key, n int, constraint always_so check (n > 0))'],
    },
    act: create('e2', { id: 1, n: -771 }),
    code: 'INVALID_RECORD',
    says: /^Nothing was written to 'e2'\. the record: breaks a check constraint/,
  },
  {
    title: 'the check of a domain',
    on: {
      postgres: [
        'create domain plus as int check (value > 0)',
        'create table f (id int not null primary key, m int, n plus)',
      ],
    },
    act: create('f', { id: 1, m: 3, n: -771 }),
    code: 'INVALID_RECORD',
    says: /^Nothing was written to 'f'\. n: breaks a rule/,
  },
  {
    title: 'an exclusion constraint',
    on: {
      postgres: [
        'create table g (id int not null primary key, during int4range, exclude using gist (during with &&))',
        `insert into g values (1, '[1,5)')`,
      ],
    },
    act: create('g', { id: 2, during: '[3,9)' }),
    code: 'INVALID_RECORD',
    says: /during: conflicts with another record/,
  },
  {
    title: 'a trigger that raises an error of its own',
    on: {
      sqlite: [
        'create table guarded (id int not null primary key, name text)',
        `create trigger guarded_check before insert on guarded begin select raise(abort, 'no ${SECRET} here'); end`,
      ],
      mariadb: [
        'create table guarded (id int not null primary key, name text)',
        `${guarded} signal sqlstate '45000' set message_text = 'no ${SECRET} here'`,
      ],
      postgres: [
        'create table guarded (id int not null primary key, name text)',
        `create function guarded_check() returns trigger language plpgsql as $$ begin raise exception 'no % here', new.name; end $$`,
        `${guarded} execute function guarded_check()`,
      ],
    },
    act: create('guarded', { id: 1, name: SECRET }),
    code: 'INVALID_RECORD',
    says: /the record: a trigger of the database refuses this write\. Send other values/,
    logged: true,
  },
  {
    title: 'a trigger that raises with an SQLSTATE of its own',
    on: {
      mariadb: [
        'create table guarded2 (id int not null primary key, name text)',
        `create trigger g2 before delete on guarded2 for each row signal sqlstate '99001' set message_text = 'no ${SECRET}'`,
        `insert into guarded2 values (1, 'x')`,
      ],
      postgres: [
        'create table guarded2 (id int not null primary key, name text)',
        `create function g2() returns trigger language plpgsql as $$ begin raise exception 'no ${SECRET}' using errcode = 'ZZ001'; end $$`,
        `create trigger g2 before delete on guarded2 for each row execute function g2()`,
        `insert into guarded2 values (1, 'x')`,
      ],
    },
    act: remove('guarded2'),
    code: 'INVALID_RECORD',
    says: /the record: a trigger of the database refuses this write/,
    logged: true,
  },
  {
    title: 'a trigger that leaves the record out of an insert',
    on: {
      sqlite: [
        'create table h (id int not null primary key, name text)',
        'create trigger h_skip before insert on h begin select raise(ignore); end',
      ],
      postgres: [
        'create table h (id int not null primary key, name text)',
        'create function h_skip() returns trigger language plpgsql as $$ begin return null; end $$',
        'create trigger h_skip before insert on h for each row execute function h_skip()',
      ],
    },
    act: create('h', { id: 1, name: 'x' }),
    code: 'INVALID_RECORD',
    says: /the record: a trigger of the database skipped this write/,
  },
  {
    title: 'a trigger that keeps the record from being deleted',
    on: {
      sqlite: [
        'create table h2 (id int not null primary key)',
        'insert into h2 values (1)',
        'create trigger h2_skip before delete on h2 begin select raise(ignore); end',
      ],
      postgres: [
        'create table h2 (id int not null primary key)',
        'insert into h2 values (1)',
        'create function h2_skip() returns trigger language plpgsql as $$ begin return null; end $$',
        'create trigger h2_skip before delete on h2 for each row execute function h2_skip()',
      ],
    },
    act: remove('h2'),
    code: 'WRITE_CONFLICT',
    says: /a trigger or policy of the database prevents the change/,
  },
  {
    title: 'a rule that replaces the delete by nothing',
    on: {
      postgres: [
        'create table i (id int not null primary key)',
        'insert into i values (1)',
        'create rule kept as on delete to i do instead nothing',
      ],
    },
    act: remove('i'),
    code: 'READ_ONLY',
    says: /a rule of the database replaces this statement/,
    logged: true,
  },
  {
    title: 'a rule that replaces an update by another one',
    on: {
      postgres: [
        'create table i2 (id int not null primary key, n int)',
        'insert into i2 values (1, 1)',
        'create rule kept as on update to i2 do instead delete from i2 where id = old.id',
      ],
    },
    act: update('i2', { n: 2 }),
    code: 'READ_ONLY',
    says: /a rule of the database replaces this statement/,
    logged: true,
  },
  {
    title: 'a rule that replaces the insert where a condition holds',
    on: {
      postgres: [
        'create table i3 (id int not null primary key, n int)',
        'create rule kept as on insert to i3 where new.n > 5 do instead nothing',
      ],
    },
    act: create('i3', { id: 1, n: 9 }),
    code: 'READ_ONLY',
    says: /a rule of the database replaces this statement/,
    logged: true,
  },
  {
    title: 'a generated column that divides by zero',
    on: {
      mariadb: ['create table j (id int not null primary key, n int, part int as (100 div n) stored)'],
      postgres: ['create table j (id int not null primary key, n int, part int generated always as (100 / n) stored)'],
    },
    act: create('j', { id: 1, n: 0 }),
    code: 'INVALID_RECORD',
    says: /the record: the database cannot evaluate an expression/,
    logged: true,
  },
  {
    title: 'a check that divides by zero',
    on: { postgres: ['create table j2 (id int not null primary key, n int check (100 / n > 1))'] },
    act: create('j2', { id: 1, n: 0 }),
    code: 'INVALID_RECORD',
    says: /the record: the database cannot evaluate an expression/,
    logged: true,
  },
  {
    title: 'a view that divides by zero',
    on: {
      postgres: [
        'create table k (id int not null primary key, n int)',
        'insert into k values (1, 0)',
        'create view k_view as select id, 100 / n as part from k',
      ],
    },
    act: list('k_view'),
    code: 'DATABASE_FAILED',
    says: /an expression.*Filter those records out/,
    logged: true,
  },
  {
    title: 'a sum that no number holds',
    on: {
      sqlite: [
        'create table l (id integer not null primary key, n integer)',
        'insert into l values (1, 9223372036854775807), (2, 9223372036854775807)',
        'create view l_view as select sum(n) as total from l',
      ],
      postgres: [
        'create table l (id int not null primary key, n double precision)',
        'insert into l values (1, 1e308), (2, 1e308)',
        'create view l_view as select n * 10 as total from l',
      ],
      mariadb: [
        'create table l (id int not null primary key, n bigint)',
        'insert into l values (1, 9223372036854775807)',
        'create view l_view as select n + n as total from l',
      ],
    },
    act: list('l_view'),
    code: 'DATABASE_FAILED',
    says: /an expression.*too large.*Filter those records out/,
    logged: true,
  },
  {
    title: 'a number that its column cannot hold',
    on: {
      mariadb: ['create table m (id int not null primary key, n smallint)'],
      postgres: ['create table m (id int not null primary key, n smallint)'],
    },
    act: create('m', { id: 1, n: 99_771 }),
    code: 'INVALID_RECORD',
    says: /n: is too large or too small/,
  },
  {
    title: 'a string that is invalid for its type',
    on: {
      mariadb: ['create table n (id int not null primary key, u uuid, t inet6)'],
      postgres: ['create table n (id int not null primary key, u uuid, t macaddr)'],
    },
    act: create('n', { id: 1, t: SECRET }),
    code: 'INVALID_RECORD',
    says: /t(, u)?: is not a valid value for this field|id, t: is not a valid value/,
  },
  {
    title: 'NUL in JSON',
    on: { postgres: ['create table n2 (id int not null primary key, j jsonb)'] },
    act: create('n2', { id: 1, j: { a: '\u0000' } }),
    code: 'INVALID_RECORD',
    says: /expected JSON without NUL characters/,
  },
  {
    title: 'text that is too long for an index',
    on: { postgres: ['create table n3 (id text not null primary key)'] },
    act: (place) => create('n3', { id: randomBytes(30_000).toString('base64') })(place),
    code: 'INVALID_RECORD',
    says: /id: is too long/,
  },
  {
    title: 'a table that was dropped',
    on: {
      sqlite: ['create table o (id int not null primary key)'],
      mariadb: ['create table o (id int not null primary key)'],
      postgres: ['create table o (id int not null primary key)'],
    },
    act: async (place) => {
      await place.run('drop table o');
      return list('o')(place);
    },
    code: 'DATABASE_FAILED',
    says: /have just changed.*portico schema reload/,
    logged: true,
  },
  {
    title: 'a table that was dropped, on create',
    on: {
      sqlite: ['create table o2 (id int not null primary key)'],
      mariadb: ['create table o2 (id int not null primary key)'],
      postgres: ['create table o2 (id int not null primary key)'],
    },
    act: async (place) => {
      await place.run('drop table o2');
      return create('o2', { id: 1 })(place);
    },
    code: 'DATABASE_FAILED',
    says: /have just changed.*portico schema reload/,
    logged: true,
  },
  {
    title: 'a column that was dropped',
    on: {
      sqlite: ['create table o3 (id int not null primary key, n int)'],
      mariadb: ['create table o3 (id int not null primary key, n int)'],
      postgres: ['create table o3 (id int not null primary key, n int)'],
    },
    act: async (place) => {
      await place.run('alter table o3 drop column n');
      return sum('o3', 'n')(place);
    },
    code: 'DATABASE_FAILED',
    says: /have just changed.*portico schema reload/,
    logged: true,
  },
  {
    title: 'a column whose type was changed under a prepared statement',
    on: { postgres: ['create table o4 (id int not null primary key, n int)'] },
    act: async (place) => {
      for (let again = 0; again < 3; again++) await list('o4')(place);
      await place.run('alter table o4 alter column n type text');
      return list('o4')(place);
    },
    code: 'DATABASE_FAILED',
    says: /have just changed.*portico schema reload/,
    logged: true,
  },
  {
    title: 'a materialized view that was never filled: list',
    on: {
      postgres: [
        'create table p (id int not null primary key)',
        'create materialized view p_list as select id from p with no data',
      ],
    },
    act: list('p_list'),
    code: 'DATABASE_FAILED',
    says: /REFRESH MATERIALIZED VIEW/,
    logged: true,
  },
  {
    title: 'a materialized view that was never filled: aggregate',
    on: {
      postgres: [
        'create table p2 (id int not null primary key)',
        'create materialized view p2_list as select id from p2 with no data',
      ],
    },
    act: sum('p2_list', 'id'),
    code: 'DATABASE_FAILED',
    says: /REFRESH MATERIALIZED VIEW/,
    logged: true,
  },
  {
    title: 'a right to read that the database user lacks',
    on: {
      mariadb: ['create table q (id int not null primary key)'],
      postgres: ['create table q (id int not null primary key)'],
    },
    act: async (place) => {
      await revoke(place, 'q', 'select');
      return place.weak!.list(all, { collection: 'q', limit: 1 });
    },
    code: 'DATABASE_FAILED',
    says: /lacks.*grant/,
    logged: true,
  },
  {
    title: 'a right to write that the database user lacks',
    on: {
      mariadb: ['create table q2 (id int not null primary key)'],
      postgres: ['create table q2 (id int not null primary key)'],
    },
    act: async (place) => {
      await revoke(place, 'q2', 'insert');
      return place.weak!.create(all, { collection: 'q2', records: [{ id: 1 }] });
    },
    code: 'READ_ONLY',
    says: /lacks the permission.*grant/,
    logged: true,
  },
  {
    title: 'a row security policy that refuses the record',
    on: {
      postgres: [
        'create table r (id int not null primary key)',
        'alter table r enable row level security',
        'create policy few on r using (id < 10)',
      ],
    },
    act: (place) => place.weak!.create(all, { collection: 'r', records: [{ id: 771 }] }),
    code: 'INVALID_RECORD',
    says: /the record: a security policy of the database refuses/,
    logged: true,
  },
  {
    title: 'a database that may only be read',
    on: { postgres: ['create table s (id int not null primary key)'] },
    act: async (place) => {
      const { url } = place.database;
      const engine = await open(`${url}?options=-c%20default_transaction_read_only%3Don`);
      return engine.create(all, { collection: 's', records: [{ id: 1 }] }).finally(() => engine.close());
    },
    code: 'READ_ONLY',
    says: /this server can only read it/,
  },
  {
    title: 'a time limit of the database itself',
    on: {
      postgres: ['create view slow as select pg_sleep(5)::text as t'],
      mariadb: ['create view slow as select sleep(5) as t'],
    },
    act: async (place) => {
      const { database } = place;
      const name = new URL(database.url).pathname.slice(1);
      if (database.dialect === 'postgres') {
        await place.run(`alter database ${name} set statement_timeout = '1s'`);
        const engine = await open(database.url);
        return engine
          .list(all, { collection: 'slow', limit: 1 })
          .finally(() => Promise.all([engine.close(), place.run(`alter database ${name} reset statement_timeout`)]));
      }
      const listing = place.engine.list(all, { collection: 'slow', limit: 1 });
      listing.catch(() => undefined);
      for (let killed = false; !killed; ) {
        await systemClock.sleep(50);
        const found = await askSql(
          database,
          `select id from information_schema.processlist where db = '${name}' and info like '%slow%' and info not like '%processlist%'`,
        );
        for (const { id } of found) {
          await place.run(`kill query ${id}`);
          killed = true;
        }
      }
      return listing;
    },
    code: 'TIMED_OUT',
    says: /longer than the database allows.*Narrow/,
  },
  {
    title: 'a lock that is not given in time',
    on: {
      mariadb: [
        'create table held (id int not null primary key, n int)',
        'insert into held values (1, 1)',
        'create table t (id int not null primary key, n int)',
        'create trigger t_waits before insert on t for each row begin set session innodb_lock_wait_timeout = 1; update held set n = new.n; end',
      ],
      postgres: [
        'create table held (id int not null primary key, n int)',
        'insert into held values (1, 1)',
        'create table t (id int not null primary key, n int)',
        `create function t_waits() returns trigger language plpgsql set lock_timeout = '100ms' as $$ begin update held set n = new.n; return new; end $$`,
        'create trigger t_waits before insert on t for each row execute function t_waits()',
      ],
    },
    act: async ({ database }) => {
      const other = await connect(database);
      if (database.dialect === 'postgres') await other.run('begin', []);
      await other.run('update held set n = 2 where id = 1', []);
      const engine = await open(database.url);
      try {
        return await engine.create(all, { collection: 't', records: [{ id: 1, n: 3 }] });
      } finally {
        if (database.dialect === 'postgres') await other.run('rollback', []);
        await other.end();
        await engine.close();
      }
    },
    code: 'WRITE_CONFLICT',
    says: /Try again/,
  },
  {
    title: 'a table that another transaction locks, on list',
    on: { postgres: ['create table t2 (id int not null primary key)'] },
    act: async (place) => {
      const { database } = place;
      const name = new URL(database.url).pathname.slice(1);
      await place.run(`alter database ${name} set lock_timeout = '100ms'`);
      const other = await connect(database);
      await other.run('begin', []);
      await other.run('lock table t2 in access exclusive mode', []);
      const engine = await open(database.url, (one) => observed.push(one)).catch(async () => place.engine);
      try {
        return await engine.list(all, { collection: 't2', limit: 1 });
      } finally {
        await other.run('rollback', []);
        await other.end();
        if (engine !== place.engine) await engine.close();
        await place.run(`alter database ${name} reset lock_timeout`);
      }
    },
    code: 'DATABASE_FAILED',
    says: /another transaction holds.*Try again/,
    logged: true,
  },
  {
    title: 'a deadlock',
    on: {
      mariadb: ['create table u (id int not null primary key, n int)', 'insert into u values (1, 1), (2, 1)'],
      postgres: ['create table u (id int not null primary key, n int)', 'insert into u values (1, 1), (2, 1)'],
    },
    act: async (place) => {
      const other = await connect(place.database);
      if (place.database.dialect === 'postgres') {
        await other.run('begin', []);
        await other.run("set local deadlock_timeout = '10s'", []);
      } else {
        // The deadlock rolls back the transaction with fewer writes.
        await other.run('update u set n = n + 1 where id > 2', []);
      }
      await other.run('update u set n = 5 where id = 2', []);
      // A statement that locks both rows, the first one first.
      const mine = place.engine.update(all, { collection: 'u', ids: ['1', '2'], values: { n: 7 } });
      let isOver = false;
      const over = mine.then(String, String).finally(() => {
        isOver = true;
      });
      try {
        // InnoDB shows an older state while it is asked more often than every 100 ms.
        while (!isOver && !(await isWaiting(place.database))) await systemClock.sleep(150);
        if (isOver) throw new Error(`it ended before it waited: ${await over}`);
        await other.run('update u set n = 6 where id = 1', []).catch(() => undefined);
        return await mine;
      } finally {
        await other.run('rollback', []);
        await other.end();
      }
    },
    code: 'WRITE_CONFLICT',
    says: /Try again/,
  },
  {
    title: 'a limit of temporary files',
    on: {
      postgres: [
        'create table v2 (id int not null primary key, t text)',
        `insert into v2 select n, repeat(md5(n::text), 10) from generate_series(1, 20000) n`,
      ],
    },
    act: async (place) => {
      const { url } = place.database;
      const engine = await open(`${url}?options=-c%20temp_file_limit%3D64kB%20-c%20work_mem%3D64kB`, (one) =>
        observed.push(one),
      );
      return engine
        .list(all, { collection: 'v2', sort: [{ field: 't', ascending: true }], limit: 4000 })
        .finally(() => engine.close());
    },
    code: 'DATABASE_FAILED',
    says: /out of space, memory or another resource/,
    logged: true,
  },
  {
    title: 'a pattern that is too long for the database',
    on: { sqlite: ['create table w (id int not null primary key, t text)', `insert into w values (1, 'x')`] },
    act: (place) =>
      place.engine.list(all, {
        collection: 'w',
        filter: { field: 't', operator: 'IContains', value: 'x'.repeat(50_001) },
        limit: 1,
      }),
    code: 'INVALID_VALUE',
    says: /expected a string of at most 5000 characters/,
  },
  {
    title: 'a view whose table was dropped',
    on: {
      mariadb: ['create table x (id int not null primary key)', 'create view x_view as select id from x'],
      sqlite: ['create table x (id int not null primary key)', 'create view x_view as select id from x'],
    },
    act: async (place) => {
      await place.run('drop table x');
      return count('x_view')(place);
    },
    code: 'DATABASE_FAILED',
    says: /have just changed.*portico schema reload/,
    logged: true,
  },
  {
    title: 'a function of a view that raises an error',
    on: {
      postgres: [
        `create function angry() returns int language plpgsql as $$ begin raise exception 'my ${SECRET}'; end $$`,
        'create view y_view as select angry() as n',
      ],
      mariadb: [
        `create function angry() returns int begin signal sqlstate '45000' set message_text = 'my ${SECRET}'; return 1; end`,
        'create view y_view as select angry() as n',
      ],
    },
    act: list('y_view'),
    code: 'DATABASE_FAILED',
    says: /raised an error.*the log has its text/,
    logged: true,
  },
];

const WEAK = `portico_weak_${randomBytes(4).toString('hex')}`;
const observed: Observation[] = [];

/** Whether a statement waits for a lock of another transaction. */
async function isWaiting(database: TestDatabase): Promise<boolean> {
  const found = await askSql(
    database,
    database.dialect === 'postgres'
      ? "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
      : "select 1 from information_schema.innodb_trx join information_schema.processlist on id = trx_mysql_thread_id where db = database() and trx_state = 'LOCK WAIT'",
  );
  return found.length > 0;
}

async function revoke({ database, run }: Place, table: string, right: string): Promise<void> {
  await run(`revoke ${right} on ${table} from ${database.dialect === 'postgres' ? WEAK : `${WEAK}@'127.0.0.1'`}`);
}

function open(url: string, observe: (one: Observation) => void = () => {}): Promise<Engine> {
  return createEngineAgent()
    .addDataSource(createSqlDataSource(url))
    .createEngine({ observe, clock: systemClock, limits });
}

describe.each(servers)('$dialect', ({ dialect, create: make }) => {
  // The WebAssembly driver has no code for an error that a trigger raises.
  const isKnown = ({ title }: { readonly title: string }) =>
    dialect !== 'sqlite' || sqliteIsolates || !title.startsWith('a trigger that raises');
  const mine = cases.filter((one) => one.on[dialect] && isKnown(one));
  let place: Place;

  beforeAll(async () => {
    const database = await make();
    const run = (...statements: string[]) => runSql(database, statements);
    await run(...mine.flatMap(({ on }) => on[dialect]!));
    if (dialect === 'mariadb') {
      await run(
        `create user ${WEAK}@'127.0.0.1'`,
        ...['q', 'q2'].map((table) => `grant select, insert on ${table} to ${WEAK}@'127.0.0.1'`),
      );
    }
    if (dialect === 'postgres')
      await run(
        `create role ${WEAK} login`,
        `grant usage on schema public to ${WEAK}`,
        `grant select, insert on all tables in schema public to ${WEAK}`,
      );
    const observe = (one: Observation) => void observed.push(one);
    const engine = await open(database.url, observe);
    const url = new URL(database.url);
    if (dialect !== 'sqlite') url.username = WEAK;
    const weak = dialect === 'sqlite' ? undefined : await open(url.href, observe);
    place = { database, engine, weak, run };
  }, 60_000);
  afterAll(async () => {
    await place?.engine.close();
    await place?.weak?.close();
    if (dialect === 'mariadb') await place?.run(`drop user ${WEAK}@'127.0.0.1'`);
    if (dialect === 'postgres') await place?.run(`drop owned by ${WEAK}`, `drop role ${WEAK}`);
    await place?.database.drop();
  });

  test.each(mine)('$title', async ({ act, code, says, logged = false }) => {
    observed.length = 0;
    const refused = await act(place).then(
      (answer) => ({ code: 'answered', message: JSON.stringify(answer), details: {} }),
      (error: AppError) => error,
    );
    expect([refused.code, refused.message]).toEqual([code, expect.stringMatching(says)]);
    const shown = `${refused.message} ${JSON.stringify(refused.details)}`;
    expect(shown).not.toMatch(
      new RegExp(`${SECRET}|771|constraint "|violates|select |insert into|SQLSTATE|SQLITE|ER_`, ''),
    );
    const causes = observed.filter((one) => one.type === 'warning' && one.cause !== undefined);
    expect(causes.length).toBe(logged ? 1 : 0);
  });
});
