// The services of the compose file, one by one in the order of their dependencies, without a container engine: its
// README prepares the secrets, and each service runs with its variables, secrets and health check. Only hosts, ports and
// paths are replaced. Needs `apt-get install mariadb-server redis-server`.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '../../src/core/clock.ts';
import { callTool } from '../app/call.ts';
import { buildOnce, commandOf } from '../cli/command.ts';
import { connect, register } from '../oauth/client.ts';
import { freePort } from '../ports.ts';
import { commandIn, environmentOf, readDockerfile, textOf } from './dockerfile.ts';

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly stop_grace_period: string;
}

beforeAll(buildOnce);

function prepare(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-compose-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync('deploy/compose', folder, { recursive: true });
  const [, commands = ''] = /```sh\n(.*?)```/s.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? [];
  const secrets = commands.replace(/^cd .*\n/m, '').replace(/^docker compose up.*\n/m, '');
  execFileSync('bash', ['-ec', secrets], { cwd: folder });
  return folder;
}

function begin(command: string, args: readonly string[], folder: string, env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return { child, said: () => said };
}

/** Waits until the health check of a service passes. */
async function untilHealthy(command: readonly string[], env: NodeJS.ProcessEnv, said: () => string): Promise<void> {
  const [program = '', ...args] = command;
  for (let tries = 0; tries < 60; tries++) {
    const [code] = await once(spawn(program, args, { env, stdio: 'ignore' }), 'exit');
    if (code === 0) return;
    await systemClock.sleep(500);
  }
  throw new Error(`not healthy: ${said()}`);
}

async function end(child: ChildProcess): Promise<unknown> {
  child.kill('SIGTERM');
  return child.exitCode ?? (await once(child, 'exit'))[0];
}

test('each service is healthy after the ones it depends on, answers a call, and stops on SIGTERM', async () => {
  const folder = prepare();
  const { services } = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8')) as {
    readonly services: Readonly<Record<'portico' | 'mariadb' | 'redis', Service>>;
  };
  const secret = (name: string) => readFileSync(join(folder, 'secrets', name), 'utf8').trim();
  const [sqlPort, redisPort, port] = [await freePort(), await freePort(), await freePort()];

  // What the image does with an empty volume: it sets the password of root and runs the mounted files in their order.
  const [data, socket] = [join(folder, 'data'), join(folder, 'sql.sock')];
  const asClient = { ...process.env, HOME: folder };
  writeFileSync(join(folder, '.my.cnf'), `[client]\nsocket=${socket}\nport=${sqlPort}\n`);
  const installing = ['--auth-root-authentication-method=normal', '--skip-test-db', `--datadir=${data}`];
  execFileSync('mariadb-install-db', ['--no-defaults', '--user=root', ...installing], { stdio: 'ignore' });
  const options = [`--datadir=${data}`, `--socket=${socket}`, `--port=${sqlPort}`, `--pid-file=${socket}.pid`];
  const serving = ['--no-defaults', '--user=root', '--bind-address=127.0.0.1', '--skip-name-resolve', ...options];
  const mariadb = begin('mariadbd', serving, folder);
  await untilHealthy(['mariadb-admin', 'ping'], asClient, mariadb.said);
  const root = secret('root-password');
  execFileSync('mariadb', ['-uroot', '-e', `ALTER USER root@localhost IDENTIFIED BY '${root}'`], { env: asClient });
  for (const file of readdirSync(join(folder, 'mariadb')).sort()) {
    const text = readFileSync(join(folder, 'mariadb', file), 'utf8').replaceAll(
      '/run/secrets',
      join(folder, 'secrets'),
    );
    const [program, ...args] = file.endsWith('.sh') ? ['bash', '-s'] : ['mariadb', '-uroot', `-p${root}`];
    execFileSync(program!, args, { env: asClient, input: text });
  }
  // `healthcheck.sh` is part of the image. It connects, and asks for InnoDB.
  expect(services.mariadb.healthcheck.test).toEqual(['CMD', 'healthcheck.sh', '--connect', '--innodb_initialized']);
  const askSql = (user: string, sql: string) => {
    const args = ['-h127.0.0.1', `-u${user}`, `-p${secret(`${user}-password`)}`, '-N', '-e', sql];
    return execFileSync('mariadb', args, { env: asClient, encoding: 'utf8' }).trim();
  };
  expect(askSql('shop', "SELECT support FROM information_schema.engines WHERE engine = 'InnoDB'")).toBe('DEFAULT');
  // Each user reaches only their own database.
  expect(askSql('shop', 'SHOW DATABASES').split('\n')).toEqual(['information_schema', 'shop']);

  const redis = begin('redis-server', ['--port', `${redisPort}`, '--dir', folder], folder);
  const [, program = '', ...asking] = services.redis.healthcheck.test;
  await untilHealthy([program, '-p', `${redisPort}`, ...asking], process.env, redis.said);

  for (const name of ['database-url', 'storage-url', 'redis-url']) {
    const there = secret(name)
      .replace('mariadb:3306', `127.0.0.1:${sqlPort}`)
      .replace('redis:6379', `127.0.0.1:${redisPort}`);
    writeFileSync(join(folder, 'secrets', name), there);
  }
  const image = readDockerfile('Dockerfile').at(-1)!;
  const app = join(folder, 'app');
  mkdirSync(join(app, '.portico'), { recursive: true });
  cpSync(join(folder, 'portico.config.mjs'), join(app, 'portico.config.mjs'));
  const given = Object.entries({ ...environmentOf(image), ...services.portico.environment }).map(([name, value]) => [
    name,
    value.replace('/run/secrets', join(folder, 'secrets')).replace('3931', `${port}`),
  ]);
  const { command, args, env } = commandOf(commandIn(textOf(image, 'CMD')), Object.fromEntries(given));
  const portico = begin(command, args, app, env);
  await untilHealthy(commandIn(textOf(image, 'HEALTHCHECK')), env, portico.said);

  const address = `http://localhost:${port}`;
  const redirectUri = 'http://127.0.0.1:49152/callback';
  const registered = await register(address, {
    ...{ client_name: 'Workshop', redirect_uris: [redirectUri], token_endpoint_auth_method: 'none' },
  });
  const account = { email: services.portico.environment.SERVICE_ADMIN_EMAIL!, password: secret('admin-password') };
  const { tokens } = await connect(registered, account, { redirectUri, resource: `${address}/mcp` });
  const call = { collectionName: 'repairs', segment: 'Waiting', fields: ['frame_number'] };
  const answer = await callTool(`${address}/mcp`, tokens.access_token, 'list', call);
  expect(JSON.stringify(answer)).toMatch(/TR-77013.*TR-77020/);
  expect(
    Number(askSql('portico', "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'portico'")),
  ).toBeGreaterThan(20);
  expect(Number(execFileSync('redis-cli', ['-p', `${redisPort}`, 'dbsize'], { encoding: 'utf8' }))).toBeGreaterThan(0);
  const shown = portico.said();
  for (const name of readdirSync(join(folder, 'secrets')))
    expect([name, shown.includes(secret(name))]).toEqual([name, false]);

  const from = performance.now();
  expect(await end(portico.child)).toBe(0);
  expect(performance.now() - from).toBeLessThan(1000 * Number.parseInt(services.portico.stop_grace_period, 10));
  expect([await end(redis.child), await end(mariadb.child)]).toEqual([0, 0]);
});
