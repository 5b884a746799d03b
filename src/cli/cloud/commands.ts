// `portico cloud bootstrap`, `login` and `update-typings` (behaviour 4.6). They create a customization folder on any
// machine, typed by the database structure of a remote server. The folder receives no data from the database, and the
// server receives no code.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTypings } from '../../cloud/typings.ts';
import { fail } from '../../core/errors.ts';
import { createLogListener } from '../../core/observe.ts';
import { randomId } from '../../core/secret.ts';
import { readEnvironment } from '../environment.ts';
import { compile, loadCustomization } from './code.ts';
import { replaceTypings, writeFolder } from './folder.ts';
import { type CloudServer, findServer } from './server.ts';
import { findTokens, readStructure, signIn } from './sign-in.ts';

export interface LoginOptions {
  readonly server?: string;
  readonly browser: boolean;
  /** The working folder. Defaults to the current directory of the process. */
  readonly folder?: string;
  /** Signs in even if the current sign-in is valid. */
  readonly again?: boolean;
}

export interface CloudOptions extends Omit<LoginOptions, 'again'> {
  readonly envSecret?: string;
}

export interface BootstrapOptions extends CloudOptions {
  /** The version of this package. */
  readonly version: string;
}

const defaultServer = 'http://127.0.0.1:3931';
const defaultFolder = 'cloud-customizer';
const observe = createLogListener('Warn');

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Throws CONFIGURATION and leaves no files if the folder exists or cannot be created. */
export async function bootstrap(name: string | undefined, options: BootstrapOptions): Promise<void> {
  const { folder: parent = process.cwd() } = options;
  const folder = readName(name ?? defaultFolder);
  const path = join(parent, folder);
  const secret = readSecret(options);
  refuseExisting(path, folder);
  const server = await findServer(serverOf(options));
  const structure = await readStructure(server, secret, options);
  const typings = await makeTypings(structure, { customize: () => undefined, observe });
  // The folder is renamed to its final name when it is complete.
  const temporaryFolder = join(parent, `.${folder}.${randomId()}.tmp`);
  try {
    mkdirSync(temporaryFolder);
    writeFolder(temporaryFolder, {
      name: folder,
      server: server.issuer,
      secret,
      structure,
      typings,
      version: options.version,
    });
    refuseExisting(path, folder);
    renameSync(temporaryFolder, path);
  } catch (error) {
    rmSync(temporaryFolder, { recursive: true, force: true });
    throw error;
  }
  printLine(
    `The folder ${folder} is ready, with types of ${countTables(structure)} collections of ${server.issuer}. Next steps:`,
  );
  printLine(
    `\n  cd ${folder}\n  npm install\n  npx portico cloud update-typings    (after each change of src/index.ts)`,
  );
  printLine(`  npm start                           (with a database URL in .env: see README.md)\n`);
}

/** Renews a valid sign-in, or signs in. */
export async function login(options: LoginOptions): Promise<void> {
  const server = await findServer(serverOf(options));
  if (!options.again && (await findTokens(server, true)))
    return printLine(`The sign-in to ${server.issuer} is renewed.`);
  await signIn(server, options);
}

/**
 * Runs in the customization folder. Throws CONFIGURATION with file and line if the code does not match the database.
 */
export async function updateTypings(options: CloudOptions): Promise<void> {
  const { folder = process.cwd() } = options;
  requireProjectFolder(folder);
  const secret = readSecret(options);
  const server: CloudServer = await findServer(serverOf(options));
  const structure = await readStructure(server, secret);
  compile(folder, 'whatever the types say');
  const customize = await loadCustomization(folder);
  const typings = await makeTypings(structure, { customize, observe });
  const isNew = replaceTypings(folder, structure, typings);
  printLine(isNew ? 'typings.d.ts is updated.' : 'typings.d.ts is unchanged.');
}

/** Throws CONFIGURATION outside a customization folder. */
export function requireProjectFolder(folder: string): void {
  if (existsSync(join(folder, 'src', 'index.ts')) && existsSync(join(folder, 'tsconfig.json'))) return;
  const problem = `${folder} is not a folder of customizations: it has no src/index.ts with a tsconfig.json. Run this in the folder that portico cloud bootstrap created.`;
  fail('CONFIGURATION', { problem });
}

function readName(name: string): string {
  if (/^[a-z0-9][\w.-]{0,99}$/i.test(name)) return name;
  const problem = `expected a name of letters, digits, dots and dashes, got '${name}'.`;
  return fail('INVALID_ARGUMENT', { argument: 'name', problem });
}

function refuseExisting(path: string, folder: string): void {
  if (!existsSync(path)) return;
  const problem = `The folder '${folder}' already exists. Choose another name: portico cloud bootstrap <name>. No changes were made.`;
  fail('CONFIGURATION', { problem });
}

function readSecret({ envSecret }: CloudOptions): string {
  const secret = envSecret ?? readEnvironment().SERVICE_ENV_SECRET;
  if (secret) return secret;
  return fail('CONFIGURATION', {
    problem:
      'The secret of the environment is missing: set --env-secret, or SERVICE_ENV_SECRET. On the server, portico cloud secret prints it.',
  });
}

const serverOf = ({ server }: Pick<LoginOptions, 'server'>): string =>
  server ?? readEnvironment().SERVICE_CLOUD_SERVER ?? defaultServer;

const countTables = ({ sources }: { readonly sources: readonly { readonly tables: readonly unknown[] }[] }): number =>
  sources.reduce((count, { tables }) => count + tables.length, 0);
