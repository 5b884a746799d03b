// Stores the tokens of `portico cloud`, one file per server, in the user's settings folder. Only that user can read
// them. Each file is replaced atomically, so two concurrent commands never leave a partial file.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../core/errors.ts';
import { hashToken, randomId } from '../../core/secret.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import type { Tokens } from './server.ts';

interface StoredTokens extends Tokens {
  readonly server: string;
}

/** Returns `TOKEN_PATH`, or the default folder of the system. */
function folderOf(env: Environment): string {
  if (env.TOKEN_PATH) return env.TOKEN_PATH;
  const settings = process.platform === 'win32' ? env.APPDATA : env.XDG_CONFIG_HOME;
  return join(settings || join(homedir(), '.config'), 'portico', 'cloud');
}

const pathOf = (folder: string, issuer: string): string =>
  join(folder, `${new URL(issuer).hostname.replace(/[^\w.-]/g, '_')}-${hashToken(issuer).slice(0, 12)}.json`);

/** Returns undefined if there are no tokens for this server. */
export function readTokens(issuer: string): Tokens | undefined {
  try {
    const stored = JSON.parse(readFileSync(pathOf(folderOf(readEnvironment()), issuer), 'utf8')) as StoredTokens;
    return stored.server === issuer && typeof stored.refreshToken === 'string' ? stored : undefined;
  } catch {
    return undefined;
  }
}

export function writeTokens(issuer: string, tokens: Tokens): void {
  const folder = folderOf(readEnvironment());
  const path = pathOf(folder, issuer);
  const temporaryFile = join(folder, `.${randomId()}.tmp`);
  const stored: StoredTokens = { server: issuer, ...tokens };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // CWE-732: only the owner may read the file, whatever the umask.
    writeFileSync(temporaryFile, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
    chmodSync(temporaryFile, 0o600);
    renameSync(temporaryFile, path);
  } catch (cause) {
    rmSync(temporaryFile, { force: true });
    const problem = `The sign-in cannot be stored in ${folder}. Change its write permissions, or set TOKEN_PATH to another folder.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

export function deleteTokens(issuer: string): void {
  rmSync(pathOf(folderOf(readEnvironment()), issuer), { force: true });
}
