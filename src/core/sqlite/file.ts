// Explains to the operator why a file cannot be used as a SQLite database.
import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns a clause, such as `is a folder`. */
export function explainFile(file: string, cause?: unknown): string {
  try {
    if (statSync(file).isDirectory()) return 'is a folder';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'does not exist' : `cannot be reached (${code})`;
  }
  try {
    accessSync(file, constants.R_OK);
  } catch {
    return 'cannot be read by the user of this process';
  }
  const { code = '', message = '' } = (cause ?? {}) as { code?: string; message?: string };
  if (/NOTADB/.test(code) || /not a database/.test(message)) return 'is not a SQLite database, or is encrypted';
  if (/CORRUPT/.test(code) || /malformed/.test(message)) return 'is damaged';
  if (/BUSY|LOCKED/.test(code) || /is locked/.test(message)) return 'is locked by another process';
  if (/READONLY|CANTOPEN/.test(code)) {
    try {
      accessSync(dirname(file), constants.W_OK);
    } catch {
      return 'is in a folder that the user of this process cannot write to, which SQLite requires';
    }
  }
  return `cannot be opened${/^[A-Z_]+$/.test(code) ? ` (${code})` : ''}`;
}
