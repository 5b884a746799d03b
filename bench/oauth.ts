// What the authorization server costs: npx tsx bench/oauth.ts prints a Markdown table for RESULTS.md. A refresh and a
// sign-in change tokens each time, so that they run in chains, beside the bare node:http handler as a unit.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { obtainTokens, refresh, register } from './client.ts';
import type { Works } from './contestants/work.ts';
import {
  compileContestants,
  pinLoadGenerator,
  type ServerProcess,
  startServer,
  stopServer,
  usageOf,
} from './driver.ts';
import { makeShop } from './shop.ts';

const CHAINS = 8;

compileContestants();
pinLoadGenerator();
const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
const shop = await makeShop('sqlite', folder);
const server = await startServer('Portico', 'portico', {
  SERVICE_DATA_DIR: join(folder, 'data'),
  SERVICE_DATABASE_URL: shop.url,
  SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
  MCP_SERVER_PORT: '0',
});
const { address } = server;
const clientId = await register(address);
const chains = await Promise.all(Array.from({ length: CHAINS }, () => obtainTokens(address, clientId)));
const unit = await startUnit();
const rows: string[] = [];

async function startUnit(): Promise<ServerProcess> {
  const works = { 'tools/list': { sql: [], result: {}, columns: [] } };
  const storage = join(folder, 'data', 'portico.sqlite');
  const file = join(folder, 'works.json');
  writeFileSync(file, JSON.stringify({ databaseUrl: shop.url, storage, works } satisfies Works));
  return startServer('bare node:http', 'bare-http', { BENCH_WORKS: file });
}

async function measure(name: string, measured: ServerProcess, count: number, run: (chain: number) => Promise<unknown>) {
  const latencies: number[] = [];
  const before = await usageOf(measured);
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
  const cpu = (await usageOf(measured)).cpuMicroseconds - before.cpuMicroseconds;
  latencies.sort((a, b) => a - b);
  const at = (part: number) => latencies[Math.floor(part * (latencies.length - 1))]!.toFixed(1);
  const each = (cpu / 1000 / latencies.length).toFixed(2);
  rows.push(`| ${name} | ${each} | ${(latencies.length / seconds).toFixed(0)} | ${at(0.5)} | ${at(0.99)} |`);
}

const refreshChain = async (chain: number) => {
  chains[chain] = await refresh(address, clientId, chains[chain]!.refresh_token);
};
for (const chain of chains.keys()) for (let i = 0; i < 10; i++) await refreshChain(chain);
await measure('token refresh', server, 150, refreshChain);
await measure('full sign-in: authorize, sign-in page, consent page, code, token', server, 12, () =>
  obtainTokens(address, clientId),
);
const headers = { 'content-type': 'application/json' };
const body = JSON.stringify({ jsonrpc: '2.0', id: 'tools/list', method: 'tools/list' });
await measure('bare node:http, same client code', unit, 300, async () => {
  await (await fetch(`${unit.address}/mcp`, { method: 'POST', headers, body })).text();
});
console.log(`### Authorization server, ${CHAINS} chains at once\n`);
console.log('| what | server CPU ms each | a second | p50 ms | p99 ms |\n|---|---|---|---|---|');
console.log(`${rows.join('\n')}\n`);
await stopServer(server);
await stopServer(unit);
rmSync(folder, { recursive: true, force: true });
process.exit(0);
