// An example as you have it after you copy its folder and install: Portico is the package that npm packs and installs,
// and beside it are only the packages of the example's package.json.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { callTool } from '../app/call.ts';
import { root } from '../cli/command.ts';
import { connect, register } from '../oauth/client.ts';
import type { Account } from '../oauth/flow.ts';
import { addPackages, install } from '../package/installed.ts';
import { freePort } from '../ports.ts';

export interface Example {
  readonly folder: string;
  /** The commands after `npm install` in the README's first block. */
  readonly commands: readonly string[];
}

interface Manifest {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export async function copyExample(name: string): Promise<Example> {
  const installed = await install();
  const folder = mkdtempSync(join(tmpdir(), `portico-${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, 'examples', name), folder, { recursive: true });
  renameSync(join(installed.folder, 'node_modules'), join(folder, 'node_modules'));
  installed.remove();
  const { dependencies, peerDependencies, devDependencies } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as Manifest;
  const names = Object.keys({ ...dependencies, ...peerDependencies, ...devDependencies });
  for (const one of names) addCommands(one, folder);
  const [, block = ''] = /```sh\n(.*?)```/s.exec(readFileSync(join(folder, 'README.md'), 'utf8')) ?? [];
  const [first, ...commands] = block.trim().split('\n');
  if (first !== 'npm install') throw new Error(`the README of ${name} does not begin with npm install`);
  return { folder, commands };
}

/** Adds a package, with its commands. */
function addCommands(name: string, folder: string): void {
  addPackages(folder, [name]);
  const at = join(folder, 'node_modules', name);
  const bin = join(folder, 'node_modules', '.bin');
  const { bin: given } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as {
    readonly bin?: string | Readonly<Record<string, string>>;
  };
  const commands = typeof given === 'string' ? { [name]: given } : (given ?? {});
  for (const [command, path] of Object.entries(commands)) {
    if (existsSync(join(bin, command))) continue;
    const script = `#!/bin/sh\nexec "${process.execPath}" "${join(at, path)}" "$@"\n`;
    writeFileSync(join(bin, command), script, { mode: 0o755 });
  }
}

export interface Running {
  readonly origin: string;
  readonly printed: string;
  /** Stops it as a process manager does. */
  stop(): Promise<number | null>;
}

/** Drops the variables of the test run. */
function environment(extra: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SERVICE_|MCP_|NODE_OPTIONS$|VITEST|npm_|FORCE_COLOR$|NO_COLOR$)/.test(name),
  );
  return { ...Object.fromEntries(kept.map(([name, value]) => [name, `${value}`])), ...extra };
}

/** Runs a command of the README; throws with its output if it fails. */
export async function runCommand({ folder }: Example, command: string): Promise<string> {
  const { printed, ended } = launch(folder, command, {});
  const code = await ended;
  if (code !== 0) throw new Error(`'${command}' ended with ${code}:\n${printed()}`);
  return printed();
}

/** Runs `command` on a free port until it prints `pattern`. */
export async function startCommand(
  { folder }: Example,
  command: string,
  pattern: RegExp,
  envOf: (port: number) => Readonly<Record<string, string>> = (port) => ({ PORT: `${port}` }),
): Promise<Running> {
  const port = await freePort();
  const { printed, ended, stop } = launch(folder, command, envOf(port));
  onTestFinished(async () => void (await stop()));
  await new Promise<void>((done, reject) => {
    const timer = setInterval(() => {
      if (!pattern.test(printed())) return;
      clearInterval(timer);
      done();
    }, 20);
    void ended.then((code) => {
      clearInterval(timer);
      reject(new Error(`'${command}' ended with ${code}:\n${printed()}`));
    });
  });
  return {
    origin: `http://localhost:${port}`,
    get printed() {
      return printed();
    },
    stop,
  };
}

function launch(folder: string, command: string, env: Readonly<Record<string, string>>) {
  // A process group, since npm sits between a signal and the program.
  const child = spawn('sh', ['-c', command], {
    cwd: folder,
    env: environment({ ...env, npm_config_update_notifier: 'false', npm_config_loglevel: 'error' }),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  return {
    printed: () => text,
    ended,
    stop() {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
      return ended;
    },
  };
}

export const redirectUri = 'http://127.0.0.1:49152/callback';
export const app = { client_name: 'Notebook', redirect_uris: [redirectUri] };

export const isUp = (origin: string): Promise<boolean> =>
  fetch(origin).then(
    () => true,
    () => false,
  );

/** Signs in with a local account of Portico and calls a tool. */
export async function callAs(account: Account, issuer: string, tool: string, args: Record<string, unknown>) {
  const resource = `${issuer}/mcp`;
  const { tokens } = await connect(await register(issuer, app), account, { redirectUri, resource });
  return callTool(resource, tokens.access_token, tool, args);
}
