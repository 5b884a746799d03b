// The rules of docs/architecture.md, as data and small checks over the text of the source files. Each check returns one
// line per violation: the file, and what is wrong.
import { posix } from 'node:path';
import { bundledPackages } from '../../scripts/bundle.mjs';
import { readSource, type SourceText } from './source-text.ts';

/** Maps the path from the package root, with forward slashes, to the text of the file. */
export type SourceFiles = ReadonlyMap<string, string>;

export interface Manifest {
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** What each folder may import, besides its own files, core and http. */
const folderReach: Readonly<Record<string, readonly string[]>> = {
  core: [],
  http: [],
  store: [],
  oauth: ['store'],
  'remote-store': ['store'],
  agent: [],
  workflows: ['store', 'agent'],
  notifications: ['store', 'agent', 'workflows'],
  mcp: ['store', 'oauth', 'agent', 'workflows'],
  api: ['store', 'oauth', 'agent', 'workflows'],
  rest: ['store', 'oauth', 'agent'],
  console: [
    'store',
    'oauth',
    'agent',
    'workflows',
    'notifications',
    'api',
    'mcp/tool.ts',
    'mcp/tools.ts',
    'mcp/playground.ts',
    'mcp/approvals/execution.ts',
  ],
  // Below server, because the agent has a method for each. They receive a handler and do not know what answers.
  frameworks: [],
  server: [
    'remote-store',
    'store',
    'oauth',
    'agent',
    'workflows',
    'notifications',
    'mcp',
    'api',
    'rest',
    'console',
    'frameworks',
  ],
  plugins: ['agent'],
  cloud: ['agent'],
  testing: ['server', 'remote-store', 'store', 'oauth', 'agent', 'workflows', 'mcp', 'api', 'rest', 'console'],
  cli: [
    'server',
    'remote-store',
    'store',
    'oauth',
    'agent',
    'workflows',
    'mcp',
    'api',
    'rest',
    'console',
    'frameworks',
    'cloud',
    'notifications',
  ],
  'entries/engine': ['agent'],
  'entries/server': ['server', 'remote-store', 'store', 'oauth', 'agent', 'workflows', 'mcp', 'api', 'rest', 'console'],
  'entries/sources': ['agent'],
  index: [
    'entries',
    'server',
    'store',
    'oauth',
    'agent',
    'workflows',
    'mcp',
    'api',
    'rest',
    'console',
    'frameworks',
    'testing',
    'cli',
  ],
};
/** Folders outside of src that the build compiles into the package. src loads them by URL and imports none of them. */
const outside: readonly (readonly [folder: string, reach: RegExp])[] = [
  // Written like an application of the package, of which it needs only types.
  ['examples/demo-shop', /^(examples\/demo-shop\/|node:|type portico$)/],
  [
    'eval/kit',
    /^(eval\/kit\/|examples\/demo-shop\/|node:|src\/(core|server|store|cli)\/|src\/mcp\/results\/tokens\.ts$)/,
  ],
];
/** Folders that every other folder may import, except the folders listed. */
const foundations: Readonly<Record<string, readonly string[]>> = {
  core: [],
  http: ['core', 'store', 'agent', 'workflows', 'frameworks', 'plugins', 'cloud'],
};

/**
 * The same within `agent`. Files outside a subfolder may import all of them. A query goes from resolve to encode. An
 * entry with a file name is an exception for that file only.
 */
const phases = ['resolve', 'lower', 'plan', 'execute', 'encode'];
const agentReach: Readonly<Record<string, readonly string[]>> = {
  sources: [],
  model: ['sources', 'customize/context.ts', 'customize/definitions.ts', 'customize/hooks.ts'],
  customize: ['model', 'sources', 'actions/definitions.ts', 'charts/definitions.ts', 'ai/definitions.ts'],
  ai: ['customize'],
  artifacts: ['model', 'sources', 'actions'],
  resolve: ['lower', 'plan/types.ts', 'model', 'sources', 'customize'],
  lower: ['resolve', 'plan/types.ts', 'model', 'sources', 'customize'],
  plan: [
    'resolve',
    'lower',
    'model',
    'sources',
    'customize',
    'execute/fetch-related.ts',
    'encode/records.ts',
    'write/drafts.ts',
  ],
  execute: [...phases, 'model', 'sources', 'customize', 'write/drafts.ts'],
  encode: ['resolve', 'lower', 'plan', 'model', 'sources', 'customize', 'execute/write.ts'],
  write: [...phases, 'operations', 'model', 'sources', 'customize'],
  operations: [...phases, 'write', 'model', 'sources', 'customize', 'ai'],
  charts: [...phases, 'write', 'operations', 'model', 'sources', 'customize'],
  actions: [...phases, 'write', 'operations', 'model', 'sources', 'customize', 'ai'],
};

/** The files that may import a package. Any file may import an unlisted package. */
const owners: readonly (readonly [packages: RegExp, where: RegExp])[] = [
  [/^(oidc-provider|openid-client|jose)$/, /^src\/oauth\//],
  [/^@modelcontextprotocol\//, /^src\/(mcp\/|workflows\/remote-mcp\/)/],
  [
    /^(knex|mysql2|pg|better-sqlite3|node-sqlite3-wasm)$/,
    /^src\/(store\/|agent\/sources\/sql\/|core\/sqlite(\/[\w-]+)?\.ts$)/,
  ],
  [/^bullmq$/, /^src\/workflows\/runs\/queue-redis\.ts$/],
  [/^(openai|@anthropic-ai\/sdk)$/, /^src\/agent\/ai\//],
  [/^pino$/, /^src\/core\/observe\.ts$/],
  [/^@opentelemetry\//, /^src\/core\/observe\//],
  [/^rate-limiter-flexible$/, /^src\/core\/limit\.ts$/],
  [/^ioredis$/, /^src\/(?:store\/limits\/redis-quotas|workflows\/runs\/queue-redis)\.ts$/],
  [/^otpauth$/, /^src\/store\/users\/second-factors\.ts$/],
  [/^nodemailer$/, /^src\/notifications\/mail\.ts$/],
  [/^uqr$/, /^src\/oauth\/login\/set-up-form\.ts$/],
  [/^@dagrejs\/dagre$/, /^src\/console\//],
  [/^re2js$/, /^src\/agent\/sources\/pattern\.ts$/],
  [/^express$/, /^src\/http\/router\.ts$/],
  // No file may: the host owns these packages, and src/frameworks detects them by their features.
  [/^(fastify|koa|@nestjs\/.+)$/, /(?!)/],
  [/^(commander|dotenv)$/, /^src\/cli\//],
  [/^node:https?2?$/, /^src\/(?!core\/|store\/|agent\/)/],
];

const codeOwners: readonly (readonly [what: string, code: RegExp, where: RegExp])[] = [
  [
    'process.env',
    /\bprocess\s*\.\s*env\b|\bprocess\s*\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/,
    /^src\/(core\/config\.ts$|cli\/)/,
  ],
  [
    'the wall clock',
    /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bnew\s+Date\b(?!\s*\()|(?<!new\s+)\bDate\s*\(\s*\)/,
    /^src\/core\/clock\.ts$/,
  ],
  ['a timer', /\bset(Timeout|Interval)\b|\bAbortSignal\s*\.\s*timeout\b/, /^src\/core\/clock\.ts$/],
  ['performance', /\bperformance\s*\.|\bprocess\s*\.\s*hrtime\b/, /^src\/core\/clock\.ts$/],
  [
    'randomness',
    /\bMath\s*\.\s*random\b|\brandom(Bytes|UUID|Int|Fill|FillSync)\b|\bgetRandomValues\b/,
    /^src\/core\/secret\.ts$/,
  ],
];

/** Packages that give access to what `codeOwners` restricts. */
const packageOwners: readonly (readonly [packages: RegExp, where: RegExp])[] = [
  [/^node:(timers(\/promises)?|perf_hooks)$/, /^src\/core\/clock\.ts$/],
];

const entryPoints = ['.', './engine', './server', './sources', './testing', './cloud', './plugins'];
const forbiddenNames = /^(utils?|helpers?|commons?|libs?|services?|managers?|misc|shared)$/;
const coreLimit = 10;

interface Parsed extends SourceText {
  readonly path: string;
}

/** All violations of the rules, sorted. */
export function judge(files: SourceFiles, manifest: Manifest): string[] {
  const parsed = [...files].map(([path, text]): Parsed => ({ path, ...readSource(text) }));
  const publicFiles = new Set(exportedFiles(manifest).map(([, path]) => path));
  const offences = [
    ...parsed.flatMap(
      (file) =>
        judgeOutside(file) ?? [
          ...judgeDirections(file, files),
          ...judgePackages(file, manifest),
          ...judgeCode(file),
          ...judgeExports(file, publicFiles),
          ...judgeName(file.path),
        ],
    ),
    ...judgeCore(files),
    ...judgeCycles(parsed, files),
    ...judgeManifest(files, manifest),
  ];
  return [...new Set(offences)].sort();
}

const isRelative = (from: string): boolean => from.startsWith('.');
const target = (file: string, from: string): string => posix.normalize(posix.join(posix.dirname(file), from));
const parts = (path: string): string[] => path.replace(/^src\//, '').split('/');
/** The first folder. Each file of `entries` has its own rule. */
function folderOf(path: string): string {
  const [first, second] = parts(path);
  return (first === 'entries' ? `${first}/${second}` : first!).replace(/\.ts$/, '');
}

function reaches(allowed: readonly string[], to: string): boolean {
  return allowed.some((entry) => to === entry || to === `${entry}.ts` || to.startsWith(`${entry}/`));
}

function judgeOutside({ path, imports }: Parsed): string[] | undefined {
  const found = outside.find(([folder]) => path.startsWith(`${folder}/`));
  if (!found) return undefined;
  const [folder, reach] = found;
  return imports
    .map(({ from, kind }) => (isRelative(from) ? target(path, from) : kind === 'type' ? `type ${from}` : from))
    .filter((to) => !reach.test(to))
    .map((to) => `${path}: ${folder} may not import ${to}`);
}

function judgeDirections(file: Parsed, files: SourceFiles): string[] {
  const folder = folderOf(file.path);
  const reach = folderReach[folder];
  if (!reach)
    return [`${file.path}: '${folder}' is not a folder of src; they are listed in test/architecture/rules.ts`];
  return file.imports
    .filter(({ from }) => isRelative(from))
    .flatMap((edge) => {
      const to = target(file.path, edge.from);
      if (!files.has(to)) return [`${file.path}: imports ${edge.from}, which is not a file of src`];
      const inside = parts(to).join('/');
      if (folderOf(to) === folder) return judgeAgent(file.path, to);
      const below = foundations[folderOf(to)];
      if ((below && !below.includes(folder)) || reaches(reach, inside)) return [];
      return [`${file.path}: ${folder} may not import ${inside}`];
    });
}

function judgeAgent(path: string, to: string): string[] {
  const [folder, part, ...deeper] = parts(path);
  const reach = agentReach[part ?? ''];
  if (folder !== 'agent' || deeper.length === 0) return [];
  if (!reach)
    return [`${path}: 'agent/${part}' is not a folder of the agent; they are listed in test/architecture/rules.ts`];
  const inside = parts(to).slice(1).join('/');
  // Every part uses the types of requests and results.
  return reaches([part!, 'requests.ts', ...reach], inside)
    ? []
    : [`${path}: agent/${part} may not import agent/${inside}`];
}

function judgePackages(file: Parsed, manifest: Manifest): string[] {
  const known = new Set([
    ...Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    ...bundledPackages,
  ]);
  return file.imports
    .filter(({ from }) => !isRelative(from))
    .flatMap(({ from, kind }) => {
      const builtIn = from.startsWith('node:');
      const name = builtIn
        ? from
        : from
            .split('/')
            .slice(0, from.startsWith('@') ? 2 : 1)
            .join('/');
      const owned = [...owners, ...packageOwners].filter(([packages]) => packages.test(name));
      const offences = owned
        .filter(([, where]) => !where.test(file.path))
        // Types of HTTP requests and responses have no effect at run time.
        .filter(() => !(kind === 'type' && (builtIn || name === 'express')))
        .map(() => `${file.path}: ${name} does not belong here`);
      if (!builtIn && kind !== 'type' && !known.has(name)) {
        offences.push(`${file.path}: ${name} is not a dependency in package.json`);
      }
      return offences;
    });
}

function judgeCode({ path, code }: Parsed): string[] {
  return codeOwners
    .filter(([, pattern, where]) => pattern.test(code) && !where.test(path))
    .map(([what, , where]) => `${path}: ${what} may be used in ${where.source} only`);
}

function judgeExports({ path, code, imports }: Parsed, publicFiles: ReadonlySet<string>): string[] {
  const offences: string[] = [];
  if (/\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/.test(code)) offences.push(`${path}: default export`);
  if (/\bexport\s+(type\s+)?\*/.test(code)) offences.push(`${path}: export *`);
  if (!publicFiles.has(path) && imports.some(({ kind }) => kind === 're-export')) {
    offences.push(`${path}: re-exports what others own, and is no public entry point`);
  }
  for (const { from } of imports) {
    if (isRelative(from) && !from.endsWith('.ts')) offences.push(`${path}: '${from}' must end in .ts`);
  }
  return offences;
}

function judgeName(path: string): string[] {
  const names = parts(path).map((name) => name.replace(/\.ts$/, ''));
  return names.flatMap((name) => {
    if (forbiddenNames.test(name)) return [`${path}: '${name}' says nothing; name the subject`];
    return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ? [] : [`${path}: '${name}' is not kebab-case`];
  });
}

function judgeCore(files: SourceFiles): string[] {
  const paths = [...files.keys()].filter((path) => folderOf(path) === 'core');
  // `sqlite.ts` and the folder `sqlite/` are one subject.
  const count = new Set(paths.map((path) => parts(path)[1]!.replace(/\.ts$/, ''))).size;
  return count <= coreLimit ? [] : [`src/core: ${count} subjects, at most ${coreLimit} are allowed`];
}

function judgeCycles(parsed: readonly Parsed[], files: SourceFiles): string[] {
  const edges = new Map(
    parsed.map(({ path, imports }) => [
      path,
      imports
        .filter(({ from }) => isRelative(from))
        .map(({ from }) => target(path, from))
        .filter((to) => files.has(to)),
    ]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      const ring = trail.slice(start);
      // Starts at the first file in alphabetical order, so each cycle is reported once.
      const first = ring.indexOf([...ring].sort()[0]!);
      const told = [...ring.slice(first), ...ring.slice(0, first)];
      found.push(`cycle: ${[...told, told[0]].join(' -> ')}`);
      return;
    }
    if (done.has(path)) return;
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) walk(path, []);
  return found;
}

function exportedFiles(manifest: Manifest): [entry: string, file: string][] {
  return Object.entries(manifest.exports ?? {})
    .filter(([entry]) => entry !== './package.json')
    .map(([entry, value]) => {
      const file = typeof value === 'string' ? value : (value.default ?? '');
      return [entry, file.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')];
    });
}

function judgeManifest(files: SourceFiles, manifest: Manifest): string[] {
  const exported = exportedFiles(manifest);
  const named = new Set(exported.map(([, file]) => file));
  return [
    ...exported
      .filter(([entry]) => !entryPoints.includes(entry))
      .map(([entry]) => `package.json: exports '${entry}', which is not an entry point`),
    ...exported
      .filter(([, file]) => !files.has(file))
      .map(([entry, file]) => `package.json: exports '${entry}', but there is no ${file}`),
    ...[...files.keys()]
      .filter((path) => /^src\/(((testing|cloud|plugins)\/)?index|entries\/.+)\.ts$/.test(path) && !named.has(path))
      .map((path) => `package.json: exports does not name ${path}`),
  ];
}
