// Introspection of a database: names that differ only by case, schemas, URLs, and columns that triggers fill.
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { AppError } from '../../src/core/errors.ts';
import { createEngineAgent, type Observation } from '../../src/entries/engine.ts';
import { createSqlDataSource, type Engine, type SqlConnectionOptions } from '../../src/index.ts';
import { problemsOf } from '../agent/attempt.ts';
import { accessOf } from '../agent/shop.ts';
import { type Dialect, remoteServers, servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';

const all = accessOf();
const has = (dialect: Dialect): boolean => servers.some((server) => server.dialect === dialect);

async function makeDatabase(dialect: Dialect, statements: readonly string[]): Promise<TestDatabase> {
  const database = await servers.find((server) => server.dialect === dialect)!.create();
  onTestFinished(() => database.drop());
  await runSql(database, statements);
  return database;
}

async function openEngine(
  connection: string | SqlConnectionOptions,
  customize: (agent: ReturnType<typeof createEngineAgent>) => void = () => {},
): Promise<{ engine: Engine; observed: readonly Observation[] }> {
  const observed: Observation[] = [];
  const agent = createEngineAgent().addDataSource(createSqlDataSource(connection));
  customize(agent);
  const engine = await agent.createEngine({
    observe: (one) => observed.push(one),
    clock: systemClock,
    limits: { pageSizeLimit: 100, queryTimeoutMs: 10_000 },
  });
  onTestFinished(() => engine.close());
  return { engine, observed };
}

const failureOf = (run: Promise<unknown>): Promise<string> =>
  run.then(
    () => 'opened',
    ({ code, message }: AppError) => `${code}: ${message}`,
  );

const rowsOf = async (engine: Engine, collection: string) => {
  const { columns, rows } = await engine.list(all, { collection, limit: 9 });
  return [columns, rows];
};

test.runIf(has('mariadb'))('MariaDB: tables whose names differ only by case are two tables', async () => {
  const database = await makeDatabase('mariadb', [
    'create table `Parent` (id int primary key, note json)',
    'create table parent (nr int primary key, size enum("s", "l") unique, note longtext)',
    'create table `Child` (id int primary key, p int, amount decimal(5, 2) check (amount > 0), constraint fk foreign key (p) references `Parent` (id) on delete cascade)',
    'create table child (id int primary key, q int, constraint fk2 foreign key (q) references parent (nr))',
    'create view `CHILD` as select q as only_here from child',
    'create trigger fills before insert on child for each row set new.q = new.q + 1',
    `insert into \`Parent\` values (1, '{"a": 1}')`,
    `insert into parent values (7, 's', '{"a": 1}'), (8, 'l', 'x')`,
    'insert into `Child` values (1, 1, 2.5)',
    'insert into child values (5, 6)',
  ]);
  const { engine } = await openEngine(database.url);
  const described = engine
    .index(all)
    .map(({ name, relations }) => [name, engine.describe(all, name).fields.map((field) => field.name), relations]);
  expect(described.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))).toEqual([
    ['CHILD', ['only_here'], []],
    ['Child', ['id', 'p', 'amount'], [expect.any(String)]],
    ['Parent', ['id', 'note'], [expect.any(String)]],
    ['child', ['id', 'q'], [expect.any(String)]],
    ['parent', ['nr', 'size', 'note'], [expect.any(String)]],
  ]);
  expect([
    await rowsOf(engine, 'Parent'),
    await rowsOf(engine, 'parent'),
    await rowsOf(engine, 'Child'),
    await rowsOf(engine, 'child'),
    await rowsOf(engine, 'CHILD'),
  ]).toEqual([
    [['id', 'note'], [[1, { a: 1 }]]],
    [
      ['nr', 'size', 'note'],
      [
        [7, 's', '{"a": 1}'],
        [8, 'l', 'x'],
      ],
    ],
    [['id', 'p', 'amount'], [[1, 1, 2.5]]],
    [['id', 'q'], [[5, 7]]],
    [['only_here'], [[7]]],
  ]);
  expect(await problemsOf(engine.create(all, { collection: 'parent', records: [{ nr: 9, size: 's' }] }))).toEqual([
    'size: another record has this value already.',
  ]);
});

test.runIf(has('mariadb'))('MariaDB: databases whose names differ only by case are two databases', async () => {
  const database = await makeDatabase('mariadb', ['create table here (id int primary key)']);
  const name = new URL(database.url).pathname.slice(1);
  const other = name.toUpperCase();
  await runSql(database, [
    `create database ${other}`,
    `create table ${other}.here (nr int primary key)`,
    `create table ${other}.there (nr int primary key)`,
  ]);
  onTestFinished(() => runSql(database, [`drop database ${other}`]));
  const { engine } = await openEngine(database.url);
  const { engine: both } = await openEngine(`${database.url}?schema=${name},${other}`);
  expect(
    [engine, both].map((each) =>
      each
        .index(all)
        .map(({ name: collection }) => [collection, each.describe(all, collection).fields.map((field) => field.name)]),
    ),
  ).toEqual([
    [['here', ['id']]],
    [
      [`${other}.here`, ['nr']],
      [`${other}.there`, ['nr']],
      ['here', ['id']],
    ],
  ]);
});

test.runIf(has('postgres'))(
  'PostgreSQL: columns, tables and keys whose names differ only by case stay distinct',
  async () => {
    const database = await makeDatabase('postgres', [
      'create table "Items" ("Id" int primary key, id int unique, "ID" text)',
      'create table items (id int primary key, "Items" int references "Items" ("Id"), items int references "Items" (id))',
      `insert into "Items" values (1, 2, 'a'), (2, 1, 'b')`,
      'insert into items values (1, 1, 1)',
    ]);
    const { engine } = await openEngine(database.url);
    const { relations } = engine.describe(all, 'items');
    const names = relations.map(({ name }) => name);
    const { rows } = await engine.list(all, {
      collection: 'items',
      fields: names.map((name) => `${name}:ID`),
      limit: 9,
    });
    expect([names.length, rows.flat().sort()]).toEqual([2, ['a', 'b']]);
    expect(await problemsOf(engine.create(all, { collection: 'Items', records: [{ Id: 3, id: 2 }] }))).toEqual([
      'id: another record has this value already.',
    ]);
  },
);

if (remoteServers.length === 0) test.skip('on a server', () => {});

test.each(remoteServers)(
  '$dialect: schemas that the address names are served, with the foreign keys between them',
  async ({ dialect }) => {
    const database = await makeDatabase(dialect, ['create table customers (id int primary key)']);
    const own = dialect === 'mariadb' ? new URL(database.url).pathname.slice(1) : 'public';
    const other = `${new URL(database.url).pathname.slice(1)}_o`;
    const kind = dialect === 'mariadb' ? 'database' : 'schema';
    await runSql(database, [
      `create ${kind} ${other}`,
      `create table ${other}.orders (id int primary key, customer_id int, foreign key (customer_id) references ${own}.customers (id))`,
    ]);
    if (dialect === 'mariadb') onTestFinished(() => runSql(database, [`drop database ${other}`]));
    const namesOf = async (connection: string) => {
      const { engine } = await openEngine(connection);
      return engine.index(all).map(({ name, relations }) => [name, relations.length]);
    };
    expect([
      await namesOf(`${database.url}?schema=${own},${other}`),
      await namesOf(`${database.url}?schema=${other}`),
    ]).toEqual([
      [
        ['customers', 1],
        [`${other}.orders`, 1],
      ],
      [['orders', 0]],
    ]);
    if (dialect !== 'postgres') return;
    // The search path in the URL, and one that the database sets.
    const path = `${database.url}?options=-csearch_path%3D${other}%2Cpublic`;
    expect(await namesOf(path)).toEqual([
      ['orders', 1],
      ['public.customers', 1],
    ]);
    await runSql(database, [
      `alter database ${new URL(database.url).pathname.slice(1)} set search_path = public, ${other}, nowhere`,
    ]);
    expect(await namesOf(database.url)).toEqual([
      ['customers', 1],
      [`${other}.orders`, 1],
    ]);
  },
);

test.each(servers)(
  '$dialect: a database without tables is an error that names schemas with tables, and the setting',
  async ({ dialect }) => {
    const database = await makeDatabase(
      dialect,
      dialect === 'sqlite' ? ['create table gone (id int)', 'drop table gone'] : [],
    );
    const name = new URL(database.url).pathname.slice(1);
    const other = `${name}_o`;
    if (dialect !== 'sqlite') {
      await runSql(database, [
        `create ${dialect === 'mariadb' ? 'database' : 'schema'} ${other}`,
        `create table ${other}.orders (id int primary key)`,
        `create view ${other}.more as select id from ${other}.orders`,
      ]);
      if (dialect === 'mariadb') onTestFinished(() => runSql(database, [`drop database ${other}`]));
    }
    const message = await failureOf(openEngine(database.url));
    expect(message).toMatch(/^CONFIGURATION: .* has no table or view that can be served/);
    if (dialect === 'sqlite') expect(message).toMatch(/Check the path of the file\.$/);
    else {
      // A server may have more databases than the message lists.
      expect(message).toContain(dialect === 'postgres' ? `${other} (2)` : 'Tables and views are in: ');
      expect(message).toMatch(/\?schema=.*--database, SERVICE_DATABASE_URL.*schemas: \['/);
    }
  },
);

test('each schema may be named only once', async () => {
  expect(await failureOf(openEngine({ uri: 'postgres://127.0.0.1/x?schema=a', schemas: ['b'] }))).toMatch(
    /'uri' and in 'schemas'/,
  );
});

const filling: Partial<Record<Dialect, readonly string[]>> = {
  postgres: [
    'create table films (id int primary key, title text not null, fulltext tsvector not null, slug text not null, "Size" int not null, note text)',
    `create trigger films_text before insert or update on films for each row execute function tsvector_update_trigger(fulltext, 'pg_catalog.english', title)`,
    `create function films_fill() returns trigger language plpgsql as $$
      begin
        if new.title = 'x' then new.note := 'short'; end if;
        new.slug = lower(new.title); select 7 into new."Size"; return new;
      end $$`,
    'create trigger films_fill before insert on films for each row execute function films_fill()',
  ],
  mariadb: [
    'create table films (id int primary key, title varchar(90) not null, fulltext_ text not null, slug varchar(90) not null, `Size` int not null, note text)',
    `create trigger films_fill before insert on films for each row begin
      if new.title = 'x' then set new.note = 'short'; end if;
      set new.fulltext_ = new.title, new.slug = lower(new.title); set new.\`Size\` = 7;
    end`,
  ],
};

test.each(Object.entries(filling).filter(([dialect]) => has(dialect as Dialect)))(
  '%s: a column that a trigger fills is optional, and an error of the trigger names the column',
  async (dialect, statements) => {
    const database = await makeDatabase(dialect as Dialect, statements);
    const { engine } = await openEngine(database.url);
    const { fields } = engine.describe(all, 'films');
    expect(fields.filter(({ required }) => required).map(({ name }) => name)).toEqual(['id', 'title']);
    const { records } = await engine.create(all, { collection: 'films', records: [{ id: 1, title: 'Big' }] });
    expect(records[0]).toMatchObject({ slug: 'big', Size: 7 });
    expect(await problemsOf(engine.create(all, { collection: 'films', records: [{ id: 2 }] }))).toEqual([
      expect.stringMatching(/^(title|fulltext_|slug): is required/),
    ]);
    const hidden = accessOf({ hidden: ['films.title', 'films.fulltext_', 'films.slug'] });
    expect(await problemsOf(engine.create(hidden, { collection: 'films', records: [{ id: 3 }] }))).toBe('FORBIDDEN');
  },
);

test.runIf(has('postgres'))('setFieldFilledByDatabase makes a required field optional', async () => {
  const database = await makeDatabase('postgres', [
    'create table plain (id int primary key, made text not null)',

    'create table strict (id int primary key, made text not null)',
  ]);
  const { engine } = await openEngine(database.url, (agent) =>
    agent.customizeCollection('plain', (collection) => collection.setFieldFilledByDatabase('made')),
  );
  const requiredOf = (name: string) =>
    engine
      .describe(all, name)
      .fields.filter(({ required }) => required)
      .map((field) => field.name);
  expect([requiredOf('plain'), requiredOf('strict')]).toEqual([['id'], ['id', 'made']]);
  expect([
    await problemsOf(engine.create(all, { collection: 'plain', records: [{ id: 1 }] })),
    await problemsOf(engine.create(all, { collection: 'strict', records: [{ id: 1 }] })),
    (await askSql(database, 'select * from plain')).length,
  ]).toEqual([['made: is required, and may not be null.'], ['made: is required: send a String.'], 0]);
  const wrong = openEngine(database.url, (agent) =>
    agent.customizeCollection('plain', (collection) => collection.setFieldFilledByDatabase('mad')),
  );
  expect(await failureOf(wrong)).toMatch(/'mad'.*made/);
});

const keysWhere = async (engine: Engine, collection: string, field: string, operator: string, value?: unknown) =>
  (
    await engine.list(all, {
      collection,
      fields: ['id'],
      filter: { field, operator, ...(value !== undefined && { value }) } as never,
      limit: 99,
    })
  ).rows.flat();

test.runIf(has('mariadb'))('MariaDB: a SET is a list of its labels: shown, filtered, written', async () => {
  const labels = Array.from({ length: 64 }, (_, at) => `l${at}`);
  const database = await makeDatabase('mariadb', [
    `create table films (id int primary key, extras set('Trailers','Commentaries','It''s behind') , wide set(${labels.map((each) => `'${each}'`)}) not null default '')`,
    `insert into films (id, extras, wide) values (1, 'Trailers', 'l0'), (2, 'Commentaries,Trailers', 'l0,l63'), (3, '', ''), (4, null, 'l52,l53,l62,l63'), (5, 'It''s behind', 'l63')`,
  ]);
  const { engine } = await openEngine(database.url);
  const { fields } = engine.describe(all, 'films');
  const extras = fields.find(({ name }) => name === 'extras')!;
  expect([extras.type, extras.enumValues, fields.find(({ name }) => name === 'wide')!.required]).toEqual([
    '[Enum]',
    ['Trailers', 'Commentaries', "It's behind"],
    false,
  ]);
  expect((await engine.list(all, { collection: 'films', fields: ['extras', 'wide'], limit: 9 })).rows).toEqual([
    [['Trailers'], ['l0']],
    [
      ['Trailers', 'Commentaries'],
      ['l0', 'l63'],
    ],
    [[], []],
    [null, ['l52', 'l53', 'l62', 'l63']],
    [["It's behind"], ['l63']],
  ]);
  const found = (operator: string, value?: unknown, field = 'extras') =>
    keysWhere(engine, 'films', field, operator, value);
  expect([
    await found('IncludesAll', ['Trailers']),
    await found('IncludesAll', ['Commentaries', 'Trailers']),
    await found('IncludesNone', ['Trailers', "It's behind"]),
    await found('Equal', ['Commentaries', 'Trailers']),
    await found('NotEqual', ['Commentaries', 'Trailers', 'Trailers']),
    await found('Equal', []),
    await found('Missing'),
    await found('Present'),
    await found('IncludesAll', ['l63'], 'wide'),
    await found('Equal', ['l63', 'l62', 'l53', 'l52'], 'wide'),
    await found('NotEqual', ['l63'], 'wide'),
    await found('IncludesNone', ['l62'], 'wide'),
  ]).toEqual([
    [1, 2],
    [2],
    [3, 4],
    [2],
    [1, 3, 4, 5],
    [3],
    [4],
    [1, 2, 3, 5],
    [2, 4, 5],
    [4],
    [1, 2, 3, 4],
    [1, 2, 3, 5],
  ]);
  const created = await engine.create(all, {
    collection: 'films',
    records: [{ id: 6, extras: ["It's behind", 'Trailers'], wide: labels }],
  });
  const changed = await engine.update(all, { collection: 'films', ids: ['1'], values: { extras: [] } });
  expect([created.records[0], changed.records[0]]).toEqual([
    { id: 6, extras: ['Trailers', "It's behind"], wide: labels },
    { id: 1, extras: [], wide: ['l0'] },
  ]);
  expect([
    await problemsOf(engine.create(all, { collection: 'films', records: [{ id: 7, extras: ['Trailer'] }] })),
    await problemsOf(engine.create(all, { collection: 'films', records: [{ id: 7, extras: [null] }] })),
    await failureOf(found('IncludesAll', ['Trailer'])),
    await failureOf(found('Contains', 'Trailers')),
  ]).toEqual([
    [expect.stringMatching(/^extras: expected one of Trailers/)],
    [expect.stringMatching(/^extras: expected one of Trailers/)],
    expect.stringMatching(/^INVALID_VALUE: .*Trailers/),
    expect.stringMatching(/^OPERATOR_NOT_ALLOWED: .*IncludesAll, IncludesNone/),
  ]);
});

test.runIf(has('mariadb'))('MariaDB: geometry is read and written as well-known text', async () => {
  const database = await makeDatabase('mariadb', [
    'create table address (id int auto_increment primary key, street varchar(50) not null, location geometry not null, area polygon, way linestring)',
    `insert into address values (1, 'Main', st_geomfromtext('POINT(1.5 -2)'), st_geomfromtext('POLYGON((0 0,4 0,4 4,0 0))'), st_geomfromtext('LINESTRING(0 0,1 1)'))`,
  ]);
  const { engine } = await openEngine(database.url);
  expect(await rowsOf(engine, 'address')).toEqual([
    ['id', 'street', 'location', 'area', 'way'],
    [[1, 'Main', 'POINT(1.5 -2)', 'POLYGON((0 0,4 0,4 4,0 0))', 'LINESTRING(0 0,1 1)']],
  ]);
  const create = (values: object) =>
    engine.create(all, { collection: 'address', records: [{ street: 'New', ...values }] });
  const { records } = await create({ location: 'MULTIPOINT((1 2),(3 4))', way: null });
  const changed = await engine.update(all, {
    collection: 'address',
    ids: ['1'],
    values: { way: 'LINESTRING(5 5,6 6)' },
  });
  expect([records[0], changed.records[0]?.way, await keysWhere(engine, 'address', 'way', 'Missing')]).toEqual([
    { id: 2, street: 'New', location: expect.stringMatching(/^MULTIPOINT\(/), area: null, way: null },
    'LINESTRING(5 5,6 6)',
    [2],
  ]);
  expect([
    await problemsOf(create({})),
    await problemsOf(create({ location: '1.5 -2' })),
    await problemsOf(create({ location: { type: 'Point', coordinates: [1, 2] } })),
    await problemsOf(create({ location: 'POINT(1)' })),
    await problemsOf(create({ location: 'POINT(1 2)', area: 'POINT(1 2)' })),
  ]).toEqual([
    ["location: is required: send well-known text such as 'POINT(2.35 48.85)'."],
    [expect.stringMatching(/^location: expected well-known text such as 'POINT\(2.35 48.85\)'/)],
    [expect.stringMatching(/^location: expected well-known text such as 'POINT\(2.35 48.85\)'/)],
    [expect.stringMatching(/^location: is not a valid value/)],
    [expect.stringMatching(/area: is not a valid value/)],
  ]);
  expect(
    await failureOf(
      engine.aggregate(all, { collection: 'address', operation: 'Count', groups: [{ field: 'area' }], limit: 9 }),
    ),
  ).toMatch(/cannot be grouped/);
});

test.runIf(has('mariadb'))('MariaDB: a broken view is left out with a warning', async () => {
  const database = await makeDatabase('mariadb', [
    'create table gone (id int)',
    'create table stays (id int)',
    'create view broken as select id from gone',
    'drop table gone',
  ]);
  const { engine, observed } = await openEngine(database.url);
  expect(engine.index(all).map(({ name }) => name)).toEqual(['stays']);
  expect(observed).toContainEqual({
    type: 'warning',
    message: expect.stringMatching(/'broken' is not served: the view is broken/),
  });
});

test.runIf(has('postgres'))(
  'PostgreSQL: an unpopulated materialized view is served with a warning, and works once it is refreshed',
  async () => {
    const database = await makeDatabase('postgres', [
      'create table base (id int)',
      'insert into base values (1)',
      'create materialized view later as select id from base with no data',
    ]);
    const { engine, observed } = await openEngine(database.url);
    expect(observed).toContainEqual({
      type: 'warning',
      message: expect.stringMatching(
        /'later' is a materialized view that was never populated.*REFRESH MATERIALIZED VIEW/,
      ),
    });
    expect(await failureOf(rowsOf(engine, 'later'))).toMatch(/^DATABASE_FAILED: .*REFRESH MATERIALIZED VIEW/);
    await runSql(database, ['refresh materialized view later']);
    expect(await rowsOf(engine, 'later')).toEqual([['id'], [[1]]]);
  },
);

test('SQLite: numbers of views without rows can be summed, and nothing else becomes a number', async () => {
  const database = await makeDatabase('sqlite', [
    'create table lines (id integer primary key, price real, quantity integer, "Order Id" integer, name text, anything)',
    `create view "Extended" as select lines."Order Id", name, (price * quantity * (1 - 0.1)) / 100 * 100 as extended, name || '-' as label,
      case when id > 1 then 'a' else 1 end as either, anything as loose, price > 3 as flag, max(1, 2) most from lines where 0`,
    `create view totals as /* all, of them */ select "Order Id", sum([Extended].extended) Subtotal, count(*) as "n, all", coalesce(sum(extended), 0) as filled,
      ifnull(max(label), 0) as mixed, cast(name as integer) as whole, cast(name as text) as words, min(extended) as least, extended from "Extended" group by 1`,
    'create view both as select count(*) as n from lines where 0 union all select name from lines',
    'create view renamed (a, b) as select count(*), name from lines where id < 0 group by name',
  ]);
  const { engine } = await openEngine(database.url);
  const typesOf = (name: string) =>
    Object.fromEntries(
      engine
        .describe(all, name)
        .fields.filter((field) => field.type)
        .map((field) => [field.name, field.type]),
    );
  expect(typesOf('Extended')).toMatchObject({
    extended: 'Number',
    most: 'Number',
    label: 'String',
    either: 'String',
    loose: 'Binary',
    flag: 'String',
  });
  expect(typesOf('totals')).toMatchObject({
    Subtotal: 'Number',
    'n, all': 'Number',
    filled: 'Number',
    whole: 'Number',
    least: 'Number',
    extended: 'Number',
    mixed: 'String',
    words: 'String',
  });
  expect([typesOf('both').n, typesOf('renamed').b]).not.toContain('Number');
  await runSql(database, [
    `insert into lines values (1, 2.5, 4, 7, 'x', null), (2, 1, 10, 7, 'y', null)`,
    'drop view "Extended"',
    'create view "Extended" as select "Order Id", name, price * quantity as extended, name as label from lines',
  ]);
  const sum = (field: string) =>
    engine.aggregate(all, { collection: 'totals', operation: 'Sum', field, groups: [], limit: 1 });
  expect((await sum('Subtotal')).rows).toEqual([[20]]);
});

test.each(servers)('$dialect: dissociating a record that is not linked is an error', async ({ dialect }) => {
  const database = await makeDatabase(dialect, [
    'create table albums (id int not null primary key)',
    'create table tracks (id int not null primary key, album_id int, foreign key (album_id) references albums (id))',
    'create table lists (id int not null primary key)',
    'create table entries (list_id int not null, track_id int not null, primary key (list_id, track_id), foreign key (list_id) references lists (id), foreign key (track_id) references tracks (id))',
    'insert into albums values (1), (2)',
    'insert into tracks values (1, 1), (2, 2), (3, null)',
    'insert into lists values (1)',
    'insert into entries values (1, 1)',
  ]);
  const { engine } = await openEngine(database.url);
  const away = (collection: string, relation: string, ids: string[]) =>
    failureOf(engine.dissociate(all, { collection, id: '1', relation, ids }));
  const scoped = accessOf({ scopes: { tracks: { field: 'id', operator: 'Equal', value: 1 } as never } });
  expect([
    await away('albums', 'tracks', ['2']),
    await away('albums', 'tracks', ['1', '2', '3']),
    await away('albums', 'tracks', ['99']),
    await away('lists', 'tracks', ['2', '3']),
    await failureOf(engine.dissociate(scoped, { collection: 'albums', id: '1', relation: 'tracks', ids: ['2'] })),
    (await engine.list(all, { collection: 'tracks', fields: ['album_id'], limit: 9 })).rows.flat(),
  ]).toEqual([
    "RECORD_NOT_FOUND: No records were removed: '2' of 'tracks' is not in 'tracks' of this record, or you may not see it. List its 'tracks' to see the linked records.",
    expect.stringMatching(/'2', '3' of 'tracks' are not in 'tracks'/),
    expect.stringMatching(/'99' of 'tracks' is not in 'tracks'/),
    expect.stringMatching(/'2', '3' of 'tracks' are not in 'tracks'/),
    expect.stringMatching(/'2' of 'tracks' is not in 'tracks'/),
    [1, 2, null],
  ]);
  expect((await engine.dissociate(all, { collection: 'albums', id: '1', relation: 'tracks', ids: ['1'] })).count).toBe(
    1,
  );
});
