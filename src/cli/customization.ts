// `portico.config.ts`, `.js` or `.mjs` in the working directory: a module that exports a function, by default or as
// `customize`, which says what is to be said of the served database.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { EngineAgent } from '../agent/agent.ts';
import { AppError, fail, isAppError } from '../core/errors.ts';

export type Customize = (agent: EngineAgent) => void;

const names = ['portico.config.ts', 'portico.config.js', 'portico.config.mjs'];

/** Undefined when the folder has no such file. CONFIGURATION when there is more than one, or it cannot be used. */
export async function loadCustomization(folder: string): Promise<Customize | undefined> {
  const found = names.map((name) => join(folder, name)).filter((path) => existsSync(path));
  const [path, other] = found;
  if (path === undefined) return undefined;
  if (other !== undefined) fail('CONFIGURATION', { problem: `Both ${path} and ${other} are there: keep one of them.` });
  const module = await load(path);
  const customize = module.default ?? module.customize;
  if (typeof customize !== 'function')
    fail('CONFIGURATION', {
      problem: `${path} must export a function, as default or as customize: (agent) => { ... }`,
    });
  return customize as Customize;
}

async function load(path: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem =
      code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? `${path}: this Node (${process.version}) cannot load TypeScript. Use Node 22.18 or later, or write the file as portico.config.mjs.`
        : `${path} cannot be loaded: ${message}`;
    throw new AppError('CONFIGURATION', { problem }, cause);
  }
}
