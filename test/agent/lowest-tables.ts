// Tables with several records for the same key, relations to one of them, and expected results from hand-written SQL.
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createMemorySource } from '../../src/agent/sources/memory/source.ts';
import type { MemoryTable } from '../../src/agent/sources/memory/tables.ts';
import type { Source } from '../../src/agent/sources/source.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { PlainFilter } from '../../src/core/filter.ts';
import type { Observation } from '../../src/core/observe.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { servers } from '../databases.ts';
import { connect } from './connection.ts';
import type { Rights } from './shop.ts';

const table = (name: string, columns: string, primaryKey: string[], rows: MemoryTable['rows']): MemoryTable => ({
  name,
  columns: columns.split(' ').map((column) => ({
    name: column.replace(/[?#]/g, ''),
    type: column.includes('#') ? ('Number' as const) : ('String' as const),
    nullable: column.includes('?'),
  })),
  primaryKey,
  rows,
});

export const people = table('people', '#id name ?code #seen', ['id'], [
  [1, 'Ada', 'x', 0],
  [2, 'Bo', 'y', 1],
  [3, 'Cy', 'x', 1],
  [4, 'Di', null, 1],
  [5, 'Ed', 'x', 1],
  [6, 'Fi', 'z', 0],
]); // biome-ignore format: a table
/** A card belongs to a person; the one with the lowest id counts. */
export const cards = table('cards', '#id #?person_id ?label #amount #shown', ['id'], [
  [9, 1, 'gold', 5, 1],
  [4, 1, 'red', 7, 0],
  [6, 1, null, 11, 1],
  [3, 2, null, 1, 1],
  [8, 2, 'gold', 2, 1],
  [5, 3, 'blue', 3, 0],
  [7, null, 'lost', 4, 1],
  [2, null, 'gone', 6, 1],
  [10, 5, 'red', 20, 1],
  [12, 1, 'gold', 0, 1],
]); // biome-ignore format: a table
/** The key has two columns, and the second one is a text. */
export const seats = table('seats', '#row place #?person_id tag', ['row', 'place'], [
  [2, 'a', 1, 'far'],
  [1, 'b', 1, 'near b'],
  [1, 'a', 2, 'near a'],
  [1, 'B', 1, 'near B'],
  [3, 'a', 2, 'last'],
  [3, 'b', 4, 'end'],
]); // biome-ignore format: a table
/** Related by the code of a person, which several people share. */
export const orders = table('orders', '#id ?code #total', ['id'], [
  [1, 'x', 10],
  [2, 'y', 20],
  [3, null, 30],
  [4, 'w', 40],
  [5, 'x', 50],
  [6, 'z', 60],
]); // biome-ignore format: a table
/** No key distinguishes these records. */
export const scores = table('scores', '#?person_id #?points ?note', [], [
  [1, 7, 'b'],
  [1, 7, 'a'],
  [1, 7, 'a'],
  [2, 3, null],
  [2, null, 'c'],
  [2, null, null],
  [2, null, null],
]); // biome-ignore format: a table
export const tables = [people, cards, seats, orders, scores];

export function relate(agent: HeadlessAgent): void {
  agent
    .customizeCollection('people', (each) =>
      each
        .addOneToOneRelation('card', 'cards', { originKey: 'person_id' })
        .addPolymorphicOneToOneRelation('gold', 'cards', { originKey: 'person_id', typeField: 'label', type: 'gold' })
        .addOneToOneRelation('seat', 'seats', { originKey: 'person_id' })
        .addOneToOneRelation('score', 'scores', { originKey: 'person_id' })
        .addOneToManyRelation('orders', 'orders', { originKey: 'code', originKeyTarget: 'code' })
        .addField('badge', {
          columnType: 'String',
          dependencies: ['name', 'card:label'],
          getValues: (records) =>
            records.map(({ name, card }) => `${name} ${(card as { label?: string } | null)?.label ?? '-'}`),
        })
        .importField('amount', { path: 'card:amount' })
        .addSegment('golden', { field: 'card:label', operator: 'Equal', value: 'gold' }),
    )
    .customizeCollection('orders', (each) =>
      each.addManyToOneRelation('person', 'people', { foreignKey: 'code', foreignKeyTarget: 'code' }),
    )
    .customizeCollection('cards', (each) => each.addManyToOneRelation('owner', 'people', { foreignKey: 'person_id' }));
}

/** Does not see the record with the lowest key in any collection. */
export const narrow: Rights = {
  scopes: {
    people: { field: 'seen', operator: 'Equal', value: 1 },
    cards: { field: 'shown', operator: 'Equal', value: 1 },
    seats: { field: 'place', operator: 'NotEqual', value: 'B' },
    scores: { field: 'note', operator: 'Present' },
  },
};
/** A scope through such a relation. Within the scope, every record is visible. */
export const deep: Rights = { scopes: { people: { field: 'card:label', operator: 'Present' } } };
export const deeper: Rights = {
  scopes: {
    people: { field: 'card:label', operator: 'Present' },
    cards: { field: 'shown', operator: 'Equal', value: 1 },
  },
};
export const typed: Rights = { scopes: { people: { field: 'gold:amount', operator: 'GreaterThan', value: 2 } } };
export const callers: readonly (readonly [string, Rights])[] = [['everybody', {}], ['a row scope', narrow], ['a row scope that leads through one', deep], ['the same to what has one', deeper], ['a row scope that leads through one of a type', typed]]; // biome-ignore format: a list

const { driver: Sqlite } = loadSqliteDriver();
const reference = new Sqlite(':memory:');
const create = ({ name, columns, primaryKey = [] }: MemoryTable, text: string) =>
  `create table ${quote(name)} (${[
    ...columns.map(
      (column) =>
        `${quote(column.name)} ${column.type === 'Number' ? 'int' : text}${column.nullable ? ' null' : ' not null'}`,
    ),
    ...(primaryKey.length > 0 ? [`primary key (${primaryKey.map(quote).join(', ')})`] : []),
  ].join(', ')})`;
const quote = (name: string) => (name === 'row' ? '"row"' : name);
const insert = ({ name, rows }: MemoryTable) =>
  rows.map(
    (row) =>
      `insert into ${name} values (${row.map((value) => (value === null ? 'null' : typeof value === 'number' ? value : `'${value}'`)).join(', ')})`,
  );
for (const each of tables) for (const sql of [create(each, 'text'), ...insert(each)]) reference.exec(sql);

/** Runs a query in plain SQL: `seen_...` holds what the caller may see, `first_...` the first record for each key. */
export function ask(rights: Rights, sql: string): unknown[][] {
  const first = (name: string, of: string, by: string, key: string) =>
    `first_${name} as (select * from (select *, row_number() over (partition by ${by} order by ${key}) as n from ${of}) where n = 1 and ${by} is not null)`;
  const seenOf = new Map<Rights, Readonly<Record<string, string>>>([
    [
      narrow,
      { people: 'seen = 1', cards: 'shown = 1', seats: "place <> 'B'", scores: "note is not null and note <> ''" },
    ],
    [deep, { people: 'id in (select person_id from any_cards where label is not null)' }],
    [deeper, { people: 'id in (select person_id from any_cards where label is not null)', cards: 'shown = 1' }],
    [typed, { people: 'id in (select person_id from any_gold where amount > 2)' }],
  ]);
  const seen = tables.map(
    ({ name }) => `seen_${name} as (select * from ${name} where ${seenOf.get(rights)?.[name] ?? '1 = 1'})`,
  );
  const parts = [
    first('any', 'cards', 'person_id', 'id').replace('first_any', 'any_cards'),
    first('any', "cards where label = 'gold'", 'person_id', 'id').replace('first_any', 'any_gold'),
    ...seen,
    first('cards', 'seen_cards', 'person_id', 'id'),
    first('seats', 'seen_seats', 'person_id', '"row", place'),
    first('scores', 'seen_scores', 'person_id', 'points, note'),
    first('people', 'seen_people', 'code', 'id'),
  ];
  const statement = reference.prepare(`with ${parts.join(', ')} ${sql}`).raw();
  return statement.all() as unknown[][];
}

export const fromPeople = 'from seen_people p left join first_cards c on c.person_id = p.id left join first_seats s on s.person_id = p.id left join first_scores v on v.person_id = p.id'; // biome-ignore format: SQL
export const fromOrders = 'from seen_orders o left join first_people p on p.code = o.code left join first_cards c on c.person_id = p.id'; // biome-ignore format: SQL

export const leaf = (field: string, operator: string, value?: unknown) => ({ field, operator, value }) as PlainFilter;
const closing: (() => Promise<unknown>)[] = [];

export async function open(
  sources: readonly Source[],
  customize: (agent: HeadlessAgent) => void = relate,
  warnings: string[] = [],
): Promise<Engine> {
  const agent = createHeadlessAgent();
  for (const source of sources) agent.addDataSource(() => source);
  customize(agent);
  const observe = (seen: Observation) => {
    if (seen.type === 'warning') warnings.push(seen.message);
  };
  const limits = { pageSizeLimit: 100, queryTimeoutMs: 10_000 };
  const engine = await agent.createEngine({ observe, clock: systemClock, limits });
  closing.push(() => engine.close());
  return engine;
}

export const inMemory = (...held: MemoryTable[]) => createMemorySource(`memory ${held.length}`, held);

async function inDatabase(server: (typeof servers)[number], held: readonly MemoryTable[]): Promise<Source> {
  const database = await server.create();
  closing.push(() => database.drop());
  const connection = await connect(database);
  const text = { sqlite: 'text', mariadb: 'varchar(20) collate utf8mb4_bin', postgres: 'text collate "C"' };
  for (const each of held)
    for (const sql of [create(each, text[database.dialect]), ...insert(each)])
      await connection.run(database.dialect === 'mariadb' ? sql.replaceAll('"', '`') : sql, []);
  await connection.end();
  return createSqlSource(database.url, { clock: systemClock, observe: () => {} });
}

export const places: readonly (readonly [string, () => Promise<Source[]>])[] = [
  ['memory', async () => [inMemory(...tables)]],
  ...servers.map((server) => [server.dialect, async () => [await inDatabase(server, tables)]] as const),
  ['two sources', async () => [inMemory(people, scores), inMemory(cards, seats, orders)]],
  ...servers.map(
    (server) =>
      [
        `memory and ${server.dialect}`,
        async () => [inMemory(people, scores), await inDatabase(server, [cards, seats, orders])],
      ] as const,
  ),
];

export const closeAll = async () => {
  for (const close of closing.splice(0)) await close();
};
