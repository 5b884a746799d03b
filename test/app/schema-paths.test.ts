// Paths of the schema file and the typings that are not plain files: a link is kept, and anything else is refused and
// left unchanged.
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type PathOptions, startAt } from './schema-paths-child.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'portico-paths-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const plain = (): PathOptions => ({ schemaPath: join(folder, 'plain.json'), typingsPath: join(folder, 'plain.ts') });

describe.each(['schemaPath', 'typingsPath'] as const)('%s', (option) => {
  const name = option === 'schemaPath' ? 'kept.json' : 'kept.ts';
  const at = (path: string): PathOptions => ({ ...plain(), [option]: path });

  test.each(['an existing file', 'a missing file'])('a link to %s stays a link', async (what) => {
    const [link, target] = [join(folder, 'link'), join(folder, 'elsewhere', name)];
    mkdirSync(join(folder, 'elsewhere'));
    if (what === 'an existing file') writeFileSync(target, 'old');
    symlinkSync(target, link);
    expect(await startAt(at(link))).toEqual({});
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toContain(option === 'schemaPath' ? '"collections"' : 'export');
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([name]);
  });

  test('a folder is refused', async () => {
    const path = join(folder, 'it');
    mkdirSync(path);
    expect((await startAt(at(path))).problem).toContain(`${option}: ${path} is not a file. Set`);
    expect([lstatSync(path).isDirectory(), readdirSync(path), readdirSync(folder)]).toEqual([
      true,
      [],
      option === 'schemaPath' ? ['it'] : ['it', 'plain.json'],
    ]);
  });

  test('a socket is refused', async () => {
    const path = join(folder, 'it');
    const server = createServer().listen(path);
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    expect((await startAt(at(path))).problem).toContain(`${option}: ${path} is not a file. Set`);
    expect(lstatSync(path).isSocket()).toBe(true);
  });
});

/** Runs in its own process, because opening a pipe blocks until the other end is open. */
async function startElsewhere(options: PathOptions): Promise<unknown> {
  const child = fork(join(import.meta.dirname, 'schema-paths-child.ts'), [JSON.stringify(options)], {
    execArgv: ['--import', 'tsx'],
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), 40_000);
  const [said] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  clearTimeout(timer);
  child.kill('SIGKILL');
  return said;
}

test.each([false, true])(
  'a pipe is refused without blocking (in production: %s)',
  async (isProduction) => {
    const path = join(folder, 'it');
    execFileSync('mkfifo', [path]);
    expect(await startElsewhere({ ...plain(), schemaPath: path, isProduction })).toEqual({
      problem: expect.stringContaining(
        isProduction ? `the schema file ${path} cannot be read` : `schemaPath: ${path} is not a file. Set`,
      ),
    });
    expect(lstatSync(path).isFIFO()).toBe(true);
  },
  60_000,
);
