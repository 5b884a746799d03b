// The command as users run it: built, in its own process and its own folder.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadSqliteDriver, type SqliteKind } from '../../src/core/sqlite.ts';

/** The SQLite drivers of this machine: the one that it uses, and WebAssembly, which is everywhere. */
export const sqliteKinds: readonly SqliteKind[] = [...new Set<SqliteKind>([loadSqliteDriver().kind, 'wasm'])];

/** The root of this package. */
export const root = resolve(import.meta.dirname, '..', '..');
const main = join(root, 'dist', 'cli', 'main.js');

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Builds dist/ if it is older than src/. */
export async function buildOnce(): Promise<void> {
  await withLock('portico-build', () => {
    const built = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: root, encoding: 'utf8' });
    if (built.status !== 0) throw new Error(`the build failed:\n${built.stdout}${built.stderr}`);
  });
}

/** Test files run in parallel, in several processes: one does the work, and the others wait. */
export async function withLock(name: string, work: () => void | Promise<void>): Promise<void> {
  const lock = join(root, 'node_modules', `.${name}.lock`);
  for (;;) {
    try {
      mkdirSync(lock);
      break;
    } catch {
      // A killed run left the lock behind.
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 120_000)
        rmSync(lock, { recursive: true, force: true });
      await sleep(100);
    }
  }
  try {
    await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}

export interface Place {
  readonly folder: string;
  remove(): void;
}

/** An empty working folder; commands that run there use `.portico` in it as data folder. */
export function makePlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), 'portico-cli-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Keeps the environment of the tests out of the command. */
function environment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SERVICE_|MCP_|NODE_OPTIONS$|VITEST|npm_|FORCE_COLOR$|NO_COLOR$)/.test(name),
  );
  // Chosen on purpose, so that the commands do not warn about it on standard error.
  const driver = loadSqliteDriver().kind === 'wasm' ? { SERVICE_SQLITE: 'wasm' } : {};
  return { ...Object.fromEntries(kept), ...driver, ...extra };
}

export interface Run {
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The root of another copy of the package; defaults to this one. */
  readonly root?: string | undefined;
  /** A script to run instead of the command; it must print the MCP URL as the command does. */
  readonly script?: string | undefined;
}

/** Command, arguments and environment for callers that spawn the process themselves. */
export function commandOf(args: readonly string[], env: Readonly<Record<string, string>>) {
  const set = Object.entries(environment(env)).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { command: process.execPath, args: [main, ...args], env: Object.fromEntries(set) };
}

export function portico(args: readonly string[], { folder, env = {}, input = '' }: Run): Promise<Outcome> {
  return collect(process.execPath, [main, ...args], folder, environment(env), input);
}

export interface Running {
  readonly ended: Promise<Outcome>;
  /** Resolves with the first group of the match in complete lines of stdout; rejects if the command ends first. */
  printed(pattern: RegExp): Promise<string>;
}

/** Only some machines that run the tests log that SQLite runs as WebAssembly. */
const withoutDriverWarning = (log: string): string => log.replace(/^.*SQLite runs as WebAssembly.*\n/gm, '');

/** Starts a command that waits for a user. */
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
      resolve({ code, stdout, stderr: withoutDriverWarning(stderr) });
    });
  });
  child.stdin.end();
  return {
    ended,
    async printed(pattern) {
      for (;;) {
        // Output can arrive in pieces, and the last piece after the process has ended.
        const found = pattern.exec(stdout.slice(0, stdout.lastIndexOf('\n') + 1))?.[1];
        if (found !== undefined) return found;
        if (isClosed) throw new Error(`the command ended: ${stdout}${stderr}`);
        await sleep(20);
      }
    },
  };
}

/** Creates the node_modules of a folder like `npm install`, from the packages installed here. */
export function linkModules(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, 'portico'), 'dir');
  for (const name of ['typescript', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'dir');
}

/** Runs the compiler of a folder like `npx tsc`. */
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
    child.once('close', (code) => resolve({ code, stdout, stderr: withoutDriverWarning(stderr) }));
    child.stdin.end(input);
  });
}

export interface StartedServer {
  readonly pid: number;
  /** Output up to the end of the welcome. */
  readonly stdout: string;
  /** Output so far; stderr is a separate stream and may arrive after the welcome. */
  readonly stderr: string;
  readonly mcpUrl: string;
  readonly origin: string;
  /** Time from the start of the process to the end of the welcome. */
  readonly milliseconds: number;
  signal(name: NodeJS.Signals): void;
  /** Resolves when the process has ended. */
  readonly ended: Promise<Outcome>;
}

/** The password of the first user of a server that a test starts. */
export const adminPassword = 'seven green chairs';

/** Runs `portico start` (on a free port by default) and waits for the welcome. Rejects with the output if it ends. */
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
    env: environment({ SERVICE_ADMIN_PASSWORD: adminPassword, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const ended = new Promise<Outcome>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr: withoutDriverWarning(stderr) }));
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
