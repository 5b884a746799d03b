// `npm run release:mcpb`: writes dist-release/portico.mcpb for Claude Desktop: the packed package with its production
// dependencies. The tool of the format checks the manifest and packs.
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');
const out = join(root, 'dist-release');
const run = (command, args, cwd) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const work = mkdtempSync(join(tmpdir(), 'portico-mcpb-'));
try {
  const server = join(work, 'server');
  mkdirSync(server);
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', work], root);
  run('sh', ['-c', `tar xzf "${work}"/*.tgz --strip-components=1 -C "${server}" && rm "${work}"/*.tgz`], work);
  copyFileSync(join(root, 'package-lock.json'), join(server, 'package-lock.json'));
  // The drivers of servers, since a bundle cannot install them later. Not what is compiled: it would fit one platform.
  run('node', [join(root, 'scripts', 'with-drivers.mjs'), 'pg', 'mysql2'], server);
  run('npm', ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund'], server);
  cpSync(join(root, 'deploy', 'mcpb', 'manifest.json'), join(work, 'manifest.json'));
  cpSync(join(root, 'deploy', 'icons', 'icon-512.png'), join(work, 'icon.png'));
  const mcpb = run('node', [join(root, 'scripts', 'tool.mjs'), 'mcpb'], root).trim();
  mkdirSync(out, { recursive: true });
  run('node', [mcpb, 'validate', join(work, 'manifest.json')], work);
  run('node', [mcpb, 'pack', work, join(out, 'portico.mcpb')], work);
  console.log(join(out, 'portico.mcpb'));
} finally {
  rmSync(work, { recursive: true, force: true });
}
