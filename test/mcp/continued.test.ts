// Truncated results can be continued to their end: groups, long texts and files, on every database. The joined parts
// must equal the result of plain SQL.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers, type TestDatabase } from '../databases.ts';
import { askSql, runSql } from '../sql/schemas.ts';
import { ask } from './asking.ts';
import { type McpTestServer, modern, openMcpServer, post } from './mcp-server.ts';

const GROUPS = 958;
/** Has a surrogate pair wherever a cut may fall. */
const long = Array.from({ length: 12_000 }, (_, at) => (at % 500 === 499 ? '😀' : `w${at % 10} `)).join('');
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(50_000, 3)]);
const types = {
  sqlite: { text: 'TEXT', json: 'JSON', blob: 'BLOB', bytes: (hex: string) => `x'${hex}'` },
  mariadb: { text: 'MEDIUMTEXT', json: 'JSON', blob: 'MEDIUMBLOB', bytes: (hex: string) => `x'${hex}'` },
  postgres: { text: 'TEXT', json: 'JSONB', blob: 'BYTEA', bytes: (hex: string) => `'\\x${hex}'` },
};

interface Shown {
  readonly rows: readonly (readonly unknown[])[];
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

describe.each(servers)('$dialect', (server) => {
  let database: TestDatabase;
  let testServer: McpTestServer;
  beforeAll(async () => {
    database = await server.create();
    const { text, json, blob, bytes } = types[database.dialect];
    const rentals = Array.from({ length: 2000 }, (_, at) => {
      const film = at < GROUPS ? at : (at * at) % GROUPS;
      return `(${at + 1}, ${film === 7 ? 'NULL' : film}, ${film % 13})`;
    });
    const large = JSON.stringify({ words: Array.from({ length: 4000 }, (_, at) => `word ${at}`) });
    await runSql(database, [
      'CREATE TABLE rentals (id INTEGER PRIMARY KEY, film INTEGER, cents INTEGER NOT NULL)',
      `INSERT INTO rentals VALUES ${rentals.join(', ')}`,
      `CREATE TABLE books (id INTEGER PRIMARY KEY, body ${text}, facts ${json}, cover ${blob})`,
      `INSERT INTO books VALUES (1, '${long}', '${large}', ${bytes(png.toString('hex'))}), (2, 'short', NULL, NULL)`,
    ]);
    testServer = await openMcpServer({
      source: createSqlSource(database.url, { observe: () => undefined, clock: systemClock }),
    });
  });
  afterAll(async () => {
    await testServer.close();
    await database.drop();
  });

  const call = async (tool: string, given: Record<string, unknown>) => JSON.parse(await ask(testServer, tool, given));

  test.each([
    ['the largest value first', {}, 'n DESC, film'],
    ['by groups', { order: 'groups' }, 'film'],
  ])('the cursor reaches all groups, %s', async (_, given, order) => {
    const asked = { collectionName: 'rentals', operation: 'count', groups: ['film'], limit: 1000, ...given };
    const rows: unknown[][] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const answer = await call('aggregate', { ...asked, ...(cursor && { cursor }), limit: 300 + pages });
      rows.push(...answer.rows);
      expect(answer.hasMore).toBe(answer.nextCursor !== undefined);
      cursor = answer.nextCursor;
      pages++;
    } while (cursor && pages < 20);
    const nulls = database.dialect === 'postgres' ? ' NULLS FIRST' : '';
    const sql = `SELECT film, count(*) AS n FROM rentals GROUP BY film ORDER BY ${order}${nulls}`;
    expect(rows).toEqual((await askSql(database, sql)).map(({ film, n }) => [film, Number(n)]));
    expect([rows.length, pages]).toEqual([GROUPS, 4]);
  });

  test('sums that are sorted outside the database have pages too', async () => {
    const asked = { collectionName: 'rentals', operation: 'sum', field: 'cents', groups: ['film'], limit: 500 };
    const first = await call('aggregate', asked);

    const second = await call('aggregate', { ...asked, cursor: first.nextCursor, format: 'records' });
    const all = [...first.rows, ...second.records.map((record: Record<string, unknown>) => Object.values(record))];
    expect([all.length, new Set(all.map(([film]) => film)).size, second.hasMore]).toEqual([GROUPS, GROUPS, false]);
    const values = all.map(([, sum]) => sum as number);
    expect(values).toEqual([...values].sort((a, b) => b - a));
  });

  test('a cursor for other groups, another filter or a list is refused', async () => {
    const asked = { collectionName: 'rentals', operation: 'count', groups: ['film'], limit: 2 };
    const { nextCursor: cursor } = await call('aggregate', asked);
    const listed = await call('list', { collectionName: 'rentals', pagination: { size: 1 } });
    const others = [
      { ...asked, groups: ['cents'], cursor },
      { ...asked, operation: 'sum', field: 'cents', cursor },
      { ...asked, filters: { field: 'film', operator: 'Equal', value: 1 }, cursor },
      { ...asked, order: 'groups', cursor },
      { ...asked, cursor: listed.nextCursor },
      { ...asked, cursor: `${cursor}x` },
    ];
    for (const other of others) expect(await ask(testServer, 'aggregate', other)).toMatch(/^INVALID_CURSOR: /);
    expect(await ask(testServer, 'list', { collectionName: 'rentals', cursor })).toMatch(/^INVALID_CURSOR: /);
  });

  /** Follows the hint in a truncated cell until the last part. */
  const readOn = async (field: string, given: Record<string, unknown>, shown: (answer: Shown) => unknown) => {
    const parts: string[] = [];
    let cells: unknown;
    do {
      const answer = await call('list', { ...given, ...(cells !== undefined && { cells }) });
      const [, part, advice] = /^(.*?)(?:…\[\d+ of \d+ characters; for more, .*"cells":(\{.*\})\])?$/su.exec(
        String(shown(answer)),
      )!;
      parts.push(part!);
      cells = advice === undefined ? undefined : JSON.parse(advice);
      if (advice !== undefined) expect(Object.keys(cells as object)).toEqual([field]);
    } while (cells !== undefined && parts.length < 50);
    return { text: parts.join(''), parts };
  };
  const one = { field: 'id', operator: 'Equal', value: 1 };

  test('the notes of a clipped text lead to its end', async () => {
    const asked = { collectionName: 'books', fields: ['body'], filters: one };
    const { text, parts } = await readOn('body', asked, ({ rows }) => rows[0]![0]);
    expect(text).toBe(long);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.length).toBeLessThan(8);
    // No part splits a surrogate pair.
    for (const part of parts) expect(Buffer.from(part).toString()).toBe(part);
  });

  test('also in the records format, with several fields, and from a page of several records', async () => {
    const asked = { collectionName: 'books', fields: ['id', 'body', 'facts'], format: 'records' };
    const { text } = await readOn('body', asked, ({ records }) => records[0]!.body);
    expect(text).toBe(long);
  });

  test('a large JSON value is read as text', async () => {
    const asked = { collectionName: 'books', fields: ['facts'], filters: one };
    const { text } = await readOn('facts', asked, ({ rows }) =>
      typeof rows[0]![0] === 'string' ? rows[0]![0] : JSON.stringify(rows[0]![0]),
    );
    expect((JSON.parse(text) as { words: string[] }).words.length).toBe(4000);
  });

  test('invalid cells are refused with what to send', async () => {
    const asked = { collectionName: 'books', fields: ['id'], filters: one };
    expect([
      await ask(testServer, 'list', { ...asked, cells: { body: { from: 5 } } }),
      await ask(testServer, 'list', { ...asked, cells: { id: { from: -1 } } }),
      await ask(testServer, 'list', { ...asked, cells: { id: { to: 1 } } }),
      await ask(testServer, 'list', { ...asked, cells: 'id' }),
    ]).toEqual([
      "INVALID_ARGUMENT: cells.body: 'body' is not shown; add it to fields.",
      'INVALID_ARGUMENT: cells.id.from: send a whole number of at least 0.',
      'INVALID_ARGUMENT: cells.id: send {"body":{"from":2000}}.',
      'INVALID_ARGUMENT: cells: send an object such as {"body":{"from":2000}}.',
    ]);
  });

  test('a file shows its type and size, and the resource that the note names has its content', async () => {
    const answer = await call('list', { collectionName: 'books', fields: ['id', 'cover'] });
    expect(answer).toMatchObject({
      rows: [
        [1, `image/png, ${png.length} bytes`],
        [2, null],
      ],
      note: 'cover: shown as type and size. The content is the resource portico://files/{collection}/{id}/{field}.',
    });
    const read = async (uri: string) => {
      const { body, headers } = modern('resources/read', { uri });
      return (await post(testServer, body, { ...headers, 'mcp-name': uri })).body as {
        result?: { contents: unknown[] };
        error?: unknown;
      };
    };
    const uri = 'portico://files/books/1/cover';
    expect((await read(uri)).result?.contents).toEqual([{ uri, mimeType: 'image/png', blob: png.toString('base64') }]);
    for (const missing of ['books/2/cover', 'books/3/cover', 'nothing/1/cover', 'books/1/body', 'books/1/none'])
      expect([missing, (await read(`portico://files/${missing}`)).error !== undefined]).toEqual([missing, true]);
  });

  test('describeCollection shows the type File', async () => {
    const { fields } = await call('describeCollection', { collectionName: 'books' });
    expect(fields.cover).toBe('File? unsortable');
  });
});
