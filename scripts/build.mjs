// Writes dist/: the bundled code (bundle.mjs) and the declarations that the entry points reach. With --if-stale it does nothing if dist is
// newer than every input, so a second `npm start` starts at once. A packed install has no src/ and builds nothing.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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
  ...['src', 'examples/demo-shop', 'eval/kit', 'scripts/build.mjs', 'scripts/bundle.mjs'],
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
const written = await bundle({ root, outdir });
for (const name of readdirSync(outdir, { recursive: true, encoding: 'utf8' }))
  if (/\.js(?:\.map)?$/.test(name) && !written.has(name)) rmSync(join(outdir, name));
writeDeclarations();
for (const page of listPages(root)) {
  mkdirSync(dirname(join(outdir, page)), { recursive: true });
  copyFileSync(join(root, 'src', page), join(outdir, page));
}
writeFileSync(stamp, '');
utimesSync(stamp, startedAt, startedAt);

/**
 * Users need the declarations that the entry points reach, a fifth of all. Comments stay in the modules that an entry
 * point exports from.
 */
function writeDeclarations() {
  for (const name of readdirSync(outdir, { recursive: true, encoding: 'utf8' }))
    if (!name.startsWith('.types') && name.endsWith('.d.ts')) rmSync(join(outdir, name));
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const waiting = Object.values(exports).flatMap(({ types }) => (types ? [types.replace('./dist/', '')] : []));
  const reached = new Set();
  const exported = new Set(waiting);
  const texts = new Map();
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    // Examples in comments import files that do not exist.
    if (reached.has(name) || !existsSync(join(typesdir, name))) continue;
    reached.add(name);
    const text = readFileSync(join(typesdir, name), 'utf8');
    for (const [, path] of text.matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]+)\.[jt]s['"]/g))
      waiting.push(join(dirname(name), `${path}.d.ts`));
    for (const [, path] of exported.has(name) ? text.matchAll(/^export [^;]*? from '(\.[^']+)\.[jt]s'/gm) : [])
      exported.add(join(dirname(name), `${path}.d.ts`));
    texts.set(name, text);
  }
  for (const [name, text] of texts) {
    mkdirSync(dirname(join(outdir, name)), { recursive: true });
    writeFileSync(join(outdir, name), exported.has(name) ? withTwoSpaces(text) : withoutComments(text));
  }
}

/** As in the sources; the compiler writes four. */
function withTwoSpaces(text) {
  return text.replace(/^(?: {4})+/gm, (spaces) => ' '.repeat(spaces.length / 2));
}

/** Nor with indentation, which nobody reads there. */
function withoutComments(text) {
  return text.replace(/^[ \t]*\/\*\*[\s\S]*?\*\/\n|^\/\/.*\n/gm, '').replace(/^ +/gm, '');
}
