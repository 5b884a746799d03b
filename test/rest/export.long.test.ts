// A table of 100,000 records from every database: every record once, in constant memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createSqlSource } from '../../src/agent/sources/sql/source.ts';
import { systemClock } from '../../src/core/clock.ts';
import { servers } from '../databases.ts';
import { runSql } from '../sql/schemas.ts';
import { openRestServer } from './rest-server.ts';
import { openStores } from './stores.ts';

const RECORDS = 100_000;
/** Out of 30 MB in total. */
const GROWTH_BYTES = 8_000_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const fill = Array.from({ length: 5 }, (_, at) => `select ${at * 2} as d union all select ${at * 2 + 1}`).join(
  ' union all ',
);
const digits = (name: string) => `(${fill}) ${name}`;
const made = `a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d`;

test.each(servers.map((server) => [server.dialect, server] as const))('%s', async (_dialect, server) => {
  const database = await server.create();
  await runSql(database, [
    'create table notes (id integer not null primary key, place integer not null, body varchar(400) not null)',
    `insert into notes select n, n % 1000, ${server.dialect === 'mariadb' ? "repeat('x', 300)" : `'${'x'.repeat(300)}'`} from (select ${made} as n from ${['a', 'b', 'c', 'e', 'f'].map(digits).join(', ')}) all_of_them`,
  ]);
  const source = createSqlSource(database.url, { clock: systemClock, observe: () => {} });
  const testServer = await openRestServer({ engine: await openStores(() => {}, source) });
  const response = await testServer.ask('/notes.csv?sort=-place');
  const heaps: number[] = [];
  const seen = new Uint8Array(RECORDS);
  const decoder = new TextDecoder();
  let [rest, parts] = ['', 0];
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(part, { stream: true })).split('\r\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const id = Number(line.slice(0, line.indexOf(',')));
      if (Number.isInteger(id)) seen[id]!++;
    }
    if (parts++ % 50 === 0) {
      collect();
      heaps.push(process.memoryUsage().heapUsed);
    }
  }
  await testServer.close();
  await database.drop();
  expect([seen.every((times) => times === 1), rest, heaps.length > 5]).toEqual([true, '', true]);
  // The first sample is the baseline, taken while code is still being compiled.
  const [, first = 0, ...later] = heaps;
  expect(Math.max(...later) - first).toBeLessThan(GROWTH_BYTES);
});
