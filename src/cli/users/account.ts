// `portico user` commands for other people's accounts. There is no mail server: each link is printed once, and the
// administrator passes it on.

import { createConsolePaths } from '../../console/paths.ts';
import type { PermissionLevel } from '../../core/caller.ts';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config.ts';
import { fail } from '../../core/errors.ts';
import type { LinkPurpose } from '../../store/sessions/types.ts';
import type { Store } from '../../store/store.ts';
import type { User } from '../../store/users/types.ts';
import { withStore } from '../storage.ts';
import { createPaint } from '../terminal.ts';
import type { UserOptions } from './user.ts';

type InviteOptions = Omit<UserOptions, 'passwordStdin'>;

export async function inviteUser(config: Config, email: string, options: InviteOptions): Promise<void> {
  await withStore(config, async (store) => {
    const { level, ...rest } = options;
    const existing = await store.identity.findUserByEmail(email);
    // A user who has not accepted an invitation gets a new link. A user with a password cannot be invited.
    if (existing?.hasPassword) {
      const problem = `'${existing.email}' already has an account. 'portico user reset' creates a link to set a new password.`;
      fail('INVALID_ARGUMENT', { argument: 'email', problem });
    }
    const chosen = level === undefined ? {} : { level: level as PermissionLevel };
    const user = existing ?? (await store.identity.addUser({ email, ...rest, ...chosen }));
    printLine(`${user.email} is invited: level ${user.level}, team ${user.team}, role ${user.role}.`);
    if (existing) printLine('Earlier links stop working.');
    await printLink(config, store, user, 'invite');
  });
}

export async function resetPassword(config: Config, email: string): Promise<void> {
  await withUser(config, email, async (store, user) => {
    printLine(`A link for ${user.email} to set a new password. The current one works until then.`);
    await printLink(config, store, user, 'reset');
  });
}

export async function resetTotp(config: Config, email: string): Promise<void> {
  await withUser(config, email, async (store, user) => {
    const wasOn = await store.secondFactors.switchOff(user.id);
    printLine(
      wasOn ? `${user.email} now signs in with only the password.` : `${user.email} had no authenticator app set up.`,
    );
  });
}

export async function signOutUser(
  config: Config,
  email: string,
  { assistants }: { assistants?: boolean },
): Promise<void> {
  await withUser(config, email, async (store, user) => {
    await store.sessions.endAll(user.id, { grants: assistants === true });
    printLine(`${user.email} is signed out everywhere${assistants ? ', and every assistant is disconnected' : ''}.`);
  });
}

async function withUser(
  config: Config,
  email: string,
  run: (store: Store, user: User) => Promise<void>,
): Promise<void> {
  await withStore(config, async (store) => {
    const user = await store.identity.findUserByEmail(email);
    if (!user) fail('INVALID_ARGUMENT', { argument: 'email', problem: `no user has the address '${email}'.` });
    await run(store, user);
  });
}

async function printLink(config: Config, store: Store, user: User, purpose: LinkPurpose): Promise<void> {
  const { token, expiresAt } = await store.links.make(user.id, purpose);
  const publicUrl = config.publicUrl ?? `http://127.0.0.1:${config.port}`;
  const address = createConsolePaths(publicUrl, config.consolePath).url(`/welcome/${token}`);
  const hours = Math.round((expiresAt - systemClock.now()) / 3_600_000);
  const life = hours >= 48 ? `${Math.round(hours / 24)} days` : hours === 1 ? 'an hour' : `${hours} hours`;
  printLine(`Link: ${createPaint(process.stdout)('bold', address)}  (shown only once; works once, expires in ${life})`);
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
