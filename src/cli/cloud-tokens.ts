// The tokens of `portico cloud`, one file for each server, in the folder of settings of whoever runs the command; only he may
// read them. A file is replaced as a whole, so that two commands at once leave one of two, and never a half.
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../core/errors.ts';
import { hashToken, randomId } from '../core/secret.ts';
import type { Tokens } from './cloud-server.ts';
import { type Environment, readEnvironment } from './environment.ts';

interface Kept extends Tokens {
  readonly server: string;
}

/** `TOKEN_PATH`, else the usual place of the system. */
function folderOf(env: Environment): string {
  if (env.TOKEN_PATH) return env.TOKEN_PATH;
  const settings = process.platform === 'win32' ? env.APPDATA : env.XDG_CONFIG_HOME;
  return join(settings || join(homedir(), '.config'), 'portico', 'cloud');
}

const pathOf = (folder: string, issuer: string): string =>
  join(folder, `${new URL(issuer).hostname.replace(/[^\w.-]/g, '_')}-${hashToken(issuer).slice(0, 12)}.json`);

/** Undefined where there are none, or none of this server. */
export function readTokens(issuer: string): Tokens | undefined {
  try {
    const kept = JSON.parse(readFileSync(pathOf(folderOf(readEnvironment()), issuer), 'utf8')) as Kept;
    return kept.server === issuer && typeof kept.refreshToken === 'string' ? kept : undefined;
  } catch {
    return undefined;
  }
}

export function keepTokens(issuer: string, tokens: Tokens): void {
  const folder = folderOf(readEnvironment());
  const path = pathOf(folder, issuer);
  const beside = join(folder, `.${randomId()}.tmp`);
  const kept: Kept = { server: issuer, ...tokens };
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // CWE-732: nobody else may read it, whatever the umask says.
    writeFileSync(beside, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 });
    chmodSync(beside, 0o600);
    renameSync(beside, path);
  } catch (cause) {
    rmSync(beside, { force: true });
    const problem = `The sign-in cannot be kept in ${folder}. Change who may write there, or set TOKEN_PATH to another folder.`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}

export function forgetTokens(issuer: string): void {
  rmSync(pathOf(folderOf(readEnvironment()), issuer), { force: true });
}
