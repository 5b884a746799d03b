// A total that takes too long must not fail or hold up the records it belongs to.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { sqliteIsolates } from '../sql/schemas.ts';
import { openMcpServer } from './mcp-server.ts';

test.runIf(sqliteIsolates)('a count over its time limit leaves the list, with a null total and a note', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-count-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'numbers.sqlite');
  const database = new (loadSqliteDriver().driver)(path);
  database.exec(`create table rows_of (n integer primary key);
    insert into rows_of with recursive counted (n) as (select 1 union all select n + 1 from counted where n < 30000) select n from counted`);
  // Each row takes a millisecond: a page is quick, and counting takes half a minute.
  database.exec(`create view numbers as
    select n from rows_of where (select count(*) from rows_of as others where others.n <> rows_of.n) > 0`);
  database.exec('create view few as select 1 as n union all select 2');
  database.close();

  const source = createSqlSource(`sqlite:${path}`, { observe: () => undefined, clock: systemClock });
  const server = await openMcpServer({ source });
  onTestFinished(() => server.close());
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: 'Bearer user-1' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }) as never);
  onTestFinished(() => client.close());
  const list = async (collectionName: string) => {
    const args = { collectionName, pagination: { size: 2 }, enableCount: true };
    const { content } = await client.callTool({ name: 'list', arguments: args });
    return JSON.parse((content as { text: string }[])[0]!.text);
  };

  expect(await list('few')).toEqual({ columns: ['n'], rows: [[1], [2]], hasMore: false, totalCount: 2 });
  const began = systemClock.monotonic();
  expect(await list('numbers')).toEqual({
    columns: ['n'],
    rows: [[1], [2]],
    hasMore: true,
    totalCount: null,
    note: expect.stringContaining('counting took longer than 2 s'),
  });
  expect(systemClock.monotonic() - began).toBeLessThan(10_000);
});
