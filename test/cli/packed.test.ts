// The package as npm packs it, in an empty folder. The demo shop and the evaluation kit are not in src.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('the packed package serves the demo shop and runs an evaluation', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-packed-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('node', ['scripts/build.mjs', '--if-stale']);
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder];
  const tarball = execFileSync('npm', pack, { encoding: 'utf8' }).trim();
  execFileSync('tar', ['xzf', join(folder, tarball), '-C', folder]);
  symlinkSync(resolve('node_modules'), join(folder, 'package', 'node_modules'));
  const cwd = join(folder, 'empty');
  mkdirSync(cwd);
  const command = join(folder, 'package', 'dist', 'cli', 'main.js');

  const env = { PATH: process.env.PATH, MCP_SERVER_PORT: '0' };
  const server = spawn('node', [command, 'start'], { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  let welcome = '';
  for await (const chunk of server.stdout) {
    welcome += chunk;
    if (welcome.includes('mcpServers')) break;
  }
  expect(welcome).toContain('the demo shop, about 20,000 rows');
  server.kill('SIGTERM');
  await once(server, 'exit');

  const call = { tool: 'list', arguments: { collectionName: 'custmers' }, expect: { error: 'UNKNOWN_COLLECTION' } };
  const tasks = { title: 'One task', tasks: [{ says: 'Show me the clients.', calls: [call] }] };
  writeFileSync(join(cwd, 'tasks.json'), JSON.stringify(tasks));
  const report = execFileSync('node', [command, 'eval', 'tasks.json'], { cwd, env, encoding: 'utf8' });
  expect(report).toContain('1 of 1 tasks passed');
});
