// `portico mcp --stdio` as hosts run it: started by the SDKs' own clients, and driven line by line.
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { demoPath } from '../../src/cli/parts.ts';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { sqliteIsolates } from '../sql/schemas.ts';
import { buildOnce, commandOf, makePlace, type Place, portico, startServer } from './command.ts';
import { addPerson, makeToken } from './prepared.ts';

let place: Place;
let token: string;
/** The demo shop, a user and a token; the data folder already exists, as in most starts. */
beforeAll(async () => {
  await buildOnce();
  place = makePlace();
  await addPerson(place, ada);
  token = await tokenOf('assistant', 'mcp:read', 'mcp:write', 'mcp:action');
  await portico(['mcp', '--stdio'], { ...place, env: { SERVICE_MCP_TOKEN: token } });
});
afterAll(() => place.remove());

const ada = { email: 'ada@example.com', level: 'admin' } as const;
const tokenOf = (name: string, ...scopes: string[]) => makeToken(place, ada.email, { name, scopes });
const sql = (text: string): unknown[][] => {
  const database = new (loadSqliteDriver().driver)(demoPath(join(place.folder, '.portico')));
  try {
    return database.prepare(text).raw().all() as unknown[][];
  } finally {
    database.close();
  }
};

const started: ChildProcessWithoutNullStreams[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

interface Message {
  readonly id: number | null;
  readonly result: {
    readonly content: readonly [{ readonly text: string }];
    readonly isError?: boolean;
    readonly tools: readonly { readonly name: string }[];
  };
  readonly error: { readonly code: number; readonly message: string };
}

interface Talk {
  readonly child: ChildProcessWithoutNullStreams;
  /** All lines of standard output. */
  readonly lines: string[];
  stderr(): string;
  send(...lines: string[]): void;
  /** The response with that id; null for a response to no request. */
  answer(id: number | null): Promise<Message>;
  readonly ended: Promise<number | null>;
}

/** Runs the command with raw input lines. */
function talk(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}, folder = place.folder): Talk {
  const {
    command,
    args: all,
    env: environment,
  } = commandOf(['mcp', '--stdio', ...args], { SERVICE_MCP_TOKEN: token, ...env });
  const child = spawn(command, all, { cwd: folder, env: environment, stdio: 'pipe' });
  started.push(child);
  const lines: string[] = [];
  const waiting: { id: number | null; resolve: (message: Message) => void }[] = [];
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    const message = JSON.parse(line);
    const at = waiting.findIndex(({ id }) => id === message.id);
    if (at >= 0) waiting.splice(at, 1)[0]!.resolve(message);
  });
  return {
    child,
    lines,
    stderr: () => stderr,
    send: (...texts) => {
      child.stdin.write(texts.map((text) => `${text}\n`).join(''));
    },
    answer: (id) => new Promise((resolve) => waiting.push({ id, resolve })),
    ended: once(child, 'close').then(([code]) => code as number | null),
  };
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by hand', version: '1' } },
});
const call = (id: number, name: string, args: object) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
const cheap = { collectionName: 'suppliers', fields: ['id'], pagination: { size: 1 } };
const textOf = (message: Message): string => message.result.content[0].text;

/** CPU time so far. proc(5) reports it in hundredths of a second. Other work of the machine does not count. */
function processorMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function processorMsOfPackages(): number {
  const names = ['@modelcontextprotocol/server', 'knex', 'luxon', 'pino', 're2js', 'lru-cache', 'better-sqlite3'];
  const load = `${names.map((name) => `await import('${name}');`).join('')}
    const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', load], { encoding: 'utf8' }));
}

async function shake(talking: Talk): Promise<void> {
  const answer = talking.answer(0);
  talking.send(initialize);
  await answer;
  talking.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
}

describe('clients that start the command', () => {
  const options = () => ({
    ...commandOf(['mcp', '--stdio'], { SERVICE_MCP_TOKEN: token }),
    cwd: place.folder,
    stderr: 'pipe' as const,
  });
  const listing = {
    name: 'list',
    arguments: {
      collectionName: 'orders',
      fields: ['number', 'total'],
      sort: { field: 'id', ascending: true },
      pagination: { size: 3 },
    },
  };
  const expected = () => sql('SELECT number, total FROM orders ORDER BY id LIMIT 3');

  test.each([
    ['legacy', '2025-11-25'],
    ['auto', '2026-07-28'],
    [{ pin: '2026-07-28' }, '2026-07-28'],
  ] as const)('the client of the SDK lists and writes in mode %o', async (mode, version) => {
    const client = new Client({ name: 'notebook', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(options()));
    const { tools } = await client.listTools();
    const listed = (await client.callTool(listing)) as unknown as Message['result'];
    const name = `Written by ${JSON.stringify(mode)}`;
    const attributes = {
      name,
      email: 'made@example.com',
      city: 'Bergen',
      country: 'NO',
      lead_time_days: 3,
      contracted_on: '2026-01-02',
    };
    const written = (await client.callTool({
      name: 'create',
      arguments: { collectionName: 'suppliers', attributes },
    })) as {
      isError?: boolean;
    };
    const negotiated = client.getNegotiatedProtocolVersion();
    await client.close();
    expect([negotiated, tools.length, JSON.parse(listed.content[0].text).rows, written.isError]).toEqual([
      version,
      13,
      expected(),
      undefined,
    ]);
    expect(sql(`SELECT contact_email FROM suppliers WHERE name = '${name}'`)).toEqual([['made@example.com']]);
  });

  test('the client of the previous SDK lists', async () => {
    const client = new FormerClient({ name: 'notebook', version: '1' });
    await client.connect(new FormerTransport(options()));
    const listed = (await client.callTool(listing)) as unknown as Message['result'];
    await client.close();
    expect(JSON.parse(listed.content[0].text).rows).toEqual(expected());
  });
});

interface HostConfig {
  readonly mcpServers: Readonly<
    Record<
      string,
      { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
    >
  >;
}

const hostConfigs = [...readFileSync('docs/clients.md', 'utf8').matchAll(/```json\n(.*?)```/gs)].map(
  ([, text]) => JSON.parse(text!) as HostConfig,
);

test.each(hostConfigs.flatMap(({ mcpServers }) => Object.values(mcpServers)))(
  'the configuration of docs/clients.md starts the command: $args',
  async ({ command, args, env }) => {
    expect([command, args[0]]).toEqual(['npx', 'portico']);
    writeFileSync(join(place.folder, 'token'), `${token}\n`, { mode: 0o600 });
    // Replaces the paths and the token of the docs with those of the test.
    const here = (text: string) => text.replace(/^\/home\/ada\/shop/, place.folder).replace(/^\$\{.*\}$/, token);
    const mine = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, here(value)]));
    const client = new Client({ name: 'notebook', version: '1' });
    await client.connect(new StdioClientTransport({ ...commandOf(args.slice(1).map(here), mine), cwd: tmpdir() }));
    const { tools } = await client.listTools();
    await client.close();
    expect(tools.map(({ name }) => name)).toContain('list');
  },
);

describe('the token', () => {
  test.each([
    [
      { SERVICE_MCP_TOKEN: '' },
      /^portico: SERVICE_MCP_TOKEN or SERVICE_MCP_TOKEN_FILE must contain an application token, .*portico token create/,
    ],
    [
      { SERVICE_MCP_TOKEN: 'hunter2hunter2' },
      /^portico: SERVICE_MCP_TOKEN: this is not an application token; those begin with svc_\. /,
    ],
    [{ SERVICE_MCP_TOKEN: `svc_${'x'.repeat(43)}` }, /^portico: SERVICE_MCP_TOKEN: The token is unknown or revoked\. /],
  ])('%j ends the process before the handshake, with one line and exit code 1', async (env, line) => {
    const { code, stdout, stderr } = await portico(['mcp', '--stdio'], { ...place, env, input: `${initialize}\n` });
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(line)]);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(stderr).not.toContain('hunter2');
  });

  test('for the public API is refused, and one from a file is accepted', async () => {
    const api = await tokenOf('api', 'notes:read');
    const refused = await portico(['mcp', '--stdio'], { ...place, env: { SERVICE_MCP_TOKEN: api } });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/The token is for the public API/)]);
    writeFileSync(join(place.folder, 'token'), `${token}\n`, { mode: 0o600 });
    const env = { SERVICE_MCP_TOKEN_FILE: 'token' };
    const taken = await portico(['mcp', '--stdio'], { ...place, env, input: `${initialize}\n` });
    expect([taken.code, JSON.parse(taken.stdout).result.serverInfo.name]).toEqual([0, 'portico']);
  });

  test('is checked at every call: after another process revokes it, calls are refused', async () => {
    const own = await tokenOf('short-lived', 'mcp:read');
    const talking = talk([], { SERVICE_MCP_TOKEN: own });
    await shake(talking);
    talking.send(call(1, 'list', cheap));
    const before = await talking.answer(1);
    const id = /^(\d+) +short-lived/m.exec((await portico(['token', 'list'], place)).stdout)![1]!;
    await portico(['token', 'revoke', id], place);
    talking.send(call(2, 'list', cheap), '{"jsonrpc":"2.0","id":3,"method":"tools/list"}');
    const after = await Promise.all([talking.answer(2), talking.answer(3)]);
    const message = "The token is unknown or revoked. Create a new one with 'portico token create'.";
    const refusal = { code: -32000, message, data: { code: 'UNAUTHENTICATED' } };
    expect([JSON.parse(textOf(before)).rows.length, ...after.map(({ error }) => error)]).toEqual([1, refusal, refusal]);
  });

  test('limits the tools: those of other scopes are hidden, and calls of them are refused', async () => {
    const reader = await tokenOf('reader', 'mcp:read');
    const talking = talk([], { SERVICE_MCP_TOKEN: reader });
    await shake(talking);
    talking.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      call(2, 'delete', { collectionName: 'orders', recordIds: [1] }),
    );
    const [menu, refused] = await Promise.all([talking.answer(1), talking.answer(2)]);
    expect(menu.result.tools.map(({ name }) => name)).not.toContain('delete');
    expect([refused.result.isError, textOf(refused)]).toEqual([true, expect.stringMatching(/^INSUFFICIENT_SCOPE: /)]);
  });
});

describe('input lines', () => {
  test('that are invalid each get an error, and the next valid one works', async () => {
    const talking = talk([], { SERVICE_BODY_LIMIT_BYTES: '20000' });
    await shake(talking);
    const bad = [
      'not json',
      '[1]',
      '{"jsonrpc":"2.0","id":{},"method":"ping"}',
      '['.repeat(100),
      `{"x":"${'y'.repeat(30_000)}"}`,
    ];
    for (const line of bad) {
      const answer = talking.answer(null);
      talking.send(line);
      expect((await answer).error.code).toBeOneOf([-32700, -32600]);
    }
    talking.send('', '   '.trim(), call(1, 'list', cheap));
    expect(JSON.parse(textOf(await talking.answer(1))).rows).toHaveLength(1);
    expect(talking.lines).toHaveLength(2 + bad.length);
  });

  test('may end with CR LF and arrive in pieces', async () => {
    const talking = talk();
    const answers = Promise.all([talking.answer(0), talking.answer(1)]);
    const text = `${initialize}\r\n${call(1, 'list', cheap)}\r\n`;
    for (let at = 0; at < text.length; at += 7) {
      talking.child.stdin.write(text.slice(at, at + 7));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(JSON.parse(textOf((await answers)[1])).rows).toHaveLength(1);
  });

  test('of many concurrent calls each get an answer, and large answers are complete', async () => {
    const talking = talk([], { SERVICE_ANSWER_TOKENS: '20000' });
    await shake(talking);
    const small = (id: number) => ({ collectionName: 'orders', fields: ['id'], pagination: { size: 1, number: id } });
    const big = { collectionName: 'orders', pagination: { size: 1000 } };
    const ids = Array.from({ length: 60 }, (_, at) => at + 1);
    const isBig = (id: number) => id % 10 === 0;
    const answers = Promise.all(ids.map((id) => talking.answer(id)));
    talking.send(...ids.map((id) => call(id, 'list', isBig(id) ? big : small(id))));
    const got = (await answers).map((message) => {
      const text = textOf(message);
      return isBig(message.id ?? 0) ? text.length > 20_000 : JSON.parse(text).rows[0][0];
    });
    const known = sql('SELECT id FROM orders ORDER BY id LIMIT 60').map(([id]) => id);
    expect(got).toEqual(ids.map((id) => (isBig(id) ? true : known[id - 1])));
  });
});

describe('the process', () => {
  // Opening a storage in WebAssembly takes longer.
  const isMeasured = existsSync('/proc/self/stat') && loadSqliteDriver().kind !== 'wasm';
  test.runIf(isMeasured)(
    'uses at most three times the CPU time of loading its packages until the first answer',
    async () => {
      // Compared with the time to load the shared packages, because machines differ in speed.
      // Takes the minimum of several runs, because other work of the machine can only add time.
      const times: number[] = [];
      const packages: number[] = [];
      const most = () => 3 * Math.min(...packages);
      while (times.length < 6 && !(Math.min(...times) < most())) {
        packages.push(processorMsOfPackages());
        const talking = talk();
        await shake(talking);
        times.push(processorMsOf(talking.child.pid!));
        talking.child.stdin.end();
        await talking.ended;
      }
      expect(Math.min(...times)).toBeLessThan(most());
    },
  );

  test('answers pending requests and exits with 0 when its input ends', async () => {
    const talking = talk();
    const answer = talking.answer(1);
    talking.send(initialize, call(1, 'list', cheap));
    talking.child.stdin.end();
    expect(JSON.parse(textOf(await answer)).rows).toHaveLength(1);
    expect([await talking.ended, talking.stderr()]).toEqual([0, '']);
  });

  test('exits when its input ends, even if user code is still running', async () => {
    const other = makePlace();
    try {
      writeFileSync(
        join(other.folder, 'portico.config.mjs'),
        `export default (agent) => agent.customizeCollection('suppliers', (suppliers) => suppliers.addField('slow', {
  columnType: 'String', dependencies: ['name'],
  getValues: () => new Promise((resolve) => setTimeout(resolve, 60_000, [])),
}));`,
      );
      await addPerson(other, ada);
      const own = await makeToken(other, ada.email, { name: 'a', scopes: ['mcp:read'] });
      const talking = talk([], { SERVICE_MCP_TOKEN: own }, other.folder);
      await shake(talking);
      talking.send(call(1, 'list', { collectionName: 'suppliers', fields: ['slow'], pagination: { size: 1 } }));
      talking.send(call(2, 'list', cheap));
      await talking.answer(2);
      talking.child.stdin.end();
      const code = await talking.ended;
      expect([code, talking.lines.length]).toEqual([0, 2]);
    } finally {
      other.remove();
    }
  });

  describe('when a client stops reading in the middle of an answer', () => {
    /** Fills the pipe with unread responses. Then it closes the reading end, so the rest cannot be sent. */
    async function leave(lines: readonly string[], close: (child: Talk['child']) => void) {
      const { command, args, env } = commandOf(['mcp', '--stdio'], {
        SERVICE_MCP_TOKEN: token,
        SERVICE_ANSWER_TOKENS: '20000',
      });
      const child = spawn(command, args, { cwd: place.folder, env, stdio: 'pipe' });
      started.push(child);
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      child.stdin.on('error', () => undefined);
      child.stdout.pause();
      const big = { collectionName: 'orders', pagination: { size: 1000 } };
      const many = Array.from({ length: 12 }, (_, at) => call(at + 10, 'list', big));
      child.stdin.write([initialize, ...lines, ...many].map((line) => `${line}\n`).join(''));
      await once(child.stdout, 'readable');
      close(child);
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      return { code, signal, stderr };
    }
    const calm = { code: 0, signal: null, stderr: expect.not.stringMatching(/EPIPE|Error|unhandled|\n {4}at /i) };

    test('but keeps its input pipe open, it exits with 0', async () => {
      expect(await leave([], (child) => child.stdout.destroy())).toEqual(calm);
    });

    test('and closes all pipes, it exits with 0', async () => {
      expect(
        await leave([], (child) => {
          child.stdout.destroy();
          child.stdin.destroy();
          child.stderr.destroy();
        }),
      ).toEqual(calm);
    });

    // The WebAssembly driver serves one process at a time.
    test.runIf(sqliteIsolates)('each write is both done and logged, or neither', async () => {
      const cities = Array.from({ length: 8 }, (_, at) => `Left ${at}`);
      const writes = cities.map((city, at) =>
        call(at + 1, 'update', { collectionName: 'suppliers', recordId: at + 1, attributes: { city } }),
      );
      expect(await leave(writes, (child) => child.stdout.destroy())).toEqual(calm);
      const done = sql("SELECT id FROM suppliers WHERE city LIKE 'Left %' ORDER BY id").map(([id]) => String(id));
      const store = new (loadSqliteDriver().driver)(join(place.folder, '.portico', 'portico.sqlite'));
      const entries = store
        .prepare("SELECT record_ids, outcome FROM activity_logs WHERE action = 'update' AND collection = 'suppliers'")
        .all() as { record_ids: string | null; outcome: string }[];
      store.close();
      const logged = entries
        .filter(({ outcome }) => outcome === 'completed')
        .flatMap((entry) => JSON.parse(entry.record_ids!));
      expect([done.length > 0, logged.sort(), entries.filter(({ outcome }) => outcome === 'unknown')]).toEqual([
        true,
        done,
        [],
      ]);
    });
  });

  test('exits with 0 at SIGTERM', async () => {
    const talking = talk();
    await shake(talking);
    talking.child.kill('SIGTERM');
    expect(await talking.ended).toBe(0);
  });

  test('writes output of user code to standard error and keeps standard output for the protocol', async () => {
    const other = makePlace();
    try {
      writeFileSync(
        join(other.folder, 'portico.config.mjs'),
        `console.log('loading');
export default (agent) => agent.customizeCollection('suppliers', (suppliers) => suppliers.addField('shout', {
  columnType: 'String', dependencies: ['name'],
  getValues: (records) => { console.log('asked'); process.stdout.write('again'); return records.map(({ name }) => name.toUpperCase()); },
}));`,
      );
      await addPerson(other, ada);
      const own = await makeToken(other, ada.email, { name: 'a', scopes: ['mcp:read'] });
      const talking = talk([], { SERVICE_MCP_TOKEN: own }, other.folder);
      await shake(talking);
      talking.send(call(1, 'list', { collectionName: 'suppliers', fields: ['shout'], pagination: { size: 1 } }));
      expect(JSON.parse(textOf(await talking.answer(1))).rows[0][0]).toMatch(/^[^a-z]+$/);
      expect([talking.lines.length, talking.stderr()]).toEqual([2, 'loading\nasked\nagain']);
    } finally {
      other.remove();
    }
  });

  test('limits tools and collections by its flags', async () => {
    const talking = talk(['--readonly', '--collections', 'orders,suppliers']);
    await shake(talking);
    talking.send(
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      call(2, 'describeCollection', {}),
      call(3, 'list', { collectionName: 'customers' }),
    );
    const [menu, index, refused] = await Promise.all([talking.answer(1), talking.answer(2), talking.answer(3)]);
    const names = menu.result.tools.map(({ name }) => name);
    expect([names.includes('create'), names.includes('list'), textOf(refused)]).toEqual([
      false,
      true,
      expect.stringMatching(/^UNKNOWN_COLLECTION: /),
    ]);
    expect([/orders/.test(textOf(index)), /customers|reviews/.test(textOf(index))]).toEqual([true, false]);
  });

  test.runIf(sqliteIsolates)('works beside a server on the same data and logs to the same activity log', async () => {
    const server = await startServer([], place);
    try {
      const talking = talk();
      await shake(talking);
      talking.send(call(1, 'update', { collectionName: 'suppliers', recordIds: [1], attributes: { phone: '+47 1' } }));
      const written = await talking.answer(1);
      expect(JSON.parse(textOf(written)).count).toBe(1);
      talking.child.stdin.end();
      await talking.ended;
    } finally {
      server.signal('SIGTERM');
      await server.ended;
    }
    const log = new (loadSqliteDriver().driver)(join(place.folder, '.portico', 'portico.sqlite'));
    const [entry] = log
      .prepare("SELECT action, client_id, outcome FROM activity_logs WHERE action = 'update'")
      .raw()
      .all();
    log.close();
    expect(entry).toEqual(['update', 'token:assistant', 'completed']);
  });

  test('reports a missing --stdio', async () => {
    const { code, stderr } = await portico(['mcp'], place);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/required option '--stdio'/)]);
  });
});
