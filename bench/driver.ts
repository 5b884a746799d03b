// Drives contestants against each other in one run: every round visits each of them once, in an order that shifts from
// round to round, so that what the machine does meanwhile falls on all alike. Servers are pinned to one core and the
// load to the other. Figures are CPU time of the server process per request (from /proc, all threads), requests per
// second, and latency; ratios are taken round by round, and their median is what counts.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';

export interface Contestant {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Given the process's address once it printed `listening <address>` on standard output. */
  readonly request: (address: string) => Promise<Request>;
}

export interface Request {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Round {
  readonly cpuMicroseconds: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export interface Running {
  readonly contestant: Contestant;
  readonly process: ChildProcess;
  readonly request: Request;
  readonly rounds: Round[];
}

const TICKS_PER_SECOND = 100;
const SERVER_CORE = '1';
const LOAD_CORE = '0';

export function pinLoadGenerator(): void {
  execFileSync('taskset', ['-cp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' });
}

/** `onOutput` sees what the process printed before it listened. */
export async function start(contestant: Contestant, onOutput?: (output: string) => void): Promise<Running> {
  const [command, ...args] = contestant.command;
  const child = spawn('taskset', ['-c', SERVER_CORE, command!, ...args], {
    env: { ...process.env, NODE_ENV: 'production', ...contestant.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // A run that fails must not leave its servers behind.
  process.once('exit', () => child.kill('SIGKILL'));
  let printed = '';
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', (chunk) => {
      printed += chunk;
      const found = /^listening (\S+)$/m.exec(printed);
      if (found) resolve(found[1]!);
    });
    child.once('exit', (code) => reject(new Error(`${contestant.name} ended with ${code}: ${printed}`)));
  });
  onOutput?.(printed);
  return { contestant, process: child, request: await contestant.request(address), rounds: [] };
}

export async function answerOf(running: Running): Promise<string> {
  const { url, headers, body } = running.request;
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${running.contestant.name} answered ${response.status}: ${text}`);
  return text;
}

export async function runRounds(
  all: readonly Running[],
  options: { readonly rounds: number; readonly seconds: number; readonly connections: number },
): Promise<void> {
  for (const running of all) await load(running, 2, options.connections);
  for (let round = 0; round < options.rounds; round++) {
    for (let turn = 0; turn < all.length; turn++) {
      const running = all[(round + turn) % all.length]!;
      running.rounds.push(await load(running, options.seconds, options.connections));
    }
  }
}

async function load(running: Running, seconds: number, connections: number): Promise<Round> {
  const pid = running.process.pid!;
  const before = cpuSeconds(pid);
  const { url, headers, body } = running.request;
  const result = await autocannon({
    url,
    method: 'POST',
    headers: { ...headers },
    body,
    connections,
    duration: seconds,
  });
  const cpu = cpuSeconds(pid) - before;
  const answered = result['2xx'];
  if (answered === 0 || result.non2xx > 0 || result.errors > 0) {
    throw new Error(
      `${running.contestant.name}: ${answered} answers, ${result.non2xx} refusals, ${result.errors} errors`,
    );
  }
  return {
    cpuMicroseconds: (cpu * 1e6) / answered,
    perSecond: result.requests.average,
    p50: result.latency.p50,
    p99: result.latency.p99,
  };
}

/** User and system time of the process with all its threads. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export async function stop(running: Running): Promise<void> {
  const ended = new Promise((resolve) => running.process.once('exit', resolve));
  running.process.kill('SIGTERM');
  await ended;
}

const sorted = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);
export const median = (values: readonly number[]): number => {
  const order = sorted(values);
  const middle = order.length >> 1;
  return order.length % 2 ? order[middle]! : (order[middle - 1]! + order[middle]!) / 2;
};

/** A Markdown table; `ratio` compares CPU per request with the first contestant, round by round. */
export function report(title: string, all: readonly Running[]): string {
  const base = all[0]!;
  const lines = all.map((running) => {
    const of = (pick: (round: Round) => number) => sorted(running.rounds.map(pick));
    const cpu = of((round) => round.cpuMicroseconds);
    const ratios = sorted(running.rounds.map((round, i) => round.cpuMicroseconds / base.rounds[i]!.cpuMicroseconds));
    const middle = (values: readonly number[], digits: number) => median(values).toFixed(digits);
    return `| ${running.contestant.name} | ${cpu[0]!.toFixed(0)} / **${middle(cpu, 0)}** / ${cpu.at(-1)!.toFixed(0)} | ${middle(ratios, 2)} (${ratios[0]!.toFixed(2)} to ${ratios.at(-1)!.toFixed(2)}) | ${middle(
      of((r) => r.perSecond),
      0,
    )} | ${middle(
      of((r) => r.p50),
      1,
    )} | ${middle(
      of((r) => r.p99),
      1,
    )} |`;
  });
  return [
    `### ${title}`,
    '',
    `| server | CPU µs a request: min / **median** / max | times ${base.contestant.name} | requests/s | p50 ms | p99 ms |`,
    '|---|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}
