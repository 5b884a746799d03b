// The cost of workflows: webhook triggers accepted per second, and completed runs per second with
// three steps (read, condition, update). Measures one process on SQLite; one process for calls plus
// one, two and four for execution on MariaDB with Redis; and plain BullMQ, which reads and changes
// the same order and keeps no log. Counts commits and statements of the storage and the CPU time of all processes for
// each run; those of MariaDB are of the whole server, so nobody else may use it. Starts its own Redis. Prints a Markdown
// table for RESULTS.md, and targets and results.
//
//   npx tsx bench/workflows.ts [--on sqlite,mariadb] [--runs 2000] [--connections 16] [--workers 1,2,4] [--quick]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { servers, type TestServer } from '../test/databases.ts';
import { type Field, openField, threeSteps } from '../test/workflow/field.ts';
import { hasRedisServer, makeRedis, type OwnRedis } from '../test/workflow/own-redis.ts';
import { type Counter, countMariadb, countSqlite } from './counters.ts';
import {
  compileContestants,
  load,
  pinLoadGenerator,
  type Request,
  type ServerProcess,
  startServer,
  stopServer,
} from './driver.ts';
import { type Judged, judgedTable } from './targets.ts';

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'sqlite,mariadb' },
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
  /** Of one run, beside the change that its step makes. */
  readonly commits: number;
  readonly statements?: number;
  /** Of one run, in all processes, the database and Redis. */
  readonly cpuMilliseconds: number;
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
async function measure(name: string, field: Field, to: Measuring): Promise<Measured> {
  const { server, request, counter } = to;
  let asked = 0;
  const changed = async () => {
    asked++;
    return Number((await field.served('orders').where({ status: 'paid' }).count({ n: '*' }))[0]!.n);
  };
  const until = async (count: number): Promise<void> => {
    while ((await changed()) < count) await sleep(5);
  };
  const call = (ids: readonly string[]) => {
    const body = (turn: number) => JSON.stringify({ record_id: ids[turn % ids.length] });
    const contestant = { name, server, request: { ...request, body }, rounds: [] };
    return load(contestant, { amount: ids.length, connections: settings.connections });
  };
  await call(await field.orders(settings.warm));
  await until(settings.warm);
  const ids = await field.orders(settings.runs);
  const before = await counter.read();
  asked = 0;
  const from = performance.now();
  const { perSecond, p50, p99 } = await call(ids);
  const left = settings.warm + settings.runs - (await changed());
  await until(settings.warm + settings.runs);
  const completed = settings.runs / ((performance.now() - from) / 1000);
  // The last run is changed, but not yet completed.
  await sleep(200);
  const after = await counter.read();
  const of = (difference: number) => difference / settings.runs;
  return {
    name,
    perSecond,
    p50,
    p99,
    completed,
    left,
    commits: of(after.commits - before.commits) - to.changesInStorage,
    ...(after.statements !== undefined && { statements: of(after.statements - before.statements! - asked) }),
    cpuMilliseconds: of(after.cpuMicroseconds - before.cpuMicroseconds) / 1000,
  };
}

interface Measuring {
  readonly server: ServerProcess;
  readonly request: Omit<Request, 'body'>;
  readonly counter: Counter;
  /** The changes of orders that the counter counts for each run: 1 if storage and orders share a server. */
  readonly changesInStorage: 0 | 1;
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
    const counter = redis
      ? await countMariadb(field.storageUrl, redis.url, started)
      : countSqlite(field.storageUrl, started);
    const measured = await measure(name, field, {
      server,
      request: { url, headers },
      counter,
      changesInStorage: redis ? 1 : 0,
    });
    await counter.close();
    return measured;
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
    const counter = await countMariadb(field.storageUrl, redis.url, [server]);
    const request = { url: server.address, headers: { 'content-type': 'application/json' } };
    const measured = await measure(name, field, { server, request, counter, changesInStorage: 1 });
    await counter.close();
    return measured;
  } finally {
    await stopServer(server);
    await field.close();
  }
}

compileContestants();
pinLoadGenerator();
const dialects = values.on.split(',');
const mariadb = servers.find(({ dialect }) => dialect === 'mariadb');
const embedded = dialects.includes('sqlite') ? [await measurePortico('embedded, SQLite', servers[0]!, 0)] : [];
const served: Measured[] = [];
let alone: Measured | undefined;
if (mariadb && hasRedisServer) {
  const redis = await makeRedis();
  await redis.start();
  process.once('exit', () => void redis.kill());
  for (const workers of dialects.includes('mariadb') ? settings.workers : []) {
    const name = `MariaDB and Redis, ${workers} ${workers === 1 ? 'worker' : 'workers'}`;
    served.push(await measurePortico(name, mariadb, workers, redis));
  }
  alone = await measureBullmq(mariadb, redis);
  await redis.kill();
} else console.warn('*** NO MARIADB or NO redis-server: only SQLite is measured');

const seen = [...embedded, ...served, ...(alone ? [alone] : [])];
const lines = seen.map((each) => {
  const cells = [
    each.name,
    each.perSecond.toFixed(0),
    each.p50.toFixed(1),
    each.p99.toFixed(1),
    `**${each.completed.toFixed(0)}**`,
    each.left,
    each.commits.toFixed(1),
    each.statements?.toFixed(1) ?? '',
    each.cpuMilliseconds.toFixed(2),
  ];
  return `| ${cells.join(' | ')} |`;
});
const titles = [
  '',
  'triggers/s',
  'p50 ms',
  'p99 ms',
  'runs/s',
  'not over at the last answer',
  'commits a run, beside its change',
  'statements a run',
  'CPU ms a run, all processes',
];
console.log(
  [
    `### Workflows: ${settings.runs} runs of three steps, ${settings.connections} connections`,
    '',
    `|${titles.map((title) => ` ${title} |`).join('')}`,
    `|${'---|'.repeat(titles.length)}`,
    ...lines,
    '',
  ].join('\n'),
);
console.log(judgedTable(judgeRuns()));
process.exit(0);

function judgeRuns(): Judged[] {
  const judged: Judged[] = [...embedded, ...served].map(({ name, commits }) => ({
    asked: 'commits a run, beside its change',
    where: name,
    bound: { most: 4 },
    seen: commits,
  }));
  if (!alone) return judged;
  const perSecond = alone.completed;
  const rate = (each: Measured, least: number): Judged => ({
    asked: 'runs a second, as a part of those of BullMQ alone',
    where: each.name,
    bound: { least },
    seen: each.completed / perSecond,
  });
  const [first] = served;
  judged.push(...embedded.map((each) => rate(each, 0.4)), ...(first ? [rate(first, 0.25)] : []));
  const last = served.at(-1);
  if (first && last !== first)
    judged.push({
      asked: 'CPU time a run, times that of the first',
      where: `${first.name}; ${last!.name}`,
      bound: { most: 1.15 },
      seen: last!.cpuMilliseconds / first.cpuMilliseconds,
    });
  return judged;
}
