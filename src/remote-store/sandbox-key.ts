// Authenticates a sandbox and an agent on the same machine. A sandbox does not know the secret of the environment, so
// it cannot prove that it is the platform of an agent. The agent must not trust any process that claims to be a
// sandbox, because a sandbox decides all permissions. The key of a sandbox is therefore in a file that only its user
// can read or write. That user could change the agent as well.
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { randomToken } from '../core/secret.ts';

const pathOf = (port: number): string => join(tmpdir(), `portico-sandbox-${port}.key`);

/**
 * Writes a new key and returns it with a function that removes the file. Throws CONFIGURATION when it cannot be
 * written.
 */
export function makeSandboxKey(port: number): { readonly key: string; remove(): void } {
  const path = pathOf(port);
  const key = randomToken();
  try {
    // Removes the file of a killed sandbox. A file of another user cannot be removed, and the write below fails.
    rmSync(path, { force: true });
    // CWE-377, CWE-59: creates a new file that only this user can read, and follows no link.
    writeFileSync(path, key, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const problem = `The sandbox cannot write the file of its key, ${path}. Delete it, or choose another port.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  return {
    key,
    remove() {
      if (readSandboxKey(port) === key) rmSync(path, { force: true });
    },
  };
}

/** Undefined if there is no key, or if another user could have written it. */
export function readSandboxKey(port: number): string | undefined {
  let file: number;
  try {
    file = openSync(pathOf(port), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return undefined;
  }
  try {
    const { uid, mode } = fstatSync(file);
    const ownUid = userInfo().uid;
    // CWE-732. Windows has no user number, but the folder belongs to the user.
    if (ownUid >= 0 && (uid !== ownUid || (mode & 0o077) !== 0)) return undefined;
    const key = readFileSync(file, 'utf8');
    return /^[\w-]{43}$/.test(key) ? key : undefined;
  } finally {
    closeSync(file);
  }
}
