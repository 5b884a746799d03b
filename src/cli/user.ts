// Users by the command line. Passwords are never arguments, which everybody on the machine can read: one is made and
// shown once, or read from standard input.
import { text } from 'node:stream/consumers';
import type { PermissionLevel } from '../core/caller.ts';
import type { Config } from '../core/config.ts';
import { fail } from '../core/errors.ts';
import type { NewUser } from '../store/store.ts';
import { makePassword } from './password.ts';
import { withStore } from './storage.ts';
import { alignColumns, createPaint } from './terminal.ts';

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
    const { password, made } = await choosePassword(passwordStdin);
    // The store checks the level with everything else.
    const chosen = level === undefined ? {} : { level: level as PermissionLevel };
    const user = await store.identity.addUser({ email, password, ...rest, ...chosen } satisfies NewUser);
    say(`${user.email} is added: level ${user.level}, team ${user.team}, role ${user.role}.`);
    if (made) sayPassword(password);
    sayWhetherItOpens(config);
  });
}

export async function setPassword(config: Config, email: string, options: UserOptions): Promise<void> {
  await withStore(config, async (store) => {
    const user = await store.identity.findUserByEmail(email);
    if (!user) fail('INVALID_ARGUMENT', { argument: 'email', problem: `no user has the address '${email}'.` });
    const { password, made } = await choosePassword(options.passwordStdin);
    await store.identity.setPassword(user.id, password);
    say(`The password of ${user.email} is changed.`);
    if (made) sayPassword(password);
    sayWhetherItOpens(config);
  });
}

export async function listUsers(config: Config): Promise<void> {
  await withStore(config, async (store) => {
    const users = await store.identity.listUsers();
    if (users.length === 0) return say('There is no user yet: the first start makes one.');
    const rows = users.map((user) => [
      user.email,
      `${user.firstName} ${user.lastName}`.trim() || '-',
      user.level,
      user.team,
      user.role,
      user.disabled ? 'disabled' : 'active',
    ]);
    const [heads, ...lines] = alignColumns([['E-MAIL', 'NAME', 'LEVEL', 'TEAM', 'ROLE', 'STATE'], ...rows]);
    say(createPaint(process.stdout)('dim', heads!));
    for (const line of lines) say(line);
  });
}

async function choosePassword(fromInput: boolean | undefined): Promise<{ password: string; made: boolean }> {
  if (!fromInput) return { password: makePassword(), made: true };
  return { password: (await text(process.stdin)).replace(/\r?\n[\s\S]*$/, ''), made: false };
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function sayWhetherItOpens({ ssoIssuer, ssoPasswords }: Config): void {
  if (ssoIssuer === null || ssoPasswords) return;
  say(`People sign in through ${ssoIssuer}: the password opens nothing until SERVICE_SSO_PASSWORDS is true.`);
}

function sayPassword(password: string): void {
  say(`Password: ${createPaint(process.stdout)('bold', password)}  (shown this once)`);
}
