// Time and size of every page of the console over 300 tables, one of them with a million rows, a thousand users, and a
// log of 200,000 entries. The time is that of the whole request, by a client in the same process, so it is an upper
// limit of the server time. Prints a Markdown table for RESULTS.md, and fails if a page misses its target.
//
//   npx tsx bench/console.ts [--rounds 40] [--quick]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { routes } from '../src/console/routes.ts';
import { createBrowser } from '../test/oauth/flow.ts';
import { startServer } from '../test/server.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '40' }, quick: { type: 'boolean', default: false } },
});
const rounds = values.quick ? 2 : Number(values.rounds);
const size = values.quick ? 0.01 : 1;
const TARGET_MS = 300;
const TARGET_BYTES = 150_000;

const folder = mkdtempSync(join(tmpdir(), 'portico-bench-console-'));
const path = join(folder, 'data.sqlite');
makeData();
const server = await startServer({ database: `sqlite:${path}` });
try {
  const { store } = server;
  const ada = (await store.identity.findUserByEmail(server.account.email))!;
  const { renderingId } = (await store.permissions.caller(ada.id))!;
  for (let at = 0; at < 1000 * size; at += 1)
    await store.identity.addUser({
      ...{ email: `person${at}@example.com`, firstName: 'Person', lastName: `${at}` },
      ...{ team: ada.team, role: ada.role, level: 'user' },
    });
  const now = Date.now();
  for (let at = 0; at < 200_000 * size; at += 1) {
    const isWrite = at % 4 === 0;
    store.activity.record({
      ...{ userId: ada.id, renderingId, clientId: 'bench', clientName: 'Bench', action: isWrite ? 'update' : 'list' },
      ...{ type: isWrite ? 'write' : 'read', collection: 'orders', outcome: at % 50 === 0 ? 'failed' : 'completed' },
      ...{ startedAt: now - at * 500, durationMs: 2 },
    });
    if (at % 5000 === 0) await store.activity.flush();
  }
  await store.activity.flush();
  for (let id = 1; id <= 20; id += 1) {
    const given = { collectionName: 'orders', recordId: `${id}`, attributes: { note: 'changed' } };
    await store.approvals.ask({
      ...{ userId: ada.id, renderingId, clientId: 'bench', clientName: 'Bench', tool: 'update', collection: 'orders' },
      ...{ recordIds: [`${id}`], policy: { policy: 'ask-person', secondPerson: false }, args: `${id}`, found: '' },
      content: { arguments: given, preview: { count: 1, changes: [] } },
    });
  }
  const [approval] = await store.approvals.list('pending', 1);
  const parameters: Readonly<Record<string, string>> = {
    '/approvals/:id': `/approvals/${approval!.id}`,
    '/people/:id': `/people/${ada.id}`,
    '/roles/:name': `/roles/${ada.role}`,
    '/roles/:name/:collection': `/roles/${ada.role}/orders`,
    '/teams/:name': `/teams/${ada.team}`,
    '/teams/:name/:collection': `/teams/${ada.team}/orders`,
    '/collections/:name': '/collections/orders',
    '/playground/:name': '/playground/list',
  };
  const pages = routes.flatMap((route) => {
    if (route.open || route.frameless || !route.get) return [];
    const page = parameters[route.page] ?? route.page;
    return page.includes(':') ? [] : [page];
  });
  const browser = createBrowser();
  await browser.press(await browser.open(server.consoleUrl), 'sign-in', { ...server.account });
  const missed: string[] = [];
  console.log('| Page | Median ms | 95th percentile ms | kB |\n| --- | ---: | ---: | ---: |');
  for (const page of pages) {
    const times: number[] = [];
    let bytes = 0;
    for (let round = 0; round < rounds; round += 1) {
      const from = performance.now();
      const answer = await browser.open(server.consoleUrl + page);
      times.push(performance.now() - from);
      if (answer.status !== 200) throw new Error(`${page} answers ${answer.status}`);
      bytes = Buffer.byteLength(answer.html);
    }
    times.sort((a, b) => a - b);
    const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
    const [median, slow] = [at(0.5), at(0.95)];
    if (slow > TARGET_MS || bytes > TARGET_BYTES) missed.push(page);
    console.log(`| ${page || '/'} | ${median.toFixed(1)} | ${slow.toFixed(1)} | ${(bytes / 1000).toFixed(1)} |`);
  }
  const targets = `${TARGET_MS} ms at the 95th percentile and ${TARGET_BYTES / 1000} kB`;
  console.log(`\n${pages.length} pages, ${rounds} requests each. Above ${targets}: ${missed.join(', ') || 'none'}.`);
  if (missed.length > 0 && !values.quick) process.exitCode = 1;
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function makeData(): void {
  const database = new Database(path);
  database.pragma('synchronous = off');
  for (let at = 1; at < 300; at += 1) {
    const columns = Array.from({ length: 12 }, (_, column) => `field_${column} text`).join(', ');
    database.exec(
      `create table thing_${at} (id integer primary key, order_id integer references orders(id), ${columns})`,
    );
  }
  database.exec('create table orders (id integer primary key, note text, total real, status text)');
  database.exec(`with recursive n(id) as (select 1 union all select id + 1 from n where id < ${1_000_000 * size})
    insert into orders select id, 'note ' || id, id % 500, case id % 3 when 0 then 'open' else 'sent' end from n`);
  database.close();
}
