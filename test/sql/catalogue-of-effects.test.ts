// What the catalogue says about foreign key rules and triggers that delete and change records.
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DescribedReference, DescribedTable } from '../../src/agent/sources/described.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestServer } from '../databases.ts';
import { runSql } from './schemas.ts';

async function describeTables(server: TestServer, statements: readonly string[]) {
  const database = await server.create();
  await runSql(database, statements);
  const source = createSqlSource(database.url, { observe: () => {}, clock: systemClock });
  onTestFinished(async () => {
    await source.close();
    await database.drop();
  });
  const { tables } = await source.describe();
  return new Map(tables.map((table) => [table.name, table]));
}

const rule = ({ table, place, columns, targetColumns, onDelete, onUpdate }: DescribedReference) =>
  `${table ?? `(${place.name})`}(${columns}) -> (${targetColumns}): delete ${onDelete}, update ${onUpdate}`;
const rules = (table: DescribedTable | undefined) => table?.referencedBy?.map(rule).sort();

describe.each([...servers])('$dialect', (server) => {
  test('rules of composite keys, self references and cycles, in the order of the key', async () => {
    const tables = await describeTables(server, [
      'create table orders (region varchar(5) not null, number int not null, primary key (region, number))',
      `create table items (id int primary key, num int, reg varchar(5),
        foreign key (reg, num) references orders (region, number) on delete cascade on update cascade)`,
      `create table staff (id int primary key, boss int, office int,
        foreign key (boss) references staff (id) on delete set null)`,
      `create table offices (id int primary key, head int,
        foreign key (head) references staff (id) on delete cascade on update set null)`,
      `create table badges (id int primary key, owner int, foreign key (owner) references staff (id) on delete restrict)`,
      ...(server.dialect === 'sqlite'
        ? []
        : ['alter table staff add foreign key (office) references offices (id) on delete cascade']),
    ]);
    expect(rules(tables.get('orders'))).toEqual(['items(reg,num) -> (region,number): delete cascade, update cascade']);
    expect(rules(tables.get('staff'))).toEqual([
      'badges(owner) -> (id): delete none, update none',
      'offices(head) -> (id): delete cascade, update set null',
      'staff(boss) -> (id): delete set null, update none',
    ]);
    expect(rules(tables.get('offices'))).toEqual(
      server.dialect === 'sqlite' ? [] : ['staff(office) -> (id): delete cascade, update none'],
    );
  });

  test('the triggers of a table name only the writes that fire them', async () => {
    const body: Record<Dialect, (name: string, event: string, table: string) => string> = {
      sqlite: (name, event, table) => `create trigger ${name} ${event} on ${table} begin select 1; end`,
      mariadb: (name, event, table) => `create trigger ${name} ${event} on ${table} for each row set @x = 1`,
      postgres: (name, event, table) =>
        `create trigger ${name} ${event} on ${table} for each row execute function nothing()`,
    };
    const make = body[server.dialect];
    const tables = await describeTables(server, [
      ...(server.dialect === 'postgres'
        ? ["create function nothing() returns trigger language plpgsql as 'begin return new; end'"]
        : []),
      'create table plain (id int primary key)',
      'create table kept (id int primary key, name varchar(9))',
      'create table busy (id int primary key, name varchar(9))',
      make('log_of_deletes', 'after update', 'kept'),
      make('first', 'before insert', 'busy'),
      make('second', server.dialect === 'mariadb' ? 'after update' : 'after update of name', 'busy'),
      make('third', 'after delete', 'busy'),
    ]);
    expect([...tables.values()].map(({ name, triggers }) => [name, [...(triggers ?? [])].sort()])).toEqual([
      ['busy', ['delete', 'insert', 'update']],
      ['kept', ['update']],
      ['plain', []],
    ]);
  });
});

test.runIf(servers.some(({ dialect }) => dialect === 'sqlite'))(
  'SQLite: a key without columns refers to the primary key, and names are case-insensitive',
  async () => {
    const tables = await describeTables(servers.find(({ dialect }) => dialect === 'sqlite')!, [
      'create table "Parents" ("Id" integer primary key)',
      'create table children (id integer primary key, parent int references PARENTS on delete cascade, "PARENT2" int, foreign key (parent2) references parents (ID) on delete set default)',
    ]);
    expect(rules(tables.get('Parents'))).toEqual([
      'children(PARENT2) -> (Id): delete set default, update none',
      'children(parent) -> (Id): delete cascade, update none',
    ]);
  },
);

const postgres = servers.find(({ dialect }) => dialect === 'postgres');
test.runIf(postgres)(
  'PostgreSQL: keys of other schemas and partitions, and single columns of SET NULL, are described',
  async () => {
    const tables = await describeTables(postgres!, [
      'create schema elsewhere',
      'create table places (a int, b int, primary key (a, b))',
      'create table elsewhere.visits (id int primary key, a int, b int, foreign key (a, b) references places on delete cascade)',
      'create table tags (id int primary key, a int not null, b int, foreign key (a, b) references places on delete set null (b))',
      'create table logs (id int, day int, a int, b int) partition by list (day)',
      'create table logs_1 partition of logs for values in (1)',
      'alter table logs_1 add foreign key (a, b) references places on delete cascade',
      'create table ruled (id int primary key)',
      'create rule copy as on delete to ruled do also delete from tags',
    ]);
    expect(rules(tables.get('places'))).toEqual([
      '(logs_1)(a,b) -> (a,b): delete cascade, update none',
      '(visits)(a,b) -> (a,b): delete cascade, update none',
      'tags(a,b) -> (a,b): delete set null, update none',
    ]);
    expect(tables.get('places')?.referencedBy?.find(({ table }) => table === 'tags')?.setColumns).toEqual(['b']);
    expect(tables.get('ruled')?.triggers).toEqual(['delete']);
  },
);

test.runIf(postgres)('PostgreSQL: tables of several schemas have the names that the source gives them', async () => {
  const database = await postgres!.create();
  await runSql(database, [
    'create schema other',
    'create table a (id int primary key)',
    'create table other.b (id int primary key, a int references public.a on delete cascade)',
  ]);
  const options = { uri: database.url, schemas: ['public', 'other'] };
  const source = createSqlSource(options, { observe: () => {}, clock: systemClock });
  onTestFinished(async () => {
    await source.close();
    await database.drop();
  });
  const { tables } = await source.describe();
  expect(rules(tables.find(({ name }) => name === 'a'))).toEqual(['other.b(a) -> (id): delete cascade, update none']);
});
