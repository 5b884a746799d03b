// The built command under expensive input, with an honest client beside it. Measures the latency of that client,
// whether /healthz answers, and the memory of the server and its children.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Agent, request } from 'undici';
import { systemClock } from '../../../src/core/clock.ts';
import { all, openTarget } from '../../attack/target.ts';
import { buildOnce } from '../../cli/command.ts';
import type { Dialect, TestServer } from '../../databases.ts';
import { requestOf } from '../call.ts';
import { type Shape, tablesOf } from './shapes.ts';

/** The client gives up after this time; the server stops the query earlier. */
const CALL_MS = 60_000;

export interface Felt {
  readonly calls: number;
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
  /** The latency of /healthz. */
  readonly health: number;
  /** The longest event loop delay of the server. */
  readonly late: number;
  /** The peak memory of the server and its children, in megabytes. */
  readonly memory: number;
  /** Megabytes of the server process by itself, and of its V8 heap: in use after the shape, and reserved. */
  readonly server: number;
  readonly heap: readonly [used: number, total: number, external: number];
  /** Failed calls of the honest client. */
  readonly failures: readonly string[];
  /** The answers to the attack, and how often each occurred. */
  readonly answers: Readonly<Record<string, number>>;
}

/** As late.mjs writes it. */
interface Report {
  readonly late: number;
  readonly heap: readonly [used: number, total: number, external: number];
}

export interface Stalled {
  readonly dialect: Dialect;
  /**
   * Sends the calls of the shape once, or repeatedly for `sustainedMs`, and measures until they are answered, for at
   * least 1.5 s. Without a shape, only the honest client calls.
   */
  feel(shape?: Shape, sustainedMs?: number): Promise<Felt>;
  close(): Promise<void>;
}

export async function openStalled(server: TestServer): Promise<Stalled> {
  await buildOnce();
  const folder = mkdtempSync(join(tmpdir(), 'portico-stall-'));
  const lateFile = join(folder, 'late');
  const target = await openTarget(server, {
    name: 'stall',
    tables: tablesOf,
    env: {
      SERVICE_QUERY_SECONDS: '4',
      SERVICE_PAGE_SIZE_LIMIT: '1000',
      NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, 'late.mjs')).href}`,
      PORTICO_TEST_LATE: lateFile,
    },
  });
  const permissions = { '*': all };
  const { token: attacker } = await target.person({ permissions });
  const { token: honest } = await target.person({ permissions });
  const { mcpUrl, pid } = target;
  /** The longest event loop delay since the last query. */
  const lateOf = async (): Promise<Report> => {
    rmSync(lateFile, { force: true });
    process.kill(pid, 'SIGUSR2');
    for (let turn = 0; turn < 1000; turn++) {
      await systemClock.sleep(10);
      try {
        const text = readFileSync(lateFile, 'utf8');
        if (text.endsWith('\n')) return JSON.parse(text) as Report;
      } catch {}
    }
    throw new Error('the server did not say how late it was');
  };
  const attacking = new Agent({ connections: 64 });
  const client = fork(join(import.meta.dirname, 'honest.mjs'), [
    mcpUrl,
    JSON.stringify({ ...honestCall(honest), expected: 'person', timeoutMs: CALL_MS }),
  ]);

  const call = async (name: string, args: object): Promise<string> => {
    const { headers, body } = requestOf('tools/call', { name, arguments: args }, 'modern');
    const authorization = `Bearer ${attacker}`;
    const limits = { headersTimeout: CALL_MS, bodyTimeout: CALL_MS };
    const answer = await request(mcpUrl, {
      method: 'POST',
      headers: { ...headers, authorization },
      body,
      dispatcher: attacking,
      ...limits,
    });
    const text = await answer.body.text();
    return `${answer.statusCode} ${text}`;
  };

  return {
    dialect: server.dialect,
    async feel(shape, sustainedMs = 0) {
      await lateOf();
      let over = false;
      const answers: Record<string, number> = {};
      const until = systemClock.monotonic() + sustainedMs;
      const attack = async (calls: Shape['calls']): Promise<void> => {
        const sent = calls.map(async ([name, args]) => {
          const kind = kindOf(await call(name, args).catch((error: unknown) => String(error)));
          answers[kind] = (answers[kind] ?? 0) + 1;
        });
        await Promise.all([...sent, systemClock.sleep(20)]);
        if (systemClock.monotonic() < until) return attack(calls);
      };
      const end = Promise.all([attack(shape?.calls ?? []), systemClock.sleep(1500)]).finally(() => {
        over = true;
      });
      client.send('start');
      let memory = 0;
      let server = 0;
      while (!over) {
        const now = megabytesOf(pid);
        memory = Math.max(memory, now.memory);
        server = Math.max(server, now.server);
        await systemClock.sleep(100);
      }
      await end;
      const measured = once(client, 'message') as Promise<[Measured]>;
      client.send('stop');
      const [{ taken, failures, health }] = await measured;
      taken.sort((a, b) => a - b);
      const at = (part: number) => Math.round(taken[Math.floor(taken.length * part)] ?? 0);
      const most = Math.round(taken.at(-1) ?? 0);
      const { late, heap } = await lateOf();
      return {
        calls: taken.length,
        p50: at(0.5),
        p99: at(0.99),
        most,
        health: Math.round(health),
        late: Math.round(late),
        memory,
        server,
        heap,
        failures,
        answers,
      };
    },
    async close() {
      const ended = once(client, 'exit');
      client.kill();
      await Promise.all([attacking.destroy(), ended]);
      await target.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As honest.mjs sends it. Times are milliseconds. */
interface Measured {
  readonly taken: number[];
  readonly failures: readonly string[];
  readonly health: number;
}

function honestCall(token: string) {
  const args = { collectionName: 'people', pagination: { size: 15 } };
  const { headers, body } = requestOf('tools/call', { name: 'list', arguments: args }, 'modern');
  return { headers: { ...headers, authorization: `Bearer ${token}` }, body };
}

/** The status, and the code of an error. */
function kindOf(answer: string): string {
  const [, code] = /(?:\\"|")(?:code)(?:\\"|"):(?:\\"|")([A-Z_]+)/.exec(answer) ?? [];
  const isError = answer.includes('"isError":true');
  return `${answer.slice(0, 3)}${code ? ` ${code}` : isError ? ' refused' : ''}`;
}

/** The memory of a process and its descendants, and of the process by itself. Shared pages count once (PSS, proc(5)). */
function megabytesOf(root: number): { memory: number; server: number } {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [, parent] = /\) \S (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
      parents.set(Number(name), Number(parent));
    } catch {}
  }
  const isOurs = (pid: number): boolean => pid === root || (parents.has(pid) && pid > 1 && isOurs(parents.get(pid)!));
  let memory = 0;
  let server = 0;
  for (const pid of parents.keys()) {
    if (!isOurs(pid)) continue;
    try {
      const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? [];
      memory += Number(kilobytes ?? 0) / 1000;
      if (pid === root) server = Math.round(Number(kilobytes ?? 0) / 1000);
    } catch {}
  }
  return { memory: Math.round(memory), server };
}
