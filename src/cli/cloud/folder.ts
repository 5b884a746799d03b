// The files of a new customization folder.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renamesOf, type Structure } from '../../agent/artifacts/structure.ts';
import type { Typings } from '../../agent/artifacts/typings.ts';
import { AppError } from '../../core/errors.ts';
import { randomId } from '../../core/secret.ts';

interface FolderParts {
  readonly name: string;
  readonly server: string;
  readonly secret: string;
  readonly structure: Structure;
  readonly typings: Typings;
  /** The version of this package. */
  readonly version: string;
}

/** Per data source: the server's collection names by local table name. */
type Renames = readonly Readonly<Record<string, string>>[];

const typingsFile = 'typings.d.ts';
const renamesFile = 'renames.json';

/** The folder must be empty. */
export function writeFolder(folder: string, parts: FolderParts): void {
  mkdirSync(join(folder, 'src'));
  const sources = parts.structure.sources.map((_source, at) => addressName(at));
  const files: readonly (readonly [path: string, text: string, mode?: number])[] = [
    // CWE-732: the file contains secrets.
    ['.env', describeEnvironment(parts, sources), 0o600],
    ['.gitignore', 'node_modules/\ndist/\n.env\n.portico/\n*.sqlite*\n'],
    ['package.json', describePackage(parts)],
    ['tsconfig.json', compilerOptions],
    ['README.md', describeUse(parts, sources)],
    [join('src', 'index.ts'), firstCustomization(parts.structure)],
    [join('src', 'data-source.ts'), firstConnections(sources)],
  ];
  for (const [path, text, mode] of files) writeFileSync(join(folder, path), text, { flag: 'wx', mode: mode ?? 0o644 });
  replaceTypings(folder, parts.structure, parts.typings);
}

/** Returns whether the typings changed. Throws CONFIGURATION if they cannot be written. */
export function replaceTypings(folder: string, structure: Structure, { text }: Typings): boolean {
  const head = text.replace('every start overwrites', '`portico cloud update-typings` overwrites');
  const renames = structure.sources.map(renamesOf);
  replaceFile(folder, renamesFile, `${JSON.stringify(renames, null, 2)}\n`);
  return replaceFile(folder, typingsFile, head);
}

/** Returns an empty list if the file was removed. */
export function readRenames(folder: string): Renames {
  const path = join(folder, renamesFile);
  if (!existsSync(path)) return [];
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Renames;
  } catch (cause) {
    const problem = `${path} was modified and cannot be read. Update it: portico cloud update-typings`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

function replaceFile(folder: string, name: string, text: string): boolean {
  const path = join(folder, name);
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return false;
  const temporaryFile = join(folder, `.${randomId()}.tmp`);
  try {
    writeFileSync(temporaryFile, text);
    renameSync(temporaryFile, path);
  } catch (cause) {
    rmSync(temporaryFile, { force: true });
    throw new AppError('CONFIGURATION', { problem: `${path} cannot be written. Change its write permissions.` }, cause);
  }
  return true;
}

const addressName = (at: number): string => (at === 0 ? 'DATABASE_URL' : `DATABASE_URL_${at + 1}`);

/** Quotes a value so dotenv reads it back unchanged. */
function quote(value: string): string {
  const mark = ["'", '"', '`'].find((one) => !value.includes(one)) ?? "'";
  return /^[\w.:/@+-]+$/.test(value) ? value : `${mark}${value}${mark}`;
}

function describeEnvironment({ server, secret }: FolderParts, sources: readonly string[]): string {
  return `# Only for this machine: it is not in the repository.
SERVICE_CLOUD_SERVER=${quote(server)}
SERVICE_ENV_SECRET=${quote(secret)}

# The database that \`npm start\` serves here: a copy, or one for tests.
${sources.map((name) => `${name}=\n`).join('')}MCP_SERVER_PORT=3932
`;
}

function describePackage({ name, version }: FolderParts): string {
  const manifest = {
    name: name.toLowerCase(),
    private: true,
    type: 'module',
    scripts: {
      build: 'tsc',
      start: 'portico cloud start',
      login: 'portico cloud login',
      'update-typings': 'portico cloud update-typings',
    },
    dependencies: { portico: `^${version}` },
    devDependencies: { '@types/node': '^20.19.0', typescript: '>=5.8' },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const compilerOptions = `${JSON.stringify(
  {
    compilerOptions: {
      target: 'ES2023',
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      types: ['node'],
      strict: true,
      verbatimModuleSyntax: true,
      skipLibCheck: true,
      sourceMap: true,
      rootDir: 'src',
      outDir: 'dist',
    },
    include: ['src', typingsFile],
  },
  null,
  2,
)}\n`;

function describeUse({ name, server }: FolderParts, sources: readonly string[]): string {
  return `# ${name}

Customizations for ${server}, created by \`portico cloud bootstrap\`.

- \`src/index.ts\` defines the additions to the collections; \`typings.d.ts\` checks its names.
- \`npm run update-typings\` updates \`typings.d.ts\` from the server's database and \`src/index.ts\`. A computed field
  can then be used like any other.
- \`npm run build\` checks the types.
- \`npm start\` serves the code here, with the database that ${sources.join(' and ')} in \`.env\` name${sources.length === 1 ? 's' : ''}
  (\`src/data-source.ts\`).
- \`npm run login\` renews the sign-in.
`;
}

function firstCustomization({ sources }: Structure): string {
  const example = sources.flatMap(({ tables }) => tables).find(({ primaryKey }) => primaryKey.length === 1);
  const shown = example
    ? `
  // For example:
  //
  // agent.customizeCollection(${JSON.stringify(example.collection)}, (collection) =>
  //   collection.addField('label', {
  //     columnType: 'String',
  //     dependencies: [${JSON.stringify(example.primaryKey[0])}],
  //     getValues: (records) => records.map((record) => \`No. \${record.${example.primaryKey[0]}}\`),
  //   }),
  // );`
    : '';
  return `import type { Agent } from 'portico/cloud';
import type { Schema } from '../typings.js';

/** Called by every start, before the data sources are opened. */
export function customizeAgent(agent: Agent<Schema>): void {${shown}
  void agent;
}
`;
}

function firstConnections(sources: readonly string[]): string {
  return `import type { SqlConnectionParams } from 'portico/cloud';

/** The databases that \`npm start\` serves on this machine, in the order of the server's data sources. Their URLs are in .env. */
export function dataSources(env: Readonly<Record<string, string | undefined>>): readonly SqlConnectionParams[] {
  return [${sources.map((name) => `env.${name} ?? ''`).join(', ')}];
}
`;
}
