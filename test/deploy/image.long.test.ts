// Runs the commands of the Dockerfile one by one, without a container engine: each stage has a folder in place of its
// root, and the context holds what .dockerignore lets through.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { freePort } from '../ports.ts';
import { commandIn, environmentOf, type Instruction, readDockerfile, textOf } from './dockerfile.ts';

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-image-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function makeContext(): string {
  const context = makeFolder();
  const kept = readFileSync('.dockerignore', 'utf8').matchAll(/^!(.+)$/gm);
  for (const [, path] of kept) cpSync(path!, join(context, path!), { recursive: true });
  return context;
}

/** `from`: the folder that the stage copies from. */
function runStage(instructions: readonly Instruction[], from: string): string {
  const root = makeFolder();
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  const { username } = userInfo();
  let folder = root;
  for (const { name, text } of instructions) {
    if (name === 'WORKDIR') {
      folder = join(root, text);
      mkdirSync(folder, { recursive: true });
    } else if (name === 'COPY') {
      const paths = text.replace(/^--from=\S+ /, '').split(' ');
      const to = join(folder, paths.pop()!);
      for (const path of paths) {
        const source = join(from, path);
        const isInto = path !== '.' && !statSync(source).isDirectory();
        cpSync(source, isInto ? join(to, basename(path)) : to, { recursive: true, verbatimSymlinks: true });
      }
    } else if (name === 'RUN') {
      const command = text.replace(/ \/(?=app|usr)/g, ` ${root}/`).replace('chown node:node', `chown ${username}`);
      execFileSync('sh', ['-ec', command], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
    }
  }
  return root;
}

test('the image builds from the clone, is healthy once started, and contains every driver', async () => {
  const stages = readDockerfile('Dockerfile');
  const built = runStage(stages[0]!, makeContext());
  const last = stages.at(-1)!;
  const root = runStage(last, built);
  const cwd = join(root, textOf(last, 'WORKDIR'));
  const port = `${await freePort()}`;
  const path = `${join(root, 'usr/local/bin')}:${process.env.PATH}`;
  const env = { ...environmentOf(last), PATH: path, HOME: root, MCP_SERVER_PORT: port };
  const [entry = ''] = commandIn(textOf(last, 'ENTRYPOINT'));
  const child = spawn(entry, commandIn(textOf(last, 'CMD')), { cwd, env, stdio: ['ignore', 'ignore', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [program = '', ...args] = commandIn(textOf(last, 'HEALTHCHECK'));
  const check = async () => {
    const probe = spawn(program, args, { env, stdio: 'ignore' });
    return (await once(probe, 'exit'))[0] as number;
  };
  let health = 1;
  for (let tries = 0; tries < 60 && health !== 0; tries++) {
    await systemClock.sleep(500);
    health = await check();
  }
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  const drivers = "await Promise.all(['pg', 'mysql2', 'bullmq', 'ioredis'].map((name) => import(name)))";
  execFileSync('node', ['--input-type=module', '-e', drivers], { cwd, env });
  const notForProduction = ['typescript', 'vitest'].filter((name) => existsSync(join(cwd, 'node_modules', name)));
  expect([health, code, notForProduction, existsSync(join(cwd, 'src'))]).toEqual([0, 0, [], false]);
});
