// npx tsx bench/run.ts [list|tools|oauth ...] [--rounds 7] [--seconds 3]: prints Markdown tables for RESULTS.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeDemo } from '../src/cli/demo.ts';
import { systemClock } from '../src/core/clock.ts';
import { loadSqliteDriver } from '../src/core/sqlite.ts';
import { servers } from '../test/databases.ts';
import { obtainTokens, refresh, register } from './client.ts';
import type { Work } from './contestants/work.ts';
import { copyShop } from './copy.ts';
import {
  answerOf,
  type Contestant,
  cpuSeconds,
  pinLoadGenerator,
  type Running,
  report,
  runRounds,
  start,
  stop,
} from './driver.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '7' }, seconds: { type: 'string', default: '3' } },
});
const options = { rounds: Number(values.rounds), seconds: Number(values.seconds), connections: 16 };
const wanted = positionals.length > 0 ? positionals : ['list', 'mariadb', 'tools', 'oauth'];

const PAGE_SIZE = 15;
const fields = ['id', 'number', 'status', 'total', 'coupon', 'shipping_fee', 'customer:last_name'];
const filter = { field: 'status', operator: 'Equal', value: 'paid' };
const sort = [{ field: 'placed_at', ascending: false }];
const listCall = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list', arguments: { collectionName: 'orders', fields, filters: filter, sort: sort[0] } },
};
const toolsCall = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const MODERN = '2026-07-28';

const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** As a client of 2026-07-28 sends it: the revision and its capabilities with every request. */
function modern(call: typeof listCall | typeof toolsCall): { body: string; headers: Record<string, string> } {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  };
  const params = { ...('params' in call ? call.params : {}), _meta };
  const name = 'params' in call ? { 'mcp-name': call.params.name } : {};
  return {
    body: JSON.stringify({ ...call, params }),
    headers: { ...headers, 'mcp-protocol-version': MODERN, 'mcp-method': call.method, ...name },
  };
}

const tsx = [process.execPath, '--import', 'tsx'];
const bare = (name: string, file: string, work: Work, call: object): Contestant => ({
  name,
  command: [...tsx, join(import.meta.dirname, 'contestants', file)],
  env: { BENCH_WORK: JSON.stringify(work) },
  request: async (address) => ({ url: `${address}/mcp`, headers, body: JSON.stringify(call) }),
});

let dataDirs = 0;
let sql = '';
function portico(name: string, database: string, call: typeof listCall | typeof toolsCall, era: 'legacy' | 'modern') {
  const contestant: Contestant = {
    name,
    command: [...tsx, join(import.meta.dirname, 'contestants', 'portico.ts')],
    env: {
      SERVICE_DATA_DIR: join(folder, `data-${dataDirs++}`),
      SERVICE_DATABASE_URL: database,
      MCP_SERVER_PORT: '0',
      BENCH_REQUEST: JSON.stringify({ collection: 'orders', fields, filter, sort, limit: PAGE_SIZE }),
    },
    request: async (address) => {
      const tokens = await obtainTokens(address, await register(address));
      const authorization = `Bearer ${tokens.access_token}`;
      if (era === 'modern') {
        const request = modern(call);
        return { url: `${address}/mcp`, headers: { ...request.headers, authorization }, body: request.body };
      }
      return { url: `${address}/mcp`, headers: { ...headers, authorization }, body: JSON.stringify(call) };
    },
  };
  return contestant;
}

/** The SDK's default answers clients of earlier revisions with one server-sent event. */
const messageOf = (answer: string) => JSON.parse(/^data: (.*)$/m.exec(answer)?.[1] ?? answer);
const textOf = (answer: string): string => messageOf(answer).result.content[0].text;

async function compareList(title: string, database: string): Promise<void> {
  const legacy = await start(portico('Portico', database, listCall, 'legacy'), (output) => {
    const found = /^sql (.*)$/m.exec(output)?.[1];
    if (found) sql = JSON.parse(found);
  });
  const modernLeg = await start(portico('Portico, 2026-07-28', database, listCall, 'modern'));
  const text = textOf(await answerOf(legacy));
  const { columns, nextCursor } = JSON.parse(text);
  const work: Work = { databaseUrl: database, sql, bindings: ['paid'], columns, pageSize: PAGE_SIZE, nextCursor };
  const http = await start(bare('bare node:http', 'bare-http.ts', work, listCall));
  const express = await start(bare('bare Express', 'bare-express.ts', work, listCall));
  const sdk = await start({
    ...bare('SDK default, no auth, no SQL', 'sdk-default.ts', {}, listCall),
    env: { BENCH_TEXT: text },
  });
  const all = [http, express, sdk, legacy, modernLeg];
  for (const running of all) {
    const theirs = textOf(await answerOf(running));
    if (theirs !== text) throw new Error(`${running.contestant.name} sends other bytes:\n${theirs}\n${text}`);
  }
  await finish(`${title}: tools/call list, ${PAGE_SIZE} rows, ${text.length} characters`, all);
}

async function compareTools(database: string): Promise<void> {
  const legacy = await start(portico('Portico', database, toolsCall, 'legacy'));
  const modernLeg = await start(portico('Portico, 2026-07-28', database, toolsCall, 'modern'));
  const { result } = messageOf(await answerOf(legacy));
  const http = await start(bare('bare node:http', 'bare-http.ts', { result }, toolsCall));
  const express = await start(bare('bare Express', 'bare-express.ts', { result }, toolsCall));
  const sdk = await start(bare('SDK default, no auth', 'sdk-default.ts', {}, toolsCall));
  await finish(`tools/list, ${JSON.stringify(result).length} bytes`, [http, express, sdk, legacy, modernLeg]);
}

async function finish(title: string, all: readonly Running[]): Promise<void> {
  await runRounds(all, options);
  console.log(report(title, all));
  for (const running of all) await stop(running);
}

/** Refresh and sign-in change tokens with every request, so that they run in chains, beside the bare handler as a unit. */
async function measureOAuth(database: string): Promise<void> {
  const server = await start(portico('Portico', database, listCall, 'legacy'));
  const address = new URL(server.request.url).origin;
  const clientId = await register(address);
  const chains = await Promise.all(Array.from({ length: 8 }, () => obtainTokens(address, clientId)));
  const unit = await start(bare('bare node:http', 'bare-http.ts', { result: {} }, toolsCall));
  const rows: string[] = [];
  const measure = async (name: string, running: Running, count: number, run: (chain: number) => Promise<unknown>) => {
    const latencies: number[] = [];
    const before = cpuSeconds(running.process.pid!);
    const from = performance.now();
    await Promise.all(
      chains.map(async (_, chain) => {
        for (let i = 0; i < count; i++) {
          const sent = performance.now();
          await run(chain);
          latencies.push(performance.now() - sent);
        }
      }),
    );
    const seconds = (performance.now() - from) / 1000;
    const cpu = cpuSeconds(running.process.pid!) - before;
    latencies.sort((a, b) => a - b);
    const at = (part: number) => latencies[Math.floor(part * (latencies.length - 1))]!.toFixed(1);
    const each = ((cpu * 1e3) / latencies.length).toFixed(2);
    rows.push(`| ${name} | ${each} | ${(latencies.length / seconds).toFixed(0)} | ${at(0.5)} | ${at(0.99)} |`);
  };
  const refreshChain = async (chain: number) => {
    chains[chain] = await refresh(address, clientId, chains[chain]!.refresh_token);
  };
  for (const chain of chains.keys()) for (let i = 0; i < 10; i++) await refreshChain(chain);
  await measure('token refresh', server, 150, refreshChain);
  await measure('full sign-in: authorize, sign-in page, consent page, code, token', server, 12, () =>
    obtainTokens(address, clientId),
  );
  const { url, body } = unit.request;
  await measure('bare node:http, same client code', unit, 300, async () => {
    await (await fetch(url, { method: 'POST', headers, body })).text();
  });
  console.log('### Authorization server, 8 chains at once\n');
  console.log('| what | server CPU ms each | a second | p50 ms | p99 ms |\n|---|---|---|---|---|');
  console.log(`${rows.join('\n')}\n`);
  await stop(server);
  await stop(unit);
}

pinLoadGenerator();
const demo = join(folder, 'demo.sqlite');
writeDemo(demo, { driver: loadSqliteDriver().driver, clock: systemClock });
try {
  if (wanted.includes('list')) await compareList('SQLite', `sqlite:${demo}`);
  if (wanted.includes('mariadb')) {
    const server = servers.find(({ dialect }) => dialect === 'mariadb');
    if (!server) throw new Error('no MariaDB to measure with');
    const database = await server.create();
    await copyShop(demo, database.url);
    await compareList('MariaDB', database.url).finally(() => database.drop());
  }
  if (wanted.includes('tools')) await compareTools(`sqlite:${demo}`);
  if (wanted.includes('oauth')) await measureOAuth(`sqlite:${demo}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
