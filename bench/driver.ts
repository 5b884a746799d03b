// Runs contestants against each other: every round visits each of them once, in an order that shifts from
// round to round, so other work of the machine affects all alike. Servers are pinned to one core and the
// load to the other. The figures are CPU time of the server process per request (all threads, as reported by
// the process), requests per second, and latency. Ratios are computed per round, and their median counts.
//
// The servers are compiled like the shipped code. A loader that compiles on the fly
// names every function each time it is created, which costs microseconds per call.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import autocannon, { type Result } from 'autocannon';
import type { Dialect } from '../test/databases.ts';
import type { Usage } from './contestants/usage.ts';

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
}

export interface Load {
  readonly rounds: number;
  /** The approximate time of one round per contestant, once warm; 0 sends a few requests without warm-up. */
  readonly seconds: number;
  readonly connections: number;
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

export function pinLoadGenerator(): void {
  if (pins) execFileSync('taskset', ['-cp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
}

export function compileContestants(): void {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', join(import.meta.dirname, 'tsconfig.json')], { stdio: 'inherit' });
}

/** `file`: the contestant to start. Resolves when it has printed `listening <address>` to standard output. */
export async function startServer(
  name: string,
  file: string,
  env: Readonly<Record<string, string>>,
  core = SERVER_CORE,
): Promise<ServerProcess> {
  const script = join(root, '.bench', 'bench', 'contestants', `${file}.js`);
  const command = [...(pins ? ['taskset', '-c', core] : []), process.execPath, ...flags, script];
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

export async function answerOf({ name, request }: Contestant): Promise<string> {
  const { url, headers } = request;
  const body = bodyAt(request, 0);
  const response = await fetch(url, { method: methodOf(request), headers, ...(body !== undefined && { body }) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${name} answered ${response.status}: ${text}`);
  return text;
}

export async function runRounds(all: readonly Contestant[], { rounds, seconds, connections }: Load): Promise<void> {
  const amounts = new Map<Contestant, number>();
  const least = connections * 4;
  for (const contestant of all) {
    const perSecond = seconds > 0 ? await warm(contestant, Math.max(least, FIRST_REQUESTS), connections) : 0;
    amounts.set(contestant, Math.max(least, Math.round(perSecond * seconds)));
  }
  for (let round = 0; round < rounds; round++)
    for (let turn = 0; turn < all.length; turn++) {
      const contestant = all[(round + turn) % all.length]!;
      contestant.rounds.push(await load(contestant, { connections, amount: amounts.get(contestant)! }));
    }
}

/** Warms up the server, and returns its requests per second. */
async function warm(contestant: Contestant, first: number, connections: number): Promise<number> {
  const { perSecond } = await load(contestant, { connections, amount: first });
  const amount = Math.max(first, Math.min(WARM_REQUESTS, Math.round(perSecond * WARM_SECONDS)));
  return (await load(contestant, { connections, amount })).perSecond;
}

interface Amount {
  readonly connections: number;
  readonly amount: number;
}

export async function load({ name, server, request }: Contestant, amount: Amount): Promise<Round> {
  const before = await usageOf(server);
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
  const options = { url, method: methodOf(request), headers: { ...headers }, ...bodies, ...amount, sampleInt } as const;
  const result = await new Promise<Result>((resolve, reject) => {
    const running = autocannon(options, (error: unknown, done) => (error ? reject(error) : resolve(done)));
    running.on('response', (_client, _status, _bytes, milliseconds) => {
      until = performance.now();
      times.push(milliseconds);
    });
  });
  const after = await usageOf(server);
  const answered = result['2xx'];
  if (answered === 0 || result.non2xx > 0 || result.errors > 0)
    throw new Error(`${name}: ${answered} answers, ${result.non2xx} refusals, ${result.errors} errors`);
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(part * (times.length - 1))]!;
  return {
    cpuMicroseconds: (after.cpuMicroseconds - before.cpuMicroseconds) / answered,
    perSecond: answered / ((until - from) / 1000),
    p50: at(0.5),
    p99: at(0.99),
  };
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

/** A Markdown table; ratios compare CPU time per request with the first contestant. */
export function report(title: string, all: readonly Contestant[]): string {
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
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    `### ${title}`,
    '',
    `| server | CPU µs a request: min / **median** / max | times ${base.name} | requests/s | p50 ms | p99 ms |`,
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}
