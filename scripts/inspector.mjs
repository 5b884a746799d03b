// Prints the path of MCP Inspector's launcher, which needs Node 22 to run. It is installed once into .ci/cache (not under
// version control): with all that it brings it is larger than everything else together, and only one test drives it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '2.12.0';
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), '.ci', 'cache');
const folder = join(cache, `inspector-${VERSION}`);
const launcher = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

function install() {
  const work = join(cache, `inspector-${process.pid}`);
  mkdirSync(work, { recursive: true });
  try {
    writeFileSync(join(work, 'package.json'), '{ "private": true }');
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', ['install', ...flags, `@modelcontextprotocol/inspector@${VERSION}`], {
      cwd: work,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (!existsSync(folder)) renameSync(work, folder);
  } catch (error) {
    // Another process may have put it there meanwhile.
    if (!existsSync(launcher)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  if (!existsSync(launcher)) install();
  console.log(launcher);
} catch (error) {
  console.error(`MCP Inspector cannot be had: ${error.message}`);
  process.exitCode = 1;
}
