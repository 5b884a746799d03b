// A shop with random rows over arrays and on every database, and random columns of its lists with the SQL of their values.
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import type { ListRequest } from '../../src/agent/requests.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainColumn } from '../../src/core/filter/columns.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { seedFrom } from './oracle/judge.ts';
import { createRandom } from './oracle/random.ts';
import { accessOf, type Rights } from './shop.ts';

const seed = seedFrom(process.env.ORACLE_SEED);
console.log(`seed ${seed} (ORACLE_SEED=${seed} asks the same again)`);
export const random = createRandom(seed);
const maybe = <T>(value: T): T | null => (random.chance(0.2) ? null : value);
const instant = () =>
  new Date(Date.UTC(2024, random.number(12), 1 + random.number(28), random.number(24))).toISOString();

export const customers = Array.from({ length: 25 }, (_, at) => [
  at + 1,
  maybe(1 + random.number(4)),
  random.pick(['Ada', 'Bo', 'Cy', 'Dee']),
  maybe(random.pick(['x', 'y'])),
  maybe((random.number(20_000) - 5_000) / 100),
  maybe(random.number(9) - 4),
  maybe(random.pick(['ann', 'Ann', 'BEN', 'ben', 'Cid'])),
]);
export const orders = Array.from({ length: 90 }, (_, at) => [
  at + 1,
  maybe(1 + random.number(20)),
  maybe(random.pick(['paid', 'open', 'late'])),
  maybe((random.number(30_000) - 3_000) / 100),
  1 + random.number(5),
  maybe(instant()),
]);
export const teams = [[1, 'red', 3], [2, 'blue', null], [3, 'green', 9]] as const; // biome-ignore format: rows
export const members = Array.from({ length: 60 }, (_, at) => [1 + (at % 20), 1 + random.number(3)]).filter(
  ([customer, team], at, all) => all.findIndex(([a, b]) => a === customer && b === team) === at,
);
// No key: pairs repeat.
export const visits = Array.from({ length: 40 }, () => [1 + random.number(20), 1 + random.number(3)]);

export const number = (name: string, nullable = true) => ({ name, type: 'Number' as const, nullable });
const text = (name: string) => ({ name, type: 'String' as const, nullable: true });
const refers = (column: string, table: string) => ({ columns: [column], table, targetColumns: ['id'] });
const memory = () =>
  createMemorySource('memory', [
    { name: 'cities', columns: [number('id', false), text('label')], primaryKey: ['id'], rows: [[1, 'Oslo'], [2, 'Lyon'], [3, 'Rome'], [4, null]] },
    { name: 'customers', columns: [number('id', false), number('city_id'), text('name'), text('nick'), number('balance'), number('rate'), text('alias')], primaryKey: ['id'], foreignKeys: [refers('city_id', 'cities')], rows: customers as never },
    { name: 'orders', columns: [number('id', false), number('customer_id'), text('status'), number('total'), number('quantity'), { name: 'placed_at', type: 'Date', nullable: true }], primaryKey: ['id'], foreignKeys: [refers('customer_id', 'customers')], rows: orders as never },
    { name: 'teams', columns: [number('id', false), text('label'), number('rank')], primaryKey: ['id'], rows: teams as never },
    { name: 'members', columns: [number('customer_id', false), number('team_id', false)], primaryKey: ['customer_id', 'team_id'], foreignKeys: [refers('customer_id', 'customers'), refers('team_id', 'teams')], rows: members as never },
    { name: 'visits', columns: [number('customer_id', false), number('team_id', false)], foreignKeys: [refers('customer_id', 'customers'), refers('team_id', 'teams')], rows: visits as never },
  ]); // biome-ignore format: tables

const types = {
  sqlite: { text: 'text', folded: 'text collate nocase', time: 'datetime' },
  mariadb: {
    text: 'varchar(20) collate utf8mb4_bin',
    folded: 'varchar(20) collate utf8mb4_general_ci',
    time: 'datetime(3)',
  },
  postgres: { text: 'text collate "C"', folded: 'text', time: 'timestamptz' },
} satisfies Record<Dialect, Record<string, string>>;

function statements(dialect: Dialect): string[] {
  const { text: string, folded, time } = types[dialect];
  const value = (each: unknown): string =>
    each === null || typeof each === 'number'
      ? String(each)
      : `'${String(each)
          .replace('T', ' ')
          .replace('.000Z', dialect === 'postgres' ? '+00' : '')}'`;
  const insert = (name: string, rows: readonly (readonly unknown[])[]) =>
    `insert into ${name} values ${rows.map((row) => `(${row.map(value).join(', ')})`).join(', ')}`;
  return [
    `create table cities (id int primary key, label ${string})`,
    `create table customers (id int primary key, city_id int references cities(id), name ${string}, nick ${string}, balance decimal(12, 2), rate int, alias ${folded})`,
    `create table orders (id int primary key, customer_id int references customers(id), status ${string}, total decimal(12, 2), quantity int, placed_at ${time})`,
    `create table teams (id int primary key, label ${string}, \`rank\` int)`.replaceAll('`', dialect === 'mariadb' ? '`' : '"'),
    'create table members (customer_id int references customers(id), team_id int references teams(id), primary key (customer_id, team_id))',
    'create table visits (customer_id int references customers(id), team_id int references teams(id))',
    insert('cities', [[1, 'Oslo'], [2, 'Lyon'], [3, 'Rome'], [4, null]]),
    insert('customers', customers),
    insert('orders', orders),
    insert('teams', teams),
    insert('members', members),
    insert('visits', visits),
  ]; // biome-ignore format: statements
}

export interface Subject {
  readonly name: string;
  readonly engine: Engine;
  readonly database?: TestDatabase;
}

export async function open(source: Source): Promise<Engine> {
  const agent = createHeadlessAgent();
  agent.addDataSource(() => source);
  agent.customizeCollection('customers', (each) =>
    each
      .addManyToManyRelation('visited', 'teams', 'visits', { originKey: 'customer_id', foreignKey: 'team_id' })
      .addField('shout', {
        columnType: 'String',
        dependencies: ['name'],
        getValues: (records) => records.map(({ name }) => `${name}!`),
      }),
  );
  agent.customizeCollection('orders', (each) =>
    each.addField('double', {
      columnType: 'Number',
      dependencies: ['quantity'],
      getValues: (records) => records.map(({ quantity }) => 2 * Number(quantity)),
    }),
  );
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 20_000 };
  return agent.createEngine({ observe: () => {}, clock: systemClock, limits });
}

export async function openSubjects(): Promise<Subject[]> {
  const subjects: Subject[] = [{ name: 'memory', engine: await open(memory()) }];
  for (const server of servers) {
    const database = await server.create();
    await runSql(database, statements(server.dialect));
    const source = createSqlSource(database.url, { observe: () => {}, clock: systemClock });
    subjects.push({ name: server.dialect, engine: await open(source), database });
  }
  return subjects;
}

export async function closeSubjects(subjects: readonly Subject[]): Promise<void> {
  for (const { engine, database } of subjects) {
    await engine.close();
    await database?.drop();
  }
}

export const list = ({ engine }: Subject, request: Partial<ListRequest>, rights: Rights = {}) =>
  engine.list(accessOf(rights), { collection: 'customers', limit: 50, ...request });
export const refusal = (subject: Subject, request: Partial<ListRequest>, rights: Rights = {}) =>
  list(subject, request, rights).then(
    ({ rows }) => `answered ${JSON.stringify(rows)}`,
    (error: Error) => error.message,
  );
type Figure = PlainColumn extends infer C ? (C extends unknown ? Omit<C, 'name'> : never) : never;
export const column = (name: string, figure: Figure): PlainColumn => ({ name, ...figure }) as PlainColumn;

/** A column, and the SQL of its value for the customer `c`. */
export type Question = readonly [column: object, sql: (dialect: Dialect) => string];

const whereOrders = () =>
  random.pick<readonly [object | undefined, string]>([
    [undefined, ''],
    [undefined, ''],
    [{ field: 'status', operator: 'Equal', value: 'paid' }, " and o.status = 'paid'"],
    [{ field: 'status', operator: 'NotEqual', value: 'open' }, " and (o.status <> 'open' or o.status is null)"],
    [{ field: 'total', operator: 'GreaterThan', value: 50.5 }, ' and o.total > 50.5'],
    [{ field: 'customer:city:label', operator: 'Equal', value: 'Oslo' }, " and exists (select 1 from cities x where x.id = c.city_id and x.label = 'Oslo')"],
    [{ expression: { times: ['total', 'quantity'] }, operator: 'LessThan', value: 300 }, ' and o.total * o.quantity < 300'],
    [{ some: 'customer', where: { some: 'teams', where: { field: 'rank', operator: 'Present' } } }, ' and exists (select 1 from members m join teams t on t.id = m.team_id where m.customer_id = c.id and t.rank is not null)'],
  ]); // biome-ignore format: a condition and its SQL

const shownTime: Record<Dialect, (sql: string) => string> = {
  sqlite: (sql) => sql,
  mariadb: (sql) => `date_format(${sql}, '%Y-%m-%d %H:%i:%s')`,
  postgres: (sql) => `to_char(${sql} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')`,
};

export function ofOrders(): Question {
  const [where, sql] = whereOrders();
  const ask = (what: string) => `(select ${what} from orders o where o.customer_id = c.id${sql})`;
  const [json, what] = random.pick<readonly [object, (dialect: Dialect) => string]>([
    [{ count: 'orders' }, () => ask('count(*)')],
    [{ count: 'orders:total' }, () => ask('count(o.total)')],
    [{ countDistinct: 'orders:status' }, () => ask('count(distinct o.status)')],
    [{ sum: 'orders:total' }, () => ask('sum(o.total)')],
    [{ avg: 'orders:total' }, () => ask('avg(o.total * 1.00000000)')],
    [{ avg: 'orders:quantity' }, () => ask('avg(o.quantity * 1.00000000)')],
    [{ max: 'orders:total' }, () => ask('max(o.total)')],
    [{ min: 'orders:status' }, () => ask('min(o.status)')],
    [{ max: 'orders:placed_at' }, (dialect) => shownTime[dialect](ask('max(o.placed_at)'))],
    [{ sum: { times: ['orders:total', 'orders:quantity'] } }, () => ask('sum(o.total * o.quantity)')],
    [{ max: { plus: ['orders:total', 0.5] } }, () => ask('max(o.total + 0.5)')],
    [{ count: { coalesce: ['orders:status', 'orders:customer:nick'] } }, () => ask('count(coalesce(o.status, c.nick))')],
  ]); // biome-ignore format: a column and its SQL
  return [{ ...json, ...(where && { where }) }, what];
}

export const ofOthers = (): Question =>
  random.pick<Question>([
    [{ count: 'teams' }, () => '(select count(*) from members m where m.customer_id = c.id)'],
    [{ max: 'teams:label' }, () => '(select max(t.label) from members m join teams t on t.id = m.team_id where m.customer_id = c.id)'],
    [{ sum: 'teams:rank', where: { field: 'label', operator: 'NotEqual', value: 'red' } }, () => "(select sum(t.rank) from members m join teams t on t.id = m.team_id where m.customer_id = c.id and t.label <> 'red')"],
    [{ count: 'city:customers:orders' }, () => '(select count(*) from orders o join customers x on x.id = o.customer_id where x.city_id = c.city_id)'],
    [{ sum: 'city:customers:orders:total' }, () => '(select sum(o.total) from orders o join customers x on x.id = o.customer_id where x.city_id = c.city_id)'],
    [{ max: { times: ['city:customers:orders:quantity', 'city:customers:orders:customer:rate'] }, where: { field: 'status', operator: 'Equal', value: 'paid' } }, () => "(select max(o.quantity * x.rate) from orders o join customers x on x.id = o.customer_id where x.city_id = c.city_id and o.status = 'paid')"],
    [{ count: 'city:customers' }, () => '(select count(*) from customers x where x.city_id = c.city_id)'],
    [{ expression: { times: ['balance', 'rate'] } }, () => 'c.balance * c.rate'],
    [{ expression: { minus: ['balance', { abs: 'rate' }] } }, () => 'c.balance - abs(c.rate)'],
    [{ expression: { coalesce: ['nick', 'city:label'] } }, () => 'coalesce(c.nick, (select x.label from cities x where x.id = c.city_id))'],
  ]); // biome-ignore format: a column and its SQL

export const shown = (value: unknown): unknown => {
  if (value === null) return null;
  if (/^-?\d+(\.\d+)?(e-\d+)?$/.test(String(value))) return Number(Number(value).toFixed(6));
  return String(value).replace('T', ' ').replace('.000Z', '');
};
