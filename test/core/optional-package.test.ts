import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { importOptional, requireIfInstalled, requireOptional } from '../../src/core/config/optional-package.ts';

/** A folder whose package `name` imports one that is not installed. */
function makePackage(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-optional-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = join(folder, 'node_modules', name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  writeFileSync(join(at, 'index.js'), "import 'what-it-needs';");
  const file = join(folder, 'program.mjs');
  writeFileSync(file, `import '${name}';`);
  return pathToFileURL(file).href;
}

test('installed packages load', async () => {
  const pg = requireOptional<{ Pool: unknown }>('pg');
  const { Redis } = await importOptional('ioredis', () => import('ioredis'));
  expect([typeof pg.Pool, typeof Redis, requireIfInstalled('pg') === pg]).toEqual(['function', 'function', true]);
});

test('the error of a missing package says who needs it and what to install', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-optional-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'program.mjs');

  await expect(importOptional('bullmq', async () => createRequire(file)('bullmq'))).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message:
      "SERVICE_REDIS_URL needs the package 'bullmq', which is not installed. Install it with 'npm install bullmq ioredis'.",
    cause: { code: 'MODULE_NOT_FOUND' },
  });
  expect(requireIfInstalled('not-there')).toBeUndefined();
});

test('a package that lacks one of its own dependencies keeps its error', async () => {
  const file = makePackage('bullmq');
  await expect(importOptional('bullmq', () => import(file))).rejects.toMatchObject({
    code: 'ERR_MODULE_NOT_FOUND',
    message: expect.stringContaining("'what-it-needs'"),
  });
});
