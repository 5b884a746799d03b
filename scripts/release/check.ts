// `npm run release:check`: checks the tree, builds the package twice in copies and compares the hashes, and writes
// dist-release/sbom.cdx.json. Ends with 1 and the problems, if there are any.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { checkHashes, checkPacked, checkSbom, checks, type Packed } from './checks.ts';
import { writeSbom } from './sbom.ts';

const root = resolve(import.meta.dirname, '..', '..');
const out = join(root, 'dist-release');
const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 });

const problems: string[] = [];
function report(name: string, found: readonly string[]): void {
  console.log(`${found.length === 0 ? 'ok  ' : 'FAIL'}  ${name}`);
  problems.push(...found);
}

/** Builds and packs a copy of the tracked files. Returns the SHA-256 of the tarball. */
function build(): { readonly hash: string; readonly packed: Packed } {
  const folder = mkdtempSync(join(tmpdir(), 'portico-release-'));
  try {
    for (const path of run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], root).split('\0')) {
      if (path === '' || path.startsWith('test/')) continue;
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      cpSync(join(root, path), join(folder, path), { force: true });
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    run('node', ['scripts/build.mjs'], folder);
    const [packed] = JSON.parse(run('npm', ['pack', '--ignore-scripts', '--json'], folder)) as [
      Packed & { readonly filename: string },
    ];
    const hash = createHash('sha256').update(readFileSync(join(folder, packed.filename)));
    return { hash: hash.digest('hex'), packed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

for (const [name, check] of Object.entries(checks)) report(name, check(root));

const first = build();
report('contents of the package', checkPacked(root, first.packed));
report('two builds', checkHashes([first.hash, build().hash]));

const sbom = writeSbom(root);
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };
report('SBOM', checkSbom(JSON.parse(sbom), Object.keys(dependencies)));
mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'sbom.cdx.json'), sbom);

for (const problem of problems) console.error(problem);
console.log(`${problems.length} problems; SHA-256 of the package: ${first.hash}`);
process.exitCode = problems.length === 0 ? 0 : 1;
