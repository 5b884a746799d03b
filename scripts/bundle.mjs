// Bundles the code of the package into few files: loading one file for each of its modules took most of the start. Code
// that several entry points share is in dist/chunks, and what is imported on demand stays in files of its own.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, transform } from 'esbuild';

/** Code that runs in a process or thread of its own, or that the command loads by its path (src/core/config/package-files.ts). */
const startedByPath = [
  'src/agent/sources/sql/sqlite/child.ts',
  'src/agent/sources/decide-worker.ts',
  'src/workflows/remote-mcp/schema-worker.ts',
  'examples/demo-shop/index.ts',
  'eval/kit/command.ts',
];

/**
 * Small parts of large packages that are in dist, and are therefore not installed. A fix of theirs needs a release, so
 * nothing that reads input of strangers is among them.
 */
export const bundledPackages = ['@dagrejs/dagre', 'croner', 'date-fns', 'lru-cache'];

/** The source of a file in dist. */
const sourceOf = (built) => built.replace('./dist/', 'src/').replace(/\.js$/, '.ts');

/**
 * Returns the paths of the written files in `outdir`. `replaced`: other texts of single source files, by their path;
 * tests switch off protections with it.
 */
export async function bundle({ root, outdir, replaced = new Map() }) {
  const { bin, exports, dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const entries = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]));
  const sources = [...entries, ...Object.values(bin)].map(sourceOf).concat(startedByPath);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(sources.map((path) => [path.replace(/^src\//, '').replace(/\.ts$/, ''), path])),
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: Object.keys({ ...dependencies, ...peerDependencies }),
    // Few bytes. Node prints the whole line of an error that nobody catches, so lines have an end.
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 2000,
    charset: 'utf8',
    metafile: true,
    plugins: [...(replaced.size === 0 ? [] : [replacing(root, replaced)]), shortNames],
  });
  writeLicenses(root, outdir, Object.keys(metafile.inputs));
  return new Set(Object.keys(metafile.outputs).map((path) => relative(outdir, join(root, path))));
}

/** The licences of the bundled packages require their text. Throws if a package is bundled that is not to be. */
function writeLicenses(root, outdir, inputs) {
  const packages = new Set(inputs.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  const unexpected = [...packages].filter((name) => !bundledPackages.some((own) => name.startsWith(own.split('/')[0])));
  if (unexpected.length > 0) throw new Error(`not a dependency in package.json: ${unexpected.join(', ')}`);
  const texts = [...packages].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} has no file of its licence`);
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  writeFileSync(join(outdir, 'LICENSES.txt'), texts.join('\n---\n\n'));
}

/**
 * The names of variables are a fifth of the size. Functions, classes and methods of modules keep theirs for stack traces;
 * those of packages and of the console, a third of the code, are short as well, which `format` does. An error of the
 * console is logged with its route.
 */
const shortNames = {
  name: 'short-names',
  setup({ onLoad }) {
    onLoad({ filter: /\.(?:m?js|ts)$/ }, async ({ path }) => {
      const isShort = path.includes('/node_modules/') || path.includes('/src/console/');
      const { code } = await transform(readFileSync(path, 'utf8'), {
        loader: path.endsWith('.ts') ? 'ts' : 'js',
        ...(isShort && { format: 'esm' }),
        minify: true,
        target: 'node20',
      });
      return { contents: code, loader: 'js' };
    });
  },
};

function replacing(root, replaced) {
  const texts = new Map([...replaced].map(([path, text]) => [join(root, path), text]));
  return {
    name: 'replaced',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) =>
        texts.has(path) ? { contents: texts.get(path), loader: 'ts' } : undefined,
      );
    },
  };
}

/** The pages that modules read at runtime, with their path in dist. */
export const listPages = (root) =>
  readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
