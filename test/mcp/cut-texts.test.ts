// Lists show the start of long texts, so databases cut them. The answers must not differ from those over whole texts.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Source } from '../../src/agent/sources/source.ts';
import { estimateBytes } from '../../src/agent/sources/sql/answer-size.ts';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { type Dialect, servers, type TestDatabase } from '../databases.ts';
import { runSql, sqliteIsolates } from '../sql/schemas.ts';
import { ask } from './asking.ts';
import { type McpTestServer, openMcpServer } from './mcp-server.ts';

const texts = [
  'a'.repeat(1999),
  'a'.repeat(2000),
  'a'.repeat(2001),
  `${'a'.repeat(1998)}😀`,
  `${'a'.repeat(1998)}😀b`,
  `${'a'.repeat(1999)}😀`,
  `${'a'.repeat(1999)}😀b`,
  '漢'.repeat(1500),
  '漢'.repeat(2000),
  '漢'.repeat(2001),
  '😀'.repeat(1000),
  '😀'.repeat(1001),
  '漢😀\n'.repeat(30_000),
  'e\u0301'.repeat(1500),
  'é'.repeat(2000),
  'é'.repeat(2001),
  ' '.repeat(3000),
  `x${' '.repeat(3000)}`,
  '\r\n\t'.repeat(1000),
  `'"\\{}?$1:%_`.repeat(1000),
  '12 0 3000',
  '["',
  '',
  null,
  'z'.repeat(70_000),
];
/** Only on SQLite: NUL, and blobs in a text column. */
const odd = [
  "cast(x'6100' || cast(replace(hex(zeroblob(1500)), '0', 'b') as blob) as text)",
  "cast(replace(hex(zeroblob(1500)), '0', 'b') || char(0) || 'c' as text)",
  'zeroblob(3000)',
  "cast('ff' || replace(hex(zeroblob(1500)), '0', 'b') as blob)",
  "cast(x'ff' || cast(replace(hex(zeroblob(1500)), '0', 'b') as blob) as text)",
  '123456789',
];
const types: Record<Dialect, { text: string; narrow: string; bounded: string; json: string }> = {
  sqlite: { text: 'text', narrow: 'varchar(9)', bounded: 'char(200)', json: 'json' },
  mariadb: { text: 'longtext', narrow: 'varchar(9000) character set latin1', bounded: 'char(200)', json: 'json' },
  postgres: { text: 'text', narrow: 'varchar', bounded: 'char(3000)', json: 'jsonb' },
};
const literal = (dialect: Dialect, text: string | null): string => {
  if (text === null) return 'null';
  const hex = Buffer.from(text).toString('hex');
  if (dialect === 'sqlite') return `cast(x'${hex}' as text)`;
  return dialect === 'mariadb' ? `convert(x'${hex}' using utf8mb4)` : `convert_from('\\x${hex}', 'UTF8')`;
};

/** Counts what the database returns, and cuts no text if `isWhole`. */
function observe(source: Source, isWhole = false) {
  const seen = { statements: 0, bytes: 0 };
  const read: Source['read'] = async ({ cut, ...select }, options) => {
    const rows = await source.read({ ...select, ...(cut && !isWhole && { cut }) }, options);
    seen.statements++;
    for (const row of rows)
      seen.bytes += estimateBytes(row.map((value) => (value as { start?: string } | null)?.start ?? value));
    return rows;
  };
  return { source: { ...source, read }, seen };
}

const open = (database: TestDatabase) =>
  createSqlSource(database.url, { observe: () => undefined, clock: systemClock });
const hasChildren = servers.filter(({ dialect }) => dialect !== 'sqlite' || sqliteIsolates);

describe.each(servers)('$dialect', (server) => {
  const { dialect } = server;
  const { text, narrow, bounded, json } = types[dialect];
  let database: TestDatabase;
  let cutting: McpTestServer;
  let whole: McpTestServer;
  let seen: ReturnType<typeof observe>['seen'];
  beforeAll(async () => {
    database = await server.create();
    const values = [...texts.map((each) => literal(dialect, each)), ...(dialect === 'sqlite' ? odd : [])];
    const latin = literal(dialect, 'é'.repeat(2500));
    const document = `'${JSON.stringify(Array(1000).fill('word'))}'`;
    const last = (at: number) => (at % 2 ? latin : 'null');
    await runSql(database, [
      `create table notes (id integer primary key, owner integer, body ${text}, further ${text}, narrow ${narrow}, bounded ${bounded}, document ${json})`,
      ...values.map(
        (value, at) => `insert into notes values (${at + 1}, 2, ${value}, null, ${last(at)}, 'x  ', ${document})`,
      ),
      `insert into notes values (100, 3, '${'secret'.repeat(1000)}', 'x', 'x', 'x', null)`,
      `create table answers (id integer primary key, note_id integer references notes (id), line ${text})`,
      ...values.map((value, at) => `insert into answers values (${at + 1}, ${at + 1}, ${value})`),
      `create table articles (id integer primary key, title varchar(20), ${Array.from({ length: 8 }, (_, at) => `part${at} ${text}`).join(', ')})`,
      ...[1, 2].map(
        (id) =>
          `insert into articles values (${id}, 'article', ${Array(8)
            .fill(`'${'word '.repeat(2000)}'`)
            .join(', ')})`,
      ),
      `create table wide (id integer primary key, ${Array.from({ length: 120 }, (_, at) => `c${at} ${text}`).join(', ')})`,
      `insert into wide (id, c0, c49, c50, c119) values (1, ${Array(4)
        .fill(literal(dialect, 'é'.repeat(3000)))
        .join(', ')}), (2, 'a', 'b', 'c', null)`,
    ]);
    const observed = observe(open(database));
    seen = observed.seen;
    cutting = await openMcpServer({ source: observed.source });
    whole = await openMcpServer({ source: observe(open(database), true).source });
  });
  afterAll(async () => {
    await cutting?.close();
    await whole?.close();
    await database?.drop();
  });

  const all = { size: 1000 };
  const equal = (field: string, value: unknown) => ({ field, operator: 'Equal', value });
  const body = (id: number) => ({ collectionName: 'notes', filters: equal('id', id), fields: ['body'] });
  test.each([
    ['a page', { collectionName: 'notes' }],
    ['a long page', { collectionName: 'notes', pagination: all, fields: ['id', 'body'] }],
    ['a page as records', { collectionName: 'notes', fields: ['id', 'body', 'narrow'], format: 'records' }],
    ['short columns and documents', { collectionName: 'notes', fields: ['bounded', 'narrow', 'document'] }],
    ['the second page by number', { collectionName: 'notes', pagination: { size: 4, number: 3 }, fields: ['body'] }],
    ['an order by the text', { collectionName: 'notes', sort: [{ field: 'body' }], pagination: all, fields: ['id', 'body'] }],
    ['an order by another field', { collectionName: 'notes', sort: [{ field: 'narrow', ascending: false }], fields: ['body'] }],
    ['an order by a related text', { collectionName: 'answers', sort: [{ field: 'note:narrow' }], fields: ['line'] }],
    ['a related text', { collectionName: 'answers', fields: ['id', 'line', 'note:body'], pagination: all }],
    ['related records', { collectionName: 'answers', fields: ['note:body', 'note:id'], format: 'records' }],
    ['a missing related record', { collectionName: 'answers', filters: { field: 'id', operator: 'GreaterThan', value: 20 } }],
    ['a field that a computed column needs', { collectionName: 'notes', fields: ['body', { name: 'one', expression: { coalesce: ['body', 'narrow'] } }] }],
    ['a search', { collectionName: 'notes', search: 'aaa', fields: ['body'] }],
    ['different values', { collectionName: 'notes', fields: ['body'], distinct: true }],
    ['one record of a page', { collectionName: 'notes', pagination: { size: 1 }, fields: ['body'] }],
    ['one record by another field', { collectionName: 'notes', filters: { field: 'body', operator: 'StartsWith', value: 'zz' } }],
    ['the middle of a text', { ...body(13), cells: { body: { from: 2001 } } }],
    ['the end of a text', { ...body(25), cells: { body: { from: 69_000 } } }],
    ['records that fill an answer alone', { collectionName: 'articles' }],
    ['more texts than a database cuts', { collectionName: 'wide', fields: ['c0', 'c49', 'c50', 'c119'] }],
    ['each field of a wide collection', { collectionName: 'wide' }],
    ['no record', { collectionName: 'notes', filters: equal('id', 0) }],
  ])('the answer is that over whole texts: %s', async (_, given) => {
    const answer = await ask(cutting, 'list', given);
    expect(answer).toBe(await ask(whole, 'list', given));
    expect(answer).toMatch(/^\{"(?:columns|records)"/);
    expect(answer).not.toContain('secret');
  }); // biome-ignore format: one call a line

  test('the answer is that over whole texts: each record by its key', async () => {
    for (let id = 1; id <= texts.length + odd.length; id++)
      expect(await ask(cutting, 'list', body(id))).toBe(await ask(whole, 'list', body(id)));
  });

  test('the answer is that over whole texts: the related records of one', async () => {
    const given = { collectionName: 'notes', relationName: 'answers', parentRecordId: 13 };
    expect(await ask(cutting, 'listRelated', given)).toBe(await ask(whole, 'listRelated', given));
  });

  test('the cursor of a page continues after it', async () => {
    const given = {
      collectionName: 'notes',
      fields: ['id', 'body'],
      sort: [{ field: 'narrow' }],
      pagination: { size: 3 },
    };
    let cursor: string | undefined;
    const ids: unknown[] = [];
    do {
      const answer = JSON.parse(await ask(cutting, 'list', { ...given, ...(cursor && { cursor }) }));
      ids.push(...answer.rows.map(([id]: readonly unknown[]) => id));
      cursor = answer.nextCursor;
    } while (cursor);
    const { rows } = JSON.parse(await ask(whole, 'list', { ...given, fields: ['id'], pagination: all }));
    expect(ids).toEqual(rows.map(([id]: readonly unknown[]) => id));
  });

  test('a record that is asked for by its key is one statement, another single record two', async () => {
    const statements = async (given: Record<string, unknown>) => {
      const before = seen.statements;
      await ask(cutting, 'list', given);
      return seen.statements - before;
    };
    expect(await statements(body(25))).toBe(1);
    expect(await statements({ collectionName: 'notes', pagination: { size: 1 } })).toBe(1);
    expect(await statements({ ...body(25), filters: { field: 'id', operator: 'In', value: [25] } })).toBe(
      dialect === 'sqlite' ? 1 : 2,
    );
    expect(await statements({ collectionName: 'notes' })).toBe(1);
  });
});

describe.each(hasChildren)('$dialect', (server) => {
  const { dialect } = server;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await server.create();
    const million = dialect === 'sqlite' ? "replace(hex(zeroblob(500000)), '0', 'é')" : "repeat('é', 1000000)";
    await runSql(database, [
      `create table memos (id integer primary key, kind integer, body ${types[dialect].text})`,
      ...Array.from(
        { length: 20 },
        (_, at) => `insert into memos values (${at + 1}, ${at === 3 ? 'null' : 7}, ${million})`,
      ),
    ]);
  });
  afterAll(() => database.drop());

  test.each([
    ['in the order of the key', {}],
    ['in the order of another field', { sort: [{ field: 'kind' }] }],
    ['with a computed column', { fields: ['body', { name: 'more', expression: { plus: ['kind', 1] } }] }],
  ])('twenty cells of a million characters are less than 100 kB from the database, %s', async (_, given) => {
    const { source, seen } = observe(open(database));
    const testServer = await openMcpServer({ source });
    onTestFinished(() => testServer.close());
    const answer = await ask(testServer, 'list', { collectionName: 'memos', pagination: { size: 100 }, ...given });
    expect(answer).toContain('é…[2000 of 1000000 characters; for more, list this record with');
    expect(seen).toEqual({ statements: 1, bytes: expect.any(Number) });
    expect(seen.bytes).toBeLessThan(100_000);
  });
});
