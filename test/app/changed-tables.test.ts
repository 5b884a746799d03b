// Tables that change while a server runs: found within the interval, without a failed call, and never as more rights.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createHeadlessAgent, type HeadlessAgent } from '../../src/agent/agent.ts';
import { createSqlDataSource } from '../../src/agent/data-sources.ts';
import type { Engine } from '../../src/agent/engine.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { Observation } from '../../src/core/observe.ts';
import { accessOf } from '../agent/shop.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { emptyAgent } from './agent.ts';

const limits = { pageSizeLimit: 1000, queryTimeoutMs: 30_000, queriesAtOnce: 50 };
const admin = accessOf({});

const closings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

interface Opened {
  readonly engine: Engine;
  readonly database: TestDatabase;
  readonly observed: readonly Observation[];
  run(...statements: readonly string[]): Promise<void>;
}

async function open(
  server: (typeof servers)[number],
  customize: (agent: HeadlessAgent) => void = () => undefined,
): Promise<Opened> {
  const database = await server.create();
  closings.push(() => database.drop());
  const tables = [
    'create table owners (id integer not null primary key, name varchar(20))',
    'create table things (id integer not null primary key, name varchar(20), owner_id integer, foreign key (owner_id) references owners (id))',
    'create table unrelated (id integer not null primary key, name varchar(20))',
    "insert into owners values (1, 'Ada')",
    "insert into things values (1, 'one', 1), (2, 'two', 1), (3, 'three', null)",
  ];
  await runSql(database, tables);
  const observed: Observation[] = [];
  const agent = createHeadlessAgent().addDataSource(createSqlDataSource(database.url));
  customize(agent);
  const engine = await agent.createEngine({
    observe: (one) => observed.push(one),
    clock: systemClock,
    limits,
    schemaSeconds: 1,
  });
  closings.push(() => engine.close());
  return { engine, database, observed, run: (...statements) => runSql(database, statements) };
}

const fieldsOf = (engine: Engine, collection: string) =>
  engine.describe(admin, collection).fields.map(({ name }) => name);
const codeOf = async (work: () => unknown) => {
  try {
    await work();
    return 'none';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};
const warningsOf = (observed: readonly Observation[]) =>
  observed.flatMap((one) => (one.type === 'warning' ? [one.message] : []));

/** Each is one change of the tables, and what must be true afterwards. */
const changes: readonly {
  readonly what: string;
  readonly sql: readonly string[];
  readonly only?: readonly Dialect[];
  readonly isServed: (engine: Engine) => boolean;
}[] = [
  {
    what: 'a column is renamed',
    sql: ['alter table unrelated rename column name to title'],
    isServed: (engine) => fieldsOf(engine, 'unrelated').join() === 'id,title',
  },
  {
    what: 'a column is dropped',
    sql: ['alter table unrelated drop column name'],
    isServed: (engine) => fieldsOf(engine, 'unrelated').join() === 'id',
  },
  {
    what: 'a column gets a foreign key',
    sql: ['alter table unrelated add column owner_id integer references owners (id)'],
    only: ['sqlite', 'postgres'],
    isServed: (engine) => engine.describe(admin, 'unrelated').relations.length === 1,
  },
  {
    what: 'an existing column gets a foreign key',
    sql: ['alter table unrelated add constraint u foreign key (id) references owners (id)'],
    only: ['mariadb', 'postgres'],
    isServed: (engine) => engine.describe(admin, 'unrelated').relations.length === 1,
  },
  {
    what: 'a column may no longer be null',
    sql: ['alter table unrelated alter column name set not null'],
    only: ['postgres'],
    isServed: (engine) =>
      engine.describe(admin, 'unrelated').fields.some(({ name, nullable }) => name === 'name' && !nullable),
  },
  {
    what: 'a column may no longer be null',
    sql: ['alter table unrelated modify name varchar(20) not null'],
    only: ['mariadb'],
    isServed: (engine) =>
      engine.describe(admin, 'unrelated').fields.some(({ name, nullable }) => name === 'name' && !nullable),
  },
  {
    what: 'a view is created',
    sql: ['create view seen as select id, name from things'],
    isServed: (engine) => engine.index(admin).some(({ name, kind }) => name === 'seen' && kind === 'view'),
  },
];

for (const server of servers) {
  describe(server.dialect, () => {
    test('a new column and a new table are described within the interval, and no running call fails', async () => {
      const { engine, run, observed } = await open(server);
      let isOver = false;
      let calls = 0;
      const failures: unknown[] = [];
      const callers = Array.from({ length: 20 }, async (_, at) => {
        while (!isOver) {
          try {
            const { rows } = await engine.list(admin, {
              collection: 'things',
              fields: ['name', 'owner:name'],
              sort: [{ field: at % 2 ? 'name' : 'id' }],
              limit: 10,
            });
            if (rows.length !== 3) failures.push(rows);
            calls++;
          } catch (error) {
            failures.push(error);
          }
          await systemClock.sleep(5);
        }
      });
      const { build } = engine;
      await run(
        'alter table things add column colour varchar(10)',
        'create table made (id integer not null primary key)',
      );
      await expect.poll(() => fieldsOf(engine, 'things')).toEqual(['id', 'name', 'owner_id', 'colour']);
      await expect.poll(() => engine.index(admin).map(({ name }) => name)).toContain('made');
      const before = calls;
      await expect.poll(() => calls > before + 40).toBe(true);
      isOver = true;
      await Promise.all(callers);
      expect(failures).toEqual([]);
      expect(engine.build).not.toBe(build);
      expect(observed.some(({ type }) => type === 'source.reloaded')).toBe(true);
      await engine.create(admin, { collection: 'things', records: [{ id: 9, name: 'nine', colour: 'red' }] });
    });

    test('a dropped table gives a clear error before it is noticed, and UNKNOWN_COLLECTION afterwards', async () => {
      const { engine, run } = await open(server);
      const list = () => engine.list(admin, { collection: 'unrelated', limit: 5 });
      await list();
      await run('drop table unrelated');
      const error = await list().then(
        () => undefined,
        (failure: Error & { code: string }) => failure,
      );
      expect([error?.code, error?.message]).toEqual(
        error?.code === 'UNKNOWN_COLLECTION'
          ? ['UNKNOWN_COLLECTION', expect.any(String)]
          : ['DATABASE_FAILED', expect.stringContaining('its tables have just changed')],
      );
      await expect.poll(() => codeOf(list)).toBe('UNKNOWN_COLLECTION');
      await engine.list(admin, { collection: 'things', limit: 5 });
    });

    test.each(changes.filter(({ only }) => !only || only.includes(server.dialect)))(
      'a change is noticed: $what',
      async ({ sql, isServed }) => {
        const { engine, run } = await open(server);
        expect(isServed(engine)).toBe(false);
        await run(...sql);
        await expect.poll(() => isServed(engine)).toBe(true);
      },
    );

    test('changed records do not cause a new model', async () => {
      const { engine, run, database } = await open(server);
      const { build } = engine;
      await run(
        "insert into unrelated values (1, 'a'), (2, 'b')",
        "update unrelated set name = 'c'",
        'delete from unrelated where id = 1',
      );
      if (server.dialect === 'postgres') await run('analyze unrelated', 'truncate unrelated');
      if (server.dialect === 'mariadb') await run('analyze table unrelated');
      if (server.dialect === 'postgres') await runSql(database, ['create temporary table passing (id integer)']);
      await systemClock.sleep(2500);
      expect(engine.build).toBe(build);
    });

    test('if code names a dropped column, the old model stays, the log has the line, and a new column fixes it', async () => {
      const { engine, run, observed } = await open(server, (agent) =>
        agent.customizeCollection('unrelated', (collection) => collection.renameField('name', 'label')),
      );
      await run('alter table unrelated drop column name', 'alter table things add column colour varchar(10)');
      await expect
        .poll(() => warningsOf(observed).join('\n'))
        .toMatch(/has no field 'name'.*changed-tables\.test\.ts:\d+/);
      expect(fieldsOf(engine, 'things')).toEqual(['id', 'name', 'owner_id']);
      expect((await engine.list(admin, { collection: 'things', limit: 5 })).rows.length).toBe(3);
      await systemClock.sleep(2500);
      // The same problem is not logged at each try.
      expect(warningsOf(observed).length).toBe(1);
      await run('alter table unrelated add column name varchar(20)');
      await expect.poll(() => fieldsOf(engine, 'things')).toContain('colour');
      expect(fieldsOf(engine, 'unrelated')).toEqual(['id', 'label']);
    });

    test('a role that may read one collection gets no right on a new one', async () => {
      const { engine, run } = await open(server);
      const reader = accessOf({ browse: ['things'] });
      await run('create table secrets (id integer not null primary key)');
      await expect.poll(() => engine.index(admin).some(({ name }) => name === 'secrets')).toBe(true);
      expect(engine.index(reader).map(({ name }) => name)).not.toContain('secrets');
      expect(await codeOf(() => engine.describe(reader, 'secrets'))).toBe('UNKNOWN_COLLECTION');
    });
  });
}

test('without an interval only a reload reads the tables again', async () => {
  const database = await servers[0]!.create();
  onTestFinished(() => database.drop());
  await runSql(database, ['create table things (id integer not null primary key)']);
  const agent = createHeadlessAgent().addDataSource(createSqlDataSource(database.url));
  const engine = await agent.createEngine({ observe: () => undefined, clock: systemClock, limits, schemaSeconds: 0 });
  onTestFinished(() => engine.close());
  let reloads = 0;
  engine.catalogue?.onReload(() => reloads++);
  await runSql(database, ['alter table things add column name varchar(10)']);
  await systemClock.sleep(1500);
  expect(fieldsOf(engine, 'things')).toEqual(['id']);
  await engine.catalogue?.reload();
  expect([fieldsOf(engine, 'things'), reloads]).toEqual([['id', 'name'], 1]);
});

describe('an agent of a host application', () => {
  async function openAgent(isProduction: boolean) {
    const database = await servers[0]!.create();
    onTestFinished(() => database.drop());
    await runSql(database, ['create table things (id integer not null primary key)']);
    const prepared = emptyAgent();
    prepared.agent.addDataSource(createSqlDataSource(database.url));
    await prepared.agent.generateSchemaOnly();
    const settings = { dataDir: join(prepared.folder, 'data'), schemaSeconds: 1 };
    const { agent, logged } = emptyAgent({ isProduction, schemaPath: prepared.schemaPath, settings });
    agent.addDataSource(createSqlDataSource(database.url));
    const { engine } = await agent.start();
    const file = () => readFileSync(prepared.schemaPath, 'utf8');
    return { agent, engine, database, logged, file, generate: () => prepared.agent.generateSchemaOnly() };
  }

  test('writes the schema file when the tables change', async () => {
    const { engine, database, file } = await openAgent(false);
    await runSql(database, ['alter table things add column name varchar(10)']);
    await expect.poll(() => fieldsOf(engine, 'things')).toEqual(['id', 'name']);
    expect(file()).toContain('"field": "name"');
  });

  test('in production serves only what the schema file has, until a restart', async () => {
    const { agent, engine, database, logged, file, generate } = await openAgent(true);
    const before = file();
    await runSql(database, ['alter table things add column name varchar(10)']);
    await expect
      .poll(() => logged.map(([, message]) => message).join('\n'))
      .toMatch(/isProduction: .* differs .* things/);
    expect([fieldsOf(engine, 'things'), file()]).toEqual([['id'], before]);
    // The reviewed file is deployed.
    await generate();
    await expect.poll(() => fieldsOf(engine, 'things')).toEqual(['id', 'name']);
    await runSql(database, ['alter table things add column colour varchar(10)']);
    await agent.restart();
    expect(fieldsOf(engine, 'things')).toEqual(['id', 'name', 'colour']);
  });
});
