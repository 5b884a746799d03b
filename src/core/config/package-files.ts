// Files of this package that are read or started at runtime. The build bundles all modules (scripts/bundle.mjs), so a
// URL relative to a module would point elsewhere in the built package. Paths here start at the root of the package.
import { existsSync, readFileSync } from 'node:fs';

const isSource = import.meta.url.endsWith('.ts');
const root = findRoot();

function findRoot(): URL {
  let folder = new URL('.', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/') folder = new URL('..', folder);
  return folder;
}

/** `path`: of the source, such as `src/mcp/results/chart-view.html`. In the built package it is the file in `dist`. */
export function packageFile(path: string): URL {
  const built = `dist/${path.replace(/^src\//, '').replace(/\.ts$/, '.js')}`;
  return new URL(isSource ? path : built, root);
}

export function readPackageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { version: string };
  return version;
}
