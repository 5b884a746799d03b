// `portico user`: manages users. Passwords are never arguments, because other users of the machine can read those. A
// password is generated and shown once, or read from standard input.
import { text } from 'node:stream/consumers';
import type { PermissionLevel } from '../../core/caller.ts';
import { hasSso, ssoProvidersOf } from '../../core/config/sso.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import type { Store } from '../../store/store.ts';
import type { NewUser, User } from '../../store/users/types.ts';
import { withStore } from '../storage.ts';
import { alignColumns, createPaint } from '../terminal.ts';
import { makePassword } from './password.ts';

export interface UserOptions {
  readonly level?: string;
  readonly team?: string;
  readonly role?: string;
  readonly firstName?: string;
  readonly lastName?: string;
  readonly timezone?: string;
  readonly passwordStdin?: boolean;
}

export async function addUser(config: Config, email: string, options: UserOptions): Promise<void> {
  await withStore(config, async (store) => {
    const { passwordStdin, level, ...rest } = options;
    const { password, isGenerated } = await choosePassword(passwordStdin);
    // The store validates the level with the other values.
    const chosen = level === undefined ? {} : { level: level as PermissionLevel };
    const user = await store.identity.addUser({ email, password, ...rest, ...chosen } satisfies NewUser);
    printLine(`${user.email} is added: level ${user.level}, team ${user.team}, role ${user.role}.`);
    if (isGenerated) printPassword(password);
    warnIfSsoOnly(config);
  });
}

export async function setPassword(config: Config, email: string, options: UserOptions): Promise<void> {
  await withStore(config, async (store) => {
    const user = await findUser(store, email);
    const { password, isGenerated } = await choosePassword(options.passwordStdin);
    await store.identity.setPassword(user.id, password);
    printLine(`The password of ${user.email} is changed.`);
    if (isGenerated) printPassword(password);
    warnIfSsoOnly(config);
  });
}

export interface SetOptions extends Omit<UserOptions, 'passwordStdin'> {
  /** `key=value`. */
  readonly tag: readonly string[];
  readonly unsetTag: readonly string[];
}

export async function changeUser(config: Config, email: string, options: SetOptions): Promise<void> {
  const { tag, unsetTag, level, ...rest } = options;
  const tags = { ...Object.fromEntries(unsetTag.map((key) => [key, null])), ...Object.fromEntries(tag.map(readTag)) };
  await withStore(config, async (store) => {
    const user = await findUser(store, email);
    const chosen = level === undefined ? {} : { level: level as PermissionLevel };
    const changes = Object.entries(await store.members.change(user.id, { ...rest, ...chosen, tags }));
    if (changes.length === 0) return printLine(`No changes: ${user.email} already has these values.`);
    for (const [name, { before, after }] of changes)
      printLine(`${user.email}: ${name} ${show(after)} (was: ${show(before)})`);
  });
}

export async function setDisabled(config: Config, email: string, disabled: boolean): Promise<void> {
  await withStore(config, async (store) => {
    const user = await findUser(store, email);
    const state = disabled ? 'disabled' : 'active';
    if (user.disabled === disabled) return printLine(`No changes: ${user.email} is already ${state}.`);
    await store.identity.setDisabled(user.id, disabled);
    printLine(`${user.email} is ${state} from the next call on.`);
  });
}

export async function deleteUser(config: Config, email: string): Promise<void> {
  await withStore(config, async (store) => {
    const user = await findUser(store, email);
    await store.identity.deleteUser(user.id);
    printLine(`${user.email} is deleted. The logs name 'user ${user.id}' instead.`);
  });
}

async function findUser(store: Store, email: string): Promise<User> {
  const user = await store.identity.findUserByEmail(email);
  return user ?? fail('INVALID_ARGUMENT', { argument: 'email', problem: `no user has the address '${email}'.` });
}

function readTag(text: string): readonly [key: string, value: string] {
  const [, key, value] = /^([^=]+)=([\s\S]*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    fail('INVALID_ARGUMENT', {
      argument: '--tag',
      problem: `expected key=value, such as region=south, got '${text}'.`,
    });
  }
  return [key, value];
}

function show(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === '' ? '-' : String(value);
  return (
    Object.entries(value)
      .map((pair) => pair.join('='))
      .join(' ') || '-'
  );
}

export async function listUsers(config: Config): Promise<void> {
  await withStore(config, async (store) => {
    const users = await store.identity.listUsers();
    if (users.length === 0) return printLine('There is no user yet: the first start creates one.');
    const rows = users.map((user) => [
      user.email,
      `${user.firstName} ${user.lastName}`.trim() || '-',
      user.level,
      user.team,
      user.role,
      user.disabled ? 'disabled' : user.hasPassword || user.hasIdentity ? 'active' : 'invited',
    ]);
    const [heads, ...lines] = alignColumns([['E-MAIL', 'NAME', 'LEVEL', 'TEAM', 'ROLE', 'STATE'], ...rows]);
    printLine(createPaint(process.stdout)('dim', heads!));
    for (const line of lines) printLine(line);
  });
}

async function choosePassword(fromInput: boolean | undefined): Promise<{ password: string; isGenerated: boolean }> {
  if (!fromInput) return { password: makePassword(), isGenerated: true };
  return { password: (await text(process.stdin)).replace(/\r?\n[\s\S]*$/, ''), isGenerated: false };
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function warnIfSsoOnly(config: Config): void {
  if (!hasSso(config) || config.ssoPasswords) return;
  const issuers = ssoProvidersOf(config).map(({ issuer }) => issuer);
  printLine(
    `Users sign in through ${issuers.join(' or ')}: the password does not work until SERVICE_SSO_PASSWORDS is true.`,
  );
}

function printPassword(password: string): void {
  printLine(`Password: ${createPaint(process.stdout)('bold', password)}  (shown only once)`);
}
