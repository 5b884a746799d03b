// The SBOM of what is installed with the package. `npm sbom --omit dev` also drops production packages that a development
// package uses (npm 11), so npm gets a lockfile without the development packages instead.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns a CycloneDX document as JSON. */
export function writeSbom(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-sbom-'));
  const load = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'));
  const save = (name: string, value: object) => writeFileSync(join(folder, name), JSON.stringify(value));
  try {
    const { devDependencies: _, scripts: _scripts, ...manifest } = load('package.json');
    const lock = load('package-lock.json') as {
      packages: Record<string, { dev?: boolean; link?: boolean; devDependencies?: object }>;
    };
    const kept = Object.entries(lock.packages).filter(([, { dev, link }]) => dev !== true && link !== true);
    const packages = Object.fromEntries(kept.map(([path, { devDependencies: _dev, ...one }]) => [path, one]));
    save('package.json', manifest);
    save('package-lock.json', { ...lock, packages });
    const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
    return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
