// How a sandbox and an agent on the same machine know each other. A sandbox does not know the secret of the environment, so
// that it cannot show that it is the platform of an agent; and an agent must take nothing for a sandbox that only says so,
// since a sandbox says what everybody may do. The key of a sandbox therefore lies in a file that nobody but the user who runs
// it can write or read: who has it is that user, who could change the agent as well.
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { randomToken } from '../core/secret.ts';

const pathOf = (port: number): string => join(tmpdir(), `portico-sandbox-${port}.key`);

/** Writes another key, and answers it with what takes the file away again. CONFIGURATION when it cannot be written. */
export function makeSandboxKey(port: number): { readonly key: string; remove(): void } {
  const path = pathOf(port);
  const key = randomToken();
  try {
    // One that was left by a sandbox that was killed; somebody else's cannot be taken away, and stops us below.
    rmSync(path, { force: true });
    // CWE-377, CWE-59: made by us, with nobody else's rights, and no link to elsewhere is followed.
    writeFileSync(path, key, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    const problem = `The sandbox cannot write the file of its key, ${path}. Take it away, or choose another port.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
  return {
    key,
    remove() {
      if (readSandboxKey(port) === key) rmSync(path, { force: true });
    },
  };
}

/** Undefined where there is none, or where another user could have written it. */
export function readSandboxKey(port: number): string | undefined {
  let file: number;
  try {
    file = openSync(pathOf(port), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return undefined;
  }
  try {
    const { uid, mode } = fstatSync(file);
    const mine = userInfo().uid;
    // CWE-732; on Windows, where there is no such number, the folder is the user's own.
    if (mine >= 0 && (uid !== mine || (mode & 0o077) !== 0)) return undefined;
    const key = readFileSync(file, 'utf8');
    return /^[\w-]{43}$/.test(key) ? key : undefined;
  } finally {
    closeSync(file);
  }
}
