// Compiles src/ to dist/. The demo shop and the evaluation kit, which the command loads, keep their folders in dist/. With
// --if-stale it does nothing if dist is newer than every input, so a second `npm start` starts at once. A packed install
// has no src/ and builds nothing.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist', '.built');

if (!existsSync(join(root, 'src'))) process.exit(0);

const newest = (path) => {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
};
const parts = ['examples/demo-shop', 'eval/kit'];
const inputs = ['src', ...parts, 'scripts/build.mjs', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'].map(
  (name) => join(root, name),
);
const startedAt = new Date();
if (process.argv.includes('--if-stale') && existsSync(stamp)) {
  if (Math.max(...inputs.filter(existsSync).map(newest)) <= statSync(stamp).mtimeMs) process.exit(0);
}
// Without .tsbuildinfo, dist may contain files of removed sources.
if (!existsSync(join(root, 'dist', '.tsbuildinfo'))) rmSync(join(root, 'dist'), { recursive: true, force: true });

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const run = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (run.status !== 0) process.exit(run.status ?? 1);
// The content of src/ is directly in dist/, so imports of it lose this part of their path.
const toCompiled = {
  name: 'compiled',
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) =>
      kind === 'entry-point' ? undefined : { path: path.replace('/src/', '/').replace(/\.ts$/, '.js'), external: true },
    );
  },
};
const { build } = await import('esbuild');
await build({
  absWorkingDir: root,
  entryPoints: parts.map((name) => `${name}/*.ts`),
  outbase: root,
  outdir: join(root, 'dist'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  plugins: [toCompiled],
});
// The pages are read at runtime from the folder of their module.
const pages = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.html'),
);
for (const name of pages) copyFileSync(join(root, 'src', name), join(root, 'dist', name));
writeFileSync(stamp, '');
utimesSync(stamp, startedAt, startedAt);
