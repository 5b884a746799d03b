// An agent restarts every 200 ms under 64 connections of mixed calls. No call may fail, and the agent may hold no more
// resources at the end than after warm-up.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Agent as Connections, type Dispatcher, request } from 'undici';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { copyDemo } from '../demo.ts';
import { sessionToken } from '../rest/front-end.ts';
import { addUserIn } from '../users.ts';
import { makeFolder } from './agent.ts';
import { requestOf } from './call.ts';
import { signedIn } from './shop.ts';

export const CONNECTIONS = 64;
const account = { email: 'ada@example.com', password: 'correct horse battery' };

export interface Measured {
  readonly heapBytes: number;
  /** Resources that keep the process alive, such as sockets and timers, sorted. */
  readonly handles: readonly string[];
  readonly restarts: number;
}

export interface Load {
  /** Makes calls and restarts for `seconds`, then waits, forces a garbage collection and measures. */
  run(seconds: number): Promise<Measured>;
  /** Unexpected answers. */
  readonly failures: readonly string[];
  /** The number of good answers by kind of call. */
  readonly answers: ReadonlyMap<string, number>;
}

interface Call {
  readonly name: string;
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly isGood: (text: string) => boolean;
}

const addAda = (dataDir: string) =>
  addUserIn(dataDir, { ...account, firstName: 'Ada', lastName: 'Byron', level: 'admin' });

export async function openLoad(): Promise<Load> {
  const folder = makeFolder();
  const path = join(folder, 'shop.sqlite');
  copyDemo(path);
  await addAda(folder);
  const child = fork(join(import.meta.dirname, 'restart-child.ts'), [`sqlite:${path}`, folder], {
    execArgv: ['--import', 'tsx'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const told = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [])]);
  if (told.length === 0) throw new Error('the agent did not start');
  const [{ mcpUrl, apiUrl }] = told as [{ mcpUrl: string; apiUrl: string }];
  const { token } = await signedIn({ mcpUrl } as Parameters<typeof signedIn>[0], account);
  const calls = callsOf(mcpUrl, token, apiUrl, await sessionToken(apiUrl, account));
  const failures: string[] = [];
  const answers = new Map<string, number>();

  async function callUntil(over: () => boolean, at: number, dispatcher: Dispatcher): Promise<void> {
    for (let turn = at; !over(); turn++) {
      const { name, url, isGood, ...init } = calls[turn % calls.length]!();
      try {
        const { statusCode, body } = await request(url, { ...init, dispatcher });
        const text = await body.text();
        if (statusCode === 200 && isGood(text)) answers.set(name, (answers.get(name) ?? 0) + 1);
        else failures.push(`${name}: ${statusCode} ${text.slice(0, 300)}`);
      } catch (error) {
        failures.push(`${name}: ${String(error)}`);
      }
    }
  }

  return {
    failures,
    answers,
    async run(seconds) {
      const until = systemClock.monotonic() + seconds * 1000;
      child.send('restart');
      const over = () => systemClock.monotonic() > until;
      const dispatcher = new Connections({ connections: CONNECTIONS, pipelining: 1 });
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => callUntil(over, at, dispatcher)));
      // Closes the client's connections, so the remaining handles are the agent's own.
      await dispatcher.close();
      return measure(child);
    },
  };
}

async function measure(child: ChildProcess): Promise<Measured> {
  const told = once(child, 'message');
  child.send('measure');
  return (await told)[0] as Measured;
}

function callsOf(mcpUrl: string, token: string, apiUrl: string, session: string): readonly (() => Call)[] {
  const mcp = (name: string, method: string, params: Record<string, unknown>, era: 'legacy' | 'modern') => (): Call => {
    const { headers, body } = requestOf(method, params, era);
    const isGood = (text: string) => text.includes('"result"') && !text.includes('"isError":true');
    return {
      name,
      url: mcpUrl,
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
      isGood,
    };
  };
  const tool = (name: string, args: object, era: 'legacy' | 'modern') =>
    mcp(`${name}, ${era}`, 'tools/call', { name, arguments: args }, era);
  const api = (name: string, path: string, isGood: Call['isGood']) => (): Call => ({
    name,
    url: apiUrl + path,
    method: 'GET',
    headers: { authorization: `Bearer ${session}` },
    isGood,
  });
  const few = { pagination: { size: 3 } };
  return [
    tool('list', { collectionName: 'customers', fields: ['id', 'last_name'], ...few }, 'legacy'),
    tool('list', { collectionName: 'orders', fields: ['number', 'customer:last_name'], ...few }, 'modern'),
    tool('aggregate', { collectionName: 'orders', operation: 'Count' }, 'legacy'),
    tool('describeCollection', { collectionName: 'customers' }, 'modern'),
    mcp('tools/list', 'tools/list', {}, 'legacy'),
    api('health', '/', (text) => text.includes('running')),
    api('list of the API', '/customers?page[size]=3&fields[customers]=id,last_name', (text) =>
      text.includes('"data":[{'),
    ),
    api('count of the API', '/orders/count', (text) => /"count":[1-9]/.test(text)),
    api('segment of the API', '/customers?segment=All&fields[customers]=id', (text) => text.includes('"data":[{')),
    api('session of the API', '/authentication/session', (text) => text.includes('tokenData')),
  ];
}
