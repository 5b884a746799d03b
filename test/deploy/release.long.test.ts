// The whole release check, with its two builds, and the bundle for Claude Desktop.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyDemo } from '../demo.ts';

test('the tree can be released', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', 'release:check'], { encoding: 'utf8' });
  expect([status, stderr, stdout.includes('FAIL')]).toEqual([0, '', false]);
  expect(JSON.parse(readFileSync('dist-release/sbom.cdx.json', 'utf8'))).toHaveProperty('bomFormat', 'CycloneDX');
});

test('the bundle starts as its manifest says and answers a ping', () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync('npm', ['run', '--silent', 'release:mcpb'], { stdio: 'pipe' });
  execFileSync('unzip', ['-q', 'dist-release/portico.mcpb', '-d', join(folder, 'bundle')]);
  copyDemo(join(folder, 'demo.sqlite'));
  const { server } = JSON.parse(readFileSync(join(folder, 'bundle/manifest.json'), 'utf8'));
  const main = join(folder, 'bundle', server.entry_point);
  const data = join(folder, 'data');
  const own = { PATH: process.env.PATH, SERVICE_DATA_DIR: data };
  const run = (...args: string[]) => execFileSync('node', [main, ...args], { env: own, encoding: 'utf8' }).trim();
  run('user', 'add', 'ada@example.com', '--level', 'admin');
  const values: Record<string, string> = {
    __dirname: join(folder, 'bundle'),
    'user_config.data_folder': data,
    'user_config.token': run(
      'token',
      'create',
      '--user',
      'ada@example.com',
      '--name',
      'desktop',
      '--scopes',
      'mcp:read',
    ),
    'user_config.database': `sqlite:${join(folder, 'demo.sqlite')}`,
  };
  const fill = (text: string) => text.replace(/\$\{([\w.]+)\}/g, (_all, name: string) => values[name]!);
  const { command, args, env } = server.mcp_config as {
    readonly command: string;
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string>>;
  };
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
  const output = execFileSync(command, args.map(fill), {
    cwd: folder,
    env: { PATH: process.env.PATH, ...given },
    encoding: 'utf8',
    input: '{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
  });
  expect(JSON.parse(output)).toMatchObject({ id: 1, result: {} });
});
