// Compiles typed customizations against the declarations of the package, as users do: with each TypeScript that is
// supported, and with and without checks of the declarations of libraries.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CollectionCustomizer } from '../../src/agent/customize/customizer.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const binOf = (name: string): string => {
  const path = join(root, 'node_modules', name, 'package.json');
  const { bin } = JSON.parse(readFileSync(path, 'utf8')) as { bin: { tsc: string } };
  return join(dirname(path), bin.tsc);
};
/** The versions that users have; the last one compiles the package. */
const compilers = { '5.9': binOf('typescript-5.9'), '6.0': binOf('typescript-6.0'), '7.0': binOf('typescript') };
type Version = keyof typeof compilers;

/** The compiler's errors; empty if there are no errors. */
async function compile(cwd: string, options: readonly string[], version: Version = '7.0'): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, [compilers[version], ...options], { cwd })).stdout;
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

const strict = [
  ...['--strict', '--noUncheckedIndexedAccess', '--noEmit', '--allowImportingTsExtensions'],
  ...['--types', 'node', '--module', 'nodenext', '--target', 'es2023'],
];

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
  const imports = entries.map((name, at) => `export * as e${at} from '${name.replace('.', 'portico')}';\n`);
  writeFileSync(join(folder, 'entries.ts'), imports.join(''));
  for (const name of project) {
    const text = readFileSync(join(root, 'test', 'types', name), 'utf8');
    writeFileSync(
      join(folder, name),
      text.replace(/'\.\.\/\.\.\/src\/[^']+'/g, (path) => entryOf[path.slice(1, -1)]!),
    );
  }
  writeFileSync(join(folder, 'calls.ts'), calls);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Typed customizations, right ones and ones that must not compile. */
const project = [
  'customizer.test-d.ts',
  'members.test-d.ts',
  'actions.test-d.ts',
  'testing.test-d.ts',
  'typed-shop-typings.ts',
];
const entryOf: Readonly<Record<string, string>> = {
  '../../src/index.ts': "'portico'",
  '../../src/plugins/index.ts': "'portico/plugins'",
  '../../src/testing/index.ts': "'portico/testing'",
  '../../src/agent/actions/definitions.ts': "'portico'",
};

/** Each way to return no result from a typed action, and hooks. */
const calls = `import { createAgent } from 'portico';
import type { Schema } from './typed-shop-typings.ts';
createAgent<Schema>({ authSecret: 'x', envSecret: 'y' }).customizeCollection('orders', (orders) =>
  orders
    .addAction('a', { scope: 'Single', execute: () => {} })
    .addAction('b', { scope: 'Bulk', execute: async () => {} })
    .addAction('c', { scope: 'Single', execute: async (context) => void (await context.getRecord(['total'])) })
    .addAction('d', {
      scope: 'Global',
      async execute(context, resultBuilder) {
        if (context.caller.team === 'Sales') return resultBuilder.error('Not for you');
      },
    })
    .addHook('Before', 'List', (context) => context.narrow({ field: 'total', operator: 'GreaterThan', value: 1 }))
    .addHook('Before', 'Update', (context) => { context.patch.total = 1; })
    .addHook('After', 'Create', async ({ records }) => void records[0]?.total)
    .addHook('After', 'Aggregate', ({ result }) => void result)
    // @ts-expect-error: no such field
    .addHook('Before', 'Update', (context) => { context.patch.status; })
    // @ts-expect-error: only an update has a patch
    .addHook('After', 'Create', (context) => { context.patch; })
    // @ts-expect-error: no such operation
    .addHook('Before', 'Read', () => {}),
);
`;

// skipLibCheck only leaves out checks.
test.each(Object.keys(compilers) as Version[])(
  'TypeScript %s compiles every entry point and typed customizations, without skipLibCheck',
  async (version) => {
    const options = [...strict, '--skipLibCheck', 'false'];
    expect(await compile(folder, [...options, 'entries.ts', 'calls.ts', ...project], version)).toBe('');
  },
  300_000,
);

test('the project calls every method of the customizer', () => {
  const text = readFileSync(join(root, 'test', 'types', 'members.test-d.ts'), 'utf8');
  const methods = Object.getOwnPropertyNames(CollectionCustomizer.prototype).filter((name) => name !== 'constructor');
  expect(methods.length).toBeGreaterThan(30);
  expect(methods.filter((name) => !new RegExp(`\\.${name}[(<]`).test(text))).toEqual([]);
});

test('the declarations keep the deprecation of the aliases', () => {
  const declared = readFileSync(join(folder, 'node_modules', 'portico', 'dist', 'index.d.ts'), 'utf8');
  expect(declared).toMatch(/\/\*\* @deprecated Import it from "portico\/server"\. \*\/\s*createApp\b/);
});
