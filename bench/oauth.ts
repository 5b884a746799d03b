// The cost of the authorization server: npx tsx bench/oauth.ts prints a Markdown table for
// RESULTS.md, with a bare node:http handler as the unit. Refreshes and sign-ins change tokens each
// time, so they run in chains. The servers are one process, or two on one storage with alternating
// requests; the second shares the core of the load. `--quick` only checks that it runs.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashPassword, verifyPassword } from '../src/core/secret.ts';
import { servers as databases } from '../test/databases.ts';
import { createBrowser } from '../test/oauth/flow.ts';
import { account } from './account.ts';
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
const isQuick = process.argv.includes('--quick');
const REFRESHES = isQuick ? 2 : 100;
const SIGN_INS = isQuick ? 1 : 8;
/** Has no listener: requests to it are sent to the processes in turn. */
const PUBLIC = 'http://127.0.0.1:9';

compileContestants();
pinLoadGenerator();
const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
const shop = await makeShop('sqlite', folder);
const rows: string[] = [];
const plainFetch = globalThis.fetch;

async function measure(
  name: string,
  servers: readonly ServerProcess[],
  count: number,
  run: (chain: number) => Promise<unknown>,
) {
  const latencies: number[] = [];
  const spent = async () => {
    const all = await Promise.all(servers.map((server) => usageOf(server)));
    return all.reduce((sum, { cpuMicroseconds }) => sum + cpuMicroseconds, 0);
  };
  const before = await spent();
  const from = performance.now();
  await Promise.all(
    Array.from({ length: CHAINS }, async (_, chain) => {
      for (let i = 0; i < count; i++) {
        const sent = performance.now();
        await run(chain);
        latencies.push(performance.now() - sent);
      }
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  const cpu = (await spent()) - before;
  latencies.sort((a, b) => a - b);
  const at = (part: number) => latencies[Math.floor(part * (latencies.length - 1))]!.toFixed(1);
  const each = (cpu / 1000 / latencies.length).toFixed(2);
  rows.push(`| ${name} | ${each} | ${(latencies.length / seconds).toFixed(0)} | ${at(0.5)} | ${at(0.99)} |`);
}

async function measureServers(name: string, storage: string | undefined, processes: number): Promise<void> {
  const start = (which: number) =>
    startServer(
      'Portico',
      'portico',
      {
        SERVICE_DATA_DIR: join(folder, `${name}-${which}`.replace(/\W+/g, '-')),
        ...(storage !== undefined && { SERVICE_STORAGE_URL: storage }),
        SERVICE_SECRET: 'the secret of the bench',
        SERVICE_DATABASE_URL: shop.url,
        SERVICE_PUBLIC_URL: PUBLIC,
        SERVICE_DCR_PER_HOUR: '100000',
        SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
        MCP_SERVER_PORT: '0',
      },
      which === 0 ? undefined : '0',
    );
  const servers: ServerProcess[] = [];
  for (let which = 0; which < processes; which++) servers.push(await start(which));
  let turn = 0;
  globalThis.fetch = (input, init) => {
    const url = `${input instanceof Request ? input.url : input}`;
    return plainFetch(url.startsWith(PUBLIC) ? url.replace(PUBLIC, servers[turn++ % processes]!.address) : input, init);
  };
  const clientId = await register(PUBLIC);
  const browsers = Array.from({ length: CHAINS }, () => createBrowser());
  const chains = await Promise.all(browsers.map((browser) => obtainTokens(PUBLIC, clientId, account, browser)));
  const refreshChain = async (chain: number) => {
    chains[chain] = await refresh(PUBLIC, clientId, chains[chain]!.refresh_token);
  };
  for (const chain of chains.keys()) for (let i = 0; i < (isQuick ? 1 : 20); i++) await refreshChain(chain);
  await measure(`${name}: token refresh`, servers, REFRESHES, refreshChain);
  await measure(
    `${name}: sign-in with a browser session: authorize, consent page, code, token`,
    servers,
    SIGN_INS * 3,
    (chain) => obtainTokens(PUBLIC, clientId, account, browsers[chain]),
  );
  await measure(`${name}: full sign-in, with the password`, servers, SIGN_INS, () => obtainTokens(PUBLIC, clientId));
  globalThis.fetch = plainFetch;
  await Promise.all(servers.map(stopServer));
}

async function measureUnit(): Promise<void> {
  const works = { 'tools/list': { sql: [], result: {}, columns: [] } };
  const storage = join(folder, 'SQLite-1-process-0', 'portico.sqlite');
  const file = join(folder, 'works.json');
  writeFileSync(file, JSON.stringify({ databaseUrl: shop.url, storage, list: 'tools', works } satisfies Works));
  const unit = await startServer('bare node:http', 'bare-http', { BENCH_WORKS: file });
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 'tools/list', method: 'tools/list' });
  await measure('bare node:http, same client code', [unit], isQuick ? 2 : 300, async () => {
    await (await fetch(`${unit.address}/mcp`, { method: 'POST', headers, body })).text();
  });
  await stopServer(unit);
}

/** Measures only the password check, in this process. */
async function measurePassword(): Promise<void> {
  const stored = await hashPassword(account.password);
  const from = process.cpuUsage();
  const checks = isQuick ? 1 : 20;
  for (let i = 0; i < checks; i++) await verifyPassword(account.password, stored);
  const { user, system } = process.cpuUsage(from);
  rows.push(`| scrypt alone (N 32768, r 8, p 1) | ${((user + system) / 1000 / checks).toFixed(2)} | | | |`);
}

const load = loadavg()[0]!.toFixed(1);
await measureServers('SQLite, 1 process', undefined, 1);
for (const server of databases.filter(({ dialect }) => dialect !== 'sqlite')) {
  const name = server.dialect === 'mariadb' ? 'MariaDB' : 'PostgreSQL';
  const database = await server.create();
  await measureServers(`${name}, 1 process`, database.url, 1);
  await measureServers(`${name}, 2 processes`, database.url, 2);
  await database.drop();
}
await measurePassword();
await measureUnit();
console.log(`### Authorization server, ${CHAINS} chains at once, load of the machine before ${load}\n`);
console.log('| what | server CPU ms each | a second | p50 ms | p99 ms |\n|---|---|---|---|---|');
console.log(`${rows.join('\n')}\n`);
rmSync(folder, { recursive: true, force: true });
process.exit(0);
