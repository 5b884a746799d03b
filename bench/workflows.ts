// The cost of workflows: webhook triggers accepted per second, and completed runs per second with
// three steps (read, condition, update). Measures one process on SQLite; one process for calls plus
// one, two and four for execution on MariaDB with Redis; and plain BullMQ, which reads and changes
// the same order and keeps no log. Starts its own Redis. Prints a Markdown table for RESULTS.md.
//
//   npx tsx bench/workflows.ts [--runs 2000] [--connections 16] [--workers 1,2,4] [--quick]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { servers, type TestServer } from '../test/databases.ts';
import { type Field, openField, threeSteps } from '../test/workflow/field.ts';
import { hasRedisServer, makeRedis, type OwnRedis } from '../test/workflow/own-redis.ts';
import {
  compileContestants,
  load,
  pinLoadGenerator,
  type Request,
  type ServerProcess,
  startServer,
  stopServer,
} from './driver.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    connections: { type: 'string', default: '16' },
    workers: { type: 'string', default: '1,2,4' },
    quick: { type: 'boolean', default: false },
  },
});
const settings = values.quick
  ? { runs: 24, warm: 8, connections: 4, workers: [1] }
  : {
      runs: Number(values.runs),
      warm: 200,
      connections: Number(values.connections),
      workers: values.workers.split(',').map(Number),
    };

interface Measured {
  readonly name: string;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly completed: number;
  /** The number of unfinished runs at the last response. */
  readonly left: number;
}

const unlimited = {
  SERVICE_SECRET: 'of all workers',
  SERVICE_LOG_LEVEL: 'Error',
  SERVICE_WEBHOOK_PER_MINUTE: '1000000',
  SERVICE_API_PER_MINUTE: '1000000',
  SERVICE_API_PER_HOUR: '1000000',
  SERVICE_API_PER_DAY: '1000000',
  MCP_SERVER_PORT: '0',
};
const path = '/v1/project/My%20project/environment/Production/workflows';
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Measures both times from the first call: to the last response, and to the last change of an order. */
async function measure(
  name: string,
  field: Field,
  server: ServerProcess,
  to: Omit<Request, 'body'>,
): Promise<Measured> {
  const changed = async () => Number((await field.served('orders').where({ status: 'paid' }).count({ n: '*' }))[0]!.n);
  const until = async (count: number): Promise<void> => {
    while ((await changed()) < count) await sleep(5);
  };
  const call = async (amount: number) => {
    const ids = await field.orders(amount);
    const request = { ...to, body: (turn: number) => JSON.stringify({ record_id: ids[turn % ids.length] }) };
    const contestant = { name, server, request, rounds: [] };
    return load(contestant, { amount, connections: settings.connections });
  };
  await call(settings.warm);
  await until(settings.warm);
  const from = performance.now();
  const { perSecond, p50, p99 } = await call(settings.runs);
  const left = settings.warm + settings.runs - (await changed());
  await until(settings.warm + settings.runs);
  const completed = settings.runs / ((performance.now() - from) / 1000);
  return { name, perSecond, p50, p99, completed, left };
}

/** `workers`: processes that execute runs besides the called one; with 0 the called process executes them. */
async function measurePortico(name: string, on: TestServer, workers: number, redis?: OwnRedis): Promise<Measured> {
  const field = await openField(on);
  const folders: string[] = [];
  const started: ServerProcess[] = [];
  const start = async (executes: boolean): Promise<ServerProcess> => {
    const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
    folders.push(folder);
    const server = await startServer(name, 'portico', {
      ...unlimited,
      SERVICE_DATA_DIR: folder,
      SERVICE_STORAGE_URL: field.storageUrl,
      SERVICE_DATABASE_URL: field.servedUrl,
      SERVICE_WORKFLOWS: `${executes}`,
      ...(redis && { SERVICE_REDIS_URL: redis.url }),
    });
    started.push(server);
    return server;
  };
  try {
    const server = await start(workers === 0);
    await Promise.all(Array.from({ length: workers }, () => start(true)));
    const { secret } = await field.store.tokens.create({ userId: field.userId, name: 'bench', scopes: ['all'] });
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
    const { id } = await field.publish(threeSteps);
    const enabled = await fetch(`${server.address}${path}/${id}/trigger`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ enabled: true }),
    });
    const { url } = (await enabled.json()) as { url: string };
    return await measure(name, field, server, { url, headers });
  } finally {
    for (const server of started) await stopServer(server);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    await field.close();
  }
}

async function measureBullmq(on: TestServer, redis: OwnRedis): Promise<Measured> {
  const field = await openField(on);
  const name = 'BullMQ alone';
  const server = await startServer(name, 'bullmq-alone', {
    SERVICE_REDIS_URL: redis.url,
    SERVICE_DATABASE_URL: field.servedUrl,
  });
  try {
    return await measure(name, field, server, { url: server.address, headers: { 'content-type': 'application/json' } });
  } finally {
    await stopServer(server);
    await field.close();
  }
}

compileContestants();
pinLoadGenerator();
const seen = [await measurePortico('embedded, SQLite', servers[0]!, 0)];
const mariadb = servers.find(({ dialect }) => dialect === 'mariadb');
if (mariadb && hasRedisServer) {
  const redis = await makeRedis();
  await redis.start();
  process.once('exit', () => void redis.kill());
  for (const workers of settings.workers) {
    const name = `MariaDB and Redis, ${workers} ${workers === 1 ? 'worker' : 'workers'}`;
    seen.push(await measurePortico(name, mariadb, workers, redis));
  }
  seen.push(await measureBullmq(mariadb, redis));
  await redis.kill();
} else console.warn('*** NO MARIADB or NO redis-server: only SQLite is measured');

const lines = seen.map(({ name, perSecond, p50, p99, completed, left }) => {
  const cells = [name, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1), `**${completed.toFixed(0)}**`, left];
  return `| ${cells.join(' | ')} |`;
});
console.log(
  [
    `### Workflows: ${settings.runs} runs of three steps, ${settings.connections} connections`,
    '',
    '| | triggers/s | p50 ms | p99 ms | runs/s | not over at the last answer |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n'),
);
process.exit(0);
