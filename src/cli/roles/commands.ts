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
import { type RightAtLine, readRolesFile } from './read.ts';
import { checkNames, type NamesFound } from './served-names.ts';

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
    printLine(`${file} contains the permissions. Edit it, then run: portico roles push ${file}`);
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
    process.stderr.write(`portico: ${count} in ${file}. No changes were made.\n`);
    return false;
  }
  const after = read.rights;
  let isApplied = false;
  await withStore(config, async (store) => {
    const before = await store.rights.read();
    const changes = diffRights(before, after);
    if (changes.length === 0) {
      printLine('No changes: the permissions already match the file.');
      isApplied = true;
      return;
    }
    const { warnings, refused } = await inspectChanges(config, file, after, changes, options);
    for (const warning of warnings) warn(warning);
    show(changes, await store.identity.listUsers());
    if (refused.length > 0) {
      for (const text of refused) process.stderr.write(`${text}\n`);
      process.stderr.write('portico: No changes were made.\n');
      return;
    }
    if (options.check) return printLine('This was only a check: no changes were made.');
    if (!options.yes && !(await confirm(file))) return printLine('No changes were made.');
    await store.rights.apply(before, after.map(toRight));
    printLine('Done. The changes apply from the next call on, in every process.');
    isApplied = true;
  });
  return isApplied;
}

const toRight = ({ kind, path, value }: RightAtLine): Right => ({ kind, path, value });

async function readText(file: string): Promise<string> {
  if (file === '-') return readAll(process.stdin);
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const problem = `'${file}' cannot be read. 'portico roles pull ${file}' writes one.`;
    throw new AppError('INVALID_ARGUMENT', { argument: 'file', problem }, cause);
  }
}

interface Inspection {
  readonly warnings: readonly string[];
  /** New or changed entries that cannot be saved, because of unknown names or ambiguous filters. */
  readonly refused: readonly string[];
}

async function inspectChanges(
  config: Config,
  file: string,
  rights: readonly RightAtLine[],
  changes: readonly RightChange[],
  options: PushOptions,
): Promise<Inspection> {
  const networks = changes.some(({ kind }) => kind === 'network') ? findNetworkWarnings(rights, config) : [];
  const removed = changes.filter(({ kind, after }) => kind === 'environment' && after === undefined);
  const { unknown, readOnly, unclear, unread } = await findNames(config, file, rights, options.agent);
  const isChanged = ({ kind, path }: RightAtLine) =>
    changes.some((change) => change.kind === kind && change.path.join('\0') === path.join('\0'));
  const unchanged = unclear.filter(({ right }) => !isChanged(right));
  const isRefused = ({ right }: { readonly right: RightAtLine }) => !options.allowUnknown && isChanged(right);
  const mayMisspell = changes.some(
    ({ kind, after }) => after !== undefined && (kind === 'scope' || kind === 'permission'),
  );
  const warnings = [
    ...networks,
    ...removed.map(({ path }) => `A process that serves '${path[0]}' will reject every request.`),
    ...unknown.filter((name) => !isRefused(name)).map(({ text }) => text),
    ...(unread !== undefined && (options.allowUnknown || !mayMisspell) ? [unread] : []),
    ...readOnly,
    ...unchanged.map(({ text }) => `${text} It keeps its meaning, but cannot be saved again unchanged.`),
  ];
  const misspelt = unknown.filter(isRefused).map(({ text }) => text);
  const refused = [
    ...misspelt,
    ...(misspelt.length > 0
      ? ['A misspelt name restricts no access. Correct it, or use --allow-unknown for names of a later release.']
      : []),
    ...(unread !== undefined && !options.allowUnknown && mayMisspell
      ? [
          `${unread} Set the database (--database) or the module that exports the agent (--agent), or use --allow-unknown.`,
        ]
      : []),
    ...unclear
      .filter(({ right }) => isChanged(right))
      .map(({ text }) => `${text} It is ambiguous: use the filter that you mean.`),
  ];
  return { warnings, refused };
}

/** Checks the names of the environment that this database serves. Other environments can have other collections. */
async function findNames(
  config: Config,
  file: string,
  rights: readonly RightAtLine[],
  agent: string | undefined,
): Promise<NamesFound & { readonly unread?: string }> {
  const unchecked = (unread: string) => ({ unknown: [], readOnly: [], unclear: [], unread });
  const environments = rights.filter(({ kind }) => kind === 'environment').map(({ path }) => path[0]!);
  const served = config.environment ?? (environments.length === 1 ? environments[0] : undefined);
  if (served === undefined)
    return unchecked('SERVICE_ENVIRONMENT is not set: the names of collections, fields and actions were not checked.');
  try {
    const own = rights.filter(({ path }) => path[1] === served);
    const checkOwnNames = (engine: Engine) => checkNames(own, { engine, file, environment: served });
    if (agent !== undefined) return await (await loadAgent(agent)).withEngine(checkOwnNames);
    const open = await findServed(config);
    if (!open)
      return unchecked(
        'No database is set (SERVICE_DATABASE_URL): the names of collections and fields were not checked.',
      );
    return await withServedEngine(config, open, checkOwnNames);
  } catch (error) {
    if (agent !== undefined) throw error;
    const why = isAppError(error) ? error.message : 'the database cannot be opened.';
    return unchecked(`The names of collections, fields and actions were not checked: ${why}`);
  }
}

async function withServedEngine<T>(
  config: Config,
  { database, customize }: Served,
  run: (engine: Engine) => T,
): Promise<T> {
  const limits = { pageSizeLimit: config.pageSizeLimit, queryTimeoutMs: config.querySeconds * 1000 };
  const open = openEngineOver({ ...config, database }, customize);
  const engine = await open({ observe: () => undefined, clock: systemClock, limits });
  try {
    return run(engine);
  } finally {
    await engine.close();
  }
}

function show(changes: readonly RightChange[], users: readonly User[]): void {
  const paint = createPaint(process.stdout);
  const colours = { '+': 'green', '-': 'red', '~': 'yellow' } as const;
  for (const { sign, text } of describeChanges(changes)) printLine(`  ${paint(colours[sign], sign)} ${text}`);
  const concerned = countConcerned(changes, users);
  if (concerned.length > 0) printLine(`Affected: ${concerned.join(', ')}.`);
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

async function confirm(file: string): Promise<boolean> {
  if (!process.stdin.isTTY || file === '-') {
    fail('INVALID_ARGUMENT', {
      argument: '--yes',
      problem:
        'there is no terminal for the confirmation. Use --yes to make these changes, or --check to only show them.',
    });
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question('Make these changes? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function warn(line: string): void {
  process.stderr.write(`${createPaint(process.stderr)('yellow', 'warning')}: ${line}\n`);
}
