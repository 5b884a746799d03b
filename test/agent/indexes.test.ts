// The indexes of the database: what is read of them, the advice of a query that takes too long, and what
// `portico doctor --indexes` reports.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHeadlessAgent } from '../../src/agent/agent.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { isAppError } from '../../src/core/errors.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql, sqliteIsolates } from '../sql/schemas.ts';
import { connect } from './connection.ts';
import { accessOf } from './shop.ts';

const tables = [
  'create table people (id integer not null primary key, name varchar(50) not null, city varchar(50) not null, secret varchar(50) not null, born date not null, score integer not null, unique (secret, id))',
  "insert into people values (1, 'Ada', 'Paris', 'x', '2000-01-01', 1)",
  'create table pets (id integer not null primary key, owner_id integer, kind varchar(50) not null, name varchar(50))',
  'create index people_secret on people (secret, city)',
  'create index people_born on people (born, name)',
];

/** Large enough for the report, by the estimate of each database. */
const events: Record<Dialect, readonly string[]> = {
  sqlite: ['create table events (id integer primary key, note text)', "insert into events values (120000, 'x')"],
  mariadb: [
    'create table events (id integer primary key, note varchar(20))',
    "insert into events select seq, 'x' from seq_1_to_120000",
    'analyze table events',
  ],
  postgres: [
    'create table events (id integer primary key, note text)',
    "insert into events select n, 'x' from generate_series(1, 120000) n",
    'analyze events',
  ],
};

const particular: Record<Dialect, readonly string[]> = {
  sqlite: [
    'create index people_lower on people (city, lower(name), score)',
    'create index people_partial on people (score) where score > 0',
  ],
  mariadb: [
    'create index people_prefix on people (city, name(3), score)',
    'create fulltext index people_words on people (name)',
  ],
  postgres: [
    'create index people_lower on people (city, lower(name), score)',
    'create index people_partial on people (score) where score > 0',
    'create index people_hash on people using hash (score)',
    'create index people_brin on people using brin (score)',
    'create index people_pattern on people (name varchar_pattern_ops)',
  ],
};

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let engine: Engine;
  beforeAll(async () => {
    database = await server.create();
    await runSql(database, [...tables, ...particular[server.dialect], ...events[server.dialect]]);
    const limits = { pageSizeLimit: 100, queryTimeoutMs: 400 };
    engine = await createHeadlessAgent()
      .addDataSource(() => open(database))
      .customizeCollection('people', (people) =>
        people
          .renameField('born', 'birthday')
          .addOneToManyRelation('pets', 'pets', { originKey: 'owner_id' })
          .addSegment('parisians', { field: 'city', operator: 'Equal', value: 'Paris' }),
      )
      .customizeCollection('pets', (pets) =>
        pets
          .addManyToOneRelation('owner', 'people', { foreignKey: 'owner_id' })
          .addSegment('cats', { field: 'kind', operator: 'Equal', value: 'cat' })
          .replaceFieldSorting('name', [{ field: 'kind' }, { field: 'owner_id' }]),
      )
      .createEngine({ observe: () => {}, clock: systemClock, limits });
  });
  afterAll(async () => {
    await engine.close();
    await database.drop();
  });

  test('indexes are read with their columns up to the first expression, without partial indexes', async () => {
    const source = open(database);
    const people = (await source.describe()).tables.find(({ name }) => name === 'people');
    await source.close();
    const found = people!.indexes!.map(({ columns, sorted }) => `${columns}${sorted ? '' : ' unsorted'}`);
    const particular = server.dialect === 'postgres' ? ['name unsorted', 'score unsorted'] : [];
    expect({ found: found.sort(), uniqueKeys: people!.uniqueKeys }).toEqual({
      found: ['id', 'secret,id', 'secret,city', 'born,name', 'city', ...particular].sort(),
      uniqueKeys: [['secret', 'id']],
    });
  });

  test('missing indexes of relations, sorts and filters are reported once, with statements that create them', async () => {
    const developer = { ...accessOf(), caller: { ...accessOf().caller, permissionLevel: 'developer' as const } };
    const kept = [
      { collection: 'pets', filter: { field: 'kind', operator: 'In', value: ['cat'] }, what: 'a row scope' },
      {
        collection: 'people',
        filter: { field: 'secret', operator: 'Equal', value: 'x' },
        what: 'an indexed row scope',
      },
    ] as const;
    const quote = (name: string) => (server.dialect === 'mariadb' ? `\`${name}\`` : `"${name}"`);
    const create = (...columns: string[]) => {
      const name = server.dialect === 'postgres' ? '' : `${quote(['pets', ...columns].join('_'))} `;
      return `CREATE INDEX ${name}ON ${quote('pets')} (${columns.map(quote).join(', ')});`;
    };
    const { missing, searched } = await engine.missingIndexes(developer, kept);
    expect({ missing, searched }).toEqual({
      missing: [
        { collection: 'pets', statement: create('owner_id'), uses: ["the relation 'people:pets'"] },
        { collection: 'pets', statement: create('kind', 'owner_id'), uses: ["the sort by 'name' of 'pets'"] },
        { collection: 'pets', statement: create('kind'), uses: ["the segment 'cats' of 'pets'", 'a row scope'] },
      ],
      searched: [{ collection: 'events', rows: expect.closeTo(120_000, -5) }],
    });
    await expect(engine.missingIndexes(accessOf(), [])).rejects.toMatchObject({ code: 'DENIED' });

    const other = await server.create();
    await runSql(other, [...tables, ...missing.map(({ statement }) => statement)]);
    const source = open(other);
    const pets = (await source.describe()).tables.find(({ name }) => name === 'pets');
    await source.close();
    await other.drop();
    expect(pets?.indexes?.map(({ columns }) => columns.join()).sort()).toEqual([
      'id',
      'kind',
      'kind,owner_id',
      'owner_id',
    ]);
  });

  // The WebAssembly driver cannot stop a statement.
  test.runIf(server.dialect !== 'sqlite' || sqliteIsolates)(
    'a list that times out names the indexed fields that the caller may see',
    async () => {
      const access = accessOf({ hidden: ['people.secret'] });
      const failure = (request: object) =>
        engine.list(access, { collection: 'people', limit: 10, ...request }).then(String, (error: unknown) => {
          expect(isAppError(error, 'TIMED_OUT')).toBe(true);
          return (error as Error).message;
        });
      const unlock = await lock(database);
      const messages = await Promise.all([
        failure({ search: 'ada' }),
        failure({ filter: { field: 'name', operator: 'Equal', value: 'Ada' } }),
        failure({ sort: [{ field: 'score' }] }),
      ]);
      const byId = await engine.get(access, { collection: 'people', id: 1 }).catch((error: unknown) => String(error));
      await unlock();
      const advice = "Filter or sort by an indexed field of 'people': id, city, birthday.";
      const timedOut = 'The query took longer than 0.4 s and was stopped.';
      expect([...messages, byId]).toEqual([
        `${timedOut} 'search' reads every record that the filter leaves. ${advice}`,
        `${timedOut} ${advice}`,
        `${timedOut} ${advice}`,
        expect.not.stringContaining('birthday'),
      ]);
    },
  );
});

const open = ({ url }: TestDatabase) => createSqlSource(url, { observe: () => {}, clock: systemClock });

/** Locks the table, so reads of it wait. */
async function lock(database: TestDatabase): Promise<() => Promise<void>> {
  const connection = await connect(database);
  const statements: Record<Dialect, readonly string[]> = {
    sqlite: ['begin exclusive'],
    mariadb: ['lock tables people write'],
    postgres: ['begin', 'lock table people in access exclusive mode'],
  };
  for (const statement of statements[database.dialect]) await connection.run(statement, []);
  return async () => {
    await connection.run(database.dialect === 'mariadb' ? 'unlock tables' : 'rollback', []);
    await connection.end();
  };
}
