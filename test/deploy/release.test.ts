// The checks of a release, each on a copy of the tree's small files that is spoiled in one way.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkHashes, checkPacked, checkSbom, checks, releaseFiles } from '../../scripts/release/checks.ts';
import { writeSbom } from '../../scripts/release/sbom.ts';

function copyRelease(): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-spoiled-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const path of releaseFiles) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(path, join(folder, path));
  }
  return folder;
}

const runAll = (root: string) => Object.values(checks).flatMap((check) => check(root));

function edit(path: string, from: string | RegExp, to: string): (root: string) => void {
  return (root) => {
    const before = readFileSync(join(root, path), 'utf8');
    const after = before.replace(from, to);
    if (after === before) throw new Error(`${path} does not contain ${from}`);
    writeFileSync(join(root, path), after);
  };
}

test('the current tree passes every check', () => {
  expect(runAll(copyRelease())).toEqual([]);
});

const spoiled: readonly (readonly [what: string, spoil: (root: string) => void, expected: string | RegExp])[] = [
  [
    'a missing file',
    (root) => rmSync(join(root, 'deploy/systemd/portico@.service')),
    'deploy/systemd/portico@.service is missing',
  ],
  [
    'a description that the registry refuses',
    edit('server.json', '"description": "Your', `"description": "${'Long. '.repeat(20)}Your`),
    /^server\.json\/description must NOT have more than 100 characters/,
  ],
  [
    'an unknown member of a bundle',
    edit('deploy/mcpb/manifest.json', '"license"', '"licence"'),
    /^deploy\/mcpb\/manifest\.json must/,
  ],
  [
    'a value that the chart refuses',
    edit('deploy/helm/portico/values.yaml', 'replicas: 2', 'replicas: none'),
    /values\.yaml\/replicas must be integer/,
  ],
  [
    'an image without a version in the compose file',
    edit('deploy/compose/compose.yaml', 'mariadb:11.4', 'mariadb:latest'),
    /^deploy\/compose\/compose\.yaml\/services\/mariadb\/image must match pattern/,
  ],
  [
    'a version that differs',
    edit('deploy/helm/portico/Chart.yaml', /^version: .*$/m, 'version: 9.9.9'),
    /Chart\.yaml, version has version 9\.9\.9/,
  ],
  [
    'a name that the registry cannot verify',
    edit('package.json', /"mcpName": ".*"/, '"mcpName": "io.github.someone/portico"'),
    /mcpName of package\.json is io\.github\.someone/,
  ],
  [
    'a lock without a hash',
    edit('package-lock.json', /^\s*"integrity": .*\n/m, ''),
    /^package-lock\.json: node_modules\/.* has no sha512 integrity$/,
  ],
  [
    'a lock of a git branch',
    edit('package-lock.json', /"integrity": /, '"resolved": "git+ssh://git@example.com/a.git#main", "integrity": '),
    /^package-lock\.json: node_modules\/.* is not pinned/,
  ],
  [
    'a changelog without the version',
    edit('CHANGELOG.md', /^## \d.*$/m, '## Unreleased'),
    /^CHANGELOG\.md has no section for/,
  ],
  ['an image that runs as root', edit('Dockerfile', 'USER node\n', ''), 'Dockerfile: the image runs as root'],
  [
    'an image that ignores the lock',
    edit('Dockerfile', 'RUN npm run build', 'RUN npm install pg && npm run build'),
    'Dockerfile: npm install ignores the lock',
  ],
  [
    'an icon of another size',
    (root) => copyFileSync(join(root, 'deploy/icons/icon-128.png'), join(root, 'deploy/icons/icon-512.png')),
    'deploy/icons/icon-512.png is not a PNG of 512 x 512',
  ],
];

test.each(spoiled)('%s is reported', (_what, spoil, expected) => {
  const root = copyRelease();
  spoil(root);
  // A missing file ends the other checks, so they come first.
  const missing = checks.files!(root);
  const found = missing.length > 0 ? missing : runAll(root);
  expect(found.filter((one) => (typeof expected === 'string' ? one === expected : expected.test(one)))).not.toEqual([]);
});

test('a package with an extra file, a missing file or too many bytes is reported', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const entries = [...Object.values<string>(manifest.bin), ...Object.values(manifest.exports).flatMap(pathsOf)];
  const paths = ['README.md', 'LICENSE', 'package.json', 'docs/index.md', ...entries.map((path) => path.slice(2))];
  const of = (...all: string[]) => ({ size: 1000, unpackedSize: 4000, files: all.map((path) => ({ path })) });
  expect(checkPacked('.', of(...paths))).toEqual([]);
  expect(checkPacked('.', of(...paths.filter((path) => path !== 'dist/index.d.ts')))).toEqual([
    'the package lacks dist/index.d.ts',
  ]);
  for (const path of ['dist/.tsbuildinfo', 'dist/index.js.map', 'test/smoke.ts', '.env', 'secrets/root-password'])
    expect(checkPacked('.', of(...paths, path))).toEqual([expect.stringMatching(`${path.replaceAll('.', '\\.')}$`)]);
  expect(checkPacked('.', { ...of(...paths), size: 10 ** 7 })).toHaveLength(1);
});

const pathsOf = (one: unknown): string[] => (typeof one === 'string' ? [one] : Object.values(one as object));

test('two builds with different hashes are reported', () => {
  expect(checkHashes(['a', 'a'])).toEqual([]);
  expect(checkHashes(['a', 'b'])).toEqual(['two builds differ: a and b']);
});

test('the SBOM of npm names every dependency; a missing package or version is reported', () => {
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const wanted = Object.keys(dependencies);
  const sbom = JSON.parse(writeSbom('.'));
  expect(checkSbom(sbom, wanted)).toEqual([]);
  const without = sbom.components.filter(({ name }: { name: string }) => name !== 'express');
  expect(checkSbom({ ...sbom, components: without }, wanted)).toEqual(['the SBOM lacks express']);
  const { version: _, ...unversioned } = sbom.components[0];
  expect(checkSbom({ ...sbom, components: [unversioned, ...sbom.components.slice(1)] }, wanted)).toEqual([
    `the SBOM does not identify ${unversioned.name}`,
  ]);
  expect(checkSbom({ ...sbom, bomFormat: 'SPDX' }, wanted)).toEqual(['the SBOM is not a CycloneDX document']);
});
