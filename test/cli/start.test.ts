// `portico start` as a process: from an empty folder to the welcome, again with existing data, and a clean shutdown.
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadSqliteDriver } from '../../src/core/sqlite.ts';
import { copyDemo } from '../demo.ts';
import { takePort } from '../ports.ts';
import { getToken, list, printed } from './asking.ts';
import {
  adminPassword,
  buildOnce,
  makePlace,
  type Place,
  portico,
  type Run,
  type StartedServer,
  sqliteKinds,
  startServer,
} from './command.ts';

/** The WebAssembly driver logs a warning, which has its own test. */
const isSilent = loadSqliteDriver().kind !== 'wasm';

let place: Place;
const running: StartedServer[] = [];
beforeAll(buildOnce);
beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  for (const server of running.splice(0)) {
    server.signal('SIGKILL');
    await server.ended;
  }
  place.remove();
});

async function begin(args: readonly string[] = [], run: Partial<Run> = {}): Promise<StartedServer> {
  const server = await startServer(args, { folder: place.folder, ...run });
  running.push(server);
  return server;
}

async function end(server: StartedServer): Promise<number | null> {
  server.signal('SIGTERM');
  return (await server.ended).code;
}

describe.each(sqliteKinds)('on the %s driver', (kind) => {
  const env = { SERVICE_SQLITE: kind };

  test('start in an empty folder gives a server that accepts sign-ins and calls', async () => {
    const server = await begin([], { env });
    const token = await getToken(server, adminPassword);
    const query = {
      collectionName: 'categories',
      fields: ['name'],
      filters: { field: 'parent_id', operator: 'Missing' },
    };
    const answer = await list(server.mcpUrl, token, { ...query, sort: { field: 'id', ascending: true } });
    expect(answer).toMatchObject({
      columns: ['name'],
      rows: [
        ['Kitchen'],
        ['Living Room'],
        ['Bedroom'],
        ['Bathroom'],
        ['Garden'],
        ['Study'],
        ['Outdoors'],
        ['Children'],
      ],
      hasMore: false,
    });
    expect(server.stdout.includes('! SQLite runs as WebAssembly')).toBe(kind === 'wasm');
    expect(await end(server)).toBe(0);
  });

  test('a second start keeps the user and the shop, and prints how to set another password', async () => {
    const first = await begin([], { env });
    const demo = join(place.folder, '.portico', 'demo.sqlite');
    const { mtimeMs } = statSync(demo);
    expect(await end(first)).toBe(0);
    const second = await begin(['--email', 'other@example.com'], { env });
    expect(second.stdout).not.toContain('shown only once');
    expect(second.stdout).toContain('unchanged; to set another: portico user password you@example.com');
    expect(second.stdout).toContain('! --email is for the first user, and there is already one.');
    expect(await getToken(second, adminPassword)).not.toBe('');
    expect([await end(second), statSync(demo).mtimeMs]).toEqual([0, mtimeMs]);
  });
});

test.runIf(isSilent)('the welcome shows the address, the sign-in and a command for each assistant', async () => {
  const { stdout, stderr, mcpUrl } = await begin(['--email', 'Ada@Example.com']);
  const lines = stdout.split('\n').map((line) => line.trim());
  expect(lines.map((line) => line.replaceAll(mcpUrl, '<url>'))).toEqual([
    '',
    'Portico 0.1.0 is ready.',
    '',
    'MCP address  <url>',
    `Console      ${new URL('/console', mcpUrl)}`,
    'Serves       the demo shop, about 20,000 rows',
    'E-mail       ada@example.com',
    'Password     from SERVICE_ADMIN_PASSWORD',
    '',
    'Add it to your assistant, which then opens the sign-in in your browser:',
    '',
    'Claude Code  claude mcp add --transport http portico <url>',
    'Codex        codex mcp add portico --url <url>',
    `VS Code      code --add-mcp '{"name":"portico","type":"http","url":"<url>"}'`,
    'Cursor       in .cursor/mcp.json; for other clients in .mcp.json:',
    '{"mcpServers":{"portico":{"type":"http","url":"<url>"}}}',
    '',
    '',
  ]);
  expect(stderr).toBe('');
});

test('settings create the first administrator, with a password from a file that is not printed', async () => {
  const file = join(place.folder, 'password');
  writeFileSync(file, 'four tall blue doors\n');
  const env = {
    SERVICE_ADMIN_EMAIL: 'Ops@Example.com',
    SERVICE_ADMIN_PASSWORD: '',
    SERVICE_ADMIN_PASSWORD_FILE: file,
  };
  const server = await begin([], { env });
  expect([printed(server, 'E-mail'), await getToken(server, 'four tall blue doors')]).toEqual([
    'ops@example.com',
    expect.stringMatching(/./),
  ]);
  expect(server.stdout + server.stderr).not.toContain('four tall');
  await end(server);
  const again = await begin([], { env: { ...env, SERVICE_ADMIN_PASSWORD: 'another password' } });
  expect([printed(again, 'Password'), await getToken(again, 'four tall blue doors')]).toEqual([
    'unchanged;',
    expect.stringMatching(/./),
  ]);
});

test('without a terminal no password is printed, and the printed command creates a working link', async () => {
  const env = { SERVICE_ADMIN_PASSWORD: '' };
  const server = await begin([], { env });
  expect(server.stdout).not.toContain('shown only once');
  const [, command = ''] = /Password +not set; for a link to choose one: portico (.+)/.exec(server.stdout) ?? [];
  expect(command).toContain('user invite you@example.com --public-url http');
  const made = await portico(command.split(' '), place);
  const [, link = ''] = /^Link: (\S+)/m.exec(made.stdout) ?? [];
  expect(new URL(link).origin).toBe(server.origin);
  const first = await fetch(link, { redirect: 'manual' });
  const cookies = first.headers.getSetCookie().map((each) => each.split(';')[0]!);
  const cookie = cookies.filter((each) => !each.endsWith('=')).join('; ');
  const opened = await fetch(new URL(first.headers.get('location')!, link), { headers: { cookie } });
  expect([opened.status, await opened.text()]).toEqual([200, expect.stringContaining('Choose a password')]);
  await end(server);
  const again = await begin([], { env });
  expect(again.stdout).toContain('Password     not set; for a link to choose one: portico user invite you@example.com');
});

test('a first password that is too common ends the start with the name of the setting', async () => {
  const { code, stdout, stderr } = await portico(['start', '--port', '0'], {
    ...place,
    env: { SERVICE_ADMIN_PASSWORD: 'password1234' },
  });
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('portico: SERVICE_ADMIN_PASSWORD: this password is too common');
  expect(stderr).not.toContain('password1234');
});

test('only the owner can read the files on disk', async () => {
  await begin();
  const folder = join(place.folder, '.portico');
  const modes = readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777);
  expect([statSync(folder).mode & 0o777, [...new Set(modes)]]).toEqual([0o700, [0o600]]);
});

test('health checks return 200, and /mcp requires a token', async () => {
  const server = await begin();
  const ask = async (path: string, init?: RequestInit) => {
    const response = await fetch(server.origin + path, init);
    return [response.status, response.headers.get('www-authenticate')?.split(',')[0], await response.json()];
  };
  expect(await ask('/healthz')).toEqual([200, undefined, { status: 'ok' }]);
  expect(await ask('/readyz')).toEqual([200, undefined, { status: 'ready' }]);
  const [status, challenge] = await ask('/mcp', { method: 'POST', body: '{}' });
  expect([status, challenge]).toEqual([401, expect.stringMatching(/^Bearer /)]);
});

test('a given database is served, and no demo shop is created', async () => {
  const file = join(place.folder, 'own.sqlite');
  copyDemo(file);
  const server = await begin(['--database', `sqlite:${file}`]);
  const token = await getToken(server, adminPassword);
  const answer = await list(server.mcpUrl, token, {
    collectionName: 'suppliers',
    pagination: { size: 1 },
    enableCount: true,
  });
  expect(answer).toMatchObject({ totalCount: 48 });
  expect([printed(server, 'Serves'), existsSync(join(place.folder, '.portico', 'demo.sqlite'))]).toEqual([
    `sqlite:${file}`,
    false,
  ]);
});

test('a port in use is reported in one line with the setting and exit code 1', async () => {
  const taken = await takePort();
  const outcome = await portico(['start', '--port', String(taken.port)], place);
  await taken.free();
  expect(outcome).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^portico: Port \d+ is in use.*MCP_SERVER_PORT.*\n$/),
  });
});

test.each([
  ['a database that does not exist', ['--database', 'sqlite:gone.sqlite'], /^portico: .*gone\.sqlite/],
  [
    'a server that does not answer',
    ['--database', 'postgres://reader:hunter2@127.0.0.1:1/shop'],
    /^portico: .*port 1: nothing listens there.*SERVICE_DATABASE_URL/,
  ],
  [
    'an unknown scheme',
    ['--database', 'oracle://reader:hunter2@h/shop'],
    /^portico: The database address is malformed: expected sqlite:/,
  ],
  ['an invalid address', ['--email', 'nobody'], /^portico: SERVICE_ADMIN_EMAIL \(--email\): expected an address/],
])('%s ends the start with one line', async (_case, args, reason) => {
  const { code, stdout, stderr } = await portico(['start', '--port', '0', ...args], place);
  const own = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  expect([code, stdout, own]).toEqual([1, '', [expect.stringMatching(reason)]]);
  expect(stderr).not.toContain('hunter2');
});

test.runIf(isSilent)('listening on all interfaces gives a warning without https, and none with https', async () => {
  const bare = await begin(['--host', '0.0.0.0']);
  await end(bare);
  expect([bare.stdout, bare.stderr]).toEqual([
    expect.stringContaining('! Listening on 0.0.0.0 without a public https address'),
    expect.stringContaining('Listening on 0.0.0.0 without a public https address'),
  ]);
  const proxied = await begin(['--host', '0.0.0.0', '--public-url', 'https://data.example.com']);
  await end(proxied);
  expect([proxied.stdout.includes('!'), proxied.stderr]).toEqual([false, '']);
  expect(proxied.mcpUrl).toBe('https://data.example.com/mcp');
});

test('an unhandled rejection of the customization is logged and does not end the process', async () => {
  writeFileSync(
    join(place.folder, 'portico.config.mjs'),
    `export default () => void setInterval(() => void Promise.reject(new Error('forgotten await')), 20);`,
  );
  const server = await begin();
  await expect
    .poll(() => server.stderr)
    .toMatch(/nothing awaited it.*forgotten await|forgotten await.*nothing awaited it/s);
  const health = await fetch(`${server.origin}/healthz`);
  expect([health.status, await end(server)]).toEqual([200, 0]);
});

test('SIGTERM lets a running request finish and refuses new ones', async () => {
  const server = await begin();
  const { port } = new URL(server.origin);
  const socket = createConnection({ port: Number(port), host: '127.0.0.1' });
  let received = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text;
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n');
  // After the response to another request, the server has read the first one.
  await sleep(100);
  await fetch(`${server.origin}/healthz`);
  server.signal('SIGTERM');
  await expect
    .poll(() => fetch(`${server.origin}/healthz`).catch(() => 'refused'), { timeout: 10_000 })
    .toBe('refused');
  socket.write('\r\n');
  await closed;
  const { code } = await server.ended;
  expect([code, received.split('\r\n')[0]]).toEqual([0, 'HTTP/1.1 200 OK']);
});

test('a further SIGINT ends the process without waiting for requests, unless it follows immediately', async () => {
  const server = await begin([], { env: { SERVICE_SHUTDOWN_SECONDS: '600' } });
  const { port } = new URL(server.origin);
  const socket = createConnection({ port: Number(port), host: '127.0.0.1' });
  socket.on('error', () => undefined);
  socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n');
  await sleep(100);
  server.signal('SIGINT');
  await sleep(100);
  server.signal('SIGINT');
  const early = await Promise.race([server.ended, sleep(600).then(() => 'still there')]);
  server.signal('SIGINT');
  expect([early, (await server.ended).code]).toEqual(['still there', 1]);
});
