// The package as npm packs and installs it. npm installs each tarball once; a test gets a copy, in which it may write.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { buildOnce, root, withLock } from '../cli/command.ts';
import { freePort } from '../ports.ts';

export interface Packed {
  readonly tarball: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly files: readonly string[];
}

export async function pack(folder: string): Promise<Packed> {
  await buildOnce();
  // `--ignore-scripts`: the build has run.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [answer] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' })) as [
    { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
  ];
  return {
    tarball: join(folder, answer.filename),
    bytes: answer.size,
    unpackedBytes: answer.unpackedSize,
    files: answer.files.map(({ path }) => path),
  };
}

export interface Installed extends Packed {
  /** The folder of the application, with `node_modules`. */
  readonly folder: string;
  remove(): void;
}

/** A user's environment: no settings of the tests, and no compiler is asked for. */
export const environment: NodeJS.ProcessEnv = { PATH: process.env.PATH, HOME: process.env.HOME, CI: 'true' };

const kept = join(root, 'node_modules', '.portico-installed');

export async function install(): Promise<Installed> {
  const place = mkdtempSync(join(tmpdir(), 'portico-package-'));
  const packed = await pack(place);
  const folder = join(place, 'application');
  const stamp = `${createHash('sha256').update(readFileSync(packed.tarball)).digest('hex')} ${process.version}`;
  const stampFile = join(kept, 'stamp');
  await withLock('portico-install', async () => {
    if (!existsSync(stampFile) || readFileSync(stampFile, 'utf8') !== stamp) {
      rmSync(kept, { recursive: true, force: true });
      await installInto(join(kept, 'application'), packed.tarball, installing());
      writeFileSync(stampFile, stamp);
    }
    execFileSync('cp', ['-a', join(kept, 'application'), folder]);
  });
  return { ...packed, folder, remove: () => rmSync(place, { recursive: true, force: true }) };
}

/** Installs the tarball in an empty folder, as `npm install portico` does. */
export async function installInto(folder: string, tarball: string, env: NodeJS.ProcessEnv): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  const flags = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await promisify(execFile)('npm', ['install', ...flags, tarball], { cwd: folder, env });
}

/** What `du -sk node_modules` prints, in megabytes of 1024 KB. */
export function measureModules(folder: string): number {
  return Number(execFileSync('du', ['-sk', 'node_modules'], { cwd: folder, encoding: 'utf8' }).split('\t')[0]) / 1024;
}

/** npm needs its own settings, such as the registry, which a run by `npm test` has in its environment. */
export const installing = (): NodeJS.ProcessEnv => ({
  ...environment,
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(npm_config_|https?_proxy$|no_proxy$)/i.test(name)),
  ),
});

/** Adds packages of this clone to the folder, as `npm install` of these would. */
export function addPackages(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const at = join(folder, 'node_modules', name);
    if (existsSync(at)) continue;
    mkdirSync(dirname(at), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), at);
  }
}

export interface Launched {
  readonly welcome: string;
  /** Everything printed so far, on both streams. */
  log(): string;
  stop(): Promise<void>;
}

/** Runs a command until it prints the pattern; by default, the end of the welcome of a server. */
export async function launch(
  command: string,
  args: readonly string[],
  cwd: string,
  settings: NodeJS.ProcessEnv = {},
  pattern = /mcpServers/,
): Promise<Launched> {
  const env = { ...environment, MCP_SERVER_PORT: String(await freePort()), ...settings };
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const group = (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, signal);
  };
  onTestFinished(() => group('SIGKILL'));
  let log = '';
  child.stderr.on('data', (part) => {
    log += part;
  });
  let printed = '';
  await new Promise<void>((found, fail) => {
    child.stdout.on('data', (part) => {
      printed += part;
      if (pattern.test(printed)) found();
    });
    child.once('close', () => fail(new Error(`it did not print ${pattern}:\n${printed}${log}`)));
  });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    group('SIGTERM');
    await ended;
  };
  return { welcome: printed, stop, log: () => log + printed };
}
