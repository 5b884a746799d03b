// The time from the start of a process to its first answer with records: Portico as `portico start` in dist, and a bare
// node:http handler with the same driver, in interleaved rounds.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { obtainTokens, register } from './client.ts';
import { contestantPath, median } from './driver.ts';

export interface StartCase {
  readonly name: string;
  /** The arguments of node. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly url: string;
  readonly request: RequestInit;
  /** Runs before each start. */
  readonly prepare?: () => void;
}

interface Started {
  readonly startedAt: number;
  /** The standard output that contains `text`. */
  printed(text: string): Promise<string>;
  stop(): Promise<void>;
}

const main = join(import.meta.dirname, '..', 'dist', 'cli', 'main.js');
const firstPort = 3900 + (process.pid % 45) * 2;

/** A failed run must not leave its servers behind. */
const children = new Set<ReturnType<typeof spawn>>();
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

function start(command: readonly string[], env: StartCase['env']): Started {
  const startedAt = performance.now();
  const child = spawn(process.execPath, command, {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  return {
    startedAt,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => output.includes(text) && resolve(output);
        child.stdout.on('data', look);
        void ended.then(() => reject(new Error(`a server ended before it printed '${text}': ${output}`)));
        look();
      }),
    async stop() {
      child.kill('SIGTERM');
      await ended;
      children.delete(child);
    },
  };
}

/** Waits for the first answer with records. */
async function firstAnswer({ name, url, request }: StartCase): Promise<number> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await fetch(url, request).catch(() => undefined);
    const text = await answer?.text();
    if (answer?.ok && text?.includes('hasMore')) return performance.now();
    if (performance.now() > deadline) throw new Error(`${name} has no answer after a minute: ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Prints a Markdown table; the times in milliseconds, in the order of the cases. */
export async function measureStarts(cases: readonly StartCase[], rounds: number): Promise<number[][]> {
  const times = cases.map((): number[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [at, each] of cases.entries()) {
      each.prepare?.();
      const server = start(each.command, each.env);
      times[at]!.push((await firstAnswer(each)) - server.startedAt);
      await server.stop();
    }
  const lines = cases.map(({ name }, at) => {
    const order = times[at]!.toSorted((a, b) => a - b);
    return `| ${name} | ${order[0]!.toFixed(0)} | ${median(order).toFixed(0)} | ${order.at(-1)!.toFixed(0)} |`;
  });
  const head = '### Process start to first answered call\n\n| | min ms | median ms | max ms |\n|---|---|---|---|';
  console.log([head, ...lines, ''].join('\n'));
  return times;
}

/**
 * Portico over the database, with an existing data folder and a client that has signed in. Without `databaseUrl`, over
 * the demo shop, which it makes in the folder. Built by `compileContestants`.
 */
export async function preparePortico(dataDir: string, databaseUrl?: string): Promise<StartCase> {
  const address = `http://127.0.0.1:${firstPort}`;
  const account = { email: 'you@example.com', password: 'seven green chairs' };
  const env = {
    SERVICE_DATA_DIR: dataDir,
    SERVICE_ADMIN_PASSWORD: account.password,
    MCP_SERVER_PORT: String(firstPort),
    ...(databaseUrl && { SERVICE_DATABASE_URL: databaseUrl }),
  };
  const command = [main, 'start'];
  const first = start(command, env);
  await first.printed('.cursor/mcp.json');
  const { access_token: token } = await obtainTokens(address, await register(address), account);
  await first.stop();
  const params = { name: 'list', arguments: { collectionName: 'orders' } };
  const request = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
  return { name: 'Portico, existing data folder', command, env, url: `${address}/mcp`, request };
}

/** A bare handler over a SQLite file. Compiled by `compileContestants`. */
export function prepareBare(databaseUrl: string): StartCase {
  const port = String(firstPort + 1);
  return {
    name: 'bare node:http, same driver',
    command: [contestantPath('bare-start')],
    env: { BENCH_FILE: databaseUrl.slice('sqlite:'.length), BENCH_PORT: port },
    url: `http://127.0.0.1:${port}/`,
    request: {},
  };
}

/** The median time of Portico over the shop, times that of a bare handler. */
export async function measureLargeStart(url: string, folder: string, rounds: number): Promise<number> {
  const cases = [prepareBare(url), await preparePortico(join(folder, 'data'), url)];
  const [theirs, ours] = (await measureStarts(cases, rounds)).map(median);
  return ours! / theirs!;
}
