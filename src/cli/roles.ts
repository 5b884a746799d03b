// `portico roles pull` and `push`: who may do what as one file, to be reviewed and kept beside the code. It goes to the
// storage and not through a server, so that it works also when nobody can sign in any more.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import type { Config } from '../core/config.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';
import type { User } from '../store/identity-types.ts';
import { diffRights } from '../store/rights.ts';
import { writeRolesFile } from '../store/rights-file.ts';
import type { Right, RightChange } from '../store/rights-types.ts';
import { describeChanges } from '../store/rights-words.ts';
import { loadCustomization } from './customization.ts';
import { demoPath } from './demo.ts';
import { customizeDemo } from './demo-customization.ts';
import { findNetworkWarnings } from './roles/network-warnings.ts';
import { type PlacedRight, readRolesFile } from './roles/read.ts';
import { findUnknownNames } from './roles/served-names.ts';
import { withStore } from './storage.ts';
import { createPaint } from './terminal.ts';

export interface PushOptions {
  /** Without asking. */
  readonly yes?: boolean;
  /** Shows, and changes nothing. */
  readonly check?: boolean;
}

/** To standard output where no file is named. */
export async function pullRoles(config: Config, file: string | undefined): Promise<void> {
  await withStore(config, async (store) => {
    const text = writeRolesFile(await store.rights.read());
    if (file === undefined) {
      process.stdout.write(text);
      return;
    }
    try {
      writeFileSync(file, text);
    } catch (cause) {
      throw new AppError('INVALID_ARGUMENT', { argument: 'file', problem: `'${file}' cannot be written.` }, cause);
    }
    say(`${file} says who may do what. Change it, then: portico roles push ${file}`);
  });
}

/** False when it was not made so: a problem in the file, a difference that was only looked for, or a no. */
export async function pushRoles(config: Config, file: string, options: PushOptions): Promise<boolean> {
  const read = readRolesFile(await readText(file));
  if (read.problems) {
    for (const { line, column, at, problem } of read.problems) {
      process.stderr.write(`${file}:${line}:${column}: ${at && `${at}: `}${problem}\n`);
    }
    const count = read.problems.length === 1 ? '1 problem' : `${read.problems.length} problems`;
    process.stderr.write(`portico: ${count} in ${file}. Nothing was changed.\n`);
    return false;
  }
  const after = read.rights;
  let made = false;
  await withStore(config, async (store) => {
    const before = await store.rights.read();
    const changes = diffRights(before, after);
    if (changes.length === 0) {
      say('Nothing to change: all is as the file says.');
      made = true;
      return;
    }
    for (const warning of await findWarnings(config, file, after, changes)) warn(warning);
    show(changes, await store.identity.listUsers());
    if (options.check) return say('This was only looked at: nothing was changed.');
    if (!options.yes && !(await ask(file))) return say('Nothing was changed.');
    await store.rights.apply(before, after.map(toRight));
    say('Done. It holds from the next call on, in every process.');
    made = true;
  });
  return made;
}

const toRight = ({ kind, path, value }: PlacedRight): Right => ({ kind, path, value });

async function readText(file: string): Promise<string> {
  if (file === '-') return readAll(process.stdin);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const problem = `'${file}' cannot be read. 'portico roles pull ${file}' writes one.`;
    throw new AppError('INVALID_ARGUMENT', { argument: 'file', problem }, cause);
  }
}

async function findWarnings(
  config: Config,
  file: string,
  rights: readonly PlacedRight[],
  changes: readonly RightChange[],
): Promise<readonly string[]> {
  const networks = changes.some(({ kind }) => kind === 'network') ? findNetworkWarnings(rights, config) : [];
  const removed = changes.filter(({ kind, after }) => kind === 'environment' && after === undefined);
  return [
    ...networks,
    ...removed.map(({ path }) => `A process that serves '${path[0]}' lets nobody in any more.`),
    ...(await findNameWarnings(config, file, rights)),
  ];
}

/** Of the environment that is served with the database named here; the others may have other collections. */
async function findNameWarnings(
  config: Config,
  file: string,
  rights: readonly PlacedRight[],
): Promise<readonly string[]> {
  const environments = rights.filter(({ kind }) => kind === 'environment').map(({ path }) => path[0]!);
  const served = config.environment ?? (environments.length === 1 ? environments[0] : undefined);
  if (served === undefined)
    return ['SERVICE_ENVIRONMENT is not set: the names of collections, fields and actions were not looked up.'];
  try {
    const demo = demoPath(config.dataDir);
    const database = config.database ?? (existsSync(demo) ? `sqlite:${demo}` : undefined);
    if (database === undefined)
      return ['No database is named (SERVICE_DATABASE_URL): the names of collections and fields were not looked up.'];
    const customize =
      (await loadCustomization(process.cwd())) ?? (config.database === null ? customizeDemo : undefined);
    const own = rights.filter(({ path }) => path[1] === served);
    return await findUnknownNames(own, { config, served: { database, customize }, file });
  } catch (error) {
    const why = isAppError(error) ? error.message : 'the database cannot be opened.';
    return [`The names of collections, fields and actions were not looked up: ${why}`];
  }
}

function show(changes: readonly RightChange[], users: readonly User[]): void {
  const paint = createPaint(process.stdout);
  const colours = { '+': 'green', '-': 'red', '~': 'yellow' } as const;
  for (const { sign, text } of describeChanges(changes)) say(`  ${paint(colours[sign], sign)} ${text}`);
  const concerned = countConcerned(changes, users);
  if (concerned.length > 0) say(`It concerns ${concerned.join(', ')}.`);
}

function countConcerned(changes: readonly RightChange[], users: readonly User[]): readonly string[] {
  const owners = new Map<string, number>();
  for (const { kind, path } of changes) {
    if (kind !== 'permission' && kind !== 'scope') continue;
    const of = kind === 'permission' ? 'role' : 'team';
    owners.set(`${of} '${path[0]}'`, users.filter((user) => user[of] === path[0] && !user.disabled).length);
  }
  return [...owners].map(([owner, count]) => `${count} ${count === 1 ? 'person' : 'people'} of ${owner}`);
}

async function ask(file: string): Promise<boolean> {
  if (!process.stdin.isTTY || file === '-') {
    fail('INVALID_ARGUMENT', {
      argument: '--yes',
      problem: 'there is no terminal to ask at. Give --yes to make these changes, or --check to look only.',
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Make these changes? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function warn(line: string): void {
  process.stderr.write(`${createPaint(process.stderr)('yellow', 'warning')}: ${line}\n`);
}
