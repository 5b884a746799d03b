// Checks that src/ follows the rules of docs/architecture.md, and that each rule detects violations.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readEntryPoints } from '../site/exports.ts';
import { findUnusedExports } from './architecture/exports.ts';
import { judge, type Manifest } from './architecture/rules.ts';
import { judgeSizes } from './architecture/sizes.ts';
import { readSource } from './architecture/source-text.ts';

const readManifest = () => JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

/** The TypeScript and JavaScript files of the folder, by their paths. */
function readFolder(folder: string): [path: string, text: string][] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.m?[jt]s$/.test(path) && !path.includes('node_modules'))
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .map((path) => [path, readFileSync(path, 'utf8')]);
}

test('the source follows every rule of the architecture', () => {
  const folders = ['src', 'examples/demo-shop', 'eval/kit'];
  const files = new Map(folders.flatMap(readFolder).filter(([path]) => path.endsWith('.ts')));
  expect(files.size).toBeGreaterThan(15);
  expect(judge(files, readManifest())).toEqual([]);
});

test('no file, function or folder of src is too large', () => {
  const files = new Map(readFolder('src'));
  const entries = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((path) => `src/${path}`);
  expect(judgeSizes(files, entries)).toEqual([]);
});

test('a long file, a long function and a full folder are reported', () => {
  const lines = (count: number) => 'one();\n'.repeat(count);
  const files = {
    'src/a.ts': `export function long() {\n${lines(119)}}\n`,
    'src/b.ts': `export function create() {\n  return () => {\n${lines(100)}  };\n${lines(100)}}\n`,
    'src/c.ts': lines(401),
    'src/core/errors.ts': lines(3),
  };
  const entries = Array.from({ length: 21 }, (_, index) => `src/d/${index}.ts`);
  expect(judgeSizes(new Map(Object.entries(files)), entries)).toEqual([
    'src/a.ts: 121 lines in long, at most 120 are allowed',
    'src/c.ts: 401 lines, at most 400 are allowed',
    'src/core/errors.ts: 3 lines need no exception',
    'src/d: 21 entries, at most 20 are allowed',
  ]);
});

/** TypeScript names it in the declarations of other files. */
const inDeclarations = ['src/api/parameters.ts: Parameter'];
test('another file imports each export', () => {
  const folders = ['bench', 'eval', 'examples', 'scripts', 'site', 'src', 'test'];
  const unused = findUnusedExports(new Map(folders.flatMap(readFolder)));
  expect(unused).toEqual(inDeclarations);
});

test('an import by name, of a namespace, or at run time uses an export; a comment and its own file do not', () => {
  const files = {
    'src/a.ts':
      'export const one = 1;\nexport interface Two {}\nexport async function three() {}\nexport type Four = 4;',
    'src/b.ts':
      'export class Five {}\nexport function six() {}\nexport const seven = new Five();\n// import { six } from "./b.ts"',
    'src/c/d.ts': "import { type Two, one as other } from '../a.ts';",
    'test/e.ts': "import * as a from '../src/a.ts';\na.three();",
    'site/f.ts': "const { seven } = await import('../src/b.ts');",
  };
  expect(findUnusedExports(new Map(Object.entries(files)))).toEqual([
    'src/a.ts: Four',
    'src/b.ts: Five',
    'src/b.ts: six',
  ]);
});

test('every public export has a docstring', () => {
  const entries = readEntryPoints(process.cwd());
  expect(entries.map(({ name }) => name)).toContain('portico');
  const silent = entries.flatMap(({ name: entry, exports }) =>
    exports.filter(({ doc }) => doc === '').map(({ name }) => `${name} of ${entry}`),
  );
  // `npm run docs` builds the reference from the docstrings of exports.
  expect(silent).toEqual([]);
});

const manifest: Manifest = {
  exports: { '.': { default: './dist/index.js' } },
  dependencies: { knex: '1', express: '1', pino: '1', 'oidc-provider': '1', '@modelcontextprotocol/server': '1' },
};
const validFiles = {
  'src/index.ts': "export { one } from './core/one.ts';",
  'src/core/one.ts': 'export const one = 1;',
  'src/store/store.ts': 'export interface Store {}',
  'src/store/rows.ts': "import { one } from '../core/one.ts'; export const rows = one;",
  'src/oauth/tokens/bearer.ts': "import { rows } from '../../store/rows.ts'; export const bearer = rows;",
  'src/agent/engine.ts': 'export interface Engine {}',
  'src/agent/model/types.ts': "import type { Source } from '../sources/source.ts'; export type Model = Source;",
  'src/agent/model/build.ts': 'export const build = 1;',
  'src/agent/sources/source.ts': 'export interface Source {}',
  'src/agent/plan/read.ts': "import type { Model } from '../model/types.ts'; export type Plan = Model;",
  'src/mcp/tools.ts': "import type { Engine } from '../agent/engine.ts'; export type Tool = Engine;",
  'src/mcp/server.ts': 'export const server = 1;',
  'src/server/create-server.ts': "import { server } from '../mcp/server.ts'; export const app = server;",
};

const judgeWith = (extra: Record<string, string>, other: Partial<Manifest> = {}) =>
  judge(new Map(Object.entries({ ...validFiles, ...extra })), { ...manifest, ...other });

test('files that follow the rules give no violations', () => {
  expect(judgeWith({})).toEqual([]);
});

const offences: readonly (readonly [rule: string, extra: Record<string, string>, expected: RegExp])[] = [
  [
    'core imports none of our folders',
    { 'src/core/two.ts': "import '../store/rows.ts';" },
    /core may not import store/,
  ],
  [
    'store must not import oauth',
    { 'src/store/a.ts': "import { b } from '../oauth/tokens/bearer.ts';" },
    /store may not import oauth/,
  ],
  [
    'agent must not import the store',
    { 'src/agent/a.ts': "import type { S } from '../store/store.ts';" },
    /agent may not import store/,
  ],
  [
    'oauth must not import the agent',
    { 'src/oauth/a.ts': "import type { E } from '../agent/engine.ts';" },
    /oauth may not import agent/,
  ],
  ['api must not import mcp', { 'src/api/a.ts': "import { t } from '../mcp/tools.ts';" }, /api may not import mcp/],
  [
    'mcp must not import api',
    { 'src/api/a.ts': '', 'src/mcp/a.ts': "import '../api/a.ts';" },
    /mcp may not import api/,
  ],
  [
    'mcp must not import the composition',
    { 'src/mcp/a.ts': "import('../server/create-server.ts');" },
    /mcp may not import server/,
  ],
  [
    'console may import only the tool table of mcp',
    { 'src/console/a.ts': "import '../mcp/server.ts';" },
    /console may not import mcp\/server/,
  ],
  [
    'server must not import the command',
    { 'src/cli/a.ts': '', 'src/server/create-server.ts': "import '../cli/a.ts';" },
    /server may not import cli/,
  ],
  ['an unknown folder is reported', { 'src/cellar/a.ts': '' }, /'cellar' is not a folder/],
  [
    'model must not import the actions',
    { 'src/agent/actions/a.ts': '', 'src/agent/model/a.ts': "import '../actions/a.ts';" },
    /agent\/model may not import agent\/actions/,
  ],
  [
    'sources must not import the planner',
    { 'src/agent/sources/a.ts': "import { p } from '../plan/read.ts';" },
    /agent\/sources may not import agent\/plan/,
  ],
  [
    'a source must not import the model, not even its types',
    { 'src/agent/sources/a.ts': "import type { Model } from '../model/types.ts';" },
    /agent\/sources may not import agent\/model/,
  ],
  [
    'model must not import the plan',
    { 'src/agent/model/a.ts': "import type { Plan } from '../plan/read.ts';" },
    /agent\/model may not import agent\/plan/,
  ],
  [
    'the demo shop imports only types of the package',
    { 'examples/demo-shop/a.ts': "import { createAgent } from 'portico';" },
    /demo-shop may not import portico/,
  ],
  [
    'the demo shop must not import the source',
    { 'examples/demo-shop/a.ts': "import type { one } from '../../src/core/one.ts';" },
    /demo-shop may not import src\/core/,
  ],
  [
    'the evaluation must not import the engine',
    { 'eval/kit/a.ts': "import type { E } from '../../src/agent/engine.ts';" },
    /eval\/kit may not import src\/agent/,
  ],
  [
    'the source must not import the demo shop',
    { 'examples/demo-shop/a.ts': '', 'src/cli/a.ts': "import '../../examples/demo-shop/a.ts';" },
    /cli may not import/,
  ],
  ['an import must refer to an existing file', { 'src/core/two.ts': "import './gone.ts';" }, /not a file of src/],
  ['only databases may import knex', { 'src/mcp/a.ts': "import knex from 'knex';" }, /knex does not belong here/],
  [
    'within the agent, only sources/sql may import knex',
    { 'src/agent/plan/a.ts': "import type { Knex } from 'knex';" },
    /knex does not belong/,
  ],
  [
    'only oauth may import oidc-provider',
    { 'src/store/a.ts': "import P from 'oidc-provider';" },
    /oidc-provider does not belong/,
  ],
  [
    'only mcp may import the MCP SDK',
    { 'src/oauth/a.ts': "import { S } from '@modelcontextprotocol/server/x';" },
    /@modelcontextprotocol\/server does not belong/,
  ],
  ['only routes may import express', { 'src/mcp/a.ts': "import express from 'express';" }, /express does not belong/],
  ['only observe may import pino', { 'src/mcp/a.ts': "const p = await import('pino');" }, /pino does not belong/],
  [
    'no HTTP in the engine',
    { 'src/agent/a.ts': "import { createServer } from 'node:http';" },
    /node:http does not belong/,
  ],
  ['no HTTP in the store', { 'src/store/a.ts': "import http from 'node:https';" }, /node:https does not belong/],
  [
    'a package must be a dependency',
    { 'src/mcp/a.ts': "import x from 'left-pad/deep';" },
    /left-pad is not a dependency/,
  ],
  ['one file reads the environment', { 'src/mcp/a.ts': 'const port = process.env.PORT;' }, /process\.env may be used/],
  [
    'destructuring the environment is reported',
    { 'src/mcp/a.ts': 'const { env } = process;' },
    /process\.env may be used/,
  ],
  ['one file reads the time', { 'src/mcp/a.ts': 'const t = Date.now();' }, /wall clock/],
  ['an empty Date is reported', { 'src/cli/a.ts': 'const t = new Date( );' }, /wall clock/],
  ['one file sets timers', { 'src/store/a.ts': 'setInterval(run, 1);' }, /a timer/],
  ['a timeout signal is reported', { 'src/store/a.ts': 'AbortSignal.timeout(5);' }, /a timer/],
  [
    'the timers module is reported',
    { 'src/store/a.ts': "import { setTimeout } from 'node:timers/promises';" },
    /node:timers\/promises does not belong/,
  ],
  ['durations come from the clock', { 'src/mcp/a.ts': 'const t = performance.now();' }, /performance may be used/],
  ['one file makes random numbers', { 'src/cli/a.ts': 'const n = Math.random();' }, /randomness may be used/],
  [
    'one file makes random ids',
    { 'src/store/a.ts': "import { randomUUID } from 'node:crypto';" },
    /randomness may be used/,
  ],
  ['code within a template is checked', { 'src/mcp/a.ts': `const s = \`at \${Date.now()}\`;` }, /wall clock/],
  ['no default exports', { 'src/core/two.ts': 'export default 1;' }, /default export/],
  [
    'a default export under another name is reported',
    { 'src/core/two.ts': 'const a = 1; export { a as default };' },
    /default export/,
  ],
  ['no export *', { 'src/core/two.ts': "export * from './one.ts';" }, /export \*/],
  ['no barrels', { 'src/core/two.ts': "export { one } from './one.ts';" }, /re-exports/],
  ['imports end in .ts', { 'src/core/two.ts': "import { one } from './one';" }, /must end in \.ts/],
  [
    'no cycles',
    { 'src/core/two.ts': "import './three.ts';", 'src/core/three.ts': "import { a } from './two.ts';" },
    /^cycle: src\/core\/three\.ts -> src\/core\/two\.ts -> src\/core\/three\.ts$/,
  ],
  ['no file imports itself', { 'src/core/two.ts': "import './two.ts';" }, /^cycle/],
  ['no meaningless file names', { 'src/core/utils.ts': '' }, /'utils' says nothing/],
  ['no meaningless folder names', { 'src/mcp/helpers/a.ts': '' }, /'helpers' says nothing/],
  ['names are kebab-case', { 'src/mcp/toolTable.ts': '' }, /not kebab-case/],
  [
    'core stays small',
    Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`src/core/part-${index}.ts`, ''])),
    /src\/core: 11 subjects/,
  ],
];

test.each(offences)('%s', (_rule, extra, expected) => {
  expect(judgeWith(extra).filter((line) => expected.test(line))).toHaveLength(1);
});

test('the files of a folder of core count as one subject', () => {
  const many = Array.from({ length: 20 }, (_, index) => [`src/core/one/part-${index}.ts`, '']);
  expect(judgeWith(Object.fromEntries(many))).toEqual(judgeWith({}));
});

test('the exports map names every entry point and nothing else', () => {
  const other = { exports: { './deep': './dist/core/one.js', './testing': './dist/testing/index.js' } };
  const found = judgeWith({ 'src/index.ts': '' }, other);
  expect(found).toEqual([
    "package.json: exports './deep', which is not an entry point",
    "package.json: exports './testing', but there is no src/testing/index.ts",
    'package.json: exports does not name src/index.ts',
  ]);
});

test('comments, texts, templates and regular expressions are not code', () => {
  const source = [
    "import a, { type B } from './a.ts'; // import './no.ts'",
    "import type { C } from './c.ts';",
    "/* import './no.ts' */ const text = 'Date.now() from \"x\"';",
    'const half = 4 / 2;',
    `const quoted = /['"]import '.\\/no'/.test(\`\${(() => { return \`x\${half}\`; })()} from 'no'\`);`,
    "const lazy = () => import('./lazy.ts');",
  ].join('\n');
  const { code, imports } = readSource(source);
  expect(imports).toEqual([
    { from: './a.ts', kind: 'value' },
    { from: './c.ts', kind: 'type' },
    { from: './lazy.ts', kind: 'dynamic' },
  ]);
  expect(code).not.toContain('Date.now');
});
