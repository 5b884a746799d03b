// The public API: the names of the root entry, the aliases of earlier ones, and the docstring of every member. The
// examples of the docstrings compile as a user would write them.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type EntryPoint, type Exported, readEntryPoints } from '../site/exports.ts';
import { errorCodes } from '../src/core/errors.ts';
import { sourceOf } from './entry-points.ts';

const entries = readEntryPoints(process.cwd());
const entryOf = (name: string): EntryPoint => entries.find((entry) => entry.name === name)!;
const [root] = entries as [EntryPoint];
const current = root.exports.filter(({ deprecated }) => deprecated === '');

/** Every export once, without the aliases of the root. */
const documented: readonly Exported[] = [
  ...new Map(
    entries.flatMap(({ exports }) =>
      exports.filter(({ deprecated }) => deprecated === '').map((one) => [one.name, one] as const),
    ),
  ).values(),
];
const members = documented.flatMap((of) =>
  of.members.map((member) => ({ ...member, path: `${of.name}.${member.name}`, of })),
);
const pathsOf = (some: typeof members) => some.map(({ path }) => path);

test('the root entry exports what an application needs, at most 65 names', () => {
  expect(current.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'AgentOptions',
      'CollectionCustomizer',
      'PlainFilter',
      'createAgent',
      'createSqlDataSource',
    ]),
  );
  expect(current.length).toBeLessThanOrEqual(65);
});

test('each other name of the root is a deprecated alias of an entry point that exports it', () => {
  const aliases = root.exports.filter(({ deprecated }) => deprecated !== '');
  const lost = aliases.filter(({ name, deprecated }) => {
    const from = /^Import it from "(portico\/\w+)"\.$/.exec(deprecated)?.[1] ?? '';
    return !entryOf(from)?.exports.some((one) => one.name === name);
  });
  expect(aliases.length).toBeGreaterThan(0);
  expect(lost.map(({ name }) => name)).toEqual([]);
});

test('each entry point has its declarations beside its code', () => {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, unknown> };
  const code = Object.keys(sourceOf).map((name) => sourceOf[name]!.slice(resolve('src').length + 1, -3));
  expect(Object.values(exports)).toEqual([
    ...code.map((path) => ({ types: `./dist/${path}.d.ts`, default: `./dist/${path}.js` })),
    './package.json',
  ]);
});

test('every member of a public class, interface and object type has a sentence', () => {
  expect(members.length).toBeGreaterThan(600);
  const isSilent = ({ kind, doc }: (typeof members)[number]) => kind !== 'constructor' && !/\w[\s\S]*[.:)`]$/.test(doc);
  expect(pathsOf(members.filter(isSilent))).toEqual([]);
});

test.each(['Agent', 'Blueprint', 'ChartBuilder', 'CollectionCustomizer', 'Engine', 'ResultBuilder'])(
  'every method of %s has an example',
  (name) => {
    const methods = members.filter(({ of, kind }) => of.name === name && kind === 'method');
    expect(methods.length).toBeGreaterThan(5);
    expect(pathsOf(methods.filter(({ example }) => example === ''))).toEqual([]);
  },
);

test('every function of the package has an example', () => {
  const functions = documented.filter(({ kind }) => kind === 'function');
  expect(functions.length).toBeGreaterThan(12);
  expect(functions.filter(({ example }) => example === '').map(({ name }) => name)).toEqual([]);
});

test('docstrings name only error codes of the table', () => {
  const texts = [...documented, ...members].map(({ doc }) => doc).join('\n');
  const named = new Set(texts.match(/\b(?!SERVICE_)[A-Z]+(?:_[A-Z]+)+\b/g));
  const settings = ['MCP_SERVER_PORT'];
  expect(named.size).toBeGreaterThan(10);
  expect([...named].filter((name) => ![...errorCodes, ...settings].includes(name))).toEqual([]);
});

const options = members.filter(({ of, isOptional }) => isOptional && /(Options|Limits|Settings|Input)$/.test(of.name));

test('every option that may be absent names its default', () => {
  expect(options.length).toBeGreaterThan(80);
  expect(pathsOf(options.filter(({ doc }) => !/\bdefaults?\b/i.test(doc)))).toEqual([]);
});

test('every duration and size names its unit', () => {
  const measured = members.filter(
    ({ name, kind }) => kind === 'property' && /(Ms|Seconds|Bytes|Mb|[tT]imeout)$/.test(name),
  );
  expect(measured.length).toBeGreaterThan(3);
  expect(pathsOf(measured.filter(({ doc }) => !/milliseconds|seconds|bytes|megabytes/i.test(doc)))).toEqual([]);
});

/** What an example may use without declaring it. */
const surroundings = `
declare const agent: Agent;
declare const engine: Engine;
declare const access: Access;
declare const caller: Caller;
declare const comments: CollectionCustomizer;
declare const customers: CollectionCustomizer;
declare const logs: CollectionCustomizer;
declare const orders: CollectionCustomizer;
declare const products: CollectionCustomizer;
`;

/** The example as a module. It imports the names of the package that it uses. */
function moduleOf(example: string): string {
  const own = [...example.matchAll(/^import [\s\S]*?;$/gm)].map(([line]) => line);
  const body = own.reduce((text, line) => text.replace(line, ''), example);
  const text = `${surroundings}\nexport async function example() {\n${body}\n}\n`;
  const taken = new Set<string>();
  const imports = ['portico', 'portico/engine', 'portico/server'].map((entry) => {
    const names = entryOf(entry)
      .exports.filter(({ name, deprecated }) => deprecated === '' && new RegExp(`\\b${name}\\b`).test(text))
      .map(({ name }) => name)
      .filter((name) => !taken.has(name) && !own.some((line) => new RegExp(`\\b${name}\\b`).test(line)));
    for (const name of names) taken.add(name);
    return `import { ${names.join(', ')} } from '${entry}';`;
  });
  return [...own, ...imports, text].join('\n');
}

test('every example of a docstring compiles', { timeout: 120_000 }, async () => {
  const all = [
    ...documented.map(({ name, example }) => ({ path: name, example })),
    ...members.map(({ path, example }) => ({ path, example })),
  ];
  const examples = [...new Map(all.map((one) => [one.example, one])).values()].filter(({ example }) => example !== '');
  expect(examples.length).toBeGreaterThan(80);
  const folder = mkdtempSync(join(tmpdir(), 'portico-examples-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  examples.forEach(({ example }, at) => {
    writeFileSync(join(folder, `example${at}.ts`), moduleOf(example));
  });
  const paths = Object.fromEntries(Object.entries(sourceOf).map(([name, file]) => [name, [file]]));
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { compilerOptions: object };
  const more = { paths, verbatimModuleSyntax: false };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...more }, include: ['*.ts'] }),
  );
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json'));
  const tsc = join(dirname(compiler), (JSON.parse(readFileSync(compiler, 'utf8')) as { bin: { tsc: string } }).bin.tsc);
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout.replace(/example(\d+)\.ts/g, (_, at) => examples[Number(at)]!.path)).toBe('');
});
