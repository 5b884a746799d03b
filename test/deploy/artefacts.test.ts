// Files to deploy with, as far as a machine without their programs can check and run them. The proxies and the image
// are run by the long tests.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { buildOnce, commandOf, startServer } from '../cli/command.ts';
import { freePort } from '../ports.ts';
import { commandIn, environmentOf, readDockerfile, textOf } from './dockerfile.ts';
import { checkSettings } from './settings.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-deploy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('the image is healthy while the server with its variables serves, and not after', async () => {
  await buildOnce();
  const stages = readDockerfile('Dockerfile');
  const last = stages.at(-1)!;
  const env = { ...environmentOf(last), MCP_SERVER_PORT: `${await freePort()}` };
  checkSettings(env);
  const copied = stages[0]!.filter(({ name }) => name === 'COPY').flatMap(({ text }) => text.split(' ').slice(0, -1));
  expect(copied.filter((path) => !existsSync(path))).toEqual([]);
  const server = await startServer(['--port', env.MCP_SERVER_PORT], { folder: makeFolder(), env });
  const [program = '', ...args] = commandIn(textOf(last, 'HEALTHCHECK'));
  const isHealthy = () => spawnSync(program, args, { env: { ...process.env, ...env } }).status === 0;
  const before = isHealthy();
  server.signal('SIGTERM');
  await server.ended;
  expect([before, isHealthy()]).toEqual([true, false]);
});

const unitPath = 'deploy/systemd/portico@.service';
const unitLines = readFileSync(unitPath, 'utf8').split('\n');
const valuesOf = (name: string) =>
  unitLines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));

test('the systemd service starts with its variables and credentials, and has time to stop', async () => {
  await buildOnce();
  const folder = makeFolder();
  const port = await freePort();
  const fill = (text: string) =>
    text.replaceAll('%i', `${port}`).replaceAll('%d', folder).replace('/var/lib', join(folder, 'state'));
  const given = valuesOf('Environment').map((pair) => fill(pair).split(/=(.*)/s).slice(0, 2) as [string, string]);
  const env = Object.fromEntries(given);
  checkSettings(env);
  const credentials = valuesOf('LoadCredential').map((pair) => pair.split(':')[0]!);
  const named = Object.values(env).filter((value) => value.startsWith(`${folder}/`) && !value.includes('state'));
  expect(credentials.map((name) => join(folder, name)).sort()).toEqual(named.sort());
  for (const name of credentials)
    writeFileSync(
      join(folder, name),
      name.endsWith('url') ? `sqlite:${join(folder, `${name}.sqlite`)}` : 'x'.repeat(32),
    );
  // A served database must exist.
  delete (env as Record<string, string>).SERVICE_DATABASE_URL_FILE;
  expect(valuesOf('ExecStart')).toEqual([expect.stringMatching(/dist\/cli\/main\.js start$/)]);
  const server = await startServer(['--port', `${port}`], { folder, env });
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  server.signal('SIGTERM');
  const { code } = await server.ended;
  const stopSeconds = Number(valuesOf('TimeoutStopSec')[0]);
  expect([ready.status, code, stopSeconds > Number(env.SERVICE_DRAIN_SECONDS) + 10]).toEqual([200, 0, true]);
});

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
test.skipIf(!hasSystemd)('systemd accepts the unit', () => {
  const folder = makeFolder();
  // The program must exist where the unit names it.
  const text = readFileSync(unitPath, 'utf8').replace('/usr/bin/node', process.execPath);
  writeFileSync(join(folder, 'portico@.service'), text);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, 'portico@.service')], {
    encoding: 'utf8',
  });
  expect([status, stderr.split('\n').filter((line) => line.includes('portico@'))]).toEqual([0, []]);
});

const chart = 'deploy/helm/portico';
const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'));

test('the templates of the chart use only values that exist, and only settings', () => {
  const texts = ['deployment', 'service'].map((name) => readFileSync(`${chart}/templates/${name}.yaml`, 'utf8'));
  const used = texts.flatMap((text) => [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path!));
  const find = (path: string) =>
    path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], values);
  expect([...new Set(used)].filter((path) => find(path) === undefined)).toEqual([]);
  const unused = Object.keys(values).filter((name) => !used.some((path) => path.split('.')[0] === name));
  expect(unused).toEqual([]);
  const names = [...texts.join('\n').matchAll(/name: (SERVICE_\w+), value/g)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(8);
  checkSettings({
    ...Object.fromEntries(names.map((name) => [`${name.replace(/_FILE$/, '')}_FILE`, ''])),
    ...values.settings,
  });
  // Braces of actions are balanced, and so are blocks.
  for (const text of texts) {
    const opened = text.match(/{{-? (if|range) /g)?.length ?? 0;
    expect([text.match(/{{/g)?.length, text.match(/{{-? end }}/g)?.length ?? 0]).toEqual([
      text.match(/}}/g)?.length,
      opened,
    ]);
  }
});

test.each([
  ['a port that is not a number of processes', { replicas: 0 }],
  ['a URL without TLS', { publicUrl: 'http://data.example.com' }],
  ['a secret in plain text', { settings: { SERVICE_SECRET: 'x' } }],
  ['a URL with a password in plain text', { settings: { SERVICE_REDIS_URL: 'redis://:x@redis' } }],
  ['an unknown value', { replicaCount: 2 }],
  ['an ingress without a host', { ingress: { enabled: true } }],
])('the schema of the chart refuses %s', (_what, change) => {
  const isValid = new Ajv({ strict: false }).compile(JSON.parse(readFileSync(`${chart}/values.schema.json`, 'utf8')));
  expect([isValid(values), isValid({ ...values, ...change })]).toEqual([true, false]);
});

test('the bundle and the registry name variables and arguments that the command accepts', () => {
  const { mcp_config: bundle } = JSON.parse(readFileSync('deploy/mcpb/manifest.json', 'utf8')).server;
  const [npm] = JSON.parse(readFileSync('server.json', 'utf8')).packages;
  const variables: { readonly name: string }[] = npm.environmentVariables;
  checkSettings({ ...bundle.env, ...Object.fromEntries(variables.map(({ name }) => [name, ''])) });
  const listed = npm.packageArguments.map(({ value, name }: Record<string, string>) => value ?? name);
  expect([bundle.args.slice(1), listed]).toEqual([
    ['mcp', '--stdio'],
    ['mcp', '--stdio'],
  ]);
  // The command knows them: it fails for want of a token only.
  const { command, args, env } = commandOf(listed, { SERVICE_DATA_DIR: makeFolder(), SERVICE_DATABASE_URL: '' });
  const { status, stderr } = spawnSync(command, args, { env, encoding: 'utf8', input: '' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('SERVICE_MCP_TOKEN')]);
});
