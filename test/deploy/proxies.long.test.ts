// Two processes on MariaDB and Redis behind each proxy sample, as real nginx and Caddy run them: a sign-in, a rolling
// restart under load, and a backup that another process serves. Needs `apt-get install nginx caddy`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { loadConfig } from '../../src/core/config.ts';
import { openStore } from '../../src/store/open.ts';
import { callTool, requestOf } from '../app/call.ts';
import { buildOnce, type StartedServer, startServer } from '../cli/command.ts';
import { remoteServers, type TestDatabase } from '../databases.ts';
import { connect, register } from '../oauth/client.ts';
import { freePort } from '../ports.ts';
import { redisUrl } from '../redis.ts';
import { createStorage } from '../store/spares.ts';
import { addUser } from '../users.ts';

const account = { email: 'ada@example.com', password: 'correct horse battery' };
const redirectUri = 'http://127.0.0.1:49152/callback';
const SIDE_BY_SIDE = 16;
const DRAIN_SECONDS = 4;
const mariadb = remoteServers.find(({ dialect }) => dialect === 'mariadb');
const pause = (ms: number) => systemClock.sleep(ms);

interface Proxy {
  /** Writes the sample with these ports; `left`: without this process. Reloads if the proxy runs. */
  take(left?: number): Promise<void>;
  stop(): Promise<void>;
}
type OpenProxy = (folder: string, port: number, processes: readonly number[]) => Promise<Proxy>;

function replace(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`the sample does not contain ${from}`);
  return text.replaceAll(from, to);
}

async function launch(command: string, args: readonly string[], folder: string, port: number): Promise<ChildProcess> {
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child, 'spawn');
  for (let tries = 0; tries < 200; tries++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return child;
    if (child.exitCode !== null) break;
    await pause(50);
  }
  child.kill();
  throw new Error(`${command} does not pass requests on: ${said}`);
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

const openNginx: OpenProxy = async (folder, port, processes) => {
  const sample = readFileSync('deploy/nginx.conf', 'utf8');
  const main = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${join(folder, name)};`)
    .join(' ');
  const header = `daemon off; worker_processes 2; pid ${join(folder, 'pid')}; error_log stderr;`;
  const frame = (file: string) =>
    `${process.getuid?.() === 0 ? 'user root; ' : ''}${header} events {} http { access_log off; ${temporary} include ${join(folder, file)}; }`;

  // As it is, with a certificate.
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=data.example.com', '-days', '1', '-nodes', '-newkey', 'rsa:2048'];
  execFileSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const secure = replace(replace(sample, '/etc/ssl/portico/privkey.pem', key), '/etc/ssl/portico/fullchain.pem', cert);
  writeFileSync(join(folder, 'secure.conf'), secure);
  writeFileSync(main, frame('secure.conf'));
  execFileSync('nginx', ['-t', '-p', folder, '-c', main], { stdio: 'pipe' });

  const plain = replace(sample, 'listen 443 ssl;', `listen 127.0.0.1:${port};`).replace(/^ *ssl_.*$/gm, '');
  const write = (left?: number) => {
    let text = plain;
    for (const [at, one] of processes.entries())
      text = replace(text, `127.0.0.1:${3931 + at} `, `127.0.0.1:${one} ${left === at ? 'down ' : ''}`);
    writeFileSync(join(folder, 'plain.conf'), text);
  };
  write();
  writeFileSync(main, frame('plain.conf'));
  const child = await launch('nginx', ['-p', folder, '-c', main], folder, port);
  return {
    async take(left) {
      write(left);
      child.kill('SIGHUP');
      await pause(1000);
    },
    stop: () => end(child),
  };
};

const openCaddy: OpenProxy = async (folder, port, processes) => {
  const sample = readFileSync('deploy/Caddyfile', 'utf8');
  const file = join(folder, 'Caddyfile');
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  execFileSync('caddy', ['validate', '--config', 'deploy/Caddyfile', '--adapter', 'caddyfile'], { stdio: 'pipe', env });
  let text = replace(sample, 'data.example.com {', `http://127.0.0.1:${port} {`);
  for (const [at, one] of processes.entries()) text = replace(text, `127.0.0.1:${3931 + at}`, `127.0.0.1:${one}`);
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${text}`);
  const child = await launch('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], folder, port);
  // The health checks of Caddy notice it.
  return { take: () => pause(3000), stop: () => end(child) };
};

describe.each([
  { name: 'nginx', open: openNginx },
  { name: 'Caddy', open: openCaddy },
])('behind $name', ({ open }) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-proxy-'));
  const servers: StartedServer[] = [];
  const ports: number[] = [];
  let storage: TestDatabase;
  let proxy: Proxy;
  let origin: string;
  let env: Record<string, string>;
  let token: string;

  const start = (at: number) => startServer(['--port', `${ports[at]}`], { folder, env });
  const stop = async (at: number) => {
    servers[at]!.signal('SIGTERM');
    const { code, stderr } = await servers[at]!.ended;
    if (code !== 0) throw new Error(`a process ended with ${code}: ${stderr}`);
  };

  beforeAll(async () => {
    if (!mariadb || !redisUrl) throw new Error('this test needs MariaDB and Redis');
    await buildOnce();
    storage = await createStorage(mariadb);
    const port = await freePort();
    ports.push(await freePort(), await freePort());
    origin = `http://127.0.0.1:${port}`;
    env = {
      SERVICE_STORAGE_URL: storage.url,
      SERVICE_SECRET: 'the secret that both processes share',
      SERVICE_REDIS_URL: redisUrl,
      SERVICE_PUBLIC_URL: origin,
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
      SERVICE_DRAIN_SECONDS: `${DRAIN_SECONDS}`,
      SERVICE_MCP_REQUESTS_PER_MINUTE: '0',
      SERVICE_LOG_LEVEL: 'Error',
    };
    servers.push(await start(0), await start(1));
    const config = loadConfig({ env });
    const store = await openStore({ config, observe: () => undefined, clock: systemClock });
    await addUser(store, config, { ...account, level: 'admin' });
    await store.close();
    proxy = await open(folder, port, ports);
    const client = await register(origin, { client_name: 'Notebook', redirect_uris: [redirectUri] });
    const { tokens } = await connect(client, account, { redirectUri, resource: `${origin}/mcp` });
    token = tokens.access_token;
  }, 300_000);

  afterAll(async () => {
    await proxy?.stop();
    for (const at of servers.keys()) await stop(at);
    await storage?.drop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  test('no call fails during a rolling restart of the processes', { timeout: 300_000 }, async () => {
    const failures: string[] = [];
    let done = 0;
    let isRolling = true;
    // A connection for each call, since a proxy that reloads closes those that wait.
    const dispatcher = new Agent({ pipelining: 0 });
    const work = async () => {
      for (let turn = 0; isRolling; turn++) {
        const args = { collectionName: turn % 2 ? 'orders' : 'customers', pagination: { size: 3 } };
        const era = turn % 3 ? 'modern' : 'legacy';
        const { headers, body } = requestOf('tools/call', { name: 'list', arguments: args }, era);
        try {
          const answer = await request(`${origin}/mcp`, {
            ...{ method: 'POST', body, reset: true, dispatcher },
            headers: { ...headers, authorization: `Bearer ${token}` },
          });
          const text = await answer.body.text();
          if (answer.statusCode === 200 && text.includes('"result"') && !text.includes('"isError":true')) done++;
          else failures.push(`${answer.statusCode} ${text.slice(0, 300)}`);
        } catch (error) {
          failures.push(String(error));
        }
      }
    };
    const roll = async () => {
      try {
        for (const at of [0, 1]) {
          await proxy.take(at);
          await stop(at);
          servers[at] = await start(at);
          await proxy.take();
        }
      } finally {
        isRolling = false;
      }
    };
    await Promise.all([roll(), ...Array.from({ length: SIDE_BY_SIDE }, work)]);
    await dispatcher.close();
    console.log(`${done} calls, ${failures.length} failed`);
    expect([failures.slice(0, 3), done > 200]).toEqual([[], true]);
  });

  test('a restored backup of the storage accepts the tokens of its time', { timeout: 120_000 }, async () => {
    const copy = await mariadb!.create();
    const tool = (name: string, url: string, options: object) => {
      const { hostname, port, username, password, pathname } = new URL(url.replace(/^mariadb:/, 'mysql:'));
      const args = ['-h', hostname, '-P', port || '3306', '-u', decodeURIComponent(username), '--protocol', 'tcp'];
      const given = { ...process.env, MYSQL_PWD: decodeURIComponent(password) };
      return execFileSync(name, [...args, pathname.slice(1)], { env: given, maxBuffer: 2 ** 28, ...options });
    };
    try {
      const input = tool('mariadb-dump', storage.url, {});
      tool('mariadb', copy.url, { input });
      const port = await freePort();
      const restored = await startServer(['--port', `${port}`], {
        folder,
        env: { ...env, SERVICE_STORAGE_URL: copy.url },
      });
      const list = { collectionName: 'customers', pagination: { size: 1 } };
      const answer = await callTool(`http://127.0.0.1:${port}/mcp`, token, 'list', list);
      restored.signal('SIGTERM');
      await restored.ended;
      expect(answer).toHaveProperty('json');
    } finally {
      await copy.drop(true);
    }
  });
});
