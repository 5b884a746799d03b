// Writes dist/: the bundled code (bundle.mjs) and the declarations that the entry points reach. With --if-stale it does nothing if dist is
// newer than every input, so a second `npm start` starts at once. A packed install has no src/ and builds nothing.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outdir = join(root, 'dist');
const stamp = join(outdir, '.built');
// The declarations of all of src/, so that the compiler writes only those that changed.
const typesdir = join(outdir, '.types');

if (!existsSync(join(root, 'src'))) process.exit(0);

const newest = (path) => {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
};
const inputs = [
  ...['src', 'examples/demo-shop', 'eval/kit', 'scripts/build.mjs', 'scripts/bundle.mjs', 'scripts/declarations.mjs'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'],
].map((name) => join(root, name));
const startedAt = new Date();
if (process.argv.includes('--if-stale') && existsSync(stamp)) {
  if (Math.max(...inputs.filter(existsSync).map(newest)) <= statSync(stamp).mtimeMs) process.exit(0);
}
// Without .tsbuildinfo, there may be files of removed sources.
if (!existsSync(join(typesdir, '.tsbuildinfo'))) rmSync(outdir, { recursive: true, force: true });

const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const run = spawnSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit' });
if (run.status !== 0) process.exit(run.status ?? 1);

const { bundle, listPages } = await import('./bundle.mjs');
const { writeDeclarations } = await import('./declarations.mjs');
const written = await bundle({ root, outdir });
for (const name of readdirSync(outdir, { recursive: true, encoding: 'utf8' }))
  if (/\.js(?:\.map)?$/.test(name) && !written.has(name)) rmSync(join(outdir, name));
writeDeclarations({ root, outdir, typesdir });
for (const page of listPages(root)) {
  mkdirSync(dirname(join(outdir, page)), { recursive: true });
  copyFileSync(join(root, 'src', page), join(outdir, page));
}
writeFileSync(stamp, '');
utimesSync(stamp, startedAt, startedAt);
