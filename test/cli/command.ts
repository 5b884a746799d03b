// The command as users run it: built, in a process of its own, in a folder of its own.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSqliteDriver, type SqliteKind } from '../../src/core/sqlite.ts';

/** The SQLite drivers that this machine has: the native one may be missing, the other never is. */
export const sqliteKinds: readonly SqliteKind[] = loadSqliteDriver().kind === 'native' ? ['native', 'wasm'] : ['wasm'];

/** Of this package. */
export const root = resolve(import.meta.dirname, '..', '..');
const main = join(root, 'dist', 'cli', 'main.js');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Builds dist/ when it is older than src/. Test files run at the same time, so one builds and the others wait. */
export async function buildOnce(): Promise<void> {
  const lock = join(root, 'node_modules', '.portico-build.lock');
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      // A lock that a killed run left behind.
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 120_000)
        rmSync(lock, { recursive: true, force: true });
      await sleep(100);
    }
  }
  try {
    const built = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: root, encoding: 'utf8' });
    if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

export interface Place {
  readonly folder: string;
  remove(): void;
}

/** An empty working folder; the data folder of a command that runs there is `.portico` in it. */
export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'portico-cli-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Nothing of the environment of the tests leaks into the command. */
function environment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SERVICE_|MCP_|NODE_OPTIONS$|VITEST|npm_|FORCE_COLOR$|NO_COLOR$)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...extra };
}

export interface Run {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Of another copy of the package; this one where it is absent. */
  readonly root?: string | undefined;
  /** In place of the command; it prints the address of MCP as the command does. */
  readonly script?: string | undefined;
}

/** For what starts the command itself. */
export function commandOf(args: readonly string[], env: Readonly<Record<string, string>>) {
  const set = Object.entries(environment(env)).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { command: process.execPath, args: [main, ...args], env: Object.fromEntries(set) };
}

export function portico(args: readonly string[], { folder, env = {}, input = '' }: Run): Promise<Outcome> {
  return collect(process.execPath, [main, ...args], folder, environment(env), input);
}

/** A shell script in which `portico` is the command. */
export function runShell(script: string, folder: string): Promise<Outcome> {
  const bin = join(folder, '.bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'portico'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(join(bin, 'portico'), 0o755);
  const env = { PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` };
  return collect('bash', ['-euo', 'pipefail', '-c', script], folder, environment(env), '');
}

export interface Running {
  readonly ended: Promise<Outcome>;
  /** Resolves with the first group of a whole line on standard output; rejects when the command ends before. */
  printed(pattern: RegExp): Promise<string>;
}

/** A command that waits for somebody. */
export function beginPortico(args: readonly string[], { folder, env = {} }: Omit<Run, 'input'>): Running {
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, env: environment(env), stdio: 'pipe' });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  let isClosed = false;
  const ended = new Promise<Outcome>((resolve) => {
    child.once('close', (code) => {
      isClosed = true;
      resolve({ code, stdout, stderr });
    });
  });
  child.stdin.end();
  return {
    ended,
    async printed(pattern) {
      for (;;) {
        // What is printed may arrive in pieces, and its end after the process has ended.
        const found = pattern.exec(stdout.slice(0, stdout.lastIndexOf('\n') + 1))?.[1];
        if (found !== undefined) return found;
        if (isClosed) throw new Error(`the command ended: ${stdout}${stderr}`);
        await sleep(20);
      }
    },
  };
}

/** Makes the node_modules of a folder what `npm install` would make of it, of what is installed here. */
export function linkModules(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, 'portico'), 'dir');
  for (const name of ['typescript', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir');
}

/** The compiler of a folder, as `npx tsc` starts it. */
export function compileFolder(folder: string): Promise<Outcome> {
  const tsc = join(folder, 'node_modules', 'typescript', 'bin', 'tsc');
  return collect(process.execPath, [tsc, '--noEmit'], folder, environment({}), '');
}

function collect(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv, input: string) {
  return new Promise<Outcome>((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: 'pipe' });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

export interface StartedServer {
  readonly pid: number;
  /** To the end of the welcome. */
  readonly stdout: string;
  /** Up to now: it comes on a way of its own, perhaps after the welcome. */
  readonly stderr: string;
  readonly mcpUrl: string;
  readonly origin: string;
  /** From the birth of the process to the end of the welcome. */
  readonly milliseconds: number;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the process has ended. */
  readonly ended: Promise<Outcome>;
}

/** Runs `portico start` (on a free port unless one is given) and waits for the welcome; rejects with what was printed when it ends before. */
export function startServer(
  args: readonly string[],
  { folder, env = {}, root: at = root, script }: Run,
  command: readonly string[] = ['start'],
): Promise<StartedServer> {
  const bornAt = performance.now();
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const started =
    script === undefined ? [join(at, 'dist', 'cli', 'main.js'), ...command, ...port, ...args] : [script, ...args];
  const child = spawn(process.execPath, started, {
    cwd: folder,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const ended = new Promise<Outcome>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    void ended.then((outcome) => reject(new Error(`the server ended: ${JSON.stringify(outcome)}`)));
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const mcpUrl = /MCP address\s+(\S+)/.exec(stdout)?.[1];
      if (!mcpUrl || !stdout.includes('mcpServers')) return;
      const milliseconds = performance.now() - bornAt;
      const signal = (name: NodeJS.Signals) => child.kill(name);
      const { origin } = new URL(mcpUrl);
      resolve({
        ...{ pid: child.pid!, stdout, mcpUrl, origin, milliseconds, signal, ended },
        get stderr() {
          return stderr;
        },
      });
    });
  });
}
