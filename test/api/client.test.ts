// A typed client generated from the OpenAPI document that a server returns. tsc checks a program that uses it; then the
// program runs against the server.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findTool } from '../tools.ts';
import { notesPath, openWays, type Ways } from './ways.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const generator = findTool('openapi-typescript');

let ways: Ways;
let folder: string;
beforeAll(async () => {
  if (!generator) return;
  ways = await openWays();
  folder = mkdtempSync(join(tmpdir(), 'portico-client-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
}, 60_000);
afterAll(async () => {
  await ways?.stop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!generator)(
  'a program that lists and creates notes compiles with types generated from the document, and runs',
  {
    timeout: 120_000,
  },
  async () => {
    const document = await (await fetch(`${ways.address}/v1/openapi.json`)).text();
    writeFileSync(join(folder, 'openapi.json'), document);
    await run(process.execPath, [generator!, join(folder, 'openapi.json'), '-o', join(folder, 'api.d.ts')]);
    copyFileSync(join(import.meta.dirname, 'client-program.txt'), join(folder, 'program.ts'));
    const options = { extends: join(root, 'tsconfig.json'), include: ['program.ts', 'api.d.ts'], exclude: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(options));
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const checked = await run(process.execPath, [tsc, '-p', folder, '--noEmit']).catch(
      ({ stdout }: { readonly stdout: string }) => ({ stdout }),
    );
    expect(checked.stdout).toBe('');

    const { secret } = await ways.make(['notes:read', 'notes:write']);
    const program = [join(folder, 'program.ts'), ways.address, secret];
    const { stdout } = await run(process.execPath, ['--import', 'tsx', ...program], { cwd: root });
    const told = JSON.parse(stdout) as { readonly id: number };
    expect(told).toEqual({
      id: expect.any(Number),
      titles: ['From a program'],
      more: false,
      status: 401,
      code: 'UNAUTHENTICATED',
    });
    // Other clients see the note too.
    const seen = await ways.ask(`${notesPath}/${told.id}`, { secret });
    expect([seen.status, seen.json?.title]).toEqual([200, 'From a program']);
  },
);
