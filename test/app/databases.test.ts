// Calls over MCP on every database: a realistic schema, every column type, and 300 tables.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servers, type TestDatabase } from '../databases.ts';
import { startServer, type TestServer } from '../server.ts';
import { nastySchema, quotedColumn, runSql, spaceTable, typeSchemas, unicodeTable } from '../sql/schemas.ts';
import { callTool } from './call.ts';
import { signedIn } from './shop.ts';

interface Opened {
  readonly database: TestDatabase;
  readonly server: TestServer;
  ask(tool: string, args: object): Promise<unknown>;
  close(): Promise<void>;
}

async function open(create: () => Promise<TestDatabase>, statements: readonly string[]): Promise<Opened> {
  const database = await create();
  await runSql(database, statements);
  const server = await startServer({ database: database.url });
  const { token } = await signedIn(server);
  return {
    database,
    server,
    async ask(tool, args) {
      const answer = await callTool(server.mcpUrl, token, tool, { ...args });
      return 'json' in answer ? answer.json : answer;
    },
    async close() {
      await server.stop();
      await database.drop();
    },
  };
}

describe.each(servers)('a realistic schema, on $dialect', ({ dialect, create }) => {
  let at: Opened;
  beforeAll(async () => {
    at = await open(create, [...nastySchema(dialect), ...typeSchemas[dialect]]);
  });
  afterAll(() => at.close());

  const rows = async (collectionName: string, more: object = {}) =>
    ((await at.ask('list', { collectionName, ...more })) as { rows: unknown }).rows;

  test('the index lists every table and view with its relations', async () => {
    expect(await at.ask('describeCollection', {})).toEqual({
      collections: {
        [unicodeTable]: '',
        journal: '',
        kinds: '',
        open_places: 'view',
        [spaceTable]: 'visits',
        places: 'parent children visits',
        visits: `${spaceTable} place`,
      },
    });
  });

  test('a self relation, a composite key and a composite foreign key are described', async () => {
    const describeOne = async (name: string) => {
      const described = (await at.ask('describeCollection', { collectionName: name })) as Record<string, unknown>;
      return [described.key, described.relations];
    };
    expect([await describeOne('places'), await describeOne('visits'), await describeOne(spaceTable)]).toEqual([
      ['id', { children: 'many places', parent: 'one places', visits: 'many visits' }],
      [['place_id', 'day'], { [spaceTable]: `many ${spaceTable}`, place: 'one places' }],
      ['line', { visits: 'one visits' }],
    ]);
  });

  test('relations are followed: to itself twice, and over two columns', async () => {
    expect([
      await rows('places', { fields: ['id', 'parent:name', 'parent:parent:code'] }),
      await rows(spaceTable, { fields: ['line', quotedColumn, 'visits:note', 'visits:place:name'] }),
    ]).toEqual([
      [
        [1, null, null],
        [2, 'Root', null],
        [3, 'Root', null],
        [4, '100% _pure_', 'r'],
        [5, 'ÄRGER Über', 'p'],
      ],
      [
        [1, 'a', null, 'Root'],
        [2, null, '', '100% _pure_'],
        [3, 'c', null, null],
      ],
    ]);
  });

  test('fields with quotes, spaces, dots and non-ASCII letters are read, filtered and sorted by', async () => {
    expect([
      await rows(unicodeTable, { fields: ['Nummer.1', 'höhe', 'wie?'], sort: '-wie?' }),
      await rows(spaceTable, { fields: ['line'], filters: { field: quotedColumn, operator: 'Equal', value: 'c' } }),
    ]).toEqual([
      [
        [1, 1.5, 'so'],
        [2, null, 'oder so'],
      ],
      [[3]],
    ]);
  });

  test('wildcards in values and searches are plain characters', async () => {
    const named = (operator: string, value: string) =>
      rows('places', { fields: ['id'], filters: { field: 'name', operator, value } });
    expect([
      await named('Contains', '%'),
      await named('Contains', '_'),
      await named('Contains', '\\'),
      await named('StartsWith', '100%'),
      await named('Equal', "' OR 1=1 --"),
      await rows('places', { fields: ['id'], search: '*?[x]' }),
    ]).toEqual([[[2]], [[2]], [[3]], [[2]], [], [[3]]]);
  });

  test('cursors page over a composite key without losing a row', async () => {
    const seen: unknown[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = (await at.ask('list', {
        collectionName: 'visits',
        fields: ['place_id', 'day'],
        sort: { field: 'guests', ascending: false },
        pagination: { size: 1 },
        ...(cursor && { cursor }),
      })) as { rows: unknown[]; hasMore: boolean; nextCursor?: string };
      seen.push(...page.rows);
      if (!page.hasMore || seen.length > 9) break;
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([
      [2, '2024-01-01'],
      [1, '2024-01-01'],
      [1, '2024-01-02'],
    ]);
  });

  test('a view and a table without a key are listed and counted', async () => {
    const journal = (await at.ask('list', {
      collectionName: 'journal',
      enableCount: true,
      fields: ['line'],
    })) as object;
    expect([await rows('open_places', { fields: ['id', 'name'], sort: 'id' }), journal]).toEqual([
      [
        [1, 'Root'],
        [4, 'ÄRGER Über'],
      ],
      { columns: ['line'], rows: expect.arrayContaining([['x'], ['x'], [null]]), hasMore: false, totalCount: 3 },
    ]);
  });

  test('every column type has its documented type and values', async () => {
    const described = (await at.ask('describeCollection', { collectionName: 'kinds' })) as { fields: object };
    const listed = (await at.ask('list', { collectionName: 'kinds', format: 'records' })) as { records: object[] };
    const [first, second] = listed.records;
    const values = Object.fromEntries(
      Object.entries(first ?? {}).map(([name, value]) => [name, [(described.fields as never)[name], value]]),
    );
    const filled = Object.entries(second ?? {}).filter(([, value]) => value !== null);
    // One file per database, so skipped databases do not make snapshots obsolete.
    const found = `${JSON.stringify([values, filled.map(([name]) => name)], null, 2)}\n`;
    await expect(found).toMatchFileSnapshot(`__snapshots__/types-${dialect}.txt`);
  });
});

describe.each(servers)('300 tables on $dialect', ({ create }) => {
  const TABLES = 300;
  let at: Opened;
  beforeAll(async () => {
    const statements = Array.from({ length: TABLES }, (_, index) => {
      const parent = index === 0 ? '' : `, parent_id integer references t${index - 1} (id)`;
      return `create table t${index} (id integer not null primary key, name varchar(40)${parent})`;
    });
    at = await open(create, [
      ...statements,
      "insert into t298 values (1, 'one', null)",
      "insert into t299 values (2, 'two', 1)",
    ]);
  });
  afterAll(() => at.close());

  test('are read in at most 8 catalogue statements, described and listed', async () => {
    const introspected = at.server.observed.flatMap((one) =>
      one.type === 'source.introspected' ? [[one.tables, one.statements <= 8]] : [],
    );
    const { collections } = (await at.ask('describeCollection', {})) as { collections: object };
    expect([
      introspected,
      Object.keys(collections).length,
      await at.ask('list', { collectionName: 't299', fields: ['id', 'parent:name'] }),
    ]).toEqual([[[TABLES, true]], TABLES, { columns: ['id', 'parent:name'], rows: [[2, 'one']], hasMore: false }]);
  });
});
