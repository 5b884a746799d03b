// What users install: its size and its files, and that it works in an empty folder without the optional packages.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundledPackages } from '../../scripts/bundle.mjs';
import { environment, type Installed, install, launch, measureModules } from './installed.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
interface Manifest {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const entries = Object.keys(manifest.exports).map((name) => name.replace('.', 'portico'));

let at: Installed;
beforeAll(async () => {
  at = await install();
}, 240_000);
afterAll(() => at?.remove());

test('the package is below 1 MB packed and 4 MB unpacked, and contains only code, declarations and pages', () => {
  expect(at.bytes).toBeLessThan(1_000_000);
  expect(at.unpackedBytes).toBeLessThan(4_000_000);
  const other = at.files.filter((path) => !/^dist\/[^.].*\.(js|d\.ts|html)$/.test(path));
  expect(other.sort()).toEqual(['LICENSE', 'README.md', 'dist/LICENSES.txt', 'package.json']);
});

test('an installation takes at most 60 MB, has no optional package, and each package once', () => {
  expect(measureModules(at.folder)).toBeLessThan(60);
  const optional = Object.keys(manifest.peerDependencies);
  expect(optional.filter((name) => !manifest.peerDependenciesMeta[name]?.optional)).toEqual([]);
  const installed = (name: string) => existsSync(join(at.folder, 'node_modules', name));
  expect([...optional, ...bundledPackages].filter(installed)).toEqual([]);
  const lock = JSON.parse(readFileSync(join(at.folder, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  expect(Object.keys(lock.packages).filter((path) => lock.packages[path]?.hasInstallScript)).toEqual([]);
});

test('dependencies have version ranges, so that their fixes are installed without a release', () => {
  const all = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies });
  expect(all.filter(([, range]) => !range.startsWith('^'))).toEqual([]);
});

test('the MCP packages are of the second generation', () => {
  const names = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  const mcp = names.filter((name) => name.startsWith('@modelcontextprotocol/'));
  expect(mcp.sort()).toEqual(['client', 'node', 'server'].map((name) => `@modelcontextprotocol/${name}`));
  expect(existsSync(join(at.folder, 'node_modules/@modelcontextprotocol/sdk'))).toBe(false);
});

test('the package contains the licences of the bundled packages', () => {
  const text = readFileSync(join(at.folder, 'node_modules/portico/dist/LICENSES.txt'), 'utf8');
  for (const name of bundledPackages) expect(text).toContain(`${name}\n\n`);
});

test('every entry point loads by import and by require', async () => {
  const imports = entries.map((name) => `import * as a${entries.indexOf(name)} from '${name}'${json(name)};`);
  const names = entries.map((_, index) => `Object.keys(a${index}).length`);
  writeFileSync(join(at.folder, 'all.mjs'), `${imports.join('\n')}\nconsole.log(JSON.stringify([${names}]));`);
  const required = entries.map((name) => `Object.keys(require('${name}')).length`);
  writeFileSync(join(at.folder, 'all.cjs'), `console.log(JSON.stringify([${required}]));`);
  // Entry points without code have types alone.
  const counts = await Promise.all(
    ['all.mjs', 'all.cjs'].map(async (file) => {
      const { stdout } = await run('node', [file], { cwd: at.folder, env: environment });
      return (JSON.parse(stdout) as number[]).slice(0, entries.indexOf('portico/package.json'));
    }),
  );
  const empty = counts.map((some) => entries.filter((_, index) => some[index] === 0));
  expect([empty, counts[0]!.length]).toEqual([[['portico/cloud'], ['portico/cloud']], entries.length - 1]);
});

const json = (name: string): string => (name.endsWith('.json') ? " with { type: 'json' }" : '');

test('a TypeScript application compiles without skipLibCheck', async () => {
  const folder = join(at.folder, 'typed');
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
  const exported = entries.filter((name) => !json(name)).map((name, index) => `export * as e${index} from '${name}';`);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(
    join(folder, 'application.ts'),
    `${exported.join('\n')}
import { createAgent, createSqlDataSource } from 'portico';
const agent = createAgent({ authSecret: 'a', envSecret: 'b' }).addDataSource(createSqlDataSource('sqlite:shop.sqlite'));
export const wrong: number = agent;
`,
  );
  const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run('node', [tsc, ...options, '--skipLibCheck', 'false', 'application.ts'], {
    cwd: folder,
  }).catch((error: { stdout: string }) => error);
  // Only the mistake that is in it.
  expect(stdout.match(/error TS\d+/g)).toEqual(['error TS2322']);
  expect(stdout).toContain('application.ts');
});

test('npx portico in the folder serves the demo shop, and a client signs in, reads and writes', async () => {
  // Without a terminal the start prints no password.
  const account = { SERVICE_ADMIN_EMAIL: 'you@example.com', SERVICE_ADMIN_PASSWORD: 'plover-anvil-sextant' };
  const { welcome, stop } = await launch('npx', ['portico'], at.folder, account);
  expect(welcome).toContain('the demo shop, about 20,000 rows');
  const read = (pattern: RegExp) => pattern.exec(welcome)?.[1] ?? '';
  const client = spawn(join(root, 'node_modules/.bin/tsx'), [
    join(root, 'test/smoke.ts'),
    read(/MCP address +(\S+)/),
    account.SERVICE_ADMIN_EMAIL,
  ]);
  client.stdin.end(account.SERVICE_ADMIN_PASSWORD);
  let said = '';
  for (const stream of [client.stdout, client.stderr])
    stream.on('data', (part) => {
      said += part;
    });
  const [code] = await once(client, 'close');
  expect([code, said]).toEqual([0, expect.stringContaining('signed in, listed')]);
  await stop();
});

test('the package contains the evaluation kit', async () => {
  const call = { tool: 'list', arguments: { collectionName: 'custmers' }, expect: { error: 'UNKNOWN_COLLECTION' } };
  const tasks = { title: 'One task', tasks: [{ says: 'Show me the clients.', calls: [call] }] };
  writeFileSync(join(at.folder, 'tasks.json'), JSON.stringify(tasks));
  const { stdout } = await run('npx', ['portico', 'eval', 'tasks.json'], { cwd: at.folder, env: environment });
  expect(stdout).toContain('1 of 1 tasks passed');
});

test.each([
  ['PostgreSQL', { SERVICE_DATABASE_URL: 'postgres://a:b@127.0.0.1:1/shop' }, 'npm install pg'],
  ['MariaDB', { SERVICE_DATABASE_URL: 'mariadb://a:b@127.0.0.1:1/shop' }, 'npm install mysql2'],
  ['a storage in PostgreSQL', { SERVICE_STORAGE_URL: 'postgres://a:b@127.0.0.1:1/portico' }, 'npm install pg'],
  ['a storage in MySQL', { SERVICE_STORAGE_URL: 'mysql://a:b@127.0.0.1:1/portico' }, 'npm install mysql2'],
  ['the native SQLite', { SERVICE_SQLITE: 'native' }, 'npm install better-sqlite3'],
])('the start names the install command for %s', async (_, settings, command) => {
  const folder = readdirSync(at.folder).includes('other') ? join(at.folder, 'other') : makeFolder('other');
  const env = { ...environment, ...settings, MCP_SERVER_PORT: '0' };
  const failed = await run('npx', ['portico', 'start'], { cwd: folder, env }).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining(command) });
});

test('with Redis but without its packages it starts, and the log names the install command', async () => {
  const { stop, log } = await launch('npx', ['portico', 'start'], at.folder, {
    SERVICE_REDIS_URL: 'redis://127.0.0.1:1',
  });
  await expect.poll(log, { timeout: 10_000 }).toContain('npm install bullmq ioredis');
  await stop();
});

test('an AI provider without its package names the install command', async () => {
  writeFileSync(
    join(at.folder, 'ask.mjs'),
    `import { createAiProvider } from 'portico';
for (const provider of ['openai', 'anthropic']) {
  const ai = createAiProvider({ name: 'one', provider, model: 'm', apiKey: 'k' });
  await ai.ask({ messages: [{ role: 'user', content: 'x' }] }).catch((error) => console.log(error.message));
}`,
  );
  const { stdout } = await run('node', ['ask.mjs'], { cwd: at.folder, env: environment });
  expect(stdout).toMatch(/npm install openai'\.\n[\s\S]*npm install @anthropic-ai\/sdk'\.\n/);
});

function makeFolder(name: string): string {
  const folder = join(at.folder, name);
  mkdirSync(folder);
  return folder;
}
