// Compiles the declarations of the package as a user does who also checks the declarations of libraries.
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiler = fileURLToPath(import.meta.resolve('typescript/package.json'));
const { bin } = JSON.parse(readFileSync(compiler, 'utf8')) as { bin: { tsc: string } };

const old = join(root, 'node_modules', 'typescript-5.9', 'bin', 'tsc');
const strict = ['--strict', '--noEmit', '--types', 'node', '--module', 'nodenext', '--target', 'es2023'];

/** The compiler's errors; empty if there are no errors. */
async function compile(
  cwd: string,
  options: readonly string[],
  tsc = join(dirname(compiler), bin.tsc),
): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, [tsc, ...options], { cwd })).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

let folder: string;
let entries: readonly string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portico-consumer-'));
  const modules = join(folder, 'node_modules');
  const own = join(modules, 'portico');
  mkdirSync(join(modules, '@types'), { recursive: true });
  mkdirSync(own);
  const declared = ['--emitDeclarationOnly', '--incremental', 'false', '--tsBuildInfoFile', 'null', '--sourceMap'];
  expect(await compile(root, ['-p', 'tsconfig.build.json', ...declared, 'false', '--outDir', join(own, 'dist')])).toBe(
    '',
  );
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  writeFileSync(join(own, 'package.json'), text);
  const { dependencies, exports } = JSON.parse(text) as Record<'dependencies' | 'exports', Record<string, string>>;
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  }
  expect(readdirSync(join(modules, '@types'))).toEqual(['node']);
  entries = Object.keys(exports).filter((name) => !name.endsWith('.json'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('the declarations of the package compile with skipLibCheck false, with nothing but its dependencies', async () => {
  const imports = entries.map((name, at) => `export * as e${at} from '${name.replace('.', 'portico')}';\n`);
  writeFileSync(join(folder, 'consumer.ts'), imports.join(''));
  expect(await compile(folder, [...strict, '--skipLibCheck', 'false', 'consumer.ts'])).toBe('');
}, 120_000);

test('TypeScript 5.9 compiles customizations that are typed, and sees what is wrong with them', async () => {
  copyFileSync(join(root, 'test', 'types', 'typed-shop-typings.ts'), join(folder, 'typings.ts'));
  const write = (name: string, body: string) =>
    writeFileSync(
      join(folder, name),
      `import { createAgent } from 'portico';
import type { Schema } from './typings.ts';
export const agent = createAgent<Schema>({ authSecret: 'x', envSecret: 'y' }).customizeCollection('orders', (orders) =>
  orders
${body}
);
`,
    );
  write(
    'right.ts',
    `    .addHook('Before', 'List', (context) => context.narrow({ field: 'total', operator: 'GreaterThan', value: 1 }))
    .addHook('Before', 'Update', (context) => { context.patch.total = 1; })
    .addHook('After', 'Create', async ({ records }) => void records[0]?.total)
    .addHook('After', 'Aggregate', ({ result }) => void result)
    .addSegment('large', { field: 'customer:name', operator: 'Equal', value: 'Ada' })
    .addField('double', { columnType: 'Number', dependencies: ['total'], getValues: (all) => all.map(({ total }) => Number(total) * 2) })
    .addAction('Ship', { scope: 'Single', execute: async (context) => void (await context.getRecord(['total'])) })`,
  );
  write(
    'wrong.ts',
    `    .addHook('Before', 'Update', (context) => { context.patch.status; })
    .addHook('After', 'Create', (context) => { context.patch; })
    .addHook('Before', 'Read', () => {})`,
  );
  const options = [...strict, '--skipLibCheck', '--allowImportingTsExtensions'];
  expect(await compile(folder, [...options, 'right.ts'], old)).toBe('');
  const said = await compile(folder, [...options, 'wrong.ts'], old);
  expect([...said.matchAll(/^wrong\.ts\((\d+),\d+\): error TS(\d+)/gm)].map(([, line, code]) => [line, code])).toEqual([
    ['5', '2339'],
    ['6', '2339'],
    ['7', '2345'],
  ]);
}, 120_000);
