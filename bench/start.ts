// npx tsx bench/start.ts: the time from the start of the process (`portico start`,
// as built into dist) to its first response to a call, on an existing data folder,
// and with the demo shop to seed. Minimum, median and maximum of ten starts.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { obtainTokens, register } from './client.ts';
import { median } from './driver.ts';

const ROUNDS = 10;
const main = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js');
const dataDir = mkdtempSync(join(tmpdir(), 'portico-start-'));
const port = 3900 + Math.floor(process.pid % 90);
const address = `http://127.0.0.1:${port}`;

/** A failed run must not leave its servers behind. */
const children = new Set<ReturnType<typeof spawn>>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

interface Server {
  readonly startedAt: number;
  readonly password?: string;
  stop(): Promise<void>;
}

async function start(waitForWelcome: boolean): Promise<Server> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [main, 'start'], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', SERVICE_DATA_DIR: dataDir, MCP_SERVER_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  children.add(child);
  let output = '';
  const welcomed = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.includes('.cursor/mcp.json')) resolve();
    });
  });
  if (waitForWelcome) await welcomed;
  const password = /Password +(\S+) +\(shown/.exec(output)?.[1];
  return {
    startedAt,
    ...(password === undefined ? {} : { password }),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Waits for the first response with records. */
async function firstAnswer(token: string): Promise<number> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'list', arguments: { collectionName: 'orders' } },
  });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  for (;;) {
    const answer = await fetch(`${address}/mcp`, { method: 'POST', headers, body }).catch(() => undefined);
    if (answer?.ok && (await answer.text()).includes('hasMore')) return performance.now();
    await answer?.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function measure(name: string, token: string, prepare: () => void): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    prepare();
    const server = await start(false);
    times.push((await firstAnswer(token)) - server.startedAt);
    await server.stop();
  }
  const order = times.sort((a, b) => a - b);
  console.log(`| ${name} | ${order[0]!.toFixed(0)} | ${median(order).toFixed(0)} | ${order.at(-1)!.toFixed(0)} |`);
}

const first = await start(true);
const account = { email: 'you@example.com', password: first.password! };
const { access_token: token } = await obtainTokens(address, await register(address), account);
await first.stop();
console.log('### Process start to first answered call\n\n| | min ms | median ms | max ms |\n|---|---|---|---|');
await measure('existing data folder', token, () => undefined);
await measure('seeding the demo shop', token, () => rmSync(join(dataDir, 'demo.sqlite')));
rmSync(dataDir, { recursive: true, force: true });
