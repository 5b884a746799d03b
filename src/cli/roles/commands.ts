// `portico roles pull` and `push`: reads and writes all permissions as one file, for review and version control. The
// commands access the storage directly, so they work even if no user can sign in.
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { text as readAll } from 'node:stream/consumers';
import type { Engine } from '../../agent/engine.ts';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { AppError, fail, isAppError } from '../../core/errors.ts';
import { openEngineOver } from '../../server/data.ts';
import { diffRights } from '../../store/permissions/rights.ts';
import { writeRolesFile } from '../../store/permissions/rights-file.ts';
import { describeChanges } from '../../store/permissions/rights-words.ts';
import type { Right, RightChange } from '../../store/permissions/types.ts';
import type { User } from '../../store/users/types.ts';
import { loadAgent } from '../agent-module.ts';
import { findServed, type Served } from '../served.ts';
import { withStore } from '../storage.ts';
import { createPaint } from '../terminal.ts';
import { findNetworkWarnings } from './network-warnings.ts';
import { type PlacedRight, readRolesFile } from './read.ts';
import { lookUpNames, type NamesFound } from './served-names.ts';

export interface PushOptions {
  /** Skips the confirmation. */
  readonly yes?: boolean;
  /** Shows the changes without applying them. */
  readonly check?: boolean;
  /** A module that exports the agent with the collections. Default: what `portico start` serves. */
  readonly agent?: string;
  /** Saves unknown names, such as those of the next release. */
  readonly allowUnknown?: boolean;
}

/** Writes to standard output if `file` is undefined. */
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

/** Returns false if the changes were not applied: the file has problems, `check` is set, or the user declined. */
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
    const { warnings, refused } = await lookAt(config, file, after, changes, options);
    for (const warning of warnings) warn(warning);
    show(changes, await store.identity.listUsers());
    if (refused.length > 0) {
      for (const text of refused) process.stderr.write(`${text}\n`);
      process.stderr.write('portico: Nothing was changed.\n');
      return;
    }
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

interface Seen {
  readonly warnings: readonly string[];
  /** New or changed entries that cannot be saved, because of unknown names or ambiguous filters. */
  readonly refused: readonly string[];
}

async function lookAt(
  config: Config,
  file: string,
  rights: readonly PlacedRight[],
  changes: readonly RightChange[],
  options: PushOptions,
): Promise<Seen> {
  const networks = changes.some(({ kind }) => kind === 'network') ? findNetworkWarnings(rights, config) : [];
  const removed = changes.filter(({ kind, after }) => kind === 'environment' && after === undefined);
  const { unknown, readOnly, unclear, unread } = await findNames(config, file, rights, options.agent);
  const isChanged = ({ kind, path }: PlacedRight) =>
    changes.some((change) => change.kind === kind && change.path.join('\0') === path.join('\0'));
  const kept = unclear.filter(({ right }) => !isChanged(right));
  const isRefused = ({ right }: { readonly right: PlacedRight }) => !options.allowUnknown && isChanged(right);
  const mayMisspell = changes.some(
    ({ kind, after }) => after !== undefined && (kind === 'scope' || kind === 'permission'),
  );
  const warnings = [
    ...networks,
    ...removed.map(({ path }) => `A process that serves '${path[0]}' lets nobody in any more.`),
    ...unknown.filter((name) => !isRefused(name)).map(({ text }) => text),
    ...(unread !== undefined && (options.allowUnknown || !mayMisspell) ? [unread] : []),
    ...readOnly,
    ...kept.map(({ text }) => `${text} It keeps its meaning, and cannot be saved again as it is.`),
  ];
  const misspelt = unknown.filter(isRefused).map(({ text }) => text);
  const refused = [
    ...misspelt,
    ...(misspelt.length > 0
      ? ['What a misspelt name was to close is open. Correct it, or give --allow-unknown for names of a later release.']
      : []),
    ...(unread !== undefined && !options.allowUnknown && mayMisspell
      ? [
          `${unread} Name the database (--database), the module that exports the agent (--agent), or give --allow-unknown.`,
        ]
      : []),
    ...unclear
      .filter(({ right }) => isChanged(right))
      .map(({ text }) => `${text} It can mean several things: take the one that is meant.`),
  ];
  return { warnings, refused };
}

/** Checks the names of the environment that this database serves. Other environments can have other collections. */
async function findNames(
  config: Config,
  file: string,
  rights: readonly PlacedRight[],
  agent: string | undefined,
): Promise<NamesFound & { readonly unread?: string }> {
  const said = (unread: string) => ({ unknown: [], readOnly: [], unclear: [], unread });
  const environments = rights.filter(({ kind }) => kind === 'environment').map(({ path }) => path[0]!);
  const served = config.environment ?? (environments.length === 1 ? environments[0] : undefined);
  if (served === undefined)
    return said('SERVICE_ENVIRONMENT is not set: the names of collections, fields and actions were not looked up.');
  try {
    const own = rights.filter(({ path }) => path[1] === served);
    const lookUp = (engine: Engine) => lookUpNames(own, { engine, file, environment: served });
    if (agent !== undefined) return await (await loadAgent(agent)).lookAtEngine(lookUp);
    const open = await findServed(config);
    if (!open)
      return said(
        'No database is named (SERVICE_DATABASE_URL): the names of collections and fields were not looked up.',
      );
    return await lookAtServed(config, open, lookUp);
  } catch (error) {
    if (agent !== undefined) throw error;
    const why = isAppError(error) ? error.message : 'the database cannot be opened.';
    return said(`The names of collections, fields and actions were not looked up: ${why}`);
  }
}

async function lookAtServed<T>(
  config: Config,
  { database, customize }: Served,
  look: (engine: Engine) => T,
): Promise<T> {
  const limits = { pageSizeLimit: config.pageSizeLimit, queryTimeoutMs: config.querySeconds * 1000 };
  const open = openEngineOver({ ...config, database }, customize);
  const engine = await open({ observe: () => undefined, clock: systemClock, limits });
  try {
    return look(engine);
  } finally {
    await engine.close();
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
