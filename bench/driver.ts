// Runs contestants against each other: every round visits each of them once, in an order that shifts from
// round to round, so other work of the machine affects all alike. Servers are pinned to one core and the
// load to the other. The figures are CPU time of the server process with its children per request, requests per
// second, and latency. Ratios are computed per round, and their median counts.
//
// The servers are bundled like the shipped code. A loader that compiles on the fly
// names every function each time it is created, which costs microseconds per call.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import autocannon, { type Result } from 'autocannon';
import { buildSync } from 'esbuild';
import type { Dialect } from '../test/databases.ts';
import type { Usage } from './contestants/usage.ts';
import { descendantsCpuMicroseconds, treeResidentBytes } from './processes.ts';

export interface ServerProcess {
  readonly name: string;
  readonly process: ChildProcess;
  readonly address: string;
}

export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A function if requests have different bodies; absent for GET. */
  readonly body?: string | ((turn: number) => string);
}

export interface Contestant {
  readonly name: string;
  readonly server: ServerProcess;
  readonly request: Request;
  readonly rounds: Round[];
}

export interface Round {
  readonly cpuMicroseconds: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Of the server process with its children, at the end of the round. */
  readonly residentBytes: number;
  /** CPU time of the whole database server per request; absent if it cannot be read. */
  readonly databaseMicroseconds?: number;
}

/** The CPU time of the database server since its start, in microseconds. */
export type DatabaseCpu = () => number;

export interface Load {
  readonly rounds: number;
  /** The approximate time of one round per contestant, once warm; 0 sends a few requests without warm-up. */
  readonly seconds: number;
  readonly connections: number;
  /** No round begins after so many seconds of rounds, but one is always made. Default: no limit. */
  readonly mostSeconds?: number;
  readonly databaseCpu?: DatabaseCpu | undefined;
}

/** The settings from the options of a bench; `quick` is one short round of everything on SQLite. */
export function settingsOf(given: {
  readonly on: string;
  readonly connections: string;
  readonly rounds: string;
  readonly seconds: string;
  readonly quick: boolean;
}) {
  if (given.quick) return { dialects: ['sqlite'] as Dialect[], connections: [4], rounds: 1, seconds: 0 };
  return {
    dialects: given.on.split(',') as Dialect[],
    connections: given.connections.split(',').map(Number),
    rounds: Number(given.rounds),
    seconds: Number(given.seconds),
  };
}

const FIRST_REQUESTS = 100;
/** Enough requests to optimize hot code. Slow requests are limited to `WARM_SECONDS`. */
const WARM_REQUESTS = 4000;
const WARM_SECONDS = 3;
const SERVER_CORE = '1';
const LOAD_CORE = '0';
/** With a single core or without taskset, the system schedules freely. */
const pins = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0;
/** With BENCH_PROFILE=folder, every server writes a CPU profile there. */
const folder = process.env.BENCH_PROFILE;
const flags = ['--expose-gc', ...(folder ? ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${folder}`] : [])];
const root = join(import.meta.dirname, '..');
const compiled = join(root, '.bench');

export function pinLoadGenerator(): void {
  if (pins) execFileSync('taskset', ['-cp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
}

/** Bundles the contestants like the package, and builds the package, whose child processes Portico starts. */
export function compileContestants(): void {
  execFileSync(process.execPath, [join(root, 'scripts', 'build.mjs'), '--if-stale'], { stdio: 'inherit' });
  buildSync({
    absWorkingDir: root,
    entryPoints: ['bench/contestants/*.ts'],
    outdir: compiled,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
  });
}

export const contestantPath = (file: string): string => join(compiled, `${file}.js`);

/** `file`: the contestant to start. Resolves when it has printed `listening <address>` to standard output. */
export async function startServer(
  name: string,
  file: string,
  env: Readonly<Record<string, string>>,
  core = SERVER_CORE,
): Promise<ServerProcess> {
  const command = [...(pins ? ['taskset', '-c', core] : []), process.execPath, ...flags, contestantPath(file)];
  const child = spawn(command[0]!, command.slice(1), {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  // A failed run must not leave its servers behind.
  process.once('exit', () => child.kill('SIGKILL'));
  let printed = '';
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', (chunk) => {
      printed += chunk;
      const found = /^listening (\S+)$/m.exec(printed);
      if (found) resolve(found[1]!);
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${printed}`)));
  });
  return { name, process: child, address };
}

/** The usage of the process since its start; `heap` collects garbage before it measures. */
export async function usageOf({ process: child }: ServerProcess, asked: 'usage' | 'heap' = 'usage'): Promise<Usage> {
  child.send(asked);
  const [usage] = await once(child, 'message');
  return usage as Usage;
}

const bodyAt = ({ body }: Request, turn: number) => (typeof body === 'function' ? body(turn) : body);
const methodOf = ({ body }: Request) => (body === undefined ? 'GET' : 'POST');

/** The answer to the request of a turn. */
export async function answerOf({ name, request }: Contestant, turn = 0): Promise<string> {
  const { url, headers } = request;
  const body = bodyAt(request, turn);
  const response = await fetch(url, { method: methodOf(request), headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${name} answered ${response.status}: ${text}`);
  return text;
}

export async function runRounds(all: readonly Contestant[], given: Load): Promise<void> {
  const { rounds, seconds, connections, mostSeconds = Number.POSITIVE_INFINITY, databaseCpu } = given;
  const amounts = new Map<Contestant, number>();
  for (const contestant of all) {
    const perSecond = seconds > 0 ? await warm(contestant, connections) : 0;
    const least = seconds > 0 && isSlow(perSecond) ? connections : connections * 4;
    amounts.set(contestant, Math.max(least, Math.round(perSecond * seconds)));
  }
  const from = performance.now();
  for (let round = 0; round < rounds; round++) {
    if (round > 0 && performance.now() - from > mostSeconds * 1000) return;
    for (let turn = 0; turn < all.length; turn++) {
      const contestant = all[(round + turn) % all.length]!;
      const amount = amounts.get(contestant)!;
      contestant.rounds.push(await load(contestant, { connections, amount, databaseCpu }));
    }
  }
}

/** Most of the time of such requests is not spent in code that gets faster. */
const isSlow = (perSecond: number): boolean => perSecond * WARM_SECONDS < FIRST_REQUESTS;

/** Warms up the server, and returns its requests per second. */
async function warm(contestant: Contestant, connections: number): Promise<number> {
  const few = { connections, amount: connections };
  await load(contestant, few);
  const probe = await load(contestant, few);
  if (isSlow(probe.perSecond)) return probe.perSecond;
  const first = Math.max(connections * 4, FIRST_REQUESTS);
  const { perSecond } = await load(contestant, { connections, amount: first });
  const amount = Math.max(first, Math.min(WARM_REQUESTS, Math.round(perSecond * WARM_SECONDS)));
  return (await load(contestant, { connections, amount })).perSecond;
}

interface Amount {
  readonly connections: number;
  readonly amount: number;
  readonly databaseCpu?: DatabaseCpu | undefined;
}

/** More than a call may take in Portico, so that its own refusal arrives. */
const TIMEOUT_SECONDS = 300;

export async function load({ name, server, request }: Contestant, given: Amount): Promise<Round> {
  const { databaseCpu, ...amount } = given;
  const before = await cpuOf(server);
  const databaseBefore = databaseCpu?.();
  const times: number[] = [];
  let turn = 0;
  const from = performance.now();
  let until = from;
  const { url, headers } = request;
  // Different bodies are created per request; otherwise all requests share one text.
  const bodies =
    typeof request.body !== 'function'
      ? { ...(request.body !== undefined && { body: request.body }) }
      : { requests: [{ setupRequest: (given: object) => ({ ...given, body: bodyAt(request, turn++) }) }] };
  // The interval in milliseconds at which autocannon checks whether all requests are complete.
  const sampleInt = 10;
  let refusal = '';
  const verifyBody = (body: unknown) => {
    const text = String(body);
    const isRefused = text.includes('"isError":true');
    if (isRefused) refusal = text;
    return !isRefused;
  };
  const options = {
    url,
    method: methodOf(request),
    headers: { ...headers },
    ...bodies,
    ...amount,
    sampleInt,
    verifyBody,
    timeout: TIMEOUT_SECONDS,
  } as const;
  const result = await new Promise<Result>((resolve, reject) => {
    const running = autocannon(options, (error: unknown, done) => (error ? reject(error) : resolve(done)));
    running.on('response', (_client, _status, _bytes, milliseconds) => {
      until = performance.now();
      times.push(milliseconds);
    });
  });
  const databaseMicroseconds = databaseCpu && databaseCpu() - databaseBefore!;
  const after = await cpuOf(server);
  const answered = result['2xx'];
  if (answered === 0 || result.non2xx > 0 || result.errors > 0)
    throw new Error(`${name}: ${answered} answers, ${result.non2xx} refusals, ${result.errors} errors`);
  if (result.mismatches > 0)
    throw new Error(`${name}: ${result.mismatches} of ${answered} calls were refused: ${refusal.slice(0, 500)}`);
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(part * (times.length - 1))]!;
  return {
    cpuMicroseconds: (after - before) / answered,
    perSecond: answered / ((until - from) / 1000),
    p50: at(0.5),
    p99: at(0.99),
    residentBytes: treeResidentBytes(server.process.pid!),
    ...(databaseMicroseconds !== undefined && { databaseMicroseconds: databaseMicroseconds / answered }),
  };
}

/** The process reports its own time exactly; that of its children is read from the system. */
async function cpuOf(server: ServerProcess): Promise<number> {
  const { cpuMicroseconds } = await usageOf(server);
  return cpuMicroseconds + descendantsCpuMicroseconds(server.process.pid!);
}

export async function stopServer({ process: child }: ServerProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
export const median = (values: readonly number[]): number => {
  const order = sorted(values);
  const middle = order.length >> 1;
  return order.length % 2 ? order[middle]! : (order[middle - 1]! + order[middle]!) / 2;
};

/** The ratios of CPU time per request in each round, sorted. */
export function ratiosOf(one: Contestant, other: Contestant): number[] {
  return sorted(one.rounds.map(({ cpuMicroseconds }, round) => cpuMicroseconds / other.rounds[round]!.cpuMicroseconds));
}

interface Column {
  readonly title: string;
  readonly of: (contestant: Contestant) => string;
}

/** A Markdown table; ratios compare CPU time per request with the first contestant. `more`: columns of a bench. */
export function report(title: string, all: readonly Contestant[], more: readonly Column[] = []): string {
  const base = all[0]!;
  const lines = all.map((contestant) => {
    const of = (pick: (round: Round) => number) => contestant.rounds.map(pick);
    const cpu = sorted(of((round) => round.cpuMicroseconds));
    const ratios = ratiosOf(contestant, base);
    const cells = [
      contestant.name,
      `${cpu[0]!.toFixed(0)} / **${median(cpu).toFixed(0)}** / ${cpu.at(-1)!.toFixed(0)}`,
      `${median(ratios).toFixed(2)} (${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)})`,
      median(of((round) => round.perSecond)).toFixed(0),
      median(of((round) => round.p50)).toFixed(2),
      median(of((round) => round.p99)).toFixed(2),
      ...more.map((column) => column.of(contestant)),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const titles = [
    'server',
    'CPU µs a request: min / **median** / max',
    `times ${base.name}`,
    'requests/s',
    'p50 ms',
    'p99 ms',
    ...more.map((column) => column.title),
  ];
  return [`### ${title}`, '', `| ${titles.join(' | ')} |`, `|${'---|'.repeat(titles.length)}`, ...lines, ''].join('\n');
}
