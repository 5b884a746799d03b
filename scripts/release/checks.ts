// What must be true of a tree before it is released. Each check takes the root of the tree and returns problems, so the
// tests can give it a spoiled copy.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { parse } from 'yaml';

type Check = (root: string) => readonly string[];
type Json = Record<string, unknown>;

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly mcpName?: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

const read = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');
function load<T = Json>(root: string, path: string): T {
  const text = read(root, path);
  // Parsing the lockfile as YAML takes seconds.
  return (path.endsWith('.json') ? JSON.parse(text) : parse(text)) as T;
}
const loadManifest = (root: string): Manifest => load<Manifest>(root, 'package.json');

const chart = 'deploy/helm/portico';
const compose = 'deploy/compose/compose.yaml';
const bundleManifest = 'deploy/mcpb/manifest.json';
const icons = { 'deploy/icons/icon-128.png': 128, 'deploy/icons/icon-512.png': 512 };

/** The file and the schema that it must match. */
const schemas: Readonly<Record<string, string>> = {
  'server.json': 'deploy/schemas/server.schema.json',
  [bundleManifest]: 'deploy/schemas/manifest.schema.json',
  [compose]: 'deploy/schemas/compose.schema.json',
  [`${chart}/Chart.yaml`]: 'deploy/schemas/chart.schema.json',
  [`${chart}/values.yaml`]: `${chart}/values.schema.json`,
};

/** Every file that a check reads, and those that only have to exist. */
export const releaseFiles: readonly string[] = [
  ...['package.json', 'package-lock.json', 'CHANGELOG.md', 'README.md', 'LICENSE', 'SECURITY.md'],
  ...['Dockerfile', '.dockerignore', 'deploy/nginx.conf', 'deploy/Caddyfile', 'deploy/systemd/portico@.service'],
  ...[`${chart}/templates/deployment.yaml`, `${chart}/templates/service.yaml`, 'deploy/icons/icon.svg'],
  ...Object.entries(schemas).flat(),
  ...Object.keys(icons),
];

export const checks: Readonly<Record<string, Check>> = {
  files: (root) => releaseFiles.filter((path) => !existsSync(join(root, path))).map((path) => `${path} is missing`),

  schemas: (root) =>
    Object.entries(schemas).flatMap(([path, schema]) => {
      const ajv = new Ajv({ allErrors: true, strict: false });
      formats.default(ajv);
      const isValid = ajv.compile(load(root, schema));
      if (isValid(load(root, path))) return [];
      return (isValid.errors ?? []).map(({ instancePath, message }) => `${path}${instancePath} ${message}`);
    }),

  versions(root) {
    const { name, version, mcpName } = loadManifest(root);
    const lock = load<{ version: string; packages: Record<string, { version: string }> }>(root, 'package-lock.json');
    const server = load<{ name: string; version: string; packages: Json[] }>(root, 'server.json');
    const { services } = load<{ services: Record<string, { image: string }> }>(root, compose);
    const { version: chartVersion, appVersion } = load(root, `${chart}/Chart.yaml`);
    const stated: Readonly<Record<string, unknown>> = {
      'package-lock.json': lock.version,
      'package-lock.json, packages': lock.packages['']?.version,
      'server.json': server.version,
      ...Object.fromEntries(server.packages.map((one, at) => [`server.json, package ${at + 1}`, one.version])),
      [bundleManifest]: load(root, bundleManifest).version,
      [`${chart}/Chart.yaml, version`]: chartVersion,
      [`${chart}/Chart.yaml, appVersion`]: appVersion,
      [compose]: services[name]?.image.split(':').at(-1),
    };
    const differing = Object.entries(stated).filter(([, one]) => one !== version);
    return [
      ...differing.map(([place, one]) => `${place} has version ${one}, package.json ${version}`),
      ...(server.name === mcpName
        ? []
        : [`server.json is named ${server.name}, mcpName of package.json is ${mcpName}`]),
      ...server.packages
        .filter(({ registryType, identifier }) => registryType === 'npm' && identifier !== name)
        .map(({ identifier }) => `server.json installs ${identifier}, the package is ${name}`),
    ];
  },

  lockfile(root) {
    const { packages } = load<{ packages: Record<string, Json> }>(root, 'package-lock.json');
    return Object.entries(packages).flatMap(([path, one]) => {
      // The package itself, folders of this repository and links to them, and what comes inside another package.
      if (!path.startsWith('node_modules/') || one.link === true || one.inBundle === true) return [];
      // npm leaves out the address where it is that of the registry.
      const isOfRegistry = one.resolved === undefined || /^https:.*\.tgz$/.test(`${one.resolved}`);
      const isPinned = /^\d+\.\d+\.\d+/.test(`${one.version}`) && isOfRegistry;
      if (!isPinned) return [`package-lock.json: ${path} is not pinned to a version of a registry`];
      return /^sha512-/.test(`${one.integrity}`) ? [] : [`package-lock.json: ${path} has no sha512 integrity`];
    });
  },

  changelog(root) {
    const { version } = loadManifest(root);
    const section = read(root, 'CHANGELOG.md')
      .split(/^## /m)
      .find((text) => new RegExp(`^\\[?${version.replaceAll('.', '\\.')}\\b`).test(text));
    if (section === undefined) return [`CHANGELOG.md has no section for ${version}`];
    return /^- /m.test(section) ? [] : [`CHANGELOG.md: the section of ${version} is empty`];
  },

  image(root) {
    const lines = read(root, 'Dockerfile').split('\n');
    const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));
    const bases = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1] ?? '');
    const user = last.findLast((line) => line.startsWith('USER '))?.split(' ')[1];
    return [
      ...bases.filter((base) => !/:\d/.test(base)).map((base) => `Dockerfile: ${base} has no version`),
      ...(user === undefined || /^(root|0)\b/.test(user) ? ['Dockerfile: the image runs as root'] : []),
      ...(last.some((line) => line.startsWith('HEALTHCHECK ')) ? [] : ['Dockerfile: there is no HEALTHCHECK']),
      ...(lines.some((line) => line.startsWith('RUN npm ci')) ? [] : ['Dockerfile: `npm ci` is not used']),
      ...(lines.some((line) => /^RUN .*npm (install|i) /.test(line))
        ? ['Dockerfile: npm install ignores the lock']
        : []),
    ];
  },

  icons: (root) =>
    Object.entries(icons).flatMap(([path, size]) => {
      const bytes = readFileSync(join(root, path));
      const isPng = bytes.subarray(1, 4).toString() === 'PNG';
      // The IHDR chunk begins with width and height.
      const isRight = isPng && bytes.readUInt32BE(16) === size && bytes.readUInt32BE(20) === size;
      return isRight ? [] : [`${path} is not a PNG of ${size} x ${size}`];
    }),
};

/** An entry of `npm pack --json`. */
export interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

const MAX_PACKED = 1_000_000;
const MAX_UNPACKED = 4_000_000;
const forbidden: Readonly<Record<string, RegExp>> = {
  'a source or test': /^(src|test|bench|eval|site|scripts|examples|deploy)\/|\.test\.[jt]s$/,
  'a build record': /\.tsbuildinfo$|(^|\/)\.built$/,
  'a source map': /\.map$/,
  'a secret or local file': /(^|\/)(\.env|\.npmrc|\.git|\.portico|node_modules|secrets)(\/|\.|$)|\.(sqlite|pem|key)$/,
  'an archive': /\.(tgz|zip|mcpb)$/,
};

export function checkPacked(root: string, { files, size, unpackedSize }: Packed): readonly string[] {
  const { bin, exports } = loadManifest(root);
  const paths = files.map(({ path }) => path);
  const entries = [...Object.values(bin), ...Object.values(exports).flatMap((one) => Object.values(one))];
  const required = [
    ...['README.md', 'LICENSE', 'package.json', 'dist/cli/main.js'],
    // The values of a plain text are its characters.
    ...entries.filter((path) => path.startsWith('./')).map((path) => path.slice(2)),
  ];
  const wrong = paths.flatMap((path) =>
    Object.entries(forbidden)
      .filter(([, pattern]) => pattern.test(path) && !path.startsWith('docs/'))
      .map(([what]) => `the package contains ${what}: ${path}`),
  );
  return [
    ...required.filter((path) => !paths.includes(path)).map((path) => `the package lacks ${path}`),
    ...wrong,
    ...(size > MAX_PACKED ? [`the package has ${size} bytes, at most ${MAX_PACKED} are allowed`] : []),
    ...(unpackedSize > MAX_UNPACKED ? [`unpacked it has ${unpackedSize} bytes, at most ${MAX_UNPACKED}`] : []),
  ];
}

/** The hashes of two builds of one tree. */
export function checkHashes([first, second]: readonly [string, string]): readonly string[] {
  return first === second ? [] : [`two builds differ: ${first} and ${second}`];
}

interface Component {
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
}

/** `wanted`: the packages that must be named in the CycloneDX document. */
export function checkSbom(
  sbom: { readonly bomFormat?: unknown; readonly components?: readonly Component[] },
  wanted: readonly string[],
): readonly string[] {
  const { bomFormat, components = [] } = sbom;
  const known = new Set(components.map(({ purl = '' }) => decodeURIComponent(purl).replace(/^pkg:npm\/|@[^@]*$/g, '')));
  return [
    ...(bomFormat === 'CycloneDX' ? [] : ['the SBOM is not a CycloneDX document']),
    ...components
      .filter(({ version, purl }) => !version || !purl)
      .map(({ name }) => `the SBOM does not identify ${name}`),
    ...wanted.filter((name) => !known.has(name)).map((name) => `the SBOM lacks ${name}`),
  ];
}
