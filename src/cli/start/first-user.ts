// The first administrator, created at the first start.
import type { Config } from '../../core/config.ts';
import { fail, isAppError } from '../../core/errors.ts';
import type { Identity, User } from '../../store/users/types.ts';
import { makePassword } from '../users/password.ts';
import type { WelcomePassword } from './welcome.ts';

const FIRST_USER = 'you@example.com';

interface FirstUser {
  readonly email: string;
  readonly isNew: boolean;
  readonly password: WelcomePassword;
}

/**
 * Creates an administrator if there is no user yet. Without SERVICE_ADMIN_PASSWORD, a password is generated only for a
 * terminal: other output is often kept in logs (OWASP ASVS 7.1.1). There the user is invited, and a command prints the
 * link. CONFIGURATION if the address or the password is not allowed.
 */
export async function findFirstUser(
  identity: Identity,
  config: Pick<Config, 'adminEmail' | 'adminPassword'>,
  isTerminal: boolean,
): Promise<FirstUser> {
  const firstUser = await findExistingUser(identity);
  if (firstUser) return firstUser;
  const generated = isTerminal && config.adminPassword === null ? makePassword() : undefined;
  const password = config.adminPassword ?? generated;
  try {
    const user = await identity.addUser({
      email: config.adminEmail ?? FIRST_USER,
      level: 'admin',
      ...(password !== undefined && { password }),
    });
    const state = generated === undefined ? (password === undefined ? 'missing' : 'configured') : { generated };
    return { email: user.email, isNew: true, password: state };
  } catch (error) {
    // Another process may have added the first user at the same time.
    const other = await findExistingUser(identity);
    if (other) return other;
    if (!isAppError(error, 'INVALID_ARGUMENT')) throw error;
    const { argument, problem } = error.details;
    const setting = argument === 'password' ? 'SERVICE_ADMIN_PASSWORD' : 'SERVICE_ADMIN_EMAIL (--email)';
    return fail('CONFIGURATION', { problem: `${setting}: ${problem}` });
  }
}

async function findExistingUser(identity: Identity): Promise<FirstUser | undefined> {
  const users = await identity.listUsers();
  const user = users.find(({ level, disabled }) => level === 'admin' && !disabled) ?? users[0];
  return user && { email: user.email, isNew: false, password: hasSignIn(user) ? 'unchanged' : 'missing' };
}

const hasSignIn = ({ hasPassword, hasIdentity }: User): boolean => hasPassword || hasIdentity;
