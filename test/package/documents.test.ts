// The code blocks of the README, docs and examples, with the package as npm packs and installs it: as TypeScript, as
// JavaScript, as commands and as calls of tools.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { transformSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { settings } from '../../src/core/config.ts';
import { root } from '../cli/command.ts';
import { copyDemo } from '../demo.ts';
import { freePort } from '../ports.ts';
import { type Block, blocks, isConfig, programs, toTypeScript } from './blocks.ts';
import { addPackages, environment, type Installed, install, launch } from './installed.ts';

const run = promisify(execFile);
const hosts = ['express', 'fastify', 'koa', '@nestjs/core', '@nestjs/common', '@nestjs/platform-express', 'rxjs'];
const telemetry = ['sdk-trace-base', 'sdk-metrics', 'context-async-hooks', 'core'].map(
  (name) => `@opentelemetry/${name}`,
);
const types = ['node', 'express', 'koa'].map((name) => `@types/${name}`);

let at: Installed;
beforeAll(async () => {
  at = await install();
  addPackages(at.folder, [...hosts, 'reflect-metadata', '@opentelemetry/api', ...telemetry, ...types]);
}, 240_000);
afterAll(() => at?.remove());

function makeFolder(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(at.folder, name);
  mkdirSync(folder);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  return folder;
}

const toJavaScript = ({ text, language }: Block): string =>
  language === 'js' ? text : transformSync(text, { loader: 'ts' }).code;
const nameOf = ({ title }: Block): string => title.replaceAll(/\W/g, '-');

test('every program is strict TypeScript for the installed declarations', async () => {
  const files = Object.fromEntries(programs.map((block) => [`${nameOf(block)}.ts`, toTypeScript(block)]));
  expect(programs.length).toBeGreaterThan(35);
  const plugin = readFileSync(join(root, 'examples/plugin/bin.js'), 'utf8');
  const typings = readFileSync(join(root, 'test/types/typed-shop-typings.ts'), 'utf8');
  const compilerOptions = {
    ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, allowImportingTsExtensions: true, allowJs: true },
    ...{ module: 'nodenext', target: 'es2023', types: ['node'], skipLibCheck: true },
    // The example itself, which has no declarations.
    paths: { 'portico-plugin-bin': ['./bin.js'] },
  };
  const folder = makeFolder('typed', {
    ...files,
    'typings.ts': typings,
    'bin.js': plugin,
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify({ compilerOptions, include: ['*.ts'] }),
  });
  const { stdout } = await run('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});

test('every customization is a portico.config in JavaScript', async () => {
  const configs = programs.filter(isConfig);
  expect(configs.length).toBeGreaterThan(15);
  const files = Object.fromEntries(configs.map((block) => [`${nameOf(block)}.mjs`, toJavaScript(block)]));
  const open = `import { createAgent, createSqlDataSource } from 'portico';
for (const file of ${JSON.stringify(Object.keys(files))}) {
  const { default: customize } = await import('./' + file);
  const agent = createAgent({ authSecret: 'a', envSecret: 'b', schemaPath: file + '.json', typingsPath: file + '.ts' })
    .addDataSource(createSqlDataSource('sqlite:demo.sqlite'));
  customize(agent);
  await agent.generateSchemaOnly().catch((error) => console.log(file, error.message));
  await agent.stop();
}`;
  const folder = makeFolder('configs', { ...files, 'open.mjs': open });
  copyDemo(join(folder, 'demo.sqlite'));
  const env = { ...environment, AI_PROVIDER_API_KEY: 'sk-of-nobody' };
  const { stdout } = await run('node', ['open.mjs'], { cwd: folder, env });
  expect(stdout).toBe('');
});

const find = (words: string): Block => programs.find(({ text }) => text.includes(words))!;

/** Serves until the test ends; returns the statuses of an address of the host and of Portico. */
async function serve(name: string, code: string, { port, mcp }: { readonly port: number; readonly mcp: string }) {
  const folder = makeFolder(name, { 'main.mjs': `${code}\nconsole.log('serving');` });
  copyDemo(join(folder, 'demo.sqlite'));
  const secrets = { AUTH_SECRET: 'a', ENV_SECRET: 'b', SERVICE_AUTH_SECRET: 'a', SERVICE_ENV_SECRET: 'b' };
  const env = { ...secrets, DATABASE_URL: 'sqlite:demo.sqlite', MCP_SERVER_PORT: `${port}` };
  const { stop } = await launch('node', ['main.mjs'], folder, env, /^serving$/m);
  const origin = `http://127.0.0.1:${port}`;
  // Some hosts listen a little later.
  await expect
    .poll(() =>
      fetch(origin).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const shown = await (await fetch(origin)).text();
  const { status } = await fetch(`${origin}${mcp}`, { method: 'POST' });
  await stop();
  return [shown.includes('The shop'), status];
}

test.each(['README.md', 'docs/index.md', 'docs/library.md'])('the application of %s serves', async (page) => {
  const block = programs.find((one) => one.page === page && one.text.includes('.mountOnStandaloneServer()'))!;
  const port = await freePort();
  expect(await serve(nameOf(block), toJavaScript(block), { port, mcp: '/mcp' })).toEqual([false, 401]);
});

test.each([
  'express()',
  'fastify()',
  'new Koa()',
  'NestFactory',
  'agent.requestHandler',
  'mountOnStandaloneServer(3000)',
])('the application of docs/embedding.md with %s serves', async (words) => {
  const block = find(words);
  const port = await freePort();
  const around = `import { createAgent, createMemoryDataSource } from 'portico';
const tables = [{ name: 'boats', columns: [{ name: 'id', type: 'Number' }], primaryKey: ['id'], rows: [[1]] }];
const agent = createAgent({ authSecret: 'a', envSecret: 'b', settings: { publicUrl: 'http://127.0.0.1:3000' } })
  .addDataSource(createMemoryDataSource('harbour', tables))
  .mountAiMcpServer({ basePath: '/data' });
`;
  const nest = `import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
class ShopController { front() { return 'The shop'; } }
Get()(ShopController.prototype, 'front', Object.getOwnPropertyDescriptor(ShopController.prototype, 'front'));
Controller()(ShopController);
class ShopModule {}
Module({ controllers: [ShopController] })(ShopModule);
`;
  const code = `${block.mark === 'host' ? around : ''}${words === 'NestFactory' ? nest : ''}${block.text}`
    .replaceAll('3000', `${port}`)
    .replace('https://shop.example.com', `http://127.0.0.1:${port}`);
  const own = !words.startsWith('mountOn');
  expect(await serve(nameOf(block), code, { port, mcp: '/data/mcp' })).toEqual([own, 401]);
});

test('the test of docs/testing.md passes', async () => {
  const folder = makeFolder('testing', { 'boats.mjs': find('createTestableAgent(').text });
  await run('node', ['boats.mjs'], { cwd: folder, env: environment });
});

test('the command of docs/observability.md starts with the telemetry of the page', async () => {
  const { text } = find('BasicTracerProvider');
  writeFileSync(join(at.folder, 'telemetry.mjs'), text);
  const command = blocks.find(({ text }) => text.includes('--import ./telemetry.mjs'))!.text.split('\n')[1]!;
  const { welcome, stop } = await launch('sh', ['-c', `exec ${command}`], at.folder);
  const url = /MCP address +(\S+)/.exec(welcome)?.[1] ?? '';
  const { status } = await fetch(url, { method: 'POST' });
  await stop();
  expect(status).toBe(401);
});

const scripts = blocks.filter(({ language, mark }) => language === 'sh' && mark === 'run');

describe('commands', () => {
  test('some pages have commands that run', () => expect(scripts.length).toBeGreaterThan(4));

  test.each(scripts)('those of $title run', async (block) => {
    const folder = makeFolder(nameOf(block), {});
    const path = `${join(at.folder, 'node_modules/.bin')}${delimiter}${environment.PATH}`;
    await run('bash', ['-euo', 'pipefail', '-c', block.text], { cwd: folder, env: { ...environment, PATH: path } });
  });

  test('the roles of docs/approvals.md can be pushed', async () => {
    const { text } = blocks.find(({ page, language }) => page === 'docs/approvals.md' && language === 'yaml')!;
    // The role takes the place of another one in a whole file.
    const whole = parse(
      /<<'END'\n(.*?)^END$/ms.exec(scripts.find(({ page }) => page === 'docs/permissions.md')!.text)![1]!,
    );
    const file = stringify({ ...whole, roles: { ...whole.roles, ...parse(text).roles } });
    const folder = makeFolder('roles', { 'roles.yaml': file });
    const portico = join(at.folder, 'node_modules/.bin/portico');
    const push = ['roles', 'push', 'roles.yaml', '--yes', '--allow-unknown'];
    const { stdout } = await run(portico, push, { cwd: folder, env: environment });
    expect(stdout).toMatch(/Clerk.*Refund/s);
  });

  test('the others have commands, options and settings that exist', async () => {
    const texts = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const named = texts.flatMap((text) => text.match(/\b(?:SERVICE|MCP)_[A-Z_]+\b/g) ?? []);
    const known = new Set<string>(Object.values(settings).flatMap(({ env }) => [env, `${env}_FILE`]));
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    const lines = texts.flatMap((text) => text.split('\n'));
    const commands = lines.flatMap((line) => /(?:^|npx |\()portico ([a-z].*)/.exec(line)?.[1] ?? []);
    const asked = new Map<string, Set<string>>();
    for (const command of commands) {
      const words =
        /^[a-z]+(?: (?:add|invite|reset|delete|list|create|revoke|push|pull|write|check|reload|bootstrap|secret|password)\b)?/;
      const options = command.match(/(?<= )--[a-z-]+/g) ?? [];
      const name = words.exec(command)![0];
      asked.set(name, new Set([...(asked.get(name) ?? []), ...options]));
    }
    expect(asked.size).toBeGreaterThan(10);
    const missing = await Promise.all(
      [...asked].map(async ([name, options]) => {
        const args = [...name.split(' '), '--help'];
        const { stdout } = await run('node_modules/.bin/portico', args, { cwd: at.folder, env: environment });
        const isThere = stdout.startsWith(`Usage: portico ${name} `);
        return [...(isThere ? [] : [name]), ...[...options].filter((option) => !stdout.includes(`${option} `))];
      }),
    );
    expect(missing.flat()).toEqual([]);
  });
});

test('calls of tools in JSON are answered', async () => {
  const calls = blocks.flatMap((block) => {
    if (block.language !== 'json') return [];
    if (block.page === 'docs/filters.md')
      return [{ title: block.title, call: { collectionName: 'orders', filters: JSON.parse(block.text) as object } }];
    const call = JSON.parse(block.text) as Record<string, unknown>;
    return call.collectionName === undefined ? [] : [{ title: block.title, call }];
  });
  expect(calls.length).toBeGreaterThan(7);
  const folder = makeFolder('calls', { 'portico.config.mjs': find('addQuery(').text });
  copyDemo(join(folder, 'demo.sqlite'));
  const portico = join(at.folder, 'node_modules/.bin/portico');
  const own = { ...environment, SERVICE_DATABASE_URL: 'sqlite:demo.sqlite' };
  await run(portico, ['user', 'add', 'ada@example.com', '--level', 'admin'], { cwd: folder, env: own });
  const create = ['token', 'create', '--user', 'ada@example.com', '--name', 'calls', '--scopes', 'mcp:read'];
  const { stdout: token } = await run(portico, create, { cwd: folder, env: own });
  const lines = calls.map(({ call }, id) => {
    const name = 'measures' in call ? 'aggregate' : 'list';
    return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: call } });
  });
  const answering = run(portico, ['mcp', '--stdio'], { cwd: folder, env: { ...own, SERVICE_MCP_TOKEN: token.trim() } });
  answering.child.stdin!.end(`${lines.join('\n')}\n`);
  const answers = (await answering).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
  const failed = answers.filter(({ result }) => result?.isError !== undefined || !/^\{"columns"/.test(textOf(result)));
  expect(failed.map(({ id, result }) => `${calls[id]?.title}: ${textOf(result)}`)).toEqual([]);
  expect(answers).toHaveLength(calls.length);
});

interface Answer {
  readonly id: number;
  readonly result?: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] };
}
const textOf = (result: Answer['result']): string => result?.content[0]?.text ?? '';

test('JSON and YAML blocks are valid', () => {
  for (const { title, language, text } of blocks) {
    if (language === 'json') expect(() => JSON.parse(text) as unknown, title).not.toThrow();
    if (language === 'yaml') expect(() => parse(text) as unknown, title).not.toThrow();
  }
});
